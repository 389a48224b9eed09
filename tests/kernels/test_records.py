"""Records of random bytes, against Python's csv."""

import csv
import io

import numpy as np
import pytest

from suffice.kernels.records import count_lines, last_record, records

PLAIN = b"ab,;\"'\n\r "
DENSE = b'",\n'


def random_texts(count=3000, most=24):
    rng = np.random.default_rng(11)
    for number in range(count):
        letters = PLAIN if number % 2 else DENSE
        yield bytes(rng.choice(list(letters), rng.integers(0, most)).astype(np.uint8))


def parsed(data, delimiter=",", quote='"'):
    text = io.StringIO(data.decode("latin-1"), newline="")
    if not quote:
        return [row for row in csv.reader(text, delimiter=delimiter, quoting=csv.QUOTE_NONE) if row]
    return [row for row in csv.reader(text, delimiter=delimiter, quotechar=quote) if row]


@pytest.mark.parametrize(("delimiter", "quote"), [(",", '"'), (";", "'"), (",", "")])
def test_records_are_those_of_python(delimiter, quote):
    for data in random_texts():
        starts, ends, fields = records(data, delimiter, quote)
        expected = parsed(data, delimiter, quote)
        assert fields.tolist() == [len(row) for row in expected], data
        each = [parsed(data[a:b], delimiter, quote) for a, b in zip(starts, ends, strict=True)]
        assert each == [[row] for row in expected], data


@pytest.mark.parametrize(("delimiter", "quote"), [(",", '"'), (";", "'"), (",", "")])
def test_a_text_is_cut_where_a_record_ends(delimiter, quote):
    for data in random_texts():
        end, opened, broken = last_record(data, delimiter, quote)
        # The text before the cut is complete: it gives the same rows alone and followed by any text.
        head = parsed(data[:end], delimiter, quote)
        assert parsed(data[:end] + b"z\n", delimiter, quote) == [*head, ["z"]], data
        # No later cut is: after any later line end, the rows depend on the text before it.
        starts, ends, _ = records(data[end:], delimiter, quote)
        assert len(starts) <= 1, data
        if len(starts) and opened < 0:
            assert data[end + ends[0] :] in (b"", b"\r"), data
        # A quote is open if text that follows becomes part of the last cell.
        inside = parsed(data + b"\nz", delimiter, quote)
        assert (opened >= 0) == bool(inside and inside[-1][-1].endswith(("\nz", "\rz")) and inside[-1] != ["z"]), data
        if opened >= 0:
            assert data[opened : opened + 1].decode() == quote
            assert last_record(data[:opened], delimiter, quote).open < 0
        whole = parsed(data, delimiter, quote)
        assert broken == (opened >= 0 or any("\n" in cell or "\r" in cell for row in whole for cell in row)), data


def test_the_first_records_alone():
    starts, ends, fields = records(b"\na,b\nc\nd", ",", '"', 2)
    assert (starts.tolist(), ends.tolist(), fields.tolist()) == ([1, 5], [4, 6], [2, 1])
    assert len(records(b"", ",", '"').starts) == 0


def test_a_delimiter_is_not_the_quote():
    with pytest.raises(ValueError, match="two different bytes"):
        records(b"a", ",", ",")


def test_lines_are_those_of_python():
    for data in random_texts():
        ended = io.TextIOWrapper(io.BytesIO(data), "latin-1", newline=None).read()
        assert count_lines(data) == ended.count("\n"), data


def test_long_fields():
    data = b'"' + b"x" * 100 + b'""' + b"\n" * 50 + b'",' + b"y" * 40 + b"\n1,2\n" + b'"' + b"z" * 99
    end, opened, broken = last_record(data, ",", '"')
    assert (end, opened, broken) == (data.index(b'"zz'), data.index(b'"zz'), True)
    assert records(data, ",", '"').fields.tolist() == [2, 2, 1]
