"""Tests of the shape of a column in one class, by the probability integral transform.

If x has the distribution function F, F(x) is uniform between 0 and 1. Uniformity is measured by Anderson and Darling's
A², which weighs the tails. The parameters of F are estimated from the same rows, which makes F(x) more even than
uniform numbers, so the p-value comes from the distribution of A² with estimated parameters (D'Agostino and Stephens
1986). It does not depend on the parameters of a gaussian, log_normal or exponential column; for gamma, a bound is used.

For counts, F is the distribution of a row given the sum of the rows so far, which does not depend on parameters
(O'Reilly and Quesenberry 1973), at a random point of each step of F. These numbers are uniform and independent:

    poisson       x_i given S_i = x_1 + … + x_i is binomial with S_i trials and probability 1/i
    geometric     P(x_i ≥ m | S_i) = C(S_i − m + i − 1, i − 1) / C(S_i + i − 1, i − 1)
"""

from __future__ import annotations

import numpy as np

from suffice.numerics.types import Float

__all__ = ["TESTS", "anderson_darling", "jittered", "shape_p_value"]

GAUSSIAN, POSITIVE = ("gaussian", "multivariate_gaussian"), ("log_normal", "gamma")
LEAST, MOST = 1e-300, 1 - 1e-16
EPSILON, ROUNDING_UNITS = float(np.finfo(np.float64).eps), 64  # rounding errors of sums and products of a few numbers
SAME = 1e-9  # share of the mean gap between numbers; smaller gaps are rounding errors
EXPONENTIAL_A2 = (
    *(0.0, 0.161, 0.215, 0.255, 0.316, 0.372, 0.431, 0.497, 0.574, 0.674),  # by simulation
    *(0.736, 0.816, 0.916, 1.062, 1.321, 1.591, 1.959, 2.244, 2.534),  # D'Agostino and Stephens (1986)
)
EXPONENTIAL_P = (
    *(1.0, 0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3),
    *(0.25, 0.20, 0.15, 0.10, 0.05, 0.025, 0.01, 0.005, 0.0025),
)
EXPONENTIAL_SLOPE = -2.2  # of log p beyond the table
GAMMA_SCALE = 0.85  # A² of a gamma distribution with estimated parameters is at most 1/0.85 that of a normal one
LEAST_GAMMA_SHAPE = 0.5  # for which that holds


def poisson(x: Float, rng: np.random.Generator) -> Float:
    """Uniform numbers of Poisson rows (n − 1,)."""
    from scipy.special import betainc

    total, i, own = np.cumsum(x)[1:], np.arange(2, len(x) + 1), x[1:]

    def at_most(m: Float) -> Float:
        """P(X ≤ m) of a binomial distribution."""
        inside = (m >= 0) & (m < total)
        values = betainc(np.where(inside, total - m, 1.0), np.where(inside, m + 1, 1.0), 1 - 1 / i)
        return np.where(inside, values, m >= total)

    lower, upper = at_most(own - 1), at_most(own)
    return np.asarray(lower + rng.random(len(own)) * (upper - lower))


def geometric(x: Float, rng: np.random.Generator) -> Float:
    """Uniform numbers of geometric rows (n − 1,)."""
    from scipy.special import gammaln

    total, i, own = np.cumsum(x)[1:], np.arange(2, len(x) + 1), x[1:]

    def at_least(m: Float) -> Float:
        """P(X ≥ m) = C(S − m + i − 1, i − 1) / C(S + i − 1, i − 1)."""
        rest = np.maximum(total - m, 0.0)
        log = gammaln(rest + i) - gammaln(rest + 1) - gammaln(total + i) + gammaln(total + 1)
        return np.where(m > total, 0.0, np.exp(np.minimum(log, 0.0)))

    lower, upper = 1 - at_least(own), 1 - at_least(own + 1)
    return np.asarray(lower + rng.random(len(own)) * (upper - lower))


COUNTS = {"poisson": poisson, "geometric": geometric}
TESTS = ("gaussian", "multivariate_gaussian", "log_normal", "exponential", "gamma", *COUNTS)
"""Families whose shape is tested. Others have no fixed shape."""


def jittered(x: Float, rng: np.random.Generator) -> Float:
    """Numbers that were rounded, spread evenly over the gap between neighbouring numbers; others unchanged.

    Numbers that differ by no more than rounding errors, such as 0.3 and 0.1 + 0.2, are equal. Positive numbers stay
    positive.

    >>> jittered(np.array([1.0, 2.0, 1.0]), np.random.default_rng(0)).round(1)
    array([1.1, 1.8, 0.5])
    >>> jittered(np.array([0.1 + 0.2, 0.3, 0.6, 0.9]), np.random.default_rng(0)).round(1)
    array([0.3, 0.2, 0.5, 0.8])
    """
    values = np.unique(x)
    gaps = np.diff(values)
    same = max(ROUNDING_UNITS * EPSILON * float(np.abs(values).max()), SAME * float(np.ptp(values)) / len(values))
    gaps = gaps[gaps > same]
    if len(gaps) == len(x) - 1 or not len(gaps):
        return x
    gap = float(gaps.min())
    out = x + gap * (rng.random(len(x)) - 0.5)
    return np.where(out <= 0, np.abs(out) + 1e-3 * gap, out) if values[0] >= 0 else out


def shape_p_value(family: str, x: Float, rng: np.random.Generator) -> float:
    """The p-value of the hypothesis that the numbers of one class have the family.

    Numbers without variance, or outside the domain of the family, have no test: NaN.
    """
    from scipy.special import ndtr

    if x.max() <= x.min() or (family not in GAUSSIAN and x.min() < 0) or (family in POSITIVE and x.min() <= 0):
        return float("nan")
    if family in COUNTS:
        if (x != np.floor(x)).any():
            return float("nan")
        return _uniform_tail(anderson_darling(COUNTS[family](rng.permutation(x), rng)))
    if family == "gamma":
        return _gamma_p_value(x)
    if family == "exponential":
        statistic = anderson_darling(-np.expm1(-x / x.mean()))
        return _exponential_tail(statistic * (1 + 0.6 / len(x)))
    numbers = np.log(x) if family == "log_normal" else x
    return _normal_tail(anderson_darling(ndtr((numbers - numbers.mean()) / numbers.std(ddof=1))), len(x))


def anderson_darling(u: Float) -> float:
    """A² of numbers that should be uniform between 0 and 1.

    >>> round(anderson_darling(np.array([0.1, 0.5, 0.9])), 3)
    0.273
    """
    u = np.sort(np.clip(u, LEAST, MOST))
    i = np.arange(1, len(u) + 1)
    return float(-len(u) - ((2 * i - 1) * (np.log(u) + np.log1p(-u[::-1]))).sum() / len(u))


def _uniform_tail(statistic: float) -> float:
    """P(A² > a) of uniform numbers (Marsaglia and Marsaglia 2004; √3 P(χ²₁ > 2a) for large a)."""
    from scipy.special import chdtrc

    a = max(statistic, 1e-3)
    if a >= 3:
        return float(min(1.06 * np.sqrt(3) * chdtrc(1.0, 2 * a), 1.0))
    if a < 2:
        tail = 0.0347962 - (0.0116720 - 0.00168691 * a) * a
        series = 2.00012 + (0.247105 - (0.0649821 - tail * a) * a) * a
        return float(1 - np.exp(-1.2337141 / a) / np.sqrt(a) * series)
    tail = 0.43424 - (0.082433 - (0.008056 - 0.0003146 * a) * a) * a
    return float(1 - np.exp(-np.exp(1.0776 - (2.30695 - tail * a) * a)))


def _gamma_p_value(x: Float) -> float:
    """The p-value for gamma numbers, with shape and scale by maximum likelihood."""
    from scipy.special import gammainc

    shape, scale = _gamma_estimate(x)
    statistic = anderson_darling(gammainc(shape, x / scale))
    return _uniform_tail(statistic) if shape < LEAST_GAMMA_SHAPE else _normal_tail(GAMMA_SCALE * statistic, len(x))


def _gamma_estimate(x: Float) -> tuple[float, float]:
    """Shape and scale by maximum likelihood."""
    from scipy.special import digamma, polygamma

    mean = float(x.mean())
    excess = max(np.log(mean) - float(np.log(x).mean()), 1e-12)
    shape = (3 - excess + np.sqrt((excess - 3) ** 2 + 24 * excess)) / (12 * excess)
    for _ in range(20):
        shape -= (np.log(shape) - digamma(shape) - excess) / (1 / shape - float(polygamma(1, shape)))
    return float(shape), mean / float(shape)


def _normal_tail(statistic: float, n: int) -> float:
    """P(A² > a) of n normal numbers with estimated mean and variance (D'Agostino and Stephens 1986)."""
    a = min(statistic * (1 + 0.75 / n + 2.25 / n**2), 13.0)
    if a < 0.2:
        return float(1 - np.exp(-13.436 + 101.14 * a - 223.73 * a**2))
    if a < 0.34:
        return float(1 - np.exp(-8.318 + 42.796 * a - 59.938 * a**2))
    if a < 0.6:
        return float(np.exp(0.9177 - 4.279 * a - 1.38 * a**2))
    return float(np.exp(1.2937 - 5.709 * a + 0.0186 * a**2))


def _exponential_tail(statistic: float) -> float:
    """P(A² > a) of exponential numbers with an estimated mean, by a table."""
    last, beyond = EXPONENTIAL_A2[-1], max(statistic - EXPONENTIAL_A2[-1], 0.0)
    log_p = np.interp(min(statistic, last), EXPONENTIAL_A2, np.log(EXPONENTIAL_P))
    return float(np.exp(log_p + EXPONENTIAL_SLOPE * beyond))
