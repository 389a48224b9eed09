"""Conversion of texts to cells: invalid texts are found in few conversions, however many there are."""

import io
import json
import random
import re

import pyarrow as pa
import pytest

from suffice.exceptions import InputError
from suffice.sources.files import conversion, open_source

KINDS = {
    "whole number": ([pa.int64()], "0123456789+-. \txXaefnity_", ["12", "0x1F", "-3", " 7 "]),
    "number": ([pa.float64()], "0123456789+-. \txXaefnityINF()", ["1.5", "1e5", "-inf", "NaN", "infinity", ".5", "5."]),
    "yes/no": ([pa.bool_()], "01tTrRuUeEfFaAlLsSyYnNoO ", ["true", "False", "yes", "N", "1"]),
    "time": (
        [pa.timestamp("us"), pa.timestamp("ns", "UTC"), pa.time32("s"), pa.date32()],
        "0123456789-:T.Z+ /\t",
        ["2020-01-01", "2020-01-01T10:00:00Z", "2020-01-01 10:00", "10:00:00", "2020-01-01T10:00:00.12+02:00"],
    ),
}


@pytest.fixture
def conversions(monkeypatch):
    """Sizes of all conversions by Arrow."""
    convert, calls = conversion._convert, []

    def counted(texts, kind):
        calls.append(len(texts))
        return convert(texts, kind)

    monkeypatch.setattr(conversion, "_convert", counted)
    return calls


@pytest.mark.parametrize("word", KINDS)
def test_every_cell_that_arrow_converts_matches_its_pattern(word):
    kinds, letters, spelled = KINDS[word]
    rng = random.Random(word)
    for _ in range(500):
        text = list(rng.choice(spelled))
        for _ in range(rng.randrange(3)):
            at = rng.randrange(len(text) + 1)
            text[at : at + rng.randrange(2)] = rng.choice(letters)
        text = "".join(text)
        if any(conversion.all_convertible(pa.array([text]), kind) for kind in kinds if text):
            assert re.search(conversion.POSSIBLE[word], text), text


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.bool_(), pa.timestamp("us")])
def test_a_column_of_invalid_cells(kind, conversions):
    texts = pa.array([f"word {i}" for i in range(3000)])
    array, wrong = conversion.convert_or_widen(texts, kind)
    assert wrong.all()
    assert array.null_count == 3000
    assert len(conversions) < 20


def test_whole_numbers_become_fractions(conversions):
    array, wrong = conversion.convert_or_widen(pa.array([f"{i}.5" for i in range(3000)]), pa.int64())
    assert not wrong.any()
    assert array.to_pylist() == [i + 0.5 for i in range(3000)]
    assert len(conversions) < 10


def test_whole_numbers_with_words_stay_whole():
    array, wrong = conversion.convert_or_widen(pa.array(["1", "0x10", "word", None]), pa.int64())
    assert array.to_pylist() == [1, None, None, None]
    assert wrong.tolist() == [False, True, True, False]


def test_types_of_distinct_texts_take_few_conversions(conversions):
    lines = "".join(json.dumps({"id": f"{i}-x", "text": f"word {i}"}) + "\n" for i in range(2000))
    assert open_source(io.BytesIO(lines.encode())).types == {"id": "text", "text": "text"}
    text = "id,text\n" + "".join(f"{i}-x,word {i}\n" for i in range(2000))
    assert open_source(io.BytesIO(text.encode())).types == {"id": "text", "text": "text"}
    assert len(conversions) < 20


def test_a_column_that_changes_its_type(tmp_path, conversions):
    (tmp_path / "data.csv").write_text(
        "x,y\n" + "".join(f"{i},1\n" for i in range(200_000)) + "".join(f"w{i},1\n" for i in range(9000))
    )
    with pytest.raises(InputError, match=r"data.csv, line 200002, column 'x': 'w0' is not a number"):
        list(open_source(tmp_path / "data.csv").batches())
    source = open_source(tmp_path / "data.csv", bad_rows="skip")
    assert sum(len(batch) for batch in source.batches()) == 200_000
    assert source.skipped == 9000
    assert len(conversions) < 50


def test_hexadecimal_numbers_are_texts():
    for cells in (["1", "0x1F"], ["0x1F"], ["-0X1f", "2", None]):
        assert not conversion.all_convertible(pa.array(cells), pa.int64())
