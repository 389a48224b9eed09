"""Tests of the shape of a column in one class, by the probability integral transform.

If x has the distribution function F, F(x) is uniform between 0 and 1. Uniformity is measured by Anderson and Darling's
A², which weighs the tails. The parameters of F are estimated from the same rows, which makes F(x) more even than
uniform numbers, so the p-value comes from the distribution of A² with estimated parameters. It does not depend on the
parameters of a gaussian, log_normal or exponential column, only on the number of rows, and is a table of quantiles that
were simulated; for gamma, a bound is used. Rounded numbers are cells, see `suffice.diagnostics.rounded_numbers`.

For counts, F is the distribution of a row given the sum of the rows so far, which does not depend on parameters
(O'Reilly and Quesenberry 1973), at a random point of each step of F. These numbers are uniform and independent:

    poisson       x_i given S_i = x_1 + … + x_i is binomial with S_i trials and probability 1/i
    geometric     P(x_i ≥ m | S_i) = C(S_i − m + i − 1, i − 1) / C(S_i + i − 1, i − 1)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from suffice.diagnostics.rounded_numbers import Distribution, RoundedNumbers
from suffice.numerics.types import Float

__all__ = ["COUNTS", "TESTS", "anderson_darling", "shape_p_value"]

LEAST, MOST = 1e-300, 1 - 1e-16
PROBABILITIES = (
    *(0.99, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3),
    *(0.2, 0.1, 0.05, 0.025, 0.01, 0.0025, 0.0005, 0.0001),
)
SIZES = (12, 20, 50, 400)
"""Rows of a class for which A² was simulated: 2,000,000 times, the last two 1,000,000 and 200,000 times."""
GAUSSIAN_A2 = np.array(
    [
        (
            *(0.1294, 0.163, 0.1866, 0.2223, 0.2541, 0.2862, 0.3208, 0.3606, 0.4096),
            *(0.4766, 0.5883, 0.6986, 0.8085, 0.9547, 1.1742, 1.4333, 1.6942),
        ),
        (
            *(0.1286, 0.164, 0.1888, 0.2262, 0.2594, 0.2928, 0.3287, 0.3701, 0.4209),
            *(0.4904, 0.6064, 0.7211, 0.8361, 0.9901, 1.2255, 1.4893, 1.7431),
        ),
        (
            *(0.1285, 0.1656, 0.1914, 0.2301, 0.2643, 0.2987, 0.3357, 0.3784, 0.4307),
            *(0.5018, 0.6213, 0.7405, 0.86, 1.0165, 1.2571, 1.5429, 1.8062),
        ),
        (
            *(0.1288, 0.167, 0.1934, 0.2326, 0.2672, 0.3022, 0.3396, 0.3828, 0.4364),
            *(0.5077, 0.6286, 0.7481, 0.8695, 1.0304, 1.2775, 1.5844, 1.9168),
        ),
    ]
)
EXPONENTIAL_A2 = np.array(
    [
        (
            *(0.1633, 0.2146, 0.2525, 0.3117, 0.3664, 0.4233, 0.4865, 0.5617, 0.6572),
            *(0.7926, 1.0304, 1.2783, 1.5367, 1.9027, 2.5316, 3.3794, 4.3802),
        ),
        (
            *(0.161, 0.2138, 0.2522, 0.3125, 0.3682, 0.4259, 0.4901, 0.5664, 0.6637),
            *(0.8014, 1.0434, 1.2952, 1.5567, 1.9277, 2.5363, 3.3199, 4.1624),
        ),
        (
            *(0.1593, 0.2138, 0.2528, 0.3139, 0.37, 0.4285, 0.4933, 0.5707, 0.6687),
            *(0.8081, 1.0542, 1.311, 1.5804, 1.9484, 2.5398, 3.2961, 4.13),
        ),
        (
            *(0.1586, 0.2142, 0.2529, 0.3152, 0.3719, 0.4302, 0.495, 0.5715, 0.67),
            *(0.8097, 1.0567, 1.3168, 1.59, 1.961, 2.5404, 3.2121, 3.7868),
        ),
    ]
)
GAMMA_SCALE = 0.85  # A² of a gamma distribution with estimated parameters is at most 1/0.85 that of a normal one
LEAST_GAMMA_SHAPE = 0.5  # for which that holds


# ---------------------------------------------------------------------- numbers


@dataclass(frozen=True)
class Shape:
    """A family of numbers.

    Attributes
    ----------
    estimate : callable
        Parameters of numbers by maximum likelihood; with a gap, roughly those of rounded numbers.
    distribution : callable
        F(x) of numbers and parameters.
    tail : callable
        P(A² > a) of a, the number of rows, and parameters that are estimated from them.
    has_variance : bool
        Whether the second parameter is a log standard deviation, which is estimated with n − 1.
    """

    estimate: Callable[[Float, float], Float]
    distribution: Distribution
    tail: Callable[[float, int, Float], float]
    has_variance: bool = False

    def fitted(self, rounded: RoundedNumbers, start: Float) -> Float:
        """Parameters of rounded numbers."""
        found, n = rounded.fitted(self.distribution, start), len(rounded.cell)
        return found + np.array([0.0, 0.5 * np.log(n / (n - 1))]) if self.has_variance else found


def _normal_estimate(x: Float, gap: float = 0.0) -> Float:
    """Mean and log standard deviation; rounding adds g²/12 to the variance."""
    variance = float(x.var(ddof=1))
    return np.array([x.mean(), 0.5 * np.log(max(variance - gap**2 / 12, variance / 12))])


def _normal(x: Float, parameters: Float) -> Float:
    from scipy.special import ndtr

    return np.asarray(ndtr((x - parameters[0]) * np.exp(-parameters[1])))


def _log_normal(x: Float, parameters: Float) -> Float:
    with np.errstate(divide="ignore"):
        return _normal(np.log(np.maximum(x, 0.0)), parameters)


def _exponential(x: Float, parameters: Float) -> Float:
    return np.asarray(-np.expm1(-np.maximum(x, 0.0) * np.exp(-parameters[0])))


def _gamma(x: Float, parameters: Float) -> Float:
    from scipy.special import gammainc

    return np.asarray(gammainc(np.exp(parameters[0]), np.maximum(x, 0.0) * np.exp(-parameters[1])))


def _gamma_estimate(x: Float, gap: float = 0.0) -> Float:
    """Log shape and log scale."""
    from scipy.special import digamma, polygamma

    mean = float(x.mean())
    excess = max(np.log(mean) - float(np.log(x).mean()), 1e-12)
    shape = (3 - excess + np.sqrt((excess - 3) ** 2 + 24 * excess)) / (12 * excess)
    for _ in range(20):
        shape -= (np.log(shape) - digamma(shape) - excess) / (1 / shape - float(polygamma(1, shape)))
    return np.log([shape, mean / shape])


def _normal_tail(statistic: float, n: int, parameters: Float) -> float:
    return _simulated_tail(statistic, n, GAUSSIAN_A2)


def _exponential_tail(statistic: float, n: int, parameters: Float) -> float:
    return _simulated_tail(statistic, n, EXPONENTIAL_A2)


def _gamma_tail(statistic: float, n: int, parameters: Float) -> float:
    if parameters[0] < np.log(LEAST_GAMMA_SHAPE):
        return _uniform_tail(statistic)
    return _simulated_tail(GAMMA_SCALE * statistic, n, GAUSSIAN_A2)


SHAPES = {
    "gaussian": Shape(_normal_estimate, _normal, _normal_tail, has_variance=True),
    "log_normal": Shape(lambda x, gap: _normal_estimate(np.log(x)), _log_normal, _normal_tail, has_variance=True),
    "exponential": Shape(lambda x, gap: np.log(x.mean(keepdims=True)), _exponential, _exponential_tail),
    "gamma": Shape(_gamma_estimate, _gamma, _gamma_tail),
}
SHAPES["multivariate_gaussian"] = SHAPES["gaussian"]
POSITIVE = ("log_normal", "gamma")


# ---------------------------------------------------------------------- counts


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
TESTS = (*SHAPES, *COUNTS)
"""Families whose shape is tested. Others have no fixed shape."""


# ---------------------------------------------------------------------- p-values


def shape_p_value(family: str, x: Float, rng: np.random.Generator, gap: float = 0.0) -> float:
    """The p-value of the hypothesis that the numbers of one class have the family.

    ``gap`` is that between neighbours of rounded numbers; 0 if they were not rounded. Numbers without variance, or
    outside the domain of the family, have no test: NaN.
    """
    if x.max() <= x.min() or (x.min() < 0 and SHAPES.get(family) is not SHAPES["gaussian"]):
        return float("nan")
    if family in COUNTS:
        if (x != np.floor(x)).any():
            return float("nan")
        return _uniform_tail(anderson_darling(COUNTS[family](rng.permutation(x), rng)), len(x) - 1)
    if family in POSITIVE and x.min() <= 0:
        return float("nan")
    shape = SHAPES[family]
    parameters = shape.estimate(x, gap)
    if gap == 0.0:
        return shape.tail(anderson_darling(shape.distribution(x, parameters)), len(x), parameters)
    rounded = RoundedNumbers.of(x, gap)
    parameters = shape.fitted(rounded, parameters)
    if rounded.are_wide(shape.distribution, parameters):
        return rounded.table_p_value(shape.distribution, parameters)
    statistic = anderson_darling(rounded.transformed(shape.distribution, parameters, rng))
    return shape.tail(statistic, len(x), parameters)


def anderson_darling(u: Float) -> float:
    """A² of numbers that should be uniform between 0 and 1.

    >>> round(anderson_darling(np.array([0.1, 0.5, 0.9])), 3)
    0.273
    """
    u = np.sort(np.clip(u, LEAST, MOST))
    i = np.arange(1, len(u) + 1)
    return float(-len(u) - ((2 * i - 1) * (np.log(u) + np.log1p(-u[::-1]))).sum() / len(u))


def _simulated_tail(statistic: float, n: int, quantiles: Float) -> float:
    """P(A² > a) by a table of quantiles, linear in 1/n and log p; the slope of log p goes on beyond the table."""
    sizes = 1 / np.array(SIZES[::-1])
    known = np.array([np.interp(1 / n, sizes, column[::-1]) for column in quantiles.T])
    log_p = np.log(PROBABILITIES)
    if statistic > known[-1]:
        slope = (log_p[-1] - log_p[-3]) / (known[-1] - known[-3])
        return float(np.exp(log_p[-1] + slope * (statistic - known[-1])))
    return float(np.exp(np.interp(statistic, np.append(0.0, known), np.append(0.0, log_p))))


def _uniform_tail(statistic: float, n: float = np.inf) -> float:
    """P(A² > a) of n uniform numbers (Marsaglia and Marsaglia 2004; √3 P(χ²₁ > 2a) for large a)."""
    from scipy.special import chdtrc

    a = max(statistic, 1e-3)
    if a >= 3:
        return float(min(1.06 * np.sqrt(3) * chdtrc(1.0, 2 * a), 1.0))
    if a < 2:
        tail = 0.0347962 - (0.0116720 - 0.00168691 * a) * a
        series = 2.00012 + (0.247105 - (0.0649821 - tail * a) * a) * a
        below = float(np.exp(-1.2337141 / a) / np.sqrt(a) * series)
    else:
        tail = 0.43424 - (0.082433 - (0.008056 - 0.0003146 * a) * a) * a
        below = float(np.exp(-np.exp(1.0776 - (2.30695 - tail * a) * a)))
    return float(np.clip(1 - below - _small_sample_term(n, below), LEAST, 1.0))


def _small_sample_term(n: float, below: float) -> float:
    """P(A² ≤ a) of n uniform numbers minus its limit for many (Marsaglia and Marsaglia 2004)."""
    x = below
    if x > 0.8:
        inner = 1705.091 - (1950.646 - (1116.360 - 255.7844 * x) * x) * x
        return (-130.2137 + (745.2337 - inner * x) * x) / n
    c = 0.01265 + 0.1757 / n
    if x < c:
        t = x / c
        return float(np.sqrt(t) * (1 - t) * (49 * t - 102) * (0.0037 / n**2 + 0.00078 / n + 0.00006) / n)
    t = (x - c) / (0.8 - c)
    t = -0.00022633 + (6.54034 - (14.6538 - (14.458 - (8.259 - 1.91864 * t) * t) * t) * t) * t
    return t * (0.04213 + 0.01365 / n) / n
