"""Which columns of a table a model without column names reads: those of its positions, or all in order."""

import asyncio
import io
import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet
import pytest

from suffice import GaussianDiscriminant, NaiveBayes
from suffice.exceptions import SufficeError
from suffice.server.problems import Problem, problem_of
from suffice.server.rows.answers import answer, written_rows
from suffice.server.rows.bodies import MEDIA_TYPES
from suffice.server.rows.operations import Predict
from suffice.server.rows.parameters import SampleRequest
from suffice.server.rows.rows_to_learn import rows_to_learn
from suffice.server.settings import Limits

RNG = np.random.default_rng(8)
CELLS = RNG.normal(size=(60, 4)) * [1, 2, 3, 4]
LABELS = np.where(CELLS[:, 0] + CELLS[:, 3] > 0, "yes", "no")
MODELS = {
    "array": NaiveBayes().fit(CELLS, LABELS),
    "positions": NaiveBayes().fit(pd.DataFrame(CELLS), LABELS),
    "discriminant": GaussianDiscriminant("shared").fit(CELLS, LABELS),
}
FORMS = ("csv", "jsonl", "arrow", "parquet")
ORDERS = {"in order": [0, 1, 2, 3], "reversed": [3, 2, 1, 0], "two of them": [2, 0]}


def body_of(table, form):
    """A table as a body."""
    file = io.BytesIO()
    if form == "csv":
        table.to_csv(file, index=False)
    elif form == "jsonl":
        return "".join(json.dumps(row) + "\n" for row in table.to_dict("records")).encode()
    elif form == "parquet":
        pa.parquet.write_table(pa.Table.from_pandas(table, preserve_index=False), file)
    else:
        rows = pa.Table.from_pandas(table, preserve_index=False)
        with pa.ipc.new_stream(file, rows.schema) as writer:
            writer.write_table(rows)
    return file.getvalue()


def named(order, names=None, n=5):
    """Some columns of the training rows, by their positions or other names."""
    return pd.DataFrame(CELLS[:n, order], columns=names or [str(j) for j in order])


def receiving(body):
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        if not messages:
            await asyncio.Event().wait()
        return messages.pop()

    return receive


def answered(operation, body, form, limits=None, out="json"):
    """The bytes of an answer."""

    async def main():
        headers = [(b"content-type", MEDIA_TYPES[form].encode()), (b"accept", MEDIA_TYPES[out].encode())]
        found = await answer(operation, headers, receiving(body), limits or Limits())
        return b"".join([each async for each in found.pieces])

    return asyncio.run(main())


def predicted(model, body, form, **options):
    return json.loads(answered(Predict(model), body, form, **options))["predictions"]


def taught(model, body, form, **options):
    return asyncio.run(rows_to_learn(model.fitted_, form, body, Limits(), **options))


def refused(call, *arguments, **options):
    with pytest.raises((Problem, SufficeError)) as caught:
        call(*arguments, **options)
    return problem_of(caught.value)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("name", MODELS)
def test_positions_are_names(name, form):
    model = MODELS[name]
    for order in ORDERS.values():
        table = named(order)
        rows = json.dumps({"rows": table.to_dict("records")}).encode()
        for each in (table, table.assign(other="x")):
            assert predicted(model, body_of(each, form), form) == predicted(model, rows, "json")
    expected = model.predict_proba(CELLS[:5])
    found = predicted(model, body_of(named([3, 2, 1, 0]), form), form)
    np.testing.assert_allclose([each["probabilities"] for each in found], expected, rtol=1e-13)


@pytest.mark.parametrize("form", FORMS)
def test_other_names_are_read_in_order(form):
    expected = MODELS["array"].predict_proba(CELLS[:5])
    found = predicted(MODELS["array"], body_of(named([0, 1, 2, 3], list("dcba")), form), form)
    np.testing.assert_allclose([each["probabilities"] for each in found], expected, rtol=1e-13)
    wrong = refused(predicted, MODELS["array"], body_of(named([0, 1, 2], list("abc")), form), form)
    assert (wrong.status, "has 3 columns" in wrong.detail) in ((400, True), (422, True))


def test_json_lines_are_read_in_the_order_of_the_first_row():
    lines = [{"b": 1.0, "a": 2.0, "c": 3.0, "d": 4.0}, {"a": 2.0, "b": 1.0, "d": 4.0, "c": 3.0}]
    first, second = predicted(MODELS["array"], "\n".join(map(json.dumps, lines)).encode(), "jsonl")
    assert first == second
    lines = [{"b": 1.0, "c": 3.0, "d": 4.0}, {"a": 2.0, "b": 1.0, "c": 3.0, "d": 4.0}]
    wrong = refused(predicted, MODELS["array"], "\n".join(map(json.dumps, lines)).encode(), "jsonl")
    assert (wrong.status, wrong.facts["row"], wrong.facts["column"]) == (422, 0, "a")


@pytest.mark.parametrize("form", FORMS)
def test_rows_to_learn_are_read_by_the_same_rule(form):
    model, table = MODELS["array"], named([3, 2, 1, 0]).assign(label=LABELS[:5])
    found = taught(model, body_of(table, form), form)
    assert found.labels == LABELS[:5].tolist()
    assert found.rows.column_names == ["0", "1", "2", "3"]
    np.testing.assert_allclose(found.rows.to_pandas(), CELLS[:5])
    lacking = taught(model, body_of(table[["2", "0", "label"]], form), form)
    assert lacking.rows.column_names == ["0", "1", "2", "3"]
    assert lacking.rows["1"].null_count == 5
    wrong = refused(taught, model, body_of(table.rename(columns={"label": "kind"}), form), form)
    assert "?target=" in wrong.detail
    wrong = refused(taught, model, body_of(table, form), form, label="yes")
    assert "Leave out ?label=" in wrong.detail


@pytest.mark.parametrize("name", MODELS)
def test_drawn_rows_can_be_sent_back(name):
    model = MODELS[name]
    drawn = SampleRequest(6, seed=0).drawn(model)
    assert drawn.column_names == ["0", "1", "2", "3", "label"]
    expected = model.predict_proba(drawn.to_pandas().iloc[:, :4].to_numpy(dtype=float))
    for form in ("json", *FORMS):
        found = predicted(model, written_rows(drawn, form), form)
        np.testing.assert_allclose([each["probabilities"] for each in found], expected, rtol=1e-12)
        if form != "json":
            assert taught(model, written_rows(drawn, form), form).labels == drawn["label"].to_pylist()


def test_a_stream_without_rows_is_answered_without_rows():
    schema = pa.schema([(str(j), pa.float64()) for j in range(4)])
    for batches in ([], [schema.empty_table().to_batches()]):
        file = io.BytesIO()
        with pa.ipc.new_stream(file, schema) as writer:
            for each in batches:
                writer.write_table(pa.Table.from_batches(each, schema))
        assert predicted(MODELS["array"], file.getvalue(), "arrow") == []


@pytest.mark.parametrize("learn", [False, True])
@pytest.mark.parametrize("form", ["arrow", "arrow file", "parquet", "parquet of texts"])
def test_dictionaries_of_long_texts_are_bounded(form, learn):
    values = pa.array(["x" * 1_000_000, "a"])
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20_000, np.int32)), values)
    rows = pa.table({**{str(j): np.zeros(20_000) for j in range(4)}, "label": column})
    file, kind = io.BytesIO(), form.removesuffix(" file")
    if kind.startswith("parquet"):
        pa.parquet.write_table(rows, file, store_schema=form == "parquet")  # otherwise, the column is one of texts
        kind = "parquet"
    else:
        with (pa.ipc.new_stream if form == "arrow" else pa.ipc.new_file)(file, rows.schema) as writer:
            writer.write_table(rows)
    if learn:
        problem = refused(taught, MODELS["array"], file.getvalue(), kind)
    else:
        problem = refused(answered, Predict(MODELS["array"], keep=True), file.getvalue(), kind, out="csv")
    assert (problem.status, "20,000,000,000 bytes" in problem.detail) == (413, True)


def test_labels_of_a_document_are_given_once():
    rows = {"rows": [{"0": 1.0, "kind": "yes"}], "labels": ["no"]}
    problem = refused(taught, MODELS["array"], json.dumps(rows).encode(), "json", target="kind")
    assert (problem.status, problem.facts["row"]) == (400, 0)
    assert "different labels" in problem.detail
    rows["labels"] = ["yes"]
    assert taught(MODELS["array"], json.dumps(rows).encode(), "json", target="kind").labels == ["yes"]


@pytest.mark.parametrize("label", ["", " no", "maybe\n"])
def test_a_label_of_the_address_with_blanks_is_no_new_class(label):
    body = b'{"rows": [{"0": 1.0}]}'
    problem = refused(taught, MODELS["array"], body, "json", label=label, new_classes=True)
    assert (problem.status, "no class" in problem.detail) == (422, True)
    assert taught(MODELS["array"], body, "json", label="maybe", new_classes=True).labels == ["maybe"]


def wide(form, n_columns):
    """A body of one row that has unknown columns besides those of the model."""
    rows = {**dict.fromkeys("0123", 1.0), **{f"column {i}": 1.5 for i in range(n_columns)}}
    if form in ("json", "columns"):
        return json.dumps({"row": rows} if form == "json" else {"columns": {each: [1.5] for each in rows}}).encode()
    return body_of(pd.DataFrame([rows]), form)


@pytest.mark.parametrize("form", [*FORMS, "json", "columns"])
def test_columns_are_limited_before_they_take_memory(form):
    limits, kind = Limits(columns=200), "json" if form == "columns" else form
    assert len(predicted(MODELS["array"], wide(form, 200), kind, limits=limits)) == 1
    problem = refused(predicted, MODELS["array"], wide(form, 201), kind, limits=limits)
    assert (problem.status, problem.facts["limit"]) == (413, 204)
    assert "205 columns" in problem.detail


def test_delimiters_in_texts_are_no_columns():
    text = '"' + "a, b; " * 300 + '"'
    body = f"0,1,2,3,note\n1,2,3,4,{text}\n".encode() * 1
    assert len(predicted(MODELS["array"], body, "csv", limits=Limits(columns=200))) == 1
    line = {**dict.fromkeys("0123", 1.0), "note": json.dumps({f"key {i}": i for i in range(300)})}
    assert len(predicted(MODELS["array"], json.dumps(line).encode(), "jsonl", limits=Limits(columns=200))) == 1
