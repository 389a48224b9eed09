"""How the kernels see arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, overload

import numpy as np
from numpy.typing import NDArray

__all__ = ["Array", "BitColumn", "Codes", "ColumnRows", "Float", "KernelRows", "Numbers", "readable", "shape_of"]

Array = NDArray[Any]
"""An array of any real type."""
Float = NDArray[np.float64]
Codes = NDArray[np.int64]
KernelColumn = Array | tuple[Array, NDArray[np.uint8], int]
"""A column as the C++ functions take it: numbers, perhaps with validity bits and the position of the first bit."""
KernelRows = Array | list[KernelColumn]
"""Rows as the C++ functions take them: a matrix or a list of columns."""


class BitColumn(Protocol):
    """A column with validity bits, such as `suffice.kernels.ArrowColumn`."""

    def kernel_arguments(self) -> tuple[Array, NDArray[np.uint8], int]:
        """Numbers, validity bits and the position of the first bit."""


class ColumnRows(Protocol):
    """Rows stored as one array per column, such as `suffice.tables.column_matrix.ColumnMatrix`."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""

    @property
    def columns(self) -> list[Array]:
        """The columns as arrays, with NaN for missing numbers."""

    @property
    def lying(self) -> Sequence[Array | BitColumn] | None:
        """The columns in place, each an array or a `BitColumn`; None if some must be copied."""


Numbers = Array | list[Array] | ColumnRows
"""A matrix of rows, or columns of any real type."""


def shape_of(x: Numbers) -> tuple[int, int]:
    """Number of rows and columns."""
    return (len(x[0]) if x else 0, len(x)) if isinstance(x, list) else (x.shape[0], x.shape[1])


@overload
def readable(x: Array, *, bits: bool = ...) -> Array: ...
@overload
def readable(x: Numbers, *, bits: bool = ...) -> KernelRows: ...
def readable(x: Numbers, *, bits: bool = False) -> KernelRows:
    """Rows in the form that the C++ functions take. Copies only unaligned or byte-swapped arrays.

    With ``bits``, columns with validity bits are passed in place. Only some C++ functions read those.
    """
    if isinstance(x, np.ndarray):
        return x if x.flags.carray and x.dtype.isnative else _aligned(x)
    if isinstance(x, list):
        return [_aligned(column) for column in x]
    in_place = x.lying if bits else None
    return [_column(each) for each in (x.columns if in_place is None else in_place)]


def _column(column: Array | BitColumn) -> KernelColumn:
    return _aligned(column) if isinstance(column, np.ndarray) else column.kernel_arguments()


def _aligned(x: Array) -> Array:
    whole_steps = True
    for step in x.strides:
        whole_steps &= step % x.itemsize == 0
    if whole_steps and x.flags.aligned and x.dtype.isnative:
        return x
    return x.astype(x.dtype.newbyteorder("="), order="C")
