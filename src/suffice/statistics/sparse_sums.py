"""Class sums over the cells that a sparse matrix stores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.statistics.classes import Membership

__all__ = ["cell_columns", "cell_rows", "class_sums_of_cells", "left_of", "nonzero_cells", "same_cells"]

Float = NDArray[np.float64]


def class_sums_of_cells(x: Any, members: Membership) -> Float:
    """``Σ_i w_i x_ij`` of each class and column (K, d), over the stored cells of rows that count."""
    if members.soft is not None:
        weights = members.soft if members.weights is None else members.soft * members.weights[:, None]
        here = weights.any(axis=1)
        if not here.all():
            x, weights = x.tocsr()[here], weights[here]
        out: Float = np.asarray((x.T @ weights).T, dtype=np.float64)
        return np.ascontiguousarray(out)
    assert members.codes is not None
    weights = np.ones(len(members)) if members.weights is None else members.weights
    rows = np.flatnonzero((members.codes >= 0) & (weights > 0))
    k = len(members.classes)
    chosen = sparse.csr_array((weights[rows], (members.codes[rows], rows)), shape=(k, len(members)))
    summed = chosen @ (x if x.format == "csr" else x.tocsr())
    return np.asarray(summed.toarray(), dtype=np.float64)


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
    return type(x)((data, x.indices, x.indptr), shape=x.shape)


def nonzero_cells(x: Any) -> tuple[NDArray[np.int64], NDArray[np.int64], Float]:
    """Row, column and value of each cell that is not zero."""
    if sparse.issparse(x):
        rows, columns, values = cell_rows(x), cell_columns(x), x.data
        here = values != 0
        return rows[here], columns[here], values[here].astype(np.float64)
    rows, columns = np.nonzero(x)
    return rows, columns, np.asarray(x[rows, columns], dtype=np.float64)
