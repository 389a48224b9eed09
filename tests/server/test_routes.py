"""Each address answers what the library answers, and changes what the library changes."""

import errno
import io
import os
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from starlette.testclient import TestClient

import suffice
from scoring_cases import mixed_table
from suffice import EmptyColumnWarning, NaiveBayes, TextNaiveBayes
from suffice.server.app import build
from suffice.server.hosting import Hosts, open_host
from suffice.server.log import journal
from suffice.server.settings import Limits, Settings

LABELS = np.array(["no", "yes", "maybe"])
SETTINGS = Settings(learn=True, limits=Limits(explained=50, sampled=1000))


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(3)
    y = np.resize([0, 1, 2], 120)
    return mixed_table(rng, y), LABELS[y]


@pytest.fixture(scope="module")
def client(tmp_path_factory, table):
    folder = tmp_path_factory.mktemp("served")
    NaiveBayes().fit(*table).save(folder / "mixed.suffice")
    texts = ["cheap pills now", "lunch at noon", "buy cheap pills", "report for lunch"]
    TextNaiveBayes().fit(texts, ["spam", "ham", "spam", "ham"]).save(folder / "texts.suffice")
    hosts = Hosts([open_host(name, str(folder / f"{name}.suffice"), SETTINGS) for name in ("mixed", "texts")])
    with TestClient(build(hosts, SETTINGS), base_url="http://localhost") as found:
        yield found


@pytest.fixture
def one(tmp_path):
    """A server of one model of two numbers, which learns."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 2)), columns=["a", "b"])
    model = NaiveBayes().fit(X, (X["a"] + rng.normal(size=200) > 0).map({True: "up", False: "down"}))
    model.save(tmp_path / "one.suffice")
    hosts = Hosts([open_host("one", str(tmp_path / "one.suffice"), Settings(learn=True))])
    with TestClient(build(hosts, Settings(learn=True)), base_url="http://localhost") as found:
        yield found, model


OF_A_MODEL = [f"/models/mixed{each}" for each in ("", "/model", "/report", "/drift", "/window")]


def rows_of(table):
    """Rows as JSON has them."""

    def plain(value):
        if pd.isna(value):
            return None
        return value.isoformat() if isinstance(value, pd.Timestamp) else value

    return [{name: plain(value) for name, value in row.items()} for row in table.to_dict("records")]


def current(client):
    """The model as a client can download it."""
    return suffice.loads(client.get("/model").content)


def test_predictions_of_json_rows(client, table):
    X, _ = table
    model = suffice.loads(client.get("/models/mixed/model").content)
    answer = client.post("/models/mixed/predict", json={"rows": rows_of(X[:100])}).json()
    assert answer["classes"] == model.classes_.tolist()
    found = np.array([each["probabilities"] for each in answer["predictions"]])
    assert np.array_equal(found, model.predict_proba(X[:100]))
    assert [each["label"] for each in answer["predictions"]] == model.predict(X[:100]).tolist()


def test_an_arrow_stream_is_answered_by_one(client, table):
    X, _ = table
    sent = pa.Table.from_pandas(X, preserve_index=False)
    buffer = io.BytesIO()
    with pa.ipc.new_stream(buffer, sent.schema) as writer:
        writer.write_table(sent, max_chunksize=50)
    headers = {"Content-Type": "application/vnd.apache.arrow.stream"}
    answer = client.post("/models/mixed/predict", content=buffer.getvalue(), headers=headers)
    assert answer.headers["content-type"] == headers["Content-Type"]
    found = pa.ipc.open_stream(answer.content).read_all()
    expected = suffice.loads(client.get("/models/mixed/model").content).predict_proba(X)
    assert np.array_equal(np.column_stack([found.column(1 + k).to_numpy() for k in range(3)]), expected)


def test_explanations(client, table):
    X, _ = table
    model = suffice.loads(client.get("/models/mixed/model").content)
    answer = client.post("/models/mixed/explain?class=no&against=yes", json={"rows": rows_of(X[5:7])}).json()
    found = answer["explanations"]
    expected = model.explain(X[5:7], "no", "yes")
    assert [each["log_odds"] for each in found] == pytest.approx(expected.log_odds.tolist(), rel=1e-12)
    for each in found:
        assert (each["label"], each["against"]) == ("no", "yes")
        assert sum(part["part"] for part in each["parts"]) == pytest.approx(each["log_odds"], rel=1e-9)


def test_scores(client, table):
    X, _ = table
    model = suffice.loads(client.get("/models/mixed/model").content)
    answer = client.post("/models/mixed/score", json={"rows": rows_of(X[:9])}).json()
    assert answer["scores"] == model.score_samples(X[:9]).tolist()


def test_drawn_rows_can_be_seeded(client):
    asked = {"rows": 7, "class": "yes", "seed": 4}
    first, second = (client.post("/models/mixed/sample", json=asked).json()["rows"] for _ in range(2))
    assert first == second
    assert len(first) == 7
    assert {each["label"] for each in first} == {"yes"}
    drawn = client.post("/models/mixed/sample", json={"rows": 3}, headers={"Accept": "text/csv"})
    assert len(drawn.text.splitlines()) == 4


@pytest.mark.parametrize("path", ["/sample", "/prior"])
def test_documents_that_are_not_rows_are_small(client, path):
    found = client.post(f"/models/mixed{path}", json={"rows": " " * (1 << 20)})
    assert found.status_code == 413
    assert found.json()["detail"].startswith("The body has more than 1,048,576 bytes. Send only")


def test_a_text_and_a_mail(client):
    text = client.post("/models/texts/predict", content="cheap pills", headers={"Content-Type": "text/plain"}).json()
    assert text["predictions"][0]["label"] == "spam"
    mail = b"Subject: lunch\r\nFrom: a@example.org\r\n\r\nreport for lunch\r\n"
    found = client.post("/models/texts/predict", content=mail, headers={"Content-Type": "message/rfc822"}).json()
    assert found["predictions"][0]["label"] == "ham"


@pytest.mark.parametrize(
    ("path", "body", "status", "words"),
    [
        ("predict?classes=a", {"rows": []}, 400, "has no meaning here"),
        ("predict?keep=some", {"rows": []}, 400, "keep=all"),
        ("explain?class=perhaps", {"rows": [{}]}, 422, "no class 'perhaps'"),
        ("explain?class=no&against=no", {"rows": None}, 422, "the same class"),
        ("explain", {"rows": 51}, 413, "50 rows"),
        ("sample", {"rows": 1001}, 413, "1,000"),
        ("sample", {"rows": 0}, 422, "whole number from 1"),
        ("sample", {"rows": 2.0}, 422, "whole number"),
        ("sample", {"rows": True}, 422, "true or false"),
        ("sample", {"row": 1}, 400, "The document has an unknown member 'row'. Did you mean 'rows'?"),
        ("sample", {}, 400, "number of rows"),
        ("sample", {"rows": 1, "class": "perhaps"}, 422, "perhaps"),
        ("sample", {"rows": 1, "class": []}, 422, "a list"),
        ("sample", [1], 400, "a list"),
        ("prior", {"prior": {"no": 0.5, "yes": 0.5}}, 422, "'maybe'"),
        ("prior", {"prior": {"no": 0.5, "yes": 0.5, "maybe": 0.5}}, 422, "sum"),
        ("prior", {"prior": {"no": 2, "yes": 0.5, "maybe": 0.5}}, 422, "from 0 to 1"),
        ("prior", {"prior": "even"}, 422, "'uniform'"),
        ("prior", {"prior": {"nein": 1.0}}, 422, "nein"),
        ("learn", {"rows": [{}]}, 400, "no labels"),
        ("learn", {"rows": [], "labels": []}, 422, "no rows"),
    ],
)
def test_wrong_requests(client, table, path, body, status, words):
    if isinstance(body, dict) and body.get("rows") is None and "rows" in body:
        body = {"rows": rows_of(table[0][:1])}
    elif path == "explain":
        body = {"rows": rows_of(table[0][:51])}
    answer = client.post(f"/models/mixed/{path}", json=body)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert words in answer.json()["detail"]


def test_several_models_have_no_short_addresses(client):
    answer = client.post("/predict", json={"rows": []})
    assert (answer.status_code, "/models/texts" in answer.json()["detail"]) == (404, True)
    assert "'mixed'" in client.get("/models/mixd").json()["detail"]


def test_learned_rows_are_those_of_the_library(one):
    client, model = one
    rows = [{"a": 4.0, "b": -3.0}, {"a": -1.0, "b": None}]
    receipt = client.post("/learn", json={"rows": rows, "labels": ["up", "down"], "weights": [2, 1]}).json()
    assert receipt == {"sequence": 1, "rows": 2, "version": 1, "repeated": False, "weight": 203.0}
    X = pd.DataFrame(rows, dtype=float)
    model.partial_fit(X, ["up", "down"], sample_weight=[2, 1])
    grid = pd.DataFrame(np.random.default_rng(1).normal(size=(50, 2)), columns=["a", "b"])
    assert np.array_equal(current(client).predict_proba(grid), model.predict_proba(grid))
    predicted = client.post("/predict", json={"rows": rows_of(grid)}).json()["predictions"]
    assert np.allclose([each["probabilities"] for each in predicted], model.predict_proba(grid), rtol=0, atol=1e-12)


def test_unlearning_is_exact(one):
    client, model = one
    body = {"rows": [{"a": 1e3, "b": 7.0}], "labels": ["down"]}
    assert client.post("/learn", json=body).json()["weight"] == 201
    assert client.post("/unlearn", json=body).json() | {"version": 0} == {
        "sequence": 2,
        "rows": 1,
        "version": 0,
        "repeated": False,
        "weight": 200.0,
    }
    grid = pd.DataFrame(np.random.default_rng(1).normal(size=(50, 2)), columns=["a", "b"])
    assert np.allclose(current(client).predict_proba(grid), model.predict_proba(grid), rtol=1e-12, atol=0)


def test_a_class_without_rows_can_be_learned_again(tmp_path):
    NaiveBayes().fit([[0.0], [1.0], [4.0], [5.0], [9.0]], ["a", "a", "b", "b", "c"]).save(tmp_path / "m.suffice")
    settings = Settings(learn=True)
    hosts = Hosts([open_host("m", str(tmp_path / "m.suffice"), settings)])
    with TestClient(build(hosts, settings), base_url="http://localhost") as client:
        body = {"rows": [[9.0]], "labels": ["c"]}
        assert client.post("/unlearn", json=body).json()["weight"] == 4
        assert client.get("/models/m").json()["classes"] == ["a", "b"]
        assert client.post("/learn", json=body).json()["weight"] == 5
        assert client.get("/models/m").json()["classes"] == ["a", "b", "c"]


def test_columns_whose_names_are_not_texts_are_learned(tmp_path):
    X = pd.DataFrame({0: [0.0, 1.0, 4.0, 5.0], 1: ["u", "v", "u", "v"], 2: [np.nan] * 4})
    with pytest.warns(EmptyColumnWarning):
        NaiveBayes().fit(X, ["a", "a", "b", "b"]).save(tmp_path / "m.suffice")
    settings = Settings(learn=True)
    hosts = Hosts([open_host("m", str(tmp_path / "m.suffice"), settings)])
    with TestClient(build(hosts, settings), base_url="http://localhost") as client:
        for i, row in enumerate(({"0": 2.0, "1": "u"}, {"0": None, "1": "v", "2": None}), start=1):
            assert client.post("/predict", json={"row": row}).status_code == 200
            answer = client.post("/learn", json={"rows": [row], "labels": ["a"]})
            assert (answer.status_code, answer.json().get("weight")) == (200, 4.0 + i), answer.text


def test_a_prior_is_that_of_the_library(one):
    client, model = one
    assert client.post("/prior", json={"prior": {"up": 0.25, "down": 0.75}}).json()["version"] == 1
    grid = pd.DataFrame(np.random.default_rng(1).normal(size=(50, 2)), columns=["a", "b"])
    expected = model.with_prior({"up": 0.25, "down": 0.75}).predict_proba(grid)
    assert np.array_equal(current(client).predict_proba(grid), expected)
    assert client.get("/models/one").json()["prior"] == [0.75, 0.25]


def test_a_key_belongs_to_one_request(one):
    client, _ = one
    body, headers = {"rows": [{"a": 1.0, "b": 2.0}], "labels": ["up"]}, {"Idempotency-Key": "first"}
    first = client.post("/learn", json=body, headers=headers).json()
    again = client.post("/learn", json=body, headers=headers).json()
    assert again == first | {"repeated": True}
    assert 'suffice_rows_total{model="one",verb="learned"} 1.0' in client.get("/metrics").text
    for path, other in (("/learn", body | {"labels": ["down"]}), ("/unlearn", body), ("/learn?target=c", body)):
        answer = client.post(path, json=other, headers=headers)
        assert answer.status_code == 409, answer.text
    assert client.get("/models/one").json()["rows"] == 201


def test_a_key_is_known_whatever_the_model_has_learned_since(tmp_path):
    NaiveBayes().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]).save(tmp_path / "m.suffice")
    settings = Settings(learn=True, new_classes=True)
    hosts = Hosts([open_host("m", str(tmp_path / "m.suffice"), settings)])
    with TestClient(build(hosts, settings), base_url="http://localhost") as client:
        asked = {"json": {"prior": {"a": 0.5, "b": 0.5}}, "headers": {"Idempotency-Key": "k"}}
        first = client.post("/prior", **asked).json()
        assert client.post("/prior", json={"prior": "data"}).status_code == 200
        assert client.post("/learn", json={"rows": [[9.0]], "labels": ["c"]}).status_code == 200
        assert client.post("/prior", **asked).json() == first | {"repeated": True}
        assert client.post("/prior", json=asked["json"]).status_code == 422
        assert client.post("/learn", content=b"{", headers={"Idempotency-Key": "k"}).status_code == 415
        answer = client.post("/learn", json={"rows": "none"}, headers={"Idempotency-Key": "k"})
        assert (answer.status_code, "another body" in answer.json()["detail"]) == (409, True)
        assert client.post("/prior", json={}, headers={"Idempotency-Key": "k" * 256}).status_code == 422
        assert hosts["m"].version == 3


def test_a_receipt_does_not_depend_on_the_watch(tmp_path, monkeypatch, caplog):
    NaiveBayes().fit([[0.0], [1.0], [4.0], [5.0]], ["a", "a", "b", "b"]).save(tmp_path / "m.suffice")
    host = open_host("m", str(tmp_path / "m.suffice"), SETTINGS)
    body = {"rows": [[1.0]], "labels": ["a"]}

    def mistake(*arguments):
        raise MemoryError("no memory")

    with TestClient(build(Hosts([host]), SETTINGS), base_url="http://localhost") as client:
        with host.watch._windows:  # the watch is busy for as long as the rows are learned
            assert client.post("/learn", json=body).json()["sequence"] == 1
        assert client.get("/drift").json()["learned"]["open"]["rows"] == 1
        monkeypatch.setattr("suffice.server.routes.model_rows", mistake)
        assert client.post("/learn", json=body).json()["sequence"] == 2
        assert client.get("/drift").json()["missed"] == 1
        monkeypatch.setattr(host.watch, "observe", mistake)
        assert client.post("/learn", json=body).json()["sequence"] == 3
    assert "could not be counted or watched" in caplog.text


def test_a_report_is_computed_once_for_each_state_of_the_model(one, monkeypatch):
    client, _ = one
    computed, running = [], threading.Semaphore()
    of_model = NaiveBayes.report

    def report(self):
        assert running.acquire(blocking=False)  # one at a time
        computed.append(self.fitted_)
        found = of_model(self)
        running.release()
        return found

    monkeypatch.setattr(NaiveBayes, "report", report)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(client.get, ["/report"] * 8))
    assert {each.status_code for each in answers} == {200}
    assert len({each.text for each in answers}) == len(computed) == 1
    client.post("/learn", json={"rows": [{"a": 9e5, "b": 0.0}], "labels": ["up"]})
    assert client.get("/report").text != answers[0].text
    assert len(computed) == 2


def test_a_server_that_does_not_learn_has_no_address_to_learn(tmp_path):
    NaiveBayes().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]).save(tmp_path / "m.suffice")
    hosts = Hosts([open_host("m", str(tmp_path / "m.suffice"), Settings())])
    with TestClient(build(hosts, Settings()), base_url="http://localhost") as client:
        assert client.post("/learn", json={"rows": [[1.0]], "labels": [0]}).status_code == 404
        assert client.post("/predict", json={"rows": [[1.0]]}).json()["predictions"][0]["label"] == 0
        assert not (tmp_path / "m.suffice.state").exists()


def test_a_model_file_may_be_replaced_while_it_is_served(one, tmp_path):
    client, model = one
    (tmp_path / "one.suffice").write_bytes(b"something else")
    assert client.post("/predict", json={"row": {"a": 1.0, "b": 0.0}}).status_code == 200
    assert np.array_equal(current(client).class_count_, model.class_count_)


def test_ready_before_and_after(tmp_path):
    NaiveBayes().fit([[0.0], [1.0], [4.0], [5.0]], [0, 0, 1, 1]).save(tmp_path / "m.suffice")
    app = build(Hosts([open_host("m", str(tmp_path / "m.suffice"), Settings())]), Settings())
    client = TestClient(app, base_url="http://localhost")
    assert client.get("/ready").status_code == 503
    with client:
        assert client.get("/ready").json() == {"status": "ready"}
    answer = client.get("/ready")
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")
    assert client.get("/health").status_code == 200


def test_a_server_without_its_folder_is_not_ready(one, tmp_path):
    client, _ = one
    body = {"rows": [{"a": 1.0, "b": 0.0}], "labels": ["up"]}
    assert client.post("/learn", json=body).status_code == 200
    (tmp_path / "one.suffice.state").rename(tmp_path / "away")
    for answer in (client.post("/learn", json=body), client.get("/ready")):
        assert answer.status_code == 503
        assert "was removed, moved or replaced" in answer.json()["detail"]
    assert client.post("/predict", json={"row": {"a": 1.0, "b": 0.0}}).status_code == 200
    (tmp_path / "away").rename(tmp_path / "one.suffice.state")
    assert client.get("/ready").status_code == 200


@pytest.mark.parametrize(
    ("number", "status", "words"),
    [
        (errno.EIO, 503, "The disk of the server reports an error (input/output error), so the model has not learned"),
        (errno.EROFS, 503, "(read-only file system)"),
        (errno.ENOSPC, 507, "The disk of the server is full, so nothing was learned"),
    ],
)
def test_disks_that_fail(one, monkeypatch, caplog, number, status, words):
    client, _ = one
    body = {"rows": [{"a": 1.0, "b": 0.0}], "labels": ["up"]}

    def fail(descriptor):
        raise OSError(number, os.strerror(number))

    with monkeypatch.context() as patch:
        patch.setattr(journal, "sync_file", fail)
        answer = client.post("/learn", json=body)
    assert answer.status_code == status
    assert words in answer.json()["detail"]
    assert "could not be written to the folder" in caplog.text
    assert client.post("/learn", json=body).json()["weight"] == 201


def test_a_table_keeps_its_columns(client, table):
    X, y = table
    sent = X.assign(label=y, note="a,b")
    content, headers = sent.to_csv(index=False).encode(), {"Content-Type": "text/csv"}
    answer = client.post("/models/mixed/predict?keep=all", content=content, headers=headers)
    found = pd.read_csv(io.BytesIO(answer.content))
    pd.testing.assert_frame_equal(found[list(sent)], pd.read_csv(io.BytesIO(content)))
    model = suffice.loads(client.get("/models/mixed/model").content)
    names = [*sent, "predicted label", *(f"p({label})" for label in model.classes_)]
    assert list(found) == names
    assert np.allclose(found[names[-3:]], model.predict_proba(X), rtol=0, atol=1e-15)


def test_rows_that_a_person_tries_out_are_not_watched(one):
    client, _ = one
    rows = {"rows": [{"a": 50.0, "b": 0.0}] * 40}
    assert client.post("/predict?watch=no", json=rows).json() == client.post("/predict?watch=no", json=rows).json()
    assert client.get("/drift").json()["open"] is None
    client.post("/predict", json=rows)
    assert client.get("/drift").json()["open"]["rows"] == 40
    assert client.post("/predict?watch=maybe", json=rows).status_code == 400


def test_an_address_of_an_unknown_model_is_not_found(client):
    for method, path in (("GET", "/models/nope/predict"), ("POST", "/models/nope"), ("GET", "/models/nope")):
        answer = client.request(method, path)
        assert (answer.status_code, "no model 'nope'" in answer.json()["detail"]) == (404, True)
    assert client.get("/models/mixed/predict").status_code == 405


@pytest.mark.parametrize("path", ["/models", "/metrics", "/openapi.json", *OF_A_MODEL])
def test_parameters_without_a_meaning_are_refused(client, path):
    answer = client.get(path + "?format=x")
    assert answer.status_code == 400
    assert "'format' of the address has no meaning here" in answer.json()["detail"]
    assert client.get("/health?x=1").status_code == 200


def test_an_empty_text_is_a_text(client):
    answer = client.post("/models/texts/predict", content=b"", headers={"Content-Type": "text/plain"})
    assert answer.json()["predictions"][0]["probabilities"] == pytest.approx([0.5, 0.5])


def test_explanations_are_limited_by_rows_and_columns(client, monkeypatch, table):
    monkeypatch.setattr("suffice.server.routes.MOST_PARTS", 3 * table[0].shape[1])
    rows = rows_of(table[0][:4])
    assert client.post("/models/mixed/explain", json={"rows": rows[:3]}).status_code == 200
    answer = client.post("/models/mixed/explain", json={"rows": rows})
    assert answer.status_code == 413
    assert "more than 3 rows, the limit for explanations of a model of" in answer.json()["detail"]
