"""The range of numbers whose squares float64 can represent.

Second moments square the data: differences beyond 1e154 overflow, differences below 1e-146 lose digits or vanish. Both
raise an error instead of giving an infinite or a zero variance. Only decay makes squares vanish without an error: a
difference whose rows have lost their weight counts as zero.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.exceptions import InputError, columns_at
from suffice.numerics.types import Float

__all__ = ["FADED", "FADED_SQUARE", "SMALLEST", "SMALLEST_SQUARE", "check_squares", "constant_value"]

SMALLEST = 5e-324  # marks a square that underflowed
# A smaller sum of squares has fewer than 53 bits.
SMALLEST_SQUARE = float(np.finfo(np.float64).tiny / np.finfo(np.float64).eps)
FADED = 1e-140  # a smaller weight, left by decay, counts as zero; products with larger weights stay in range
FADED_SQUARE = 1e-280  # a smaller sum of squares, left by decay, counts as zero: well above the smallest square


def constant_value(weight: Float | float, mean: Float) -> Float:
    """Return the value of a column whose differences have faded: its mean, or zero if that has faded as well.

    The mean is the upper double of a mean in two doubles, which has approached the value to the last digit.
    """
    return np.where(weight * mean**2 < FADED_SQUARE, 0.0, mean)


def check_squares(m2: Float, columns: Sequence[object]) -> None:
    """Raise `InputError` naming the columns if a centred sum of squares (..., d) overflowed or underflowed.

    The spread of a column over all rows decides; the values of one class may be too close to measure. A family may
    have several sums of squares for each column, one after another.
    """
    axes = tuple(range(m2.ndim - 1))
    too_large = ~np.isfinite(m2).all(axis=axes)
    too_small = ((m2 > 0) & (m2 < SMALLEST_SQUARE)).any(axis=axes)
    for bad, what in (
        (too_large, "so large that their squares overflow"),
        (too_small, "so close that the squares of their differences underflow"),
    ):
        if bad.any():
            at = np.unique(np.flatnonzero(bad) % len(columns))
            raise InputError(
                f"Values in {columns_at(columns, at)} are {what} in float64. Rescale, for example to unit variance.",
                column=columns[int(at[0])],
            )
