"""``suffice monitor``: what it prints, its exit codes, histories, windows, and bad input."""

import json
import os
import signal

import numpy as np
import pandas as pd
import pytest

from cli.made import ran, refused, run
from cli.starting import start
from suffice import load
from suffice.monitoring.history_file import level_of_history
from suffice.monitoring.window_file import read_window

DRIFT = 3
CITIES = np.array(["Bonn", "Köln", "Ulm"], dtype=object)


def customers(n, seed, *, changed=False):
    rng = np.random.default_rng(seed)
    buys = rng.random(n) < 0.5
    rows = pd.DataFrame(
        {
            "age": rng.normal(40 + 5 * buys + 8 * changed, 10).round(1),
            "visits": rng.poisson(1 + 2 * buys),
            "city": rng.choice(CITIES, n),
            "joined": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
        }
    )
    rows.loc[rng.random(n) < 0.1, "visits"] = None
    if changed:
        rows.loc[rng.random(n) < 0.2, "city"] = "Berlin"
    rows["kind"] = np.where(buys, "buys", "leaves")
    return rows


@pytest.fixture(scope="session")
def _shop(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shop")
    customers(1500, 0).to_csv(folder / "train.csv", index=False)
    customers(400, 1).to_csv(folder / "same.csv", index=False)
    customers(400, 2, changed=True).to_csv(folder / "changed.csv", index=False)
    ran("fit", folder / "train.csv", "-t", "kind", "--model", "naive-bayes", "-o", folder / "m.suffice")
    return folder


@pytest.fixture
def shop(_shop, tmp_path, monkeypatch):
    """The current folder, with links to a model and its rows."""
    for each in _shop.iterdir():
        os.link(each, tmp_path / each.name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def looked(*args, **options):
    """The exit code, and what is printed as JSON."""
    result = run("monitor", *args, "--json", **options)
    assert result.exit_code in (0, DRIFT), result.stderr
    found = json.loads(result.stdout)
    assert (result.exit_code == DRIFT) == found["alarm"]
    return found


def test_no_drift(shop):
    result = run("monitor", "m.suffice", "same.csv")
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0] == "No drift in 400 rows."
    assert lines[2] == "Strongest evidence, not significant"
    assert lines[3].split() == ["column", "figure", "training", "now", "p-value"]
    assert "Predictions of 400 rows with labels" in lines
    assert lines[-1].endswith("tests at level 0.05.")


def test_drift(shop):
    result = run("monitor", "m.suffice", "changed.csv")
    assert result.exit_code == DRIFT
    assert result.stdout.startswith("Drift in 2 of 4 columns ('city', 'age')")
    assert "share of unseen levels, such as 'Berlin'" in result.stdout
    assert "suffice fit --update" in result.stdout
    assert max(map(len, result.stdout.splitlines()[1:])) <= 80
    assert "Mean p(class) is another figure" in result.stdout
    found = looked("m.suffice", "changed.csv")
    assert {each["column"] for each in found["findings"] if each["significant"]} >= {"city", "age"}
    assert found["data"] == "changed.csv"


def test_the_command_agrees_with_python(shop):
    rows = pd.read_csv("changed.csv", parse_dates=["joined"])
    monitor = load("m.suffice").monitor(level=0.01)
    expected = monitor.check(monitor.window(rows.drop(columns="kind"), rows["kind"]))
    found = looked("m.suffice", "changed.csv", "--level", "0.01")
    assert found["level"] == 0.01
    assert [(each["column"], each["test"]) for each in found["findings"]] == [
        (each.column, each.test) for each in expected.findings
    ]
    np.testing.assert_allclose(
        [each["p_value"] or 0.0 for each in found["findings"]], [each.p_value for each in expected.findings], rtol=1e-9
    )
    assert found["labels"]["accuracy"] == pytest.approx(expected.labels.accuracy)


def test_rows_without_labels_and_with_some(shop):
    rows = pd.read_csv("same.csv")
    rows.drop(columns="kind").to_csv("unlabelled.csv", index=False)
    assert looked("m.suffice", "unlabelled.csv")["labels"] is None
    rows.loc[::2, "kind"] = None
    rows.rename(columns={"kind": "answer"}).to_csv("half.csv", index=False)
    assert looked("m.suffice", "half.csv")["labels"] is None
    assert looked("m.suffice", "half.csv", "-t", "answer")["labels"]["n_rows"] == 200
    assert looked("m.suffice", "-", stdin=rows.to_csv(index=False))["labels"]["n_rows"] == 200


def test_weights(shop):
    rows = pd.read_csv("same.csv")
    rows["times"] = 2
    rows.to_csv("weighted.csv", index=False)
    found = looked("m.suffice", "weighted.csv", "--weights", "times")
    assert found["rows"] == 400
    assert found["labels"]["n_rows"] == 800


def test_minimum_effect(shop):
    assert looked("m.suffice", "changed.csv", "--minimum-effect", "5")["alarm"] is False


def test_windows_add_up(shop):
    rows = pd.read_csv("changed.csv")
    for i in range(3):
        rows[i::3].to_csv(f"hour{i}.csv", index=False)
        run("monitor", "m.suffice", f"hour{i}.csv", "--window", f"hour{i}.window")
    assert read_window("hour0.window").n_rows == 134
    whole = looked("m.suffice", "changed.csv")
    for data in (["hour0.window", "hour1.window", "hour2.window"], ["hour?.window"], ["hour[01].window", "hour2.csv"]):
        found = looked("m.suffice", *data, "--window", "day.window")
        assert found["rows"] == 400
        significant = [(each["column"], each["test"]) for each in found["findings"] if each["significant"]]
        assert significant == [(each["column"], each["test"]) for each in whole["findings"] if each["significant"]]
        assert read_window("day.window").n_rows == 400


def test_a_history_is_a_sequence_of_looks(shop):
    levels = []
    for i in range(3):
        customers(100, 50 + i).to_csv("now.csv", index=False)
        found = looked("m.suffice", "now.csv", "--history", "h.history", "--level", "0.1")
        levels.append(found["level"])
        assert found["look"] == i + 1
    assert levels == pytest.approx([0.05, 0.1 / 6, 0.1 / 12])
    found = looked("m.suffice", "changed.csv", "--history", "h.history")  # the level is that of the history
    assert found["level"] == pytest.approx(0.1 / 20)
    assert {each["windows"] for each in found["findings"]} <= {1, 2, 4}
    before = (shop / "h.history").read_bytes()
    assert "has the level 0.1; got 0.05" in refused(
        "monitor", "m.suffice", "same.csv", "--history", "h.history", "--level", "0.05"
    )
    assert "is a history, not rows" in refused("monitor", "m.suffice", "h.history")
    assert (shop / "h.history").read_bytes() == before


def test_no_rows_are_no_look(shop):
    (shop / "head.csv").write_text("age,visits,city,joined,kind\n")
    for options in ([], ["--history", "h.history"]):
        result = run("monitor", "m.suffice", "head.csv", *options)
        assert (result.exit_code, result.stdout) == (0, "No rows, so nothing was compared.\n")
    assert not (shop / "h.history").exists()
    looked("m.suffice", "same.csv", "--history", "h.history")
    before = (shop / "h.history").read_bytes()
    found = looked("m.suffice", "head.csv", "--history", "h.history", "--window", "none.window", "--html", "none.html")
    assert (found["rows"], found["look"], found["findings"], found["alarm"]) == (0, 1, [], False)
    assert (shop / "h.history").read_bytes() == before
    assert read_window("none.window").n_rows == 0
    assert "No rows, so nothing was compared." in (shop / "none.html").read_text(encoding="utf-8")


def test_runs_at_the_same_time_lose_no_window(shop):
    words = ["monitor", "m.suffice", "same.csv", "--history", "h.history"]
    runs = [start(words) for _ in range(3)]
    for each in runs:
        each.join(60)
    assert [each.exitcode for each in runs] == [0] * 3
    assert looked("m.suffice", "same.csv", "--history", "h.history")["look"] == 4


def test_html(shop):
    result = run("monitor", "m.suffice", "changed.csv", "--html", "drift.html")
    assert result.exit_code == DRIFT
    page = (shop / "drift.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert "<title>Drift of m.suffice</title>" in page
    assert "400 rows of <bdi>changed.csv</bdi>" in page


def test_texts(folder):
    found = looked("spam.suffice", "messages.jsonl", "-t", "kind")
    assert found["labels"]["n_rows"] == 6
    assert looked("spam.suffice", "-", stdin="cheap pills\nlunch\n")["rows"] == 2
    assert looked("spam.suffice", "inbox", "--format", "mails")["rows"] == 6


def test_a_database(folder):
    found = looked("flowers.suffice", "--database", "sqlite:///flowers.db", "--query", "SELECT * FROM test")
    assert found["rows"] == 50


def test_bad_rows(shop):
    (shop / "bad.csv").write_text((shop / "same.csv").read_text() + "1,2\n")
    assert "line 402 has 2 fields" in refused("monitor", "m.suffice", "bad.csv")
    result = run("monitor", "m.suffice", "bad.csv", "--bad-rows", "skip")
    assert result.exit_code == 0
    assert "1 bad row was skipped" in result.stderr


def test_missing_columns_are_a_change(shop):
    pd.read_csv("same.csv").drop(columns=["city", "kind"]).to_csv("less.csv", index=False)
    result = run("monitor", "m.suffice", "less.csv")
    assert result.exit_code == DRIFT
    assert "there is no column 'city', so its cells count as missing" in result.stderr
    assert "Drift in 1 of 4 columns ('city')" in result.stdout


def test_bad_data(shop, folder):
    os.chdir(shop)
    other = folder / "flowers.suffice"
    run("monitor", "m.suffice", "same.csv", "--window", "w.window")
    content = (shop / "w.window").read_bytes()
    (shop / "cut.window").write_bytes(content[:3000])
    (shop / "foreign").write_text("hello")
    (shop / "empty.csv").write_text("")
    for args, words in (
        (("m.suffice", "empty.csv"), "empty.csv is empty"),
        (("m.suffice", "nowhere.csv"), "There is no file"),
        (("m.suffice", "same.csv", "-t", "answer"), "no column 'answer'"),
        (("m.suffice", "cut.window"), "is cut short"),
        ((other, "w.window"), "was made with another model"),
        (("m.suffice", "same.csv", "--history", "foreign"), "is not a history file"),
        (("m.suffice", "same.csv", "--history", "none/h"), "folder does not exist"),
        (("m.suffice", "same.csv", "--html", "none/h.html"), "folder does not exist"),
        (("w.window", "same.csv"), "is not a model file"),
    ):
        assert words in refused("monitor", *args)
    assert (shop / "foreign").read_text() == "hello"


def test_wrong_usage(shop):
    before = (shop / "same.csv").read_bytes()
    for args, words in (
        (("m.suffice",), "Missing argument 'DATA...'"),
        (("m.suffice", "same.csv", "--html", "same.csv"), "is an input, which would be replaced"),
        (("m.suffice", "same.csv", "--history", "./m.suffice"), "is an input, which would be replaced"),
        (("m.suffice", "same.csv", "--html", "x", "--window", "./x"), "Two options name the file"),
        (("m.suffice", "same.csv", "--window", "-"), "name files"),
        (("m.suffice", "same.csv", "--level", "1"), "0<x<1"),
        (("m.suffice", "same.csv", "--minimum-effect", "-1"), "x>=0"),
    ):
        assert words in refused("monitor", *args, code=2)
    assert (shop / "same.csv").read_bytes() == before


def test_names_cannot_reach_the_terminal_or_the_page(shop):
    name, level = "\x1b[31mred<script>", "\x1b]0;title\x07<img src=x>"
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({name: rng.choice(["a", level], 300), "size": rng.normal(size=300), "kind": ["x", level] * 150})
    rows.to_csv("train.csv.new", index=False)
    ran("fit", "train.csv.new", "--format", "csv", "-t", "kind", "--model", "naive-bayes", "-o", "odd.suffice")
    rows[name] = "\x1b[2J" + "new" * 2000
    rows["kind"] = "\x1b[1mother"
    rows.to_csv("odd.csv", index=False)
    result = run("monitor", "odd.suffice", "odd.csv", "--html", "odd.html")
    assert result.exit_code == DRIFT
    assert not set(result.stdout + result.stderr) & set("\x1b\x07\r")
    assert max(map(len, result.stdout.splitlines())) < 400
    page = (shop / "odd.html").read_text(encoding="utf-8")
    assert "<script" not in page
    assert "<img" not in page
    assert len(page) < 100_000


def test_ctrl_c_leaves_the_history(shop, tmp_path):
    ran("monitor", "m.suffice", "same.csv", "--history", "h.history")
    before = (shop / "h.history").read_bytes()
    os.mkfifo(tmp_path / "rows")
    streams = [str(tmp_path / each) for each in ("rows", "out", "errors")]
    process = start(["monitor", "m.suffice", "-", "--history", "h.history"], *streams)
    with open(tmp_path / "rows", "wb") as rows:
        rows.write((shop / "same.csv").read_bytes() * 30)  # more than a pipe holds
        rows.flush()
        os.kill(process.pid, signal.SIGINT)
        process.join(60)
    assert process.exitcode == 130
    assert (tmp_path / "errors").read_text() == "suffice: stopped; nothing was written.\n"
    assert (shop / "h.history").read_bytes() == before
    assert level_of_history(shop / "h.history") == 0.05
