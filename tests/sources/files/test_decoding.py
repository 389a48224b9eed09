"""Encodings, and the lines of errors."""

import io
import time

import pytest

from suffice.exceptions import InputError
from suffice.sources.files import open_source
from suffice.sources.files.blocks import ByteBlock
from suffice.sources.files.json_rows import not_objects, parse_object

DATA = {"csv": b"a,b\n1,2\n3,4\n", "jsonl": b'{"a": 1}\n{"a": 2}\n'}


@pytest.mark.parametrize("kind", DATA)
@pytest.mark.parametrize("encoding", ["punycode", "idna", "undefined", "rot13", "utf-8\0", "", "no such"])
def test_encodings_that_are_not_for_files(kind, encoding):
    with pytest.raises(InputError, match="Unknown encoding") as caught:
        open_source(io.BytesIO(DATA[kind]), format=kind, encoding=encoding)
    assert caught.value.argument == "encoding"


@pytest.mark.parametrize("kind", DATA)
def test_utf16_without_a_byte_order_mark(kind):
    data = DATA[kind].decode().encode("utf-16-be")
    with pytest.raises(
        InputError, match=r"as utf-16: it does not start with a byte order mark\. Set encoding="
    ) as caught:
        open_source(io.BytesIO(data), format=kind, encoding="utf-16")
    assert caught.value.argument == "encoding"
    assert sum(map(len, open_source(io.BytesIO(data), format=kind, encoding="utf-16-be").batches())) == 2


def test_lines_of_a_block():
    data = b"a\n\nb\r\nc\rd\n\r\re"
    block = ByteBlock("data.csv", data, 0, len(data), 10, 0, ",", '"', False)
    lines = {bytes([data[at]]): block.location(row).line for row, at in enumerate(block.records.starts)}
    assert lines == {b"a": 10, b"b": 12, b"c": 13, b"d": 14, b"e": 17}


def test_lines_that_cannot_be_objects():
    lines = [
        b"x",
        b"1",
        b"[]",
        b'"a"',
        b"null",
        b"{}",
        b" x",
        b"true",
        b"\xef\xbb",
        b"-",
        b"\x0bx",
        b"nul",
        b"~",
        b"\x7f",
    ]
    data = b"\n".join(lines)
    found = not_objects(ByteBlock("data.jsonl", data, 0, len(data), 1, 0, "", "", False))
    assert found.any()
    for line, wrong in zip(lines, found, strict=True):
        if wrong:
            with pytest.raises(Exception, match=r"not JSON|expected an object"):
                parse_object(line)
    assert not found[[4, 5, 6]].any()


def seconds(data, **options):
    start = time.process_time()
    try:
        rows = sum(map(len, open_source(io.BytesIO(data), **options).batches()))
    except InputError as error:
        rows = error.line
    return time.process_time() - start, rows


def test_bad_lines_take_linear_time():
    """Twenty times as many bad lines take at most a hundred times as long; counting lines for each took 400 times."""
    good = b'{"a": 1}\n'
    for data, options in (
        (lambda n: b"x\n" * n, {"format": "jsonl"}),
        (lambda n: good + b"x\n" * n + good, {"format": "jsonl", "bad_rows": "skip"}),
        (lambda n: good + b"{\n" * n + good, {"format": "jsonl", "bad_rows": "skip"}),
        (
            lambda n: b'{"b": 1, ' + b", ".join(b'"k%d": 1' % i for i in range(n)) + b', "b": 2}\n' + good,
            {"format": "jsonl"},
        ),
        (lambda n: b"a,b\n1,2\n" + b"1,2,3\n" * n, {"format": "csv", "bad_rows": "skip"}),
        (lambda n: b"a,b\n1,2\n" + b"1,\xff\n" * n, {"format": "csv", "bad_rows": "skip"}),
    ):
        few, _ = min(seconds(data(500), **options) for _ in range(2))
        many, _ = seconds(data(10_000), **options)
        assert many < 100 * max(few, 0.005)


def test_both_encodings_are_spelled_as_arguments():
    data = DATA["csv"].decode().encode("utf-16-le")
    with pytest.raises(InputError) as caught:
        open_source(io.BytesIO(data), format="csv")
    assert "set --utf-16-le or --utf-16-be." in caught.value.worded(lambda argument: f"--{argument.value}")
