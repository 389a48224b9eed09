"""What a small request can make the server do is bounded: time of the event loop, and memory."""

import asyncio
import difflib
import io
import json
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from suffice import NaiveBayes
from suffice.server.problems import Problem
from suffice.server.rows import class_labels, json_rows
from suffice.server.rows.answers import answer
from suffice.server.rows.json_rows import MEMBERS, columns_of, parse
from suffice.server.rows.operations import Explain, Predict
from suffice.server.rows.parameters import SampleRequest, given_prior
from suffice.server.rows.row_plans import plan_of
from suffice.server.settings import Limits

RNG = np.random.default_rng(5)
LABELS = np.array(["a", "b"])[RNG.integers(0, 2, 60)]
WIDE = NaiveBayes().fit(pd.DataFrame(RNG.normal(size=(60, 300)), columns=[f"column {j}" for j in range(300)]), LABELS)
SMALL = NaiveBayes().fit(pd.DataFrame(RNG.normal(size=(60, 2)), columns=list("xy")), LABELS)


def receiving(body, size=1 << 20):
    messages = [
        {"type": "http.request", "body": body[start : start + size], "more_body": True}
        for start in range(0, len(body), size)
    ]
    messages[-1]["more_body"] = False

    async def receive():
        if not messages:
            await asyncio.Event().wait()
        return messages.pop(0)

    return receive


def answered(operation, body, media="application/json", limits=None, **options):
    async def main():
        headers = [(b"content-type", media.encode()), (b"accept", b"application/json")]
        found = await answer(operation, headers, receiving(body, **options), limits or Limits())
        return b"".join([each async for each in found.pieces])

    return asyncio.run(main())


@pytest.mark.parametrize(
    ("kind", "model", "n_rows", "in_loop"),
    [(Predict, SMALL, 20, True), (Predict, WIDE, 20, False), (Explain, SMALL, 1, False)],
)
def test_only_few_cells_are_answered_in_the_event_loop(kind, model, n_rows, in_loop):
    threads = []
    operation = kind(model, answered=lambda rows, n: threads.append(threading.current_thread()))
    name = "x" if model is SMALL else "column 0"
    found = json.loads(answered(operation, json.dumps({"rows": [{name: 1.0}] * n_rows}).encode()))
    assert len(found[operation.member]) == n_rows
    assert (threads[0] is threading.main_thread()) == in_loop


UNKNOWN = {f"unknown {j}": 1 for j in range(200)}


@pytest.mark.parametrize("document", [{"row": UNKNOWN}, UNKNOWN])
def test_similar_names_are_looked_up_for_few_names_only(document, monkeypatch):
    looked_up, similar = [], difflib.get_close_matches

    def counting(word, *arguments):
        looked_up.append(word)
        return similar(word, *arguments)

    monkeypatch.setattr(difflib, "get_close_matches", counting)
    with pytest.raises(Problem, match=r"none of the columns|no member"):
        columns_of(document, plan_of(WIDE.fitted_), Limits())
    assert 0 < len(looked_up) < 10


def test_the_first_names_are_told_a_similar_one():
    with pytest.raises(Problem, match="Did you mean 'rows'"):
        columns_of({"row s": []}, plan_of(SMALL.fitted_), Limits())
    assert "rows" in MEMBERS


def test_very_long_names_are_not_compared(monkeypatch):
    monkeypatch.setattr(difflib, "get_close_matches", None)
    with pytest.raises(Problem, match="none of the columns"):
        columns_of({"row": {"column 0" * 1_000: 1}}, plan_of(WIDE.fitted_), Limits())


def test_a_number_that_is_not_json_is_found_after_long_texts():
    text = '"' + 'a\\"' * 100_000 + '"'
    with pytest.raises(Problem, match="NaN at line 1, character 300,006"):
        parse(f"[{text}, NaN]".encode())


def dictionaries(n_columns, n_texts, *, deltas=False):
    """An Arrow stream of a few kilobytes, whose dictionaries are large."""
    kind = pa.dictionary(pa.int32(), pa.string())
    schema = pa.schema([("x", pa.float64()), ("y", pa.float64()), *((f"t{j}", kind) for j in range(n_columns))])
    options = pa.ipc.IpcWriteOptions(compression="zstd", emit_dictionary_deltas=deltas)
    sink, texts = io.BytesIO(), []
    with pa.ipc.new_stream(sink, schema, options=options) as writer:
        for _ in range(n_texts):
            texts = [*texts, f"{len(texts)}" + "a" * (50 << 20)] if deltas else [f"{len(texts)}" + "a" * (50 << 20)]
            column = pa.DictionaryArray.from_arrays(pa.array([0], pa.int32()), pa.array(texts))
            writer.write_batch(pa.record_batch([pa.array([1.0]), pa.array([2.0]), *[column] * n_columns], schema))
    return sink.getvalue()


ARROW = "application/vnd.apache.arrow.stream"


def test_dictionaries_of_a_stream_are_bounded_together():
    with pytest.raises(Problem, match="dictionaries of 3") as caught:
        answered(Predict(SMALL), dictionaries(6, 1), ARROW)
    assert caught.value.status == 413
    with pytest.raises(Problem, match="Write whole dictionaries") as caught:
        answered(Predict(SMALL), dictionaries(1, 2, deltas=True), ARROW)
    assert caught.value.status == 400


def test_a_dictionary_that_replaces_another_takes_its_place():
    assert answered(Predict(SMALL), dictionaries(1, 7), ARROW)


def test_drawn_cells_are_limited():
    assert SampleRequest.of({"rows": 3_333}, Limits(), WIDE.fitted_).rows == 3_333
    with pytest.raises(Problem, match="at most 3,333 at a time") as caught:
        SampleRequest.of({"rows": 3_334}, Limits(), WIDE.fitted_)
    assert caught.value.status == 413


def test_the_classes_of_a_prior_are_looked_up_in_one_dictionary(monkeypatch):
    n_classes = 100
    model = NaiveBayes().fit(np.arange(n_classes * 2.0).reshape(-1, 1), np.arange(n_classes).repeat(2))
    written, original = [], class_labels._written
    monkeypatch.setattr(class_labels, "_written", lambda label: written.append(label) or original(label))
    found = given_prior({"prior": {str(label): 1 / n_classes for label in range(n_classes)}}, model.fitted_)
    assert list(found) == list(range(n_classes))
    assert len(written) < 3 * n_classes


def test_a_document_of_many_rows_is_refused_before_it_takes_memory(monkeypatch):
    monkeypatch.setattr(json_rows, "DECODER", None)
    for row in (b"{}", b"[]"):
        body = b'{"rows": [' + b",".join([row] * (json_rows.MOST_ROWS + 10)) + b"]}"
        with pytest.raises(Problem, match=r"more than 200,000 rows.*send CSV") as caught:
            parse(body)
        assert caught.value.status == 413
    unclosed = b'["' + b'\\"[' * json_rows.MOST_ROWS * 2
    with pytest.raises(AttributeError, match="decode"):  # brackets of texts are no rows
        parse(unclosed)


def test_rows_and_cells_of_a_document_are_limited():
    plan = plan_of(WIDE.fitted_)
    for n_rows, what in ((json_rows.MOST_ROWS + 1, "200,001 rows"), (json_rows.MOST_ROWS, "60,000,000 cells")):
        with pytest.raises(Problem, match=what):
            columns_of({"columns": {"column 0": [1.0] * n_rows}}, plan, Limits())
