"""Discriminant analysis of files with missing cells."""

import csv
import io

import numpy as np
import pytest

import suffice
from cli.made import NAMES, flowers, ran, refused, run, write_csv
from suffice import GaussianDiscriminant


@pytest.fixture
def holes(folder):
    """A file with missing cells, and its rows."""
    rng = np.random.default_rng(0)
    columns = flowers()
    rows = np.column_stack([columns[name].astype(float) for name in NAMES])
    rows[rng.random(rows.shape) < 0.15] = np.nan
    texts = np.where(np.isnan(rows), "", rows.astype(str))
    cells = {name: texts[:, j] for j, name in enumerate(NAMES)}
    write_csv("holes.csv", {**cells, "species": columns["species"]})
    return rows, columns["species"].astype(str)


@pytest.mark.parametrize("missing", ["em", "drop"])
def test_rows_with_holes(holes, missing):
    rows, species = holes
    run("fit", "holes.csv", "-t", "species", "--model", "discriminant", "--missing", missing, "-o", "m.suffice")
    expected = GaussianDiscriminant(missing=missing).fit(rows, species)
    model = suffice.load("m.suffice")
    np.testing.assert_allclose(model.covariance_, expected.covariance_, rtol=1e-10)
    found = csv.DictReader(io.StringIO(run("predict", "m.suffice", "holes.csv").stdout))
    probabilities = [[float(row[f"p({label})"]) for label in model.classes_] for row in found]
    np.testing.assert_allclose(probabilities, expected.predict_proba(rows), rtol=1e-8, atol=1e-300)
    assert "accuracy" in ran("evaluate", "m.suffice", "holes.csv", "-t", "species")


def test_em_is_the_default(holes):
    run("fit", "holes.csv", "-t", "species", "--model", "discriminant", "-o", "m.suffice")
    assert suffice.load("m.suffice").missing == "em"


def test_missing_cells_can_be_refused(holes):
    fit = ("fit", "holes.csv", "-t", "species", "--model", "discriminant", "-o", "m.suffice", "--missing")
    said = refused(*fit, "error")
    assert "the cell is missing, which --missing error refuses. Fill it in, or use --missing em." in said
    assert "--missing category needs --model ensemble or naive-bayes; the model is discriminant" in refused(
        *fit, "category", code=2
    )
    assert "--missing em needs --model discriminant; the model is ensemble" in refused(
        "fit", "holes.csv", "-t", "species", "-o", "m.suffice", "--missing", "em", code=2
    )


def test_drop_says_how_many_rows_have_missing_cells(holes):
    rows, _ = holes
    n = int(np.isnan(rows).any(axis=1).sum())
    done = run("fit", "holes.csv", "-t", "species", "--model", "discriminant", "--missing", "drop")
    assert f"Rows of weight {n} of 150 have missing cells; with --missing drop" in " ".join(done.stderr.split())
    assert "have missing cells" not in run("fit", "holes.csv", "-t", "species", "--model", "discriminant").stderr
