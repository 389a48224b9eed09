"""Tables that are answered while they arrive: order, bounded memory, errors, and clients that leave."""

import asyncio
import contextlib
import gzip
import io
import os
import tempfile
import threading
import time

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
import pytest
from starlette.requests import ClientDisconnect

from suffice import NaiveBayes
from suffice.server.problems import Problem
from suffice.server.rows import table_streams
from suffice.server.rows.answers import answer
from suffice.server.rows.arrow_messages import CheckedMessages
from suffice.server.rows.bodies import MEDIA_TYPES, Gunzip
from suffice.server.rows.operations import Predict
from suffice.server.rows.table_streams import Incoming, WholeBody, exchanged
from suffice.server.settings import Limits

NAMES = ["a", "b"]
RNG = np.random.default_rng(5)
MODEL = NaiveBayes().fit(pd.DataFrame(RNG.normal(size=(50, 2)), columns=NAMES), RNG.choice(["u", "v"], 50))
SECONDS = 20


async def never():
    """Receive nothing more."""
    await asyncio.Event().wait()


async def pieces_of(pieces):
    for each in pieces:
        yield each
        await asyncio.sleep(0)


def collected(pieces, work, receive=never, gunzip=None):
    async def main():
        return [each async for each in exchanged(pieces_of(pieces), receive, work, gunzip)]

    return asyncio.run(main())


def echo(incoming):
    while piece := incoming.read(1000):
        yield piece


def no_threads_now():
    return all(each.name != "suffice table" for each in threading.enumerate())


def no_threads():
    """Whether the threads of tables end soon."""
    end = time.monotonic() + SECONDS
    while not no_threads_now():
        assert time.monotonic() < end
        time.sleep(0.005)
    return True


def stream(n_rows, batch_rows, types=(float, float)):
    columns = [pa.array(RNG.normal(size=n_rows).astype(each)) for each in types]
    table = pa.table(columns, names=NAMES)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=batch_rows)
    return table, sink.getvalue()


def asked(body, form, pieces=10_000, limits=None, leave_after=None):
    """The answer in the same form; with ``leave_after``, the client leaves after so many messages."""
    parts = [body[i : i + pieces] for i in range(0, len(body), pieces)] or [b""]
    sent = 0

    async def receive():
        nonlocal sent
        if sent == leave_after:
            return {"type": "http.disconnect"}
        if sent == len(parts):
            await never()
        sent += 1
        return {"type": "http.request", "body": parts[sent - 1], "more_body": sent < len(parts)}

    async def main():
        headers = [(b"content-type", MEDIA_TYPES[form].encode())]
        found = await answer(Predict(MODEL), headers, receive, limits or Limits())
        return b"".join([each async for each in found.pieces])

    return asyncio.run(main())


# ---------------------------------------------------------------------- pieces


def test_pieces_arrive_in_order_whatever_their_sizes():
    body = RNG.bytes(300_000)
    cuts = np.sort(RNG.integers(0, len(body), 60))
    pieces = [bytes(each) for each in np.split(np.frombuffer(body, np.uint8), cuts) if len(each)]
    assert b"".join(collected(pieces, echo)) == body
    zipped = gzip.compress(body)
    parts = [zipped[i : i + 777] for i in range(0, len(zipped), 777)]
    assert b"".join(collected(parts, echo, gunzip=Gunzip(400_000))) == body
    assert no_threads()


def test_reads_have_as_many_bytes_as_were_asked_for():
    sizes = []

    def work(incoming):
        assert incoming.peek(3) == b"abc"
        sizes.extend(incoming.read(size) for size in (1, 2, 7, 100))
        buffer = bytearray(4)
        assert incoming.readinto(buffer) == 0
        yield b""

    collected([b"ab", b"cd", b"efghij", b"k"], work)
    assert sizes == [b"a", b"bc", b"defghij", b"k"]


def test_memory_is_bounded_while_the_reader_is_slow():
    waiting = []

    def work(incoming):
        while piece := incoming.read(1 << 20):
            waiting.append(incoming.waiting)
            yield piece[:1]

    collected([bytes(1 << 20)] * 40, work)
    most = max(waiting)
    assert table_streams.MOST / 2 < most <= table_streams.MOST + (1 << 20)


def test_an_answer_is_kept_until_a_client_reads_that_sends_everything_first():
    """The answer is larger than what waits in memory, and nobody reads it before the body is complete."""
    sent = threading.Event()
    answered = [bytes([k]) * (1 << 20) for k in range(3 * table_streams.MOST >> 20)]

    async def main():
        async def pieces():
            yield b"begin"
            await asyncio.to_thread(sent.wait, SECONDS)  # the thread has written everything meanwhile
            yield b"end"

        def work(incoming):
            incoming.read(5)
            yield from answered
            sent.set()
            assert incoming.read(10) == b"end"
            yield b"last"

        return [each async for each in exchanged(pieces(), never, work)]

    assert b"".join(asyncio.run(main())) == b"".join([*answered, b"last"])
    assert sent.is_set()
    assert no_threads()


def spilling(**options):
    """An answer of pieces that do not fit into memory, before the body is complete; its pieces as they come."""

    async def pieces():
        yield b"begin"
        await never()

    def work(incoming):
        incoming.read(5)
        for _ in range((table_streams.MOST >> 20) + 6):
            yield bytes(1 << 20)

    return exchanged(pieces(), never, work, **options)


def test_the_loop_does_not_wait_for_the_disk(monkeypatch):
    got, write, waited = threading.Event(), os.pwrite, []

    def waiting(*arguments):
        waited.append(got.wait(SECONDS))
        return write(*arguments)

    monkeypatch.setattr(os, "pwrite", waiting)

    async def main():
        answered = spilling()
        n_bytes = len(await anext(answered))
        while not waited and n_bytes < table_streams.MOST:
            n_bytes += len(await anext(answered))
            got.set()
        return n_bytes + sum([len(each) async for each in answered])

    assert asyncio.run(main()) == table_streams.MOST + (6 << 20)
    assert all(waited)
    assert no_threads()


@pytest.mark.parametrize(
    ("status", "sentence"), [(413, "More than 2,097,152 bytes of the answer"), (507, "no room for the answer")]
)
def test_an_answer_that_does_not_fit_on_the_disk_is_a_problem(status, sentence, monkeypatch):
    if status == 507:
        monkeypatch.setattr(tempfile, "TemporaryFile", lambda: io.FileIO("/dev/full", "r+"))

    async def main():
        found = spilling(most_on_disk=2 << 20)
        await anext(found)
        while not no_threads_now():
            await asyncio.sleep(0.005)
        async for _ in found:
            pass

    with pytest.raises(Problem, match=sentence) as caught:
        asyncio.run(asyncio.wait_for(main(), SECONDS))
    assert caught.value.status == status
    assert "learned" not in caught.value.detail
    assert no_threads()


def test_a_gzip_piece_is_decompressed_as_it_is_read():
    class Counting(Gunzip):
        n_bytes = 0

        def decompressed(self, piece):
            for each in super().decompressed(piece):
                self.n_bytes += len(each)
                yield each

    gunzip = Counting(1 << 30)

    def work(incoming):
        incoming.read(10)
        yield b"%d" % gunzip.n_bytes
        while incoming.read(1 << 20):
            pass

    (found,) = collected([gzip.compress(bytes(20 << 20))], work, gunzip=gunzip)
    assert int(found) <= 1 << 20
    assert gunzip.n_bytes == 20 << 20


def test_an_answer_waits_for_its_reader_once_the_body_is_complete():
    written = []

    async def main():
        def work(incoming):
            incoming.read(100)
            for _ in range(5 * table_streams.MOST >> 20):
                written.append(1)
                yield bytes(1 << 20)

        found = exchanged(pieces_of([b"all"]), never, work)
        await anext(found)
        await asyncio.sleep(0.2)
        assert len(written) <= (table_streams.MOST >> 20) + 3
        return sum([len(each) async for each in found])

    assert asyncio.run(main()) == (5 * table_streams.MOST) - (1 << 20)


# ---------------------------------------------------------------------- ends


def test_an_error_of_the_work_is_raised_after_what_it_wrote():
    def work(incoming):
        yield b"one"
        raise KeyError("two")

    async def main():
        found = exchanged(pieces_of([b"x"] * 100), never, work)
        assert await anext(found) == b"one"
        with pytest.raises(KeyError):
            await anext(found)

    asyncio.run(main())
    assert no_threads()


def test_an_error_of_the_body_reaches_the_work_and_the_client():
    async def pieces():
        yield b"abc"
        raise Problem(413, "Too much.")

    async def main():
        return [each async for each in exchanged(pieces(), never, echo)]

    with pytest.raises(Problem, match="Too much"):
        asyncio.run(main())
    assert no_threads()


def test_a_client_that_leaves_ends_the_work():
    async def left():
        return {"type": "http.disconnect"}

    def work(incoming):
        while True:
            yield bytes(1 << 16)

    with pytest.raises(ClientDisconnect):
        collected([b"all"], work, receive=left)
    assert no_threads()


def test_an_answer_that_nobody_wants_any_more_ends_the_work():
    async def endless():
        while True:
            yield bytes(1000)
            await asyncio.sleep(0)

    async def main():
        found = exchanged(endless(), never, echo)
        await anext(found)
        await found.aclose()

    asyncio.run(main())
    assert no_threads()


# ---------------------------------------------------------------------- tables


@pytest.mark.parametrize("form", ["arrow", "csv", "jsonl", "parquet"])
def test_large_tables_are_answered_as_the_library_does(form):
    n_rows = 150_000 if form in ("arrow", "parquet") else 70_000  # several batches
    table, body = stream(n_rows, 30_000)
    if form == "csv":
        body = table.to_pandas().to_csv(index=False).encode()
    elif form == "jsonl":
        body = table.to_pandas().to_json(orient="records", lines=True, double_precision=15).encode()
    elif form == "parquet":
        sink = io.BytesIO()
        pa.parquet.write_table(table, sink, row_group_size=40_000)
        body = sink.getvalue()
    found = asked(body, form, pieces=65_536)
    if form == "arrow":
        answered = pa.ipc.open_stream(found).read_all()
    elif form == "parquet":
        answered = pa.parquet.read_table(io.BytesIO(found))
    elif form == "csv":
        answered = pa.csv.read_csv(io.BytesIO(found))
    else:
        answered = pa.json.read_json(io.BytesIO(found))
    expected = MODEL.predict_proba(table.to_pandas())
    assert answered.column_names == ["label", "p(u)", "p(v)"]
    tolerance = 1e-12 if form == "jsonl" else 0  # pandas writes 15 digits
    np.testing.assert_allclose(np.column_stack([answered["p(u)"], answered["p(v)"]]), expected, rtol=0, atol=tolerance)
    assert answered["label"].to_pylist() == MODEL.predict(table.to_pandas()).tolist()


def test_rows_and_cells_of_tables_are_limited():
    _, body = stream(10_000, 2_000)
    for limits in (Limits(rows=5_000), Limits(cells=5_000)):
        with pytest.raises(Problem) as caught:
            asked(body, "arrow", limits=limits)
        assert caught.value.status == 413
    with pytest.raises(Problem) as caught:
        asked(body, "arrow", limits=Limits(body=len(body) - 1))
    assert caught.value.status == 413


def test_a_bad_cell_is_a_problem_with_its_line():
    with pytest.raises(Problem) as caught:
        asked(b"a,b\n1,2\n3,four\n", "csv")
    assert caught.value.status == 422
    assert caught.value.detail == "The body, line 3, column 'b': 'four' is not a number."
    assert (caught.value.facts["column"], caught.value.facts["line"]) == ("b", 3)


def test_a_row_of_a_later_batch_has_its_number_in_the_body():
    table, _ = stream(100_000, 100_000)
    column = table["a"].to_numpy().copy()
    column[90_000] = np.inf
    sink = io.BytesIO()
    bad = table.set_column(0, "a", pa.array(column))
    with pa.ipc.new_stream(sink, bad.schema) as writer:
        writer.write_table(bad, max_chunksize=20_000)
    with pytest.raises(Problem) as caught:
        asked(sink.getvalue(), "arrow")
    assert (caught.value.facts["row"], caught.value.facts["column"]) == (90_000, "a")
    assert "Row 90000" in caught.value.detail


def test_a_body_that_ends_early_is_a_problem():
    _, body = stream(10_000, 2_000)
    with pytest.raises(Problem) as caught:
        asked(body, "arrow", leave_after=3)
    assert caught.value.status == 400
    with pytest.raises(Problem) as caught:
        asked(body[:-2_000], "arrow")
    assert caught.value.status == 400
    assert no_threads()


@pytest.mark.parametrize("form", ["arrow", "parquet", "csv", "jsonl"])
@pytest.mark.parametrize(
    "body", [b"", b"\x00\x01 nonsense \xff" * 50, gzip.compress(b"a,b\n1,2\n")], ids=["empty", "nonsense", "gzip"]
)
def test_bodies_that_are_no_tables_are_problems(form, body):
    with pytest.raises(Problem) as caught:
        asked(body, form)
    assert 400 <= caught.value.status < 423


def test_a_batch_that_claims_to_be_huge_takes_no_memory():
    incoming = Incoming(None)
    incoming.end()
    with pytest.raises(Problem, match="record batch"):
        incoming.read(1 << 40)


@pytest.mark.parametrize("codec", ["zstd", "lz4"])
def test_a_compressed_batch_is_read_unless_it_would_become_huge(codec):
    options = pa.ipc.IpcWriteOptions(compression=codec)

    def written(n_rows):
        table = pa.table({"a": np.zeros(n_rows), "b": np.zeros(n_rows)})
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
            writer.write_table(table)
        return sink.getvalue()

    assert pa.ipc.open_stream(asked(written(1_000), "arrow")).read_all().num_rows == 1_000
    bomb = written(20_000_000)
    assert len(bomb) < table_streams.LARGEST / 100
    with pytest.raises(Problem, match="record batch of 320,000") as caught:
        asked(bomb, "arrow", pieces=1 << 20)
    assert caught.value.status == 413


def test_dictionaries_and_all_types_of_a_stream_are_checked():
    """The parser of metadata finds the same messages as Arrow, whatever they hold."""
    texts = pa.array(["u", None, "long" * 99]).dictionary_encode()
    table = pa.table({"t": texts, "l": [[1], None, [2, 3]], "n": pa.nulls(3), "b": [True, None, False]})
    for options in (pa.ipc.IpcWriteOptions(compression="zstd"), pa.ipc.IpcWriteOptions(use_legacy_format=True)):
        sink = io.BytesIO()
        with pa.ipc.new_stream(sink, table.schema, options=options) as writer:
            for _ in range(3):
                writer.write_table(table)
        found = pa.ipc.open_stream(pa.PythonFile(CheckedMessages(WholeBody(sink.getvalue())), "r")).read_all()
        assert found.equals(pa.concat_tables([table] * 3))


def test_damaged_messages_raise_errors_only():
    _, body = stream(300, 100)
    rng = np.random.default_rng(3)
    for _ in range(300):
        damaged = bytearray(body)
        for at in rng.integers(0, 700, 3):
            damaged[at] = rng.integers(256)
        with contextlib.suppress(Problem):
            asked(bytes(damaged), "arrow")
    assert no_threads()
