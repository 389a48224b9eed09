"""The laws notice families that break them."""

import numpy as np
import pytest

from suffice.families import Poisson
from suffice.testing import example_rows
from suffice.testing.laws import check_estimation


class Careless(Poisson):
    """A family whose ``map`` estimate is not that of its prior."""

    def estimate(self, statistic, columns=None):
        return Poisson(self.estimation, max(self.smoothing, 5.0)).estimate(statistic, columns)


def test_the_law_of_estimation_notices_a_wrong_prior():
    rng = np.random.default_rng(0)
    check_estimation(Poisson(), example_rows(Poisson(), rng, n_rows=200), rng)
    with pytest.raises(AssertionError, match="flat prior"):
        check_estimation(Careless(), example_rows(Careless(), rng, n_rows=200), rng)
