"""Ratios of gamma functions, computed without cancellation where the functions themselves are huge."""

from __future__ import annotations

import numpy as np
import scipy

from suffice.numerics.types import Float

__all__ = ["excess", "log_rise", "stirling_gap"]

LARGE = 16.0  # Stirling's series has sixteen digits from here on


def log_rise(a: Float | float, x: Float | float) -> Float:
    """log Γ(a + x)/Γ(a) for a > 0 and x ≥ 0.

    A difference of two log-gammas loses the leading digits that they share. For a large ``a``, this function subtracts
    Stirling's series term by term instead.
    >>> float(log_rise(1e15, 1.0)) == float(np.log(1e15))
    True
    """
    a, x = np.broadcast_arrays(np.asarray(a, dtype=np.float64), np.asarray(x, dtype=np.float64))
    large = a >= LARGE
    big = np.where(large, a, LARGE)
    end = big + x
    series = (big - 0.5) * np.log1p(x / big) + x * (np.log(end) - 1) + _correction(end) - _correction(big)
    small = np.where(large, 1.0, a)
    return np.asarray(np.where(large, series, scipy.special.gammaln(small + x) - scipy.special.gammaln(small)))


def stirling_gap(a: Float | float) -> Float:
    """a log a − a − log Γ(a), for a > 0."""
    a = np.asarray(a, dtype=np.float64)
    large = a >= LARGE
    big, small = np.where(large, a, LARGE), np.where(large, 1.0, a)
    series = 0.5 * np.log(big / (2 * np.pi)) - _correction(big)
    return np.where(large, series, small * np.log(small) - small - scipy.special.gammaln(small))


def excess(t: Float | float) -> Float:
    """t − log(1 + t) for t > −1, accurate to the last digits also near zero, where it is about t²/2.

    >>> float(excess(1e-9))
    4.999999996666667e-19
    """
    t = np.asarray(t, dtype=np.float64)
    near = np.abs(t) < 0.01
    s = np.where(near, t, 0.0)
    series = s * s * (1 / 2 - s * (1 / 3 - s * (1 / 4 - s * (1 / 5 - s * (1 / 6 - s * (1 / 7 - s / 8))))))
    far = np.where(near, 1.0, t)
    return np.where(near, series, far - np.log1p(far))


def _correction(z: Float) -> Float:
    """Return the correction to Stirling's formula, 1/12z − 1/360z³ + …."""
    s = 1 / (z * z)
    return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / z
