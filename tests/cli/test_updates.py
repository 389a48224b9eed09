"""Commands that replace the model they have read: several at once lose no rows."""

import os
from pathlib import Path

import numpy as np
import pytest

import suffice
from cli.made import flowers, ran, refused, rows_of, run, write_csv
from cli.starting import start
from suffice import NaiveBayes
from suffice.cli import writing
from suffice.model_file.lock import locked

N_PROCESSES = 4


def at_once(commands):
    """Run commands at the same time; all must succeed."""
    started = [start(command, stderr=f"errors-{i}") for i, command in enumerate(commands)]
    for process in started:
        process.join(300)
    errors = [Path(f"errors-{i}").read_text() for i in range(len(started))]
    assert [process.exitcode for process in started] == [0] * len(started), errors


def table(columns):
    return np.column_stack([values for name, values in columns.items() if name != "species"])


def test_updates_at_once_learn_all_rows(folder):
    """Also through a link, which leads to the same file."""
    parts = [rows_of(flowers(), slice(100 + i, 150, N_PROCESSES)) for i in range(N_PROCESSES)]
    for i, part in enumerate(parts):
        write_csv(f"part-{i}.csv", part)
    os.symlink("flowers.suffice", "link.suffice")
    names = ["flowers.suffice", "link.suffice", "./flowers.suffice", "flowers.suffice"]
    at_once(["fit", f"part-{i}.csv", "-t", "species", "--update", name, "-o", name] for i, name in enumerate(names))
    whole = flowers()
    expected = NaiveBayes().fit(table(whole), whole["species"].astype(str))
    model = suffice.load("flowers.suffice")
    assert model.class_count_.tolist() == expected.class_count_.tolist()
    np.testing.assert_allclose(model.means_, expected.means_, rtol=1e-12)
    assert not [name for name in os.listdir() if "lock" in name or ".tmp" in name]


def test_removals_and_merges_at_once(folder):
    write_csv("a.csv", rows_of(flowers(), slice(10)))
    write_csv("b.csv", rows_of(flowers(), slice(10, 20)))
    at_once(
        [
            ["remove", "flowers.suffice", "a.csv", "-t", "species", "-o", "flowers.suffice"],
            ["remove", "flowers.suffice", "b.csv", "-t", "species", "-o", "flowers.suffice"],
            ["merge", "flowers.suffice", "monday.suffice", "-o", "flowers.suffice"],
        ]
    )
    assert suffice.load("flowers.suffice").class_count_.sum() == 100 - 20 + 60


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "tuesday.csv", "-t", "species", "--update", "monday.suffice"],
        ["remove", "monday.suffice", "monday.csv", "-t", "species"],
        ["merge", "tuesday.suffice", "monday.suffice"],
    ],
    ids=lambda command: command[0],
)
def test_who_loses_the_race_is_told(folder, command, monkeypatch):
    monkeypatch.setattr(writing, "LOCK_SECONDS", 0.1)
    before = (folder / "monday.suffice").read_bytes()
    with locked("monday.suffice"):
        said = refused(*command, "-o", "monday.suffice")
        assert "The model file 'monday.suffice' is being updated by another process (lock file " in said
        assert "Try again when it has finished." in said
        assert (folder / "monday.suffice").read_bytes() == before
        if command[0] != "remove":
            ran(*command, "-o", "other.suffice")  # nothing is replaced that was read


@pytest.mark.parametrize("verb", [["fit", "part.csv", "--update", "m.suffice"], ["remove", "m.suffice", "part.csv"]])
def test_a_model_keeps_its_target(folder, verb):
    part = rows_of(flowers(), slice(10))
    write_csv("part.csv", part | {"other": part["species"]})
    ran("fit", "part.csv", "-t", "species", "--model", "naive-bayes", "--ignore", "other", "-o", "m.suffice", "-q")
    error = refused(*verb, "-t", "other", "-o", "n.suffice")
    assert "The model's target is 'species'; got the target 'other'." in error


def test_an_update_adds_to_the_texts_of_missing_cells(folder):
    for name, mark in (("first", "-"), ("second", "?")):
        (folder / f"{name}.csv").write_text("x,y\n" + "1.5,a\n2.5,b\n" * 10 + f"{mark},a\n")
    (folder / "both.csv").write_text("x\n-\n?\nNA\n")
    ran("fit", "first.csv", "-t", "y", "--model", "naive-bayes", "--null", "-", "-o", "m.suffice", "-q")
    ran("fit", "second.csv", "--update", "m.suffice", "--null", "?", "-o", "m.suffice", "-q")
    assert {"-", "?", "NA"} <= set(suffice.load("m.suffice").fitted_.layout.nulls)
    assert len(ran("predict", "m.suffice", "both.csv").splitlines()) == 4


def test_an_update_that_replaces_the_texts_of_missing_cells_does_not_change_the_model(folder):
    (folder / "a.csv").write_text("x,y\n" + "1.5,a\n2.5,b\n" * 10)
    ran("fit", "a.csv", "-t", "y", "--model", "naive-bayes", "-o", "m.suffice", "-q")
    ran("fit", "a.csv", "--update", "m.suffice", "--null-only", "?", "-o", "m.suffice", "-q")
    assert suffice.load("m.suffice").fitted_.layout.nulls is None


@pytest.mark.parametrize("model", ["ensemble", "naive-bayes", "discriminant"])
def test_a_number_whose_square_overflows_is_named_by_its_line(tmp_path, monkeypatch, model):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i % 7 + i % 2},{i % 5},{'ab'[i % 2]}\n" for i in range(40)]
    (tmp_path / "a.csv").write_text("x,z,y\n" + "".join(rows))
    (tmp_path / "b.csv").write_text("x,z,y\n" + "".join([*rows[:3], "1e300,2,a\n", *rows[4:]]))
    ran("fit", "a.csv", "-t", "y", "--model", model, "--no-validate", "-o", "m.suffice")
    said = refused("fit", "b.csv", "--update", "m.suffice", "-o", "n.suffice")
    assert "b.csv, line 5, column 'x' holds 1e+300, whose square overflows in float64." in said
    shown = run("fit", "b.csv", "--update", "m.suffice", "-o", "n.suffice", "--bad-rows", "skip", "--no-validate")
    assert shown.exit_code == 0
    assert "b.csv: 39 rows" in shown.stdout
