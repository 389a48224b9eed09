"""Ratios of gamma functions, and logarithms of ratios, without cancellation."""

from __future__ import annotations

import numpy as np
import scipy

from suffice.numerics.types import Float

__all__ = ["excess", "log_quotient", "log_rise", "stirling_gap"]

LARGE = 16.0  # Stirling's series has sixteen digits from here on
NEAR = 0.1  # below, t − log(1 + t) is a series


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


def excess(t: Float | float, log_one_more: Float | None = None) -> Float:
    """t − log(1 + t) for t > −1, accurate to the last digits also near zero, where it is about t²/2.

    If 1 + t is a quotient that may be near zero, t has lost its digits; give `log_quotient` as ``log_one_more``.
    >>> float(excess(1e-9))
    4.999999996666666e-19
    """
    t = np.asarray(t, dtype=np.float64)
    near = np.abs(t) < NEAR
    if log_one_more is None:
        log_one_more = np.log1p(t, out=np.zeros_like(t), where=~near)
    # With s = t/(2 + t), log(1 + t) = 2 artanh s = 2 (s + s³/3 + s⁵/5 + …).
    small = np.where(near, t, 0.0)
    s = small / (2 + small)
    q = s * s
    series = 1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q * (1 / 11 + q / 13))))
    return np.where(near, s * (small - 2 * q * series), t - log_one_more)


def log_quotient(x: Float | float, y: Float | float) -> Float:
    """log x/y for positive numbers, accurate to the last digits also where x/y is about 1, or is no double.

    >>> round(float(log_quotient(1e-300, 1e300)), 9)
    -1381.551055796
    """
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    with np.errstate(all="ignore"):
        out, away = np.asarray(np.log(x / y)), np.asarray((x - y) / y)
        np.log1p(away, out=out, where=np.abs(away) < 0.5)
        is_regular = np.abs(out) < 690.0  # otherwise x/y is too small to have all digits, or infinite
        return out if is_regular.all() else np.where(is_regular, out, np.log(x) - np.log(y))


def _correction(z: Float) -> Float:
    """Return the correction to Stirling's formula, 1/12z − 1/360z³ + …."""
    s = 1 / (z * z)
    return (1 / 12 - s * (1 / 360 - s * (1 / 1260 - s * (1 / 1680 - s / 1188)))) / z
