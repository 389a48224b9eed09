"""The formulas of docs/models/naive_bayes.md, against NumPy, SciPy and scikit-learn."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import logsumexp
from sklearn.linear_model import LogisticRegression

from suffice import NaiveBayes
from suffice.exceptions import NotLinearError
from suffice.families import Gaussian, Poisson


def mixed(n=300, seed=1):
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], n, p=[0.5, 0.3, 0.2])
    k = np.searchsorted(["a", "b", "c"], y)
    table = pd.DataFrame(
        {
            "level": np.array(["u", "v", "w"])[(rng.integers(0, 3, n) + (rng.random(n) < 0.4) * k) % 3],
            "flag": rng.random(n) < np.array([0.2, 0.5, 0.7])[k],
            "size": rng.normal(np.array([0.0, 1.0, 3.0])[k], np.array([1.0, 2.0, 0.5])[k]),
            "count": rng.poisson(np.array([2.0, 3.0, 6.0])[k]),
        }
    )
    return table, y


def fitted():
    table, y = mixed()
    return NaiveBayes({"count": "poisson"}, estimation="mle").fit(table, y), table, y


def log_parts(table, y, label):
    """Logarithms of the four factors of each row, from the rows of a class."""
    own = table[y == label]
    share = own["level"].value_counts(normalize=True)
    return np.column_stack(
        [
            np.log(share[table["level"]].to_numpy()),
            stats.bernoulli(own["flag"].mean()).logpmf(table["flag"]),
            stats.norm(own["size"].mean(), own["size"].std(ddof=0)).logpdf(table["size"]),
            stats.poisson(own["count"].mean()).logpmf(table["count"]),
        ]
    )


def two_classes(draw, seed):
    rng = np.random.default_rng(seed)
    y = (rng.random(500) < 0.3).astype(int)
    return draw(rng, y[:, None]), y


def test_columns_multiply():
    model, table, y = fitted()
    for label in ("a", "b", "c"):
        expected = log_parts(table, y, label).sum(axis=1)
        np.testing.assert_allclose(model.conditional(label).logpdf(table), expected, rtol=1e-10)


def test_posterior_is_bayes_rule_of_products():
    model, table, y = fitted()
    products = np.column_stack([np.mean(y == k) * np.exp(log_parts(table, y, k)).prod(axis=1) for k in "abc"])
    expected = products / products.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(table), expected, rtol=1e-10)


def test_prior_is_the_share_of_a_class():
    model, _, y = fitted()
    np.testing.assert_allclose(model.class_prior_, [np.mean(y == k) for k in "abc"], rtol=1e-14)


def test_joint_is_a_sum_of_logarithms():
    model, table, y = fitted()
    expected = np.column_stack([np.log(np.mean(y == k)) + log_parts(table, y, k).sum(axis=1) for k in "abc"])
    np.testing.assert_allclose(model.predict_joint_log_proba(table), expected, rtol=1e-10)


def test_evidence_is_a_log_sum_exp():
    rng = np.random.default_rng(2)
    X, y = rng.integers(0, 10, (300, 500)), np.arange(300) % 3
    model = NaiveBayes("categorical").fit(X, y)
    expected = np.zeros((20, 3))
    for k in range(3):
        own = X[y == k]
        factors = np.array([[(np.sum(own[:, j] == X[i, j]) + 1) / (100 + 10) for j in range(500)] for i in range(20)])
        assert (factors.prod(axis=1) == 0).all()
        expected[:, k] = np.log(1 / 3) + np.log(factors).sum(axis=1)
    evidence = logsumexp(expected, axis=1)
    np.testing.assert_allclose(model.predict_joint_log_proba(X[:20]), expected, rtol=1e-12)
    np.testing.assert_allclose(model.score_samples(X[:20]), evidence, rtol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X[:20]), expected - evidence[:, None], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X[:20]), np.exp(expected - evidence[:, None]), rtol=1e-9)


def test_categorical_estimate():
    model, table, y = fitted()
    listing = model.parameters("level").to_frame().set_index("level")
    for label in "abc":
        for level in "uvw":
            share = np.mean(table["level"][y == label] == level)
            assert listing.loc[level, f"given {label}"] == pytest.approx(share, rel=1e-12)


def check_mean(column, name):
    model, table, y = fitted()
    listing = model.parameters(column).to_frame().set_index("class")[name]
    for label in "abc":
        assert listing[label] == pytest.approx(table[column][y == label].mean(), rel=1e-12)


def test_bernoulli_estimate():
    check_mean("flag", "probability")


def test_gaussian_estimate():
    check_mean("size", "mean")
    model, table, y = fitted()
    deviations = model.parameters("size").to_frame().set_index("class")["deviation"]
    numbers = NaiveBayes("gaussian", estimation="mle").fit(table[["size"]], y)
    for i, label in enumerate("abc"):
        own = table["size"][y == label].to_numpy()
        assert deviations[label] == pytest.approx(np.sqrt(np.mean((own - own.mean()) ** 2)), rel=1e-10)
        assert numbers.means_[i, 0] == pytest.approx(own.mean(), rel=1e-12)
        assert numbers.variances_[i, 0] == pytest.approx(own.var(), rel=1e-10)


def test_poisson_estimate():
    check_mean("count", "rate")


def test_estimates_maximise_the_likelihood():
    model, table, y = fitted()
    best = model.log_likelihood(table, y)

    def value(label, change):
        own = table[y == label]
        rate, mean, deviation = own["count"].mean(), own["size"].mean(), own["size"].std(ddof=0)
        share, levels = own["flag"].mean(), own["level"].value_counts(normalize=True)
        if "levels" in change:
            levels = levels + change["levels"] * np.array([1, -1, 0])
        return (
            np.log(len(own) / len(y)) * len(own)
            + np.log(levels[own["level"]]).sum()
            + stats.bernoulli.logpmf(own["flag"], share + change.get("share", 0.0)).sum()
            + stats.norm.logpdf(own["size"], mean + change.get("mean", 0), deviation + change.get("deviation", 0)).sum()
            + stats.poisson.logpmf(own["count"], rate + change.get("rate", 0)).sum()
        )

    def total(**change):
        return sum(value(label, change) for label in "abc")

    assert best == pytest.approx(total(), rel=1e-10)
    for name in ("levels", "share", "mean", "deviation", "rate"):
        for step in (0.01, -0.01):
            assert total(**{name: step}) < best


def test_unseen_count():
    rng = np.random.default_rng(3)
    y = np.arange(90) % 3 % 2  # two thirds of class 0
    X = rng.poisson(np.where(y, 16.0, 10.0))[:, None]
    assert X.max() < 40
    np.testing.assert_allclose(NaiveBayes("categorical").fit(X, y).predict_proba([[40]]), [[2 / 3, 1 / 3]], rtol=1e-12)
    assert NaiveBayes("poisson").fit(X, y).predict_proba([[40]])[0, 1] > 0.999


def test_posterior_is_a_function_of_the_log_odds():
    table, y = mixed()
    two = y != "c"
    table, y = table[two], y[two]
    model = NaiveBayes({"count": "poisson"}, estimation="mle").fit(table, y)
    log_odds = np.log(np.mean(y == "b") / np.mean(y == "a"))
    log_odds = log_odds + (log_parts(table, y, "b") - log_parts(table, y, "a")).sum(axis=1)
    np.testing.assert_allclose(model.decision_function(table), log_odds, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(model.predict_proba(table)[:, 1], 1 / (1 + np.exp(-log_odds)), rtol=1e-9)


def check_logistic(model, X):
    theta, theta0 = model.linear_form()
    logistic = 1 / (1 + np.exp(-(np.asarray(X, dtype=float) @ theta + theta0)))
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], logistic, rtol=1e-10)


def test_poisson_linear_form():
    X, y = two_classes(lambda rng, k: rng.poisson(np.where(k, [1.0, 4.0, 2.0], [2.0, 3.0, 2.5])), seed=4)
    model = NaiveBayes("poisson", estimation="mle").fit(X, y)
    theta, theta0 = model.linear_form()
    low, high = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    np.testing.assert_allclose(theta, np.log(high / low), rtol=1e-10)
    assert theta0 == pytest.approx(np.log(y.mean() / (1 - y.mean())) - (high - low).sum(), rel=1e-10)
    check_logistic(model, X)


def test_shared_gaussian_linear_form():
    X, y = two_classes(lambda rng, k: rng.normal(np.where(k, [1.0, 0.0], [0.0, 2.0]), [0.5, 3.0]), seed=5)
    model = NaiveBayes(Gaussian(variance="shared", estimation="mle")).fit(X, y)
    theta, theta0 = model.linear_form()
    low, high = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    variance = np.mean((X - np.where(y[:, None], high, low)) ** 2, axis=0)
    np.testing.assert_allclose(theta, (high - low) / variance, rtol=1e-10)
    offset = np.log(y.mean() / (1 - y.mean())) - ((high**2 - low**2) / (2 * variance)).sum()
    assert theta0 == pytest.approx(offset, rel=1e-10)
    check_logistic(model, X)


def test_bernoulli_linear_form():
    X, y = two_classes(lambda rng, k: rng.random((500, 2)) < np.where(k, [0.2, 0.6], [0.4, 0.5]), seed=6)
    model = NaiveBayes("bernoulli", estimation="mle").fit(X, y)
    theta, theta0 = model.linear_form()
    low, high = X[y == 0].mean(axis=0), X[y == 1].mean(axis=0)
    np.testing.assert_allclose(theta, np.log(high * (1 - low) / (low * (1 - high))), rtol=1e-10)
    offset = np.log(y.mean() / (1 - y.mean())) + np.log((1 - high) / (1 - low)).sum()
    assert theta0 == pytest.approx(offset, rel=1e-10)
    check_logistic(model, X)


def test_levels_have_log_ratios():
    levels, y = two_classes(lambda rng, k: rng.integers(0, 3 - k, (500, 1)) + k, seed=6)
    model = NaiveBayes("categorical", estimation="mle").fit(levels, y)
    low, high = ([np.mean(levels[y == k] == level) for level in (1, 2)] for k in (0, 1))
    expected = np.log(np.divide(high, low)) + np.log(y.mean() / (1 - y.mean()))
    np.testing.assert_allclose(model.decision_function([[1], [2]]), expected, rtol=1e-10)


def test_own_variances_are_quadratic():
    X, y = two_classes(lambda rng, k: rng.normal(k, 1.0 + k), seed=7)
    model = NaiveBayes("gaussian", estimation="mle").fit(X, y)
    with pytest.raises(NotLinearError, match="quadratic"):
        model.linear_form()
    grid = np.linspace(-5, 5, 11)
    log_odds = np.diff(model.predict_joint_log_proba(grid[:, None]), axis=1)[:, 0]
    assert np.ptp(np.diff(log_odds, n=2)) < 1e-9  # second differences are constant,
    curvature = 1 / X[y == 0].var() - 1 / X[y == 1].var()
    np.testing.assert_allclose(np.diff(log_odds, n=2), curvature, rtol=1e-8)  # and are not zero


LOW, HIGH, DEVIATION = np.array([2.0, 4.0, 1.0]), np.array([3.0, 3.0, 1.5]), np.array([1.0, 2.0, 1.0])


@pytest.mark.parametrize(
    ("family", "draw", "true"),
    [
        (Poisson(estimation="mle"), np.random.Generator.poisson, np.append(np.log(HIGH / LOW), -np.sum(HIGH - LOW))),
        (
            Gaussian(variance="shared", estimation="mle"),
            lambda rng, mean: rng.normal(mean, DEVIATION),
            np.append((HIGH - LOW) / DEVIATION**2, -np.sum((HIGH**2 - LOW**2) / (2 * DEVIATION**2))),
        ),
    ],
    ids=["poisson", "gaussian"],
)
def test_coefficients_meet_logistic_regression(family, draw, true):
    rng, means = np.random.default_rng(8), []
    for n in (100, 10_000):
        apart = []
        for _ in range(20):
            y = np.arange(n) % 2
            X = draw(rng, np.where(y[:, None], HIGH, LOW))
            theta, theta0 = NaiveBayes(family).fit(X, y).linear_form()
            naive = np.append(theta, theta0)
            regression = LogisticRegression(C=np.inf, solver="newton-cholesky").fit(X, y)
            logistic = np.append(regression.coef_[0], regression.intercept_)
            apart.append([np.abs(a - b).max() for a, b in ((naive, logistic), (naive, true), (logistic, true))])
        means.append(np.mean(apart, axis=0))
    ratio = means[0] / means[1]
    assert ratio.min() > 5  # like 1/√n: a tenth
    assert ratio.max() < 20
