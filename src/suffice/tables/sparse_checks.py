"""Checks of sparse matrices from outside, before SciPy reads them.

SciPy trusts the indices of a matrix: its conversions read and write outside their arrays if an index is outside the
shape.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from suffice import kernels
from suffice.exceptions import InputError
from suffice.numerics.types import Array
from suffice.tables.sparse_cells import is_sorted, is_sparse, known_canonical

__all__ = ["check_cells", "has_known_order"]

FAULTS = (ValueError, TypeError, IndexError, AttributeError, OverflowError)  # of arrays that a caller has replaced


def check_cells(x: Any) -> None:
    """Raise unless all cells lie inside the shape, if x is a SciPy matrix of any format.

    Notes on a CSR or CSC matrix, as SciPy does, whether its cells are sorted and stored once.

    >>> from scipy import sparse
    >>> x = sparse.csr_array(np.eye(2))
    >>> x.indices[1] = 10**6
    >>> check_cells(x)
    Traceback (most recent call last):
    suffice.exceptions.InputError: X is not a valid sparse matrix of shape (2, 2): an index is outside its shape.
    """
    if not is_sparse(x):
        return
    if len(x.shape) != 2:
        raise InputError(f"X must have two dimensions; it is a sparse array of shape {x.shape}.", argument="X")
    check = CHECKS.get(x.format)
    if check is None:
        return  # a format of SciPy's future; the conversion to CSR is SciPy's
    try:
        check(x)
    except FAULTS as error:
        problem = str(error).removeprefix("invalid sparse matrix: ")
        raise InputError(f"X is not a valid sparse matrix of shape {x.shape}: {problem}.", argument="X") from None


def has_known_order(x: Any) -> bool:
    """Whether x is a CSR or CSC matrix whose cells are known to be sorted, so that reading it calls nothing of SciPy.

    Its arrays may have changed since: a kernel has to check the indices.
    """
    return is_sparse(x) and x.format in ("csr", "csc") and known_canonical(x) is True


def _check_compressed(x: Any) -> None:
    if np.ndim(x.data) != 1:
        raise ValueError("the data must have one dimension")
    x.has_canonical_format = is_sorted(x)


def _check_blocks(x: Any) -> None:
    """Check BSR: its blocks are the cells of a smaller matrix."""
    height, width = np.shape(x.data)[1:]
    if min(height, width) < 1 or x.shape[0] % height or x.shape[1] % width:
        raise ValueError("its blocks do not divide its shape")
    kernels.has_sorted_indices(x.indptr, x.indices, len(x.data), (x.shape[0] // height, x.shape[1] // width))


def _check_coordinates(x: Any) -> None:
    rows, columns = x.coords
    _check_inside(rows, np.shape(x.data), x.shape[0])
    _check_inside(columns, np.shape(x.data), x.shape[1])


def _check_inside(index: Array, shape: tuple[int, ...], stop: int) -> None:
    if index.shape != shape or index.ndim != 1 or index.dtype.kind not in "iu":
        raise ValueError("its indices must be integers, one for each cell")
    if len(index) and not 0 <= int(index.min()) <= int(index.max()) < stop:
        raise ValueError("an index is outside its shape")


def _check_diagonals(x: Any) -> None:
    """Check DIA; SciPy ignores diagonals outside the shape."""
    if np.ndim(x.data) != 2 or np.shape(x.offsets) != (len(x.data),) or x.offsets.dtype.kind not in "iu":
        raise ValueError("its offsets must be integers, one for each diagonal")


def _check_lists(x: Any) -> None:
    if not np.shape(x.rows) == np.shape(x.data) == (x.shape[0],):
        raise ValueError("the number of its lists does not fit its shape")
    if any(len(columns) != len(values) for columns, values in zip(x.rows, x.data, strict=True)):
        raise ValueError("its indices must be integers, one for each cell")
    columns = np.fromiter((column for row in x.rows for column in row), dtype=np.int64)
    _check_inside(columns, columns.shape, x.shape[1])


def _check_keys(x: Any) -> None:
    keys = np.array(list(x.keys()), dtype=np.int64).reshape(-1, 2)
    for index, stop in zip(keys.T, x.shape, strict=True):
        _check_inside(index, (len(keys),), stop)


CHECKS: dict[str, Callable[[Any], None]] = {
    "csr": _check_compressed,
    "csc": _check_compressed,
    "bsr": _check_blocks,
    "coo": _check_coordinates,
    "dia": _check_diagonals,
    "lil": _check_lists,
    "dok": _check_keys,
}
