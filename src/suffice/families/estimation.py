"""Settings and helpers that families share to turn statistics into parameters: ``mle``, ``map`` and ``bayes``.

``map`` and ``bayes`` use one conjugate prior that is worth ``smoothing`` pseudo-rows. For numbers and counts the
pseudo-rows look like all rows together, so the prior has no units and no constants: for each class ``map`` is the
maximum likelihood of its rows and the pseudo-rows, and ``bayes`` integrates over their posterior. For levels and
yes/no columns each level gets ``smoothing`` pseudo-rows (Laplace: 1).

``smoothing=0`` is the flat prior, under which ``map`` equals ``mle``. Modes are those of the natural parameters
(log-odds, logarithms of rates and variances), where the conjugate prior of no rows is flat. For a Dirichlet prior of α
the mode is then (n + α)/(N + Lα), which is also the posterior mean.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NoReturn, Protocol, TypeVar, runtime_checkable

import numpy as np

from suffice.exceptions import Argument, InputError, MergeError, columns_at, did_you_mean
from suffice.numerics.types import Array, Float, Index, Mask, Matrix
from suffice.statistics import CellSums, CountVectors, Moments
from suffice.tables.sparse_cells import cell_columns, cell_rows
from suffice.tables.table import is_sparse

__all__ = [
    "Estimation",
    "Smoothed",
    "check_cells",
    "check_estimation",
    "no_proper_prior",
    "pseudo_moments",
    "pseudo_rows",
    "totals_after_removal",
    "weighted_logs",
]

Estimation = Literal["mle", "map", "bayes"]
Totals = TypeVar("Totals", CellSums, CountVectors)
BLOCK_CELLS = 1 << 18  # checked together


@runtime_checkable
class Smoothed(Protocol):
    """A family with the settings ``estimation`` and ``smoothing``."""

    @property
    def estimation(self) -> Estimation:
        """How parameters are estimated."""

    @property
    def smoothing(self) -> float:
        """Pseudo-rows that the prior is worth."""


def check_estimation(estimation: object, smoothing: object) -> None:
    """Raise `InputError` unless both settings are valid."""
    if estimation not in ("mle", "map", "bayes"):
        hint = did_you_mean(estimation, ("mle", "map", "bayes"))
        raise InputError(
            Argument("estimation"),
            f" must be 'mle', 'map' or 'bayes', got {estimation!r}.{hint}",
            argument="estimation",
        )
    if isinstance(smoothing, bool) or not (
        isinstance(smoothing, int | float | np.number) and 0 <= float(smoothing) < np.inf
    ):
        raise InputError(
            Argument("smoothing"),
            f" is the weight of the prior in rows, at least 0; got {smoothing!r}.",
            argument="smoothing",
        )


def pseudo_rows(statistic: CellSums, smoothing: float, add: float = 0.0) -> CellSums:
    """For each class, ``smoothing`` rows like all rows together; ``add`` is added to the first total of all rows."""
    pooled = statistic.pooled()
    weight, total = pooled.weight[0], pooled.total[0].copy()
    total[0] += np.where(weight > 0, add, 0.0)
    share = np.divide(smoothing, weight, out=np.zeros_like(weight), where=weight > 0)
    k = len(statistic.classes)
    return CellSums(
        statistic.classes, np.tile(np.where(weight > 0, smoothing, 0.0), (k, 1)), np.tile(total * share, (k, 1, 1))
    )


def pseudo_moments(statistic: Moments, smoothing: float) -> Moments:
    """For each class, ``smoothing`` rows like all rows together."""
    pooled = statistic.pooled()
    share = np.divide(smoothing, pooled.weight, out=np.zeros_like(pooled.weight), where=pooled.weight > 0)
    parts = pooled.weight * share, pooled.mean, pooled.mean_low, pooled.m2 * share, pooled.m2_low * share
    return Moments(statistic.classes, *(np.repeat(part, len(statistic.classes), axis=0) for part in parts))


def totals_after_removal(before: Totals, after: Totals, columns: Sequence[object], *, bounded: bool = False) -> Totals:
    """Sums after rows were removed, with rounding below zero set to zero.

    The sums are never negative and, if ``bounded``, never above the weight. Raises `MergeError` if they are: the
    removed rows were not in the model.
    """
    # Sums of whole numbers are exact. Other sums keep the rounding of the largest value that they ever had.
    exact = (before.total == np.floor(before.total)) & (after.total == np.floor(after.total))
    total, tolerance = after.total, np.where(exact, 0.0, 1e-6 * np.abs(before.total))
    weight = after.weight[:, None]  # of each column, or of each class
    impossible = total < -tolerance
    if bounded:
        impossible |= total > weight + tolerance
    if impossible.any():
        at = tuple(np.argwhere(impossible)[0].tolist())
        raise MergeError(
            f"Cannot remove these rows: class {after.classes.label(at[0])!r}, {columns_at(columns, [at[-1]])} "
            f"would keep a sum of {float(total[at]):.6g}. These rows were not in the model; nothing was changed.",
            column=columns[at[-1]],
        )
    return replace(after, total=np.clip(total, 0.0, weight if bounded else None))


def weighted_logs(weight: Float | float, logs: Float) -> float:
    """Σ weight · log over all entries, where zero times −∞ is zero: the log-density of a Dirichlet distribution.

    >>> weighted_logs(2.0, np.array([[-1.0, -2.0]])), weighted_logs(0.0, np.array([-np.inf]))
    (-6.0, 0.0)
    """
    weight, logs = np.broadcast_arrays(weight, logs)
    return float(np.sum(np.where(weight > 0, weight * np.where(weight > 0, logs, 0.0), 0.0)))


def no_proper_prior(name: str) -> InputError:
    """The error for evidence under a flat prior."""
    return InputError(
        f"The evidence of a {name} model needs a proper prior: set ",
        Argument("smoothing"),
        " above 0 (it is 0 here).",
        argument="smoothing",
    )


def check_cells(
    x: Matrix,
    present: Mask | None,
    names: Sequence[object],
    allowed: Callable[[Array], Mask],
    domain: str,
    *,
    missing: bool = True,
    zero: bool = True,
) -> None:
    """Raise `InputError` with column and rows unless every cell is allowed.

    Parameters
    ----------
    present : array of bool, optional
        Rows to check; all by default.
    allowed : callable
        Maps an array of values to whether each is allowed. NaN is allowed if ``missing``.
    domain : str
        The values that the family takes, for the message.
    zero : bool
        Whether zero is allowed, for the cells that a sparse matrix does not store.
    """
    if is_sparse(x):
        _check_stored(x, present, names, allowed, domain, missing=missing, zero=zero)
        return
    step = max(256, BLOCK_CELLS // max(x.shape[1], 1))
    wrong_rows: list[Index] = []
    first = np.nan, 0
    for start in range(0, len(x), step):
        part = x[start : start + step]
        wrong = _wrong(part, allowed, missing=missing)
        if present is not None:
            wrong &= present[start : start + step, None]
        if wrong.any():
            if not wrong_rows:
                row, j = np.argwhere(wrong)[0]
                first = part[row, j], int(j)
            wrong_rows.append(start + np.flatnonzero(wrong.any(axis=1)))
    if wrong_rows:
        _refuse(first[0], np.concatenate(wrong_rows), names, first[1], domain)


def _check_stored(
    x: Matrix,
    present: Mask | None,
    names: Sequence[object],
    allowed: Callable[[Array], Mask],
    domain: str,
    *,
    missing: bool,
    zero: bool,
) -> None:
    """`check_cells` of a sparse matrix."""
    if not zero and x.nnz < x.shape[0] * x.shape[1]:
        rows = np.arange(x.shape[0]) if present is None else np.flatnonzero(present)
        for j in range(x.shape[1]):
            not_stored = np.setdiff1d(rows, cell_rows(x)[cell_columns(x) == j])
            if len(not_stored):
                _refuse(0, not_stored, names, j, domain)
    parts = [_wrong(x.data[at : at + BLOCK_CELLS], allowed, missing=missing) for at in range(0, x.nnz, BLOCK_CELLS)]
    wrong = np.concatenate([np.zeros(0, dtype=bool), *parts])
    if not wrong.any():
        return
    rows, columns = cell_rows(x)[wrong], cell_columns(x)[wrong]
    here = np.ones(len(rows), dtype=bool) if present is None else present[rows]
    if here.any():
        first = np.flatnonzero(here)[np.argmin(rows[here])]
        _refuse(x.data[wrong][first], np.unique(rows[here]), names, int(columns[first]), domain)


def _wrong(values: Array, allowed: Callable[[Array], Mask], *, missing: bool) -> Mask:
    with np.errstate(invalid="ignore"):
        fine = allowed(values)
    return ~(fine | np.isnan(values)) if missing else ~fine


def _refuse(value: float, rows: Index, names: Sequence[object], j: int, domain: str) -> NoReturn:
    """Raise for a cell of the first of the wrong rows."""
    if np.isnan(value):
        problem = f"is missing (NaN); {domain}, and this family does not accept missing values."
    else:
        problem = f"holds {float(value):.6g}, but {domain}."
    raise InputError.in_row(problem, rows=rows, column=names[j])
