"""Arrow files and streams, and objects that offer a stream: Polars, pandas, PyArrow, DuckDB."""

import datetime
import io
import os
import threading

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.feather
import pytest

from file_formats import mixed_table, rows_of
from suffice import NaiveBayes
from suffice.exceptions import InputError
from suffice.sources.files import arrow, open_source
from suffice.sources.frames import FrameColumn, as_frame

TABLE = mixed_table()
ROWS = TABLE.to_pylist()

# ---------------------------------------------------------------------- files


@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
def test_compressed_buffers(tmp_path, compression):
    path = tmp_path / "t.feather"
    pyarrow.feather.write_feather(TABLE, path, compression=compression or "uncompressed", chunksize=130)
    assert rows_of(open_source(path, batch_rows=100)) == ROWS


def test_dictionaries_that_grow_from_batch_to_batch(tmp_path):
    parts = [pa.record_batch({"c": pa.array(list(texts)).dictionary_encode()}) for texts in ("ab", "bcd", "e")]
    path = tmp_path / "t.arrows"
    with pa.ipc.new_stream(str(path), parts[0].schema) as writer:
        for part in parts:
            writer.write_batch(part)
    assert [row["c"] for row in rows_of(open_source(path))] == list("abbcde")


@pytest.mark.parametrize("name", ["t.arrow", "t.arrows"])
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda whole: whole[: len(whole) // 2], "cannot be read as|changed|damaged"),
        (lambda whole: whole[:30], "cannot be read as"),
        (lambda whole: b"FEA1" + whole[4:], "Feather file of version 1"),
        (lambda whole: b"x,y\n1,2\n", "is not an Arrow file: its first bytes are not those of Arrow"),
        (lambda whole: b"", "is empty"),
    ],
    ids=["half", "head", "feather 1", "text", "empty"],
)
def test_files_that_are_not_arrow(tmp_path, name, change, words):
    path = tmp_path / name
    with (pa.ipc.new_file if name == "t.arrow" else pa.ipc.new_stream)(str(path), TABLE.schema) as writer:
        writer.write_table(TABLE, max_chunksize=100)
    path.write_bytes(change(path.read_bytes()))
    with pytest.raises(InputError, match=rf"{name} .*({words})"):
        rows_of(open_source(path))


def test_a_file_of_one_huge_batch_is_not_held_in_memory(tmp_path, monkeypatch):
    """Polars writes all rows as one batch of 64 MB, of which only a few are held in memory."""
    monkeypatch.setattr(arrow, "HUGE", 1 << 20)
    path = tmp_path / "t.arrow"
    rng = np.random.default_rng(0)
    pl.DataFrame({f"x{j}": rng.random(1_000_000) for j in range(8)}).write_ipc(path)
    pool = pa.default_memory_pool()
    held, most, rows, mapped = pool.bytes_allocated(), 0, 0, 0
    for batch in open_source(path, batch_rows=20_000).batches():
        rows += len(batch)
        most = max(most, pool.bytes_allocated() - held)
        if rows % 200_000 == 0:
            mapped = max(mapped, _resident(path))
    assert rows == 1_000_000
    assert most < 8 * 2**20
    assert mapped < 16 * 2**20


def _resident(path):
    """Resident bytes of a mapped file (Linux)."""
    found, inside = 0, False
    with open("/proc/self/smaps") as maps:
        for line in maps:
            if "-" in line.partition(" ")[0] and ":" not in line.partition(" ")[0]:
                inside = line.rstrip().endswith(str(path))
            elif inside and line.startswith("Rss:"):
                found += 1024 * int(line.split()[1])
    return found


def test_reading_leaves_no_file_open(tmp_path):
    path = tmp_path / "t.arrow"
    with path.open("wb") as file, pa.ipc.new_file(file, TABLE.schema) as writer:
        writer.write_table(TABLE)
    next(open_source(path, batch_rows=10).batches())

    def opened():
        links = (f"/proc/self/fd/{each}" for each in os.listdir("/proc/self/fd"))
        return [os.readlink(link) for link in links if os.path.lexists(link)].count(str(path))

    for _ in range(5):
        rows_of(open_source(path))
        next(open_source(path, batch_rows=10).batches())
        assert opened() == 0
        assert not [each for each in threading.enumerate() if each.name == "suffice prefetch"]


# ---------------------------------------------------------------------- objects


@pytest.mark.parametrize("batch_rows", [7, 1 << 17])
@pytest.mark.parametrize(
    "made", [lambda table: table, pl.from_arrow, pa.Table.to_pandas], ids=["pyarrow", "polars", "pandas"]
)
def test_tables_are_read_repeatedly(made, batch_rows):
    source = open_source(made(TABLE.drop_columns("hole")), batch_rows=batch_rows)
    want = TABLE.drop_columns("hole").to_pylist()
    assert source.repeatable
    assert rows_of(source) == rows_of(source) == want
    assert source.files == []
    assert source.total_bytes is None
    assert str(next(source.batches()).locations.of(3)) == "row 3"


def test_readers_are_read_once():
    reader = TABLE.to_reader(max_chunksize=50)
    source = open_source(reader)
    assert not source.repeatable
    (batch,) = source.batches()  # twenty small ones, joined
    assert batch.rows.to_pylist() == ROWS
    with pytest.raises(InputError, match="the stream can be read only once"):
        source.batches()
    with pytest.raises(InputError, match=r"the RecordBatchReader returned no rows. It may have been read before"):
        list(open_source(reader).batches())


def test_a_reader_of_a_generator_is_streamed_in_the_callers_thread():
    seen, asked = [], []

    def batches():
        for start in range(0, 1000, 100):
            seen.append(threading.current_thread())
            asked.append(start)
            yield from TABLE.slice(start, 100).combine_chunks().to_batches()

    read = open_source(pa.RecordBatchReader.from_batches(TABLE.schema, batches()), batch_rows=100).batches()
    next(read)
    assert len(asked) <= 2
    assert sum(map(len, read)) == 900
    assert set(seen) == {threading.main_thread()}


def test_a_failing_reader_is_an_input_error():
    def batches():
        yield from TABLE.to_batches()
        raise OSError("the wire is cut")

    source = open_source(pa.RecordBatchReader.from_batches(TABLE.schema, batches()))
    with pytest.raises(InputError, match="the wire is cut"):
        list(source.batches())


def test_one_column_is_not_a_table():
    with pytest.raises(InputError, match="the ChunkedArray gives no rows"):
        open_source(TABLE["size"])


def test_types_of_polars():
    frame = pl.DataFrame(
        {
            "text": ["a", None, "a longer text than a view holds"],
            "category": pl.Series(["u", "v", None], dtype=pl.Categorical),
            "enum": pl.Series(["x", None, "y"], dtype=pl.Enum(["y", "x", "z"])),
            "flag": [True, None, False],
            "day": [datetime.date(2024, 2, 29), None, datetime.date(2024, 3, 1)],
            "clock": [datetime.time(1, 0), None, datetime.time(0, 1)],
            "span": [datetime.timedelta(minutes=2), None, datetime.timedelta(0)],
            "whole": pl.Series([1, None, 3], dtype=pl.UInt16),
        }
    )
    source = open_source(frame)
    assert source.types == {
        "text": "text",
        "category": "category",
        "enum": "category",
        "flag": "yes/no",
        "day": "time",
        "clock": "duration",
        "span": "duration",
        "whole": "whole number",
    }
    (batch,) = source.batches()
    read = as_frame(batch.rows)
    for name in ("text", "category", "enum"):
        column = FrameColumn(read[name])
        assert column.kind == source.types[name]
        assert column.coded().values(3) == frame[name].to_list()
    for name in ("flag", "whole"):
        np.testing.assert_array_equal(
            FrameColumn(read[name]).numbers(name), frame[name].cast(pl.Float64).fill_null(np.nan)
        )
    day = datetime.datetime(2024, 2, 29, tzinfo=datetime.UTC).timestamp()
    np.testing.assert_array_equal(FrameColumn(read["day"]).numbers("day"), [day, np.nan, day + 86400])
    np.testing.assert_array_equal(FrameColumn(read["clock"]).numbers("clock"), [3600, np.nan, 60])
    np.testing.assert_array_equal(FrameColumn(read["span"]).numbers("span"), [120, np.nan, 0])


def test_duckdb_relations():
    duckdb = pytest.importorskip("duckdb")
    relation = duckdb.sql("select i as n, i / 2 as half, 't' || (i % 3) as kind from range(1000) r(i)")
    source = open_source(relation)
    assert rows_of(source) == [{"n": i, "half": i / 2, "kind": f"t{i % 3}"} for i in range(1000)]
    assert sum(map(len, source.batches())) == 1000


# ---------------------------------------------------------------------- streams that fail


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ValueError("no such table"), "ValueError: no such table"),
        (OSError(5, "the disk is gone"), "the disk is gone"),
        (RuntimeError("connection lost"), "RuntimeError: connection lost"),
    ],
)
def test_an_error_of_a_reader_is_quoted(error, reason):
    schema = pa.schema([("a", pa.float64()), ("label", pa.string())])

    def batches():
        yield pa.record_batch({"a": [1.0, 2.0], "label": ["x", "y"]}, schema=schema)
        raise error

    with pytest.raises(InputError, match=f"The RecordBatchReader raised an error after 2 rows: .*{reason}") as caught:
        NaiveBayes().fit(pa.RecordBatchReader.from_batches(schema, batches()), "label")
    assert "damaged" not in str(caught.value)
    assert caught.value.file is None


def test_errors_of_rows_in_memory_do_not_name_a_file_or_options_of_files():
    with pytest.raises(InputError, match="'x' is not a number") as caught:
        list(open_source(pa.table({"a": ["1", "x"]}), types={"a": "number"}).batches())
    assert caught.value.file is None
    for rows in ({"a": [1.0, 2.0], "label": ["x", None]}, {"a": [1.0, np.inf], "label": ["x", "y"]}):
        with pytest.raises(InputError) as caught:
            NaiveBayes().fit(pa.table(rows), "label")
        assert not any(word in str(caught.value) for word in ("bad_rows", "nulls", "Fix the row"))
    with pytest.raises(InputError, match="more than one column called 'a'") as caught:
        open_source(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"]))
    assert caught.value.file is None


def test_a_problem_of_a_whole_column_does_not_advise_to_skip_rows():
    for data, problem in ((b"a,label\n1,\n2,\n", "has no label"), (b"a,label\nx,u\ny,v\nz,v\n", "is not a number")):
        with pytest.raises(InputError, match=problem) as caught:
            NaiveBayes({"a": "gaussian"}).fit(open_source(io.BytesIO(data)), "label")
        assert "Fix the row" not in str(caught.value)
    with pytest.raises(InputError, match="is not a number") as caught:
        list(open_source(io.BytesIO(b"a,b\nx,1\ny,2\n"), types={"a": "number"}).batches())
    assert "Fix the row" not in str(caught.value)
