"""Names for the array types that the library uses."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "Codes", "Float", "Index", "Mask", "Matrix", "Selection", "SparseMatrix"]

Float: TypeAlias = NDArray[np.float64]
Codes: TypeAlias = NDArray[np.int64]
"""Positions on an axis of classes or levels; −1 for none."""
Index: TypeAlias = NDArray[np.intp]
Mask: TypeAlias = NDArray[np.bool_]
Selection: TypeAlias = slice | Index | Codes | Mask | list[int]
"""Entries of an axis: a slice, positions or a mask."""
Array: TypeAlias = NDArray[Any]
"""An array of any type: labels, levels, answers."""
Matrix: TypeAlias = Any
"""Rows of numbers (n, d): a NumPy array, a SciPy sparse matrix in CSR or CSC form, or a `ColumnMatrix`."""


class SparseMatrix(Protocol):
    """A SciPy sparse matrix or array (n, d) in CSR or CSC form; SciPy itself has no type information."""

    shape: tuple[int, int]
    format: str
    data: Array
    indices: Array
    indptr: Array
    nnz: int
    has_canonical_format: bool

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the stored values."""

    def tocsr(self) -> SparseMatrix:
        """Return the matrix stored by rows."""

    def tocsc(self) -> SparseMatrix:
        """Return the matrix stored by columns."""

    def toarray(self) -> Array:
        """Return the matrix as a dense array."""

    def sum(self, axis: int) -> Array:
        """Return the sums along an axis."""

    def __getitem__(self, index: object) -> SparseMatrix: ...
