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
    Page(30).line("naive Bayes against logistic regression, by log-loss")
    assert capsys.readouterr().out == "naive Bayes against logistic\nregression, by log-loss\n"


def test_many_classes(folder):
    lines = ["x,y", *(f"{i % 60 + i % 7},class {i % 60}" for i in range(600))]
    (folder / "many.csv").write_text("\n".join(lines) + "\n")
    shown = ran("fit", "many.csv", "-t", "y", "--model", "naive-bayes", "-o", "many.suffice")
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


def test_facts_and_headings_are_wrapped_between_words(capsys):
    page = Page(40)
    page.heading("Confusion matrix (rows: labels, columns: predictions)")
    page.facts({"accuracy": "51.7 % ± 2.5 % (most frequent class 33.5 %)", "saved": "/a-long-path/" + "x" * 40})
    assert capsys.readouterr().out.splitlines() == [
        "Confusion matrix (rows: labels, columns:",
        "predictions)",
        "accuracy  51.7 % ± 2.5 % (most frequent",
        "          class 33.5 %)",
        "saved     /a-long-path/" + "x" * 40,
    ]


@pytest.mark.parametrize(("n_classes", "in_a_line"), [(3, True), (10, False), (26, False)])
def test_the_probabilities_of_many_classes_are_a_table(folder, n_classes, in_a_line):
    lines = ["x,y", *(f"{i % n_classes + i % 7 / 5},class_{i % n_classes:02}" for i in range(10 * n_classes))]
    (folder / "c.csv").write_text("\n".join(lines) + "\n")
    ran("fit", "c.csv", "-t", "y", "--model", "naive-bayes", "-o", "c.suffice", "--no-validate")
    shown = ran("explain", "c.suffice", "c.csv", "--row", "2").splitlines()
    assert max(map(len, shown)) <= 80
    assert shown[1].startswith("p(class_00) = " if in_a_line else "class ")
    assert ("… and 16 more classes, " in "\n".join(shown)) == (n_classes == 26)
    if not in_a_line:
        probabilities = [float(line.split()[1]) for line in shown[2:12]]
        assert probabilities == sorted(probabilities, reverse=True)


def test_one_row_is_not_1_rows(folder):
    (folder / "one.csv").write_text("x,y,w\n1,a,0.5\n2,b,0.5\n")
    shown = ran("fit", "one.csv", "-t", "y", "--model", "naive-bayes", "--weights", "w", "-o", "one.suffice")
    assert ran("merge", "one.suffice", "-o", "m.suffice").splitlines()[0] == "merged  1 model, 1 row in all"
    assert "1 rows" not in shown
    lines = ["x,y", *(f"{i % 41},class {i % 41}" for i in range(82))]
    (folder / "41.csv").write_text("\n".join(lines) + "\n")
    assert "… and 1 more class\n" in ran("fit", "41.csv", "-t", "y", "--model", "naive-bayes")
    assert "(leave-one-out, 1 of 82 rows)" in ran(
        "fit", "41.csv", "-t", "y", "--model", "naive-bayes", "--validate", "1"
    )
