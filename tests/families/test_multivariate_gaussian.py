"""Multivariate Gaussian blocks of columns."""

import numpy as np
import pytest

from suffice.families import MultivariateGaussian
from suffice.statistics import ClassAxis, Membership


@pytest.mark.parametrize("holes", [0.0, 0.2])
def test_a_shared_scatter_follows_from_own_ones(holes):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 3, 200)
    x = rng.standard_normal((200, 3)) + codes[:, None]
    x[rng.random(x.shape) < holes] = np.nan
    members = Membership(ClassAxis.of(["a", "b", "c"]), codes=codes, weights=rng.integers(0, 3, 200).astype(float))
    own, shared = MultivariateGaussian("own", missing="em"), MultivariateGaussian("shared", missing="em")
    derived = shared.statistic_from(own, own.summarize(x, members))
    expected = shared.summarize(x, members)
    assert derived.kinds() == expected.kinds()
    both = shared.estimate(derived), shared.estimate(expected)
    np.testing.assert_allclose(both[0].mean, both[1].mean, rtol=1e-12)
    np.testing.assert_allclose(both[0].covariance, both[1].covariance, rtol=1e-10)
    assert own.statistic_from(shared, expected) is None
    assert shared.statistic_from(MultivariateGaussian("own", missing="drop"), own.summarize(x, members)) is None
