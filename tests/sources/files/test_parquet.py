"""Rows of Parquet files: every type that a model can read, bounded memory, and errors for invalid files."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from file_formats import mixed_table, rows_of
from suffice.exceptions import InputError
from suffice.sources.files import open_source
from suffice.sources.frames import FrameColumn, as_frame

DAY = datetime.date(2024, 2, 29)
NOON = datetime.datetime(2024, 2, 29, 12, 30, 15, 250_000)
TIMES = [NOON, None, NOON + datetime.timedelta(days=1)]
EPOCH = datetime.datetime(1970, 1, 1)


def seconds(moment):
    return np.nan if moment is None else (moment - EPOCH).total_seconds()


NUMBERS = {
    **{kind: pa.array([1, None, 3], kind) for kind in ("int8", "int16", "int32", "int64", "uint8", "uint32", "uint64")},
    "float16": pa.array(np.array([1.0, np.nan, 3.0], np.float16), from_pandas=True),
    "float32": pa.array([1.0, None, 3.0], "float32"),
    "float64": pa.array([1.0, None, 3.0]),
    "decimal": pa.array([decimal.Decimal("1.000"), None, decimal.Decimal("3.000")]),
    "decimal256": pa.array([decimal.Decimal(1), None, decimal.Decimal(3)], pa.decimal256(60, 4)),
    "coded": pa.array([1, None, 3]).dictionary_encode(),
}
TEXTS = {
    "string": pa.array(["a", None, "ü"]),
    "large_string": pa.array(["a", None, "ü"], pa.large_string()),
    "string_view": pa.array(["a", None, "ü"], pa.string_view()),
    "binary": pa.array([b"a", None, "ü".encode()]),
    "large_binary": pa.array([b"a", None, "ü".encode()], pa.large_binary()),
    "dictionary": pa.array(["a", None, "ü"]).dictionary_encode(),
    "small dictionary": pa.array(["a", None, "ü"]).dictionary_encode().cast(pa.dictionary(pa.int8(), pa.string())),
    "large dictionary": pa.array(["a", None, "ü"], pa.large_string()).dictionary_encode(),
}
MOMENTS = {
    **{unit: pa.array(TIMES).cast(pa.timestamp(unit), safe=False) for unit in ("s", "ms", "us", "ns")},
    "zone": pa.array(TIMES, pa.timestamp("us", "UTC")),
    "date32": pa.array([DAY, None, DAY], pa.date32()),
    "date64": pa.array([DAY, None, DAY], pa.date64()),
}


def read_column(array, tmp_path, through):
    """A column read through a file or a stream, and the type that the source reports."""
    table = pa.table({"x": array})
    if through == "parquet":
        pyarrow.parquet.write_table(table, tmp_path / "x.parquet")
        table = tmp_path / "x.parquet"
    elif through == "arrow":
        with pa.ipc.new_file(str(tmp_path / "x.arrow"), table.schema) as writer:
            writer.write_table(table)
        table = tmp_path / "x.arrow"
    source = open_source(table)
    (batch,) = source.batches()
    return FrameColumn(as_frame(batch.rows)["x"]), source.types["x"]


THROUGH = pytest.mark.parametrize("through", ["parquet", "arrow", "stream"])


@THROUGH
@pytest.mark.parametrize("kind", NUMBERS)
def test_numbers_of_every_type_are_read_as_numbers(tmp_path, kind, through):
    if (kind, through) == ("float16", "parquet") and int(pa.__version__.partition(".")[0]) < 15:
        pytest.skip("this PyArrow writes no halves")
    column, word = read_column(NUMBERS[kind], tmp_path, through)
    assert word == ("whole number" if "int" in kind or kind == "coded" else "number")
    assert column.kind == "number"
    np.testing.assert_array_equal(column.numbers("x"), [1, np.nan, 3])


@THROUGH
@pytest.mark.parametrize("kind", TEXTS)
def test_texts_of_every_type_are_read_as_texts(tmp_path, kind, through):
    column, word = read_column(TEXTS[kind], tmp_path, through)
    assert word == ("category" if "dictionary" in kind else "text")
    assert column.kind == word
    assert column.listed() == ["a", None, "ü"]
    assert column.coded().values(3) == ["a", None, "ü"]
    if word == "text":
        assert column.documents("x").listed() == ["a", None, "ü"]


@THROUGH
@pytest.mark.parametrize("kind", MOMENTS)
def test_times_of_every_type_are_read_as_seconds(tmp_path, kind, through):
    column, word = read_column(MOMENTS[kind], tmp_path, through)
    assert (word, column.kind) == ("time", "time")
    day = datetime.datetime(DAY.year, DAY.month, DAY.day)
    want = list(map(seconds, [day, None, day] if "date" in kind else TIMES))
    np.testing.assert_allclose(column.numbers("x"), np.floor(want) if kind == "s" else want, rtol=1e-15)


@THROUGH
def test_durations_times_of_day_truth_values_and_nulls(tmp_path, through):
    spans = pa.array([datetime.timedelta(seconds=90), None])
    column, word = read_column(spans, tmp_path, through)
    assert (word, column.kind) == ("duration", "duration")
    np.testing.assert_array_equal(column.numbers("x"), [90, np.nan])
    for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")):
        column, word = read_column(pa.array([datetime.time(1, 2, 3), None], kind), tmp_path, through)
        assert (word, column.kind) == ("duration", "duration")
        np.testing.assert_array_equal(column.numbers("x"), [3723, np.nan])
    column, word = read_column(pa.array([True, None, False]), tmp_path, through)
    assert (word, column.kind) == ("yes/no", "bool")
    np.testing.assert_array_equal(column.numbers("x"), [1, np.nan, 0])
    column, word = read_column(pa.nulls(2), tmp_path, through)
    assert (word, column.kind) == ("text", "empty")


@THROUGH
@pytest.mark.parametrize(
    "array",
    [
        pa.array([[1], [2]]),
        pa.array([{"a": 1}, {"a": 2}]),
        pa.array([[("k", 1)], []], pa.map_(pa.string(), pa.int64())),
    ],
    ids=["list", "struct", "map"],
)
def test_nested_columns_are_refused_when_they_are_read(tmp_path, array, through):
    table = pa.table({"x": [1.5, 2.5], "deep": array})
    if through == "parquet":
        pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    elif through == "arrow":
        with pa.ipc.new_file(str(tmp_path / "t.arrow"), table.schema) as writer:
            writer.write_table(table)
    given = table if through == "stream" else tmp_path / f"t.{through}"
    source = open_source(given)
    assert source.types["deep"] == "nested"
    with pytest.raises(
        InputError, match=r"Column 'deep' of .* has the type .*Ignore the column with ignore=\['deep'\]"
    ):
        source.batches()
    assert rows_of(source, ["x"]) == [{"x": 1.5}, {"x": 2.5}]
    assert rows_of(open_source(given, ignore=["deep"])) == [{"x": 1.5}, {"x": 2.5}]


def test_bytes_that_are_not_text_are_refused_with_their_row(tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pa.table({"x": [1, 2, 3], "image": [b"ok", None, b"\xff\xd8"]}), path)
    with pytest.raises(InputError, match=r"t\.parquet, row 2, column 'image': the bytes are not UTF-8 text"):
        rows_of(open_source(path))
    assert rows_of(open_source(path, ignore=["image"])) == [{"x": 1}, {"x": 2}, {"x": 3}]


# ---------------------------------------------------------------------- types that are asked for


def test_requested_types(tmp_path):
    path = tmp_path / "t.parquet"
    table = pa.table(
        {"zip": [1234, 99], "n": ["1.5", None], "b": [1, 0], "t": ["2024-02-29 12:00:00", "2024-03-01 00:00:00"]}
    )
    pyarrow.parquet.write_table(table, path)
    source = open_source(path, types={"zip": "text", "n": "number", "b": "yes/no", "t": "time"})
    assert source.types == {"zip": "text", "n": "number", "b": "yes/no", "t": "time"}
    assert rows_of(source) == [
        {"zip": "1234", "n": 1.5, "b": True, "t": datetime.datetime(2024, 2, 29, 12)},
        {"zip": "99", "n": None, "b": False, "t": datetime.datetime(2024, 3, 1)},
    ]


def test_cells_that_cannot_have_a_requested_type(tmp_path):
    path = tmp_path / "t.parquet"
    cells = [str(i) for i in range(10)]
    cells[3], cells[7] = "three", "seven"
    flags = [i % 2 for i in range(10)]
    flags[7], flags[8] = 5, 6
    pyarrow.parquet.write_table(pa.table({"n": cells, "b": flags, "at": list(range(10))}), path)
    asked = {"n": "number", "b": "yes/no"}
    with pytest.raises(InputError, match=r"t\.parquet, row 3, column 'n': 'three' is not a number\."):
        rows_of(open_source(path, types=asked))
    source = open_source(path, types=asked, bad_rows="skip", batch_rows=4)
    batches = list(source.batches())
    assert [row["at"] for batch in batches for row in batch.rows.to_pylist()] == [0, 1, 2, 4, 5, 6, 9]
    places = [str(batch.locations.of(i)) for batch in batches for i in range(len(batch))]
    assert places == [f"{path}, row {i}" for i in (0, 1, 2, 4, 5, 6, 9)]
    assert source.skipped == 3
    assert [fault.partition(", ")[2] for fault in source.faults] == [
        "row 3, column 'n': 'three' is not a number.",
        "row 7, column 'n': 'seven' is not a number.",
        "row 8, column 'b': 6 is not yes or no.",
    ]
    assert sum(map(len, source.batches())) == 7  # the count starts again
    assert source.skipped == 3


def test_an_impossible_requested_type(tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pa.table({"x": [1.5]}), path)
    with pytest.raises(
        InputError, match=r"Column 'x' of .*t\.parquet has the type double, which cannot be read as time"
    ):
        rows_of(open_source(path, types={"x": "time"}))


# ---------------------------------------------------------------------- names


def test_names_with_dots_the_index_of_pandas_and_repeated_names(tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(pa.table({"a": [1], "a.b": [2], "b": [3]}), path)
    assert rows_of(open_source(path, columns=["a"])) == [{"a": 1}]
    assert rows_of(open_source(path, columns=["a.b", "a"])) == [{"a.b": 2, "a": 1}]
    frame = pd.DataFrame({"x": [1.5, 2.5]}, index=[7, 3])
    frame.to_parquet(path)
    assert rows_of(open_source(path)) == rows_of(open_source(frame)) == [{"x": 1.5}, {"x": 2.5}]
    pyarrow.parquet.write_table(pa.table([[1], [2], [3]], names=["x", "y", "x"]), path)
    with pytest.raises(InputError, match="more than one column called 'x'"):
        open_source(path)
    pyarrow.parquet.write_table(pa.table([[1], [2]], names=["x", ""]), path)
    with pytest.raises(InputError, match="a column with an empty name"):
        open_source(path)


def test_labels_can_be_dictionaries(tmp_path):
    table = mixed_table()
    pyarrow.parquet.write_table(table, tmp_path / "t.parquet")
    for given in (tmp_path / "t.parquet", table):
        source = open_source(given, batch_rows=400)
        batches = list(source.batches(["kind", "label", "size"], coded=["label", "size"]))
        assert [row for batch in batches for row in batch.rows.to_pylist()] == table.select(
            ["kind", "label", "size"]
        ).to_pylist()
        assert {batch.rows.schema.field("kind").type for batch in batches} == {pa.string()}
    source = open_source(tmp_path / "t.parquet")
    (batch,) = source.batches(coded=["label"])
    assert pa.types.is_dictionary(batch.rows.schema.field("label").type)
    assert source.types["label"] == "text"


# ---------------------------------------------------------------------- what is no Parquet


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda whole: whole[: len(whole) // 2], "cannot be read as a Parquet file: it is damaged or truncated"),
        (lambda whole: b"PAR1", "cannot be read as a Parquet file"),
        (lambda whole: b"PAR1PAR1", "cannot be read as a Parquet file"),
        (lambda whole: b"x,y\n1,2\n", "is not a Parquet file"),
        (lambda whole: b"PARE" + whole[4:], "is an encrypted Parquet file"),
        (lambda whole: whole[:-8] + b"\xff\xff\xff\x7fPAR1", "cannot be read as a Parquet file"),
        (lambda whole: whole[:40] + bytes(400) + whole[440:], "cannot be read as a Parquet file"),
        (lambda whole: b"", "is empty"),
    ],
    ids=["cut", "magic", "ends", "text", "encrypted", "footer", "zeros", "empty"],
)
def test_files_that_are_not_parquet(tmp_path, change, words):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(mixed_table(), path, write_page_checksum=True)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InputError, match=rf"t\.parquet {words}"):
        rows_of(open_source(path))


def test_changed_bytes_never_cause_other_errors(tmp_path):
    path = tmp_path / "t.parquet"
    pyarrow.parquet.write_table(mixed_table(50), path, write_page_checksum=True)
    whole = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(150):
        broken = bytearray(whole)
        for at in rng.integers(4, len(whole), 3):
            broken[at] = rng.integers(256)
        path.write_bytes(broken)
        try:
            rows_of(open_source(path))
        except InputError as error:
            assert "t.parquet" in str(error)  # noqa: PT017


# ---------------------------------------------------------------------- memory


def test_memory_does_not_grow_with_the_file(tmp_path):
    """Sixteen row groups of 4 MB each are read in the memory of a few batches."""
    path = tmp_path / "t.parquet"
    rng = np.random.default_rng(0)
    names = [f"x{j}" for j in range(10)]
    schema = pa.schema([(name, pa.float64()) for name in names])
    with pyarrow.parquet.ParquetWriter(path, schema, use_dictionary=False, compression="none") as writer:
        for _ in range(16):
            writer.write_table(pa.table({name: rng.random(50_000) for name in names}))
    pool = pa.default_memory_pool()
    held, most, rows = pool.bytes_allocated(), 0, 0
    for batch in open_source(path, batch_rows=5_000).batches():
        most = max(most, pool.bytes_allocated() - held)
        rows += len(batch)
    assert rows == 800_000
    assert most < 24 * 2**20  # out of 61 MB; 10 MB are buffers of 1 MB per column


def test_a_partition_column_of_texts_can_be_read_as_a_dictionary(tmp_path):
    for label, values in (("x", [1.0, 2.0]), ("y", [3.0])):
        (tmp_path / f"g={label}").mkdir()
        pyarrow.parquet.write_table(pa.table({"a": values}), tmp_path / f"g={label}" / "rows.parquet")
    rows = pa.concat_tables(batch.rows for batch in open_source(str(tmp_path)).batches(coded=["g"]))
    assert rows["g"].to_pylist() == ["x", "x", "y"]
