"""Cross-validation in one pass gives scikit-learn's numbers for every estimator and splitter."""

import warnings
from functools import partial

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RepeatedStratifiedKFold,
    ShuffleSplit,
    StratifiedKFold,
    TimeSeriesSplit,
)
from sklearn.model_selection import cross_val_predict as their_predict
from sklearn.model_selection import cross_validate as their_validate

from every_estimator import ESTIMATORS, example
from suffice import ClassError, GaussianDiscriminant, NaiveBayes
from suffice.model import Model
from suffice.model_selection import cross_val_predict, cross_validate
from suffice.model_selection.class_columns import on_all_classes
from suffice.naive_bayes import GaussianNB, MultinomialNB
from suffice.statistics import ClassAxis

textbook_discriminant = partial(GaussianDiscriminant, estimation="mle")

METHODS = ["predict", "predict_proba", "predict_log_proba"]


def assert_same(ours, theirs):
    if theirs.dtype.kind == "f":
        assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)
    else:
        assert_array_equal(ours, theirs)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_folds_give_what_refitting_gives(name, method):
    model, X, y = example(name, np.random.default_rng(1))
    n_folds = (2, 2) if name == "ensemble" else (5, 4)  # which is fitted once more for each
    for cv in (n_folds[0], KFold(n_folds[1], shuffle=True, random_state=0)):
        assert_same(
            cross_val_predict(model, X, y, cv=cv, method=method), their_predict(model, X, y, cv=cv, method=method)
        )
    assert not hasattr(model, "classes_")  # it is not fitted itself


@pytest.mark.parametrize("name", ["shared", "own", "mixed", "GaussianNB", "MultinomialNB", "svd"])
def test_weights_are_those_of_the_training_rows(name):
    rng = np.random.default_rng(2)
    model, X, y = example(name, rng)
    params = {"sample_weight": rng.integers(0, 3, len(y)).astype(float)}
    ours = cross_val_predict(model, X, y, cv=4, params=params, method="predict_proba")
    assert_same(ours, their_predict(model, X, y, cv=4, params=params, method="predict_proba"))


def test_any_splitter():
    rng = np.random.default_rng(3)
    model, X, y = example("own", rng)
    groups = rng.integers(0, 8, len(y))
    fold = rng.integers(0, 4, len(y))
    grouped = [(cv, groups) for cv in (GroupKFold(4), LeaveOneGroupOut())]
    plain = [(cv, None) for cv in (PredefinedSplit(fold), StratifiedKFold(3, shuffle=True, random_state=1))]
    for cv, who in grouped + plain:
        ours = cross_val_predict(model, X, y, groups=who, cv=cv, method="predict_proba")
        assert_same(ours, their_predict(model, X, y, groups=who, cv=cv, method="predict_proba"))
    splits = list(KFold(5).split(X))
    assert_same(cross_val_predict(model, X, y, cv=splits), their_predict(model, X, y, cv=splits))
    with pytest.raises(ValueError, match="only works for partitions"):
        cross_val_predict(model, X, y, cv=ShuffleSplit(3, random_state=0))


def test_more_folds_than_go_into_one_pass():
    model, X, y = example("mixed", np.random.default_rng(4), n=150)
    groups = np.arange(150) // 2
    ours = cross_val_predict(model, X, y, groups=groups, cv=LeaveOneGroupOut(), method="predict_proba")
    assert_same(ours, their_predict(model, X, y, groups=groups, cv=LeaveOneGroupOut(), method="predict_proba"))


def test_a_class_without_training_rows_has_probability_zero_there():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((60, 2)), np.repeat(["a", "b", "c"], 20)
    for method in METHODS:
        if method != "predict":
            with pytest.warns(RuntimeWarning, match=r"Number of classes in training fold \(2\)"):
                ours = cross_val_predict(NaiveBayes(), X, y, cv=KFold(3), method=method)
        else:
            ours = cross_val_predict(NaiveBayes(), X, y, cv=KFold(3), method=method)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert_same(ours, their_predict(NaiveBayes(), X, y, cv=KFold(3), method=method))
    with pytest.raises(ClassError, match="needs at least two classes, but y holds only one class: 'b'"):
        cross_val_predict(NaiveBayes(), X[:40], y[:40], cv=KFold(2))


def test_sparse_and_single_precision_rows():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 90)
    X = rng.poisson(1 + y[:, None], (90, 5)).astype(float)
    for model in (MultinomialNB(), NaiveBayes(), GaussianNB()):
        dense = cross_val_predict(model, X, y, cv=5, method="predict_proba")
        assert_allclose(
            cross_val_predict(model, sparse.csr_array(X), y, cv=5, method="predict_proba"), dense, atol=1e-12
        )
    single = cross_val_predict(GaussianNB(), X.astype(np.float32), y, cv=5, method="predict_proba")
    assert single.dtype == np.float32
    assert_array_equal(single, their_predict(GaussianNB(), X.astype(np.float32), y, cv=5, method="predict_proba"))


def test_levels_of_a_training_set_are_its_own():
    # A level that only the test fold has is unseen there, and smoothing counts the levels of the training rows.
    frame = pd.DataFrame({"kind": list("aabbccddeeffgg") * 3})
    y = np.arange(42) % 2
    ours = cross_val_predict(NaiveBayes(), frame, y, cv=KFold(6), method="predict_proba")
    assert_same(ours, their_predict(NaiveBayes(), frame, y, cv=KFold(6), method="predict_proba"))


def test_rows_are_summarised_once(monkeypatch):
    calls = []
    monkeypatch.setattr(GaussianNB, "fit", lambda *_: calls.append("fit"))
    monkeypatch.setattr(Model, "summarize", lambda *_: calls.append("summarize"))
    _, X, y = example("GaussianNB", np.random.default_rng(7))
    assert cross_val_predict(GaussianNB(), X, y, cv=10).shape == y.shape
    assert calls == []


def test_other_estimators_go_to_scikit_learn():
    _, X, y = example("own", np.random.default_rng(8))

    class Mine(NaiveBayes):
        def fit(self, X, y, sample_weight=None):
            return super().fit(X * 0, y, sample_weight)

    for model in (LogisticRegression(), Mine()):
        assert_array_equal(cross_val_predict(model, X, y, cv=3), their_predict(model, X, y, cv=3))
    scores = cross_validate(LogisticRegression(), X, y, cv=3)
    assert_array_equal(scores["test_score"], their_validate(LogisticRegression(), X, y, cv=3)["test_score"])


# ---------------------------------------------------------------------- scores


@pytest.mark.parametrize("name", sorted(ESTIMATORS))
def test_scores_are_scikit_learns(name):
    model, X, y = example(name, np.random.default_rng(9))
    n = 2 if name == "ensemble" else 3  # which is fitted once more for each fold
    for cv in (
        n + 1,
        RepeatedStratifiedKFold(n_splits=n, n_repeats=2, random_state=0),
        ShuffleSplit(n, random_state=0),
    ):
        ours, theirs = (f(model, X, y, cv=cv, return_train_score=True) for f in (cross_validate, their_validate))
        assert set(ours) == set(theirs)
        for key in ("test_score", "train_score"):
            assert_allclose(ours[key], theirs[key], rtol=1e-10)


def test_several_scores_estimators_and_indices():
    model, X, y = example("shared", np.random.default_rng(10))
    options = {"scoring": ["accuracy", "neg_log_loss"], "cv": TimeSeriesSplit(3), "return_estimator": True}
    ours, theirs = (f(model, X, y, return_indices=True, **options) for f in (cross_validate, their_validate))
    assert set(ours) == set(theirs)
    for key in ("test_accuracy", "test_neg_log_loss"):
        assert_allclose(ours[key], theirs[key], rtol=1e-10)
    for a, b, train in zip(ours["estimator"], theirs["estimator"], ours["indices"]["train"], strict=True):
        assert_allclose(a.means_, b.means_)
        assert_allclose(a.class_count_, np.bincount(y[train], minlength=3))
    a = ours["estimator"][0]
    assert a.get_params() == model.get_params()
    assert_array_equal(ours["indices"]["test"][1], theirs["indices"]["test"][1])
    custom = cross_validate(model, X, y, cv=3, scoring=lambda m, X, y: {"first": float(m.predict_proba(X)[0, 0])})
    assert custom["test_first"].shape == (3,)


def test_a_fit_that_fails_is_scored_as_scikit_learn_scores_it():
    rng = np.random.default_rng(11)
    X, y = rng.standard_normal((40, 3)), np.repeat([0, 1], 20)
    X[:20, 1] = X[:20, 0]  # one class has no volume, in any fold
    with pytest.raises(ValueError, match="fits failed"):
        cross_validate(textbook_discriminant("own"), X, y, cv=4)
    with pytest.raises(ValueError, match="class 0"):
        cross_validate(textbook_discriminant("own"), X, y, cv=4, error_score="raise")


def test_splits_that_can_be_asked_for_once():
    model, X, y = example("shared", np.random.default_rng(12))
    splits = list(KFold(3).split(X))
    ours = cross_validate(model, X, y, cv=iter(splits))
    assert_allclose(ours["test_score"], their_validate(model, X, y, cv=splits)["test_score"])
    assert_same(cross_val_predict(model, X, y, cv=iter(splits)), their_predict(model, X, y, cv=splits))
    with pytest.warns(UserWarning, match="Scoring failed"):
        failed = cross_validate(model, X, y, cv=iter(splits), scoring=lambda *_: 1 / 0)
    assert np.isnan(failed["test_score"]).all()


def test_a_class_whose_rows_have_no_weight_has_a_column():
    rng = np.random.default_rng(13)
    X, y, w = rng.standard_normal((60, 2)), np.arange(60) % 3, np.ones(60)
    w[y == 2] = 0.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for model in (NaiveBayes(), GaussianNB()):
            ours, theirs = (
                f(model, X, y, cv=4, params={"sample_weight": w}, method="predict_proba")
                for f in (cross_val_predict, their_predict)
            )
            assert_same(ours, theirs)


def test_what_is_wrong_with_rows_is_said_as_fit_says_it():
    X, y = np.random.default_rng(14).standard_normal((60, 2)), np.arange(60) % 3
    X[7, 1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        cross_val_predict(GaussianDiscriminant(missing="error"), X, y)
    assert np.isfinite(cross_val_predict(GaussianDiscriminant(), X, y, method="predict_proba")).all()


def test_folds_of_large_matrices_are_not_all_held_at_once(monkeypatch):
    model, X, y = example("own", np.random.default_rng(15))
    expected = cross_val_predict(model, X, y, cv=6, method="predict_proba")
    monkeypatch.setattr("suffice.learning.splits.BYTES", 1000)
    assert_same(cross_val_predict(model, X, y, cv=6, method="predict_proba"), expected)


@pytest.mark.parametrize("cv", [5, KFold(4), KFold(3, shuffle=True, random_state=0)])
def test_rows_that_follow_one_another_in_a_fold(cv, monkeypatch):
    model, X, y = example("mixed", np.random.default_rng(16))
    monkeypatch.setattr("suffice.model_selection.cross_validation.PIECE", 8)
    monkeypatch.setattr("suffice.model_selection.cross_validation.BLOCK_ROWS", 20)
    ours = cross_val_predict(model, X, y, cv=cv, method="predict_proba")
    assert_same(ours, their_predict(model, X, y, cv=cv, method="predict_proba"))


def test_labels_need_no_columns_for_absent_classes():
    some, every = ClassAxis.of(["a", "c"]), ClassAxis.of(["a", "b", "c"])
    labels = np.array(["a", "c", "c"])
    assert on_all_classes(labels, "predict", some, every) is labels
    found = on_all_classes(np.array([[0.25, 0.75]]), "predict_proba", some, every)
    assert found.tolist() == [[0.25, 0.0, 0.75]]
    logs = on_all_classes(np.log([[0.25, 0.75]]), "predict_log_proba", some, every)
    assert logs[0, 1] == np.finfo(float).min
