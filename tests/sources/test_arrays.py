"""Plain arrays are read as scikit-learn reads them, though it is not asked."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.utils.validation import validate_data

from suffice import NaiveBayes
from suffice.naive_bayes import GaussianNB
from suffice.sources.arrays import MatrixReader

READER = MatrixReader("GaussianNB", missing=True)
OPTIONS = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}
X = np.random.default_rng(0).standard_normal((6, 3))
Y = np.array([0, 1, 0, 1, 2, 2])
ROWS = {
    "rows": X,
    "columns": np.asfortranarray(X),
    "strided": np.repeat(X, 2, axis=1)[:, ::2],
    "single": X.astype(np.float32),
    "half": X.astype(np.float16),
    "extended": X.astype(np.longdouble),
    "swapped": X.astype(">f8"),
    "whole": (10 * X).astype(np.int16),
    "large": np.full((6, 3), 2**63 + 1, dtype=np.uint64),
    "swapped whole": (10 * X).astype(">i4"),
    "truth": X > 0,
    "objects": X.astype(object),
    "list": X.tolist(),
    "subclass": X.view(type("Mine", (np.ndarray,), {})),
    "not finite": np.where(X > 1, np.nan, np.where(X < -1, np.inf, X)),
    "read-only": np.frombuffer(X.tobytes()).reshape(6, 3),
}
LABELS = {
    "whole": Y,
    "small": Y.astype(np.int8),
    "unsigned": Y.astype(np.uint64),
    "truth": Y > 0,
    "texts": np.array(list("abcabc")),
    "objects": np.array(list("abcabc"), dtype=object),
    "numbers": Y.astype(float),
    "strided": np.repeat(Y, 2)[::2],
    "swapped": Y.astype(">i8"),
    "list": Y.tolist(),
}


def alike(a, b):
    return type(a) is type(b) and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


@pytest.mark.parametrize("rows", ROWS)
def test_rows_are_those_of_scikit_learn(rows):
    theirs = LogisticRegression()
    table, _, layout = READER.training(ROWS[rows], Y)
    expected, _ = validate_data(theirs, ROWS[rows], Y, reset=True, **OPTIONS)
    assert alike(table.x, expected)
    assert (layout.n_columns, layout.feature_names) == (theirs.n_features_in_, None)
    assert not hasattr(theirs, "feature_names_in_")
    again, expected = READER.rows(ROWS[rows], layout).x, validate_data(theirs, ROWS[rows], reset=False, **OPTIONS)
    assert alike(again, expected)
    assert np.shares_memory(again, ROWS[rows]) == np.shares_memory(expected, ROWS[rows])


@pytest.mark.parametrize("labels", LABELS)
def test_labels_are_those_of_scikit_learn(labels):
    _, found, _ = READER.training(X, LABELS[labels])
    _, expected = validate_data(LogisticRegression(), X, LABELS[labels], reset=True, **OPTIONS)
    assert alike(found, expected)
    assert found.flags.c_contiguous


WRONG = {
    "one dimension": (X[0], Y),
    "three dimensions": (X[None], Y),
    "no rows": (X[:0], Y[:0]),
    "no columns": (X[:, :0], Y),
    "too few labels": (X, Y[:-1]),
    "no labels": (X, None),
    "two columns of labels": (X, np.column_stack([Y, Y])),
    "complex": (X + 1j, Y),
    "matrix": (X.view(np.matrix), Y),
}


@pytest.mark.parametrize("case", WRONG)
def test_errors_are_those_of_scikit_learn(case):
    rows, labels = WRONG[case]
    with pytest.raises((TypeError, ValueError)) as expected:
        validate_data(LogisticRegression(), rows, labels, reset=True, **OPTIONS)
    with pytest.raises(expected.type) as found:
        READER.training(rows, labels)
    assert str(found.value) == str(expected.value).replace("LogisticRegression", "GaussianNB")


def test_a_column_of_labels_warns():
    with pytest.warns(Warning, match="column-vector y"):
        READER.training(X, Y[:, None])


def test_other_columns_are_refused():
    model = GaussianNB().fit(X, Y)
    for verb in (model.predict, lambda rows: model.partial_fit(rows, Y)):
        with pytest.raises(ValueError, match="X has 2 features, but GaussianNB is expecting 3 features as input"):
            verb(X[:, :2])
    assert model.n_features_in_ == 3


def test_names_of_columns_are_remembered_missed_and_forgotten():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = GaussianNB().fit(frame, Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    for verb in (model.predict, lambda rows: model.partial_fit(rows, Y)):
        with pytest.warns(UserWarning, match="X does not have valid feature names, but GaussianNB was fitted with"):
            verb(X)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.fit(X, Y).predict(X)
    assert not hasattr(model, "feature_names_in_")


def test_plain_arrays_are_read_without_scikit_learn(monkeypatch):
    monkeypatch.setattr("sklearn.utils.validation.validate_data", None)
    GaussianNB().fit(X, Y).partial_fit(X[:1], Y[:1]).predict(X)


def test_no_rows_of_objects():
    model = NaiveBayes().fit(np.array([["a", 1.0], ["b", 2.0]] * 3, dtype=object), [0, 1] * 3)
    with pytest.raises(ValueError, match="0 sample"):
        model.predict(np.empty((0, 2), dtype=object))
