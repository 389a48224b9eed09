"""Models whose families have priors with given numbers: fit, merge, tune, hold out, and learn from unlabelled rows."""

import numpy as np
import pandas as pd
import pytest

import suffice
from suffice import GaussianDiscriminant, InputError, NaiveBayes
from suffice.families import (
    Bernoulli,
    Beta,
    Categorical,
    Dirichlet,
    GammaRate,
    Gaussian,
    MultivariateGaussian,
    NormalInverseGamma,
    NormalInverseWishart,
    Poisson,
)
from suffice.model_selection import leave_one_out

RNG = np.random.default_rng(3)
N = 40
FRAME = pd.DataFrame(
    {
        "age": RNG.normal(40, 8, N),
        "colour": RNG.choice(["red", "blue"], N),
        "member": RNG.integers(0, 2, N).astype(bool),
        "visits": RNG.poisson(3, N),
        "u": RNG.normal(size=N),
        "v": RNG.normal(size=N),
    }
)
Y = np.array(["no", "yes"])[np.arange(N) % 2]
FAMILIES = {
    "age": Gaussian(
        estimation="map",
        conjugate_prior={"no": NormalInverseGamma(35, 64, 5), "yes": NormalInverseGamma(45, 64, 5, 20)},
    ),
    "colour": Categorical(conjugate_prior=Dirichlet({"red": 3, "green": 1})),
    "member": Bernoulli(conjugate_prior=Beta(2, 8)),
    "visits": Poisson(conjugate_prior=GammaRate(10, 4)),
    ("v", "u"): MultivariateGaussian(estimation="map", conjugate_prior=NormalInverseWishart([9, -9], 1, 0.5)),
}


def test_merge_is_fit():
    whole = NaiveBayes(FAMILIES).fit(FRAME, Y)
    parts = [NaiveBayes(FAMILIES).fit(FRAME[rows], Y[rows]) for rows in (slice(0, 7), slice(7, None))]
    assert np.abs(suffice.merge(parts).predict_proba(FRAME) - whole.predict_proba(FRAME)).max() < 1e-12


def test_the_first_of_merged_models_gives_the_prior():
    other = FAMILIES | {"member": Bernoulli(conjugate_prior=Beta(50, 1))}
    first, second = NaiveBayes(FAMILIES).fit(FRAME[:20], Y[:20]), NaiveBayes(other).fit(FRAME[20:], Y[20:])
    merged, whole = suffice.merge([first, second]), NaiveBayes(FAMILIES).fit(FRAME, Y)
    assert np.abs(merged.predict_proba(FRAME) - whole.predict_proba(FRAME)).max() < 1e-12


def test_tuning_leaves_given_priors():
    rest = {name: family for name, family in FAMILIES.items() if name != "visits"}
    tuned = NaiveBayes(rest | {"visits": "poisson"}, smoothing="auto").fit(FRAME, Y)
    assert tuned.families_["member"] == FAMILIES["member"]
    assert tuned.families_["visits"] != Poisson()
    rows, prior, found = FRAME[["u", "v"]], NormalInverseWishart(0, 1, 3), []
    for smoothing in ("auto", 9.0):
        model = GaussianDiscriminant(estimation="map", smoothing=smoothing, conjugate_prior=prior).fit(rows, Y)
        found.append(model.predict_proba(rows))
    assert np.array_equal(*found)


def test_leave_one_out_is_refitting():
    found = leave_one_out(NaiveBayes(FAMILIES), FRAME, Y)
    for i in (0, 7, 39):
        rest = np.delete(np.arange(N), i)
        expected = NaiveBayes(FAMILIES).fit(FRAME.iloc[rest], Y[rest]).predict_proba(FRAME.iloc[[i]])[0]
        np.testing.assert_allclose(found[i], expected, atol=1e-9)


def test_columns_of_a_block_have_the_order_of_its_key():
    strong = {("v", "u"): MultivariateGaussian(estimation="map", conjugate_prior=NormalInverseWishart([9, -9], 1, 1e9))}
    drawn, _ = NaiveBayes(strong).fit(FRAME[["u", "v"]], Y).sample(200, random_state=0)
    assert drawn["v"].mean() > 8
    assert drawn["u"].mean() < -8


def test_unlabelled_rows_raise_the_objective():
    model = NaiveBayes(FAMILIES).fit(FRAME[:10], Y[:10], unlabelled=FRAME[10:])
    assert (np.diff(model.log_likelihoods_) > -1e-9).all()


def test_evidence_of_a_model_is_that_of_its_families():
    given = NaiveBayes(Bernoulli(conjugate_prior=Beta(1, 1))).fit(FRAME[["member"]], Y).log_marginal_likelihood()
    laplace = NaiveBayes(Bernoulli()).fit(FRAME[["member"]], Y).log_marginal_likelihood()
    assert given == laplace


def test_discriminants():
    X = FRAME[["u", "v"]].to_numpy()
    prior = NormalInverseWishart([0.5, 0], [[1, 0.3], [0.3, 1]], 4, 6)
    for covariance in ("shared", "own"):
        model = GaussianDiscriminant(covariance, estimation="map", conjugate_prior=prior).fit(X, Y)
        rows = X[Y == "no"]
        mean = (rows.sum(axis=0) + 4 * np.array([0.5, 0])) / (len(rows) + 4)
        np.testing.assert_allclose(model.fitted_.estimate.parameters[0].mean[0], mean, rtol=1e-13)
    diagonal = GaussianDiscriminant(shape="diagonal", estimation="map", conjugate_prior=NormalInverseGamma(0, 1, 3))
    naive = NaiveBayes(Gaussian("shared", estimation="map", floor=0.0, conjugate_prior=NormalInverseGamma(0, 1, 3)))
    assert np.allclose(diagonal.fit(X, Y).predict_proba(X), naive.fit(X, Y).predict_proba(X), atol=1e-13)


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (GaussianDiscriminant(conjugate_prior=NormalInverseWishart(0, 1, 3)), "estimation='mle' has no prior"),
        (
            GaussianDiscriminant(estimation="map", conjugate_prior=NormalInverseWishart([0, 0, 0], 1, 3)),
            "is for 3 columns, but there are 2",
        ),
        (
            GaussianDiscriminant(shape="diagonal", estimation="map", conjugate_prior=NormalInverseWishart(0, 1, 3)),
            "must be a NormalInverseGamma, or a mapping",
        ),
        (GaussianDiscriminant(estimation="map", conjugate_prior=5), "must be a NormalInverseWishart, or a mapping"),
        (NaiveBayes(Gaussian(estimation="map", conjugate_prior={"no": NormalInverseGamma(0, 1, 1)})), "class 'yes'"),
    ],
)
def test_bad_settings(model, message):
    with pytest.raises(InputError, match=message):
        model.fit(FRAME[["u", "v"]], Y)
