"""What a family states about itself holds: missing cells, its domain, and whether estimates approach the truth."""

import numpy as np
import pytest

from suffice import NaiveBayes
from suffice.exceptions import InputError, SingularCovarianceError
from suffice.families import MultivariateGaussian, family_named, family_names
from suffice.statistics import ClassAxis, Membership

NUMERIC = [name for name in family_names() if family_named(name).reads == "numbers"]
CODES = np.arange(40) % 2


@pytest.mark.parametrize("name", NUMERIC)
def test_missing_cells_are_accepted_where_stated(name):
    family = family_named(name)
    rows = np.nan_to_num(family.example(np.random.default_rng(0), CODES, 3), nan=1.0)
    rows[3, 1] = np.nan
    if family.accepts_missing:
        assert np.isfinite(NaiveBayes(name).fit(rows, CODES).predict_proba(rows)).all()
    else:
        with pytest.raises(ValueError, match=r"NaN|missing"):
            NaiveBayes(name).fit(rows, CODES)
    assert NaiveBayes(name).__sklearn_tags__().input_tags.allow_nan == family.accepts_missing


@pytest.mark.parametrize("name", NUMERIC)
def test_missing_cells_are_refused_where_stated(name):
    family, rows = family_named(name), np.ones((4, 2))
    family.check(rows, ["a", "b"])
    rows[2, 1] = np.nan
    if family.accepts_missing:
        family.check(rows, ["a", "b"])
    else:
        with pytest.raises(InputError) as caught:
            family.check(rows, ["a", "b"])
        assert caught.value.column == "b"


@pytest.mark.parametrize("name", ["exponential", "gamma", "geometric", "log_normal", "multinomial", "poisson"])
@pytest.mark.parametrize("value", [np.inf, -np.inf, -1.0])
def test_cells_outside_the_domain_are_named(name, value):
    rows = np.ones((5, 2))
    rows[3, 1] = value
    with pytest.raises(InputError) as caught:
        family_named(name).check(rows, ["a", "b"])
    assert caught.value.column == "b"
    assert list(caught.value.rows) == [3]


@pytest.mark.parametrize(
    ("family", "consistent"),
    [
        (MultivariateGaussian("own"), True),
        (MultivariateGaussian("own", mix=0.5), False),
        (MultivariateGaussian("own", shrinkage=0.3), False),
        (MultivariateGaussian("own", shrinkage="oas"), True),
    ],
    ids=repr,
)
def test_estimates_approach_the_covariance_where_stated(family, consistent):
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 2, 40_000)
    truth = np.array([[[1.0, 0.8], [0.8, 1.0]], [[1.0, -0.6], [-0.6, 2.0]]])
    rows = np.einsum("nij,nj->ni", np.linalg.cholesky(truth)[codes], rng.standard_normal((len(codes), 2)))
    members = Membership(ClassAxis.of(["a", "b"]), codes=codes)
    parameters = family.estimate(family.summarize(rows, members, ["x", "y"]), ["x", "y"])
    near = all(np.allclose(family.mean_and_covariance(parameters, k)[1], truth[k], atol=0.05) for k in (0, 1))
    assert family.consistent == near == consistent


def test_a_fixed_mix_or_shrinkage_stays():
    assert MultivariateGaussian("own").consistent
    assert MultivariateGaussian("own", shrinkage=0.0).consistent
    assert not MultivariateGaussian("own", mix=0.5).consistent


def test_a_column_that_never_varies_needs_regularisation():
    rng = np.random.default_rng(0)
    rows, codes = np.column_stack([rng.standard_normal((60, 2)), np.full(60, 7.0)]), np.arange(60) % 2
    members = Membership(ClassAxis.of(["a", "b"]), codes=codes)

    def estimated(family):
        return family.estimate(family.summarize(rows, members, list("xyz")), list("xyz"))

    with pytest.raises(SingularCovarianceError, match="rank 2 of 3"):
        estimated(MultivariateGaussian("own"))
    with pytest.warns(UserWarning, match="no variation within any class in column 'z'"):
        estimated(MultivariateGaussian("own", mix=0.1))


def test_bernoulli_posteriors_of_missing_cells():
    rng = np.random.default_rng(0)
    rows, codes = (rng.random((60, 4)) < 0.4) * 1.0, rng.integers(0, 2, 60)
    model = NaiveBayes("bernoulli").fit(rows, codes)
    holes = rows.copy()
    holes[rng.random(rows.shape) < 0.3] = np.nan
    p = np.array([model.parameters(j)["probability"] for j in range(4)]).T
    known = ~np.isnan(holes)[:, None, :]
    cells = np.where(holes[:, None, :] == 1, np.log(p), np.log1p(-p))
    joint = np.log(model.class_prior_) + np.where(known, cells, 0.0).sum(axis=2)
    expected = np.exp(joint - np.logaddexp(*joint.T)[:, None])
    np.testing.assert_allclose(model.predict_proba(holes), expected, rtol=1e-12)
