"""Strings that are not UTF-8 are errors that name the rows; so are other columns that libraries cannot convert."""

import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice import NaiveBayes, TextNaiveBayes
from suffice.discriminant_analysis import LinearDiscriminantAnalysis
from suffice.exceptions import ClassError, EmptyColumnWarning, InputError, SufficeError
from suffice.model_selection import cross_val_predict
from suffice.naive_bayes import GaussianNB

LABELS = ["a", "b", "a", "b"]
BAD = pa.StringArray.from_buffers(4, pa.py_buffer(np.array([0, 1, 3, 4, 5], np.int32)), pa.py_buffer(b"x\xff\xfey\xe9"))
CODED = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), BAD)
COLUMNS = {
    "arrow": lambda: BAD,
    "arrow chunks": lambda: pa.chunked_array([BAD[:2], BAD[2:]]),
    "arrow view": lambda: pa.array([b"x", b"\xff", b"y", b"\xe9"], pa.binary_view()).view(pa.string_view()),
    "dictionary": lambda: CODED,
    "polars": lambda: pl.from_arrow(BAD),
    "polars categorical": lambda: pl.from_arrow(BAD).cast(pl.Categorical),
    "pandas": lambda: pd.Series(pd.arrays.ArrowExtensionArray(pa.chunked_array([BAD]))),
}


def frame(column):
    if isinstance(column, pl.Series):
        return pl.DataFrame({"c": column, "x": [1.0, 2.0, 3.0, 4.0]})
    if isinstance(column, pd.Series):
        return pd.DataFrame({"c": column, "x": [1.0, 2.0, 3.0, 4.0]})
    return pa.table({"c": column, "x": [1.0, 2.0, 3.0, 4.0]})


@pytest.mark.parametrize("kind", COLUMNS)
def test_columns_labels_and_documents(kind, capfd):
    column = COLUMNS[kind]()
    with pytest.raises(InputError, match="Column 'c', row 1 has bytes that are not UTF-8") as caught:
        NaiveBayes({"c": "categorical"}).fit(frame(column), LABELS)
    assert list(caught.value.rows) == [1, 3]
    with pytest.raises(ClassError, match="Row 1 has bytes that are not UTF-8") as caught:
        NaiveBayes().fit(np.ones((4, 1)), column)
    assert list(caught.value.rows) == [1, 3]
    for settings in ({}, {"strip_accents": "unicode"}, {"analyzer": str.split}):
        with pytest.raises(InputError, match="ow 1 has bytes that are not UTF-8"):
            TextNaiveBayes(**settings).fit(column, LABELS)
    with pytest.raises((InputError, ValueError), match=r"UTF-8|convert"):
        GaussianNB().fit(frame(column), LABELS)
    with pytest.raises(SufficeError):
        GaussianNB().fit(np.ones((4, 1)), [0, 1, 0, 1]).score(np.ones((4, 1)), column)
    assert "panicked" not in capfd.readouterr().err


def test_string_views_of_pandas():
    views = pd.Series(LABELS, dtype=pd.ArrowDtype(pa.string_view()))
    x = np.arange(4.0)[:, None]
    assert NaiveBayes().fit(x, views).classes_.tolist() == ["a", "b"]
    assert GaussianNB().fit(x, views).score(x, views) == NaiveBayes().fit(x, views).score(x, views)
    data = pd.DataFrame({"c": views})
    assert NaiveBayes().fit(data, LABELS).predict(data).tolist() == LABELS
    assert len(cross_val_predict(NaiveBayes(), pd.concat([data] * 5), LABELS * 5)) == 20
    assert (
        len(cross_val_predict(NaiveBayes(), pa.table({"c": pa.array(LABELS * 5, pa.string_view())}), LABELS * 5)) == 20
    )
    assert TextNaiveBayes(min_length=1).fit(views, LABELS).predict(views).tolist() == LABELS


@pytest.mark.parametrize("integer", [pa.int32(), pa.uint64()])
@pytest.mark.parametrize("entries", [pa.array([], pa.string()), pa.nulls(0), pa.array([None], pa.string())])
def test_dictionaries_without_a_value(entries, integer):
    coded = pa.DictionaryArray.from_arrays(pa.nulls(4, integer), entries)
    data = pa.table({"c": coded, "x": [1.0, 2.0, 3.0, 4.0]})
    with pytest.warns(EmptyColumnWarning, match="no values in column 'c'"):
        NaiveBayes().fit(data, LABELS).predict(data)
    for labels in (coded, pa.chunked_array([coded])):
        for model in (NaiveBayes(), GaussianNB()):
            with pytest.raises(ClassError, match="no label in row 0"):
                model.fit(np.ones((4, 1)), labels)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "predict_log_proba", "decision_function", "transform"])
def test_objects_that_are_not_numbers(method):
    x = np.random.default_rng(0).normal(size=(20, 2))
    model = LinearDiscriminantAnalysis().fit(x, np.arange(20) % 2)
    huge = np.array([[1.0, 10**400]], dtype=object)
    with pytest.raises(InputError, match="an integer too large for float64"):
        getattr(model, method)(huge)
    with pytest.raises(InputError, match="an integer too large for float64"):
        LinearDiscriminantAnalysis().fit(np.repeat(huge, 4, axis=0), LABELS)


def test_columns_that_arrow_cannot_convert():
    encoded = pa.RunEndEncodedArray.from_arrays(pa.array([4], pa.int32()), pa.array([1.0]))
    with pytest.raises(InputError, match="cannot be converted"):
        GaussianNB().fit(pa.table({"x": encoded}).to_pandas(types_mapper=pd.ArrowDtype), LABELS)


def test_labels_of_bytes_and_strings():
    for model in (NaiveBayes(), GaussianNB(), TextNaiveBayes()):
        x = ["one two", "two three"] if isinstance(model, TextNaiveBayes) else [[1.0], [2.0]]
        with pytest.raises((ClassError, InputError), match=r"one type|converted"):
            model.fit(x, [b"\xff", "a"])


def test_signalling_nan_is_missing():
    nan = decimal.Decimal("sNaN")
    with pytest.raises(ClassError, match="no label in row 1"):
        NaiveBayes().fit(np.ones((2, 1)), [decimal.Decimal(1), nan])
