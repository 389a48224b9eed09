"""Samples drawn and refitted give the parameters back within their standard errors."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine

from suffice import ClassError, GaussianDiscriminant, InputError, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.families import Gaussian
from suffice.naive_bayes import GaussianNB

textbook_discriminant = partial(GaussianDiscriminant, estimation="mle")

N = 40_000


def within_errors(found, expected, error):
    """Each entry within five standard errors: one false alarm in two million entries."""
    assert np.all(np.abs(found - expected) <= 5 * error)


def covariance_error(sigma, n):
    """Standard error of each entry of a Gaussian sample's covariance."""
    variance = np.diagonal(sigma)
    return np.sqrt((np.multiply.outer(variance, variance) + sigma**2) / n)


@pytest.mark.parametrize("covariance", ["shared", "own"])
@pytest.mark.parametrize("shape", ["full", "diagonal", "spherical"])
@pytest.mark.parametrize("seed", range(3))
def test_gaussian_discriminant(covariance, shape, seed):
    X, y = load_wine(return_X_y=True)
    prior = [0.2, 0.3, 0.5]
    model = GaussianDiscriminant(covariance, shape=shape, prior=prior).fit(X, y)
    drawn, labels = model.sample(N, random_state=seed)
    again = GaussianDiscriminant(covariance, shape=shape).fit(drawn, labels)
    within_errors(again.class_prior_, prior, np.sqrt(np.array(prior) * (1 - np.array(prior)) / N))
    for k in range(3):
        n = again.class_count_[k]
        sigma = model.conditional(k).cov
        within_errors(again.means_[k], model.means_[k], np.sqrt(np.diagonal(sigma) / n))
        if covariance == "own":
            within_errors(again.covariance_[k], sigma, covariance_error(sigma, n))
    if covariance == "shared":
        within_errors(again.covariance_, model.covariance_, covariance_error(model.covariance_, N))


@pytest.mark.parametrize("variance", ["own", "shared"])
def test_naive_bayes(variance):
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes(Gaussian(variance=variance)).fit(X, y)
    drawn, labels = model.sample(N, random_state=0)
    again = NaiveBayes(Gaussian(variance=variance)).fit(drawn, labels)
    n = again.class_count_[:, None]
    within_errors(again.means_, model.means_, np.sqrt(model.variances_ / n))
    within_errors(again.variances_, model.variances_, model.variances_ * np.sqrt(2 / n))


@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(),
        GaussianDiscriminant(),
        GaussianNB(),
        LinearDiscriminantAnalysis(),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage=0.1),
        QuadraticDiscriminantAnalysis(),
    ],
    ids=repr,
)
def test_one_class_and_seeds(model):
    X, names = load_iris(return_X_y=True)
    y = np.array(["setosa", "versicolor", "virginica"])[names]
    model.fit(X, y)
    drawn, labels = model.sample(3000, label="versicolor", random_state=1)
    assert drawn.shape == (3000, 4)
    assert set(labels) == {"versicolor"}
    spread = np.sqrt(np.diagonal(model.conditional("versicolor").cov))
    within_errors(drawn.mean(axis=0), model.conditional("versicolor").mean, spread / np.sqrt(3000))
    np.testing.assert_array_equal(model.sample(5, random_state=7)[0], model.sample(5, random_state=7)[0])
    assert not np.array_equal(model.sample(5)[0], model.sample(5)[0])
    assert model.sample(0)[0].shape == (0, 4)
    old = model.sample(2, random_state=np.random.RandomState(0))[0]
    np.testing.assert_array_equal(old, model.sample(2, random_state=np.random.RandomState(0))[0])
    rows = model.conditional("setosa").rvs(6, random_state=0)
    assert rows.shape == (6, 4)
    assert model.conditional("setosa").rvs().shape == (4,)
    with pytest.raises(ClassError, match="'rose' is not a class"):
        model.sample(1, label="rose")
    with pytest.raises(ClassError, match="is not a class"):
        model.conditional(["setosa"])
    for n in (-1, 2.5, True, "3"):
        with pytest.raises(InputError, match="n_samples"):
            model.sample(n)


def test_samples_of_a_singular_model_stay_in_its_subspace():
    X, y = load_iris(return_X_y=True)
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.full(150, 2.5)])
    with pytest.warns(UserWarning, match="rank 4"):
        model = textbook_discriminant().fit(X, y)
    drawn, _ = model.sample(100, random_state=0)
    np.testing.assert_allclose(drawn[:, 4], drawn[:, 0] - drawn[:, 1], atol=1e-7)
    np.testing.assert_array_equal(drawn[:, 5], 2.5)
