"""The range of numbers whose squares float64 can hold.

Second moments square their data: differences beyond 1e154 overflow, differences below 1e-146 lose digits
or vanish. Both are refused in a sentence; neither becomes an infinite or a zero variance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError, columns_at

__all__ = ["check_squares"]

SMALLEST = 5e-324  # stands for a square that underflowed
# Below this a double sum of squares has fewer than 53 bits.
SMALLEST_SQUARE = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)


def check_squares(m2: NDArray[np.float64], columns: Sequence[object]) -> None:
    """Raise if a centred sum of squares (..., d) over- or underflowed, naming the columns.

    What counts is a column's spread over all rows: one class may well vary too little to be measured.
    """
    axes = tuple(range(m2.ndim - 1))
    too_large = ~np.isfinite(m2).all(axis=axes)
    too_small = ((m2 > 0) & (m2 < SMALLEST_SQUARE)).any(axis=axes)
    for bad, what in (
        (too_large, "so large that their squares overflow"),
        (too_small, "so close that the squares of their differences underflow"),
    ):
        if bad.any():
            raise InputError(
                f"Values in {columns_at(columns, np.flatnonzero(bad))} are {what} in float64. Rescale, "
                "for example to unit variance."
            )
