"""Columns with holes that come by the Arrow C stream interface, from whatever engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.kernels import _core
from suffice.kernels.reading import Float, readable

__all__ = ["ArrowColumn", "arrow_column"]


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

    def numbers(self, start: int, stop: int) -> Float:
        """A copy of rows start..stop−1, with NaN where a number is missing (stop − start,)."""
        out = np.empty(stop - start)
        _core.known_numbers(readable([self.values[start:stop]]), self.bits, self.first + start, out)
        return out


def arrow_column(series: Any) -> ArrowColumn | None:
    """A column that has the interface; None if it has not, has no holes, lies in several pieces, or has no numbers."""
    stream = getattr(series, "__arrow_c_stream__", None)
    found = None if stream is None else _core.arrow_column(stream())
    return None if found is None else ArrowColumn(*found)
