"""Settings that are "auto" are those of least log-loss on rows that were left out."""

from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine
from sklearn.metrics import log_loss
from sklearn.model_selection import LeaveOneOut, PredefinedSplit
from sklearn.model_selection import cross_val_predict as their_predict

from suffice import GaussianDiscriminant, InputError, NaiveBayes, SingularCovarianceError, SufficeWarning, load
from suffice.families import Bernoulli, Gaussian
from suffice.learning.tuning_result import Tuning

textbook_bayes = partial(NaiveBayes, estimation=None)


def words(rng, n=120, d=200):
    """Few rows of many rare words: how much to smooth matters."""
    rate = np.random.default_rng(7).gamma(0.1, 1.0, (3, d))
    y = rng.integers(0, 3, n)
    return rng.poisson(rate[y]).astype(float), y


def test_smoothing_is_chosen_by_leave_one_out():
    rng = np.random.default_rng(0)
    X, y = words(rng)
    model = NaiveBayes({tuple(range(200)): "multinomial"}, smoothing="auto").fit(X, y)
    path = model.tuning_
    assert path.rule == "leave-one-out"
    assert path.names == ("smoothing",)
    for value, score in zip(path.tried[::4, 0], path.log_loss[::4], strict=True):
        plain = clone(model).set_params(smoothing=value)
        by_hand = their_predict(plain, X, y, cv=LeaveOneOut(), method="predict_log_proba")
        assert_allclose(score, -by_hand[range(len(y)), y].mean(), rtol=1e-9)
    assert path.best == np.argmin(path.log_loss)
    assert model.smoothing_ == path.tried[path.best, 0] == path.chosen["smoothing"]
    same = clone(model).set_params(smoothing=model.smoothing_).fit(X, y)
    assert_array_equal(model.predict_proba(X), same.predict_proba(X))
    test, truth = words(rng, n=400)
    plain = NaiveBayes({tuple(range(200)): "multinomial"}).fit(X, y)
    chosen, default = (log_loss(truth, np.clip(m.predict_proba(test), 1e-15, 1)) for m in (model, plain))
    assert chosen < default


def test_covariances_are_regularised_by_folds():
    X, y = load_wine(return_X_y=True)
    X, y = X[::3], y[::3]
    model = GaussianDiscriminant("own", mix="auto", shrinkage="auto").fit(X, y)
    path = model.tuning_
    assert path.names == ("mix", "shrinkage")
    assert path.rule == "10 folds"
    assert len(path.log_loss) == len(path.tried) == 63
    # Rows are dealt to the folds class by class.
    fold = np.empty(len(y), dtype=int)
    fold[np.argsort(y, kind="stable")] = np.arange(len(y)) % 10
    for i in (path.best, 20, 62):
        mix, shrinkage = path.tried[i]
        plain = GaussianDiscriminant("own", mix=mix, shrinkage=shrinkage)
        by_hand = their_predict(plain, X, y, cv=PredefinedSplit(fold), method="predict_log_proba")
        assert_allclose(path.log_loss[i], -by_hand[range(len(y)), y].mean(), rtol=1e-8)
    # Twenty rows of a class and thirteen columns: some settings have no model in a fold, and cannot win.
    assert np.isfinite(path.log_loss[path.best])
    assert model.mix_ == path.chosen["mix"]
    assert_allclose(model.shrinkage_, path.chosen["shrinkage"])
    shared = GaussianDiscriminant(shrinkage="auto").fit(X, y)
    assert shared.tuning_.names == ("shrinkage",)
    with pytest.warns(SufficeWarning, match="shrinkage='auto' has no effect on a diagonal covariance"):
        diagonal = GaussianDiscriminant(shape="diagonal", shrinkage="auto").fit(X, y)
    with pytest.raises(AttributeError, match="so there is no tuning_"):
        _ = diagonal.tuning_  # there is nothing to shrink


def test_the_strength_of_a_gaussian_prior():
    X, y = load_iris(return_X_y=True)
    few = np.r_[0:5, 50:55, 100:105]
    for model in (
        NaiveBayes(estimation="bayes", smoothing="auto"),
        GaussianDiscriminant("own", estimation="map", smoothing="auto"),
    ):
        model.fit(X[few], y[few])
        path = model.tuning_
        assert path.log_loss[path.best] <= path.log_loss[path.tried[:, 0] == 1.0]
        rest = np.delete(np.arange(150), few)
        plain = clone(model).set_params(smoothing=1.0).fit(X[few], y[few])
        losses = [log_loss(y[rest], m.predict_proba(X[rest])) for m in (model, plain)]
        assert losses[0] < 1.2 * losses[1]


def test_where_nothing_is_smoothed_any_setting_does():
    X, y = load_iris(return_X_y=True)
    model = textbook_bayes(smoothing="auto").fit(X, y)  # Gaussian, by maximum likelihood
    assert np.ptp(model.tuning_.log_loss) == 0
    assert model.smoothing_ == 1.0
    own = textbook_bayes({0: Gaussian(estimation="map", smoothing=7.0)}, smoothing="auto").fit(X, y)
    assert own.families_[0].smoothing == 7.0


def test_weights_count():
    rng = np.random.default_rng(1)
    X, y = words(rng, n=60, d=30)
    X = (X > 0).astype(float)
    w = rng.integers(0, 3, 60).astype(float)
    weighted = NaiveBayes("bernoulli", smoothing="auto").fit(X, y, sample_weight=w).tuning_
    by_hand = []
    for value in weighted.tried[:, 0]:
        plain = NaiveBayes(Bernoulli(smoothing=value))
        found = their_predict(plain, X, y, cv=LeaveOneOut(), method="predict_log_proba", params={"sample_weight": w})
        by_hand.append(-(w * found[range(60), y]).sum() / w.sum())
    assert_allclose(weighted.log_loss, by_hand, rtol=1e-9)


def test_a_path_is_shown():
    X, y = load_iris(return_X_y=True)
    shown = repr(GaussianDiscriminant("own", estimation="mle", shrinkage="auto").fit(X, y).tuning_)
    assert "shrinkage" in shown
    assert "log-loss" in shown
    assert shown.count("*") == 1
    assert "(10 folds)" in shown
    assert "(leave-one-out)" in repr(NaiveBayes(estimation="map", smoothing="auto").fit(X, y).tuning_)


def test_the_chosen_settings_are_printed_however_many_were_tried():
    X, y = load_iris(return_X_y=True)
    tuning = GaussianDiscriminant("own", mix="auto", shrinkage="auto").fit(X, y).tuning_
    assert len(tuning.tried) > 40
    last = Tuning(tuning.names, tuning.tried[::-1], tuning.log_loss[::-1], len(tuning.tried) - 1 - tuning.best, "")
    for each in (tuning, last):
        for shown in (repr(each), each.table().to_html()):
            assert shown.count("*") == 1
        assert repr(each).splitlines()[1].endswith("*")
        assert sorted(each.table()["log-loss"]) == list(each.table()["log-loss"])
        assert each.table()["mix"][0] == each.chosen["mix"]


def test_a_stream_keeps_what_a_fit_has_chosen(tmp_path):
    X, y = load_digits(return_X_y=True)
    X = (X > 7).astype(float)
    new = NaiveBayes("bernoulli", smoothing="auto")
    with pytest.raises(InputError, match="'smoothing': 'auto' is chosen on held-out rows"):
        new.partial_fit(X[:300], y[:300])
    model = NaiveBayes("bernoulli", smoothing="auto").fit(X[:300], y[:300])
    chosen = model.smoothing_
    model.partial_fit(X[300:], y[300:])
    assert model.smoothing_ == chosen
    same = NaiveBayes("bernoulli", smoothing=chosen).fit(X, y)
    assert_allclose(model.predict_proba(X[:50]), same.predict_proba(X[:50]), rtol=1e-12)
    model.save(tmp_path / "model.suffice")
    loaded = load(tmp_path / "model.suffice")
    assert loaded.smoothing_ == chosen
    assert_array_equal(loaded.tuning_.log_loss, model.tuning_.log_loss)
    assert_array_equal(loaded.predict_proba(X[:50]), model.predict_proba(X[:50]))
    merged = NaiveBayes("bernoulli", smoothing="auto").merge(model)
    assert merged.smoothing_ == chosen
    plain = NaiveBayes("bernoulli").fit(X, y).set_params(smoothing="auto")
    plain.merge(NaiveBayes("bernoulli").fit(X[:50], y[:50]))
    with pytest.raises(InputError, match="Call fit"):
        plain.predict(X[:1])


def test_if_nothing_can_be_fitted_the_reason_is_given():
    with pytest.raises(SingularCovarianceError, match="No column varies within any class"):
        GaussianDiscriminant("own", shape="diagonal", mix="auto").fit(np.zeros((20, 2)), np.repeat([0, 1], 10))


def test_real_data_does_not_get_worse():
    for loader in (load_iris, load_wine, load_breast_cancer):
        X, y = loader(return_X_y=True)
        train, test = np.arange(0, len(y), 2), np.arange(1, len(y), 2)
        plain = GaussianDiscriminant("own", mix=0.01).fit(X[train], y[train])
        tuned = GaussianDiscriminant("own", mix="auto", shrinkage="auto").fit(X[train], y[train])
        losses = [log_loss(y[test], m.predict_proba(X[test])) for m in (tuned, plain)]
        assert losses[0] < losses[1] + 0.05


def test_a_fit_that_fails_leaves_no_choice_behind():
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes(estimation="map", smoothing="auto")
    with pytest.raises(ValueError, match=r"features|columns"):
        model.fit(X, y, unlabelled=np.zeros((3, 7)))
    with pytest.raises(InputError, match="Call fit"):
        model.partial_fit(X, y)


def test_a_setting_that_is_changed_counts_at_once():
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes(estimation="map").fit(X, y)
    before = model.predict_proba(X)
    model.set_params(smoothing=100.0)
    again = NaiveBayes(estimation="map", smoothing=100.0).fit(X, y)
    assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    assert abs(model.predict_proba(X) - before).max() > 0.01
