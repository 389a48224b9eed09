"""Tests of two samples that are given as sums: whether a window has the distribution of the reference.

Every test is exact or has the right level at any number of rows, or it is withheld (NaN). n rows of a window are
compared with N rows of a reference; N is ∞ for parameters.

*Shares* (`share_p_value`). The number a of n rows, given a + b in all, has a hypergeometric distribution (binomial for
N = ∞); the p-value is twice the smaller tail, which is exact (Fisher).

*Numbers in bins* (`binned_p_values`). The bins come from the reference. A bin has the normal score z = Φ⁻¹(mid-rank) of
the merged counts, and the statistics are T₁ = Σ z (van der Waerden: location) and T₂ = Σ z² (Klotz: spread) over the n
rows. If all n + N = M rows are exchangeable, with scores of population variance v and third moment m₃,

    Var T = n (M − n)/(M − 1) v,     E(T − ET)³ = n (M − n)(M − 2n)/((M − 1)(M − 2)) m₃,

and a gamma distribution with these three moments gives the p-value. For a single row T₂ is nearly χ²₁ and for n rows
χ²ₙ, which the gamma distribution contains; T₁ is nearly normal, its limit. Scores are bounded and depend on ranks
alone, so heavy tails, skewness and scale do not matter; for a normal column T₁ is as powerful as the t-test. A third
statistic, χ² over at most eight groups of bins, finds any other change. The p-value of a column is three times the
least of the three.

*Numbers with moments only* (`mean_p_value`, `variance_p_value`), if the model has no bins. The mean is compared by

    t = (m − m₀)/√(v (1/n + 1/N)),    v = max(s², s₀²),

with n − 1 degrees of freedom. A window that by chance lacks the rare large values of a skewed or heavy-tailed column
has too small an s², and one with too many of them too large an m; the larger of the two variances bounds both errors.
If the statistic of the model has no squares, s₀² is that of the family with the mean m₀, a lower bound; the test is
then withheld if there are fewer than 10 κ rows, with κ the kurtosis of the window: it lacks rare values, or nearly so.
The mean is withheld below 20 rows.
Of the variance only a rise is tested, by the F distribution with 2(n − 1)/(κ − 1) and 2(N − 1)/(κ − 1) degrees of
freedom, where κ is the kurtosis of the window: for normal columns (κ = 3) this is the F-test. Outliers raise s² and κ
together; the test is withheld if there are fewer than 30 κ rows on either side. A fall may be the lack of outliers,
about which the statistics of the model know nothing, so it needs bins. The p-value of a column is twice the least of
the two.

*Levels* (`chi_square`). Pearson's χ² of two samples. Levels of which fewer than five rows are expected in either
sample, by the merged counts, are pooled with each other and with the levels that the reference does not have: a level
is known because training rows have it, which makes the reference too frequent for rare ones. The distribution is a
gamma distribution with the exact mean and variance of the statistic given the merged counts; against parameters, with
p the shares and g groups, mean g − 1 and variance 2(g − 1) + (Σ 1/p − g² − 2(g − 1))/n. If only one group is left, the
most frequent level is compared with all others exactly.

*Values that the reference does not have* (`unseen_p_value`). By exchangeability, a new row has one with the probability
that a row of the reference has a value of its own, N₁/N. This estimate varies more than a share of N rows does, because
values of two rows become values of one by chance; it counts as the share of correspondingly fewer rows.

*Several means* (`means_p_value`). Hotelling's T² = δᵀ S⁻¹ δ/(1/n + 1/N) with the pooled covariance S of both samples;
T² (n + N − 1 − d)/(d (n + N − 2)) has the F distribution. Means of bounded numbers are nearly normal if each has five
expected rows in both samples; others are left out, as are the directions of least variance beyond one for ten rows.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import special

from suffice.numerics.types import Float

__all__ = [
    "BinnedTest",
    "LevelTest",
    "binned_p_values",
    "chi_square",
    "gamma_tail",
    "kurtosis_of",
    "mean_p_value",
    "means_p_value",
    "share_p_value",
    "unseen_p_value",
    "variance_p_value",
]

LEAST_EXPECTED = 5.0
LEAST_FOR_MEAN, LEAST_FOR_VARIANCE = 20.0, 50.0
TAILS, TAILS_OF_MEAN = 30.0, 10.0  # rows per kurtosis
GROUPS = 8
ROWS_PER_MEAN = 10.0
MOST_TERMS = 20_000  # of a tail


def share_p_value(a: float, n: float, b: float, big_n: float, *, more_only: bool = False) -> float:
    """P-value of a of n rows against b of N; for N = ∞, ``b`` is the share. ``more_only`` tests for a rise alone.

    >>> round(share_p_value(3, 10, 0, 1000), 6), round(share_p_value(9, 10, 0.5, math.inf), 6)
    (1e-06, 0.021484)
    """
    if not n > 0:
        return math.nan
    if math.isinf(big_n):
        upper, lower = _binomial_tails(a, n, min(max(b, 0.0), 1.0))
    else:
        upper, lower = _hypergeometric_tails(a, n, b, big_n)
    return min(upper if more_only else 2 * min(upper, lower), 1.0)


def _binomial_tails(a: float, n: float, p: float) -> tuple[float, float]:
    upper = 1.0 if a <= 0 else float(special.betainc(a, n - a + 1, p))
    lower = 1.0 if a >= n else float(special.betainc(n - a, a + 1, 1 - p))
    return upper, lower


def _hypergeometric_tails(a: float, n: float, b: float, big_n: float) -> tuple[float, float]:
    m, total = a + b, n + big_n
    mean = n * m / total
    variance = mean * (big_n / total) * (1 - m / total) * total / max(total - 1, 1.0)
    if variance > 1e6:
        root = math.sqrt(variance)
        return float(special.ndtr((mean - a + 0.5) / root)), float(special.ndtr((a + 0.5 - mean) / root))
    return _tail(a, n, m, total, 1), _tail(a, n, m, total, -1)


def _tail(a: float, n: float, m: float, total: float, step: int) -> float:
    """P(A ≥ a), or P(A ≤ a) for a negative step, for a hypergeometric A."""
    last = min(n, m) if step > 0 else max(0.0, m + n - total)
    mean = n * m / total
    if (mean - a) * step > 0 and (last - mean) * step > 0:
        # More than half of the mass: the complement has the precision.
        return 1.0 - _tail(a - step, n, m, total, -step) if _in_range(a - step, n, m, total) else 1.0
    values = a + step * np.arange(min(math.floor(abs(last - a) + 1e-9), MOST_TERMS) + 1)
    ln = special.gammaln
    log = (
        ln(m + 1) - ln(values + 1) - ln(np.maximum(m - values, 0) + 1)
        + ln(total - m + 1) - ln(n - values + 1) - ln(np.maximum(total - m - n + values, 0) + 1)
        - (ln(total + 1) - ln(n + 1) - ln(total - n + 1))
    )  # fmt: skip
    return float(min(np.exp(log).sum(), 1.0))


def _in_range(a: float, n: float, m: float, total: float) -> bool:
    return max(0.0, m + n - total) - 1e-9 <= a <= min(n, m) + 1e-9


def gamma_tail(z: float, skewness: float) -> tuple[float, float]:
    """Upper and lower tail at z of a standardised gamma distribution with this skewness; normal for zero."""
    if abs(skewness) < 1e-4:
        return float(special.ndtr(-z)), float(special.ndtr(z))
    if skewness < 0:
        lower, upper = gamma_tail(-z, -skewness)
        return upper, lower
    shape = 4 / skewness**2
    at = max(shape + z * math.sqrt(shape), 0.0)
    return float(special.gammaincc(shape, at)), float(special.gammainc(shape, at))


class BinnedTest(NamedTuple):
    """P-values of location, spread and shape, the statistic of the least, and the bin that deviates most."""

    location: float
    spread: float
    shape: float
    statistic: float
    bin: int

    @property
    def p_value(self) -> float:
        """P-value of the column: the least of the parts, times their number."""
        parts = [each for each in (self.location, self.spread, self.shape) if not math.isnan(each)]
        return min(len(parts) * min(parts), 1.0) if parts else math.nan


def binned_p_values(window: Float, reference: Float, *, infinite: bool = False) -> BinnedTest:
    """P-values of counts in bins against those of a reference.

    >>> test = binned_p_values(np.array([1.0, 1, 2, 16]), np.array([25.0, 25, 25, 25]))
    >>> test.location < 1e-4, test.bin
    (True, 3)
    """
    n, big_n = float(window.sum()), float(reference.sum())
    if not (n > 0 and big_n > 0):
        return BinnedTest(math.nan, math.nan, math.nan, math.nan, 0)
    share = reference / big_n if infinite else (reference + window) / (n + big_n)
    rank = np.clip(np.cumsum(share) - share / 2, 1e-9, 1 - 1e-9)
    score = special.ndtri(rank)
    z1, tails1 = _score_tails(score, share, window, n, math.inf if infinite else n + big_n)
    z2, tails2 = _score_tails(score**2, share, window, n, math.inf if infinite else n + big_n)
    groups = np.minimum((rank * GROUPS).astype(np.int64), GROUPS - 1)
    own, theirs = (np.bincount(groups, each, minlength=GROUPS).astype(np.float64) for each in (window, reference))
    shape = chi_square(own, theirs, infinite=infinite, fallback=False)
    with np.errstate(invalid="ignore", divide="ignore"):
        residual = np.abs(window - n * reference / big_n) / np.sqrt(np.maximum(n * share * (1 - share), 1e-300))
    parts = (_two_sided(tails1), _two_sided(tails2), shape.p_value)
    statistic = (z1, z2, shape.statistic)[int(np.nanargmin(parts))] if not all(map(math.isnan, parts)) else math.nan
    return BinnedTest(*parts, statistic, int(np.argmax(residual)))


def _two_sided(tails: tuple[float, float]) -> float:
    return min(2 * min(tails), 1.0)


def _score_tails(
    score: Float, share: Float, window: Float, n: float, total: float
) -> tuple[float, tuple[float, float]]:
    """The standardised sum of scores, and its tails under exchangeability."""
    mean = float(share @ score)
    away = score - mean
    variance, third = float(share @ away**2), float(share @ away**3)
    if not variance > 1e-12:
        return 0.0, (1.0, 1.0)
    if math.isinf(total):
        spread, cubic = n * variance, n * third
    else:
        spread = n * (total - n) / max(total - 1, 1.0) * variance
        cubic = n * (total - n) * (total - 2 * n) / max((total - 1) * (total - 2), 1.0) * third
    if not spread > 0:
        return 0.0, (1.0, 1.0)
    z = float(window @ away) / math.sqrt(spread)
    return z, gamma_tail(z, cubic / spread**1.5)


def mean_p_value(
    moments: Float, n: float, mean: float, variance: float, big_n: float, *, known: bool = True
) -> tuple[float, float]:
    """t statistic and p-value of the mean of a window (its moments, and effective rows) against that of a reference.

    The variance of the reference is NaN if it is unknown, and a lower bound unless it is ``known``.
    """
    weight, own, m2, _, _ = moments.tolist()
    if not (n >= LEAST_FOR_MEAN and weight > 0 and big_n > 0):
        return math.nan, math.nan
    mine = m2 / weight * n / (n - 1)
    if not known and not n >= TAILS_OF_MEAN * kurtosis_of(moments):
        return math.nan, math.nan
    largest = mine if math.isnan(variance) else max(mine, variance)
    if not largest > 0:
        return (0.0, 1.0) if own == mean else (math.nan, math.nan)
    t = (own - mean) / (math.sqrt(largest) * math.sqrt(1 / n + 1 / big_n))
    return t, float(2 * special.stdtr(n - 1, -abs(t)))


def variance_p_value(moments: Float, n: float, variance: float, big_n: float) -> tuple[float, float]:
    """Ratio of variances, and p-value of a rise, with the kurtosis of the window."""
    weight, _, m2, _, _ = moments.tolist()
    if not (n >= LEAST_FOR_VARIANCE and variance > 0 and m2 > 0):
        return math.nan, math.nan
    kurtosis = kurtosis_of(moments)
    if not min(n, big_n) >= TAILS * kurtosis:
        return math.nan, math.nan
    ratio = m2 / weight * n / (n - 1) / variance
    factor = 2 / max(kurtosis - 1, 0.1)
    mine = factor * (n - 1)
    if math.isinf(big_n):
        return ratio, float(special.chdtrc(mine, mine * ratio))
    return ratio, float(special.fdtrc(mine, factor * (big_n - 1), ratio))


def kurtosis_of(moments: Float) -> float:
    """Kurtosis of a number with these moments; NaN if fourth powers are too small or too large for floating point.

    >>> kurtosis_of(np.array([4.0, 0.0, 4.0, 0.0, 4.0])), kurtosis_of(np.array([4.0, 0.0, 4e-180, 0.0, 0.0]))
    (1.0, nan)
    """
    weight, _, m2, _, m4 = moments.tolist()
    if not (weight > 0 and math.isfinite(m2) and math.isfinite(m4) and m2 > 0 and m4 > 1e-290 * weight):
        return math.nan
    return float(m4 / m2 / m2 * weight)


class LevelTest(NamedTuple):
    """Statistic and p-value, and the level that deviates most."""

    statistic: float
    p_value: float
    level: int


def chi_square(
    window: Float, reference: Float, *, new: float = 0.0, infinite: bool = False, fallback: bool = True
) -> LevelTest:
    """χ² of the counts of levels against those of a reference, with rare levels pooled.

    ``new`` rows of the window have levels that the reference does not have; they are rare levels as well.

    >>> chi_square(np.array([30.0, 10]), np.array([500.0, 500])).p_value < 0.01
    True
    """
    new = 0.0 if infinite else new
    n, big_n = float(window.sum()) + new, float(reference.sum())
    if not (n > 0 and big_n > 0):
        return LevelTest(math.nan, math.nan, 0)
    share = reference / big_n if infinite else (reference + window) / (n + big_n)
    size = n if infinite else min(n, big_n)
    rare = size * share < LEAST_EXPECTED
    residual = np.abs(window / n - reference / big_n) / np.sqrt(np.maximum(share, 1e-300))
    most = int(np.argmax(np.where(rare & ~rare.all(), -1.0, residual)))
    own, theirs = (np.append(each[~rare], each[rare].sum()) for each in (window, reference))
    own[-1] += new
    pooled = theirs[-1] / big_n if infinite else (own[-1] + theirs[-1]) / (n + big_n)
    if size * pooled < LEAST_EXPECTED or (not infinite and theirs[-1] < LEAST_EXPECTED):
        own, theirs = own[:-1], theirs[:-1]
    if len(own) < 2:
        if not fallback or len(window) < 2:
            return LevelTest(math.nan, math.nan, most)
        top = int(np.argmax(share))
        other = float(reference[top] / big_n) if infinite else float(reference[top])
        p = share_p_value(float(window[top]), n, other, math.inf if infinite else big_n)
        return LevelTest(math.nan, p, top)
    statistic, mean, variance = _against_parameters(own, theirs) if infinite else _of_two_samples(own, theirs)
    return LevelTest(statistic, float(special.gammaincc(mean**2 / variance, statistic * mean / variance)), most)


def _against_parameters(own: Float, shares: Float) -> tuple[float, float, float]:
    """Pearson's χ² of counts against shares, and its mean and variance."""
    n, freedom = float(own.sum()), len(own) - 1
    shares = shares / shares.sum()
    statistic = float(((own - n * shares) ** 2 / (n * shares)).sum()) if n > 0 else 0.0
    more = max(float((1 / shares).sum()) - len(own) ** 2 - 2 * freedom, -freedom) / max(n, 1.0)
    return statistic, freedom, 2 * freedom + more


def _of_two_samples(own: Float, theirs: Float) -> tuple[float, float, float]:
    """Pearson's χ² of two samples, and its mean and variance given the merged counts (Dawson 1954)."""
    n, big_n, merged, g = float(own.sum()), float(theirs.sum()), own + theirs, len(own)
    total = n + big_n
    if not (n > 0 and big_n > 0 and total > 4):
        return 0.0, 1.0, 1.0
    statistic = float(((big_n * own - n * theirs) ** 2 / merged).sum() / (n * big_n))
    v1, v2 = (total - 2) / (total - 1), (g - 1) * (total - g) / (total - 1)
    w1 = (total * (1 / n + 1 / big_n) - 4) / (total - 2)
    w2 = (total * float((1 / merged).sum()) - g**2) / (total - 2)
    variance = 2 * total / (total - 3) * (v1 - w1) * (v2 - w2) + total**2 / (total - 1) * w1 * w2
    return statistic, total * (g - 1) / (total - 1), max(variance, 1e-6)


def unseen_p_value(new: float, n: float, counts: Float, unit: float = 1.0) -> tuple[float, float]:
    """P-value of ``new`` of n rows with values that the reference does not have, and the expected share.

    ``counts`` are those of the values in the reference, where a row counts ``unit``.

    >>> p, share = unseen_p_value(3, 10, np.array([1.0, 1, 2, 96]))
    >>> p < 0.05, share
    (True, 0.02)
    """
    size, near = float(counts.sum()), unit * (1 + 1e-9)
    once, twice = (
        float(counts[(counts > low) & (counts <= high)].sum()) for low, high in ((0.0, near), (near, 2 * near))
    )
    share = once / size
    # N₁/N has the variance (N₁ + 2N₂ − N₁²/N)/N², where N₂ counts values (Esty 1983): that of a sample of N/k rows.
    k = (once + twice - once * share) / (once - once * share) if 0 < once < size else 1.0 + twice
    return share_p_value(new, n, once / k, size / k, more_only=True), share


def means_p_value(
    mean: Float, spread: Float, n: float, reference: Float, covariance: Float, big_n: float
) -> tuple[float, float]:
    """Hotelling's T² and p-value of the means of shares (K,) of a window, with their covariance, and of a reference.

    With variances (1, K) alone, the statistic is the largest t², and its p-value is multiplied by the number of means.
    """
    least, merged = min(n, big_n), (n * mean + big_n * reference) / max(n + big_n, 1e-300)
    usable = (least * merged >= LEAST_EXPECTED) & (least * (1 - merged) >= LEAST_EXPECTED)
    freedom = n + big_n - 2
    if not usable.any() or not freedom > 1:
        return math.nan, math.nan
    away = (mean - reference)[usable]
    common, between = (n * spread + big_n * covariance) / freedom, 1 / n + 1 / big_n
    if len(covariance) < len(reference):
        largest = float(np.max(away**2 / np.maximum(common[0, usable], 1e-300)) / between)
        return largest, min(2 * float(special.stdtr(freedom, -math.sqrt(largest))) * len(away), 1.0)
    values, vectors = np.linalg.eigh(common[np.ix_(usable, usable)])
    held = values > 1e-10 * max(float(values.max(initial=0.0)), 1e-300)
    held[: -max(int(least / ROWS_PER_MEAN), 1)] = False
    if not held.any():
        return math.nan, math.nan
    parts = (vectors[:, held].T @ away) ** 2 / values[held]
    statistic, d = float(parts.sum() / between), int(held.sum())
    rest = freedom + 1 - d
    return statistic, float(special.fdtrc(d, rest, statistic * rest / (d * freedom)))
