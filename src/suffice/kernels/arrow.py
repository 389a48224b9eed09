"""Columns with holes that come by the Arrow C stream interface, from whatever engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.kernels import _core
from suffice.kernels.reading import Float, readable

__all__ = ["ArrowColumn", "arrow_column", "arrow_truths"]


@dataclass(frozen=True, eq=False)
class ArrowColumn:
    """Numbers where their engine has them, and a bit for each that says whether it is there.

    Attributes
    ----------
    values : array of shape (n,)
    bits : array of uint8
        From the lowest bit of each byte on; that of the first number is at the place ``first``.
    first : int
    """

    values: NDArray[Any]
    bits: NDArray[np.uint8]
    first: int

    def __len__(self) -> int:
        return len(self.values)

    def rows(self, start: int, stop: int) -> ArrowColumn:
        """Rows start..stop−1, where they lie."""
        return ArrowColumn(self.values[start:stop], self.bits, self.first + start)

    def numbers(self, out: Float | None = None) -> Float:
        """A copy, with NaN where a number is missing (n,); in ``out`` if it is given."""
        out = np.empty(len(self)) if out is None else out
        _core.known_numbers(readable([self.values]), self.bits, self.first, out)
        return out

    def asked(self) -> tuple[NDArray[Any], NDArray[np.uint8], int]:
        """As the kernels take it."""
        return self.values, self.bits, self.first


def arrow_truths(series: Any) -> NDArray[np.bool_] | None:
    """Truth values of a column that has the interface; None if it has not, is in several pieces, or one is missing."""
    stream = getattr(series, "__arrow_c_stream__", None)
    found = None if stream is None else _core.arrow_truths(stream())
    return None if found is None else found.view(np.bool_)


def arrow_column(series: Any) -> ArrowColumn | None:
    """A column that has the interface; None if it has not, has no holes, lies in several pieces, or has no numbers."""
    stream = getattr(series, "__arrow_c_stream__", None)
    found = None if stream is None else _core.arrow_column(stream())
    return None if found is None else ArrowColumn(*found)
