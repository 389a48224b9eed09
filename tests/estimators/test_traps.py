"""Small traps: attributes that could be overwritten, settings that a file remembers otherwise, errors without facts."""

import pickle

import numpy as np
import pytest

import suffice
from every_estimator import ESTIMATORS
from suffice import InputError, NaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.naive_bayes import GaussianNB, MultinomialNB


def arrays_of(model):
    """Fitted attributes that are arrays, or lists of arrays, by name and position."""
    for name in sorted(name for name in dir(model) if name.endswith("_") and not name.startswith("_")):
        try:
            value = getattr(model, name)
        except AttributeError:
            continue
        parts = value if isinstance(value, list | tuple) else [value]
        yield from ((f"{name} {i}", part) for i, part in enumerate(parts) if isinstance(part, np.ndarray))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_fitted_attributes_do_not_give_the_model_away(name):
    make, rows = ESTIMATORS[name]
    y = np.arange(90) % 3
    model = make().fit(rows(np.random.default_rng(0), y), y)
    before = {where: array.copy() for where, array in arrays_of(model)}
    assert "classes_ 0" in before
    for _, array in arrays_of(model):
        if array.flags.writeable:
            array[...] = 0  # a copy that is made for each access may be written
    for where, array in arrays_of(model):
        np.testing.assert_array_equal(array, before[where], err_msg=where)


def test_a_file_holds_the_settings_that_the_model_predicts_with(tmp_path):
    X, y = np.array([[3.0, 0.0], [2.0, 1.0], [0.0, 2.0]]), ["a", "a", "b"]
    for model, setting in (
        (MultinomialNB(), {"alpha": 50.0}),
        (GaussianNB(), {"var_smoothing": 10.0}),
        (LinearDiscriminantAnalysis(solver="lsqr"), {"priors": [0.9, 0.1]}),
        (NaiveBayes("poisson"), {"smoothing": 50.0}),
    ):
        model.fit(X, y)
        known = model.predict_proba(X)
        model.set_params(**setting)
        after = model.predict_proba(X)
        model.save(tmp_path / "m.suffice")
        np.testing.assert_array_equal(suffice.load(tmp_path / "m.suffice").predict_proba(X), after)
        assert np.array_equal(known, after) == (not isinstance(model, NaiveBayes))


@pytest.mark.parametrize("method", ["mutual_information", "sample"])
@pytest.mark.parametrize("seed", ["x", -1, 1.5])
def test_a_seed_that_is_not_one(method, seed):
    model = NaiveBayes().fit([[1.0], [2.0], [3.0], [5.0]], ["a", "a", "b", "b"])
    with pytest.raises(InputError, match="random_state is a whole number") as caught:
        getattr(model, method)(10, random_state=seed)
    assert caught.value.argument == "random_state"


def test_lengths_and_weights_are_facts():
    X = [[1.0], [2.0], [3.0]]
    with pytest.raises(InputError, match="inconsistent numbers of samples") as caught:
        NaiveBayes().fit(X, ["a", "b"])
    assert caught.value.argument == "y"
    for weights, rows in (([1.0, 2.0], None), ([1.0, -2.0, np.nan], [1, 2]), ([1.0, 2.0, -1.0], [2])):
        with pytest.raises(InputError) as caught:
            NaiveBayes().fit(X, ["a", "b", "a"], sample_weight=weights)
        assert (caught.value.argument, caught.value.rows) == ("sample_weight", rows)


def test_rows_of_an_error_are_a_list():
    for rows in ([3, 8], (3, 8), np.array([3, 8]), range(3, 9, 5)):
        assert InputError.in_row("is wrong.", rows=rows).rows == [3, 8]


class Mine(NaiveBayes):
    """A class of the user's own."""


class MineToo(LinearDiscriminantAnalysis):
    """A subclass of a drop-in."""


@pytest.mark.parametrize("kind", [Mine, MineToo])
def test_messages_name_the_class_of_the_user(kind):
    X, y = np.array([[1.0, 2.0], [2.0, 1.0], [4.0, 4.0], [5.0, 3.0], [5.5, 4.0]]), [0, 0, 1, 1, 1]
    model = kind().fit(X, y)
    with pytest.raises(ValueError, match=f"but {kind.__name__} is expecting 2 features"):
        model.predict(X[:, :1])
    with pytest.raises(ValueError, match=f"This {kind.__name__} estimator requires y"):
        kind().fit(X, None)
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()
    assert (kind().partial_fit(X, y, classes=[0, 1]).predict(X) == model.predict(X)).all()
