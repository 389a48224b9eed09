"""Columns of labels: their classes and types, unknown labels, and columns that cannot be labels."""

import datetime as dt
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from suffice import ClassError, GaussianDiscriminant, InputError, MergeError, NaiveBayes
from suffice.learning.labels import KnownLabelReader, LabelReader, text_labels
from suffice.naive_bayes import GaussianNB
from suffice.sources.files import open_source

X = np.random.default_rng(0).normal(size=12)


def table(labels, **columns):
    labels = labels if isinstance(labels, pa.Array) else pa.array(labels)
    return pa.table({"x": np.resize(X, len(labels)), "label": labels} | columns)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes", "no", "no", "yes", "no"]),
        np.array([3, -1, 3, 3, -1, 7]),
        np.array([3, 1, 3, 3, 1, 7], dtype=np.uint8),
        np.array([True, False, True, True, False, True]),
        np.array([0.0, 1.0, 2.0, 0.0, 1.0, 2.0]),
        np.array(["größer", "", "größer", "x" * 40, "", "x"]),
    ],
    ids=lambda labels: labels.dtype.str,
)
@pytest.mark.parametrize("batch_rows", [1, 4, 100])
def test_classes_are_those_of_an_array(labels, batch_rows):
    found = NaiveBayes().fit(open_source(table(labels), batch_rows=batch_rows), "label")
    whole = NaiveBayes().fit(X[:6, None], labels)
    assert found.classes_.dtype == whole.classes_.dtype
    assert found.classes_.tolist() == whole.classes_.tolist()
    one = found.predict(pa.table({"x": [0.0]}))
    assert type(one[0]) is type(whole.predict([[0.0]])[0])
    np.testing.assert_array_equal(found.class_count_, whole.class_count_)


def test_dictionary_entries_without_rows_are_not_classes():
    coded = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2, 0], pa.int8()), ["b", "never", "a"])
    assert NaiveBayes().fit(table(coded), "label").classes_.tolist() == ["a", "b"]
    numbers = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1, 0]), [7, 5])
    assert NaiveBayes().fit(table(numbers), "label").classes_.tolist() == [5, 7]


def test_codes_are_those_of_numpy():
    rng = np.random.default_rng(0)
    names = np.array(["zebra", "ant", "mole", "bee"])
    reader, seen = LabelReader("label"), []
    for n_classes in (2, 2, 3, 1, 4):
        labels = names[rng.integers(0, n_classes, 50)]
        codes, missing = reader.read(pa.chunked_array([labels.tolist()]))
        assert missing is None
        np.testing.assert_array_equal(reader.axis.labels[codes], labels)
        reader.learned(codes)
        seen += labels.tolist()
    np.testing.assert_array_equal(reader.counts, np.unique(seen, return_counts=True)[1])


@pytest.mark.parametrize("labels", [["a", None, "b", None], [1, None, 2, None], [1.0, np.nan, 2.0, None], [None] * 4])
def test_missing_labels(labels):
    with pytest.raises(InputError, match=r"row \d, column 'label' has no label\.") as caught:
        NaiveBayes().fit(table(labels), "label")
    assert not {"bad_rows", "nulls"} & set(str(caught.value).replace("=", " ").split())
    left = [each for each in labels if each is not None and each == each]
    source = open_source(table(labels), bad_rows="skip")
    if not left:
        with pytest.raises(InputError, match=r"No row .* can be used. The first problem: .*no label"):
            NaiveBayes().fit(source, "label")
        return
    found = NaiveBayes().fit(source, "label")
    assert found.classes_.tolist() == left
    assert (found.report_.n_rows, found.report_.skipped) == (2, 2)
    assert "2 rows" in found.report_.faults[0]


def test_an_unknown_target():
    with pytest.raises(InputError, match=r"has no column 'lable'. Did you mean 'label'\? It has 'x', 'label'"):
        NaiveBayes().fit(table(["a", "b"]), "lable")
    with pytest.raises(InputError, match="has no column 'w'"):
        NaiveBayes().fit(table(["a", "b"]), "label", "w")
    with pytest.raises(InputError, match="no column to learn from"):
        NaiveBayes().fit(table(["a", "b"]).select(["label"]), "label")
    with pytest.raises(InputError, match="Column 'label' cannot be both the target and the weights"):
        NaiveBayes().fit(table([1, 2]), "label", "label")


@pytest.mark.parametrize("make", [NaiveBayes, GaussianDiscriminant, GaussianNB])
def test_one_class(make):
    with pytest.raises(ClassError, match="Column 'label' holds 'a' in all 5 rows; expected at least two") as caught:
        make().fit(open_source(table(["a"] * 5), batch_rows=2), "label")
    assert caught.value.column == "label"


def test_identifiers_are_not_classes():
    with pytest.raises(ClassError, match="Column 'label' has 6 different values in as many rows"):
        NaiveBayes().fit(table(list("abcdef")), "label")
    given = []

    def stream():
        for start in range(0, 50_000, 2_000):
            given.append(start)
            yield pa.record_batch({"x": np.zeros(2_000), "label": np.arange(start, start + 2_000)})

    schema = pa.schema([("x", pa.float64()), ("label", pa.int64())])
    reader = pa.RecordBatchReader.from_batches(schema, stream())
    with pytest.raises(
        ClassError, match=r"2,000 different values in as many rows: it looks like a quantity or an ident"
    ):
        NaiveBayes().fit(open_source(reader, batch_rows=2_000), "label")
    assert len(given) < 10  # only batches that were read ahead
    many = [f"{i}" for i in range(1_100)] + ["0"] * 900
    with pytest.raises(ClassError, match="has 1,100 different values in 2,000 rows"):
        NaiveBayes().fit(table(many), "label")
    several = NaiveBayes().fit(table([f"{i % 900}" for i in range(1_800)]), "label")
    assert len(several.classes_) == 900


def test_numbers_that_are_not_whole():
    with pytest.raises(
        InputError, match=r"row 2, column 'label' holds 2.5, which is not a whole number. .* looks like"
    ):
        NaiveBayes().fit(table([1.0, 2.0, 2.5, 3.5]), "label")
    with pytest.raises(InputError, match="row 1, column 'label' holds inf"):
        NaiveBayes().fit(table([1.0, np.inf, 2.0]), "label")
    with pytest.raises(InputError, match="cannot be class labels"):
        NaiveBayes().fit(table(pa.array([0, 1], pa.timestamp("s"))), "label")


def test_whole_numbers_may_come_as_floats_later(tmp_path):
    (tmp_path / "a.csv").write_text("x,label\n1,0\n2,1\n")
    (tmp_path / "b.csv").write_text("x,label\n1,0.0\n5,2.0\n")
    found = NaiveBayes().fit([tmp_path / "a.csv", tmp_path / "b.csv"], "label")
    assert found.classes_.tolist() == [0, 1, 2]
    assert found.class_count_.tolist() == [2, 1, 1]


def test_classes_new_to_a_model():
    more = table(["a", "new", "b"])
    own = NaiveBayes().fit(table(["a", "b"] * 2), "label")
    assert own.partial_fit(more, "label").classes_.tolist() == ["a", "b", "new"]
    theirs = GaussianNB().fit(table(["a", "b"] * 2), "label")
    with pytest.raises(ClassError, match="'label' holds 'new', which is not among the classes of the model, 'a', 'b'"):
        theirs.partial_fit(more, "label")
    with pytest.raises(MergeError, match="Rows of class 'new' cannot be removed: the model has none"):
        theirs.remove(more, "label")
    with pytest.raises(ClassError, match="labels of different types"):
        own.partial_fit(table([0, 1]), "label")
    expected = GaussianNB().partial_fit(table(["a", "b"] * 2), "label", classes=["a", "b", "c"])
    assert expected.classes_.tolist() == ["a", "b", "c"]
    assert expected.partial_fit(table(["c", "b"]), "label").class_count_.tolist() == [2, 3, 1]


@pytest.mark.parametrize(
    ("classes", "column", "codes", "unknown"),
    [
        (["no", "yes"], pa.array(["yes", "perhaps", "no", None, "never"]), [1, 2, 0, -1, 3], ["perhaps", "never"]),
        ([0, 1], pa.array(["1", "0", "x", "1.0"]), [1, 0, 2, 3], ["x", "1.0"]),
        (["0", "1"], pa.array([1, 0, 7, None]), [1, 0, 2, -1], [7]),
        ([1.0, 2.0], pa.array([2.0, np.nan, 2.5], from_pandas=False), [1, -1, 2], [2.5]),
        ([False, True], pa.array([True, None, False]), [1, -1, 0], []),
        (["a"], pa.DictionaryArray.from_arrays(pa.array([2, 0], pa.int8()), ["a", "never", "b"]), [1, 0], ["b"]),
        (["a"], pa.DictionaryArray.from_arrays(pa.array([1, 0]), ["a", None]), [-1, 0], []),
        (["a"], pa.array([None, None], pa.null()), [-1, -1], []),
        (
            ["a"],
            pa.array([0, 1], pa.timestamp("s")),
            [1, 2],
            [dt.datetime(1970, 1, 1), dt.datetime(1970, 1, 1, 0, 0, 1)],
        ),
    ],
)
def test_known_classes_come_before_unknown_labels(classes, column, codes, unknown):
    reader = KnownLabelReader(classes)
    found, missing = reader.read(pa.chunked_array([column]))
    assert found.tolist() == codes
    assert (missing is None and -1 not in codes) or missing.tolist() == [code < 0 for code in codes]
    assert reader.labels == classes + unknown
    assert reader.unknown == unknown


def test_unknown_labels_keep_their_positions_in_later_batches():
    reader = KnownLabelReader(["a", "b"])
    assert reader.read(pa.chunked_array([["z", "b"], ["y", "z"]]))[0].tolist() == [2, 1, 3, 2]
    assert reader.read(pa.chunked_array([["y", "x", "a"]]))[0].tolist() == [3, 4, 0]
    assert reader.read(pa.chunked_array([[]], pa.string()))[0].tolist() == []
    assert reader.labels == ["a", "b", "z", "y", "x"]


def test_a_class_without_weight():
    rows = table(["a", "b", "c", "a", "b"], w=pa.array([1.0, 2, 0, 1, 1]))
    assert NaiveBayes().fit(rows, "label", "w").classes_.tolist() == ["a", "b"]
    kept = GaussianNB().fit(rows, "label", "w")
    whole = GaussianNB().fit(X[:5, None], np.array(list("abcab")), sample_weight=[1.0, 2, 0, 1, 1])
    assert kept.classes_.tolist() == whole.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(kept.theta_, whole.theta_, rtol=1e-12)


NAMES = ["spam", "ham", "ham", "news", "spam", "ham"]
HOLDERS = {
    "list": list,
    "fixed width": np.array,
    "objects": lambda names: np.array(names, dtype=object),
    "pandas": pd.Series,
    "pandas objects": lambda names: pd.Series(names, dtype=object),
    "pandas categories": lambda names: pd.Series(names, dtype="category"),
    "polars": pl.Series,
    "polars categories": lambda names: pl.Series(names, dtype=pl.Categorical),
    "arrow": pa.array,
    "arrow chunks": lambda names: pa.chunked_array([names[:2], names[2:]]),
    "arrow dictionary": lambda names: pa.array(names).dictionary_encode(),
}


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_text_labels_of_every_engine_are_coded_without_sorting(holder):
    axis, codes = text_labels(holder(NAMES))
    assert axis.labels.tolist() == ["ham", "news", "spam"]
    assert codes.tolist() == [2, 0, 0, 1, 2, 0]


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_classes_have_the_type_that_numpy_gives_the_labels(holder):
    y = holder(NAMES)
    model = GaussianNB().fit(np.arange(6.0)[:, None], y)
    assert model.classes_.dtype.kind == np.asarray(y).dtype.kind
    assert model.class_count_.tolist() == [3, 1, 2]


@pytest.mark.parametrize("holder", ["list", "objects", "pandas", "polars", "arrow"])
def test_a_missing_text_label_is_an_error_with_its_row(holder):
    y = HOLDERS[holder](["spam", "ham", None, "ham"])
    assert text_labels(y) is None
    with pytest.raises(ValueError, match=r"NaN|None"):
        GaussianNB().fit(np.arange(4.0)[:, None], y)


def test_zeros_at_the_end_of_a_label_in_a_list():
    assert text_labels(["a", "a\0"]) is None
    assert text_labels(np.array(["a", "a\0"], dtype=object))[0].labels.tolist() == ["a", "a\0"]


@pytest.mark.parametrize("missing", [float("nan"), np.nan, np.float64("nan"), np.float32("nan"), None])
@pytest.mark.parametrize("holder", [list, tuple])
@pytest.mark.parametrize("make", [GaussianNB, NaiveBayes])
def test_a_missing_label_among_texts_of_a_list(holder, missing, make):
    X = np.arange(4.0)[:, None]
    for labels, row in ((["a", missing, "b", "a"], 1), ([missing, "a", "b", "a"], 0)):
        for learn in (make().fit, partial(make().partial_fit, classes=["a", "b"])):
            with pytest.raises(ClassError, match=f"no label in row {row}") as raised:
                learn(X, holder(labels))
            assert list(raised.value.rows) == [row]
            assert raised.value.argument == "y"
