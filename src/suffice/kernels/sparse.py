"""Class sums and linear scores of sparse matrices.

A sparse matrix is given by its parts: ``bounds`` (SciPy's indptr), ``places`` (its indices) and ``values`` (its data).
Values may be of any real type, indices int32 or int64. Cells may be in any order and be there twice, unless a threshold
is asked for. Every index is checked: a broken matrix is a `ValueError`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.kernels import _core
from suffice.kernels.reading import Codes, Float, readable
from suffice.kernels.value_flags import ValueFlags, cell_of

__all__ = ["Cells", "rises", "sparse_scores", "sparse_sums"]


class Cells(NamedTuple):
    """The stored cells of a sparse matrix, by row or by column."""

    bounds: NDArray[Any]
    places: NDArray[Any]
    values: NDArray[Any]
    shape: tuple[int, int]
    by_column: bool = False

    @classmethod
    def of(cls, x: Any) -> Cells:
        """Those of a matrix of SciPy's; of one that is neither CSR nor CSC, as CSR."""
        x = x if x.format in ("csr", "csc") else x.tocsr()
        bounds, places = x.indptr, x.indices
        if bounds.dtype != places.dtype or bounds.dtype not in (np.int32, np.int64):
            bounds, places = bounds.astype(np.int64), places.astype(np.int64)
        bounds, places, values = (np.ascontiguousarray(readable(each)) for each in (bounds, places, x.data))
        return cls(bounds, places, values, x.shape, x.format == "csc")


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
    """Per-class weighted column sums (n_classes, d) of the stored cells, and what was met among them.

    A missing cell counts for nothing. With ``above`` a cell counts for one if its value is above that, with
    ``missing`` if it is missing.

    >>> x = Cells(np.array([0, 2, 3]), np.array([0, 2, 2]), np.array([1.0, -2.0, 5.0]), (2, 3))
    >>> sparse_sums(x, 2, codes=np.array([0, 1]))
    (array([[ 1.,  0., -2.],
           [ 0.,  0.,  5.]]), ValueFlags(negative=True, missing=False, infinite=False))
    """
    total = np.zeros((n_classes, x.shape[1]))
    met = _core.sparse_sums(
        x.bounds, x.places, x.values, x.shape[0], x.by_column, codes, soft, weights, *cell_of(above, missing), total
    )
    return total, ValueFlags.of(met)


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
    """``offset_k + Σ_j x_j slope_jk`` over the stored cells of each row, by row, (n, n_classes).

    Parameters
    ----------
    slope : array of shape (d, n_classes)
        Finite.
    zero : array of shape (d, n_classes), optional
        What a missing cell takes away from the score.
    never_more, never_zero : array of bool of shape (d, n_classes), optional
        Where a value above zero, or a zero, is impossible: −∞.
    above : float, optional
        A cell is one if its value is above it, and zero if not; a row with an infinite value is NaN.
    missing : bool
        Whether NaN is a missing cell; otherwise it makes the row NaN.

    >>> x = Cells(np.array([0, 2, 3]), np.array([0, 2, 2]), np.array([1.0, 2.0, 5.0]), (2, 3))
    >>> sparse_scores(x, np.array([0.5]), np.array([[1.0], [10.0], [100.0]]))
    array([[201.5],
           [500.5]])
    """
    out = np.empty((x.shape[0], len(offset)))
    zeros = None if never_zero is None else never_zero.sum(axis=0, dtype=np.int64)
    more, none = (None if each is None else each.view(np.uint8) for each in (never_more, never_zero))
    _core.sparse_scores(
        x.bounds, x.places, x.values, offset, slope, zero, more, none, zeros, *cell_of(above, False), missing, out
    )
    return out


def rises(x: Cells) -> bool:
    """Whether the places of each row (or column) rise, so that no cell is there twice.

    >>> rises(Cells(np.array([0, 2]), np.array([1, 1]), np.ones(2), (1, 3)))
    False
    """
    return bool(_core.sparse_rises(x.bounds, x.places, len(x.bounds) - 1))
