"""Rows that are taken out again, and rows that are forgotten."""

import numpy as np
import pandas as pd
import pytest
from sklearn.covariance import LedoitWolf
from sklearn.exceptions import NotFittedError

from every_estimator import ADDITIVE, ESTIMATORS, example, other_columns, take
from suffice import GaussianDiscriminant, InputError, MergeError, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from suffice.naive_bayes import GaussianNB, MultinomialNB


@pytest.mark.parametrize("name", ADDITIVE)
def test_what_is_left_is_the_model_that_never_saw_the_rows(name):
    model, X, y = example(name, np.random.default_rng(1))
    out = np.random.default_rng(2).random(len(y)) < 0.3
    kept = ESTIMATORS[name][0]().fit(take(X, ~out), y[~out])
    model.fit(X, y).predict(X)  # what was cached must go
    assert model.remove(take(X, out), y[out]) is model
    np.testing.assert_allclose(model.predict_proba(X), kept.predict_proba(X), atol=1e-10)
    np.testing.assert_array_equal(model.classes_, kept.classes_)


@pytest.mark.parametrize("name", ADDITIVE)
def test_weights_are_taken_out_too(name):
    model, X, y = example(name, np.random.default_rng(3))
    weights = np.random.default_rng(4).integers(1, 4, len(y)).astype(float)
    some = np.arange(len(y)) % 3 == 0
    kept = ESTIMATORS[name][0]().fit(X, y, sample_weight=np.where(some, weights - 1, weights))
    model.fit(X, y, sample_weight=weights).remove(take(X, some), y[some], np.ones(some.sum()))
    if name != "GaussianNB":  # whose epsilon counts rows, whatever their weights
        np.testing.assert_allclose(model.predict_proba(X), kept.predict_proba(X), atol=1e-9)


@pytest.mark.parametrize("name", ADDITIVE)
def test_the_last_rows_of_a_class_take_it_along(name):
    model, X, y = example(name, np.random.default_rng(5))
    two = ESTIMATORS[name][0]().fit(take(X, y < 2), y[y < 2])
    model.fit(X, y).remove(take(X, y == 2), y[y == 2])
    assert model.classes_.tolist() == [0, 1]
    np.testing.assert_allclose(model.predict_proba(X), two.predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("name", ["shared", "mixed", "MultinomialNB", "QDA"])
def test_a_class_that_was_declared_stays(name):
    model, X, y = example(name, np.random.default_rng(5))
    model.partial_fit(X, y, classes=[0, 1, 2])
    model.remove(take(X, y == 2), y[y == 2])
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.all(model.predict_proba(take(X, y < 2))[:, 2] == 0)
    other = ESTIMATORS[name][0]().merge(model)  # what was declared is merged, too
    other.partial_fit(take(X, y == 2), y[y == 2])
    assert other.remove(take(X, y == 2), y[y == 2]).classes_.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ESTIMATORS)
def test_no_rows_are_left(name):
    model, X, y = example(name, np.random.default_rng(6))
    model.fit(X, y).remove(X, y)
    assert len(model.classes_) == 0
    for answer in (model.predict, model.predict_proba):
        with pytest.raises(InputError, match="has seen no rows"):
            answer(X)
    model.partial_fit(X, y, classes=[0, 1, 2])
    np.testing.assert_allclose(model.predict_proba(X), ESTIMATORS[name][0]().fit(X, y).predict_proba(X), atol=1e-10)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_what_was_never_there_is_refused_and_nothing_changes(name):
    model, X, y = example(name, np.random.default_rng(7))
    half = np.arange(len(y)) % 2 == 0
    model.fit(take(X, half), y[half])
    before = model.predict_proba(X)
    twice = pd.concat([X, X]) if hasattr(X, "iloc") else np.concatenate([X, X])
    with pytest.raises(MergeError, match="Cannot remove"):
        model.remove(twice, np.concatenate([y, y]))
    with pytest.raises(
        MergeError, match=r"Rows of class 7 cannot be removed: the model has none. Its classes are 0, 1, 2"
    ):
        model.remove(take(X, [0]), [7])
    with pytest.raises(ValueError, match=r"feature|column"):
        model.remove(other_columns(X), y)
    assert model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_a_level_that_was_never_there():
    frame = pd.DataFrame({"kind": ["a", "b", "a", "b"]})
    model = NaiveBayes().fit(frame, [0, 0, 1, 1])
    with pytest.raises(MergeError, match="'c'"):
        model.remove(pd.DataFrame({"kind": ["c"]}), [0])
    with pytest.raises(MergeError, match="'text'"):
        model.remove(frame[:1], ["text"])
    assert model.class_count_.tolist() == [2, 2]


def test_no_rows_to_remove():
    X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), [0, 0, 1, 1]
    model = GaussianDiscriminant().fit(X, y)
    before = model.predict_proba(X)
    np.testing.assert_array_equal(model.remove(np.empty((0, 1)), []).predict_proba(X), before)


@pytest.mark.parametrize("make", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_a_covariance_estimator_needs_all_rows(make):
    _, X, y = example("QDA", np.random.default_rng(8))
    solver = "lsqr" if make is LinearDiscriminantAnalysis else "eigen"
    model = make(solver=solver, covariance_estimator=LedoitWolf()).fit(X, y)
    for verb in (lambda: model.remove(X, y), lambda: model.decay(0.5), lambda: model.fit(X, y, unlabelled=X)):
        with pytest.raises(InputError, match="needs all rows at once"):
            verb()


@pytest.mark.parametrize("name", ESTIMATORS)
def test_a_model_that_was_not_fitted(name):
    model, X, y = example(name, np.random.default_rng(9))
    for verb in (lambda: model.remove(X, y), lambda: model.decay(0.5)):
        with pytest.raises(NotFittedError):
            verb()


# ---------------------------------------------------------------------- forgetting


@pytest.mark.parametrize("name", ADDITIVE)
def test_decay_is_a_weight(name):
    model, X, y = example(name, np.random.default_rng(10))
    half = np.arange(len(y)) < 60
    weights = np.where(half, 0.25, 1.0)
    model.fit(take(X, half), y[half])
    assert model.decay(0.5) is model
    model.partial_fit(take(X, ~half), y[~half], decay=0.5)
    weighted = ESTIMATORS[name][0]().fit(X, y, sample_weight=weights)
    # The epsilon of GaussianNB forgets rows, which weights do not.
    np.testing.assert_allclose(
        model.predict_proba(X), weighted.predict_proba(X), atol=1e-6 if name == "GaussianNB" else 1e-10
    )


@pytest.mark.parametrize("name", ["shared", "mixed", "MultinomialNB", "svd", "QDA", "GaussianNB"])
def test_decay_by_nothing_and_by_all(name):
    model, X, y = example(name, np.random.default_rng(11))
    model.partial_fit(X, y, classes=[0, 1, 2], decay=0.5)  # the first call has nothing to forget
    before = model.predict_proba(X)
    np.testing.assert_array_equal(model.decay(1.0).predict_proba(X), before)
    model.decay(0.0)
    with pytest.raises(InputError, match="has seen no rows"):
        model.predict(X)
    assert model.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(model.partial_fit(X, y).predict_proba(X), before, atol=1e-12)
    other = X.copy()
    np.testing.assert_allclose(model.partial_fit(other, y, decay=0).predict_proba(X), before, atol=1e-12)


@pytest.mark.parametrize("factor", [-0.1, 1.5, np.nan, np.inf, True, "half", [0.5]])
@pytest.mark.parametrize("name", ["shared", "mixed", "MultinomialNB", "svd"])
def test_a_factor_that_is_none(name, factor):
    model, X, y = example(name, np.random.default_rng(12))
    with pytest.raises(InputError, match="between 0 and 1"):
        model.partial_fit(X, y, classes=[0, 1, 2], decay=factor)
    model.fit(X, y)
    before = model.predict_proba(X)
    for verb in (lambda: model.decay(factor), lambda: model.partial_fit(X, y, decay=factor)):
        with pytest.raises(InputError, match="between 0 and 1"):
            verb()
    np.testing.assert_array_equal(model.predict_proba(X), before)


@pytest.mark.parametrize("make", [lambda: GaussianDiscriminant("own"), NaiveBayes, GaussianNB])
def test_a_class_that_fades_away_is_no_error(make):
    _, X, y = example("own", np.random.default_rng(13), n=200)
    model = make().partial_fit(X, y, classes=[0, 1, 2])
    some = y < 2
    for _ in range(120):
        model.partial_fit(X[some], y[some], decay=1e-3)
    probability = model.predict_proba(X)
    assert np.isfinite(probability).all()
    assert (probability[:, 2] == 0).all()
    assert model.classes_.tolist() == [0, 1, 2]


def test_forgetting_follows_a_stream_that_drifts():
    rng = np.random.default_rng(14)
    forgets, remembers, right = MultinomialNB(), MultinomialNB(), np.zeros(2)
    for step in range(60):
        y = rng.integers(0, 2, 50)
        # The words that tell the classes apart change places once, and drift before and after.
        turn = np.roll(np.array([8.0, 4, 2, 1, 1, 2, 4, 8]), step // 10)
        X = rng.poisson(np.vstack([turn, turn[::-1]])[y])
        if step > 10:
            right += [(each.predict(X) == y).sum() for each in (forgets, remembers)]
        forgets.partial_fit(X, y, classes=[0, 1], decay=0.7)
        remembers.partial_fit(X, y, classes=[0, 1])
    assert right[0] > right[1] + 100


def test_sums_of_weights_that_land_on_whole_numbers():
    rows, y, w = np.arange(5.0)[:, None], np.array([0, 0, 0, 0, 1]), np.array([1.0, 3.0, 3.0, 3.0])
    model = NaiveBayes().fit(rows, y, sample_weight=np.r_[w, 1]).decay(0.9)
    assert model.remove(rows[:4], y[:4], sample_weight=0.9 * w).classes_.tolist() == [1]


def test_counts_are_exact_however_large():
    rows, y = np.array([[1e15], [3.0], [4.0], [2.0]]), np.array([0, 0, 0, 1])
    for family in ("poisson", "geometric"):
        left, never = NaiveBayes(family).fit(rows, y).remove(rows[:1], y[:1]), NaiveBayes(family).fit(rows[1:], y[1:])
        np.testing.assert_allclose(left.predict_proba(rows[1:]), never.predict_proba(rows[1:]), rtol=1e-12)


def test_gaussian_nb_forgets_and_takes_out():
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(40, 3)), np.arange(40) % 2
    model = GaussianNB().fit(X, y).decay(0.5).remove(X[:30], y[:30], sample_weight=np.full(30, 0.5))
    never = GaussianNB().fit(X[30:], y[30:])
    np.testing.assert_allclose(model.epsilon_, never.epsilon_, rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(X), never.predict_proba(X), rtol=1e-9)


@pytest.mark.parametrize(("name", "n_rounds"), [("mixed", 200), ("own", 1000), ("GaussianNB", 1000)])
def test_many_rounds(name, n_rounds):
    rng = np.random.default_rng(4)
    model, X, y = example(name, rng, n=200)
    model.fit(take(X, np.arange(100)), y[:100])
    for _ in range(n_rounds):
        rows = rng.choice(np.arange(100, 200), 5, replace=False)
        model.partial_fit(take(X, rows), y[rows]).remove(take(X, rows), y[rows])
    never = ESTIMATORS[name][0]().fit(take(X, np.arange(100)), y[:100])
    np.testing.assert_allclose(model.predict_proba(X), never.predict_proba(X), rtol=1e-10, atol=1e-10)


def test_a_class_that_a_prior_names_stays():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(40, 2)), np.arange(40) % 3
    model = NaiveBayes().fit(X, y).with_prior([0.2, 0.3, 0.5])
    model.remove(X[y == 2], y[y == 2])
    assert model.classes_.tolist() == [0, 1, 2]
    assert np.isfinite(model.predict_proba(X)).all()
    before = model.predict_proba(X)
    with pytest.raises(InputError, match="no probability for 7"):
        model.partial_fit(X[:2], [7, 7])
    np.testing.assert_array_equal(model.predict_proba(X), before)


def test_decay_needs_a_number():
    model = NaiveBayes().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputError, match="between 0 and 1"):
        model.decay(None)
