"""p(x_j | y) of one column alone."""

import numpy as np
import pandas as pd
import pytest
import scipy

from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, InputError, NaiveBayes, TextNaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.families import family_names
from suffice.model.marginals import marginal
from suffice.naive_bayes import MultinomialNB

RNG = np.random.default_rng(5)
Y = np.repeat(["a", "b"], 200)


def of(model, column, **settings):
    fitted = model.fitted_
    return marginal(fitted.estimate, fitted.layout.schema, column, **settings)


@pytest.mark.parametrize("family", ["gaussian", "log_normal", "gamma", "exponential", "histogram"])
@pytest.mark.parametrize("estimation", ["mle", "bayes"])
def test_densities_integrate_to_one(family, estimation):
    x = RNG.gamma(3.0, np.where(Y == "a", 1.0, 2.0))[:, None]
    settings = {} if family in ("histogram", "gamma") else {"estimation": estimation}
    found = of(NaiveBayes(family, **settings).fit(x, Y), 0, n_values=2001)
    area = scipy.integrate.trapezoid(found.density, found.values, axis=1)
    assert found.kind == "continuous"
    assert ((area > 0.97) & (area < 1.001)).all()


@pytest.mark.parametrize("family", ["poisson", "geometric"])
def test_counts_sum_to_one(family):
    x = RNG.poisson(np.where(Y == "a", 2.0, 9.0))[:, None].astype(float)
    found = of(NaiveBayes(family).fit(x, Y), 0)
    assert found.kind == "counts"
    assert (found.values == np.floor(found.values)).all()
    assert (found.density.sum(axis=1) > 0.98).all()


def test_a_dependent_column_has_its_marginal_density():
    x = RNG.normal(size=(400, 3)) @ RNG.normal(size=(3, 3)) + (Y == "b")[:, None]
    for model in (GaussianDiscriminant("own", estimation="mle").fit(x, Y), LinearDiscriminantAnalysis().fit(x, Y)):
        found = of(model, 1, values=[-1.0, 0.0, 2.0])
        for k, label in enumerate("ab"):
            each = model.conditional(label)
            expected = scipy.stats.norm(each.mean[1], np.sqrt(each.cov[1, 1])).pdf([-1.0, 0.0, 2.0])
            np.testing.assert_allclose(found.density[k], expected, rtol=1e-12)


def test_levels_of_a_joint_table_are_sums_over_its_cells():
    frame = pd.DataFrame({"u": RNG.choice(list("xyz"), 400), "v": RNG.choice(list("pq"), 400)})
    model = NaiveBayes({("u", "v"): "joint_table"}, smoothing=0.5).fit(frame, Y)
    found = of(model, "u")
    cells = pd.MultiIndex.from_product([list("xyz"), list("pq")], names=["u", "v"]).to_frame(index=False)
    both = np.exp([model.conditional(label).logpdf(cells) for label in "ab"])
    np.testing.assert_allclose(found.density, both.reshape(2, 3, 2).sum(axis=2), rtol=1e-12)
    assert found.values == ["x", "y", "z"]


def test_the_posterior_of_one_column_is_that_of_a_model_of_it():
    x = RNG.normal(size=(400, 1)) + (Y == "b")[:, None]
    model = NaiveBayes(prior={"a": 0.7, "b": 0.3}).fit(x, Y)
    at = np.linspace(-2, 3, 7)
    np.testing.assert_allclose(of(model, 0, values=at).posterior.T, model.predict_proba(at[:, None]), atol=1e-14)


def test_truth_values_and_times():
    frame = pd.DataFrame({"t": pd.date_range("2024-01-01", periods=400), "b": RNG.random(400) < 0.3})
    model = NaiveBayes().fit(frame, Y)
    assert of(model, "b").values == [False, True]
    assert of(model, "t").is_time
    np.testing.assert_allclose(of(model, "b").density.sum(axis=1), 1.0)


def test_values_outside_the_domain_have_no_density():
    model = NaiveBayes("log_normal").fit(RNG.gamma(2.0, size=(400, 1)), Y)
    assert (of(model, 0, values=[-1.0, 0.0]).density == 0).all()


def test_every_numeric_model_has_a_marginal():
    x = RNG.poisson(3.0, size=(400, 2)).astype(float) + 1
    for model in (
        AveragedDependence(),
        GenerativeEnsemble(),
        *(NaiveBayes(each) for each in ("binned", "categorical")),
    ):
        found = of(model.fit(x, Y), 0)
        assert np.isfinite(found.density).all()
        assert found.density.shape == (2, len(found.values))


def test_families_without_one_are_named():
    texts = ["one two", "two three", "three four", "four one"]
    with pytest.raises(InputError, match="family text has no distribution of one column"):
        of(TextNaiveBayes().fit(texts, ["x", "y", "x", "y"]), "text")
    with pytest.raises(InputError, match="family multinomial has no distribution"):
        of(MultinomialNB().fit(np.eye(4), [0, 1, 0, 1]), 0)
    with pytest.raises(InputError, match="no column 7"):
        of(NaiveBayes().fit(np.eye(4), [0, 1, 0, 1]), 7)
    assert "multinomial" in family_names()


def test_a_constant_column_has_a_grid():
    found = of(NaiveBayes().fit(np.ones((4, 1)), [0, 1, 0, 1]), 0)
    assert np.isfinite(found.density).all()
