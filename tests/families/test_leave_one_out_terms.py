"""Leave-one-out scores of all columns at once are those of each column alone."""

import numpy as np
import pytest

from suffice.families import Gamma, Gaussian, Histogram, LogNormal, Poisson
from suffice.statistics import ClassAxis, Membership

MAP = {"estimation": "map", "smoothing": 1.0}
FAMILIES = [Gaussian(**MAP), LogNormal(**MAP), Gamma(**MAP), Gamma(), Histogram()]


def _alone(family, x, members, j):
    own = x[:, [j]]
    statistic = family.summarize(own, members, ["c"])
    return family.leave_one_out(statistic, family.estimate(statistic, ["c"]), own, members, ["c"])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("family", FAMILIES, ids=str)
def test_terms_are_those_of_each_column_alone(family, weighted):
    rng = np.random.default_rng(1)
    codes = np.r_[0, 1, 2, rng.integers(0, 3, 60)]
    x = family.example(rng, codes, 4)
    x[:, 3] = np.where(codes == 0, 2.0, x[:, 3])  # a class without spread: its variance is near the floor
    members = Membership(
        ClassAxis.of(["a", "b", "c"]), codes=codes, weights=rng.uniform(0.5, 2, len(x)) if weighted else None
    )
    names = list("wxyz")
    statistic = family.summarize(x, members, names)
    found = family.leave_one_out_terms(statistic, family.estimate(statistic, names), x, members, names)
    assert found.shape == (63, 3, 4)
    for j in range(4):
        alone = _alone(family, x, members, j)
        np.testing.assert_allclose(found[:, :, j], alone, rtol=1e-9, atol=1e-9 * np.nanmax(np.abs(alone)))


def test_an_outlier_that_is_most_of_a_variance_is_estimated_again():
    rng = np.random.default_rng(2)
    x = rng.normal(size=(50, 2))
    x[7, 1] = 1e9
    members = Membership(ClassAxis.of(["a", "b"]), codes=np.arange(50) % 2)
    family = Gaussian(**MAP)
    statistic = family.summarize(x, members, [0, 1])
    found = family.leave_one_out_terms(statistic, family.estimate(statistic), x, members, [0, 1])
    np.testing.assert_allclose(found[:, :, 1], _alone(family, x, members, 1), rtol=1e-9)
    assert found[7, 1, 1] < found[:7, 1, 1].min()


def test_families_without_a_faster_way_have_none():
    family = Poisson()
    x, members = np.ones((2, 2)), Membership(ClassAxis.of(["a"]), codes=np.array([0, 0]))
    statistic = family.summarize(x, members)
    assert family.leave_one_out_terms(statistic, family.estimate(statistic), x, members, [0, 1]) is None
