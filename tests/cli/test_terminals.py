"""Tables on narrow terminals: names are never dropped, and numbers are never cut."""

import re

import pytest

from cli.made import ran, refused, run
from suffice.cli.output import Page

MODELS = ["naive Bayes", "logistic regression (no penalty)", "GDA (shared covariance)"]
SCORES = ["accuracy", "log-loss", "±", "Brier", "calibration error", "behind the best", "±", "fit"]


def printed(capsys, width, *table, **options):
    Page(width).table(*table, **options)
    return capsys.readouterr().out


@pytest.mark.parametrize("width", [45, 60, 80, 120, 200])
def test_a_wide_table_keeps_names_and_numbers(capsys, width):
    rows = [[name, *(f"{i}.{j}2345" for j in range(len(SCORES)))] for i, name in enumerate(MODELS)]
    shown = printed(capsys, width, ["model", *SCORES], rows)
    assert max(map(len, shown.splitlines())) <= width
    parts = shown.split("\n\n")
    assert (len(parts) > 1) == (width < 150)
    for part in parts:
        for name in MODELS:
            assert all(word in part for word in re.findall(r"\w+", name))
    for row in rows:
        for number in row[1:]:
            assert number in shown
    for name in SCORES:
        assert name in shown


def test_one_table_if_there_is_room(capsys):
    assert printed(capsys, 80, ["class", "rows"], [["a", 1], ["b", 20]]).splitlines() == [
        "class  rows",
        "a         1",
        "b        20",
    ]


def test_texts_are_folded(capsys):
    rows = [[f"measurement {j} of something, in millimetres", "number", "gaussian"] for j in range(2)]
    shown = printed(capsys, 40, ["column", "read as", "family"], rows, left=3)
    assert max(map(len, shown.splitlines())) <= 40
    assert shown.count("gaussian") == 2
    assert shown.count("millimetres") == 2


def test_sentences_are_wrapped_between_words(capsys):
    Page(30).sentence("naive Bayes against logistic regression, by log-loss")
    assert capsys.readouterr().out == "naive Bayes against logistic\nregression, by log-loss\n"


def test_many_classes(folder):
    lines = ["x,y", *(f"{i % 60 + i % 7},class {i % 60}" for i in range(600))]
    (folder / "many.csv").write_text("\n".join(lines) + "\n")
    shown = ran("fit", "many.csv", "-t", "y", "-o", "many.suffice")
    assert "… and 20 more classes" in shown
    shown = ran("evaluate", "many.suffice", "many.csv", "-t", "y")
    assert "… and 20 more classes" in shown
    assert "Most frequent errors (60 labels" in shown
    assert re.search(r"class \d+ +class \d+ +\d+", shown)


def test_a_wrong_target_is_an_error(folder):
    lines = (folder / "test.csv").read_text().splitlines()
    table = [f"{lines[0]},kind", *(f"{line},{'ABCDEF'[i % 6]}" for i, line in enumerate(lines[1:]))]
    (folder / "kinds.csv").write_text("\n".join(table) + "\n")
    said = refused("evaluate", "flowers.suffice", "kinds.csv", "-t", "kind")
    assert "No label in column 'kind' is a class of the model: the column holds 'A', 'B', 'C', 'D' and 2 more" in said
    assert "the classes are 'setosa', 'versicolor', 'virginica'. Choose the column of labels with --target." in said


def test_no_score_is_printed_as_nan(folder):
    lines = (folder / "test.csv").read_text().splitlines()
    one = next(line for line in lines if line.endswith("setosa"))
    (folder / "one.csv").write_text(f"{lines[0]}\n{one}\n")
    result = run("evaluate", "flowers.suffice", "one.csv", "-t", "species")
    assert result.exit_code == 0
    assert "nan" not in result.output
