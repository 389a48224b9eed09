"""Known results about discriminant analysis and logistic regression, on rows whose correct model is known.

If p(x | y) is Gaussian with one covariance, GDA needs fewer rows; otherwise logistic regression is better with many
rows. Poisson counts have a logistic posterior too, and then the Poisson model needs the fewest rows. Each draw scores
all models on the same rows; differences are in standard errors of their mean over the draws.
"""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, poisson
from sklearn.linear_model import LogisticRegression

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.comparison import compare
from suffice.comparison.examples import gaussian_rows, heavy_tailed_rows, poisson_rows
from suffice.comparison.logistic import LogisticTwin

LOGISTIC = "logistic regression"
DRAWS = 20


def apart(found, a, b, size):
    """Number of standard errors by which a is ahead of b at a size."""
    at = found.curves.sizes.index(size)
    mean, error = found.curves.difference(a, b)
    return -mean[at] / error[at]


@pytest.fixture(scope="module")
def gaussian():
    models = {"GDA": GaussianDiscriminant(), "no penalty": LogisticTwin(None)}
    return compare(*gaussian_rows(1000, 1, distance=4.0), models=models, cv=2, sizes=[100], repeats=DRAWS)


@pytest.fixture(scope="module")
def heavy():
    models = {"GDA": GaussianDiscriminant(), "GDA own": GaussianDiscriminant("own")}
    return compare(*heavy_tailed_rows(1000, 1), models=models, cv=2, sizes=[500], repeats=DRAWS // 3)


@pytest.fixture(scope="module")
def counts():
    models = {"Poisson": NaiveBayes("poisson"), "GDA": GaussianDiscriminant(estimation="mle"), "Gaussian": NaiveBayes()}
    return compare(*poisson_rows(1000, 1), models=models, cv=2, sizes=[100], repeats=DRAWS)


def test_gda_needs_fewer_rows_if_it_is_correct(gaussian):
    assert apart(gaussian, "GDA", "no penalty", 100) > 3
    assert apart(gaussian, "GDA", LOGISTIC, 100) > 3


def test_logistic_regression_catches_up_with_many_rows_if_gda_is_correct(gaussian):
    loss = {each.model: each.log_loss for each in gaussian.results}
    assert loss[LOGISTIC] - loss["GDA"] < 0.02


def test_logistic_regression_wins_on_rows_that_are_not_gaussian(heavy):
    assert apart(heavy, LOGISTIC, "GDA", 500) > 5
    assert apart(heavy, LOGISTIC, "GDA own", 500) > 5
    behind = {each.model: each.behind / max(each.behind_error, 1e-300) for each in heavy.results}
    assert behind["GDA"] > 5
    assert heavy.results[0].model == LOGISTIC


def test_the_poisson_model_needs_fewest_rows_for_counts(counts):
    assert apart(counts, "Poisson", "GDA", 100) > 3
    assert apart(counts, "Poisson", LOGISTIC, 100) > 3


def test_the_poisson_model_wins_with_many_counts(counts):
    assert counts.results[0].model == "Poisson"
    assert next(each.behind / each.behind_error for each in counts.results if each.model == "Gaussian") > 3


def test_the_posterior_of_the_gaussian_rows_is_logistic():
    # Oracle: Bayes' rule with the moments of many rows.
    X, y = gaussian_rows(200_000, 3)
    means = [X[y == k].mean(axis=0) for k in (0, 1)]
    covariance = sum(np.cov(X[y == k].T) for k in (0, 1)) / 2
    odds = multivariate_normal(means[1], covariance).logpdf(X) - multivariate_normal(means[0], covariance).logpdf(X)
    theta = np.linalg.solve(covariance, means[1] - means[0])
    assert np.ptp(odds - X @ theta) < 1e-8
    assert np.sqrt((means[1] - means[0]) @ theta) == pytest.approx(3.0, abs=0.05)
    fitted = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y)
    np.testing.assert_allclose(fitted.coef_[0], theta, atol=0.1 * np.abs(theta).max())


def test_the_posterior_of_the_counts_is_logistic():
    X, y = poisson_rows(100_000, 3)
    rates = [X[y == k].mean(axis=0) for k in (0, 1)]
    odds = poisson(rates[1]).logpmf(X).sum(axis=1) - poisson(rates[0]).logpmf(X).sum(axis=1)
    assert np.ptp(odds - X @ np.log(rates[1] / rates[0])) < 1e-8
    np.testing.assert_allclose([X[y == k].var(axis=0) for k in (0, 1)], rates, rtol=0.05)


def test_the_labels_of_the_heavy_tails_follow_the_logistic_function():
    X, y = heavy_tailed_rows(200_000, 3)
    p = LogisticRegression(C=np.inf, max_iter=1000).fit(X, y).predict_proba(X)[:, 1]
    bins = np.digitize(p, np.linspace(0, 1, 11)[1:-1])
    for b in range(10):
        inside = bins == b
        assert y[inside].mean() == pytest.approx(p[inside].mean(), abs=4 * 0.5 / np.sqrt(inside.sum()))


def test_other_seeds_give_other_rows():
    for make in (gaussian_rows, heavy_tailed_rows, poisson_rows):
        assert not np.array_equal(make(50, 1)[0], make(50, 2)[0])
        assert np.array_equal(make(50, 1)[0], make(50, 1)[0])
