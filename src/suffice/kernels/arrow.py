"""Columns with missing numbers, read from any engine through the Arrow C stream interface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from suffice.kernels import _core
from suffice.kernels.reading import Array, Float, readable

__all__ = ["ArrowColumn", "ArrowStream", "arrow_column", "arrow_truths"]


@runtime_checkable
class ArrowStream(Protocol):
    """An object with the Arrow C stream interface, such as a column of PyArrow, Polars or pandas."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A capsule that holds the stream."""


@dataclass(frozen=True, eq=False)
class ArrowColumn:
    """A view of an engine's numbers, with a validity bit for each.

    Attributes
    ----------
    values : array of shape (n,)
    bits : array of uint8
        A zero bit marks a missing number. Bits count from the lowest of each byte.
    first : int
        Position of the first number's bit.
    """

    values: Array
    bits: NDArray[np.uint8]
    first: int

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, start: int, stop: int) -> ArrowColumn:
        """A view of rows start..stop−1."""
        return ArrowColumn(self.values[start:stop], self.bits, self.first + start)

    def numbers(self, out: Float | None = None) -> Float:
        """A copy with NaN for missing numbers (n,), written to ``out`` if it is given."""
        out = np.empty(len(self)) if out is None else out
        _core.known_numbers(readable([self.values]), self.bits, self.first, out)
        return out

    def kernel_arguments(self) -> tuple[Array, NDArray[np.uint8], int]:
        """The column in the form that the C++ functions take."""
        return self.values, self.bits, self.first


def arrow_truths(series: object) -> NDArray[np.bool_] | None:
    """Booleans of a column with the stream interface.

    None if the column has no such interface, has several chunks or has a missing value.
    """
    if not isinstance(series, ArrowStream):
        return None
    truths = _core.arrow_truths(series.__arrow_c_stream__())
    return None if truths is None else truths.view(np.bool_)


def arrow_column(series: object) -> ArrowColumn | None:
    """A view of a column with the stream interface.

    None if the column has no such interface, has several chunks, is not numeric or has no validity bits.
    """
    if not isinstance(series, ArrowStream):
        return None
    parts = _core.arrow_column(series.__arrow_c_stream__())
    return None if parts is None else ArrowColumn(*parts)
