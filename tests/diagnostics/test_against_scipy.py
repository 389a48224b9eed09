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
from suffice.diagnostics.pairs import pair_tests
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
    expected = 2 * min(stats.chi2.sf(np.square(z).sum(), 2), stats.chi2.sf(shared, 1))
    assert found.p_value[0, 1] == pytest.approx(expected, rel=0.01)


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


def test_weights_count_rows(rng):
    y, weights = np.repeat([0, 1], 40), rng.integers(1, 4, 80)
    X = pd.DataFrame({"a": rng.normal(size=80).round(1), "b": rng.normal(size=80), "c": rng.choice(list("uv"), 80)})
    X.loc[rng.random(80) < 0.2, "b"] = np.nan
    model = NaiveBayes().fit(X, y)
    once = diagnose(model, X, y, sample_weight=weights, cost=False)
    again = diagnose(model, X.loc[X.index.repeat(weights)], np.repeat(y, weights), cost=False)
    for name in ("dependence", "missingness"):
        for column, values in getattr(once, name).items():
            if column != "p_value" or name == "missingness":
                assert list(values) == pytest.approx(list(getattr(again, name)[column]), nan_ok=True)


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
