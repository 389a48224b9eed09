"""The range of numbers whose squares float64 can represent.

Second moments square the data: differences beyond 1e154 overflow, differences below 1e-146 lose digits or vanish. Both
raise an error instead of giving an infinite or a zero variance.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.exceptions import InputError, columns_at
from suffice.numerics.types import Float

__all__ = ["check_squares"]

SMALLEST = 5e-324  # marks a square that underflowed
# A smaller sum of squares has fewer than 53 bits.
SMALLEST_SQUARE = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)


def check_squares(m2: Float, columns: Sequence[object]) -> None:
    """Raise `InputError` naming the columns if a centred sum of squares (..., d) overflowed or underflowed.

    The spread of a column over all rows decides; the values of one class may be too close to measure.
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
                "for example to unit variance.",
                column=columns[int(np.flatnonzero(bad)[0])],
            )
