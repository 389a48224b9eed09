"""Answers about rows: those of the library in each form, and those of the short way equal to those of the long way."""

import asyncio
import io
import json
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv
import pyarrow.json
import pyarrow.parquet
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asgi import ask, asked
from suffice import GaussianDiscriminant, GenerativeEnsemble, NaiveBayes, TextNaiveBayes
from suffice.exceptions import ClassError, InputError
from suffice.naive_bayes import GaussianNB, MultinomialNB
from suffice.server.app import build
from suffice.server.hosting import Host, Hosts
from suffice.server.problems import Problem, problem_of
from suffice.server.rows.answers import answer
from suffice.server.rows.bodies import MEDIA_TYPES
from suffice.server.rows.class_labels import class_named
from suffice.server.rows.operations import Explain, Predict, Score
from suffice.server.rows.rows_to_learn import rows_to_learn
from suffice.server.settings import Limits, Settings

RNG = np.random.default_rng(11)
LABELS = np.array(["ham", "spam"])


def mixed_rows(n):
    cells = {
        "x": RNG.normal(size=n),
        "n": RNG.poisson(3, n),
        "city": RNG.choice(["Ulm", "Bonn", "Köln"], n),
        "zip": RNG.choice([89073, 53111, 50667], n),
        "paid": RNG.random(n) < 0.5,
    }
    table = pd.DataFrame(cells)
    table.loc[::7, ["x", "city"]] = None
    return table


MIXED = mixed_rows(300)
Y = LABELS[(MIXED["n"] + RNG.normal(size=300) > 3).astype(int)]
NUMBERS = pd.DataFrame(RNG.normal(size=(200, 4)), columns=list("abcd"))
MODELS = {
    "mixed": NaiveBayes({"zip": "categorical", "n": "poisson"}).fit(MIXED, Y),
    "numbers": NaiveBayes().fit(NUMBERS, Y[:200]),
    "array": NaiveBayes().fit(NUMBERS.to_numpy(), (NUMBERS["a"] > 0).to_numpy()),
    "discriminant": GaussianDiscriminant("own").fit(NUMBERS, Y[:200]),
    "drop-in": GaussianNB().fit(NUMBERS.to_numpy(), RNG.integers(0, 3, 200)),
    "positions": NaiveBayes().fit(pd.DataFrame(NUMBERS.to_numpy()), Y[:200]),
    "ensemble": GenerativeEnsemble().fit(MIXED, Y),
    "numeric-ensemble": GenerativeEnsemble().fit(NUMBERS, Y[:200]),
    "ignored": NaiveBayes({"b": None}).fit(NUMBERS, Y[:200]),
    "texts": TextNaiveBayes().fit(
        ["free prize now", "lunch at noon", "free lunch", "noon today"] * 3, LABELS.repeat(6)
    ),
}


def rows_of(name, n=5):
    """Rows of JSON for a model."""
    if name == "texts":
        return [{"text": each} for each in ("a free prize", "lunch", "", None, "unknown words")][:n]
    table = MIXED if name in ("mixed", "ensemble") else NUMBERS
    if name in ("array", "drop-in", "positions"):
        table = table.set_axis(list("0123"), axis=1)
    return json.loads(table[:n].to_json(orient="records", double_precision=15))


@pytest.fixture(scope="module")
def app():
    hosts = Hosts(Host(name, "", Settings(), model) for name, model in MODELS.items())
    return build(hosts, Settings())


def predicted(app, name, body, headers=()):
    found = ask(app, "POST", f"/models/{name}/predict", [("Content-Type", "application/json"), *headers], body)
    return found.status, json.loads(found.body)


def the_long_way(operation, body, form="json", out=None, limits=None):
    """The bytes of an answer."""
    messages = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive():
        if not messages:
            await asyncio.Event().wait()
        return messages.pop()

    async def main():
        headers = [(b"content-type", MEDIA_TYPES[form].encode())]
        headers += [] if out is None else [(b"accept", MEDIA_TYPES[out].encode())]
        found = await answer(operation, headers, receive, limits or Limits())
        return b"".join([each async for each in found.pieces])

    return asyncio.run(main())


def read(content, form):
    """An answer as a table."""
    file = io.BytesIO(content)
    if form == "arrow":
        return pa.ipc.open_stream(file).read_all()
    readers = {"csv": pa.csv.read_csv, "jsonl": pa.json.read_json, "parquet": pa.parquet.read_table}
    return readers[form](file)


# ---------------------------------------------------------------------- the short way


@pytest.mark.parametrize("name", MODELS)
def test_the_short_way_gives_the_bytes_of_the_long_way(app, name):
    rows = rows_of(name)
    for body in ({"rows": rows}, *({"row": each} for each in rows)):
        content = json.dumps(body).encode()
        short = ask(app, "POST", f"/models/{name}/predict", [("Content-Type", "application/json")], content)
        assert short.status == 200
        assert short.body == the_long_way(Predict(MODELS[name]), content)


@pytest.mark.parametrize("name", MODELS)
def test_predictions_are_those_of_the_library(app, name):
    rows = rows_of(name)
    status, found = predicted(app, name, json.dumps({"rows": rows}).encode())
    assert status == 200
    model = MODELS[name]
    table = MIXED if name in ("mixed", "ensemble") else NUMBERS
    X = [each["text"] for each in rows] if name == "texts" else table[: len(rows)]
    if name in ("array", "drop-in"):
        X = X.to_numpy()
    elif name == "positions":
        X = X.set_axis(range(4), axis=1)
    assert found["classes"] == model.classes_.tolist()
    assert [each["label"] for each in found["predictions"]] == model.predict(X).tolist()
    probabilities = [each["probabilities"] for each in found["predictions"]]
    np.testing.assert_allclose(probabilities, model.predict_proba(X), rtol=0, atol=1e-12)  # 15 digits of the cells


CELLS = {
    "x": st.one_of(st.none(), st.floats(-1e6, 1e6), st.integers(-(2**60), 2**60)),
    "n": st.one_of(st.none(), st.integers(0, 50)),
    "city": st.one_of(st.none(), st.sampled_from(["Ulm", "Bonn", "Rome", "", 'ü\\"']), st.integers(0, 3)),
    "zip": st.one_of(st.none(), st.sampled_from([89073, 53111, 2**60 + 1, 1.5])),
    "paid": st.one_of(st.none(), st.booleans(), st.sampled_from([0, 1])),
}
ROW = st.fixed_dictionaries({}, optional={**CELLS, "other": st.text(max_size=3)})
BAD = st.sampled_from([{"x": "1"}, {"x": True}, {"city": [1]}, {"other": 1}, {"x": 10**400}, 3, None, {"paid": 7}, {}])


@settings(max_examples=30, deadline=None)
@given(st.lists(st.lists(ROW, min_size=1, max_size=3), min_size=1, max_size=5), st.none() | BAD)
def test_requests_that_arrive_together_get_the_answers_that_each_gets_alone(app, requests, bad):
    """Also if a bad request is among them; bit by bit."""
    bodies = [json.dumps({"rows": rows}).encode() for rows in requests]
    bodies += [] if bad is None else [json.dumps({"row": bad}).encode()]

    async def together():
        kind = [("Content-Type", "application/json")]
        return await asyncio.gather(*(asked(app, "POST", "/models/mixed/predict", kind, body) for body in bodies))

    for body, found in zip(bodies, asyncio.run(together()), strict=True):
        try:
            expected = 200, the_long_way(Predict(MODELS["mixed"]), body)
        except (Problem, InputError) as error:
            problem = problem_of(error)
            expected = problem.status, problem.body()
        assert (found.status, found.body) == expected


@pytest.mark.parametrize("name", ["numbers", "numeric-ensemble"])
@settings(max_examples=25, deadline=None)
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {}, optional=dict.fromkeys("abcd", st.none() | st.floats(allow_nan=False, allow_infinity=False))
        ),
        min_size=1,
        max_size=12,
    )
)
def test_rows_of_numbers_get_the_same_answers_on_both_ways(app, name, rows):
    for body in (json.dumps({"rows": rows}).encode(), json.dumps({"row": rows[0]}).encode()):
        found = ask(app, "POST", f"/models/{name}/predict", [("Content-Type", "application/json")], body)
        try:
            expected = 200, the_long_way(Predict(MODELS[name]), body)
        except (Problem, InputError) as error:
            problem = problem_of(error)
            expected = problem.status, problem.body()
        assert (found.status, found.body) == expected


def test_the_short_way_sees_a_model_that_has_changed():
    model = NaiveBayes().fit([[1.0], [2.0], [8.0], [9.0]], [0, 0, 1, 1])
    host = Host("m", "", Settings(), model)
    app = build(Hosts([host]), Settings())
    body = b'{"row": {"0": 5.2}}'
    before = predicted(app, "m", body)[1]
    model.partial_fit([[5.0], [5.5]] * 10, [0, 0] * 10)
    after = predicted(app, "m", body)[1]
    assert before != after
    assert after["predictions"][0]["probabilities"] == model.predict_proba([[5.2]])[0].tolist()


def test_a_request_with_an_unusual_head_goes_the_long_way(app):
    body = json.dumps({"row": rows_of("numbers", 1)[0]}).encode()
    csv = ask(
        app, "POST", "/models/numbers/predict", [("Content-Type", "application/json"), ("Accept", "text/csv")], body
    )
    assert csv.body.startswith(b"label,p(ham),p(spam)\n")
    assert predicted(app, "numbers", body, [("Accept", "application/json")])[0] == 200
    for headers, status in (
        ([("Accept", "image/png")], 406),
        ([("Content-Encoding", "br")], 415),
        ([("Origin", "http://evil.example")], 403),
    ):
        assert predicted(app, "numbers", body, headers)[0] == status
    found = ask(
        app, "POST", "/models/numbers/predict", [("Content-Type", "application/json")], body, host="evil.example"
    )
    assert found.status == 421


def test_rows_of_the_short_way_are_counted_and_watched():
    seen = []
    model = MODELS["numbers"]
    host = Host("m", "", Settings(), model, watch=SimpleNamespace(observe=lambda *each: seen.append(each)))
    app = build(Hosts([host]), Settings())
    counted = []
    host.count = lambda *each: counted.append(each)
    predicted(app, "m", json.dumps({"rows": rows_of("numbers", 3)}).encode())
    assert counted == [("m", "predicted", 3)]
    assert [each[1] for each in seen] == [3]


# ---------------------------------------------------------------------- forms


@pytest.mark.parametrize("out", ["csv", "jsonl", "arrow", "parquet"])
def test_answers_have_the_columns_of_the_command(out):
    body = json.dumps({"rows": rows_of("mixed")}).encode()
    found = read(the_long_way(Predict(MODELS["mixed"]), body, out=out), out)
    assert found.column_names == ["label", "p(ham)", "p(spam)"]
    expected = MODELS["mixed"].predict_proba(MIXED[:5])
    np.testing.assert_allclose(np.column_stack([found["p(ham)"], found["p(spam)"]]), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("operation", [Predict, Score, Explain])
@pytest.mark.parametrize("out", ["json", "csv", "arrow", "parquet"])
def test_no_rows_have_an_answer(operation, out):
    content = the_long_way(operation(MODELS["numbers"]), b'{"rows": []}', out=out)
    if out == "json":
        assert json.loads(content)[operation.member] == []
    else:
        assert read(content, out).num_rows == 0
    table = the_long_way(operation(MODELS["numbers"]), b"a,b,c,d\n", "csv", out)
    assert table == content or out == "parquet"


def test_densities_are_those_of_the_library():
    body = json.dumps({"rows": rows_of("numbers")}).encode()
    expected = MODELS["numbers"].score_samples(NUMBERS[:5])
    found = json.loads(the_long_way(Score(MODELS["numbers"]), body))["scores"]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert read(the_long_way(Score(MODELS["numbers"]), body, out="arrow"), "arrow").column_names == ["log p(x)"]


def test_explanations_sum_to_the_log_odds():
    model = MODELS["mixed"]
    body = json.dumps({"rows": rows_of("mixed")}).encode()
    found = json.loads(the_long_way(Explain(model, label="spam", against="ham"), body))["explanations"]
    odds = model.explain(MIXED[:5], "spam", "ham").log_odds
    for each, expected in zip(found, odds, strict=True):
        assert sum(part["part"] for part in each["parts"]) == pytest.approx(expected, abs=1e-9)
        assert (each["label"], each["against"]) == ("spam", "ham")
    lines = read(the_long_way(Explain(model), body, out="csv"), "csv")
    assert lines["row"].to_pylist() == sorted(list(range(5)) * 6)
    with pytest.raises(Problem) as caught:
        the_long_way(Explain(model, most_rows=3), body)
    assert caught.value.status == 413


def test_a_text_and_a_mail_are_one_row():
    model = MODELS["texts"]
    expected = model.predict_proba(["free lunch"])[0].tolist()
    mail = b"From: a@example.com\r\nSubject: free\r\n\r\nlunch\r\n"
    assert (
        json.loads(the_long_way(Predict(model), b"free lunch", "text"))["predictions"][0]["probabilities"] == expected
    )
    found = json.loads(the_long_way(Predict(model), mail, "mail"))["predictions"][0]["probabilities"]
    assert found == model.predict_proba(["free\nlunch"])[0].tolist()
    with pytest.raises(Problem) as caught:
        the_long_way(Predict(model), b"\xff", "text")
    assert caught.value.status == 400
    with pytest.raises(Problem) as caught:
        the_long_way(Predict(MODELS["numbers"]), b"free", "text")
    assert caught.value.status == 415


def test_only_errors_of_input_checks_are_those_of_the_client():
    model = MultinomialNB().fit(RNG.poisson(3, (50, 4)), RNG.integers(0, 2, 50))
    for form in ("json", "csv"):
        with pytest.raises(InputError, match="contains NaN"):
            the_long_way(Predict(model), b'{"rows": [[1, null, 3, 4]]}', out=form)

    class Mistaken(Score):
        def values(self, rows):
            raise ValueError("operands could not be broadcast together")

    with pytest.raises(ValueError, match="broadcast") as caught:
        the_long_way(Mistaken(model), b'{"rows": [[1, 2, 3, 4]]}')
    assert problem_of(caught.value).status == 500


def test_rows_without_a_posterior_have_no_label():
    model = NaiveBayes("poisson", estimation="mle", impossible="nan").fit([[0], [0]], ["a", "b"])
    host = Host("m", "", Settings(), model)
    app = build(Hosts([host]), Settings())
    status, found = predicted(app, "m", b'{"rows": [{"0": 3}]}')
    assert status == 200
    assert found["predictions"] == [{"label": None, "probabilities": [None, None]}]
    table = read(the_long_way(Predict(model), b'{"rows": [[3], [0]]}', out="arrow"), "arrow")
    assert table["label"].to_pylist()[0] is None
    assert table["p(a)"].to_pylist() == [None, 0.5]


def test_nearly_equal_posteriors_get_the_label_of_predict(app):
    model = NaiveBayes().fit([[-1.0], [-2.0], [1.0], [2.0]], ["a", "a", "b", "b"])
    host = Host("m", "", Settings(), model)
    _, found = predicted(build(Hosts([host]), Settings()), "m", b'{"rows": [{"0": 0.0}, {"0": 1e-12}, {"0": -1e-12}]}')
    assert [each["label"] for each in found["predictions"]] == model.predict([[0.0], [1e-12], [-1e-12]]).tolist()


def test_classes_are_named_by_their_texts():
    classes = MODELS["array"].fitted_.classes
    assert class_named(classes, "true") is True
    assert class_named(classes, None) is None
    with pytest.raises(ClassError, match="Did you mean 'spam'"):
        class_named(MODELS["mixed"].fitted_.classes, "spum")


# ---------------------------------------------------------------------- rows to learn


def taught(body, form="json", model="mixed", **options):
    return asyncio.run(rows_to_learn(MODELS[model].fitted_, form, body, Limits(), **options))


def test_rows_to_learn_are_the_same_in_all_forms():
    rows = rows_of("numbers", 3)
    labels = ["ham", "spam", "ham"]
    table = pa.Table.from_pylist([{**each, "y": label} for each, label in zip(rows, labels, strict=True)])
    file = io.BytesIO()
    with pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table)
    csv = table.to_pandas().to_csv(index=False).encode()
    for body, form in (
        (json.dumps({"rows": rows, "labels": labels}).encode(), "json"),
        (json.dumps({"rows": table.to_pylist()}).encode(), "json"),
        (csv, "csv"),
        (file.getvalue(), "arrow"),
    ):
        found = taught(body, form, "numbers", target="y")
        assert found.labels == labels
        assert found.rows.column_names == list("abcd")
        np.testing.assert_allclose(found.rows.to_pandas(), NUMBERS[:3], rtol=0, atol=1e-14)
        assert found.weights is None
    found = taught(b"a,b,c,d,w\n1,2,3,4,1\n5,6,7,8,0\n", "csv", "numbers", label="spam", weights="w")
    assert (found.labels, found.weights) == (["spam", "spam"], [1.0, 0.0])
    found = taught(b"a free prize", "text", "texts", label="spam")
    assert (found.labels, found.rows.to_pylist()) == (["spam"], [{"text": "a free prize"}])


@pytest.mark.parametrize(
    ("body", "form", "options", "part"),
    [
        (b'{"rows": [{"a": 1}]}', "json", {}, "have no labels"),
        (b'{"rows": [{"a": 1}], "labels": [null]}', "json", {}, "Row 0 has no label"),
        (b'{"rows": [{"a": 1}], "labels": [["ham"]]}', "json", {}, "list or an object"),
        (b'{"rows": [{"a": 1}], "labels": ["hm"]}', "json", {}, "Did you mean 'ham'?"),
        (b'{"rows": [{"a": 1}], "labels": [3]}', "json", {"new_classes": True}, "Labels are texts here"),
        (b'{"rows": [{"a": 1}], "labels": ["ham"], "weights": [-1]}', "json", {}, "no weight of at least 0"),
        (b'{"rows": [{"a": 1}], "labels": ["ham"], "weights": ["1"]}', "json", {}, "not a number"),
        (b'{"rows": [{"a": 1}], "labels": ["ham"]}', "json", {"label": "ham"}, "Leave out ?label="),
        (b"a,b,c,d\n1,2,3,4\n", "csv", {}, "Name it in the address"),
        (b"a,b,c,d\n1,2,3,4\n", "csv", {"target": "y"}, "no column 'y'"),
        (b"a,b,c,d,y\n1,2,3,4,\n", "csv", {"target": "y"}, "Row 0 has no label"),
        (b"a,b,c,d\n1,2,3,4\n", "csv", {"label": "egg"}, "no class 'egg'"),
    ],
)
def test_labels_that_cannot_be_learned_are_problems(body, form, options, part):
    with pytest.raises((Problem, InputError, ClassError)) as caught:
        taught(body, form, "numbers", **options)
    assert part in str(caught.value)


def test_new_classes_are_allowed_if_the_server_allows_them():
    body = b'{"rows": [{"a": 1}], "labels": ["egg"]}'
    assert taught(body, model="numbers", new_classes=True).labels == ["egg"]
    assert taught(b"words", "text", "texts", label="egg", new_classes=True).labels == ["egg"]
