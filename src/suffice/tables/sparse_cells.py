"""The stored cells of a sparse matrix: their rows, columns and values."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from suffice import kernels
from suffice.numerics.types import Array, Codes, Float, Matrix, SparseMatrix

__all__ = [
    "cell_columns",
    "cell_rows",
    "is_canonical",
    "is_sorted",
    "is_sparse",
    "known_canonical",
    "nonzero_cells",
    "same_cells",
    "some_rows",
]


def is_sparse(x: object) -> bool:
    """Whether x is a sparse matrix or array of SciPy, which its owner has imported."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(x))


def is_canonical(x: SparseMatrix) -> bool:
    """Whether cells are sorted and each is stored once. SciPy caches the result on x.

    >>> from scipy import sparse
    >>> is_canonical(sparse.csr_array((np.ones(2), [1, 0], [0, 2]), shape=(1, 2)))
    False
    """
    known = known_canonical(x)
    if known is None:
        known = x.has_canonical_format = is_sorted(x)
    return known


def is_sorted(x: SparseMatrix) -> bool:
    """Whether the indices of each row of a CSR matrix, or column of a CSC matrix, increase strictly.

    Raises `ValueError` if an index is outside the shape.
    """
    shape = x.shape if x.format == "csr" else x.shape[::-1]
    return kernels.has_sorted_indices(x.indptr, x.indices, len(x.data), shape)


def known_canonical(x: SparseMatrix) -> bool | None:
    """Return what SciPy has cached about the order of cells; None if it has not looked yet."""
    known: bool | None = vars(x).get("_has_canonical_format")
    return known


def cell_rows(x: SparseMatrix) -> Codes:
    """Return the row of each stored cell."""
    return np.asarray(_major(x) if x.format == "csr" else x.indices, dtype=np.int64)


def cell_columns(x: SparseMatrix) -> Codes:
    """Return the column of each stored cell."""
    return np.asarray(x.indices if x.format == "csr" else _major(x), dtype=np.int64)


def _major(x: SparseMatrix) -> Codes:
    return np.repeat(np.arange(len(x.indptr) - 1), np.diff(x.indptr))


def same_cells(x: SparseMatrix, data: Array) -> SparseMatrix:
    """Return a sparse matrix with the cells of x and other values."""
    return _with_parts(x, data, x.indices, x.indptr, x.shape)


def some_rows(x: SparseMatrix, start: int, stop: int) -> SparseMatrix:
    """Return the rows start..stop−1 of a CSR matrix, as a view."""
    start, stop, _ = slice(start, stop).indices(x.shape[0])
    bounds = x.indptr[start : max(stop, start) + 1]
    here = slice(bounds[0], bounds[-1])
    return _with_parts(x, x.data[here], x.indices[here], bounds - bounds[0], (len(bounds) - 1, x.shape[1]))


def _with_parts(x: SparseMatrix, data: Array, indices: Array, indptr: Array, shape: tuple[int, int]) -> SparseMatrix:
    """Return a matrix of the type of x with these arrays."""
    make: Any = type(x)
    out: SparseMatrix = make(shape, dtype=data.dtype)
    # SciPy's constructor would copy a view of less than half of an array.
    out.data, out.indices, out.indptr = data, indices, indptr
    if known_canonical(x):  # some rows of sorted cells, or other values in them, are sorted too
        out.has_canonical_format = True
    return out


def nonzero_cells(x: Matrix) -> tuple[Codes, Codes, Float]:
    """Return row, column and value of each cell that is not zero."""
    if is_sparse(x):
        rows, columns, values = cell_rows(x), cell_columns(x), x.data
        here = values != 0
        return rows[here], columns[here], values[here].astype(np.float64)
    rows, columns = np.nonzero(x)
    return rows, columns, np.asarray(x[rows, columns], dtype=np.float64)
