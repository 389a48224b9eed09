"""Settings and what was learned are values: they are shared, and never change."""

import threading
from dataclasses import FrozenInstanceError, fields

import numpy as np
import pytest
from sklearn.base import clone

from every_estimator import ESTIMATORS, example, other_columns, take
from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.estimators import TunableClassifier
from suffice.naive_bayes import GaussianNB

EVERY = sorted(ESTIMATORS)
# All their parameters are numbers, strings, booleans or None; the range of n-grams is a tuple.
PLAIN = sorted(set(EVERY) - {"averaged", "ensemble", "mixed"})  # whose cuts or families are a dict


def fitted(name, seed=0):
    model, X, y = example(name, np.random.default_rng(seed))
    return model.fit(X, y), X, y


def answers(model, X):
    return model.predict(X), model.predict_proba(X), model.predict_log_proba(X)


def assert_same_answers(one, other, X):
    for first, second in zip(answers(one, X), answers(other, X), strict=True):
        np.testing.assert_array_equal(first, second)


# ---------------------------------------------------------------------- the specification


@pytest.mark.parametrize("name", EVERY)
def test_the_specification_holds_the_parameters(name):
    model = ESTIMATORS[name][0]()
    specification = model.specification()
    assert specification.parameters() == model.get_params(deep=False)
    assert type(specification).estimator == type(model).__name__


@pytest.mark.parametrize("name", PLAIN)
def test_the_specification_is_the_same_object_while_the_parameters_are_unchanged(name):
    model, _, _ = fitted(name)
    known = model.specification()
    assert known is model.fitted_.specification
    assert model.specification() is known
    assert model.set_params(**model.get_params()).specification() is known


def test_another_parameter_makes_another_specification():
    model, X, y = fitted("naive")
    known = model.specification()
    model.smoothing = 3.0
    found = model.specification()
    assert found is not known
    assert (known.smoothing, found.smoothing) == (NaiveBayes().smoothing, 3.0)
    assert model.fit(X, y).specification() is model.fitted_.specification
    assert model.specification().smoothing == 3.0


def test_a_parameter_that_is_not_plain_may_have_changed_within():
    prior = {"a": 0.5, "b": 0.5}
    model = NaiveBayes(prior=prior).fit([[1.0], [2.0], [4.0], [7.0]], list("aabb"))
    first = model.specification()
    prior.update(a=0.9, b=0.1)
    assert model.specification() is not first
    assert model.specification().prior == {"a": 0.9, "b": 0.1}


@pytest.mark.parametrize("name", EVERY)
def test_values_are_frozen(name):
    model, _, _ = fitted(name)
    for value in (model.specification(), model.fitted_):
        for field in fields(value):
            with pytest.raises(FrozenInstanceError):
                setattr(value, field.name, None)


@pytest.mark.parametrize("name", EVERY)
def test_what_was_learned_cannot_be_assigned(name):
    model, _, _ = fitted(name)
    with pytest.raises(AttributeError):
        model.fitted_ = None
    with pytest.raises(ValueError, match="read-only"):
        model.fitted_.model.weights.weight[0] = 7.0


# ---------------------------------------------------------------------- from a value and back


@pytest.mark.parametrize("name", EVERY)
def test_an_estimator_made_of_what_another_has_learned_predicts_the_same(name):
    model, X, _ = fitted(name)
    made = type(model).from_fitted(model.fitted_)
    assert made.fitted_ is model.fitted_
    assert repr(made.get_params()) == repr(model.get_params())
    np.testing.assert_array_equal(made.classes_, model.classes_)
    assert_same_answers(made, model, X)


@pytest.mark.parametrize("name", EVERY)
def test_two_estimators_of_one_value_learn_apart(name):
    model, X, y = fitted(name)
    made = type(model).from_fitted(model.fitted_)
    before, fitted_before = answers(model, X), model.fitted_
    made.fit(take(X, np.arange(60)), y[:60])
    assert model.fitted_ is fitted_before
    for first, second in zip(before, answers(model, X), strict=True):
        np.testing.assert_array_equal(first, second)


def test_an_estimator_made_of_a_tuned_and_calibrated_model_has_its_choices():
    _, X, y = example("own", np.random.default_rng(3))
    model = GaussianDiscriminant("own", mix="auto", calibrate=True).fit(X, y)
    made = GaussianDiscriminant.from_fitted(model.fitted_)
    assert made.get_params() == model.get_params()
    assert made.tuning_ is model.tuning_
    assert made.calibration_ is model.calibration_
    assert_same_answers(made, model, X)


# ---------------------------------------------------------------------- failure


def failures(model, X, y):
    """Verbs with arguments that they refuse; only those that the estimator has for its present settings."""
    stranger = GaussianNB() if not isinstance(model, GaussianNB) else NaiveBayes()
    wrong = other_columns(X)
    yield "fit", lambda: model.fit(wrong, y[:-1])
    yield "partial_fit", lambda: model.partial_fit(wrong, y)
    yield "merge", lambda: model.merge(stranger)
    yield "merge of other columns", lambda: model.merge(clone(model).fit(wrong, y))
    yield "remove", lambda: model.remove(take(X, np.arange(2)), ["never seen"] * 2)
    yield "remove of other columns", lambda: model.remove(wrong, y)
    yield "decay", lambda: model.decay(1.5)
    yield "decay by no number", lambda: model.decay("half")


@pytest.mark.parametrize("name", EVERY)
def test_a_failed_update_leaves_the_same_object(name):
    model, X, y = fitted(name)
    known, before = model.fitted_, answers(model, X)
    for verb, fail in failures(model, X, y):
        with pytest.raises((ValueError, TypeError)):
            fail()
        assert model.fitted_ is known, verb
    for first, second in zip(before, answers(model, X), strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", EVERY)
def test_a_failed_first_fit_leaves_the_model_unfitted(name):
    model, X, y = example(name, np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"inconsistent|rows|labels"):
        model.fit(X, y[:-1])
    assert not model.__sklearn_is_fitted__()


def test_a_failed_fit_with_other_parameters_leaves_what_was_learned_with_the_old_ones():
    model = LinearDiscriminantAnalysis().fit([[1.0], [2.0], [4.0], [7.0]], [0, 0, 1, 1])
    known = model.fitted_
    model.solver = "no such solver"
    with pytest.raises(ValueError, match="no such solver"):
        model.fit([[1.0], [2.0], [4.0], [7.0]], [0, 0, 1, 1])
    assert model.fitted_ is known
    assert model.predict([[1.0], [6.0]]).tolist() == [0, 1]


@pytest.mark.parametrize("name", sorted(set(EVERY) - {"ComplementNB"}))
def test_a_model_with_another_prior_leaves_the_first_as_it_was(name):
    model, _, _ = fitted(name)
    known, parameters = model.fitted_, model.get_params()
    other = model.with_prior([0.2, 0.3, 0.5])
    assert model.fitted_ is known
    assert repr(model.get_params()) == repr(parameters)
    assert other.fitted_ is not known
    assert other.fitted_.model is known.model or other.fitted_.model.weights is known.model.weights


# ---------------------------------------------------------------------- new parameters


def test_new_parameters_of_a_tunable_classifier_change_the_next_prediction():
    X = np.array([[1.0, 0.0], [2.0, 3.0], [3.0, 1.0], [4.0, 4.0], [7.0, 2.0], [5.0, 9.0]])
    y = np.array(list("aaaabb"))
    for model, changes in [
        (NaiveBayes(), {"prior": "uniform"}),
        (NaiveBayes(), {"estimation": "bayes", "smoothing": 5.0}),
        (GaussianDiscriminant(), {"prior": {"a": 0.1, "b": 0.9}}),
        (GaussianDiscriminant("own", mix=0.5), {"mix": 0.9, "shrinkage": 0.3}),
    ]:
        assert isinstance(model, TunableClassifier)
        before = model.fit(X, y).predict_proba(X)
        statistics = model.fitted_.model
        found = model.set_params(**changes).predict_proba(X)
        assert model.fitted_.model is statistics
        assert np.abs(found - before).max() > 1e-3
        np.testing.assert_array_equal(found, clone(model).fit(X, y).predict_proba(X))


def test_new_parameters_of_a_text_classifier_change_the_next_prediction():
    documents = ["cheap pills", "cheap lunch", "lunch at noon", "see you at lunch"]
    model = TextNaiveBayes().fit(documents, ["spam", "spam", "ham", "ham"])
    before = model.predict_proba(documents)
    found = model.set_params(smoothing=5.0).predict_proba(documents)
    assert np.abs(found - before).max() > 1e-3
    again = TextNaiveBayes(smoothing=5.0).fit(documents, ["spam", "spam", "ham", "ham"])
    np.testing.assert_array_equal(found, again.predict_proba(documents))


def test_new_parameters_of_a_drop_in_are_used_by_the_next_fit():
    X, y = np.array([[1.0], [2.0], [4.0], [7.0], [8.0]]), [0, 0, 0, 1, 1]
    model = GaussianNB().fit(X, y)
    before = model.predict_proba(X)
    model.set_params(priors=[0.1, 0.9])
    np.testing.assert_array_equal(model.predict_proba(X), before)
    expected = GaussianNB(priors=[0.1, 0.9]).fit(X, y).predict_proba(X)
    np.testing.assert_array_equal(model.fit(X, y).predict_proba(X), expected)


# ---------------------------------------------------------------------- threads


def test_no_rows_are_lost_when_threads_learn_at_once():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(400, 2)), np.arange(400) % 2
    model = NaiveBayes().partial_fit(X[:2], y[:2])
    threads = [
        threading.Thread(target=lambda at=at: model.partial_fit(X[at : at + 2], y[at : at + 2]))
        for at in range(2, 400, 2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert model.class_count_.tolist() == [200.0, 200.0]


@pytest.mark.parametrize("kind", [NaiveBayes, GaussianDiscriminant, TextNaiveBayes])
def test_own_classifiers_meet_classes_as_they_come(kind):
    model, texts = kind(), kind is TextNaiveBayes
    first = ["a pill", "a meeting"] if texts else [[1.0, 2.0], [3.0, 5.0]]
    model.partial_fit(first * 2, ["u", "v"] * 2)
    model.partial_fit(["a letter", "a card"] if texts else [[9.0, 1.0], [8.0, 2.0]], ["w", "w"])
    assert model.classes_.tolist() == ["u", "v", "w"]


def test_only_drop_in_classes_fix_their_classes():
    assert not NaiveBayes().specification().fixes_classes
    assert GaussianNB().specification().fixes_classes
