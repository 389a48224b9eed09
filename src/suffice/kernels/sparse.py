"""Class sums and linear scores of sparse matrices.

A sparse matrix is given by its parts: ``bounds`` (SciPy's indptr), ``indices`` and ``values`` (SciPy's data). Values
may have any real type, indices int32 or int64. Cells may come in any order and may be duplicated, unless a threshold is
given. Every index is checked: an invalid matrix raises `ValueError`.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from suffice.kernels import _core
from suffice.kernels.reading import Array, Codes, Float, readable
from suffice.kernels.value_flags import ValueFlags, cell_rule

__all__ = ["Cells", "has_sorted_indices", "rising_scores", "sparse_scores", "sparse_sums"]


class SparseMatrix(Protocol):
    """A sparse matrix of SciPy."""

    @property
    def format(self) -> str:
        """Such as ``"csr"``."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""

    @property
    def indptr(self) -> Array:
        """Start of each row or column; only in CSR and CSC."""

    @property
    def indices(self) -> Array:
        """Column or row of each cell; only in CSR and CSC."""

    @property
    def data(self) -> Array:
        """Value of each cell."""

    def tocsr(self) -> SparseMatrix:
        """The matrix in CSR form."""


class Cells(NamedTuple):
    """The stored cells of a sparse matrix, by row (CSR) or by column (CSC)."""

    bounds: Array
    indices: Array
    values: Array
    shape: tuple[int, int]
    by_column: bool = False

    @classmethod
    def of(cls, x: SparseMatrix) -> Cells:
        """The cells of a SciPy matrix. A matrix that is neither CSR nor CSC is converted to CSR."""
        x = x if x.format in ("csr", "csc") else x.tocsr()
        bounds, indices = _same_integers(x.indptr, x.indices)
        return cls(bounds, indices, np.ascontiguousarray(readable(x.data)), x.shape, x.format == "csc")


def _same_integers(bounds: Array, indices: Array) -> list[Array]:
    """The arrays in a form that the kernels read: contiguous, both int32 or both int64."""
    for each in (bounds, indices):
        if each.ndim != 1 or each.dtype.kind not in "iu":
            raise ValueError("invalid sparse matrix: indptr and indices must be one-dimensional arrays of integers")
    if bounds.dtype != indices.dtype or bounds.dtype not in (np.int32, np.int64):
        bounds, indices = bounds.astype(np.int64), indices.astype(np.int64)
    return [np.ascontiguousarray(readable(each)) for each in (bounds, indices)]


def sparse_sums(
    x: Cells,
    n_classes: int,
    *,
    codes: Codes | None = None,
    soft: Float | None = None,
    weights: Float | None = None,
    above: float | None = None,
    missing: bool = False,
) -> tuple[Float, ValueFlags]:
    """Per-class weighted column sums (n_classes, d) of the stored cells, and flags about their values.

    A missing cell adds nothing. With ``above`` a cell counts one if its value is above the threshold; with
    ``missing``, if it is missing.

    >>> x = Cells(np.array([0, 2, 3]), np.array([0, 2, 2]), np.array([1.0, -2.0, 5.0]), (2, 3))
    >>> sparse_sums(x, 2, codes=np.array([0, 1]))
    (array([[ 1.,  0., -2.],
           [ 0.,  0.,  5.]]), ValueFlags(negative=True, missing=False, infinite=False))
    """
    total = np.zeros((n_classes, x.shape[1]))
    flags = _core.sparse_sums(
        x.bounds, x.indices, x.values, x.shape[0], x.by_column, codes, soft, weights, *cell_rule(above, missing), total
    )
    return total, ValueFlags.of(flags)


def sparse_scores(
    x: Cells,
    offset: Float,
    slope: Float,
    *,
    zero: Float | None = None,
    never_more: NDArray[np.bool_] | None = None,
    never_zero: NDArray[np.bool_] | None = None,
    above: float | None = None,
    missing: bool = True,
) -> Float:
    """``offset_k + Σ_j x_j slope_jk`` over the stored cells of each row of a CSR matrix, (n, n_classes).

    Parameters
    ----------
    slope : array of shape (d, n_classes)
        Finite.
    zero : array of shape (d, n_classes), optional
        Subtracted from the score for a missing cell.
    never_more, never_zero : array of bool of shape (d, n_classes), optional
        Where a value above zero, or a zero, is impossible and makes the score −∞.
    above : float, optional
        A cell becomes one if its value is above the threshold, else zero. A row with an infinite value scores NaN.
    missing : bool
        Whether NaN is a missing cell. If not, it makes the row's scores NaN.

    >>> x = Cells(np.array([0, 2, 3]), np.array([0, 2, 2]), np.array([1.0, 2.0, 5.0]), (2, 3))
    >>> sparse_scores(x, np.array([0.5]), np.array([[1.0], [10.0], [100.0]]))
    array([[201.5],
           [500.5]])
    """
    out = np.empty((x.shape[0], len(offset)))
    zeros = None if never_zero is None else never_zero.sum(axis=0, dtype=np.int64)
    more, none = (None if each is None else each.view(np.uint8) for each in (never_more, never_zero))
    _core.sparse_scores(
        x.bounds, x.indices, x.values, offset, slope, zero, more, none, zeros, *cell_rule(above, False), missing, out
    )
    return out


def rising_scores(x: Cells, start: Float, own: Float, codes: Codes) -> Float:
    """Σ_j log Γ(a_jk + x_j)/Γ(a_jk) over the stored cells of each row of a CSR matrix, (n, n_classes).

    Parameters
    ----------
    start : array of shape (d, n_classes)
        a; where it is zero, a cell above zero is impossible and makes the score −∞.
    own : array of shape (nnz,)
        a of each cell for the class of its row, such as without the row itself.
    codes : array of int of shape (n,)
        The class of each row.

    >>> x = Cells(np.array([0, 1, 2]), np.array([0, 0]), np.array([1.0, 2.0]), (2, 1))
    >>> np.exp(rising_scores(x, np.array([[3.0, 5.0]]), np.array([4.0, 6.0]), np.array([0, 1]))).round(9)
    array([[ 4.,  5.],
           [12., 42.]])
    """
    out = np.empty((x.shape[0], start.shape[1]))
    start = np.ascontiguousarray(start)
    with np.errstate(divide="ignore"):
        tables = start, np.log(start), 1 / start
    bounds, indices = (np.ascontiguousarray(each, dtype=np.int64) for each in (x.bounds, x.indices))
    draws = np.ascontiguousarray(x.values, dtype=np.float64)
    _core.rising_scores(bounds, indices, draws, own, codes, *tables, out)
    return out


def has_sorted_indices(bounds: Array, indices: Array, n_cells: int, shape: tuple[int, int]) -> bool:
    """Whether the indices of each row increase strictly, so that no cell is duplicated; every index is checked.

    Parameters
    ----------
    bounds, indices : array of integers
        SciPy's indptr and indices.
    n_cells : int
        Number of values that are stored.
    shape : tuple
        Rows and columns; columns and rows if the cells are stored by column.

    >>> has_sorted_indices(np.array([0, 2]), np.array([1, 1]), 2, (1, 3))
    False
    """
    bounds, indices = _same_integers(bounds, indices)
    return bool(_core.has_sorted_indices(bounds, indices[:n_cells], *shape))
