"""Leave-one-out scores with a shrunk covariance of all classes, against the model that is estimated without the row."""

import numpy as np
import pytest

from suffice.families import MultivariateGaussian
from suffice.families.multivariate_gaussian.shrunk_leave_one_out import MOST_ROWS
from suffice.statistics import ClassAxis, Membership

N, K = 40, 3
AXIS = ClassAxis.of(list(range(K)))


def rows(d, seed=0):
    rng = np.random.default_rng(seed)
    codes = np.arange(N) % K
    mixing = rng.standard_normal((d, d)) + 2 * np.eye(d)
    scale = 10.0 ** rng.integers(-3, 4, d)
    return (rng.standard_normal((N, d)) @ mixing + rng.standard_normal((K, d))[codes]) * scale + 1e3, codes


def found_and_expected(family, x, codes, weights=None):
    """Scores relative to the first class: the term that the classes share is omitted."""
    members = Membership(AXIS, codes=codes, weights=weights)
    whole = family.summarize(x, members)
    found = family.leave_one_out(whole, family.estimate(whole), x, members, range(x.shape[1]))
    expected = np.empty((len(x), K))
    for i in range(len(x)):
        rest = np.arange(len(x)) != i
        without = family.estimate(family.summarize(x[rest], members.take(rest)))
        expected[i] = family.log_likelihood(without, x[i : i + 1])[0]
    return found - found[:, :1], expected - expected[:, :1]


SETTINGS = [
    {"shrinkage": "oas"},
    {"shrinkage": 0.3},
    {"shrinkage": 1.0},
    {"shrinkage": "oas", "divisor": "unbiased"},
    {"shrinkage": "oas", "covariance": "own", "mix": 1.0},
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize("d", [1, 4, 70])
def test_the_score_of_a_row_is_that_of_the_model_without_it(settings, d):
    x, codes = rows(d)
    found, expected = found_and_expected(MultivariateGaussian(**settings), x, codes)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_rows_have_weights():
    x, codes = rows(4)
    weights = np.where(np.arange(N) % 4 < 2, 1.0, 2.5)
    found, expected = found_and_expected(MultivariateGaussian(shrinkage="oas"), x, codes, weights)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.filterwarnings("ignore")
def test_a_constant_column_says_nothing():
    x, codes = rows(4)
    x[:, 1] = 7.0
    found, expected = found_and_expected(MultivariateGaussian(shrinkage="oas"), x, codes)
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-8)


def test_rows_that_lose_digits_are_nan():
    x, codes = rows(4)
    x[:, 1] = 7.0
    x[5, 1] = 8.0  # without this row, the column is constant
    codes = np.where(codes == 2, 0, codes)
    codes[6] = 2  # the only row of its class
    members = Membership(AXIS, codes=codes)
    family = MultivariateGaussian(shrinkage="oas")
    whole = family.summarize(x, members)
    found = family.leave_one_out(whole, family.estimate(whole), x, members, range(4))
    assert np.flatnonzero(np.isnan(found).any(axis=1)).tolist() == [5, 6]


@pytest.mark.parametrize("settings", [{"shrinkage": "ledoit_wolf"}, {"shrinkage": "oas", "covariance": "own"}], ids=str)
def test_other_shrunk_covariances_have_no_closed_form(settings):
    x, codes = rows(2)
    members = Membership(AXIS, codes=codes)
    family = MultivariateGaussian(**settings)
    whole = family.summarize(x, members)
    assert family.leave_one_out(whole, family.estimate(whole), x, members, range(2)) is None


def test_many_rows_are_held_out_in_folds():
    rng = np.random.default_rng(0)
    for n, few in ((MOST_ROWS, True), (MOST_ROWS + 1, False)):
        x, members = rng.standard_normal((n, 2)), Membership(AXIS, codes=np.arange(n) % K)
        family = MultivariateGaussian(shrinkage="oas")
        whole = family.summarize(x, members)
        found = family.leave_one_out(whole, family.estimate(whole), x, members, range(2))
        assert (found is not None) == few
