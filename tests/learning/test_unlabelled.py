"""Rows without labels: EM climbs, and they help where there are few labels."""

from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse

from every_estimator import ADDITIVE_DENSITY, ESTIMATORS, example, other_columns, take
from suffice import GaussianDiscriminant, InputError, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.families import (
    Bernoulli,
    Categorical,
    Exponential,
    Gamma,
    Gaussian,
    Geometric,
    JointTable,
    LogNormal,
    Multinomial,
    MultivariateGaussian,
    Poisson,
)
from suffice.naive_bayes import BernoulliNB, CategoricalNB, GaussianNB, MultinomialNB

KINDS = Bernoulli, Categorical, Exponential, Gamma, Gaussian, Geometric, JointTable, LogNormal, Multinomial, Poisson
CLIMBERS = [
    *(kind(estimation=how, smoothing=0.7) for kind in (*KINDS, MultivariateGaussian) for how in ("mle", "map")),
    Gaussian(variance="shared"),
    Gaussian(variance="shared", estimation="map"),
    MultivariateGaussian("own"),
    MultivariateGaussian("own", estimation="map", smoothing=2.0),
    Categorical(missing="category", unseen="share"),
]
OTHERS = [
    *(kind(estimation="bayes") for kind in KINDS),
    MultivariateGaussian("own", estimation="bayes"),
    MultivariateGaussian("own", shrinkage="ledoit_wolf"),
    MultivariateGaussian("shared", shrinkage=0.3),
    Gaussian(mix=0.3, divisor="unbiased"),
    Gaussian(spherical=True),
]


def rows_of(family, rng, n=300):
    """Rows of three classes, of which the first 45 have labels, in a model of that family."""
    y = np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])
    X = family.example(rng, y, 3)
    if not getattr(family, "independent", False):
        X = np.where(np.isnan(X), np.nanmean(X, axis=0).round(), X)  # holes are left out of such blocks
    model = NaiveBayes(family if getattr(family, "independent", False) else {(0, 1, 2): family})
    return model, X, y


def log_density(model, X, y, unlabelled, weight):
    """What is climbed, from the public verbs: without the density of the prior."""
    return model.log_likelihood(X, y) + weight * model.log_likelihood(unlabelled)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("family", CLIMBERS, ids=repr)
def test_the_log_likelihood_never_falls(family, seed):
    model, X, y = rows_of(family, np.random.default_rng(seed))
    model.fit(X[:45], y[:45], unlabelled=X[45:])
    steps = model.log_likelihoods_
    assert len(steps) == model.n_iter_
    assert (np.diff(steps) >= -1e-9 * np.abs(steps[:-1])).all()
    # Not because it was stopped: these estimates are the likeliest, with their prior.
    assert model.converged_, model.stop_reason_
    if family.estimation == "mle":
        np.testing.assert_allclose(log_density(model, X[:45], y[:45], X[45:], 1.0), steps[-1], rtol=1e-9)


@pytest.mark.parametrize("family", OTHERS, ids=repr)
def test_estimates_that_are_not_the_likeliest_do_not_fall_either(family):
    model, X, y = rows_of(family, np.random.default_rng(4))
    model.fit(X[:45], y[:45], unlabelled=X[45:])
    assert (np.diff(model.log_likelihoods_) >= 0).all()
    assert model.converged_ or "would lower the log-likelihood" in model.stop_reason_
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("family", [each for each in CLIMBERS if each.estimation == "map"], ids=repr)
def test_the_estimate_makes_likelihood_and_prior_largest(family):
    model, X, y = rows_of(family, np.random.default_rng(5))
    learned = model.fit(X, y).fitted_.model

    def total(smoothing):
        block = replace(learned.blocks[0], family=replace(family, smoothing=smoothing))
        found = learned.with_blocks([block]).estimate()
        likelihood = found.joint(X)[np.arange(len(y)), y].sum()
        return likelihood + family.log_prior(found.parameters[0], learned.statistics[0])

    best = total(family.smoothing)
    for other in (0.5 * family.smoothing, 1.5 * family.smoothing, 5 * family.smoothing):
        assert total(other) < best + 1e-10 * abs(best)
    assert total(20 * family.smoothing) < best - 1e-6


@pytest.mark.parametrize("name", ADDITIVE_DENSITY)
def test_every_estimator_climbs(name):
    model, X, y = example(name, np.random.default_rng(6), n=400)
    few, rest = np.arange(400) < 60, np.arange(400) >= 60
    model.fit(take(X, few), y[few], unlabelled=take(X, rest), unlabelled_weight=0.5)
    steps = model.log_likelihoods_
    assert (np.diff(steps) >= 0).all()
    if name not in ("averaged", "lsqr"):  # whose counts are smoothed, and whose covariance is shrunk
        assert model.converged_, model.stop_reason_
        assert len(steps) > 1
    assert model.classes_.tolist() == [0, 1, 2]
    again = ESTIMATORS[name][0]().fit(take(X, few), y[few])
    assert np.abs(again.predict_proba(X) - model.predict_proba(X)).max() > 1e-3
    model.fit(take(X, few), y[few])
    for attribute in ("log_likelihoods_", "n_iter_", "converged_", "stop_reason_"):
        assert not hasattr(model, attribute)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


@pytest.mark.parametrize("name", ADDITIVE_DENSITY)
def test_weights(name):
    _, X, y = example(name, np.random.default_rng(7), n=160)
    few, rest = np.arange(160) < 80, np.arange(160) >= 80
    new = ESTIMATORS[name][0]

    def fitted(unlabelled, weight, **labels):
        return (
            new().fit(take(X, few), y[few], unlabelled=unlabelled, unlabelled_weight=weight, **labels).predict_proba(X)
        )

    U = take(X, rest)
    twice = pd.concat([U, U]) if hasattr(U, "iloc") else np.concatenate([U, U])
    np.testing.assert_allclose(fitted(U, 2.0), fitted(twice, 1), atol=1e-6)
    np.testing.assert_allclose(fitted(U, np.full(80, 2.0)), fitted(U, 2.0), atol=1e-12)
    np.testing.assert_allclose(fitted(U, 0.0), new().fit(take(X, few), y[few]).predict_proba(X), atol=1e-12)
    half = np.arange(80) % 2 == 0
    np.testing.assert_allclose(fitted(U, half.astype(float)), fitted(take(U, half), 1.0), atol=1e-5)


def test_two_gaussians_with_few_labels():
    gains = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, 2020)
        X = rng.standard_normal((2020, 6)) + 0.9 * (2 * y - 1)[:, None]
        few, rest = slice(0, 20), slice(20, 2020)
        y[:4] = [0, 1, 0, 1]
        alone = GaussianDiscriminant().fit(X[few], y[few])
        both = GaussianDiscriminant().fit(X[few], y[few], unlabelled=X[rest])
        assert (np.diff(both.log_likelihoods_) >= 0).all()
        gains.append(both.score(X[rest], y[rest]) - alone.score(X[rest], y[rest]))
    assert np.mean(gains) > 0.02
    assert min(gains) > -0.01


def documents(rng, n, words=400):
    """Two topics over words of Zipf's frequencies, of which a few are commoner in one of them."""
    common = 1 / np.arange(1, words + 1)
    tilt = np.exp(rng.normal(0, 0.4, words))
    shares = np.vstack([common * tilt, common / tilt])
    shares /= shares.sum(axis=1, keepdims=True)
    y = np.concatenate([[0, 1], rng.integers(0, 2, n - 2)])
    return np.vstack([rng.multinomial(rng.integers(20, 60), shares[each]) for each in y]), y


@pytest.mark.parametrize("make", [MultinomialNB, lambda: NaiveBayes({tuple(range(400)): "multinomial"})])
def test_texts_with_few_labels(make):
    gains = []
    for seed in range(3):
        X, y = documents(np.random.default_rng(seed), 1020)
        alone = make().fit(X[:20], y[:20])
        both = make().fit(X[:20], y[:20], unlabelled=X[20:])
        steps = both.log_likelihoods_
        assert (np.diff(steps) >= 0).all()
        assert both.converged_
        gains.append(both.score(X[20:], y[20:]) - alone.score(X[20:], y[20:]))
    assert np.mean(gains) > 0.03


def test_sparse_rows_are_dense_rows():
    X, y = documents(np.random.default_rng(3), 300)
    dense = MultinomialNB().fit(X[:20], y[:20], unlabelled=X[20:])
    rows = sparse.csr_matrix(X)
    thin = MultinomialNB().fit(rows[:20], y[:20], unlabelled=rows[20:])
    np.testing.assert_allclose(dense.predict_proba(X), thin.predict_proba(rows), atol=1e-9)


@pytest.mark.parametrize("engine", [pd.DataFrame, pl.DataFrame])
def test_tables_with_holes_and_levels_that_no_labelled_row_has(engine):
    rng = np.random.default_rng(8)
    _, X, y = example("mixed", rng, n=300)
    X.loc[150:, "kind"] = rng.choice(["red", "violet", None], 150)
    columns = {name: [None if pd.isna(value) else value for value in X[name]] for name in X}
    labelled, rest = (
        engine({name: values[part] for name, values in columns.items()}) for part in (slice(0, 60), slice(60, 300))
    )
    model = NaiveBayes({"visits": "poisson"}).fit(labelled, y[:60], unlabelled=rest)
    assert model.converged_
    assert "violet" in model.parameters("kind")["level"]
    assert model.score(rest, y[60:]) > 0.5


def test_levels_of_unlabelled_rows_are_learned_whatever_unseen_says():
    labelled, rest = pd.DataFrame({"kind": ["a", "b"] * 4}), pd.DataFrame({"kind": ["c", "a", "b", "c"]})
    model = NaiveBayes(unseen="error").fit(labelled, [0, 1] * 4, unlabelled=rest)
    assert model.parameters("kind")["level"] == ["a", "b", "c"]
    with pytest.raises(InputError, match=r"row 0 holds 3"):
        NaiveBayes().fit(labelled, [0, 1] * 4, unlabelled=pd.DataFrame({"kind": pd.Series([3], dtype="category")}))


def test_a_row_that_no_class_explains_yet():
    labelled = np.array([[1.0, 0], [1, 0], [0, 0], [0, 0]])
    rest = np.array([[1.0, 1], [1, 1], [0, 1], [0, 0]])  # no labelled row has a 1 in the second column
    model = NaiveBayes("bernoulli", estimation="mle").fit(labelled, ["a", "a", "b", "b"], unlabelled=rest)
    assert np.isfinite(model.log_likelihoods_).all()
    assert model.predict(rest[:1]).tolist() == ["a"]


@pytest.mark.parametrize("apart", [20.0, 38.0, 39.0, 1e3])
@pytest.mark.parametrize(
    "make", [lambda: GaussianDiscriminant("own"), NaiveBayes, GaussianNB, QuadraticDiscriminantAnalysis]
)
def test_a_class_that_no_unlabelled_row_belongs_to(make, apart):
    rng = np.random.default_rng(12)
    near, far = rng.standard_normal((30, 2)), rng.standard_normal((30, 2)) + apart
    model = make().fit(np.vstack([near[:10], far]), [0] * 10 + [1] * 30, unlabelled=near[10:])
    known = make().fit(np.vstack([near, far]), [0] * 30 + [1] * 30)
    assert model.converged_
    np.testing.assert_allclose(model.predict_proba(near * 10), known.predict_proba(near * 10), atol=1e-6)


def test_streams_go_on():
    model, X, y = example("own", np.random.default_rng(9), n=300)
    model.fit(X[:60], y[:60], unlabelled=X[60:200])
    whole = model.class_count_.sum()
    assert whole == pytest.approx(200)
    model.partial_fit(X[200:], y[200:]).remove(X[200:], y[200:])
    assert model.class_count_.sum() == pytest.approx(200)
    assert GaussianDiscriminant("own").fit(X, y).merge(model).class_count_.sum() == pytest.approx(500)


def test_warnings_are_of_the_last_model_only():
    rng = np.random.default_rng(10)
    X, y = rng.standard_normal((100, 8)), np.arange(100) % 2
    with np.testing.assert_no_warnings():  # six labelled rows alone span less than eight columns
        GaussianDiscriminant().fit(X[:6], y[:6], unlabelled=X[6:])


@pytest.mark.parametrize("name", ADDITIVE_DENSITY)
def test_bad_input(name):
    model, X, y = example(name, np.random.default_rng(11))
    model.fit(X, y)
    for unlabelled, weight, message in [
        (take(X, []), 1.0, "unlabelled holds no rows"),
        (X, -1.0, "at least 0, got -1.0"),
        (X, np.nan, "at least 0, got nan"),
        (X, True, "at least 0"),
        (X, "much", "at least 0"),
        (X, [1.0, 2.0], "one for each of the 120 unlabelled rows"),
        (X, np.where(np.arange(120) == 7, -1.0, 1.0), "in row 7"),
        (5, 1.0, "rows in two dimensions|a column of texts; got"),
    ]:
        with pytest.raises(InputError, match=message):
            model.fit(X, y, unlabelled=unlabelled, unlabelled_weight=weight)
    with pytest.raises(ValueError, match=r"feature|column"):
        model.fit(X, y, unlabelled=other_columns(X))


def test_values_that_are_none():
    X, y = np.array([[0.0], [1.0], [5.0], [7.0]]), [0, 0, 1, 1]
    with pytest.raises(ValueError, match="NaN"):
        GaussianDiscriminant(missing="error").fit(X, y, unlabelled=[[np.nan]])
    for model in (GaussianDiscriminant(), LinearDiscriminantAnalysis(), GaussianNB(), NaiveBayes()):
        with pytest.raises(ValueError, match="infinity"):
            model.fit(X, y, unlabelled=[[np.inf]])
    with pytest.raises(ValueError, match="Negative values"):
        MultinomialNB().fit([[1, 2], [3, 0]], [0, 1], unlabelled=[[-1, 2]])
    with pytest.raises(ValueError, match="Negative values"):
        CategoricalNB().fit([[1, 2], [3, 0]], [0, 1], unlabelled=[[-1, 2]])
    with pytest.raises(InputError, match=r"row 0 holds 0\.5"):
        NaiveBayes("poisson").fit(X, y, unlabelled=[[0.5]])
    with pytest.raises(TypeError, match="not labels"):
        QuadraticDiscriminantAnalysis().fit(X, y, labels=X)


def test_categories_beyond_those_with_labels():
    model = CategoricalNB().fit([[0], [1], [0], [1]], [0, 1, 0, 1], unlabelled=[[3], [0], [1]])
    assert model.n_categories_.tolist() == [4]
    assert BernoulliNB().fit([[0, 1], [1, 0]], [0, 1], unlabelled=[[1, 1]]).n_iter_ >= 1


def test_no_unlabelled_rows_leave_the_model_as_it_was():
    rng = np.random.default_rng(30)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 2
    for model in (NaiveBayes(), GaussianNB(), GaussianDiscriminant()):
        before = model.fit(X, y).predict_proba(X)
        for options in ({"unlabelled": X[:0]}, {"unlabelled": X, "unlabelled_weight": -1.0}):
            with pytest.raises(InputError, match=r"no rows|weight"):
                model.fit(X, y, **options)
            np.testing.assert_array_equal(model.predict_proba(X), before)
