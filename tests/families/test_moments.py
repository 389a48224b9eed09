"""The mean and variance that a family states are those of its density, and of the rows that it draws."""

import numpy as np
import pytest

from suffice.families import Bernoulli, Exponential, Gamma, Gaussian, Geometric, LogNormal, Poisson
from suffice.statistics import ClassAxis, Membership

AXIS = ClassAxis.of(["a", "b"])
CODES = np.repeat([0, 1], 8)
COUNTS = np.array([[0, 0, 1, 0, 2, 0, 1, 0, 5, 3, 8, 6, 4, 9, 2, 7]], dtype=float).T
TIMES = np.array([[1.0, 1.4, 0.7, 1.1, 0.9, 1.3, 1.2, 0.8, 30.0, 44.0, 37.0, 29.0, 51.0, 40.0, 33.0, 38.0]]).T
CASES = [
    *((Bernoulli(estimation=how), (COUNTS > 0) * 1.0) for how in ("mle", "map")),
    *((kind(estimation=how), COUNTS) for kind in (Geometric, Poisson) for how in ("mle", "map", "bayes")),
    *((kind(estimation=how), TIMES) for kind in (Exponential, Gamma, Gaussian) for how in ("mle", "map", "bayes")),
    *((LogNormal(estimation=how), TIMES) for how in ("mle", "map")),
]


def estimated(family, rows, codes=CODES):
    return family.estimate(family.summarize(rows, Membership(AXIS, codes=codes), ["x"]), ["x"])


@pytest.mark.parametrize(("family", "rows"), CASES, ids=lambda each: repr(each) if not hasattr(each, "dtype") else "")
def test_moments_are_those_of_the_density(family, rows):
    parameters = estimated(family, rows)
    for k in (0, 1):
        mean, variance = family.mean_and_variance(parameters, k)
        if rows is TIMES:
            # Substitutions that reach far tails, with points that are close where the density is.
            u = np.linspace(-20.0, 20.0, 100_001)
            x, slope = (np.sinh(u), np.cosh(u)) if family.name == "gaussian" else (np.exp(u), np.exp(u))
            p = np.exp(family.log_likelihood(parameters, mean[0] * x[:, None])[:, k]) * slope * mean[0] * (u[1] - u[0])
            x = mean[0] * x
        else:
            x = np.arange(0.0, 2.0 if family.name == "bernoulli" else 50_000.0)
            p = np.exp(family.log_likelihood(parameters, x[:, None])[:, k])
        first, second = p @ x, p @ x**2
        assert p.sum() == pytest.approx(1, rel=1e-5)
        assert mean[0] == pytest.approx(first, rel=1e-4)
        assert variance[0] == pytest.approx(second - first**2, rel=1e-2 if "bayes" in repr(family) else 1e-5)


def test_moments_that_do_not_exist_are_infinite():
    one_row = estimated(Geometric(estimation="bayes", smoothing=0.25), np.array([[2.0], [3.0]]), np.array([0, 1]))
    mean, variance = Geometric(estimation="bayes", smoothing=0.25).mean_and_variance(one_row, 0)
    assert np.isfinite(mean).all()
    assert np.isinf(variance).all()


def test_draws_of_a_small_posterior():
    # Few failures: with one pseudo-row like all rows, the failures of class a weigh less than one.
    rows = np.array([[0.0]] * 20 + [[1.0]])
    family = Geometric(estimation="bayes")
    parameters = estimated(family, rows, np.array([0] * 20 + [1]))
    assert 0 < parameters.failures[0, 0] < 1
    drawn = family.sample(parameters, np.zeros(200_000, dtype=np.int64), np.random.default_rng(0))
    mean, variance = family.mean_and_variance(parameters, 0)
    assert drawn.mean() == pytest.approx(mean[0], abs=5 * np.sqrt(variance[0] / len(drawn)))
