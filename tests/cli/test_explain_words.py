"""``suffice explain`` of texts: parts of present and absent words; and ``merge`` of one model."""

import json

import pytest

from cli.made import ran, refused

MESSAGES = """text,label
me free lottery,spam
free get free you,spam
you free scholarship,ham
free to contact me,ham
you won award,ham
you ticket lottery,spam
"""
PLAIN = [
    *("--model", "text", "--event", "bernoulli", "--weighting", "count", "--characters", "none", "--ngrams", "1"),
    *("--min-length", "2", "--no-punctuation", "--max-words", "10000", "--smoothing", "1", "--no-binary", "--no-idf"),
    *("--calibrate", "none"),
]


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.csv").write_text(MESSAGES)
    (tmp_path / "new.csv").write_text("text\nyou free lottery\n")
    ran("fit", "train.csv", "-t", "label", *PLAIN, "-o", "m.suffice")
    return "m.suffice"


def test_absent_words_are_one_part_or_many(model):
    options = ("explain", model, "new.csv", "--row", "0", "--label", "spam")
    parts = json.loads(ran(*options, "--json"))["rows"][0]["parts"]
    assert {each["word"]: round(each["part"], 3) for each in parts if each["part"]} == {
        "lottery": 1.099,
        "(absent words)": 0.863,
    }
    listed = json.loads(ran(*options, "--absent-words", "--json"))["rows"][0]["parts"]
    absent = [each for each in listed if each["count"] == 0]
    assert len(absent) == 8
    assert sum(each["part"] for each in absent) == pytest.approx(0.863, abs=1e-3)


def test_tables_have_no_absent_words(model):
    model_file = "table.suffice"
    ran("fit", "train.csv", "-t", "label", "--model", "naive-bayes", "-o", model_file, "-q")
    assert "needs a model of texts; the model is NaiveBayes." in refused(
        "explain", model_file, "new.csv", "--row", "0", "--absent-words", code=2
    )


def test_one_model_is_not_several(model):
    assert "1 model, 6 rows in all" in ran("merge", model, "-o", "all.suffice")
