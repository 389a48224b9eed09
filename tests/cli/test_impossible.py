"""``--impossible``: rows that have probability zero in every class."""

import json

import pytest

from cli.made import ran, refused, run

TRAIN = "text,label\ncheap pills,spam\ncheap,spam\ncheap,spam\nlunch noon,ham\n"
TEST = "text,label\ncheap pills,spam\ncheap lunch,spam\nnoon,ham\ncheap noon,ham\n"


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.csv").write_text(TRAIN)
    (tmp_path / "test.csv").write_text(TEST)
    ran(
        "fit",
        "train.csv",
        "-t",
        "label",
        "--model",
        "text",
        "--estimation",
        "mle",
        "--calibrate",
        "none",
        "-o",
        "m.suffice",
    )
    return "m.suffice"


def test_the_error_names_line_and_word(model):
    said = refused("predict", model, "test.csv", "--columns", "text")
    assert "test.csv, line 3" in said
    assert "the word 'cheap' in class 'ham', the word 'lunch' in class 'spam'" in said
    assert "--impossible prior" in said


def test_rows_are_counted(model):
    prior = run("predict", model, "test.csv", "--columns", "text", "--impossible", "prior", "--no-density")
    assert prior.stdout.splitlines()[1:] == ["spam,0,1", "spam,0.25,0.75", "ham,1,0", "spam,0.25,0.75"]
    assert "2 rows have probability zero in every class; the prediction is the class prior." in prior.stderr
    empty = run("predict", model, "test.csv", "--columns", "text", "--impossible", "nan", "--no-density")
    assert empty.stdout.splitlines()[1:] == ["spam,0,1", ",,", "ham,1,0", ",,"]
    assert "2 rows have" in empty.stderr


def test_evaluate(model):
    options = ("evaluate", model, "test.csv", "-t", "label", "--columns", "text")
    assert "line 3" in refused(*options)
    found = run(*options, "--impossible", "prior", "--json")
    assert json.loads(found.stdout)["accuracy"] == 0.75
    assert "2 rows have" in found.stderr


def test_a_model_without_the_setting(model, tmp_path):
    from suffice.naive_bayes import GaussianNB

    GaussianNB().fit([[1.0], [2.0]], ["a", "b"]).save(tmp_path / "g.suffice")
    assert "GaussianNB" in refused("predict", "g.suffice", "test.csv", "--impossible", "prior", code=2)


def test_explain_does_not_advise_an_option_that_it_lacks(model):
    said = refused("explain", model, "test.csv", "--columns", "text", "--row", "1")
    assert "the word 'cheap' in class 'ham', the word 'lunch' in class 'spam'" in said
    assert "--impossible" not in said
    assert "There is no row 3: --text has 1 row, counted from 0." in refused(
        "explain", model, "--text", "lunch", "--row", "3"
    )
