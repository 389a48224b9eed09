"""Families of bins, and families that the data choose, from the shell."""

import numpy as np
import pytest

from cli.made import ran, refused


@pytest.fixture(autouse=True)
def _rows(folder):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    age, peaks = rng.integers(1, 90, 400), 4 * rng.integers(0, 3, 400) + 2 * y + 0.5 * rng.standard_normal(400)
    lines = [f"{a},{p:.3f},{'yes' if k else 'no'}" for a, p, k in zip(age, peaks, y, strict=True)]
    (folder / "bins.csv").write_text("age,peaks,answer\n" + "\n".join(lines) + "\n")


def test_best_families():
    said = ran("fit", "bins.csv", "-t", "answer", "--model", "naive-bayes", "--family", "best", "-o", "best.suffice")
    assert "histogram" in next(line for line in said.splitlines() if line.startswith("peaks"))
    assert "histogram" in ran("inspect", "best.suffice")
    assert "accuracy" in ran("evaluate", "best.suffice", "bins.csv", "-t", "answer")


def test_binned_columns():
    chosen = ("--family", "age=binned", "--family", "peaks=histogram")
    said = ran("fit", "bins.csv", "-t", "answer", "--model", "naive-bayes", *chosen)
    families = {line.split()[0]: line.split()[-1] for line in said.splitlines() if line.startswith(("age", "peaks"))}
    assert families == {"age": "binned", "peaks": "histogram"}


def test_a_wrong_name():
    assert "Did you mean 'histogram'?" in refused("fit", "bins.csv", "-t", "answer", "--family", "histogramm", code=2)


def test_blocks_that_are_found(folder):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 300)
    length = rng.standard_normal(300)
    width = length + y + 0.3 * rng.standard_normal(300)
    rows = [
        f"{a:.4f},{b:.4f},{c:.4f},{k}" for a, b, c, k in zip(length, width, rng.standard_normal(300), y, strict=True)
    ]
    (folder / "leaves.csv").write_text("length,width,weight,kind\n" + "\n".join(rows) + "\n")
    said = ran("fit", "leaves.csv", "-t", "kind", "--blocks", "auto", "-o", "leaves.suffice")
    families = {line.split()[0]: line for line in said.splitlines() if line.startswith(("length", "width", "weight"))}
    assert "block of 2 columns" in families["length"]
    assert "block of 2 columns" in families["width"]
    assert "block" not in families["weight"]
    assert "blocks auto" in ran("inspect", "leaves.suffice")
    ran("fit", "leaves.csv", "-t", "kind", "--update", "leaves.suffice", "-o", "more.suffice")
    assert "block of 2 columns" in ran("inspect", "more.suffice")
    wrong = refused("fit", "leaves.csv", "-t", "kind", "--model", "discriminant", "--blocks", "auto", code=2)
    assert "--blocks needs --model naive-bayes" in wrong
