"""Log-likelihoods that are linear in x, and rows centred on a point, both evaluated in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from suffice import kernels
from suffice.kernels import PosteriorRequest
from suffice.numerics.types import Float, Index, Mask, Matrix
from suffice.statistics.patterns import distinct_patterns
from suffice.tables.sparse_cells import same_cells
from suffice.tables.table import is_sparse

__all__ = [
    "CellForm",
    "Linear",
    "PosteriorRequest",
    "centred_blocks",
    "linear_posterior",
    "linear_scores",
    "row_blocks",
    "row_sums",
    "rows_by_pattern",
    "rows_with_missing",
    "scores_of_cells",
]


BLOCK_BYTES = 1 << 20  # of rows centred and multiplied together


class Linear(NamedTuple):
    """Log-likelihoods that are linear in x, up to a term that all classes share.

    ``log p(x | k) = offset_k + (x − origin) · coef_k + (the same for every k)``. The origin lies among the data, so no
    digits are lost if the data are far from zero.

    Parameters
    ----------
    coef : array of shape (K, d)
        Coefficients of each class.
    offset : array of shape (K,)
        Value of each class at the origin.
    origin : array of shape (d,)
        The point that coefficients refer to.

    See Also
    --------
    suffice.NotLinearError : The error of families whose log-odds are not linear.
    suffice.GaussianDiscriminant : Its ``linear_form()`` has θ and θ₀ of the whole model.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> from suffice.statistics import ClassAxis, Membership
    >>> family = Poisson(estimation="mle")
    >>> members = Membership(ClassAxis.of(["few", "many"]), codes=np.array([0, 1]))
    >>> linear = family.linear_form(family.estimate(family.summarize(np.array([[1.0], [4.0]]), members)))
    >>> (linear.coef[1] - linear.coef[0]).round(4), np.log(4).round(4)
    (array([1.3863]), np.float64(1.3863))
    """

    coef: Float  # (K, d)
    offset: Float  # (K,)
    origin: Float  # (d,)


def linear_scores(x: Float, form: Linear) -> Float:
    """``offset_k + (x − origin) · coef_k`` of each row and class (n, K).

    >>> form = Linear(np.array([[1.0, 2.0]]), np.array([0.5]), np.array([1.0, 1.0]))
    >>> linear_scores(np.array([[2.0, 3.0]]), form)
    array([[5.5]])
    """
    coef, offset = np.ascontiguousarray(form.coef), np.ascontiguousarray(form.offset)
    return kernels.linear_scores(x, coef, offset, origin=np.ascontiguousarray(form.origin))[0]


def linear_posterior(x: Matrix, form: Linear, finish: PosteriorRequest) -> int:
    """Write what ``finish`` requests of `linear_scores`; returns the first row without a posterior, or −1."""
    coef, offset = np.ascontiguousarray(form.coef), np.ascontiguousarray(form.offset)
    return kernels.linear_posterior(x, coef, offset, origin=np.ascontiguousarray(form.origin), request=finish)[1]


@dataclass(frozen=True, eq=False)
class CellForm:
    """``Σ_j zero_kj + x_j slope_kj`` prepared for evaluation, once for any number of rows.

    Attributes
    ----------
    total : array of shape (K,)
        Σ_j zero_kj.
    slope : array of shape (d, K)
        0 replaces values that are not finite.
    zero : array of shape (d, K), or None if all are 0
        0 replaces −∞.
    never_more, never_zero : array of bool of shape (d, K), or None if all are False
        Whether a value above zero, or a zero, is impossible.
    """

    total: Float
    slope: Float
    zero: Float | None = None
    never_more: Mask | None = None
    never_zero: Mask | None = None

    @classmethod
    def of(cls, zero: Float | None, slope: Float) -> CellForm:
        """From ``zero`` (K, d), None for zeros, and ``slope`` (K, d)."""
        never_more, slope = _impossible(slope)
        if zero is None:
            return cls(np.zeros(slope.shape[1]), slope, never_more=never_more)
        never_zero, zero = _impossible(zero)
        return cls(np.ascontiguousarray(zero.T).sum(axis=1), slope, zero, never_more, never_zero)

    @cached_property
    def _by_class(self) -> tuple[Float, Float]:
        """``slope`` and ``zero`` in the layout for dense rows (K, d)."""
        zero = np.zeros_like(self.slope) if self.zero is None else self.zero
        return np.ascontiguousarray(self.slope.T), np.ascontiguousarray(zero.T)

    def scores(self, x: Matrix, threshold: float | None = None, *, missing: bool = True) -> Float:
        """The sums of each row and class (n, K); see `scores_of_cells`."""
        if is_sparse(x):
            return kernels.sparse_scores(
                kernels.Cells.of(x if x.format == "csr" else x.tocsr()),
                self.total,
                self.slope,
                zero=self.zero,
                above=threshold,
                missing=missing,
                never_more=self.never_more,
                never_zero=self.never_zero,
            )
        coef, all_zero = self._by_class
        zero = all_zero if missing else None
        out, flags = kernels.linear_scores(x, coef, self.total, zero=zero, threshold=threshold)
        if (flags.infinite and threshold is not None) or self.never_more is not None or self.never_zero is not None:
            for start, block in row_blocks(x):
                self._mark(block, threshold, out[start : start + len(block)])
        return out

    def write_posterior(
        self, x: Matrix, finish: PosteriorRequest, threshold: float | None = None, *, missing: bool = True
    ) -> int | None:
        """Write what ``finish`` requests of the scores; returns the first row without a posterior, or −1.

        None if x is sparse or a cell may be impossible: such rows must be scored first.
        """
        if is_sparse(x) or self.never_more is not None or self.never_zero is not None:
            return None
        coef, all_zero = self._by_class
        zero = all_zero if missing else None
        flags, impossible = kernels.linear_posterior(
            x, coef, self.total, zero=zero, threshold=threshold, request=finish
        )
        return None if flags.infinite else impossible

    def _mark(self, block: Float, threshold: float | None, out: Float) -> None:
        """Write −∞ for rows with an impossible cell, and NaN for rows whose infinite value a threshold hides."""
        least = 0.0 if threshold is None else threshold
        if self.never_more is not None:
            out[(block > least) @ self.never_more.astype(np.float64) > 0] = -np.inf
        if self.never_zero is not None:
            zeros = block == 0 if threshold is None else block <= threshold
            out[zeros @ self.never_zero.astype(np.float64) > 0] = -np.inf
        if threshold is not None:
            out[np.isinf(block).any(axis=1)] = np.nan


def _impossible(values: Float) -> tuple[Mask | None, Float]:
    """Where values (K, d) are −∞, or None if nowhere; and the values with 0 if not finite; (d, K) each."""
    turned = np.ascontiguousarray(values.T)
    if np.isfinite(turned).all():
        return None, turned
    never = np.isneginf(turned)
    return (never if never.any() else None), np.where(np.isfinite(turned), turned, 0.0)


def scores_of_cells(
    x: Matrix, zero: Float | None, slope: Float, threshold: float | None = None, *, missing: bool = True
) -> Float:
    """``Σ_j zero_kj + x_j slope_kj`` over the cells that are not missing (n, K); x is dense or sparse.

    Values are at least 0. A ``zero`` of −∞ makes a zero impossible, and a ``slope`` of −∞ any larger value; such cells
    are counted instead of added, since 0·∞ is NaN.

    With a ``threshold`` of at least 0, a value counts as one if it is above the threshold, and as zero otherwise; a row
    with an infinite value is NaN. Unless ``missing`` is true, a row with a missing value is NaN.

    >>> scores_of_cells(np.array([[2.0, np.nan], [0.0, 1.0]]), np.array([[1.0, 5.0]]), np.array([[3.0, -np.inf]]))
    array([[  7.],
           [-inf]])
    """
    return CellForm.of(zero, slope).scores(x, threshold, missing=missing)


def row_sums(x: Matrix, function: Callable[[Float], Float]) -> Float:
    """Σ_j f(x_j) of each row (n,) over the cells that are not missing; for a sparse x, f must be zero at zero.

    >>> row_sums(np.array([[1.0, 2.0], [np.nan, 3.0]]), np.square)
    array([5., 9.])
    """
    if is_sparse(x):
        values = np.asarray(function(x.data.astype(np.float64)))
        return np.asarray(same_cells(x, np.where(np.isnan(values), 0.0, values)).sum(axis=1)).ravel()
    out = np.empty(len(x))
    step = max(64, BLOCK_BYTES // (8 * max(x.shape[1], 1)))
    for start in range(0, len(x), step):
        out[start : start + step] = np.nansum(function(np.asarray(x[start : start + step], np.float64)), axis=1)
    return out


def row_blocks(x: Matrix) -> Iterator[tuple[int, Float]]:
    """Blocks of rows as dense float64, each with the number of its first row; x is dense or sparse."""
    x = x.tocsr() if is_sparse(x) else x
    step = max(256, 2 * BLOCK_BYTES // (8 * max(x.shape[1], 1)))
    for start in range(0, x.shape[0], step):
        block = x[start : start + step]
        # Always in one memory order: the last digit of a logarithm depends on how NumPy traverses the array.
        yield start, np.ascontiguousarray(block.toarray() if is_sparse(x) else block, dtype=np.float64)


def rows_with_missing(x: Matrix) -> Mask:
    """Which rows have a missing value (n,)."""
    parts = [np.isnan(block).any(axis=1) for _, block in row_blocks(x)]
    return np.concatenate([np.zeros(0, dtype=bool), *parts])


def rows_by_pattern(x: Float) -> Iterator[tuple[Index, Index]]:
    """Rows with the same missing cells, as pairs (rows, columns that they have).

    >>> x = np.array([[1.0, np.nan], [1.0, 2.0], [3.0, np.nan]])
    >>> [(rows.tolist(), known.tolist()) for rows, known in rows_by_pattern(x)]
    [([0, 2], [0]), ([1], [0, 1])]
    """
    observed = ~np.isnan(x)
    first, which = distinct_patterns(observed, np.zeros(len(x), dtype=np.int64))
    order = np.argsort(which, kind="stable")
    bounds = np.searchsorted(which[order], np.arange(len(first) + 1))
    for i, row in enumerate(first):
        yield order[bounds[i] : bounds[i + 1]], np.flatnonzero(observed[row])


def centred_blocks(x: Float, mean: Float, mean_low: Float | None = None) -> Iterator[tuple[slice, Float]]:
    """Blocks of rows minus the mean, as pairs (slice, rows); all blocks share one buffer."""
    n, d = x.shape
    step = max(64, BLOCK_BYTES // (8 * max(d, 1)))
    buffer = np.empty((min(step, n), d))
    for start in range(0, n, step):
        rows = slice(start, min(n, start + step))
        block = buffer[: rows.stop - rows.start]
        np.subtract(x[rows], mean, out=block)
        if mean_low is not None:
            block -= mean_low
        yield rows, block
