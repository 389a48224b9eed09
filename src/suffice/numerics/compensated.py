"""Numbers stored as an unevaluated sum of two doubles, ``high + low``.

One double stores a class mean of 1e8 to 1.5e-8, so two orders of summation give posteriors that differ in the eighth
digit. A covariance matrix of condition 1e6 with sixteen digits gives posteriors with ten. A second double costs one
more array and removes both problems.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice.numerics.types import Float

__all__ = [
    "Group",
    "Joint",
    "add",
    "difference",
    "divided",
    "join_means",
    "part_mean",
    "product",
    "quotient",
    "two_product",
    "two_sum",
]

LARGE = 2.0**990


def two_sum(a: Float, b: Float) -> tuple[Float, Float]:
    """Return the rounded sum and its error: ``sum + error == a + b`` exactly (Knuth).

    >>> total, error = two_sum(np.array(1e16), np.array(1.0))
    >>> float(total), float(error)
    (1e+16, 1.0)
    """
    total = a + b
    t = total - a
    return total, (a - (total - t)) + (b - t)


def two_product(a: Float, b: Float) -> tuple[Float, Float]:
    """Return the rounded product and its error: ``product + error == a b`` exactly (Dekker)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(a: Float) -> tuple[Float, Float]:
    if LARGE < np.max(np.abs(a), initial=0.0) < np.inf:
        # Scaling keeps the products below within the range of a double; a power of two changes no digit.
        high, low = _halves(np.asarray(a * 2.0**-32))
        return high * 2.0**32, low * 2.0**32
    scaled = 134217729.0 * a  # 2^27 + 1
    high = scaled - (scaled - a)
    return high, a - high


def divided(high: Float, low: Float, divisor: Float | float) -> tuple[Float, Float]:
    """``(high + low) / divisor`` in two doubles.

    >>> q, rest = divided(np.array(1.0), np.array(0.0), 3.0)
    >>> from fractions import Fraction
    >>> abs(Fraction(float(q)) + Fraction(float(rest)) - Fraction(1, 3)) < Fraction(1, 10**30)
    True
    """
    quotient = high / divisor
    product, error = two_product(quotient, np.asarray(divisor))
    return quotient, (((high - product) - error) + low) / divisor


def difference(a: Float, a_low: Float, b: Float, b_low: Float) -> Float:
    """``(a + a_low) − (b + b_low)``, rounded once."""
    high, low = two_sum(a, -b)
    return high + (low + (a_low - b_low))


def add(a: Float, a_low: Float, b: Float, b_low: Float | float = 0.0) -> tuple[Float, Float]:
    """``(a + a_low) + (b + b_low)`` in two doubles."""
    high, error = two_sum(a, b)
    low = error + (a_low + b_low)
    total = high + low
    return total, low - (total - high)


def product(a: Float, a_low: Float, b: Float, b_low: Float | float = 0.0) -> tuple[Float, Float]:
    """``(a + a_low)(b + b_low)`` in two doubles.

    >>> from fractions import Fraction
    >>> third = divided(np.array(1.0), np.array(0.0), 3.0)
    >>> nearly = sum(Fraction(float(part)) for part in product(*third, *third))
    >>> abs(nearly - Fraction(1, 9)) < Fraction(1, 10**31)
    True
    """
    high, error = two_product(a, b)
    low = np.where(np.isfinite(error), error, 0.0) + (a * b_low + a_low * b)
    total = high + low
    return total, low - (total - high)


def quotient(a: Float, a_low: Float, b: Float, b_low: Float | float = 0.0) -> tuple[Float, Float]:
    """``(a + a_low) / (b + b_low)`` in two doubles; zero where b is not positive."""
    some = b > 0
    divisor = np.where(some, b, 1.0)
    high = a / divisor
    low = divided(a, a_low - high * b_low, divisor)[1]
    total = np.where(some, high + low, 0.0)
    return total, np.where(some, low - (total - high), 0.0)


class Group(NamedTuple):
    """Weight and mean of a group of rows, each an unevaluated sum."""

    weight: Float
    weight_low: Float
    mean: Float
    mean_low: Float


class Joint(NamedTuple):
    """The union of two groups a and b of rows; each pair of arrays is an unevaluated sum.

    Attributes
    ----------
    weight, weight_low, mean, mean_low : array
        Weight and mean of the union (`join_means`) or of group a (`part_mean`).
    delta, delta_low : array
        ``δ = mean_b − mean_a``; zero where either group is empty.
    cross, cross_low : array
        ``n_a n_b/(n_a + n_b)``, the factor of δδᵀ in the scatter of the union.
    """

    weight: Float
    weight_low: Float
    mean: Float
    mean_low: Float
    delta: Float
    delta_low: Float
    cross: Float
    cross_low: Float

    def squares(self) -> tuple[Float, Float]:
        """``cross δ²`` in two doubles: the sum of squares that the union adds to those of a and b."""
        square = product(self.delta, self.delta_low, self.delta, self.delta_low)
        return product(*square, self.cross, self.cross_low)


def join_means(a: Group, b: Group) -> Joint:
    """Return the union of two groups; its mean is ``mean_a + δ n_b/(n_a + n_b)`` (Chan, Golub and LeVeque 1979)."""
    both, only_b = (a.weight > 0) & (b.weight > 0), (a.weight == 0) & (b.weight > 0)
    total = add(a.weight, a.weight_low, b.weight, b.weight_low)
    delta, delta_low = (np.where(both, part, 0.0) for part in add(b.mean, b.mean_low, -a.mean, -a.mean_low))
    step = quotient(*product(delta, delta_low, b.weight, b.weight_low), *total)
    mean, low = add(a.mean, a.mean_low, *step)
    mean, low = np.where(only_b, b.mean, mean), np.where(only_b, b.mean_low, low)
    return Joint(*total, mean, low, delta, delta_low, *_cross(a.weight, a.weight_low, b, total))


def part_mean(whole: Group, b: Group, left: Float, left_low: Float) -> Joint:
    """Invert `join_means`: return group a, of weight ``left + left_low``, given the union and group b.

    δ and cross are those of the union. All results are zero where a is empty.
    """
    some = left > 0
    both = some & (b.weight > 0)
    away = add(whole.mean, whole.mean_low, -b.mean, -b.mean_low)
    step = quotient(*product(*away, b.weight, b.weight_low), left, left_low)
    moved = add(whole.mean, whole.mean_low, *step)
    # If all remaining rows are zero, their mean is zero, not the rounding error of the rows removed.
    nothing = np.abs(moved[0]) <= 2.0**-80 * np.abs(whole.mean)
    pairs = zip(moved, (whole.mean, whole.mean_low), strict=True)
    mean, low = (np.where(both, np.where(nothing, 0.0, new), np.where(some, old, 0.0)) for new, old in pairs)
    delta, delta_low = (np.where(both, part, 0.0) for part in add(b.mean, b.mean_low, -mean, -low))
    cross = (np.where(both, part, 0.0) for part in _cross(left, left_low, b, (whole.weight, whole.weight_low)))
    return Joint(left, left_low, mean, low, delta, delta_low, *cross)


def _cross(n: Float, n_low: Float, b: Group, total: tuple[Float, Float]) -> tuple[Float, Float]:
    return quotient(*product(n, n_low, b.weight, b.weight_low), *total)
