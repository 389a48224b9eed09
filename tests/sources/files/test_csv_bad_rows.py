"""Bad rows of CSV: their error messages, and the rows that remain when they are skipped."""

import csv
import io
import time

import numpy as np
import pytest

from reading_files import Read
from suffice.exceptions import InputError
from suffice.sources.files import blocks, conversion
from suffice.sources.files.conversion import convert_cells


def fails(data, *problem, **options):
    with pytest.raises(InputError) as error:
        Read(data, **options)
    for each in problem:
        assert each in str(error.value)
    return str(error.value)


@pytest.fixture(params=[None, 400])
def small_blocks(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(blocks, "BLOCK_BYTES", request.param)


GOOD = b"".join(b"%d,word %d\n" % (i, i) for i in range(100))


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (b"1\n", "has 1 field; expected 2"),
        (b"1,2,3\n", "has 3 fields; expected 2"),
        (b"abc,word\n", "column 'a': 'abc' is not a number"),
        (b"1,caf\xe9\n", "byte 6 of the line (byte {at:,} of the file) is 0xe9, which is not UTF-8"),
        (b"1,2,caf\xe9\n", "0xe9"),
    ],
)
def test_a_bad_row(bad, problem, small_blocks):
    data = b"a,b\n" + GOOD + bad + GOOD
    problem = problem.format(at=4 + len(GOOD) + 6)
    message = fails(data, "data.csv, line 102", problem, head=200)
    assert " Fix the row, or skip such rows with bad_rows='skip'." in message
    read = Read(data, head=200, bad_rows="skip")
    assert read.cells["a"] == [*range(100), *range(100)]
    assert read.skipped.count == 1
    assert len(read.skipped.errors) == 1
    assert problem in str(read.skipped.errors[0])
    lines = [*range(2, 102), *range(103, 203)]
    assert read.locations == [f"data.csv, line {line}" for line in lines]


def test_the_byte_order_mark_counts_as_bytes_of_the_file():
    problem = "line 2, byte 3 of the line (byte 10 of the file)"
    fails(b"\xef\xbb\xbfa,b\n1,\xe9\n", problem)


def test_the_first_bad_row_is_reported_for_any_problem():
    data = b"a,b,c\n" + b"1,2,x\n" * 50 + b"1,abc,x\n" + b"1,2\n" + b"1,2,\xe9\n" + b"z,2,3\n"
    fails(data, "line 52", "'abc'", head=100)
    read = Read(data, head=100, bad_rows="skip")
    assert [message.split("line ")[1][:2] for message in map(str, read.skipped.errors)] == ["52", "53", "54", "55"]


def test_the_first_of_two_bad_cells_is_reported():
    data = b"a,b\n" + b"1,2\n" * 50 + b"x,y\n"
    fails(data, "column 'a': 'x'", head=100)
    assert Read(data, head=100, bad_rows="skip").skipped.count == 1
    assert Read(data, head=100, columns=["b"], bad_rows="skip").cells["b"] == [2] * 50


def test_columns_that_are_not_read_are_not_checked():
    assert Read(b"a,b\n" + b"1,2\n" * 50 + b"1,y\n", head=100, columns=["a"]).n_rows == 51


@pytest.mark.parametrize(
    ("good", "bad", "problem"),
    [
        (b"true", b"maybe", "'maybe' is not yes or no"),
        (b"2020-01-01", b"yesterday", "'yesterday' is not a date/time"),
        (b"2020-01-01 10:00:00", b"2020-13-01 10:00:00", "is not a date/time"),
        (b"10:00:00", b"25:00:00", "is not a date/time"),
        (b"1.5", b"1,5", "'1,5' is not a number"),
    ],
)
def test_cells_of_another_type(good, bad, problem):
    data = b"c\n" + (good + b"\n") * 40 + b'"' + bad + b'"\n' + good + b"\n"
    fails(data, "data.csv, line 42, column 'c'", problem, head=12 * len(good), delimiter=";")
    read = Read(data, head=12 * len(good), delimiter=";", bad_rows="skip")
    assert len(read.cells["c"]) == 41
    assert len(set(read.cells["c"])) == 1


def test_a_quote_that_is_never_closed(small_blocks):
    data = b"a,b\n" + GOOD + b'1,"open\n' + GOOD
    fails(data, "data.csv, line 102: the quote that opens here", "closed", head=200)
    read = Read(data, head=200, bad_rows="skip")
    assert read.cells["a"] == [*range(100), *range(100)]
    assert read.skipped.count == 1
    assert read.locations[100] == "data.csv, line 103"


def test_a_quote_that_opens_on_a_later_line_of_its_row():
    fails(b'a,b,c\n1,"x\ny","z\n', "data.csv, line 3: the quote that opens here is never closed")


def test_a_quote_at_the_very_end():
    fails(b'a,b\n1,2\n3,"', "line 3")
    assert Read(b'a,b\n1,2\n3,"', bad_rows="skip").cells == {"a": [1], "b": [2]}


def test_a_line_without_end(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1000)
    fails(b"a\n1\n" + b"x" * 5000, "data.csv, line 3 is longer than", head=4)


def test_skipping_keeps_the_rows_that_python_reads(small_blocks):
    rng = np.random.default_rng(5)
    for _ in range(15):
        lines = []
        for number in range(120):
            kind = rng.integers(0, 12)
            lines.append(["x,1", "5", "7,8,9", '4,"q\nr,s"', "", "0.5,2"][kind] if kind < 6 else f"{number},w{number}")
        text = "n,word\n" + "1,w\n" * 20 + "\n".join(lines) + "\n"
        read = Read(text.encode(), bad_rows="skip", head=80)
        good, expected, before = csv.reader(io.StringIO(text, newline="")), [], 0
        next(good)
        bad, before = 0, 1
        for row in good:
            first, before = before + 1, good.line_num
            if row and (len(row) != 2 or row[0] == "x"):
                bad += 1
            elif row:
                expected.append((float(row[0]), row[1], f"data.csv, line {first}"))
        found = list(zip(map(float, read.cells["n"]), read.cells["word"], read.locations, strict=True))
        assert found == expected
        assert read.skipped.count == bad
        assert len(read.skipped.errors) == min(bad, 20)


def test_a_block_of_bad_rows():
    read = Read(b"a,b\n" + b"1,2\n" * 20 + b"1\n" * 100, bad_rows="skip", head=80)
    assert (read.n_rows, read.skipped.count, len(read.skipped.errors)) == (20, 100, 20)
    read = Read(b"a,b\n" + b"1,2\n", bad_rows="skip", layout=Read(b"a,b\n" + b"1,2\n").layout)
    assert read.n_rows == 1
    assert Read(b"a\n" + b"1\n" * 20 + b"x\n" * 30, bad_rows="skip", head=40).skipped.count == 30


def test_many_bad_rows_are_not_slow():
    rng = np.random.default_rng(2)
    table = rng.standard_normal((20_000, 10))
    rows = [",".join(map(repr, row.tolist())) for row in table]
    good = "\n".join([",".join("abcdefghij"), *rows]).encode()
    for at in range(1000, 20_000, 100):
        rows[at] = rows[at].replace(",", "x,", 1) if at % 200 else "1,2"
    bad = "\n".join([",".join("abcdefghij"), *rows]).encode()

    def seconds(data, head):
        started = time.perf_counter()
        found = Read(data, head=head, bad_rows="skip")
        return time.perf_counter() - started, found

    plain = min(seconds(good, 20_000)[0] for _ in range(3))
    taken, read = min((seconds(bad, 20_000) for _ in range(3)), key=lambda each: each[0])
    assert read.skipped.count == 190
    assert read.cells["b"] == np.delete(table[:, 1], range(1000, 20_000, 100)).tolist()
    assert taken < 15 * plain + 0.5


@pytest.mark.parametrize("kind", ["int64", "double", "bool", "timestamp[us]", "time32[s]"])
def test_cells_convert_alike_one_by_one_and_together(kind):
    import pyarrow as pa

    texts = ["1", " 2 ", "-3", "0x10", "1.5", "1e3", "inf", "", "true", "Yes", "abc", "2020-01-01", "10:00:00"]
    texts += ['a"b\n,', "2020-01-01 10:00:00.123456", "99999999999999999999", "+1", "--1", None]
    rng = np.random.default_rng(1)
    kind = pa.type_for_alias(kind)
    single = {text: conversion._convert(pa.array([text], pa.string()), kind) for text in texts if text is not None}
    for _ in range(20):
        some = [texts[i] for i in rng.integers(0, len(texts), 50)]
        array, wrong = convert_cells(pa.array(some, pa.string()), kind)
        for text, cell, bad in zip(some, array, wrong, strict=True):
            if text is None:
                assert (cell.as_py(), bad) == (None, False)
            else:
                assert bad == (single[text] is None)
                assert bad or cell == single[text][0]


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"", "data.csv is empty"),
        (b"\n\r\n \n", "data.csv contains only blanks"),
        (b"a,a\n1,2\n", "data.csv, line 1: more than one column is called 'a' (columns 1, 2)"),
        (b",a\nx,2\n", "data.csv, line 1: the name of column 1 is empty"),
        (b"a,,\n1,2,3\n", "data.csv, line 1: the names of columns 2, 3 are empty"),
        (b"\n\na,a\n1,2\n", "line 3"),
        (
            b'a,"b\n1,2\n',
            "data.csv: the first row does not end within the first 9 bytes, and the quote that opens in line 1",
        ),
        (b"a\xe9,b\n1,2\n", "data.csv, line 1: the column names are not UTF-8 (byte 2 of the line is 0xe9)"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "data.csv is not text: line 3 contains a NUL byte"),
        ("a,b\n1,2\n".encode("utf-16-le"), "encoding='utf-16-le'"),
    ],
)
def test_files_that_are_not_tables(data, problem):
    fails(data, problem)


def test_nul_in_a_later_line():
    fails(b"a\n" + b"1\n" * 50 + b"\0\n", "line 52", head=40)


def test_wrong_number_of_names():
    fails(b"1,2\n", "line 1 has 2 fields, but names has 1 entry", header=False, names=["a"])


@pytest.mark.parametrize(
    ("encoding", "data", "problem"),
    [
        ("cp1252", b"a\nx\x81\n", "data.csv, line 2: byte 4 of the file is 0x81, which is not cp1252"),
        ("ascii", b"a\nx\ny\xc3\n", "data.csv, line 3: byte 6 of the file is 0xc3"),
        ("utf-16-le", "a\nb\n".encode("utf-16-le") + b"x", "utf-16-le"),
    ],
)
def test_bytes_that_the_encoding_rejects(encoding, data, problem):
    fails(data, problem, encoding=encoding)


@pytest.mark.parametrize(
    ("bad", "column"), [(b"1\n", None), (b"abc,word\n", "a"), (b"1,caf\xe9\n", None), (b'1,"open\n', None)]
)
def test_errors_carry_file_line_and_column(bad, column):
    with pytest.raises(InputError) as caught:
        Read(b"a,b\n" + GOOD + bad, head=200)
    error = caught.value
    assert (error.file, error.line, error.column) == ("data.csv", 102, column)
    assert "skip such rows with --bad_rows." in error.worded(lambda argument: f"--{argument.name}")
