"""Sources of files: the same rows from every format and kind of input, and errors for invalid ones."""

import bz2
import gzip
import io
import json
import lzma
import os
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import pyarrow.parquet
import pytest

from file_formats import WRITERS, mixed_table, rows_of
from suffice.exceptions import InputError
from suffice.sources.files import Source, is_source, open_source

TABLE = mixed_table()
ROWS = TABLE.to_pylist()


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("written")
    for name, write in WRITERS.items():
        write(TABLE, folder / name)
    return folder


# ---------------------------------------------------------------------- the same rows


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("batch_rows", [1, 64, 1 << 17])
def test_every_format_gives_the_rows_in_order(written, name, batch_rows):
    source = open_source(written / name, batch_rows=batch_rows)
    sizes, rows = [], []
    for batch in source.batches():
        assert all(column.num_chunks == 1 for column in batch.rows.columns)
        sizes.append(len(batch))
        rows += batch.rows.to_pylist()
        assert source.n_rows == len(rows)
    assert rows == ROWS
    assert max(sizes) <= batch_rows
    assert source.names == TABLE.column_names
    assert source.types == {
        "size": "number",
        "count": "whole number",
        "kind": "text",
        "member": "yes/no",
        "hole": "number",
        "label": "text",
    }
    assert source.files == [str(written / name)]
    assert source.name == str(written / name)
    assert source.done_bytes == source.total_bytes == os.path.getsize(written / name)
    assert source.repeatable


def arrow_compressed(data, codec):
    written = pa.BufferOutputStream()
    with pa.CompressedOutputStream(written, codec) as stream:
        stream.write(data)
    return written.getvalue().to_pybytes()


@pytest.mark.parametrize("name", WRITERS)
def test_columns_are_in_the_requested_order(written, name):
    source = open_source(written / name, columns=["label", "size", "kind"], ignore=["kind"], batch_rows=300)
    assert source.names == ["label", "size"]
    assert rows_of(source) == [{"label": row["label"], "size": row["size"]} for row in ROWS]
    assert rows_of(source, ["size"]) == [{"size": row["size"]} for row in ROWS]


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("packed", ["gz", "bz2", "xz", "zst", "lz4"])
def test_compressed_files(written, tmp_path, name, packed):
    packs = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    pack = packs.get(packed, lambda data: arrow_compressed(data, packed.replace("zst", "zstd")))
    path = tmp_path / f"{name}.{packed}"
    path.write_bytes(pack((written / name).read_bytes()))
    source = open_source(path)
    assert rows_of(source) == rows_of(source) == ROWS
    unnamed = tmp_path / "unnamed"
    path.rename(unnamed)
    assert rows_of(open_source(unnamed, delimiter="\t" if "tsv" in name else None)) == ROWS


@pytest.mark.parametrize("name", WRITERS)
def test_open_files(written, name):
    whole = (written / name).read_bytes()
    delimiter = "\t" if "tsv" in name else None
    with open(written / name, "rb") as file:
        source = open_source(file)
        assert rows_of(source) == rows_of(source) == ROWS
        assert source.total_bytes == len(whole)
        assert not file.closed
    held = io.BytesIO(b"before" + whole)
    held.seek(6)  # read from the current position
    source = open_source(held, delimiter=delimiter)
    assert rows_of(source) == rows_of(source) == ROWS
    with gzip.open(io.BytesIO(gzip.compress(whole))) as unpacked:
        assert rows_of(open_source(unpacked, delimiter=delimiter)) == ROWS

    class Socket(io.RawIOBase):  # can be read once, with few bytes per read
        inner = io.BytesIO(whole)

        def readable(self):
            return True

        def readinto(self, buffer):
            return self.inner.readinto(memoryview(buffer)[:1000])

    source = open_source(Socket(), delimiter=delimiter)
    assert not source.repeatable
    assert rows_of(source) == ROWS


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("packed", [False, True])
def test_named_pipes_and_process_substitution(written, tmp_path, name, packed):
    whole = (written / name).read_bytes()
    pipe = tmp_path / (f"{name}.gz" if packed else "pipe")
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(gzip.compress(whole) if packed else whole))
    writer.start()
    source = open_source(pipe, delimiter="\t" if "tsv" in name else None)
    assert rows_of(source) == ROWS
    writer.join()
    assert not source.repeatable
    assert source.total_bytes is None
    with pytest.raises(InputError, match="can be read only once"):
        source.batches()


def test_a_source_is_read_again_from_its_beginning(written):
    source = open_source(written / "data.parquet", batch_rows=100)
    first = source.batches()
    next(first)
    next(first)
    again = source.batches()
    assert next(again).locations.of(0).row == 0
    assert source.n_rows == 100
    assert list(first) == []  # the earlier iterator is closed
    assert sum(map(len, again)) == 900
    assert source.n_rows == 1000
    assert open_source(source) is source


def test_progress_goes_from_zero_to_the_total(written):
    for name in ("data.parquet", "data.feather", "data.csv.gz"):
        path = written / name
        if name.endswith("gz"):
            path.write_bytes(gzip.compress((written / "data.csv").read_bytes()))
        source = open_source(path, batch_rows=50)
        assert source.done_bytes == 0
        seen = [source.done_bytes for _ in source.batches()]
        assert seen == sorted(seen)
        assert source.done_bytes == source.total_bytes == path.stat().st_size


def test_locations_have_file_and_row(written):
    source = open_source([written / "data.parquet", written / "polars.pq"], columns=["size", "count"])
    (batch,) = source.batches()
    assert str(batch.locations.of(7)) == f"{written / 'data.parquet'}, row 7"
    assert str(batch.locations.of(1007)) == f"{written / 'polars.pq'}, row 7"


# ---------------------------------------------------------------------- many files


@pytest.mark.parametrize("name", WRITERS)
def test_a_hundred_pieces_are_read_as_one_file(tmp_path, name):
    starts = [0, 0, *range(5, 1000, 11), 1000]
    ending = name.rpartition(".")[2]
    for number, (start, stop) in enumerate(zip(starts, [*starts[1:], 1000], strict=True)):
        columns = TABLE.column_names if number % 2 else TABLE.column_names[::-1]
        WRITERS[name](TABLE.slice(start, stop - start).select(columns), tmp_path / f"part-{number}.{ending}")
    (tmp_path / f"part-{len(starts)}.{ending}").touch()  # an empty file
    for given in (tmp_path / f"part-*.{ending}", tmp_path):
        source = open_source(str(given), columns=TABLE.column_names)
        batches = list(source.batches())
        assert [row for batch in batches for row in batch.rows.to_pylist()] == ROWS
        assert len(batches) == 1  # small batches are joined
    assert len(source.files) == len(starts) + 1
    assert source.name.startswith(f"{len(starts) + 1} files, ")
    assert source.done_bytes == source.total_bytes


def test_files_of_several_formats_are_refused(written):
    with pytest.raises(InputError, match=r"several formats: .*data\.csv is csv, .*data\.parquet is parquet"):
        open_source([written / "data.csv", written / "data.parquet"])


def parquet(path, **columns):
    pyarrow.parquet.write_table(pa.table(columns), path)
    return path


def test_later_files_keep_numbers_and_the_text_type_of_the_first(tmp_path):
    coded = pa.array(["u", "v"]).dictionary_encode()
    first = parquet(tmp_path / "1.parquet", x=[1, 2], s=["a", "b"], c=coded)
    second = parquet(tmp_path / "2.parquet", s=pa.array(["c", None]).dictionary_encode(), c=["w", "u"], x=[0.5, None])
    third = parquet(tmp_path / "3.parquet", c=coded, x=pa.array([7], pa.int8()).take(pa.array([0, 0])), s=["d", "e"])
    source = open_source([first, second, third], batch_rows=2)
    assert source.types == {"x": "whole number", "s": "text", "c": "category"}
    tables = [batch.rows for batch in source.batches()]
    assert [row for table in tables for row in table.to_pylist()] == [
        {"x": 1, "s": "a", "c": "u"},
        {"x": 2, "s": "b", "c": "v"},
        {"x": 0.5, "s": "c", "c": "w"},
        {"x": None, "s": None, "c": "u"},
        {"x": 7, "s": "d", "c": "u"},
        {"x": 7, "s": "e", "c": "v"},
    ]
    assert {table.schema.field("s").type for table in tables} == {pa.string()}
    assert len({table.schema.field("c").type for table in tables}) == 1


def test_a_column_of_nulls_has_the_type_of_a_later_file(tmp_path):
    first = parquet(tmp_path / "1.parquet", x=pa.nulls(2), s=["a", "b"], none=pa.nulls(2))
    second = parquet(tmp_path / "2.parquet", x=[1.5, 2.5], s=["c", "d"], none=pa.nulls(2))
    source = open_source([first, second])
    assert source.types == {"x": "number", "s": "text", "none": "text"}
    assert [row["x"] for row in rows_of(source)] == [None, None, 1.5, 2.5]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"x": [1.0]}, r"columns of .*2\.parquet differ from those of the first file: it lacks 'y'"),
        ({"x": [1.0], "y": [1], "z": [1]}, r"2\.parquet differ from those of the first file: it also has 'z'"),
        ({"x": ["a"], "y": [1]}, r"Column 'x' of .*2\.parquet has the type string \(text\); in the first .* is double"),
        ({"x": [True], "y": [1]}, r"Column 'x' of .*2\.parquet has the type bool \(yes/no\)"),
        ({"x": [1.0], "y": [[1]]}, r"Column 'y' of .*2\.parquet has the type list"),
    ],
)
def test_another_file_must_have_the_columns_of_the_first(tmp_path, columns, words):
    files = [parquet(tmp_path / "1.parquet", x=[1.5], y=[2]), parquet(tmp_path / "2.parquet", **columns)]
    with pytest.raises(InputError, match=words):
        rows_of(open_source(files))


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [("size;kind\n1;a\n2;b\n", ","), ('"size";"kind"\n1;"a"\n2;"b"\n', ","), ("size,kind\n1,a\n2,b\n", ";")],
)
def test_a_wrong_delimiter_is_corrected(tmp_path, text, delimiter):
    path = tmp_path / "data.csv"
    path.write_text(text)
    right = ";" if delimiter == "," else ","
    with pytest.raises(InputError, match=rf"no column 'kind'\. It has .*\. Set delimiter='{right}' to read") as caught:
        open_source(path, delimiter=delimiter, columns=["kind"])
    assert caught.value.column == "kind"
    with pytest.raises(InputError, match=r"no column 'colour'\. It has [^.]*\.$"):
        open_source(path, delimiter=delimiter, columns=["colour"])


def test_columns_with_delimiters_in_their_names(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('"city, label",kind\n1,a\n2,b\n')
    for table in (path, parquet(tmp_path / "data.parquet", **{"city;label": ["a"], "kind": ["b"]})):
        with pytest.raises(InputError, match="has no column 'label'") as caught:
            open_source(table, columns=["label"])
        assert "Set delimiter" not in str(caught.value)


def test_only_chosen_columns_must_be_in_every_file(tmp_path):
    files = [parquet(tmp_path / "1.parquet", x=[1.5], y=[2]), parquet(tmp_path / "2.parquet", z=["a"], x=[2.5])]
    assert rows_of(open_source(files, columns=["x"])) == [{"x": 1.5}, {"x": 2.5}]


# ---------------------------------------------------------------------- sentences


def test_unknown_columns_come_with_a_suggestion(written):
    for name in ("data.csv", "data.parquet"):
        with pytest.raises(InputError, match=r"has no column 'lable'. Did you mean 'label'\? It has 'size', 'count'"):
            open_source(written / name, columns=["lable"])
        with pytest.raises(InputError, match="has no column 'sise'"):
            open_source(written / name, ignore=["sise"])
        with pytest.raises(InputError, match="'sise'"):
            open_source(written / name, types={"sise": "text"})
        with pytest.raises(InputError, match="has no column 'kid'"):
            open_source(written / name).batches(["kid"])
        with pytest.raises(InputError, match="Expected a list of columns"):
            open_source(written / name, columns="label")
        with pytest.raises(InputError, match=r"No column .* is left"):
            open_source(written / name, ignore=TABLE.column_names)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"format": "excel"}, "format must be one of 'csv'"),
        ({"bad_rows": "ignore"}, "bad_rows must be one of"),
        ({"batch_rows": 0}, "batch_rows must be"),
        ({"types": {"size": "float"}}, "'float'"),
    ],
)
def test_invalid_options(written, options, words):
    with pytest.raises(InputError, match=words):
        open_source(written / "data.csv", **options)


def test_missing_unreadable_and_unsupported_inputs(tmp_path, monkeypatch):
    with pytest.raises(InputError, match=r"There is no file 'gone\.csv': No such file"):
        open_source("gone.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="There are no data files in the folder"):
        open_source(tmp_path / "folder.csv")
    with pytest.raises(InputError, match="There is no file"):
        open_source("a\0b")
    with pytest.raises(InputError, match="is empty"):
        rows_of(open_source("/dev/null"))
    closed = tmp_path / "closed.csv"
    closed.write_text("x\n1\n")
    closed.chmod(0)
    if os.geteuid():
        with pytest.raises(InputError, match=r"closed\.csv cannot be read: Permission denied"):
            open_source(closed)
    for given in (7, None, b"data.csv", [1], {"a": 1}):
        with pytest.raises(InputError, match="Rows are read from a path"):
            open_source(given)
    with pytest.raises(InputError, match="is open in text mode"), open(tmp_path / "text.csv", "w+") as text:
        open_source(text)


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("empty.csv", b"", r"empty\.csv is empty"),
        ("empty.parquet", b"", r"empty\.parquet is empty"),
        ("empty.csv.gz", gzip.compress(b"", mtime=0), r"empty\.csv\.gz is empty"),
        ("plain.csv.gz", b"x,y\n1,2\n", r"plain\.csv\.gz is named \.gz, but is not compressed in this format"),
        ("array.json", b'[{"a": 1}, {"a": 2}]', r"single JSON array.*jq -c '\.\[\]'"),
        ("array", b'[\n {"a": 1}\n]', "single JSON array"),
        ("book.csv", b"PK\x03\x04rest", "zip archive or a spreadsheet"),
        ("data.csv", b"\x28\xb5\x2f\xfdrest", "cannot be decompressed"),
        ("data.db", b"SQLite format 3\x00", "SQLite database"),
        ("data.csv", b"PAR1....PAR1", "is a Parquet file, not csv. Set format='parquet'"),
        ("data.jsonl", b"ARROW1\0\0", "is an Arrow file, not jsonl"),
    ],
)
def test_content_of_another_format(tmp_path, name, content, words):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        open_source(path)


@pytest.mark.parametrize("packed", ["gz", "bz2", "xz", "zst", "lz4"])
@pytest.mark.parametrize("name", ["data.csv", "data.jsonl", "data.parquet"])
def test_truncated_and_damaged_compressed_files(written, tmp_path, name, packed):
    packs = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress}
    pack = packs.get(packed, lambda data: arrow_compressed(data, packed.replace("zst", "zstd")))
    whole = pack((written / name).read_bytes())
    path = tmp_path / f"{name}.{packed}"
    middle = 4 if packed in ("zst", "lz4") else len(whole) // 2  # Arrow writes no checksums of what they compress
    for content in (whole[: len(whole) - 20], whole[:middle] + b"\0\0damaged\0\0" + whole[middle + 11 :]):
        path.write_bytes(content)
        with pytest.raises(InputError, match=rf"{name}\.{packed} cannot be decompressed"):
            rows_of(open_source(path))


# ---------------------------------------------------------------------- files that change


@pytest.mark.parametrize("name", WRITERS)
@pytest.mark.parametrize("change", ["grow", "shrink", "replace", "remove", "touch"])
def test_a_file_that_changes_while_it_is_read(written, tmp_path, name, change):
    path = tmp_path / name
    shutil.copy(written / name, path)
    source = open_source(path, batch_rows=10)
    batches = source.batches()
    next(batches)
    if change == "grow":
        with path.open("ab") as file:
            file.write(b"\n")
    elif change == "shrink":
        os.truncate(path, path.stat().st_size // 2)
    elif change == "replace":
        shutil.copy(path, tmp_path / "other")
        os.replace(tmp_path / "other", path)
    elif change == "remove":
        path.unlink()
    else:
        os.utime(path, ns=(0, 12345))
    with pytest.raises(InputError, match=rf"{name} changed while it was read"):
        list(batches)
    with pytest.raises(InputError, match=rf"{name} changed since it was opened"):
        list(source.batches())


# ---------------------------------------------------------------------- what is a source, and what is imported


def test_what_is_a_source(written):
    for data in ("data.csv", written, TABLE, TABLE.to_reader(), io.BytesIO(), open_source(written / "data.csv")):
        assert is_source(data)
    for data in (7, None, [1.0], ["a text"], {"x": 1}):
        assert not is_source(data)
    assert repr(open_source(TABLE)).startswith("Source(the stream: 'size'")
    assert isinstance(open_source(TABLE), Source)


def test_pyarrow_is_imported_only_for_files():
    # scikit-learn imports pandas, which imports PyArrow if it is installed: only imports by suffice count.
    script = """
import builtins, io
asked, ask = [], builtins.__import__
def watched(name, globals=None, *rest, **more):
    if name.partition(".")[0] == "pyarrow" and (globals or {}).get("__name__", "").startswith("suffice"):
        asked.append(globals["__name__"])
    return ask(name, globals, *rest, **more)
builtins.__import__ = watched
import suffice, suffice.sources.files, suffice.api
assert not asked, asked
suffice.sources.files.open_source(io.BytesIO(b"x,y"))
assert asked
"""
    subprocess.run([sys.executable, "-c", script], check=True)


def test_without_pyarrow_the_error_says_what_to_install():
    script = """
import sys
sys.modules["pyarrow"] = None
from suffice.exceptions import InputError
from suffice.sources.files import open_source
try:
    open_source("data.csv")
except InputError as error:
    assert str(error) == "Reading files needs PyArrow: pip install 'suffice[files]'", error
else:
    raise AssertionError
"""
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_types_of_many_small_files_are_those_of_one(kind, tmp_path):
    cells = {
        "hole": [None, None, 2.5, None],
        "code": [1, 2, "x", 3],
        "size": [1, 2, 3, 0.5],
        "zip": ["10", "20", "30", "04"] if kind == "csv" else [1, 2, 3, 4],
        "when": [None, "2020-01-01", "2020-01-02T10:00:00", None],
        "nothing": [None] * 4,
        "label": ["a", "b", "a", "b"],
    }
    rows = [dict(zip(cells, row, strict=True)) for row in zip(*cells.values(), strict=True)]
    for i, row in enumerate(rows):
        if kind == "csv":
            spelled = ["" if cell is None else str(cell) for cell in row.values()]
            text = f"{','.join(cells)}\n{','.join(spelled)}\n"
        else:
            text = json.dumps({name: cell for name, cell in row.items() if cell is not None or i == 3}) + "\n"
        (tmp_path / f"part-{i}.{kind}").write_text(text)
    pieces = open_source(str(tmp_path / f"*.{kind}"))
    parts = [(tmp_path / f"part-{i}.{kind}").read_text().splitlines() for i in range(4)]
    whole = parts[0] + [line for part in parts[1:] for line in part[kind == "csv" :]]
    one = open_source(io.BytesIO("\n".join(whole).encode()))
    assert pieces.types == one.types
    assert pieces.names == one.names
    assert pieces.notes == one.notes
    assert one.types["hole"] == "number"
    assert "'nothing' is empty" in one.notes[-1]
    assert rows_of(pieces) == rows_of(one)


def test_a_requested_type_of_an_empty_column_needs_no_note():
    assert open_source(io.BytesIO(b"a,b\n1,\n"), types={"b": "number"}).notes == []


def test_the_format_of_a_second_file_is_found_by_its_bytes(tmp_path):
    (tmp_path / "first.csv").write_text("a,y\n1,u\n2,v\n")
    pa.parquet.write_table(pa.table({"a": [3, 4], "y": ["u", "v"]}), tmp_path / "second.data")
    with pytest.raises(InputError, match="several formats") as caught:
        open_source([tmp_path / "first.csv", tmp_path / "second.data"])
    assert "second.data is parquet" in str(caught.value)


def test_a_source_that_two_threads_read(written):
    """The pass that another thread ends is an error, and never a shorter table."""
    source = open_source(written / "data.parquet", batch_rows=100)
    first = source.batches()
    next(first)
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: sum(map(len, source.batches()))).result() == 1000
    with pytest.raises(InputError, match="was not read to the end, because another thread read it from the beginning"):
        list(first)
    assert sum(map(len, source.batches())) == 1000


def test_a_source_that_is_closed(written):
    source = open_source(written / "data.csv", batch_rows=100)
    source.close()
    reader = source.batches()
    next(reader)
    source.close()
    source.close()
    with pytest.raises(InputError, match=r"was not read to the end, because the source was closed\."):
        next(reader)
    assert sum(map(len, source.batches())) == 1000
