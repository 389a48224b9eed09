"""Tests of two samples against SciPy's, and their levels by simulation."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from suffice.monitoring.profile_bins import number_cuts
from suffice.monitoring.two_samples import (
    _of_two_samples,
    binned_p_values,
    chi_square,
    gamma_tail,
    mean_p_value,
    means_p_value,
    share_p_value,
    unseen_p_value,
    variance_p_value,
)


@pytest.mark.parametrize(
    ("a", "n", "b", "big_n"), [(3, 10, 0, 1000), (0, 20, 300, 1000), (7, 7, 5, 90), (60, 200, 900, 5000), (1, 1, 1, 2)]
)
def test_shares_are_hypergeometric(a, n, b, big_n):
    law = stats.hypergeom(n + big_n, a + b, n)
    upper, lower = law.sf(a - 1), law.cdf(a)
    assert share_p_value(a, n, b, big_n) == pytest.approx(min(1, 2 * min(upper, lower)), rel=1e-8)
    assert share_p_value(a, n, b, big_n, more_only=True) == pytest.approx(upper, rel=1e-8)


def test_shares_of_many_rows_are_nearly_normal():
    z = (0.1003 - 0.1) / math.sqrt(0.1 * 0.9 * 2e-8)
    p = share_p_value(0.1003e8, 1e8, 0.1e8, 1e8)
    assert p == pytest.approx(2 * stats.norm.sf(z), rel=0.01)


def test_share_of_a_parameter_is_binomial():
    law = stats.binom(40, 0.2)
    assert share_p_value(14, 40, 0.2, math.inf) == pytest.approx(2 * law.sf(13), rel=1e-9)
    assert share_p_value(2, 40, 0.2, math.inf) == pytest.approx(2 * law.cdf(2), rel=1e-9)
    assert share_p_value(0, 40, 0.0, math.inf) == 1.0
    assert math.isnan(share_p_value(0, 0, 1, 5))


@pytest.mark.parametrize("skewness", [-2.0, -0.3, 0.0, 0.5, 3.0])
def test_gamma_tail_is_pearson_three(skewness):
    for z in (-3.0, -0.2, 0.0, 1.5, 4.0):
        law = stats.pearson3(skewness)
        assert gamma_tail(z, skewness) == pytest.approx((law.sf(z), law.cdf(z)), rel=1e-6, abs=1e-12)


def test_chi_square_of_frequent_levels_is_that_of_a_table():
    own, reference = np.array([300.0, 420, 280]), np.array([2900.0, 4300, 2800])
    found = chi_square(own, reference)
    statistic, p, *_ = stats.chi2_contingency([own, reference])
    assert found.statistic == pytest.approx(statistic)
    assert found.p_value == pytest.approx(p, rel=0.02)
    assert found.level in (0, 1)


def test_chi_square_pools_rare_levels_and_is_exact_with_one_group_left():
    own, reference = np.array([40.0, 1, 1, 0, 2]), np.array([950.0, 20, 10, 10, 10])
    exact = chi_square(own, reference)
    assert math.isnan(exact.statistic)
    assert exact.p_value == share_p_value(40, 44, 950, 1000)
    assert exact.level == 0
    assert math.isnan(chi_square(own, reference, fallback=False).p_value)


def test_chi_square_has_the_exact_mean_and_variance():
    """Of all ways to draw three of six rows with levels a, a, b, b, b, c."""
    rows = np.array([0, 0, 1, 1, 1, 2])
    found = []
    for some in itertools.combinations(range(6), 3):
        own = np.bincount(rows[list(some)], minlength=3).astype(float)
        found.append(_of_two_samples(own, np.array([2.0, 3, 1]) - own))
    statistics = np.array([statistic for statistic, _, _ in found])
    assert found[0][1:] == pytest.approx((statistics.mean(), statistics.var()))


def _zipf(rng, n):
    return np.minimum(rng.zipf(1.5, n), 3000)


@pytest.mark.parametrize(
    ("draw", "size", "n"),
    [
        (_zipf, 300, 3000),
        (_zipf, 1000, 1000),
        (_zipf, 20_000, 300),
        (lambda rng, n: rng.integers(0, 500, n), 1000, 3000),
    ],
    ids=["zipf, small", "zipf, equal", "zipf, large", "500 equal levels"],
)
def test_rare_levels_keep_the_level(draw, size, n):
    """Levels are known because the reference has them; those of windows and references are drawn alike."""
    rng = np.random.default_rng(size + n)
    p_values = []
    for _ in range(300):
        reference, window = (np.bincount(draw(rng, m), minlength=3001).astype(float) for m in (size, n))
        known = reference > 0
        new = window[~known].sum()
        p_values.append(
            [chi_square(window[known], reference[known], new=new).p_value, unseen_p_value(new, n, reference[known])[0]]
        )
    assert (np.array(p_values) <= 0.05).sum(axis=0).max() <= stats.binom(300, 0.05).isf(1e-3)


def test_new_values_are_found():
    counts = np.array([1.0, 1, 2, 96])
    assert unseen_p_value(0, 10, counts) == (1.0, 0.02)
    assert unseen_p_value(5, 10, counts)[0] < 1e-3
    assert unseen_p_value(3, 10, np.full(20, 100.0))[0] == share_p_value(3, 10, 0, 2000, more_only=True)


def test_mean_and_variance_are_student_and_fisher():
    rng = np.random.default_rng(0)
    x, before = rng.normal(0.2, 1.1, 200), rng.normal(size=100_000)
    z = x - x.mean()
    moments = np.array([len(x), x.mean(), (z**2).sum(), (z**3).sum(), (z**4).sum()])
    _, p = mean_p_value(moments, len(x), before.mean(), before.var(ddof=1), len(before))
    assert p == pytest.approx(stats.ttest_ind(x, before, equal_var=False).pvalue, rel=0.05)
    ratio, p = variance_p_value(moments, len(x), before.var(ddof=1), len(before))
    kurtosis = moments[4] / len(x) / (moments[2] / len(x)) ** 2
    freedom = [2 / (kurtosis - 1) * (n - 1) for n in (len(x), len(before))]
    assert p == pytest.approx(stats.f(*freedom).sf(ratio))


def test_moments_are_withheld_for_few_rows_and_heavy_tails():
    moments = np.array([10.0, 1.0, 10.0, 0.0, 30.0])
    assert math.isnan(mean_p_value(moments, 10, 0.0, 1.0, 1000)[1])
    heavy = np.array([200.0, 1.0, 200.0, 0.0, 200.0 * 50])
    assert math.isnan(variance_p_value(heavy, 200, 0.5, 1e5)[1])
    assert math.isnan(mean_p_value(heavy, 200, 0.0, 1.0, 1000, known=False)[1])
    assert mean_p_value(heavy, 200, 0.0, 1.0, 1000)[1] < 1e-10


def test_several_means_are_hotelling():
    covariance, spread = np.array([[0.2, -0.1], [-0.1, 0.1]]), np.array([[0.3, 0.0], [0.0, 0.2]])
    mean, reference = np.array([0.45, 0.35]), np.array([0.4, 0.3])
    away, common = mean - reference, (100 * spread + 5000 * covariance) / 5098
    expected = away @ np.linalg.inv(common) @ away / (1 / 100 + 1 / 5000)
    statistic, p = means_p_value(mean, spread, 100, reference, covariance, 5000)
    assert statistic == pytest.approx(expected)
    assert p == pytest.approx(stats.f(2, 5097).sf(expected * 5097 / (2 * 5098)))
    assert math.isnan(means_p_value(mean, spread, 5, reference, covariance, 5000)[1])
    assert math.isnan(means_p_value(mean, spread, 5000, reference, covariance, 5)[1])
    variances = np.diag(spread)[None], np.diag(covariance)[None]
    largest, p = means_p_value(mean, variances[0], 100, reference, variances[1], 5000)
    assert largest == pytest.approx(np.max(away**2 / np.diag(common)) / (1 / 100 + 1 / 5000))
    assert p == pytest.approx(min(1, 4 * stats.t(5098).sf(math.sqrt(largest))))


@pytest.mark.parametrize(("size", "n"), [(170, 3000), (100, 300), (300, 600)])
def test_means_of_posteriors_keep_the_level(size, n):
    """Posteriors of a rare class, and of thirty equal ones, of references that are smaller than the window."""
    rng = np.random.default_rng(size)
    p_values = []
    for _ in range(300):
        if size == 170:
            both = [
                (lambda y, x: 1 / (1 + np.exp(4 - 3 * x)))(y := rng.random(m) < 0.04, rng.normal(size=m) + 3 * y)
                for m in (n, size)
            ]
            both = [np.column_stack([each, 1 - each]) for each in both]
        else:
            both = [np.eye(30)[rng.integers(0, 30, m)] for m in (n, size)]
        means, covariances = zip(*((each.mean(axis=0), np.cov(each.T, bias=True)) for each in both), strict=True)
        p_values.append(means_p_value(means[0], covariances[0], n, means[1], covariances[1], size)[1])
    known = np.array(p_values)[~np.isnan(p_values)]
    assert (known <= 0.05).sum() <= stats.binom(len(p_values), 0.05).isf(1e-3)


DISTRIBUTIONS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "exponential": lambda rng, n: rng.exponential(size=n),
    "log-normal": lambda rng, n: np.exp(rng.normal(size=n)),
    "Cauchy": lambda rng, n: rng.standard_cauchy(size=n),
    "mostly zero": lambda rng, n: rng.poisson(0.1, n).astype(float),
}


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("n", [1, 7, 60])
def test_bins_keep_the_level(name, n):
    """Windows of fresh references: the share of p-values below a level is at most that, up to chance."""
    draw, rng = DISTRIBUTIONS[name], np.random.default_rng(n)
    p_values = []
    for _ in range(500):
        reference = draw(rng, 300)
        cuts = np.unique(np.quantile(reference, np.arange(1, 24) / 24, method="inverted_cdf"))
        counts = [
            np.bincount(np.searchsorted(cuts, x), minlength=len(cuts) + 1).astype(float)
            for x in (draw(rng, n), reference)
        ]
        p_values.append(binned_p_values(*counts).p_value)
    p_values = np.array(p_values)
    for level in (0.05, 0.01, 0.001):
        bound = stats.binom(len(p_values), level).isf(1e-4)
        assert (p_values <= level).sum() <= bound


@pytest.mark.parametrize(("size", "n"), [(40, 300), (40, 3000)])
def test_bins_of_few_rows_keep_the_level(size, n):
    rng = np.random.default_rng(n)
    p_values = []
    for _ in range(1000):
        x, window = rng.normal(size=size), rng.normal(size=n)
        cuts = np.array(number_cuts(x))
        counts = [np.bincount(np.searchsorted(cuts, each), minlength=len(cuts) + 1) for each in (window, x)]
        p_values.append(binned_p_values(*np.array(counts, dtype=float)).p_value)
    assert (np.array(p_values) <= 0.05).mean() <= 0.05 + 2.5 * math.sqrt(0.05 * 0.95 / 1000)


def test_bins_find_a_shift_a_spread_and_a_shape():
    even = np.full(24, 100.0)
    shifted = np.linspace(0, 10, 24)
    spread = np.abs(np.linspace(-6, 6, 24))
    wave = np.tile([12.0, 12, 12, 0, 0, 0], 4)
    for counts, part in ((shifted, 0), (spread, 1), (wave, 2)):
        found = binned_p_values(counts, even)
        parts = found.location, found.spread, found.shape
        assert found.p_value == pytest.approx(3 * min(parts))
        assert found.p_value < 1e-3
        assert int(np.argmin(parts)) == part
