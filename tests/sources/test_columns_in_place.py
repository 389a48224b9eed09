"""Columns of frames are read without copies and give the same numbers and codes as Python objects."""

import tracemalloc

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from fitted_models import table_of as rows_of_model
from suffice import InputError, NaiveBayes
from suffice.learning import prediction
from suffice.naive_bayes import CategoricalNB
from suffice.sources.columns import ColumnTable, ObjectColumn
from suffice.sources.frames import FrameColumn, as_frame
from suffice.sources.labels import encode, read_labels
from suffice.statistics import ClassAxis, Counts, Membership, Moments, exact_moments, moments
from suffice.tables import column_matrix
from suffice.tables.column_matrix import ColumnMatrix
from suffice.tables.stored_columns import NumberColumn, StoredCodes

N = 500
RNG = np.random.default_rng(5)
CODES = RNG.integers(0, 3, N)
MEMBERS = Membership(ClassAxis.of(["a", "b", "c"]), codes=CODES)
HOLES = RNG.random(N) < 0.1
TEXTS = np.array(["pear", "apple", "fig", "date"])[RNG.integers(0, 4, N)]
WHOLE = RNG.integers(0, 7, N)
NAMES = ["pear", "fig", "zebra", "date", "apple"]

ENGINES = {
    "pandas": lambda column: pd.DataFrame({"x": column}),
    "polars": lambda column: pl.DataFrame({"x": column}),
    "arrow": lambda column: pa.table({"x": column}),
}
TYPES = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]


def table_of(frame):
    seen = as_frame(frame)
    return ColumnTable(len(seen), [FrameColumn(seen.get_column(name)) for name in seen.columns], seen.columns)


def listed(values):
    """The same cells as Python objects."""
    return ColumnTable(len(values), [ObjectColumn(values)], ["x"])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("dtype", TYPES)
def test_numbers_without_holes_are_not_copied(engine, dtype):
    values = (WHOLE % 2 if dtype == "?" else WHOLE).astype(dtype)
    table = table_of(ENGINES[engine](values))
    for some, expected in ((table, values), (table.rows(100, 300), values[100:300])):
        x = some.numbers([0], ["x"])
        assert isinstance(x, ColumnMatrix)
        assert x.is_stored
        assert x.columns[0].dtype == values.dtype
        np.testing.assert_array_equal(np.asarray(x)[:, 0], expected)
    again = table.numbers([0], ["x"]).columns[0]
    assert np.shares_memory(again, table.rows(10, 20).numbers([0], ["x"]).columns[0])
    column = table.categories([0], ["x"]).columns[0]
    assert isinstance(column, StoredCodes if dtype == "?" else NumberColumn)
    assert np.shares_memory(column.stored, again)


def with_holes(values):
    return [None if hole else value for value, hole in zip(values.tolist(), HOLES, strict=True)]


def in_two(values):
    return values[:99], values[99:]


FORMS = {
    "pandas floats": lambda: pd.DataFrame({"x": np.where(HOLES, np.nan, WHOLE)}),
    "pandas nullable": lambda: pd.DataFrame({"x": pd.array(with_holes(WHOLE), dtype="Int16")}),
    "pandas nullable floats": lambda: pd.DataFrame({"x": pd.array(with_holes(WHOLE * 1.0), dtype="Float32")}),
    "pandas Arrow": lambda: pd.DataFrame({"x": pd.array(with_holes(WHOLE), dtype="int32[pyarrow]")}),
    "pandas objects": lambda: pd.DataFrame({"x": pd.Series(with_holes(WHOLE), dtype=object)}),
    "polars": lambda: pl.DataFrame({"x": pl.Series(with_holes(WHOLE), dtype=pl.Int8)}),
    "polars floats": lambda: pl.DataFrame({"x": pl.Series(with_holes(WHOLE), dtype=pl.Float32)}),
    "polars NaN": lambda: pl.DataFrame({"x": np.where(HOLES, np.nan, WHOLE)}),
    "polars chunks": lambda: pl.concat([pl.DataFrame({"x": part}) for part in in_two(with_holes(WHOLE * 1.0))]),
    "arrow": lambda: pa.table({"x": pa.array(with_holes(WHOLE), pa.int64())}),
    "arrow floats": lambda: pa.table({"x": pa.array(with_holes(WHOLE), pa.float32())}),
    "arrow chunks": lambda: pa.table({"x": pa.chunked_array(in_two(with_holes(WHOLE)), pa.float64())}),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("cells", [None, 64, 0])
def test_numbers_with_holes(form, cells, monkeypatch):
    if cells:  # many blocks
        monkeypatch.setattr(column_matrix, "BLOCK_CELLS", cells)
    if cells == 0:  # in place, as large tables are
        monkeypatch.setattr(moments, "EXACT_CELLS", 0)
        monkeypatch.setattr(exact_moments, "EXACT_CELLS", 0)
    table, plain = table_of(FORMS[form]()), listed(with_holes(WHOLE))
    expected = np.where(HOLES, np.nan, WHOLE)
    np.testing.assert_array_equal(np.asarray(table.numbers([0], ["x"]))[:, 0], expected)
    np.testing.assert_array_equal(np.asarray(table.rows(50, 90).numbers([0], ["x"]))[:, 0], expected[50:90])
    for weights in (None, RNG.random(N)):
        members = Membership(MEMBERS.classes, codes=CODES, weights=weights)
        found, sure = (Moments.summarize(each.numbers([0], ["x"]), members) for each in (table, plain))
        for name, each in found.arrays().items():
            if not name.endswith("_low"):
                np.testing.assert_allclose(each, getattr(sure, name), rtol=1e-12, err_msg=name)
        if weights is None and cells == 0 and form in ("polars", "polars floats", "arrow", "arrow floats"):
            rows = table.numbers([0], ["x"])
            Moments.summarize(rows, members)
            assert "columns" not in vars(rows)  # where copies would be kept
        counts, known = (Counts.summarize(each.categories([0], ["x"]), members) for each in (table, plain))
        assert counts.levels == known.levels
        np.testing.assert_allclose(counts.count, known.count, rtol=1e-14)
        np.testing.assert_allclose(counts.missing, known.missing, rtol=1e-14)
    some = table.rows(50, 90).categories([0], ["x"]).columns[0]
    np.testing.assert_array_equal([value is None for value in some.values(40)], HOLES[50:90])


TEXT_FORMS = {
    "pandas category": lambda v: pd.DataFrame({"x": pd.Categorical(v, categories=NAMES)}),
    "pandas texts": lambda v: pd.DataFrame({"x": v}),
    "pandas objects": lambda v: pd.DataFrame({"x": pd.Series(v, dtype=object)}),
    "polars category": lambda v: pl.DataFrame({"x": pl.Series(v, dtype=pl.Categorical)}),
    "polars enum": lambda v: pl.DataFrame({"x": pl.Series(v, dtype=pl.Enum(NAMES))}),
    "polars texts": lambda v: pl.DataFrame({"x": pl.Series(v, dtype=pl.String)}),
    "arrow dictionary": lambda v: pa.table({"x": pa.array(v, pa.string()).dictionary_encode()}),
    "arrow texts": lambda v: pa.table({"x": pa.array(v, pa.string())}),
    "arrow chunks": lambda v: pa.table({"x": pa.chunked_array(in_two(v), pa.string())}),
}  # fmt: skip


@pytest.mark.parametrize("form", TEXT_FORMS)
@pytest.mark.parametrize("holes", [False, True])
def test_categories(form, holes):
    values = with_holes(TEXTS) if holes else TEXTS.tolist()
    table, plain = table_of(TEXT_FORMS[form](values)), listed(values)
    column = table.categories([0], ["x"]).columns[0]
    assert isinstance(column, StoredCodes)
    assert column.values(N) == values
    assert table.rows(30, 60).categories([0], ["x"]).columns[0].values(30) == values[30:60]
    assert table.take(np.array([7, 3, 3])).categories([0], ["x"]).columns[0].values(3) == [values[i] for i in (7, 3, 3)]
    for members in (
        MEMBERS,
        Membership(MEMBERS.classes, codes=CODES, weights=RNG.random(N)),
        Membership(MEMBERS.classes, soft=RNG.dirichlet(np.ones(3), N)),
    ):
        found, known = (Counts.summarize(each.categories([0], ["x"]), members) for each in (table, plain))
        for j, value in enumerate(known.levels[0].values):
            at = found.levels[0].place[value]
            np.testing.assert_allclose(found.count[:, at], known.count[:, j], rtol=1e-14)
        np.testing.assert_allclose(found.count.sum(), known.count.sum(), rtol=1e-14)
        np.testing.assert_allclose(found.missing, known.missing, rtol=1e-14)


@pytest.mark.parametrize("n_levels", [3, 5000])
def test_polars_categories_that_appear_late_or_are_many(n_levels):
    names = [f"level {i}" for i in range(n_levels)]
    values = [names[0]] * 6000 + names + [None]
    column = FrameColumn(as_frame(pl.DataFrame({"x": pl.Series(values, dtype=pl.Categorical)})).get_column("x")).coded()
    assert column.values(len(values)) == values
    assert set(column.levels.values) == set(names)


@pytest.mark.parametrize("engine", ["pandas", "polars", "arrow"])
@pytest.mark.parametrize("unseen", ["ignore", "share", "error"])
def test_a_mixed_frame_and_its_cells_one_by_one(engine, unseen):
    """Predictions from typed columns equal those from Python objects, for all rows and in parts."""
    rng = np.random.default_rng(8)
    data = {
        "f": [None if rng.random() < 0.1 else float(v) for v in rng.normal(CODES)],
        "i": rng.integers(0, 50, N).tolist(),
        "b": (rng.random(N) < 0.2 + 0.3 * CODES).tolist(),
        "c": [None if rng.random() < 0.1 else "wxyz"[v] for v in (rng.integers(0, 2, N) + CODES)],
        "n": ((rng.integers(0, 3, N) + CODES) * 10**9).tolist(),
        "h": (0.5 * (rng.integers(0, 3, N) + CODES)).tolist(),
    }
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "arrow": pa.table}[engine]
    families = {"n": "categorical", "h": "categorical", "i": "categorical"}
    objects = np.array(list(zip(*data.values(), strict=True)), dtype=object)
    typed = NaiveBayes(families, unseen=unseen).fit(make(data), CODES)
    places = {list(data).index(name): family for name, family in families.items()}
    plain = NaiveBayes(places, unseen=unseen).fit(objects, CODES)
    expected = plain.predict_joint_log_proba(objects)
    np.testing.assert_allclose(typed.predict_joint_log_proba(make(data)), expected, rtol=1e-11)
    table = rows_of_model(typed, make(data))
    for start in range(0, N, 133):
        part = prediction.joint(typed.fitted_, table.rows(start, min(N, start + 133)), relative=False)
        np.testing.assert_allclose(part, expected[start : start + 133], rtol=1e-11)
    other = {**data, "c": ["never seen"] * N, "n": [10**12] * N, "i": [-5] * N}
    rows = np.array(list(zip(*other.values(), strict=True)), dtype=object)
    if unseen == "error":
        with pytest.raises(ValueError, match="which was never seen"):
            typed.predict(make(other))
    else:
        found = typed.predict_joint_log_proba(make(other))
        np.testing.assert_allclose(found, plain.predict_joint_log_proba(rows), rtol=1e-11)


def test_labels_of_every_form():
    texts = np.array(["b", "a", "c"])[CODES]
    forms = (
        texts,
        texts.astype(object),
        texts.tolist(),
        pd.Series(texts),
        pd.Series(texts, dtype=object),
        pd.Series(pd.Categorical(texts)),
        pl.Series(texts),
        pl.Series(texts.tolist(), dtype=pl.Categorical),
        pa.array(texts.tolist()),
        pa.chunked_array([texts.tolist()]),
        pa.array(texts.tolist()).dictionary_encode(),
    )
    for form in forms:
        axis, codes = encode(read_labels(form, N, "NaiveBayes"))
        assert axis.labels.tolist() == ["a", "b", "c"]
        assert codes.dtype == np.int64
        np.testing.assert_array_equal(axis.labels[codes], texts)
    for missing in (None, np.nan, pd.NA):
        with pytest.raises(ValueError, match="row 3"):
            read_labels(pd.Series([*texts[:3], missing, *texts[4:]], dtype=object), N, "NaiveBayes")
    with pytest.raises(ValueError, match="row 3"):
        read_labels(pa.array([*texts[:3], None, *texts[4:]]), N, "NaiveBayes")
    assert read_labels(pa.array([True, False]), 2, "NaiveBayes").tolist() == [True, False]


@pytest.mark.parametrize("dtype", ["i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "f8", "f4", ">i4", ">f8"])
@pytest.mark.parametrize("order", ["C", "F", "strided"])
def test_categories_of_any_type_and_layout(dtype, order):
    x = np.column_stack([WHOLE, RNG.integers(2, 5, N), RNG.integers(0, 100, N)])
    typed = np.repeat(x.astype(dtype), 2, axis=1)[:, ::2] if order == "strided" else x.astype(dtype, order=order)
    typed.flags.writeable = False
    mine, known = CategoricalNB().fit(typed, CODES), CategoricalNB().fit(x.astype(float), CODES)
    for a, b in zip(mine.category_count_, known.category_count_, strict=True):
        np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(mine.predict_proba(typed), known.predict_proba(x.astype(float)))
    beyond = typed.copy()
    beyond[::3, 0] = 120
    np.testing.assert_allclose(mine.predict_proba(beyond), known.predict_proba(beyond.astype(float)), rtol=1e-14)
    assert mine.fitted_.layout.dtype.kind == "f"


def test_categories_say_what_they_do_not_take():
    x = np.array([[0, 1], [2, 3], [1, 1]])
    model = CategoricalNB().fit(x, [0, 1, 1])
    for wrong, message in ((-1, "Negative values"), (2**53, "below 2\\*\\*53"), (2**63 - 1, "below 2\\*\\*53")):
        bad = np.array([[0, 1], [2, wrong]])
        with pytest.raises(ValueError, match=message):
            model.predict(bad)
        with pytest.raises(ValueError, match=message):
            CategoricalNB().fit(bad, [0, 1])
    with pytest.raises(ValueError, match=r"Column 1, row 1: .*infinity"):
        model.predict(np.array([[0.0, 1.0], [1.0, np.inf]]))
    with pytest.raises(ValueError, match="below 2"):
        model.predict(np.array([[0, 2**64 - 1]], dtype=np.uint64))


def test_identifiers_far_apart_are_sorted_and_not_counted():
    x = RNG.choice([3, 10**9, 2**52], (N, 2))
    mine, few = (
        CategoricalNB().fit(x, CODES),
        CategoricalNB(min_categories=3).fit(np.searchsorted([3, 10**9, 2**52], x), CODES),
    )
    small = [each.count for each in few.fitted_.model.statistics]
    np.testing.assert_array_equal(mine.fitted_.model.statistics[0].count, small[0])
    assert mine.predict_proba(x).shape == (N, 3)


@pytest.mark.parametrize("engine", ["pandas", "polars"])
def test_a_frame_is_not_copied_to_be_fitted(engine):
    n = 200_000
    y = np.arange(n) % 3
    data = {f"f{j}": RNG.normal(size=n) for j in range(10)}
    for each in data.values():
        each[::20] = np.nan
    frame = pd.DataFrame({**data, "c": pd.Categorical.from_codes(y, list("abc")), "b": y > 1})
    if engine == "polars":
        frame = pl.from_pandas(frame)
        assert frame["f3"].null_count()
    NaiveBayes().fit(frame, y).predict_proba(frame[:10])
    tracemalloc.start()
    NaiveBayes().fit(frame, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * n * 4  # labels and their codes; the floats of the frame have 80 n bytes


def test_errors_name_all_rows_at_fault():
    values = [1.5, None, "many", 2, "few"]
    for column in (ObjectColumn(values), FrameColumn(as_frame(pd.DataFrame({"x": values})).get_column("x"))):
        with pytest.raises(InputError, match=r"^Column 'x', row 2 holds 'many', which is not a number\.") as caught:
            column.numbers("x")
        assert (list(caught.value.rows), caught.value.column) == ([2, 4], "x")
    with pytest.raises(InputError, match=r"^Column 'x', row 1 holds \[1\], which cannot be a category") as caught:
        listed(["a", [1], "b", {}]).categories([0], ["x"])
    assert (list(caught.value.rows), caught.value.column) == ([1, 3], "x")
