"""Numbers kept as an unevaluated sum of two doubles, ``high + low``.

A class mean of 1e8 known to one double is known to 1.5e-8; two orders of summation then give posteriors
that differ in the eighth digit. A covariance matrix of condition 1e6 known to sixteen digits gives
posteriors known to ten. Two doubles cost one more array, and remove the question.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["add", "difference", "divided", "join_means", "part_mean", "two_product", "two_sum"]

Float = NDArray[np.float64]


def two_sum(a: Float, b: Float) -> tuple[Float, Float]:
    """The rounded sum and its error: ``sum + error == a + b`` exactly (Knuth).

    >>> total, error = two_sum(np.array(1e16), np.array(1.0))
    >>> float(total), float(error)
    (1e+16, 1.0)
    """
    total = a + b
    t = total - a
    return total, (a - (total - t)) + (b - t)


def two_product(a: Float, b: Float) -> tuple[Float, Float]:
    """The rounded product and its error: ``product + error == a b`` exactly (Dekker)."""
    product = a * b
    (a_high, a_low), (b_high, b_low) = _halves(a), _halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low


def _halves(a: Float) -> tuple[Float, Float]:
    scaled = 134217729.0 * a  # 2^27 + 1
    high = scaled - (scaled - a)
    return high, a - high


def divided(high: Float, low: Float, divisor: float) -> tuple[Float, Float]:
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


def join_means(
    n_a: Float, mean_a: Float, low_a: Float, n_b: Float, mean_b: Float, low_b: Float
) -> tuple[Float, Float, Float, Float]:
    """Mean of two groups joined (Chan, Golub and LeVeque 1979).

    Returns
    -------
    mean, low : array
        ``mean_a + δ n_b/(n_a + n_b)`` in two doubles.
    delta : array
        ``δ = mean_b − mean_a``, zero where either group is empty.
    cross : array
        ``n_a n_b/(n_a + n_b)``: what multiplies δδᵀ in the scatter of the joined group.
    """
    total = n_a + n_b
    share = np.divide(n_b, total, out=np.zeros(np.shape(total)), where=total > 0)
    only_b = (n_a == 0) & (n_b > 0)
    delta = np.where((n_a > 0) & (n_b > 0), difference(mean_b, low_b, mean_a, low_a), 0.0)
    mean, low = add(mean_a, low_a, delta * share)
    return np.where(only_b, mean_b, mean), np.where(only_b, low_b, low), delta, n_a * share


def part_mean(
    n: Float, mean: Float, low: Float, n_b: Float, mean_b: Float, low_b: Float
) -> tuple[Float, Float, Float, Float]:
    """The inverse of `join_means`: the mean of group a, given the joined group and group b.

    Returns the same four arrays, where δ and cross are those of the join that is undone. Where nothing
    is left of a, all are zero.
    """
    n_a = n - n_b
    left = n_a > 0
    share = np.divide(n_b, n_a, out=np.zeros(np.shape(n_a)), where=left)
    step = difference(mean, low, mean_b, low_b)
    moved, moved_low = add(mean, low, step * share)
    mean_a, low_a = np.where(left, moved, 0.0), np.where(left, moved_low, 0.0)
    met = left & (n_b > 0)
    delta = np.where(met, difference(mean_b, low_b, mean_a, low_a), 0.0)
    cross = np.divide(n_a * n_b, n, out=np.zeros(np.shape(n_a)), where=met)
    return mean_a, low_a, delta, cross
