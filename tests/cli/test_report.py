"""``suffice report`` writes one HTML file, or its content as JSON."""

import json

import pandas as pd
import pytest

from cli.made import ran, refused, run
from suffice import load


def found(*args):
    return json.loads(ran("report", *args, "--json"))


def test_model_alone(folder):
    assert ran("report", "flowers.suffice", "-o", "report.html").startswith("saved  report.html, ")
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "setosa" in page
    assert found("flowers.suffice")["held_out"] is None


def test_learned_and_new_rows(folder):
    learned = found("flowers.suffice", "train.csv", "-t", "species")["held_out"]
    assert (learned["rule"], learned["n_rows"]) == ("leave-one-out", 100)
    new = found("flowers.suffice", "test.csv", "-t", "species")["held_out"]
    expected = json.loads(ran("evaluate", "flowers.suffice", "test.csv", "-t", "species", "--json"))
    assert new["rule"] == "new rows"
    for score in ("accuracy", "log_loss", "brier", "auc", "calibration_error", "baseline_log_loss"):
        assert new[score] == pytest.approx(expected[score])
    assert new["confusion"]["rows"] == expected["confusion"]["rows"]
    assert found("flowers.suffice", "train.csv", "-t", "species", "--new")["held_out"]["rule"] == "new rows"


def test_scores_of_the_model_in_python(folder):
    import pyarrow.parquet as pq

    rows = pq.read_table("new.parquet")
    model = load("flowers.suffice")
    labels = rows["species"].to_pylist()
    there = model.report(rows.drop_columns("species"), labels).summary.held_out
    assert found("flowers.suffice", "new.parquet", "-t", "species")["held_out"]["log_loss"] == there.log_loss


def test_target_of_the_model(folder):
    ran("fit", "train.csv", "--target", "species", "-o", "m.suffice")
    assert found("m.suffice", "train.csv")["held_out"]["rule"] != "new rows"
    result = run("report", "flowers.suffice", "train.csv", "--json")
    assert "The rows have no labels" in result.stderr
    assert json.loads(result.stdout)["held_out"] is None


def test_standard_input_and_skipped_rows(folder):
    text = (folder / "test.csv").read_text() + "a,b,c,d,e,setosa\n"
    args = ("flowers.suffice", "-", "-t", "species")
    assert "row" in refused("report", *args, "--json", stdin=text)
    said = json.loads(run("report", *args, "--bad-rows", "skip", "--json", stdin=text).stdout)
    assert said["held_out"]["n_rows"] == 50
    assert any("could not be read" in each for each in said["warnings"])


def test_text_model(folder):
    said = found("spam.suffice", "messages.jsonl", "-t", "kind")
    assert said["words"][1]["words"][0]["word"] == "cheap"
    assert said["held_out"]["n_rows"] == 6


def test_bad_input(folder):
    assert "Give the HTML file" in refused("report", "flowers.suffice", code=2)
    assert "describe DATA" in refused("report", "flowers.suffice", "-t", "species", "--json", code=2)
    assert "folder does not exist" in refused("report", "flowers.suffice", "-o", "none/report.html")
    assert "no column" in refused("report", "flowers.suffice", "test.csv", "-t", "specie", "--json")
    (folder / "empty.csv").write_text("")
    assert "empty" in refused("report", "flowers.suffice", "empty.csv", "--json")
    (folder / "head.csv").write_text((folder / "test.csv").read_text().splitlines()[0] + "\n")
    assert "head.csv has no rows" in refused("report", "flowers.suffice", "head.csv", "-t", "species", "--json")


def test_an_input_is_not_replaced(folder):
    model, data = (folder / "flowers.suffice").read_bytes(), (folder / "test.csv").read_bytes()
    for output in ("flowers.suffice", "./flowers.suffice", "test.csv"):
        assert "would replace an input" in refused("report", "flowers.suffice", "test.csv", "-o", output, code=2)
    assert (folder / "flowers.suffice").read_bytes() == model
    assert (folder / "test.csv").read_bytes() == data


def test_data_may_lack_a_column(folder):
    rows = pd.read_csv("test.csv")
    missing = rows.columns[0]
    rows.drop(columns=missing).to_csv("less.csv", index=False)
    found = json.loads(ran("report", "flowers.suffice", "less.csv", "-t", "species", "--json"))
    assert found["held_out"]["rule"] == "new rows"
    assert found["held_out"]["n_rows"] == len(rows)
    assert f"The data have no column '{missing}', so its cells count as missing." in found["warnings"]


def test_texts_in_a_column_of_another_name(folder):
    texts = ["cheap pills", "buy cheap", "see you", "you there"] * 3
    rows = pd.DataFrame({"body": texts, "label": ["spam", "spam", "ham", "ham"] * 3})
    rows.to_csv("mails.csv", index=False)
    ran("fit", "mails.csv", "-t", "label", "--model", "text", "-o", "mails.suffice")
    rows.rename(columns={"body": "message"}).to_csv("others.csv", index=False)
    found = json.loads(ran("report", "mails.suffice", "others.csv", "-t", "label", "--json"))
    assert found["held_out"]["n_rows"] == 12
