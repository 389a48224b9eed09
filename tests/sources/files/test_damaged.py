"""Files with random changes: reading them gives valid rows or an InputError."""

import gzip
import io
import random

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

from file_formats import WRITERS, mixed_table
from suffice.exceptions import InputError
from suffice.sources.files import open_source

PIECES = [b'"', b",", b"\n", b"\r", b"\0", b"\xff", b"\xe9", b"{", b"}", b"\\ud800", b"1e999", b"9" * 30, b""]
KINDS = ["data.csv", "data.jsonl", "data.parquet", "data.arrow", "stream.arrows", "data.csv.gz"]


def changed(data, rng):
    data = bytearray(data)
    for _ in range(rng.choice([1, 1, 3])):
        at = rng.randrange(len(data))
        kind = rng.randrange(4)
        if kind == 0:
            data[at] = rng.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << rng.randrange(8)
        elif kind == 2:
            del data[at : at + rng.choice([1, 40])]
        else:
            data[at : at + rng.randrange(2)] = rng.choice(PIECES)
    return bytes(data)


@pytest.mark.parametrize("skip", [False, True])
@pytest.mark.parametrize("name", KINDS)
def test_damaged_files_give_valid_rows_or_an_error(name, skip, tmp_path):
    plain = name.removesuffix(".gz")
    path = tmp_path / name
    WRITERS[plain](mixed_table(30), tmp_path / plain)
    data = (tmp_path / plain).read_bytes()
    data = gzip.compress(data) if name.endswith(".gz") else data
    rng = random.Random(f"{name} {skip}")
    sentences = []
    for _ in range(120):
        path.write_bytes(changed(data, rng))
        try:
            for batch in open_source(path, bad_rows="skip" if skip else "error", batch_rows=7).batches():
                batch.rows.validate(full=True)
                batch.rows.to_pylist()
        except InputError as error:
            sentences.append(str(error))
    assert sentences
    assert not any("\n" in sentence for sentence in sentences)


def test_bytes_that_are_not_utf8_in_rows_of_another_shape(tmp_path, capfd):
    # Arrow would pass such a row to Python as text and print a traceback.
    (tmp_path / "data.csv").write_bytes(b"a,b\n1,2\nx,\xe9,3\n" + b"3,4\n" * 5)
    source = open_source(tmp_path / "data.csv", bad_rows="skip")
    assert source.types == {"a": "whole number", "b": "whole number"}
    assert sum(len(batch) for batch in source.batches()) == 6
    assert source.skipped == 1
    assert "line 3, byte 3 of the line (byte 11 of the file) is 0xe9" in source.faults[0]
    assert capfd.readouterr().err == ""


def test_texts_that_are_not_utf8(tmp_path):
    texts = pa.StringArray.from_buffers(3, pa.py_buffer(np.array([0, 1, 2, 3], np.int32)), pa.py_buffer(b"a\xffc"))
    table = pa.table({"x": [1, 2, 3], "text": texts})
    pa.parquet.write_table(table, tmp_path / "data.parquet")
    for given, place in ((tmp_path / "data.parquet", "data.parquet, row 1"), (table, "row 1")):
        with pytest.raises(InputError, match=rf"{place}, column 'text': the bytes are not UTF-8 text"):
            list(open_source(given).batches())
        assert [len(batch) for batch in open_source(given, ignore=["text"]).batches()] == [3]


@pytest.mark.parametrize("kind", ["file", "stream"])
def test_offsets_and_codes_beyond_the_data(kind, tmp_path):
    offsets = pa.py_buffer(np.array([0, 1, 1 << 20, 3], np.int32))
    texts = pa.StringArray.from_buffers(3, offsets, pa.py_buffer(b"abc"))
    codes = pa.DictionaryArray.from_arrays(pa.array([0, 7, 1], pa.int32()), pa.array(["a", "b"]), safe=False)
    make = {"file": pa.ipc.new_file, "stream": pa.ipc.new_stream}[kind]
    for column in (codes, texts):
        batch = pa.RecordBatch.from_arrays([column], names=["c"])
        path = tmp_path / "data.arrow"
        with make(str(path), batch.schema) as writer:
            writer.write_batch(batch)
        with pytest.raises(InputError, match=r"data.arrow, row 0, column 'c': the data are damaged from here on"):
            list(open_source(path).batches())


@pytest.mark.parametrize("where", [2, 40])
def test_types_are_inferred_after_an_unclosed_quote(where):
    lines = ["x,label", *(f"{i},{'ab'[i % 2]}" for i in range(50))]
    lines[where - 1] = '5,"a'
    source = open_source(io.BytesIO("\n".join(lines).encode()), bad_rows="skip")
    assert source.types == {"x": "whole number", "label": "text"}
    assert sum(len(batch) for batch in source.batches()) == 49
    assert source.faults == [f"the open file, line {where}: the quote that opens here is never closed."]


def test_types_are_inferred_after_an_unclosed_quote_in_a_large_file(tmp_path):
    with open(tmp_path / "data.csv", "wb") as file:
        file.write(b'x,label\n1,"a\n')
        file.writelines(b"%d,b\n" % i * 1000 for i in range(2500))
    source = open_source(tmp_path / "data.csv", bad_rows="skip")
    assert source.types == {"x": "whole number", "label": "text"}
    assert sum(len(batch) for batch in source.batches()) == 2_500_000
    assert source.skipped == 1
