"""Log-likelihoods that are linear in x, and rows less a point, both block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice import kernels
from suffice.exceptions import InputError
from suffice.statistics.sparse_sums import same_cells
from suffice.statistics.table import is_sparse

__all__ = ["Linear", "centred_blocks", "linear_scores", "row_blocks", "row_sums", "scores_of_cells"]

Float = NDArray[np.float64]

BLOCK_BYTES = 1 << 20  # of rows that are centred and multiplied together


class Linear(NamedTuple):
    """Log-likelihoods that are linear in x, up to a term common to all classes.

    ``log p(x | k) = offset_k + (x − origin) · coef_k + (the same for every k)``. The origin lies among
    the data, so that no digits are lost where they are far from zero.
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


def scores_of_cells(x: Any, zero: Float, slope: Float, threshold: float | None = None) -> Float:
    """``Σ_j zero_kj + x_j slope_kj`` over the cells that are not missing (n, K); x is dense or sparse.

    Values are 0 or more; with a ``threshold``, 1 where they are above it and 0 elsewhere. Where ``zero`` is −∞ a zero
    is impossible, and where ``slope`` is −∞ anything above it; such cells are counted instead of added, since 0·∞ is no
    number.

    >>> scores_of_cells(np.array([[2.0, np.nan], [0.0, 1.0]]), np.array([[1.0, 5.0]]), np.array([[3.0, -np.inf]]))
    array([[  7.],
           [-inf]])
    """
    never_zero, never_more = np.isneginf(zero), np.isneginf(slope)
    zero = np.where(never_zero, 0.0, zero)
    slope = np.where(np.isfinite(slope), slope, 0.0)
    if is_sparse(x):
        return _sparse_scores(x, zero, np.ascontiguousarray(slope.T), never_zero, never_more)
    out, met = kernels.linear_scores(x, slope, zero.sum(axis=1), zero=zero, threshold=threshold)
    if met & kernels.INFINITE:
        raise InputError("X holds infinity, which is no number.")
    for start, block in row_blocks(x) if never_more.any() or never_zero.any() else ():
        rows, least = slice(start, start + len(block)), 0.0 if threshold is None else threshold
        if never_more.any():
            out[rows][(block > least) @ never_more.T.astype(np.float64) > 0] = -np.inf
        if never_zero.any():
            nothing = block == 0 if threshold is None else block <= threshold
            out[rows][nothing @ never_zero.T.astype(np.float64) > 0] = -np.inf
    return out


def _sparse_scores(
    x: Any, zero: Float, slope: Float, never_zero: NDArray[np.bool_], never_more: NDArray[np.bool_]
) -> Float:
    missing = np.isnan(x.data)
    known = same_cells(x, np.where(missing, 0.0, x.data)) if missing.any() else x
    out: Float = np.asarray(known @ slope, dtype=np.float64) + zero.sum(axis=1)
    if missing.any():
        out -= same_cells(x, missing.astype(np.float64)) @ zero.T
    if never_more.any():
        out[same_cells(x, (known.data > 0).astype(np.float64)) @ never_more.T.astype(np.float64) > 0] = -np.inf
    if never_zero.any():
        # Zeros are all cells but those above zero and those that are missing.
        others = same_cells(x, ((known.data != 0) | missing).astype(np.float64)) @ never_zero.T.astype(np.float64)
        out[never_zero.sum(axis=1) - others > 0] = -np.inf
    return out


def row_sums(x: Any, function: Callable[[Any], Any]) -> Float:
    """Σ_j f(x_j) of each row (n,) over the cells that are not missing; f is zero at zero where x is sparse.

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


def row_blocks(x: Any) -> Iterator[tuple[int, Float]]:
    """Blocks of rows as dense float64, with the number of their first row; x is dense or sparse."""
    x = x.tocsr() if is_sparse(x) else x
    step = max(256, 2 * BLOCK_BYTES // (8 * max(x.shape[1], 1)))
    for start in range(0, x.shape[0], step):
        block = x[start : start + step]
        # In one order of memory: a logarithm's last digit depends on how NumPy walks through it.
        yield start, np.ascontiguousarray(block.toarray() if is_sparse(x) else block, dtype=np.float64)


def centred_blocks(x: Float, mean: Float, mean_low: Float | None = None) -> Iterator[tuple[slice, Float]]:
    """Blocks of rows less the mean, as (slice, rows); the rows lie in one buffer that is used again."""
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
