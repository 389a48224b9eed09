"""The gamma and the beta-prime log-density against mpmath, far from the mean and near it."""

import mpmath
import numpy as np
import pytest

from suffice import NaiveBayes
from suffice.families import Gamma
from suffice.families.gamma import GammaParameters

SHAPES = np.array([0.01, 0.05, 0.7, 3.0, 20.0, 1e4, 1e8])
STEPS = np.array([1e-15, 1e-9, 1e-5, 1e-3, 0.0099, 0.0101, 0.03, 0.099, 0.101, 0.3, 0.499, 0.501, 0.9, 0.999])
RATIOS = np.unique([*10.0 ** np.arange(-300, 301, 50), *np.logspace(-20, 20, 41), *(1 - STEPS), *(1 + STEPS)])
FAR = [1e-323, 1e-310, 1e-200, 1e200, 1e308]


def exact(x, shape, mean, rows=None):
    """The log-density to 40 digits or more, and the size of its largest part, which limits the digits of a double."""
    with mpmath.workdps(60):
        x, a, mean = mpmath.mpf(x), mpmath.mpf(shape), mpmath.mpf(mean)
        ratio = x / mean
        gap = a * mpmath.log(a) - mpmath.loggamma(a)
        if rows is None:
            value = gap + a * mpmath.log(ratio) - a * ratio - mpmath.log(x)
        else:
            n = mpmath.mpf(rows)
            value = mpmath.loggamma(a + a * n) - mpmath.loggamma(a) - mpmath.loggamma(a * n) - mpmath.log(x)
            value += a * mpmath.log(ratio / n) - (a + a * n) * mpmath.log1p(ratio / n)
        return float(value), max(1.0, abs(float(value)), abs(float(mpmath.log(x))))


def assert_exact(found, x, parameters, with_rows):
    for i, k in np.ndindex(found.shape):
        rows = parameters.rows[k, 0] if with_rows else None
        want, size = exact(x[i], parameters.shape[k, 0], parameters.mean[k, 0], rows)
        if np.isfinite(want):
            assert abs(found[i, k] - want) <= 1e-14 * size, (x[i], parameters.shape[k, 0], found[i, k], want)
        else:
            assert found[i, k] == want


@pytest.mark.parametrize("mean", [1.0, 0.3, 1e-7])
def test_densities_have_all_digits(mean):
    x = RATIOS * mean
    parameters = GammaParameters(SHAPES[:, None], np.full((len(SHAPES), 1), mean), np.ones((len(SHAPES), 1)))
    found = Gamma().known_cells(parameters, x, 0)
    assert_exact(found, x, parameters, with_rows=False)


@pytest.mark.parametrize("rows", [1.0, 40.0, 1e6])
def test_beta_prime_densities_have_all_digits(rows):
    x = RATIOS * 0.3
    ones = np.ones((len(SHAPES), 1))
    parameters = GammaParameters(SHAPES[:, None], 0.3 * ones, rows * ones)
    found = Gamma("bayes").known_cells(parameters, x, 0)
    assert_exact(found, x, parameters, with_rows=True)


def test_numbers_whose_quotient_with_the_mean_is_no_double():
    means = np.array([[1e200], [1.0], [1e-200]])
    parameters = GammaParameters(np.full((3, 1), 0.5), means, np.full((3, 1), 20.0))
    assert_exact(Gamma().known_cells(parameters, np.array(FAR), 0), FAR, parameters, with_rows=False)


@pytest.mark.parametrize("estimation", ["mle", "map", "bayes"])
def test_rows_near_zero_have_probabilities(estimation):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 500)
    x = rng.gamma(np.where(y, 0.05, 0.1), 1.0)[:, None]
    model = NaiveBayes("gamma", estimation=estimation).fit(x, y)
    rows = np.vstack([x, [[1e-17], [1e-300], [5e-324]]])
    table = model.parameters(0)
    n = table["rows"] if estimation == "bayes" else [None, None]
    parts = zip(table["shape"], table["mean"], n, np.log(model.class_prior_), strict=True)
    joint = np.array([[exact(each, a, mean, n)[0] + log_p for each in rows[:, 0]] for a, mean, n, log_p in parts]).T
    odds = joint[:, 1] - joint[:, 0]
    wanted = 1 / (1 + np.exp(-odds))
    np.testing.assert_allclose(model.predict_proba(rows)[:, 1], wanted, rtol=1e-12)
