"""``suffice explain`` shows cells beside their parts, and ``suffice sample --length`` draws texts of a given length."""

import json

import pytest

from cli.made import ran, refused

ROWS = """age,kind,day,colour with a very long name indeed,label
31,a,2024-01-05,"a level that is so long that it would fill a line of its own",yes
,b,2024-02-05,red,no
44,b,2024-01-07,red,yes
51,a,2024-03-05,,no
39,a,2024-01-15,red,no
29,b,2024-03-06,red,yes
"""


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text(ROWS)
    ran("fit", "t.csv", "--target", "label", "--model", "naive-bayes", "-o", "m.suffice")


def test_printed_values(table):
    lines = ran("explain", "m.suffice", "t.csv", "--row", "0", "--row", "1").splitlines()
    assert max(map(len, lines)) <= 80
    first, second = (index for index, line in enumerate(lines) if line.startswith("column"))
    assert lines[first].split() == ["column", "value", "part"]
    shown = {line.split("  ")[0]: line.split() for line in lines[first:second]}
    assert shown["age"][1] == "31"
    assert shown["day"][1] == "2024-01-05"
    assert "…" in next(line for line in lines if line.startswith("colour with"))
    missing = next(line for line in lines[second:] if line.startswith("age"))
    assert missing.split() == ["age", "+0.0000"]
    assert len(next(line for line in lines if line.startswith("(prior)")).split()) == 2


def test_values_in_json(table):
    (row,) = json.loads(ran("explain", "m.suffice", "t.csv", "--row", "1", "--json"))["rows"]
    values = {part["column"]: part["value"] for part in row["parts"]}
    assert values == {
        "(prior)": None,
        "age": None,
        "kind": "b",
        "day": "2024-02-05",
        "colour with a very long name indeed": "red",
    }
    assert list(row["parts"][0]) == ["column", "value", "part"]


def test_lengths_of_drawn_texts(table, tmp_path):
    (tmp_path / "s.csv").write_text("text,label\ncheap pills,spam\nlunch at noon,ham\ncheap lottery,spam\n")
    plain = ("--weighting", "count", "--characters", "none", "--ngrams", "1", "--no-idf", "--event", "multinomial")
    ran("fit", "s.csv", "--target", "label", "--model", "text", *plain, "-o", "s.suffice")
    drawn = ran("sample", "s.suffice", "-n", "5", "--length", "9", "--to", "jsonl").splitlines()
    assert [len(json.loads(line)["text"].split()) for line in drawn] == [9] * 5
    said = refused("sample", "m.suffice", "-n", "5", "--length", "9")
    assert "--length is the number of words of drawn texts, but the model has no column of texts" in said
