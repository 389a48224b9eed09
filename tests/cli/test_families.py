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
    said = ran("fit", "bins.csv", "-t", "answer", "--family", "best", "-o", "best.suffice")
    assert "histogram" in next(line for line in said.splitlines() if line.startswith("peaks"))
    assert "histogram" in ran("inspect", "best.suffice")
    assert "accuracy" in ran("evaluate", "best.suffice", "bins.csv", "-t", "answer")


def test_binned_columns():
    said = ran("fit", "bins.csv", "-t", "answer", "--family", "age=binned", "--family", "peaks=histogram")
    families = {line.split()[0]: line.split()[-1] for line in said.splitlines() if line.startswith(("age", "peaks"))}
    assert families == {"age": "binned", "peaks": "histogram"}


def test_a_wrong_name():
    assert "Did you mean 'histogram'?" in refused("fit", "bins.csv", "-t", "answer", "--family", "histogramm", code=2)
