"""Even draws are the quantiles of each distribution, as SciPy knows them."""

import numpy as np
import pytest
from scipy import stats

from suffice.numerics.even_draws import EvenDraws

N = 2_000
CASES = {
    "random": ((N, 1), stats.uniform()),
    "standard_normal": ((N, 1), stats.norm()),
    "standard_t": (np.full((N, 1), 3.5), stats.t(3.5)),
    "gamma": (np.full((N, 1), 0.7), stats.gamma(0.7)),
    "exponential": (np.full((N, 1), 2.5), stats.expon(scale=2.5)),
    "geometric": (np.full((N, 1), 0.3), stats.geom(0.3)),
    "poisson": (np.full((N, 1), 4.2), stats.poisson(4.2)),
}


@pytest.mark.parametrize("name", CASES)
def test_draws_are_quantiles(name):
    argument, distribution = CASES[name]
    drawn = np.sort(getattr(EvenDraws(np.zeros(N, dtype=np.int64), np.random.default_rng(0)), name)(argument)[:, 0])
    # The points are (i + shift)/n with a shift between 0 and 1.
    low, high = distribution.ppf(np.arange(N) / N), distribution.ppf((np.arange(N) + 1) / N)
    assert ((low <= drawn + 1e-9) & (drawn <= high + 1e-9)).all()


def test_beta_draws_are_quantiles():
    a, b = np.full((N, 1), 0.5), np.full((N, 1), 3.0)
    drawn = np.sort(EvenDraws(np.zeros(N, dtype=np.int64), np.random.default_rng(0)).beta(a, b)[:, 0])
    points = stats.beta(0.5, 3.0).cdf(drawn) * N - np.arange(N)
    assert ((points >= -1e-6) & (points <= 1 + 1e-6)).all()


def test_second_draws_are_even_and_unlike_the_first():
    draws = EvenDraws(np.zeros(N, dtype=np.int64), np.random.default_rng(0))
    first, second = draws.random((N, 1))[:, 0], draws.random((N, 1))[:, 0]
    assert abs(np.corrcoef(first, second)[0, 1]) < 0.05
    assert np.abs(np.sort(second) - (np.arange(N) + 0.5) / N).max() < 0.01


def test_each_class_has_its_own_points():
    codes = np.arange(N) % 2
    drawn = EvenDraws(codes, np.random.default_rng(0)).standard_normal((N, 1))[:, 0]
    for k in (0, 1):
        assert abs(drawn[codes == k].mean()) < 0.01
        assert drawn[codes == k].std() == pytest.approx(1, abs=0.02)
