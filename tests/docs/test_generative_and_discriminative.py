"""The page about generative and discriminative models: formulas by NumPy, claims about digits and rows."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linprog
from scipy.special import expit, log_softmax, logsumexp
from scipy.stats import expon, multivariate_normal, norm, poisson
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.comparison.examples import gaussian_rows, heavy_tailed_rows
from suffice.families import Gaussian


@pytest.fixture(scope="module")
def two_classes():
    rng = np.random.default_rng(0)
    y = (rng.random(600) < 0.3).astype(int)
    X = rng.normal(size=(600, 2)) @ [[2.0, 1.0], [0.0, 1.0]] + 3.0 * y[:, None]
    return X, y, GaussianDiscriminant("own", estimation="mle").fit(X, y)


def test_samples_have_the_moments_of_the_class(two_classes):
    X, y, model = two_classes
    drawn, label = model.sample(200_000, label=1, random_state=0)
    assert (label == 1).all()
    mean, covariance = X[y == 1].mean(axis=0), np.cov(X[y == 1].T, bias=True)
    assert (np.abs(drawn.mean(axis=0) - mean) < 5 * np.sqrt(np.diag(covariance) / 200_000)).all()
    assert_allclose(np.cov(drawn.T), covariance, rtol=0.02)


def test_samples_have_the_class_shares(two_classes):
    _, y, model = two_classes
    _, label = model.sample(200_000, random_state=0)
    assert abs(label.mean() - y.mean()) < 5 * np.sqrt(0.25 / 200_000)


def test_evidence_is_the_sum_over_classes(two_classes):
    X, y, model = two_classes
    joint = []
    for k in (0, 1):
        rows = X[y == k]
        gaussian = multivariate_normal(rows.mean(axis=0), np.cov(rows.T, bias=True))
        joint.append(gaussian.logpdf(X) + np.log(np.mean(y == k)))
    assert_allclose(model.score_samples(X), logsumexp(joint, axis=0), rtol=1e-11)


def test_every_digit_is_likelier_than_every_shuffled_digit():
    digits = load_digits()
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X, y = digits.data + rng.random(digits.data.shape), digits.target
        order = rng.permutation(len(X))
        train, test = order[:1200], order[1200:]
        model = GaussianDiscriminant("own", shrinkage=0.1).fit(X[train], y[train])
        assert model.score(X[test], y[test]) > 0.95
        real, shuffled = (model.score_samples(rows) for rows in (X[test], rng.permuted(X[test], axis=1)))
        assert real.min() > shuffled.max()
        assert np.median(real) - np.median(shuffled) > 6000


def test_logistic_regression_is_a_softmax():
    """The formula and the words of the page are about scikit-learn's model."""
    digits = load_digits()
    X, y = digits.data / 16, digits.target
    model = LogisticRegression(C=10, max_iter=1000).fit(X[:300], y[:300])
    expected = log_softmax(X @ model.coef_.T + model.intercept_, axis=1)
    assert_allclose(model.predict_log_proba(X), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("draw", [gaussian_rows, heavy_tailed_rows])
def test_each_model_maximises_its_likelihood(draw):
    """On training rows, GDA has the larger likelihood of x and y, logistic regression that of y given x."""
    X, y = draw(500)
    at = np.arange(len(y)), y
    gda = GaussianDiscriminant(estimation="mle").fit(X, y)
    logistic = LogisticRegression(C=np.inf, solver="newton-cholesky").fit(X, y)
    of_labels = gda.predict_log_proba(X)[at].sum()
    theta, theta0 = logistic.coef_[0], logistic.intercept_[0]
    best_of_labels = -np.logaddexp(0, np.where(y == 1, -1, 1) * (X @ theta + theta0)).sum()
    assert of_labels < best_of_labels
    # Gaussian classes with the coefficients of logistic regression: μ1 − μ0 = Σθ, around a point of the right θ0.
    step = gda.covariance_ @ theta
    centre = X.mean(axis=0)
    centre = centre + step * (np.log(y.mean() / (1 - y.mean())) - theta0 - theta @ centre) / (theta @ step)
    means = [centre - step / 2, centre + step / 2]
    other = GaussianDiscriminant.from_parameters(gda.class_prior_, means, gda.covariance_, classes=[0, 1])
    assert_allclose(other.predict_log_proba(X)[at].sum(), best_of_labels, rtol=1e-8)
    assert other.log_likelihood(X, y) < gda.log_likelihood(X, y)


def test_log_loss(two_classes):
    X, y, model = two_classes
    assert_allclose(-model.predict_log_proba(X)[np.arange(600), y].mean(), log_loss(y, model.predict_proba(X)))


def losses(draw, n, repeats=10):
    """Mean log-loss of GDA, of logistic regression with hardly any penalty, and of both regularised."""
    models = [
        GaussianDiscriminant(estimation="mle"),
        LogisticRegression(C=1000, solver="newton-cholesky"),
        GaussianDiscriminant(),
        LogisticRegression(solver="newton-cholesky"),
    ]
    X, y = draw(4000, seed=2_000_000)
    return [
        np.mean([log_loss(y, model.fit(*draw(n, seed=500 + seed)).predict_proba(X)) for seed in range(repeats)])
        for model in models
    ]


def separable(X, y):
    """Whether a plane separates the classes: a linear program has a solution."""
    signed = np.where(y == 1, -1, 1)[:, None] * np.column_stack([X, np.ones(len(X))])
    return linprog(np.zeros(signed.shape[1]), A_ub=signed, b_ub=-np.ones(len(X)), bounds=(None, None)).status == 0


def test_gda_is_ahead_on_gaussian_rows():
    """Other rows than those of the page."""
    for n in (40, 80):
        gda, logistic, shrunk, _ = losses(gaussian_rows, n)
        assert max(shrunk, gda) < 0.6 * logistic
        # Rows that a plane separates have no largest likelihood.
        assert np.mean([separable(*gaussian_rows(n, seed=seed)) for seed in range(10)]) > 0.3
    assert not any(separable(*gaussian_rows(320, seed=seed)) for seed in range(10))
    gda, logistic, shrunk, penalised = losses(gaussian_rows, 320)
    assert gda < logistic < 1.2 * gda
    assert shrunk < 1.02 * penalised


def test_logistic_regression_is_ahead_on_heavy_tails():
    for n in (320, 1280):
        gda, logistic, shrunk, penalised = losses(heavy_tailed_rows, n)
        assert max(logistic, penalised) < 0.8 * min(gda, shrunk)
        assert 0.24 < logistic < 0.28  # the log-loss of the true probabilities is 0.24
        assert 0.24 < penalised < 0.28


def test_outliers_of_more_rows_make_gda_worse():
    new, truth = heavy_tailed_rows(4000, seed=1_000_000)
    few, many = (
        np.mean(
            [
                log_loss(
                    truth, GaussianDiscriminant(estimation="mle").fit(*heavy_tailed_rows(n, seed=s)).predict_proba(new)
                )
                for s in range(8)
            ]
        )
        for n in (320, 20_000)
    )
    assert many > few + 0.05


def test_poisson_posterior_is_logistic():
    rates = np.array([[2.0, 5.0], [6.0, 1.0]])
    model = NaiveBayes.from_parameters({0: {"rate": rates[:, 0]}, 1: {"rate": rates[:, 1]}}, prior={0: 0.6, 1: 0.4})
    theta, theta0 = model.linear_form()
    assert_allclose(theta, np.log(rates[1] / rates[0]), rtol=1e-12)
    assert_allclose(theta0, np.log(0.4 / 0.6) - np.sum(rates[1] - rates[0]), rtol=1e-12)
    x = np.random.default_rng(0).poisson(3.0, (50, 2))
    joint = [poisson.logpmf(x, rates[k]).sum(axis=1) + np.log([0.6, 0.4][k]) for k in (0, 1)]
    posterior = np.exp(joint[1] - logsumexp(joint, axis=0))
    assert_allclose(expit(x @ theta + theta0), posterior, rtol=1e-11)
    assert_allclose(model.predict_proba(x.astype(float))[:, 1], posterior, rtol=1e-11)


def test_shared_variance_posterior_is_logistic():
    rows, labels = gaussian_rows(500)
    theta, theta0 = NaiveBayes(Gaussian(variance="shared"), estimation="mle").fit(rows, labels).linear_form()
    means = np.array([rows[labels == k].mean(axis=0) for k in (0, 1)])
    variances = np.mean((rows - means[labels]) ** 2, axis=0)
    assert_allclose(theta, (means[1] - means[0]) / variances, rtol=1e-10)
    prior = [np.mean(labels == k) for k in (0, 1)]
    joint = [norm.logpdf(rows, means[k], np.sqrt(variances)).sum(axis=1) + np.log(prior[k]) for k in (0, 1)]
    assert_allclose(rows @ theta + theta0, joint[1] - joint[0], rtol=1e-9, atol=1e-9)


def test_exponential_posterior_is_logistic():
    model = NaiveBayes.from_parameters({0: {"mean": [1.0, 4.0]}}, prior={0: 0.5, 1: 0.5})
    theta, theta0 = model.linear_form()
    assert_allclose([theta[0], theta0], [1 / 1 - 1 / 4, np.log(1 / 4)], rtol=1e-12)
    x = np.linspace(0.1, 9, 40)
    odds = expon.logpdf(x, scale=4) - expon.logpdf(x, scale=1)
    assert_allclose(theta[0] * x + theta0, odds, rtol=1e-10, atol=1e-12)


def test_logistic_labels_do_not_make_gaussian_classes():
    rng = np.random.default_rng(5)
    x = rng.lognormal(0.0, 1.0, 100_000)
    label = (rng.random(len(x)) < expit(2 * x - 4)).astype(int)
    fitted = LogisticRegression(C=1000).fit(x[:, None], label)
    assert_allclose([fitted.coef_[0, 0], fitted.intercept_[0]], [2, -4], rtol=0.03)
    theta, theta0 = GaussianDiscriminant(estimation="mle").fit(x[:, None], label).linear_form()
    assert theta[0] < 1.2
    assert theta0 > -3.3
