"""The cells that a sparse matrix stores: their rows, columns and values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice import kernels

__all__ = [
    "cell_columns",
    "cell_rows",
    "is_canonical",
    "left_of",
    "nonzero_cells",
    "same_cells",
    "some_rows",
]

Float = NDArray[np.float64]


def is_canonical(x: Any) -> bool:
    """Whether cells are in order and each is stored once; SciPy is told, so that it need not look again.

    >>> is_canonical(sparse.csr_array((np.ones(2), [1, 0], [0, 2]), shape=(1, 2)))
    False
    """
    known = getattr(x, "_has_canonical_format", None)
    if known is None:
        known = x.has_canonical_format = kernels.has_sorted_indices(kernels.Cells.of(x))
    return bool(known)


def left_of(whole: Float, part: Float) -> Float:
    """``whole − part`` of sums of weights; where only rounding is left, nothing is."""
    left = whole - part
    return np.where(left <= 1e-12 * whole, 0.0, left)


def cell_rows(x: Any) -> NDArray[np.int64]:
    """The row of each stored cell."""
    return np.asarray(_major(x) if x.format == "csr" else x.indices, dtype=np.int64)


def cell_columns(x: Any) -> NDArray[np.int64]:
    """The column of each stored cell."""
    return np.asarray(x.indices if x.format == "csr" else _major(x), dtype=np.int64)


def _major(x: Any) -> NDArray[np.int64]:
    return np.repeat(np.arange(len(x.indptr) - 1), np.diff(x.indptr))


def same_cells(x: Any, data: NDArray[Any]) -> Any:
    """A sparse matrix that stores other numbers in the cells of x."""
    return _alike(x, (data, x.indices, x.indptr), x.shape)


def some_rows(x: Any, start: int, stop: int) -> Any:
    """The rows start..stop−1 of a matrix by rows, which share its memory."""
    start, stop, _ = slice(start, stop).indices(x.shape[0])
    bounds = x.indptr[start : max(stop, start) + 1]
    here = slice(bounds[0], bounds[-1])
    return _alike(x, (x.data[here], x.indices[here], bounds - bounds[0]), (len(bounds) - 1, x.shape[1]))


def _alike(x: Any, parts: tuple[Any, Any, Any], shape: tuple[int, int]) -> Any:
    out = type(x)(shape, dtype=parts[0].dtype)
    out.data, out.indices, out.indptr = parts  # by its constructor, SciPy would copy a part of less than half
    if getattr(x, "_has_canonical_format", False):  # what is known of the whole holds of its parts
        out.has_canonical_format = True
    return out


def nonzero_cells(x: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], Float]:
    """Row, column and value of each cell that is not zero."""
    if sparse.issparse(x):
        rows, columns, values = cell_rows(x), cell_columns(x), x.data
        here = values != 0
        return rows[here], columns[here], values[here].astype(np.float64)
    rows, columns = np.nonzero(x)
    return rows, columns, np.asarray(x[rows, columns], dtype=np.float64)
