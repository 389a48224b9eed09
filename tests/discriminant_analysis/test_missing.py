"""`GaussianDiscriminant` with missing cells."""

import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.base import clone
from sklearn.datasets import load_iris

from suffice import GaussianDiscriminant, InputError, MergeError, NaiveBayes, load
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.exceptions import ConvergenceWarning
from suffice.families import MultivariateGaussian
from suffice.families.multivariate_gaussian import missing_cells
from suffice.model_selection import leave_one_out

WHOLE, Y = load_iris(return_X_y=True)
X = WHOLE.copy()
X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
X[7] = np.nan


@pytest.mark.parametrize("covariance", ["shared", "own"])
def test_a_row_has_the_distribution_of_its_cells(covariance):
    model = GaussianDiscriminant(covariance).fit(X, Y)
    joint = np.empty((len(X), 3))
    for i, row in enumerate(X):
        o = ~np.isnan(row)
        for k in range(3):
            sigma = model.covariance_ if covariance == "shared" else model.covariance_[k]
            known = stats.multivariate_normal(model.means_[k, o], sigma[np.ix_(o, o)]) if o.any() else None
            joint[i, k] = np.log(1 / 3) + (0.0 if known is None else known.logpdf(row[o]))
    np.testing.assert_allclose(model.predict_joint_log_proba(X), joint, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.score_samples(X), np.logaddexp.reduce(joint, axis=1), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X[7:8]), [[1 / 3] * 3])
    assert (model.predict(X) == joint.argmax(axis=1)).all()
    drawn, _ = model.sample(20, random_state=0)
    assert np.isfinite(drawn).all()


@pytest.mark.parametrize("covariance", ["shared", "own"])
def test_parts_of_an_explanation_sum_to_the_log_odds(covariance):
    model = GaussianDiscriminant(covariance).fit(X, Y)
    found = model.explain(X, label=2, against=1)
    odds = model.predict_joint_log_proba(X)
    np.testing.assert_allclose(found.parts.sum(axis=1), odds[:, 2] - odds[:, 1], rtol=1e-8, atol=1e-9)
    at = [found.names.index(j) for j in range(4)]
    assert (found.parts[:, at][np.isnan(X)] == 0).all()


@pytest.mark.parametrize("settings", [{}, {"covariance": "own"}, {"shape": "diagonal"}, {"shape": "spherical"}])
@pytest.mark.parametrize("missing", ["em", "drop"])
def test_streams_merges_and_removals_are_one_model(settings, missing, tmp_path):
    def new():
        return GaussianDiscriminant(**settings, missing=missing)

    weights = np.random.default_rng(1).integers(1, 4, len(Y)).astype(float)
    whole = new().fit(X, Y, sample_weight=weights)
    stream = new()
    for at in np.array_split(np.random.default_rng(2).permutation(len(Y)), 6):
        stream.partial_fit(X[at], Y[at], classes=[0, 1, 2], sample_weight=weights[at])
    halves = new().fit(X[::2], Y[::2], sample_weight=weights[::2])
    halves.merge(new().fit(X[1::2], Y[1::2], sample_weight=weights[1::2]))
    more = new().fit(np.vstack([X, X[:30]]), np.append(Y, Y[:30]), sample_weight=np.append(weights, np.ones(30)))
    more.remove(X[:30], Y[:30])
    whole.save(tmp_path / "m")
    for model in (stream, halves, more, load(tmp_path / "m")):
        np.testing.assert_allclose(model.predict_proba(X), whole.predict_proba(X), rtol=1e-8, atol=1e-12)
    if missing == "drop":
        kept = ~np.isnan(X).any(axis=1)
        only = new().fit(X[kept], Y[kept], sample_weight=weights[kept])
        np.testing.assert_allclose(whole.means_, only.means_, rtol=1e-12)
        np.testing.assert_allclose(whole.covariance_, only.covariance_, rtol=1e-12, atol=1e-15)


def test_rows_are_streamed_one_by_one():
    stream = GaussianDiscriminant()
    for row, label in zip(X[45:105], Y[45:105], strict=True):
        stream.partial_fit(row[None], [label], classes=[0, 1, 2])
    whole = GaussianDiscriminant().fit(X[45:105], Y[45:105])
    np.testing.assert_allclose(stream.predict_proba(X), whole.predict_proba(X), rtol=1e-8, atol=1e-12)


def test_decay_keeps_the_estimates():
    model = GaussianDiscriminant(estimation="mle").fit(X, Y)
    before = model.covariance_
    np.testing.assert_allclose(model.decay(0.5).covariance_, before, rtol=1e-8)


def test_leave_one_out_is_a_fit_without_the_row():
    rows = np.flatnonzero(np.arange(len(Y)) % 5 == 0)
    x, y = X[rows], Y[rows]
    found = leave_one_out(GaussianDiscriminant(), x, y)
    for i in (0, 7, 20):
        rest = np.arange(len(y)) != i
        expected = GaussianDiscriminant().fit(x[rest], y[rest]).predict_proba(x[i : i + 1])[0]
        np.testing.assert_allclose(found[i], expected, rtol=1e-7, atol=1e-12)
    calibrated = GaussianDiscriminant(calibrate=True).fit(x, y)
    assert np.isfinite(calibrated.predict_proba(x)).all()


def test_the_projection_of_a_row_is_expected():
    model = GaussianDiscriminant("own").fit(X, Y)
    found = model.transform(X)
    assert np.isfinite(found).all()
    whole = ~np.isnan(X).any(axis=1)
    np.testing.assert_array_equal(found[whole], model.transform(X[whole]))
    np.testing.assert_allclose(found[7], 0.0, atol=1e-12)
    drawn, _ = model.sample(100_000, random_state=0)
    near = np.abs(drawn[:, 2] - 4.0) < 0.05
    expected = model.transform([[np.nan, np.nan, 4.0, np.nan]])[0]
    np.testing.assert_allclose(model.transform(drawn[near]).mean(axis=0), expected, atol=0.1)


def test_a_block_of_naive_bayes():
    plain = GaussianDiscriminant(estimation="mle").fit(X, Y)
    block = NaiveBayes({(0, 1, 2, 3): "multivariate_gaussian"}, estimation="mle").fit(X, Y)
    np.testing.assert_allclose(block.predict_proba(X), plain.predict_proba(X), rtol=1e-9, atol=1e-12)
    drop = NaiveBayes({(0, 1, 2, 3): MultivariateGaussian(missing="drop")}).fit(X, Y)
    assert np.abs(drop.predict_proba(X) - plain.predict_proba(X)).max() > 1e-3


def test_what_is_refused():
    with pytest.raises(InputError, match=r"Column 0, row 7.*NaN"):
        GaussianDiscriminant(missing="error").fit(np.where(np.arange(150)[:, None] == 7, np.nan, WHOLE), Y)
    with pytest.raises(InputError, match="NaN"):
        GaussianDiscriminant(missing="error").fit(WHOLE, Y).predict(X)
    with pytest.raises(InputError, match="infinity"):
        GaussianDiscriminant().fit(np.where(WHOLE > 7, np.inf, X), Y)
    with pytest.raises(InputError, match=r"missing must be 'em', 'drop' or 'error'; got 'dropp'.*'drop'"):
        GaussianDiscriminant(missing="dropp").fit(X, Y)
    with pytest.raises(MergeError, match="missing='em'"):
        GaussianDiscriminant().fit(X, Y).merge(GaussianDiscriminant(missing="drop").fit(X, Y))
    with pytest.raises(MergeError, match="different settings"):
        GaussianDiscriminant().fit(X, Y).set_params(missing="drop").partial_fit(X, Y)
    for drop_in in (LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis()):
        with pytest.raises(ValueError, match="NaN"):
            drop_in.fit(X, Y)


def test_incomplete_rows_are_not_held_out_of_a_model_that_lacks_them():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 2
    X = rng.normal(y[:, None], 1.0, (60, 2))
    X[rng.random(X.shape) < 0.2] = np.nan
    model = GaussianDiscriminant("own", shape="diagonal", missing="drop", estimation="mle")
    found = leave_one_out(model, X, y, method="predict_proba")
    for i in (0, *np.flatnonzero(np.isnan(X).any(axis=1))[:4]):
        rest = np.arange(60) != i
        expected = clone(model).fit(X[rest], y[rest]).predict_proba(X[[i]])[0]
        np.testing.assert_allclose(found[i], expected, rtol=1e-9)


@pytest.mark.parametrize("settings", [{}, {"covariance": "own"}, {"shape": "diagonal"}])
def test_drop_needs_a_complete_row_of_each_class(settings):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 3)), np.repeat(["full", "half", "holes"], 20)
    x[40:, 1] = np.nan
    with pytest.raises(InputError, match=r"Each row of class 'holes' has a missing cell.*missing='em'"):
        GaussianDiscriminant(missing="drop", **settings).fit(x, y)
    GaussianDiscriminant(**settings).fit(x, y)
    x[40] = 0.0
    model = GaussianDiscriminant(missing="drop", estimation="mle").fit(x, y)
    assert model.class_count_.tolist() == [20, 20, 20]


def test_one_warning_if_the_models_of_a_fit_do_not_converge(monkeypatch):
    monkeypatch.setattr(missing_cells, "MOST_STEPS", 3)
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    x = rng.normal(size=(90, 3)) + y[:, None]
    x[rng.random(x.shape) < 0.2] = np.nan
    model = GaussianDiscriminant("own", shrinkage="auto", calibrate=True)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(x, y).predict(x)
    messages = [str(each.message) for each in caught if issubclass(each.category, ConvergenceWarning)]
    assert len(messages) == 1
    assert "missing='drop'" in messages[0]
