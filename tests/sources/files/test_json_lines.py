"""JSON lines in blocks, against Python's json."""

import datetime
import io
import json
import math

import numpy as np
import pytest

from file_formats import rows_of
from reading_files import Read
from suffice.exceptions import InputError
from suffice.sources.files import CellFormat, blocks, json_rows, open_source
from suffice.sources.files.types import type_word


def read(data, **options):
    return Read(data, "jsonl", **options)


def lines(*objects):
    return b"".join(json.dumps(each, ensure_ascii=False).encode() + b"\n" for each in objects)


@pytest.fixture(params=[None, 300])
def small_blocks(request, monkeypatch):
    if request.param:
        monkeypatch.setattr(blocks, "BLOCK_BYTES", request.param)
        monkeypatch.setattr(json_rows, "PARSED_AT_ONCE", 128)


def test_cells_and_lines_are_those_of_python(small_blocks):
    rng = np.random.default_rng(4)
    words = ["a", "Ünï", 'say "hi"', "two\nlines", "back\\slash", "\U0001f600", None]
    pieces, objects, numbers, line = [], [], [], 0
    for _ in range(300):
        each = {"x": float(rng.standard_normal()), "n": int(rng.integers(-9, 9)), "w": words[rng.integers(0, 7)]}
        each["b"] = [True, False, None][rng.integers(0, 3)]
        names = rng.permutation(list(each))[: rng.integers(1, 5)]
        objects.append({str(name): each[name] for name in names})
        blank = int(rng.random() < 0.1)
        line += 1 + blank
        numbers.append(line)
        text = json.dumps(objects[-1], ensure_ascii=bool(rng.integers(0, 2)))
        pieces.append(b"\r\n" * blank + text.encode() + b"\n")
    rows = read(b"".join(pieces), batch_rows=70)
    for name in "xnwb":
        assert rows.cells[name] == [each.get(name) for each in objects]
    assert rows.locations == [f"data.jsonl, line {line}" for line in numbers]


@pytest.mark.parametrize(
    ("values", "word", "cells"),
    [
        ([1, 2, None], "whole number", [1, 2, None]),
        ([1, 2.5], "number", [1.0, 2.5]),
        ([1, 10**20], "number", [1.0, 1e20]),
        ([1.5, math.inf, -math.inf], "number", [1.5, math.inf, -math.inf]),
        ([True, False], "yes/no", [True, False]),
        (["007", "x"], "text", ["007", "x"]),
        (["12", "13"], "text", ["12", "13"]),
        ([1, "x", True, 2.50], "text", ["1", "x", "true", "2.5"]),
        ([None, None], "text", [None, None]),
        (["2020-01-01", "2020-01-01 10:00:00"], "time", [datetime.datetime(2020, 1, 1, h) for h in (0, 10)]),
    ],
)
def test_types(values, word, cells):
    rows = read(lines(*({"c": value, "n": 1} for value in values)))
    assert type_word(rows.layout.types["c"]) == word
    assert rows.cells["c"] == cells


def test_times_with_a_zone():
    rows = read(lines({"t": "2020-01-01T10:00:00Z"}))
    assert rows.cells["t"] == [datetime.datetime(2020, 1, 1, 10, tzinfo=datetime.UTC)]


def test_requested_types():
    rows = read(lines({"a": 1, "b": 2}, {"a": 2.5, "b": 3}), types={"a": "text", "b": "number"})
    assert rows.cells == {"a": ["1", "2.5"], "b": [2.0, 3.0]}


def test_later_rows_with_fractions_and_new_keys(small_blocks):
    data = lines(*({"a": i, "e": None} for i in range(50))) + lines({"a": 0.5, "new": 1, "e": 7}, {"e": "x"})
    rows = read(data, head=200)
    assert rows.layout.names == ["a", "e"]
    assert rows.cells["a"] == [*map(float, range(50)), 0.5, None]
    assert rows.cells["e"] == [None] * 50 + ["7", "x"]
    assert rows.layout.empty == {"e"}


def test_nested_columns_can_be_ignored():
    data = lines({"a": 1, "tags": ["x"], "more": {"b": 2}})
    with pytest.raises(InputError, match=r"'tags' of data\.jsonl holds lists or objects.*'more'"):
        read(data)
    assert read(data, columns=["a"]).cells == {"a": [1]}
    assert read(data, columns=[]).n_rows == 1


@pytest.mark.parametrize(
    ("bad", "problem"),
    [
        (b'{"a": 1', ": the line is not JSON"),
        (b"{'a': 1}", "Expecting property name"),
        (b'{"a": 1} {"a": 2}', "Extra data"),
        (b"[1, 2]", ": expected an object; the line holds a list"),
        (b"3", ": expected an object; the line holds a number"),
        (b'{"a": "x", "w": "y"}', ", column 'a': 'x' is not a number"),
        (b'{"a": true, "w": "y"}', ", column 'a': True is not a number"),
        (b'{"a": 1, "w": ["y"]}', ", column 'w': a list cannot be a cell"),
        (b'{"a": 1, "w": {}}', ", column 'w': an object cannot be a cell"),
        (b'{"a": 1, "b": 1}', ", column 'b': 1 is not yes or no"),
        (b'{"a": 1, "t": "noon"}', ", column 't': 'noon' is not a date/time"),
        (b'{"a": 1, "t": 5}', ", column 't': 5 is not a date/time"),
        (b'{"a": 1, "a": 2}', ": the object has the key 'a' more than once"),
        (b'{"a": 1, "w": "\xe9"}', "which is not UTF-8"),
        (rb'{"a": 1, "w": "\ud800"}', "half of a UTF-16 surrogate pair"),
        (b'{"a": 1, "w": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", "line 41"),
    ],
)
def test_a_bad_line(bad, problem):
    good = lines(*({"a": i, "w": "x", "b": True, "t": "2020-01-01"} for i in range(40)))
    data = good + bad + b"\n" + good
    with pytest.raises(InputError) as error:
        read(data, head=500)
    assert "data.jsonl, line 41" in str(error.value)
    assert (error.value.file, error.value.line) == ("data.jsonl", 41)
    assert problem in str(error.value)
    rows = read(data, head=500, bad_rows="skip")
    assert rows.cells["a"] == [*range(40)] * 2
    assert (rows.skipped.count, len(rows.skipped.errors)) == (1, 1)
    assert rows.locations[40] == "data.jsonl, line 42"


def test_an_object_over_several_lines_is_refused():
    data = json.dumps({"a": 1, "b": 2}, indent=1).encode()
    with pytest.raises(InputError, match=r"data\.jsonl, line 1: the line is not JSON.*one object on each line"):
        read(data)


def test_null_is_an_object_without_keys():
    assert read(b'{"a": 1}\nnull\n{}\n').cells == {"a": [1, None, None]}
    assert read(b'{"a": 1}\nnull\n{"a": 0.5}\n', head=9).cells == {"a": [1.0, None, 0.5]}


def test_blank_lines_are_not_rows():
    rows = read(b'  \n{"a": 1}\n\t\n{"a": 2}\n   ')
    assert rows.cells == {"a": [1, 2]}
    assert rows.locations == ["data.jsonl, line 2", "data.jsonl, line 4"]


@pytest.mark.parametrize(
    ("data", "problem"), [(b"", "is empty"), (b"\n", "only blanks"), (b"{}\n", "no keys"), (b'{"": 1}\n', "empty")]
)
def test_files_that_are_not_tables(data, problem):
    with pytest.raises(InputError, match=problem):
        read(data)


def test_encodings():
    text = '{"a": "Zoë"}\n' * 50
    for encoding in ("latin-1", "utf-16", "utf-8-sig"):
        assert read(text.encode(encoding), encoding=encoding).cells["a"] == ["Zoë"] * 50


def test_a_long_line(monkeypatch):
    monkeypatch.setattr(json_rows, "PARSED_AT_ONCE", 64)
    assert read(lines({"a": "x" * 1000}, {"a": "y"})).cells["a"] == ["x" * 1000, "y"]


def test_lines_longer_than_the_first_read(tmp_path):
    path = tmp_path / "long.jsonl"
    path.write_bytes(lines({"a": "x" * 5_000_000, "b": 1}, {"a": "y", "b": 2}))
    source = open_source(path)
    assert source.types == {"a": "text", "b": "whole number"}
    assert [batch.rows["b"].to_pylist() for batch in source.batches()] == [[1, 2]]


COMMAS = CellFormat("number", ",", ".")


def in_format(form, *cells, **options):
    source = open_source(io.BytesIO(lines(*({"c": cell} for cell in cells))), format="jsonl", **options)
    source.read_as({}, {"c": form})
    return [row["c"] for row in rows_of(source)]


def test_texts_are_read_in_the_format_of_a_model():
    assert in_format(COMMAS, "1.234,5", None, "7") == [1234.5, None, 7]
    assert in_format(COMMAS, "1.234,5", 6.25, "7,5") == [1234.5, 6.25, 7.5]
    assert in_format(CellFormat("yes/no"), "Y", "N", True) == [True, False, True]
    assert in_format(CellFormat("time", date_format="%d/%m/%Y"), "12/11/2019") == [datetime.datetime(2019, 11, 12)]
    assert in_format(COMMAS, 6.25, 7.5) == [6.25, 7.5]
    assert in_format(COMMAS, "1,5", "abc", "2,5", bad_rows="skip") == [1.5, 2.5]
    with pytest.raises(InputError, match=r"line 2, column 'c': 'abc' is not a number with the decimal separator ','"):
        in_format(COMMAS, "1,5", "abc")
