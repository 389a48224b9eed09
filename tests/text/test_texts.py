"""Texts are the same from every source."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from suffice.exceptions import InputError
from suffice.text.analysis import Analysis
from suffice.text.texts import Texts
from text.corpora import told

ROWS = ["Äpfel und pears", None, "", "日本 x1 😀", "pears pears"]
FULL = [text or "" for text in ROWS]
STRINGS = np.dtypes.StringDType(na_object=None)

WITH_MISSING = {
    "list": ROWS,
    "tuple": tuple(ROWS),
    "generator": lambda: (text for text in ROWS),
    "nan": [np.nan if text is None else text for text in ROWS],
    "NA": [pd.NA if text is None else text for text in ROWS],
    "object": np.array(ROWS, dtype=object),
    "column": np.array([ROWS], dtype=object).T,
    "strided": np.array([ROWS, ROWS], dtype=object).T[:, 0],
    "masked": np.ma.MaskedArray(np.array(FULL, dtype=object), [text is None for text in ROWS]),
    "StringDType": np.array(ROWS, dtype=STRINGS),
    "bytes": [text and text.encode() for text in ROWS],
    "pandas": pd.Series(ROWS, index=[4, 3, 2, 1, 0]),
    "pandas object": pd.Series(ROWS, dtype=object),
    "pandas python": pd.Series(ROWS, dtype="string[python]"),
    "pandas arrow": pd.Series(ROWS, dtype="string[pyarrow]"),
    "pandas ArrowDtype": pd.Series(ROWS, dtype=pd.ArrowDtype(pa.large_string())),
    "pandas category": pd.Series(ROWS, dtype="category"),
    "pandas frame": pd.DataFrame({"body": ROWS}),
    "polars": pl.Series(ROWS),
    "polars category": pl.Series(ROWS, dtype=pl.Categorical),
    "polars enum": pl.Series(ROWS, dtype=pl.Enum(sorted(set(FULL)))),
    "polars chunks": pl.concat([pl.Series(ROWS[:2]), pl.Series(ROWS[2:])], rechunk=False),
    "polars frame": pl.DataFrame({"body": ROWS}),
    "arrow": pa.array(ROWS),
    "arrow large": pa.array(ROWS, pa.large_string()),
    "arrow view": pa.array(ROWS, pa.string_view()),
    "arrow sliced": pa.array(["x", *ROWS, "y"]).slice(1, 5),
    "arrow chunks": pa.chunked_array([ROWS[:3], [], ROWS[3:]]),
    "arrow dictionary": pa.array(ROWS).dictionary_encode(),
    "arrow binary": pa.array([text and text.encode() for text in ROWS], pa.binary()),
    "arrow table": pa.table({"body": ROWS}),
    "arrow batch": pa.record_batch({"body": ROWS}),
}
WITHOUT = {
    "U": np.array(FULL),
    "S": np.array([text.encode() for text in FULL]),
    "str_": [np.str_(text) for text in FULL],
}


def made(source):
    return Texts.of(source() if callable(source) else source)


def words(texts, analysis):
    documents = texts.documents(analysis)
    assert len(documents) == len(texts)
    return [documents.words(row, analysis.token_rules) for row in range(len(texts))]


@pytest.mark.parametrize("name", [*WITH_MISSING, *WITHOUT])
@pytest.mark.parametrize("settings", [{}, {"strip_accents": "unicode"}, {"analyzer": str.split}], ids=told)
def test_every_source_gives_the_same_words(name, settings):
    texts, rows = made({**WITH_MISSING, **WITHOUT}[name]), ROWS if name in WITH_MISSING else FULL
    analysis = Analysis(**settings)
    expected = words(Texts(rows), analysis)
    assert list(texts.listed()) == rows
    assert words(texts, analysis) == expected
    assert texts.documents(analysis).missing.tolist() == [text is None for text in rows]
    for some in (texts.rows(1, 4), texts.rows(0, 5).rows(1, 4), texts.take(np.array([1, 2, 3]))):
        assert words(some, analysis) == expected[1:4]
    assert words(texts.take(np.array([4, 0, 0])), analysis) == [expected[4], expected[0], expected[0]]
    assert words(texts.rows(2, 2), analysis) == []
    assert words(pickle.loads(pickle.dumps(texts)), analysis) == expected


def test_no_copies_of_python_objects():
    for values in (ROWS, tuple(ROWS), np.array(ROWS, dtype=object)):
        assert Texts.of(values).values is values
    array = pd.Series(ROWS, dtype=object)
    assert np.shares_memory(Texts.of(array).values, array.to_numpy())


def test_documents_are_kept_for_the_same_analysis():
    texts = Texts.of(ROWS)
    assert texts.documents(Analysis()) is texts.documents(Analysis())
    assert texts.documents(Analysis()) is not texts.documents(Analysis(strip_accents="ascii"))
    assert Texts.of(texts) is texts


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ("a text", "string object received. Put the text into a list"),
        (b"a text", "string object received"),
        (5, "got int"),
        (None, "got NoneType"),
        ({"a": "b"}, "got dict"),
        (sparse.eye_array(3).tocsr(), "got csr_array"),
        (["a", 5], "Row 1 holds 5, which is not a string"),
        (["a", ["b"]], r"Row 1 holds \['b'\], which is not a string"),
        (np.arange(3.0), "Row 0 holds 0.0, which is not a string"),
        (np.array([["a", "b"]]), r"shape \(1, 2\)"),
        (np.array("a"), r"shape \(\)"),
        (pd.Series([np.nan, 2.5]), "Row 1 holds 2.5"),
        (pl.Series([1, 2]), "Row 0 holds 1"),
        (pa.array([True]), "Row 0 holds True"),
        (pd.DataFrame({"a": ["x"], "b": ["y"]}), "has 2: 'a', 'b'. Choose one"),
        (pl.LazyFrame({"a": ["x"]}), "collect"),
        ([b"ok", b"caf\xe9"], r"Row 1 holds bytes that are not utf-8: byte 3 is 0xe9. Set encoding"),
    ],
)
def test_invalid_columns(given, message):
    with pytest.raises(InputError, match=message):
        Texts.of(given)


def test_error_names_the_column():
    with pytest.raises(InputError, match="Column 'body', row 1 holds 5"):
        Texts.of(["a", 5], name="body")


def test_errors_hold_all_rows():
    with pytest.raises(InputError, match="Column 'body', row 11 holds 5") as error:
        Texts.of(["a", 5, b"\xff", None, 2.5], name="body", first=10)
    assert (error.value.rows, error.value.column) == ([11, 12, 14], "body")
    with pytest.raises(InputError) as error:
        Texts.of(["a", "b", "c"]).documents(Analysis(lambda text: 3 if text == "b" else []))
    assert error.value.rows == [1]
    with pytest.raises(InputError) as error:
        Texts.of(["a", None, "c"]).documents(Analysis(lambda text: [text, 3]))
    assert error.value.rows == [0, 2]


def test_bytes_in_another_encoding():
    given = ["été".encode("latin-1"), bytearray(b"a"), memoryview(b"b"), None]
    assert Texts.of(given, encoding="latin-1").listed() == ["été", "a", "b", None]
    assert Texts.of(given[:1], decode_error="replace").listed() == ["\ufffdt\ufffd"]
    assert Texts.of(given[:1], decode_error="ignore").listed() == ["t"]
    with pytest.raises(InputError, match="'klingon' is not an encoding"):
        Texts.of(given, encoding="klingon")
    with pytest.raises(InputError, match="decode_error must be one of"):
        Texts.of(given, decode_error="guess")


def test_columns_without_a_text():
    for given in (
        [],
        (),
        np.array([], dtype=object),
        np.array([]),
        pd.Series([], dtype=object),
        pa.array([], pa.string()),
    ):
        assert len(Texts.of(given)) == 0
    for given in ([None, np.nan], pd.Series([np.nan, np.nan]), pl.Series([None, None]), pa.nulls(2)):
        assert list(Texts.of(given).listed()) == [None, None]


ARROW = ("pandas", "pandas arrow", "pandas ArrowDtype", "pandas frame", "polars", "polars chunks", "polars frame")


@pytest.mark.parametrize("name", [*ARROW, *(name for name in WITH_MISSING if name.startswith("arrow"))])
def test_arrow_is_read_in_place(name):
    texts = made(WITH_MISSING[name])
    assert (texts.column is None) == (name in ("arrow dictionary", "arrow binary"))
    if texts.column is not None:
        assert texts.documents(Analysis()) is texts.column
        some = texts.take(np.array([3, 4, 1])).rows(1, 3)
        assert some.values is texts.values
        assert list(some.listed()) == [ROWS[4], ROWS[1]]


@pytest.mark.parametrize("name", [*WITH_MISSING, *WITHOUT])
def test_a_part_of_a_part(name):
    texts, rows = made({**WITH_MISSING, **WITHOUT}[name]), ROWS if name in WITH_MISSING else FULL
    part = texts.take(np.array([4, 0, 3])).take(np.array([2, 0]))
    assert list(part.listed()) == [rows[3], rows[4]]
    assert words(part, Analysis()) == words(Texts([rows[3], rows[4]]), Analysis())
    part = texts.take(np.array([4, 0, 3])).rows(1, 3).take(np.array([1]))
    assert list(part.listed()) == [rows[3]]
