"""Subtraction of sums, with checks that the rows to remove were part of the whole.

Rounding errors are measured relative to the value before. Whole numbers are exact, so removing one row too many is
always noticed. Other weights are summed in two doubles: a difference within 1e-13 of the whole is zero, whether it is
positive or negative. A sum of squares that would become clearly negative raises an error.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suffice.exceptions import MergeError
from suffice.numerics.compensated import add
from suffice.numerics.types import Float, Mask

__all__ = [
    "CONSTANT",
    "is_rounding_error",
    "subtract_part",
    "subtract_weights",
    "varying_columns",
]

EPS = float(np.finfo(np.float64).eps)
NEGLIGIBLE = 1e-13  # relative to a sum of weights that are not whole numbers
# Relative to the sum of squares before: a column with less is constant, and the rest is rounding of its class means.
CONSTANT = (64 * EPS) ** 2
# Relative to the sum of squares before: a result this far below zero is not rounding, even if a large table with
# outliers was summed in one double. A foreign row shows by its distance from the mean, which a thousandth hardly
# changes.
IMPOSSIBLE = 1e-3
FLAT = 2.0**-80  # relative to a sum of squares in two doubles


def subtract_weights(
    whole: Float, whole_low: Float, part: Float, part_low: Float, place: Callable[..., str]
) -> tuple[Float, Float]:
    """Return ``whole − part`` in two doubles; differences within rounding become zero.

    Raises `MergeError` if a weight would become negative.

    Parameters
    ----------
    whole, whole_low, part, part_low : array
        Sums of weights.
    place : callable
        Function from the indices of an entry to its name in a message.
    """
    left, left_low = add(whole, whole_low, -part, -part_low)
    exact = (whole == np.floor(whole)) & (part == np.floor(part)) & (whole < 2.0**53)
    exact &= (whole_low == 0) & (part_low == 0)
    negligible = np.where(exact, 0.0, NEGLIGIBLE * whole)
    wrong = ~(left >= -negligible)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise MergeError(
            f"Cannot remove a weight of {part[at]:.6g} from {place(*at)}, which has {whole[at]:.6g}. Some of these "
            "rows were not in the model, or had other weights. Nothing was changed."
        )
    none = left <= negligible
    return np.where(none, 0.0, left), np.where(none, 0.0, left_low)


def varying_columns(
    whole: Float, left: Float, left_low: Float, mean: Float, weight: Float, place: Callable[..., str]
) -> Mask:
    """Return where columns (K, d) vary after a subtraction; elsewhere the sum of squares is a rounding error.

    Raises `MergeError` if a sum of squares is clearly negative.

    Parameters
    ----------
    whole : array
        Sum of squares before.
    left, left_low : array
        Sum of squares after, in two doubles.
    mean, weight : array
        Mean and weight before. A mean is accurate to a few parts in 2⁵², which bounds the error of its square.
    place : callable
        Function from the indices of an entry to its name in a message.
    """
    total = left + left_low
    unsure = IMPOSSIBLE * whole + weight * (64 * EPS * mean) ** 2
    wrong = total < -unsure
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise MergeError(
            f"Cannot remove rows so far from the mean of {place(*at)}: the sum of squares would become negative. "
            "These rows were not in the model. Nothing was changed."
        )
    return np.asarray(total > FLAT * whole)


def is_rounding_error(whole: Float, left: Float) -> Mask:
    """Return where a difference of plain sums is only the rounding error of the whole; whole numbers have none.

    >>> is_rounding_error(np.array([1e15 + 7, 1e15 + 0.5]), np.array([7.0, 0.5]))
    array([False,  True])
    """
    exact = (whole == np.floor(whole)) & (left == np.floor(left)) & (np.abs(whole) < 2.0**53)
    return np.asarray((np.abs(left) <= 64 * EPS * np.abs(whole)) & ~exact)


def subtract_part(whole: Float, part: Float) -> Float:
    """Return ``whole − part`` for a part of the whole; differences within rounding become zero.

    >>> subtract_part(np.array([0.1 + 0.2, 3.0]), np.array([0.3, 1.0]))
    array([0., 2.])
    """
    left = whole - part
    return np.where(left <= 1e-12 * whole, 0.0, left)
