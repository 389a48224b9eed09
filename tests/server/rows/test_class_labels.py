"""Labels in requests: each class is known by every text that a client may write, and learned durably."""

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from starlette.testclient import TestClient

import suffice
from suffice import ClassError, InputError, NaiveBayes
from suffice.server.app import build
from suffice.server.hosting import Hosts, open_host
from suffice.server.log.snapshots import Contents
from suffice.server.rows.class_labels import class_named, class_to_learn, classes_of_rows, written_classes
from suffice.server.settings import Settings
from suffice.statistics import ClassAxis

N = 20
BIG = 2**60
# the classes, texts of the first one in addresses, and its values in JSON
CASES = {
    "truth": (np.array([False, True]), ["false", "False"], [False]),
    "int": (np.array([0, 1]), ["0"], [0, 0.0]),
    "big": (np.array([BIG, BIG + 1]), [str(BIG)], [BIG]),
    "huge": (np.array([2**63, 2**63 + 1], dtype=np.uint64), [str(2**63)], [2**63]),
    "float": (np.array([1.0, 2.0]), ["1", "1.0"], [1, 1.0]),
    "text": (np.array(["a", "b"]), ["a"], ["a"]),
    "text of a date": (np.array(["2026-01-01", "2026-01-02"]), ["2026-01-01"], ["2026-01-01"]),
    "text of a number": (np.array(["01", "1"]), ["01"], ["01"]),
    "date": (np.array(["2026-01-01", "2026-01-02"], dtype="M8[D]"), ["2026-01-01"], ["2026-01-01"]),
    "seconds": (
        np.array(["2026-01-01", "2026-01-02T12:30:05"], dtype="M8[s]"),
        ["2026-01-01T00:00:00", "2026-01-01 00:00:00", "2026-01-01"],
        ["2026-01-01T00:00:00", "2026-01-01 00:00:00", "2026-01-01"],
    ),
    "microseconds": (
        np.array(["2026-01-01T00:00:00.000005", "2026-01-02"], dtype="M8[us]"),
        ["2026-01-01T00:00:00.000005", "2026-01-01 00:00:00.000005"],
        ["2026-01-01T00:00:00.000005"],
    ),
    "nanoseconds": (
        np.array(["2026-01-01T12:30:00", "2026-01-02"], dtype="M8[ns]"),
        ["2026-01-01T12:30:00.000000000", "2026-01-01T12:30:00"],
        ["2026-01-01T12:30:00"],
    ),
    "duration": (np.array([1, 2], dtype="m8[s]"), ["0:00:01", "1.0"], ["0:00:01"]),
}


def served(path, settings=None):
    settings = Settings(learn=True) if settings is None else settings
    hosts = Hosts([open_host("m", str(path), settings)])
    return TestClient(build(hosts, settings), base_url="http://localhost"), hosts["m"]


def saved(tmp_path, labels):
    X = pd.DataFrame({"x": np.random.default_rng(0).normal(size=N)})
    NaiveBayes().fit(X, np.resize(labels, N)).save(tmp_path / "m.suffice")
    return tmp_path / "m.suffice"


@pytest.mark.parametrize("name", CASES)
def test_each_kind_of_label_is_learned_kept_and_unlearned(tmp_path, name):
    labels, texts, values = CASES[name]
    path, row = saved(tmp_path, labels), {"x": 0.5}
    made = [("/learn", {}, {"rows": [row], "labels": [value]}) for value in values]
    made += [("/learn", {"label": text}, {"rows": [row]}) for text in texts]
    counts = [N / 2 + len(made), N / 2]
    client, host = served(path)
    with client:
        for address, query, body in made:
            answer = client.post(address, params=query, json=body)
            assert answer.status_code == 200, answer.text
        shown = client.get("/models").json()["models"][0]["classes"]
        assert client.post("/learn", json={"rows": [row], "labels": [shown[1]]}).status_code == 200
        assert client.post("/unlearn", json={"rows": [row], "labels": [shown[1]]}).status_code == 200
        names = [str(each) if not isinstance(each, bool) else json.dumps(each) for each in shown]
        prior = client.post("/prior", json={"prior": {names[0]: 0.25, names[1]: 0.75}})
        assert prior.status_code == 200, prior.text
        for text in texts if name != "nanoseconds" else ():  # whose labels Python cannot name
            assert client.post("/explain", params={"class": text}, json={"rows": [row]}).status_code == 200
        for value in values if name != "nanoseconds" else ():
            assert client.post("/sample", json={"rows": 2, "class": value}).status_code == 200
        before = host.model.to_bytes()
        killed = tmp_path / "killed"
        killed.mkdir()
        for each in (tmp_path / "m.suffice.state").iterdir():
            (killed / each.name).write_bytes(each.read_bytes())
        assert not Contents.of(str(killed)).models  # all of it is in the log
    model = suffice.loads(before)
    assert (model.class_count_.tolist(), model.classes_.dtype) == (counts, labels.dtype)
    again = open_host("m", str(path), Settings(learn=True), str(killed))
    try:
        assert again.model.to_bytes() == before
        assert again.model.class_prior_.tolist() == [0.25, 0.75]
    finally:
        again.close()


@pytest.mark.parametrize("name", [each for each in CASES if each != "duration"])
def test_tables_name_classes_by_their_texts(tmp_path, name):
    labels, texts, _ = CASES[name]
    client, host = served(saved(tmp_path, labels))
    sink = pa.BufferOutputStream()
    column = pa.array(labels[:1])
    table = pa.table({"x": [0.5], "label": column})
    with pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table)
    with client:
        if name != "huge":  # Arrow reads such numbers of CSV as float64, which rounds them
            answer = client.post("/learn", content=f"x,label\n0.5,{texts[0]}\n", headers={"Content-Type": "text/csv"})
            assert answer.status_code == 200, answer.text
        answer = client.post(
            "/learn",
            content=sink.getvalue().to_pybytes(),
            headers={"Content-Type": "application/vnd.apache.arrow.stream"},
        )
        assert answer.status_code == 200, answer.text
        assert host.model.class_count_.tolist() == [N / 2 + 1 + (name != "huge"), N / 2]


@pytest.mark.parametrize(
    ("labels", "value", "match"),
    [
        ([False, True], 1, r"Row 0 has the label 1, .* Labels are true or false here"),
        ([False, True], "True", r"Row 0 has the label 'True', .* Labels are true or false here"),
        ([1.0, 2.0], 7.5, r"label 7.5, which cannot be a class of this model\. Labels are whole numbers here"),
        ([1.0, 2.0], float("inf"), "label inf, which cannot be a class"),
        ([1.0, 2.0], 1e308, r"label 1e\+308, which cannot be a class"),
        ([1.0, 2.0], float("nan"), "Row 0 has no label"),
        ([1, 2], True, "label true, which cannot be a class"),
        ([1, 2], 2**70, "which cannot be a class"),
        ([BIG, BIG + 1], float(BIG), "which cannot be a class"),
        (["a", "b"], 1, "Labels are texts here; the classes are 'a', 'b'"),
    ],
)
def test_labels_that_cannot_be_classes(labels, value, match):
    with pytest.raises((ClassError, InputError), match=match) as caught:
        classes_of_rows(ClassAxis.of(labels), [value], new_classes=True)
    assert list(caught.value.rows) == [0]


def test_new_dates_are_classes_if_they_may_be():
    dates = ClassAxis(np.array(["2026-01-01", "2026-01-02"], dtype="M8[D]"))
    assert written_classes(dates) == "'2026-01-01', '2026-01-02'"
    new = pd.Timestamp("2026-02-03").date()
    assert classes_of_rows(dates, ["2026-02-03", "2026-01-01"], new_classes=True)[0] == new
    assert class_to_learn(dates, "2026-02-03", new_classes=True) == new
    with pytest.raises(ClassError, match=r"'2026-02-30', which cannot be a class of .* Labels are dates here"):
        classes_of_rows(dates, ["2026-02-30"], new_classes=True)
    with pytest.raises(ClassError, match="Its classes are '2026-01-01', '2026-01-02'; the option --new-classes"):
        classes_of_rows(dates, ["2026-02-03"])
    with pytest.raises(ClassError, match=r"no class 'yes'\. Its classes are false, true"):
        class_named(ClassAxis.of([False, True]), "yes")


def test_a_new_label_of_a_number_is_no_mistake_of_the_server(tmp_path):
    settings = Settings(learn=True, new_classes=True)
    client, _ = served(saved(tmp_path, np.array([1.0, 2.0, -3.0])), settings)
    with client:
        for label in ("7.5", "1e999", "1e308", "1e30", "-0.5", "12345678901234567890"):
            body = f'{{"rows": [{{"x": 1}}], "labels": [{label}]}}'
            answer = client.post("/learn", content=body, headers={"Content-Type": "application/json"})
            assert (answer.status_code, answer.json()["row"]) == (422, 0), label
        assert client.post("/learn", json={"rows": [{"x": 1}], "labels": [7]}).status_code == 200
