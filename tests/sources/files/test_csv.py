"""CSV in blocks, against Python's csv: cells, lines, types and dialects."""

import csv
import datetime
import io
import math

import numpy as np
import pyarrow as pa
import pytest

from file_formats import rows_of
from reading_files import Read
from suffice.exceptions import InputError
from suffice.sources.files import blocks, csv_rows, open_source
from suffice.sources.files.types import type_word

WORDS = ["", "a", "Ünï", 'say "hi"', "two\nlines", "crlf\r\nin it", "a,b", "a;b", " padded ", "x" * 40, "'"]


@pytest.fixture(params=[None, 64, 500])
def small_blocks(request, monkeypatch):
    """Blocks so small that rows cross their borders, or of the usual size."""
    if request.param:
        monkeypatch.setattr(blocks, "BLOCK_BYTES", max(request.param, 300))
        monkeypatch.setattr(csv_rows, "PARSED_AT_ONCE", 400)
    return request.param


def written(rng, rows, delimiter=",", end="\n", quoting=csv.QUOTE_MINIMAL, blanks=True):
    """A CSV of numbers and words, its rows, and the first line of each."""
    out = io.StringIO(newline="")
    writer = csv.writer(out, delimiter=delimiter, lineterminator=end, quoting=quoting)
    writer.writerow(["number", "word", "other"])
    table = [[float(rng.standard_normal()), str(rng.choice(WORDS)), str(rng.choice(WORDS))] for _ in range(rows)]
    for row in table:
        if blanks and rng.random() < 0.1:
            out.write(end)
        writer.writerow(row)
    text = out.getvalue()
    reader, lines, before = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter), [], 0
    for row in reader:
        if row and reader.line_num > 1:
            lines.append(before + 1)
        before = reader.line_num
    return text, table, lines[-rows:] if rows else []


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
@pytest.mark.parametrize("quoting", [csv.QUOTE_MINIMAL, csv.QUOTE_ALL])
def test_cells_and_lines_are_those_of_python(end, delimiter, quoting, small_blocks):
    rng = np.random.default_rng(3)
    text, table, lines = written(rng, 200, delimiter, end, quoting)
    read = Read(text.encode(), batch_rows=50)
    assert read.layout.delimiter == delimiter
    assert read.cells["number"] == [row[0] for row in table]
    for at, name in enumerate(["word", "other"], 1):
        assert read.cells[name] == [row[at] or None for row in table]
    assert read.locations == [f"data.csv, line {line}" for line in lines]


def test_the_last_line_needs_no_end(small_blocks):
    read = Read(b"a,b\n1,x\n\n2,y")
    assert read.cells == {"a": [1, 2], "b": ["x", "y"]}
    assert read.locations == ["data.csv, line 2", "data.csv, line 4"]


def test_lines_ended_by_carriage_returns():
    read = Read(b"a,b\r1,x\r2,y\r")
    assert read.cells == {"a": [1, 2], "b": ["x", "y"]}
    assert read.locations == ["data.csv, line 2", "data.csv, line 3"]


def test_columns_are_in_the_requested_order():
    data = b"a,b,c\n1,2,3\n4,5,6\n"
    assert Read(data, columns=["c", "a"]).cells == {"c": [3, 6], "a": [1, 4]}
    assert Read(data, columns=[]).n_rows == 2


@pytest.mark.parametrize(
    ("cells", "word", "values"),
    [
        (["1", "-2", ""], "whole number", [1, -2, None]),
        (["1", "2.5", "NA"], "number", [1.0, 2.5, None]),
        (["inf", "-inf", "1e5"], "number", [math.inf, -math.inf, 1e5]),
        (["true", "FALSE", "null"], "yes/no", [True, False, None]),
        (["a", "None", '"NA"'], "text", ["a", None, None]),
        (["007", "12", "0"], "text", ["007", "12", "0"]),
        (["0", "0.5", "00.5"], "number", [0.0, 0.5, 0.5]),
        (["", "NA", "<NA>"], "text", [None, None, None]),
        (["2020-01-02", "", ""], "time", [datetime.datetime(2020, 1, 2), None, None]),
        (["1", "x", "2"], "text", ["1", "x", "2"]),
        (["9999-12-31 10:11:12", "", ""], "time", [datetime.datetime(9999, 12, 31, 10, 11, 12), None, None]),
        (["2020-01-01 00:00:00.125", "", ""], "time", [datetime.datetime(2020, 1, 1, 0, 0, 0, 125000), None, None]),
    ],
)
def test_types(cells, word, values):
    read = Read(("c,n\n" + "".join(f"{cell},1\n" for cell in cells)).encode())
    assert type_word(read.layout.types["c"]) == word
    assert read.cells["c"] == values


def test_notes():
    data = b"code,empty,age,x\n" + b"01,,30,1\n" * 98 + b"01,,unknown,2\n" * 2
    notes = " ".join(open_source(io.BytesIO(data)).notes)
    assert "'code' has numbers with leading zeros" in notes
    assert "'empty' is empty" in notes
    assert "'age' is read as text: numbers are mixed with 'unknown'" in notes
    assert "'x'" not in notes


@pytest.mark.parametrize(
    ("word", "cells", "values"),
    [
        ("number", ["007", "1"], [7.0, 1.0]),
        ("text", ["7", "1"], ["7", "1"]),
        ("yes/no", ["yes", "N"], [True, False]),
        ("yes/no", ["1", "0"], [True, False]),
        ("time", ["2020-01-01", "2020-01-01 10:00:00.5"], None),
    ],
)
def test_requested_types(word, cells, values):
    read = Read(("c,n\n" + "".join(f"{cell},1\n" for cell in cells)).encode(), types={"c": word})
    assert type_word(read.layout.types["c"]) == word
    assert values is None or read.cells["c"] == values


@pytest.mark.parametrize(("types", "problem"), [({"z": "number"}, "'z'"), ({"a": "float"}, "'float'")])
def test_invalid_requested_types(types, problem):
    with pytest.raises(InputError, match=problem):
        Read(b"a,b\n1,2\n", types=types)


def test_given_nulls_are_added_to_the_defaults_or_replace_them():
    data = b"a,b\n-,NA\n1,-\n,x\n"
    added = open_source(io.BytesIO(data), nulls=["-"])
    assert rows_of(added) == [{"a": None, "b": None}, {"a": 1, "b": None}, {"a": None, "b": "x"}]
    only = open_source(io.BytesIO(data), nulls_only=["-"])
    assert rows_of(only) == [{"a": None, "b": "NA"}, {"a": "1", "b": None}, {"a": "", "b": "x"}]
    with pytest.raises(InputError, match="nulls must be a list"):
        open_source(io.BytesIO(data), nulls="-")


def test_whole_numbers_become_numbers_where_they_must(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 400)
    rows = [str(i) for i in range(300)] + ["0.5"] + [str(i) for i in range(300)] + ["99999999999999999999"]
    read = Read("\n".join(["n", *rows]).encode(), head=300)
    assert read.layout.types["n"] == pa.int64()
    assert read.cells["n"] == [float(each) for each in rows]
    types = [batch.rows["n"].type for batch in read.batches]
    assert types[0] == pa.int64()
    assert types[-1] == pa.float64()
    assert read.locations[300] == "data.csv, line 302"


def test_a_later_date_may_have_a_time():
    read = Read(b"when\n" + b"2020-01-01\n" * 30 + b"2020-01-01 10:00\n", head=100)
    assert read.cells["when"][-1] == datetime.datetime(2020, 1, 1, 10)


def test_no_header():
    assert Read(b"1,2\n3,4\n", header=False).cells == {"column_1": [1, 3], "column_2": [2, 4]}
    assert Read(b"1,2\n3,4\n", header=False, names=["a", "b"]).cells == {"a": [1, 3], "b": [2, 4]}
    assert Read(b"a,a\n3,4\n", names=["a", "b"]).cells == {"a": [3], "b": [4]}
    long = "x" * 200_000
    assert Read(f"{long},1\n".encode(), header=False).cells == {"column_1": [long], "column_2": [1]}
    with pytest.raises(InputError, match="line 1: a column name is too long"):
        Read(f"{long},1\n".encode())


@pytest.mark.parametrize("given", ["\t", r"\t", "tab"])
def test_spellings_of_tab(given):
    assert Read(b"a,b\tc\n1,2\t3\n", delimiter=given).layout.names == ["a,b", "c"]


def test_the_delimiter_gives_equal_numbers_of_fields():
    assert Read(b"name;price, net\nx;1,5\ny;2,5\nz;3\n").layout.names == ["name", "price, net"]
    assert Read(b'"a,b";c\n1;2\n').layout.names == ["a,b", "c"]
    assert Read(b"text\nso, it goes; on\n", delimiter="|").layout.names == ["text"]
    assert Read(b"text\nhello world\nyes\n").layout.names == ["text"]
    assert Read(b"a,b\tc\n1,2\t3\n", path="data.tsv.gz").layout.names == ["a,b", "c"]
    assert Read(b"a,b,c\n1,2,3\n1,2\n4,5,6\n7,8,9\n", bad_rows="skip").skipped.count == 1


def test_another_quote_and_none():
    assert Read(b"a,b\n'x,y',1\n", quote="'").cells == {"a": ["x,y"], "b": [1]}
    assert Read(b'a,b\n"x,1\n', quote="").cells == {"a": ['"x'], "b": [1]}


@pytest.mark.parametrize(
    "options", [{"delimiter": ",,"}, {"delimiter": "é"}, {"quote": "''"}, {"delimiter": '"'}, {"encoding": "latin-99"}]
)
def test_invalid_dialects(options):
    with pytest.raises(InputError, match=next(iter(options))):
        Read(b"a,b\n1,2\n", **options)


@pytest.mark.parametrize("encoding", ["latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "utf-8-sig", "utf-32"])
def test_encodings(encoding, small_blocks):
    rows = [f"{i},Zoë" for i in range(200)]
    data = "\n".join(["n,näme", *rows, ""]).encode(encoding)
    read = Read(data, encoding=encoding, head=101)
    assert read.cells == {"n": list(range(200)), "näme": ["Zoë"] * 200}
    assert read.locations[-1] == "data.csv, line 201"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_sets_the_encoding(encoding):
    assert Read("näme,b\nZoë,1\n".encode(encoding)).cells == {"näme": ["Zoë"], "b": [1]}


def test_another_file_may_order_its_columns_differently():
    layout = Read(b"a,b\n1,x\n").layout
    assert Read(b"b,a\ny,2\n", layout=layout).cells == {"a": [2], "b": ["y"]}
    assert Read(b"", layout=layout).n_rows == Read(b"\n\n", layout=layout).n_rows == 0
    with pytest.raises(InputError, match=r"columns of second\.csv .* lacks 'b' and also has 'c'"):
        Read(b"a,c\n1,2\n", layout=layout, path="second.csv")


def test_a_file_with_only_a_header_has_no_rows():
    read = Read(b"a,b\n")
    assert (read.layout.names, read.n_rows) == (["a", "b"], 0)


def test_a_file_that_returns_few_bytes_per_read():
    class Slow(io.BytesIO):
        def read(self, size=-1):
            return super().read(min(size, 7))

    from suffice.sources.files.csv import read_csv
    from suffice.sources.files.reader import ReadOptions, SkippedRows

    data = b"a,b\n" + b"1,xyz\n" * 100
    layout = Read(data).layout
    batches = read_csv(Slow(data), "data.csv", layout, ["a"], ReadOptions(), SkippedRows(skip=False))
    assert sum(len(batch) for batch in batches) == 100


def test_a_row_longer_than_what_is_parsed_at_once(monkeypatch):
    monkeypatch.setattr(csv_rows, "PARSED_AT_ONCE", 100)
    rows = [("x" * 1000, "1"), ("y", "2"), ("z\n" * 500, "3")]
    data = b"a,b\n" + b"".join(f'"{a}",{b}\n'.encode() for a, b in rows)
    read = Read(data)
    assert read.cells == {"a": [a for a, _ in rows], "b": [1, 2, 3]}
    assert read.locations[2] == "data.csv, line 4"


def test_batch_size_does_not_change_the_cells():
    rng = np.random.default_rng(8)
    text, _, _ = written(rng, 300, blanks=False)
    whole = Read(text.encode())
    for most in (1, 7, 1000):
        assert Read(text.encode(), batch_rows=most).cells == whole.cells


def test_rows_longer_than_the_first_read(tmp_path):
    names = [f"a long name of column {j}" for j in range(10_000)]
    path = tmp_path / "wide.csv"
    path.write_text("\n".join([",".join(names), *([",".join([f"0.{'3' * 90}"] * 10_000)] * 2)]))
    source = open_source(path)
    assert set(source.types.values()) == {"number"}
    assert [batch.rows.num_rows for batch in source.batches(names[-3:])] == [2]
