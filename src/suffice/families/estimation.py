"""Three ways from statistics to parameters: ``mle``, ``map`` and ``bayes``, with one prior behind the last two.

The conjugate prior is worth ``smoothing`` rows that were never seen. For numbers and counts those are rows
like all rows together, so that a prior has no units and no constants: for each class, ``map`` is the maximum
likelihood of its rows and the pseudo-rows, and ``bayes`` integrates over the posterior that they make. For
levels and yes/no each level is given ``smoothing`` rows (Laplace: 1).

``smoothing=0`` is the flat prior, under which ``map`` is ``mle``. Modes are those of the natural parameters
(log-odds, logarithms of rates and variances), where the conjugate prior of no rows is flat; for a Dirichlet
prior of α the mode is then (n + α)/(N + Lα), which is also the posterior mean.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError, MergeError, columns_at
from suffice.statistics import CellSums, Moments
from suffice.tables.sparse_cells import cell_columns, cell_rows
from suffice.tables.table import is_sparse

__all__ = [
    "Estimation",
    "check_cells",
    "check_estimation",
    "left_totals",
    "no_proper_prior",
    "pseudo_moments",
    "pseudo_rows",
    "weighted_logs",
]

Float = NDArray[np.float64]
Estimation = Literal["mle", "map", "bayes"]


def check_estimation(estimation: object, smoothing: object) -> None:
    """Raise unless the settings are ones that an estimate can be made by."""
    if estimation not in ("mle", "map", "bayes"):
        raise InputError(f"estimation must be 'mle', 'map' or 'bayes', got {estimation!r}.")
    if isinstance(smoothing, bool) or not (
        isinstance(smoothing, int | float | np.number) and 0 <= float(smoothing) < np.inf
    ):
        raise InputError(f"smoothing is the weight of the prior in rows, at least 0; got {smoothing!r}.")


def pseudo_rows(statistic: CellSums, smoothing: float, add: float = 0.0) -> CellSums:
    """For each class, ``smoothing`` rows like all rows together; ``add`` goes to the first total of all rows."""
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


def left_totals(before: Any, left: Any, columns: Sequence[object], *, most: bool = False) -> Any:
    """What is left of sums that are never below zero, nor above the weight if ``most``; rounding below is zero.

    Raises where sums would be left that no rows have: those taken out were not there.
    """
    # Whole numbers are exact. Other sums keep the rounding of the largest they ever were.
    exact = (before.total == np.floor(before.total)) & (left.total == np.floor(left.total))
    total, unsure = left.total, np.where(exact, 0.0, 1e-6 * np.abs(before.total))
    weight = left.weight[:, None]  # of each column, or of each class
    wrong = total < -unsure
    if most:
        wrong |= total > weight + unsure
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0].tolist())
        raise MergeError(
            f"More would be taken out of class {left.classes.label(at[0])!r}, {columns_at(columns, [at[-1]])}, than "
            f"there is: a sum of {float(total[at]):.6g} would be left. These rows were not in the model; "
            "nothing was changed."
        )
    return replace(left, total=np.clip(total, 0.0, weight if most else None))


def weighted_logs(weight: Any, logs: Any) -> float:
    """Σ weight · log over all entries, where a weight of zero times −∞ is nothing: a Dirichlet's log-density.

    >>> weighted_logs(2.0, np.array([[-1.0, -2.0]])), weighted_logs(0.0, np.array([-np.inf]))
    (-6.0, 0.0)
    """
    weight, logs = np.broadcast_arrays(weight, logs)
    return float(np.sum(np.where(weight > 0, weight * np.where(weight > 0, logs, 0.0), 0.0)))


def no_proper_prior(name: str) -> InputError:
    """The error for evidence under a flat prior."""
    return InputError(
        f"The evidence of a {name} model needs a prior that is a distribution: set smoothing above 0 (it is 0 here)."
    )


def check_cells(
    x: Any,
    present: NDArray[np.bool_] | None,
    names: Sequence[object],
    allowed: Any,
    what: str,
    *,
    missing: bool = True,
    zero: bool = True,
) -> None:
    """Raise, naming column and row, unless each cell is allowed.

    Parameters
    ----------
    present : array of bool, optional
        Rows that count.
    allowed : callable
        From an array of values to whether each may be; NaN is allowed where ``missing`` is.
    what : str
        What the family's values are.
    zero : bool
        Whether zero is allowed, for the cells that a sparse matrix does not store.
    """
    if is_sparse(x):
        if not zero and x.nnz < x.shape[0] * x.shape[1]:
            rows = np.arange(x.shape[0]) if present is None else np.flatnonzero(present)
            for j in range(x.shape[1]):
                holes = np.setdiff1d(rows, cell_rows(x)[cell_columns(x) == j])
                if len(holes):
                    _refuse(0, holes, names, j, what)
        step = 1 << 18
        parts = [_wrong(x.data[at : at + step], allowed, missing=missing) for at in range(0, x.nnz, step)]
        wrong = np.concatenate([np.zeros(0, dtype=bool), *parts])
        if wrong.any():
            rows, columns = cell_rows(x)[wrong], cell_columns(x)[wrong]
            here = np.ones(len(rows), dtype=bool) if present is None else present[rows]
            if here.any():
                first = np.flatnonzero(here)[np.argmin(rows[here])]
                _refuse(x.data[wrong][first], np.unique(rows[here]), names, int(columns[first]), what)
        return
    step = max(256, (1 << 18) // max(x.shape[1], 1))
    found: list[NDArray[np.intp]] = []
    first = np.nan, 0
    for start in range(0, len(x), step):
        part = x[start : start + step]
        wrong = _wrong(part, allowed, missing=missing)
        if present is not None:
            wrong &= present[start : start + step, None]
        if wrong.any():
            if not found:
                row, j = np.argwhere(wrong)[0]
                first = part[row, j], int(j)
            found.append(start + np.flatnonzero(wrong.any(axis=1)))
    if found:
        _refuse(first[0], np.concatenate(found), names, first[1], what)


def _wrong(values: Any, allowed: Any, *, missing: bool) -> Any:
    with np.errstate(invalid="ignore"):
        fine = allowed(values)
    return ~(fine | np.isnan(values)) if missing else ~fine


def _refuse(value: Any, rows: NDArray[Any], names: Sequence[object], j: int, what: str) -> None:
    """Raise for a cell of the first of the rows at fault."""
    if np.isnan(value):
        problem = f"is missing (NaN); {what}, and this family takes no missing values."
    else:
        problem = f"holds {float(value):.6g}, but {what}."
    raise InputError.in_row(problem, rows=rows, column=names[j])
