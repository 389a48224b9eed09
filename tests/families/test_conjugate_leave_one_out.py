"""Leave-one-out scores of covariances with a prior, against the model that is estimated without the row."""

import numpy as np
import pytest

from suffice.families import MultivariateGaussian
from suffice.statistics import ClassAxis, Membership

N, D, K = 40, 4, 3


def rows(seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(N) % K
    mixing = rng.standard_normal((D, D)) + 2 * np.eye(D)
    x = (rng.standard_normal((N, D)) @ mixing + rng.standard_normal((K, D))[codes]) * [1e-3, 1.0, 1.0, 1e4] + 1e3
    return x, codes


def found_and_expected(family, x, codes, weights=None):
    axis = ClassAxis.of(list(range(K)))
    members = Membership(axis, codes=codes, weights=weights)
    whole = family.summarize(x, members)
    found = family.leave_one_out(whole, family.estimate(whole), x, members, range(D))
    expected = np.empty((len(x), K))
    for i in range(len(x)):
        rest = np.arange(len(x)) != i
        without = family.estimate(family.summarize(x[rest], members.take(rest)))
        expected[i] = family.log_likelihood(without, x[i : i + 1])[0]
    return found, expected


@pytest.mark.parametrize("smoothing", [0.0, 0.2, 5.0])
@pytest.mark.parametrize("estimation", ["map", "bayes"])
@pytest.mark.parametrize("covariance", ["shared", "own"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_score_of_a_row_is_that_of_the_model_without_it(covariance, estimation, smoothing, weighted):
    x, codes = rows()
    weights = np.where(np.arange(N) % 4 < 2, 1.0, 2.5) if weighted else None
    family = MultivariateGaussian(covariance, estimation=estimation, smoothing=smoothing)
    found, expected = found_and_expected(family, x, codes, weights)
    assert np.isfinite(found).all()  # every row has a closed form
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_rows_with_missing_cells_do_not_change_the_model():
    x, codes = rows(1)
    x[::7, 2] = np.nan
    found, expected = found_and_expected(MultivariateGaussian("own", estimation="bayes", missing="drop"), x, codes)
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_rows_without_a_closed_form_are_nan():
    x, codes = rows(2)
    codes = np.where(codes == 2, 0, codes)
    codes[5] = 2  # the only row of its class
    axis = ClassAxis.of(list(range(K)))
    for covariance in ("shared", "own"):
        family = MultivariateGaussian(covariance, estimation="map")
        members = Membership(axis, codes=codes)
        whole = family.summarize(x, members)
        found = family.leave_one_out(whole, family.estimate(whole), x, members, range(D))
        assert np.flatnonzero(np.isnan(found).any(axis=1)).tolist() == [5]


@pytest.mark.parametrize("case", ["many weights", "singular"])
def test_models_without_a_closed_form(case):
    x, codes = rows(3)
    weights = np.linspace(1, 2, N) if case == "many weights" else None
    if case == "singular":
        x[:, 1] = 2 * x[:, 0]
    family = MultivariateGaussian(estimation="map")
    members = Membership(ClassAxis.of(list(range(K))), codes=codes, weights=weights)
    whole = family.summarize(x, members)
    with pytest.warns(match="") if case == "singular" else np.errstate():
        parameters = family.estimate(whole)
    assert family.leave_one_out(whole, parameters, x, members, range(D)) is None
