"""The statistics of the checks against SciPy, and against their definitions."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from suffice import GaussianDiscriminant, NaiveBayes, diagnose
from suffice.diagnostics import shape_tests
from suffice.diagnostics.columns import checked_rows
from suffice.diagnostics.covariances import covariance_test
from suffice.diagnostics.missingness import missingness_tests
from suffice.diagnostics.mixed_pairs import mixed_pairs
from suffice.diagnostics.multiplicity import holm
from suffice.diagnostics.normal_scores import normal_scores
from suffice.diagnostics.pairs import _correlations, pair_tests
from suffice.diagnostics.rounded_numbers import RoundedNumbers
from suffice.learning.labelled_tables import read_labelled


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def rows_of(model, X, y, sample_weight=None):
    read = read_labelled(model.fit(X, y).fitted_, X, y, sample_weight)
    return checked_rows(model.fitted_, read.table, read.members)


def test_tables_of_levels(rng):
    """G and χ² of each class, summed; the larger p-value counts. Cells are missing in one column."""
    y = rng.integers(0, 2, 600)
    X = pd.DataFrame(rng.choice(list("abc"), (600, 3)), columns=["u", "v", "w"])
    X["w"] = np.where(rng.random(600) < 0.15, X["u"], X["w"])
    X.loc[rng.random(600) < 0.1, "u"] = None
    found = pair_tests(rows_of(NaiveBayes(), X, y))
    for i, j in ((0, 1), (0, 2), (1, 2)):
        ratio = pearson = 0.0
        for k in (0, 1):
            table = pd.crosstab(X.iloc[:, i][y == k], X.iloc[:, j][y == k]).to_numpy()
            ratio += stats.chi2_contingency(table, lambda_="log-likelihood").statistic
            n = table.sum()
            pearson += stats.chi2_contingency(table).statistic * (n - 1) / n
        expected = max(stats.chi2.sf(ratio, 8), stats.chi2.sf(pearson, 8))
        assert found.p_value[i, j] == pytest.approx(expected, rel=1e-9)


def test_correlations(rng):
    y = np.repeat([0, 1], [80, 50])
    X = rng.normal(size=(130, 2)) ** 3
    X[:, 1] += 0.3 * X[:, 0]
    found = pair_tests(rows_of(NaiveBayes(), X, y))
    z, nu = [], []
    for k in (0, 1):
        scores = stats.norm.ppf((stats.rankdata(X[y == k], axis=0) - 0.5) / (y == k).sum())
        np.testing.assert_allclose(normal_scores(X[y == k, 0], np.ones(len(scores))), scores[:, 0])
        r = stats.pearsonr(*scores.T)
        z.append(np.sign(r.statistic) * stats.norm.isf(r.pvalue / 2))
        nu.append(len(scores) - 2)
    shared = np.dot(np.sqrt(nu), z) ** 2 / sum(nu)
    by_correlation = 2 * min(stats.chi2.sf(np.square(z).sum(), 2), stats.chi2.sf(shared, 1))
    by_bins = binned_p_value(X, y, (4, 3))
    assert found.p_value[0, 1] == pytest.approx(2 * min(by_correlation, by_bins), rel=0.01)


def binned_p_value(X, y, n_bins):
    """G and χ² of two numbers in bins of equal counts, summed over the classes."""
    ratio = pearson = df = 0
    for k, bins in enumerate(n_bins):
        part = pd.DataFrame(X[y == k]).apply(lambda column, bins=bins: pd.qcut(column, bins, labels=False))
        table = pd.crosstab(part[0], part[1]).to_numpy()
        n = table.sum()
        ratio += stats.chi2_contingency(table, lambda_="log-likelihood", correction=False).statistic
        pearson += stats.chi2_contingency(table, correction=False).statistic * (n - 1) / n
        df += (bins - 1) ** 2
    return max(stats.chi2.sf(ratio, df), stats.chi2.sf(pearson, df))


def test_numbers_in_bins(rng):
    """Two numbers without correlation, one of which is about the square of the other."""
    y = np.repeat([0, 1], [80, 48])
    X = rng.normal(size=(128, 2))
    X[:, 1] += 0.8 * X[:, 0] ** 2
    found = pair_tests(rows_of(NaiveBayes(), X, y))
    assert found.by_bins[0, 1]
    assert found.p_value[0, 1] == pytest.approx(2 * binned_p_value(X, y, (4, 3)), rel=1e-9)


def test_correlations_that_differ(rng):
    """The p-value of equal correlations, by Fisher's transform."""
    y = np.repeat([0, 1, 2], [80, 50, 40])
    X = rng.normal(size=(170, 2))
    found = pair_tests(rows_of(NaiveBayes(), X, y))
    scores = [stats.norm.ppf((stats.rankdata(X[y == k], axis=0) - 0.5) / (y == k).sum()) for k in range(3)]
    z = np.arctanh([stats.pearsonr(*each.T).statistic for each in scores])
    weight = np.array([77, 47, 37])
    expected = stats.chi2.sf(weight @ (z - np.average(z, weights=weight)) ** 2, 2)
    assert found.unequal[0, 1] == pytest.approx(expected)


def test_numbers_and_levels(rng):
    """An analysis of variance of the normal scores in each class, combined by Fisher's method."""
    y = np.repeat([0, 1], [150, 90])
    X = pd.DataFrame({"kind": rng.choice(list("abc"), 240), "size": rng.exponential(size=240)})
    X.loc[rng.random(240) < 0.1, "size"] = np.nan
    p_value, _ = mixed_pairs(rows_of(NaiveBayes(), X, y), np.array([0]), np.array([1]), 12)
    each = []
    for k in (0, 1):
        part = X[y == k].dropna()
        scores = stats.norm.ppf((stats.rankdata(part["size"]) - 0.5) / len(part))
        each.append(stats.f_oneway(*(scores[part["kind"] == level] for level in "abc")).pvalue)
    assert p_value[0, 0] == pytest.approx(stats.combine_pvalues(each).pvalue, rel=1e-9)


def test_missing_cells_of_a_pair_are_left_out(rng):
    y = np.zeros(200, dtype=int)
    X = rng.normal(size=(200, 2))
    X[:, 1] += X[:, 0]
    X[:40, 0], X[30:60, 1] = np.nan, np.nan
    labels = np.append(y, [1] * 20)
    whole = np.vstack([X, rng.normal(size=(20, 2))])
    found = pair_tests(rows_of(NaiveBayes(), whole, labels))
    scores = [normal_scores(column, np.ones(200))[60:] for column in X.T]
    assert found.highest[0, 1] == pytest.approx(stats.pearsonr(*scores).statistic, rel=1e-9)


def weighted_rows(rng, n=160):
    y = np.repeat([0, 1], [n // 2, n - n // 2])
    X = pd.DataFrame({"a": rng.normal(size=n).round(1), "b": rng.normal(size=n), "c": rng.choice(list("uv"), n)})
    X.loc[rng.random(n) < 0.2, "b"] = np.nan
    return X, y


@pytest.mark.parametrize("unit", [1.0, 10.0, 1 / 160, 1e-200])
def test_equal_weights_are_no_weights(unit, rng):
    X, y = weighted_rows(rng)
    model = NaiveBayes().fit(X, y)
    found, plain = (diagnose(model, X, y, sample_weight=w, cost=False) for w in (np.full(160, unit), None))
    for name, table in plain.tables.items():
        for column, values in table.items():
            assert list(getattr(found, name)[column]) == pytest.approx(list(values), nan_ok=True)


def test_the_unit_of_weights_does_not_matter(rng):
    X, y = weighted_rows(rng)
    weights = rng.exponential(size=160)
    model = NaiveBayes().fit(X, y)
    first, second = (diagnose(model, X, y, sample_weight=w * weights, cost=False) for w in (1.0, 1e-3))
    for name in ("dependence", "missingness"):
        p = [getattr(each, name)["p_value"] for each in (first, second)]
        assert p[0] == pytest.approx(p[1], rel=1e-9)


def test_weighted_rows_have_their_effective_size(rng):
    """Weighted correlations have the variance of n_eff rows, where n_eff is that of rows with both cells."""
    X, weights = rng.normal(size=(200, 2)), rng.exponential(size=200)
    X[:50, 0] = np.nan
    y = np.append(np.zeros(200, dtype=int), [1] * 20)
    rows = rows_of(NaiveBayes(), np.vstack([X, X[100:120]]), y, np.append(weights, np.ones(20)))
    here = np.flatnonzero(rows.codes == 0)
    w = weights[50:]
    kish = w.sum() ** 2 / (w**2).sum()
    _, n = _correlations(rows.values[here], rows.weights[here])
    assert n[0, 1] == pytest.approx(kish)
    assert rows.weights[here].sum() == pytest.approx(weights.sum() ** 2 / (weights**2).sum())


def test_missingness(rng):
    y = rng.integers(0, 3, 400)
    X = rng.normal(size=(400, 2))
    X[rng.random(400) < 0.1 + 0.1 * (y == 2), 1] = np.nan
    (test,) = missingness_tests(rows_of(NaiveBayes(), X, y))
    table = np.array([[(lost := np.isnan(X[y == k, 1])).sum(), (~lost).sum()] for k in range(3)])
    ratio = stats.chi2_contingency(table, lambda_="log-likelihood")
    pearson = stats.chi2_contingency(table)
    expected = max(ratio.pvalue, stats.chi2.sf(pearson.statistic * 399 / 400, 2))
    assert test.p_value == pytest.approx(expected)
    assert test.nats == pytest.approx((ratio.statistic - 2) / 800)


def test_box_m_of_one_column_is_bartlett(rng):
    y = np.repeat([0, 1, 2], [30, 40, 50])
    X = rng.normal(size=(120, 1))
    rows = rows_of(NaiveBayes(), X, y)
    found = covariance_test(rows, np.array([0]), diagonal=True, seed=0)
    expected = stats.bartlett(*(X[y == k, 0] for k in range(3)))
    assert found.p_value == pytest.approx(expected.pvalue)


def test_box_m(rng):
    """M and Box's F approximation by their formulas."""
    y = np.repeat([0, 1, 2], [30, 40, 50])
    X = rng.normal(size=(120, 3)) @ rng.normal(size=(3, 3))
    found = covariance_test(rows_of(GaussianDiscriminant(), X, y), np.arange(3), diagonal=False, seed=0)
    nu = np.array([29, 39, 49])
    each = [np.cov(X[y == k].T) for k in range(3)]
    pooled = np.tensordot(nu, each, axes=1) / nu.sum()
    m = nu.sum() * np.log(np.linalg.det(pooled)) - nu @ np.log(np.linalg.det(each))
    assert found.m == pytest.approx(m)
    df, c1 = 12, 26 / 48 * ((1 / nu).sum() - 1 / nu.sum())
    c2 = 10 / 12 * ((1 / nu**2).sum() - 1 / nu.sum() ** 2)
    other = (df + 2) / (c2 - c1**2)
    expected = stats.f.sf(m * (1 - c1 - df / other) / df, df, other)
    assert found.p_value == pytest.approx(expected)


def test_anderson_darling(rng):
    x = rng.gamma(2.0, size=80)
    z = (x - x.mean()) / x.std(ddof=1)
    expected = stats.goodness_of_fit(stats.norm, z, known_params={"loc": 0, "scale": 1}, statistic="ad", n_mc_samples=9)
    assert shape_tests.anderson_darling(stats.norm.cdf(z)) == pytest.approx(expected.statistic)


@pytest.mark.parametrize(
    ("name", "draw"),
    [
        ("gaussian", lambda rng, n: rng.normal(size=n)),
        ("exponential", lambda rng, n: rng.exponential(size=n)),
        ("poisson", lambda rng, n: rng.poisson(0.8, n).astype(float)),
        ("geometric", lambda rng, n: rng.geometric(0.4, n) - 1.0),
    ],
)
def test_p_values_of_shapes_are_uniform(name, draw, rng):
    p = [shape_tests.shape_p_value(name, draw(rng, 40), rng) for _ in range(1000)]
    assert stats.kstest(p, "uniform").pvalue > 1e-3


@pytest.mark.parametrize("name", ["gaussian", "exponential"])
@pytest.mark.parametrize("n", [12, 14, 30])
def test_p_values_of_small_classes_can_be_combined(name, n, rng):
    """Fisher's method adds up errors of log p, whose mean is −1; the standard error is 0.01."""
    draw = rng.normal if name == "gaussian" else rng.exponential
    p = [shape_tests.shape_p_value(name, draw(size=n), rng) for _ in range(10_000)]
    assert np.log(p).mean() == pytest.approx(-1, abs=0.035)


@pytest.mark.parametrize("n", [11, 15])
def test_uniform_tail_of_few_numbers(n, rng):
    p = [shape_tests._uniform_tail(shape_tests.anderson_darling(rng.random(n)), n) for _ in range(10_000)]
    assert np.log(p).mean() == pytest.approx(-1, abs=0.035)


@pytest.mark.parametrize("name", ["gaussian", "exponential"])
@pytest.mark.parametrize("sd", [1.0, 5.0])
def test_p_values_of_rounded_numbers_are_uniform(name, sd, rng):
    draw = rng.normal if name == "gaussian" else rng.standard_exponential
    x = [np.round(sd * draw(size=400) + 0.3 * (name == "gaussian")) for _ in range(500)]
    p = [shape_tests.shape_p_value(name, each, rng, 1.0) for each in x]
    assert stats.kstest(p, "uniform").pvalue > 1e-3


def test_parameters_of_rounded_numbers(rng):
    """Those of scipy's fit to interval-censored data."""
    x = np.round(rng.normal(0.3, 0.8, 200))
    censored = stats.CensoredData(interval=np.column_stack([x - 0.5, x + 0.5]))
    mean, sd = stats.norm.fit(censored)
    shape = shape_tests.SHAPES["gaussian"]
    found = RoundedNumbers.of(x, 1.0).fitted(shape.distribution, shape.estimate(x, 1.0))
    assert [found[0], np.exp(found[1])] == pytest.approx([mean, sd], rel=1e-3, abs=1e-4)


def test_gamma_p_values_are_bounds(rng):
    p = np.array([shape_tests.shape_p_value("gamma", rng.gamma(rng.uniform(0.4, 4), size=40), rng) for _ in range(400)])
    assert (p <= 0.05).sum() <= stats.binom.isf(0.001, 400, 0.05)


def test_counts_become_uniform_numbers(rng):
    for transform, x in (
        (shape_tests.poisson, rng.poisson(1.5, 3000)),
        (shape_tests.geometric, rng.geometric(0.3, 3000) - 1),
    ):
        assert stats.kstest(transform(x.astype(float), rng), "uniform").pvalue > 1e-3


def test_holm_by_its_definition(rng):
    p = rng.random(8) ** 3
    order = np.argsort(p)
    expected = np.empty(8)
    for rank, i in enumerate(order):
        expected[i] = max(min(1.0, (8 - step) * p[order[step]]) for step in range(rank + 1))
    np.testing.assert_allclose(holm(p), expected)
