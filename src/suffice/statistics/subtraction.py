"""What is left when rows are taken out, and how it shows that they were never there.

Rounding is measured by what there was before. Whole numbers are exact, and one row too many is noticed. Other
weights are summed in two doubles: what is left below 1e-13 of the whole is nothing, and what is missing below that is
no reason to refuse. A sum of squares is refused when it would fall clearly below zero.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suffice.exceptions import MergeError
from suffice.numerics.compensated import add
from suffice.numerics.types import Float, Mask

__all__ = ["ALIKE", "nothing_left", "remaining", "remaining_squares", "remaining_weight"]

EPS = float(np.finfo(np.float64).eps)
NOTHING = 1e-13  # of a sum of weights that are not whole numbers
# Of a sum of squares: so far below zero it is no rounding, also not of a large table with outliers that was summed in
# one double. A row that was not there is seen by its distance, which a thousandth hardly changes.
ALIKE = (64 * EPS) ** 2  # of the squares that rows had about one mean: what is left of rounding
IMPOSSIBLE = 1e-3
FLAT = 2.0**-80  # of a sum of squares in two doubles


def remaining_weight(
    whole: Float, whole_low: Float, part: Float, part_low: Float, place: Callable[..., str]
) -> tuple[Float, Float]:
    """``whole − part`` in two doubles, where no weight may become negative; what is left of rounding is zero.

    Parameters
    ----------
    whole, whole_low, part, part_low : array
        Sums of weights.
    place : callable
        From the indices of an entry to what a message calls it.
    """
    left, left_low = add(whole, whole_low, -part, -part_low)
    exact = (whole == np.floor(whole)) & (part == np.floor(part)) & (whole < 2.0**53)
    exact &= (whole_low == 0) & (part_low == 0)
    negligible = np.where(exact, 0.0, NOTHING * whole)
    wrong = ~(left >= -negligible)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise MergeError(
            f"More weight would be taken out than there is in {place(*at)}: {part[at]:.6g} of {whole[at]:.6g}. "
            "These rows were not all in the model, or not with these weights; nothing was changed."
        )
    none = left <= negligible
    return np.where(none, 0.0, left), np.where(none, 0.0, left_low)


def remaining_squares(
    whole: Float, left: Float, left_low: Float, mean: Float, weight: Float, place: Callable[..., str]
) -> Mask:
    """Where columns (K, d) vary in what is left; elsewhere there is only rounding.

    Parameters
    ----------
    whole : array
        Sum of squares before.
    left, left_low : array
        What was computed for after.
    mean, weight : array
        Before. A mean is known to some parts in 2⁵² at least, wherever it came from: so much may its square be wrong.
    """
    total = left + left_low
    unsure = IMPOSSIBLE * whole + weight * (64 * EPS * mean) ** 2
    wrong = total < -unsure
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise MergeError(
            f"The rows to take out lie farther from the mean of {place(*at)} than any rows of it can: a negative sum "
            "of squares would be left. They were not in the model; nothing was changed."
        )
    return np.asarray(total > FLAT * whole)


def nothing_left(whole: Float, left: Float) -> Mask:
    """Where a plain sum is only rounding of what it was; whole numbers have none.

    >>> nothing_left(np.array([1e15 + 7, 1e15 + 0.5]), np.array([7.0, 0.5]))
    array([False,  True])
    """
    exact = (whole == np.floor(whole)) & (left == np.floor(left)) & (np.abs(whole) < 2.0**53)
    return np.asarray((np.abs(left) <= 64 * EPS * np.abs(whole)) & ~exact)


def remaining(whole: Float, part: Float) -> Float:
    """``whole − part`` where the part is in the whole; what is left of rounding is zero.

    >>> remaining(np.array([0.1 + 0.2, 3.0]), np.array([0.3, 1.0]))
    array([0., 2.])
    """
    left = whole - part
    return np.where(left <= 1e-12 * whole, 0.0, left)
