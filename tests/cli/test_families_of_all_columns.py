"""Families for all columns beside families of single ones, and what `inspect` and `sample` show of them."""

import csv
import io

import numpy as np
import pytest

import suffice
from cli.made import ran, refused, run, write_csv
from suffice.families import Binned, Histogram


@pytest.fixture
def mixed(folder):
    rng = np.random.default_rng(0)
    label = np.tile(["no", "yes"], 100)
    up = label == "yes"
    age = np.where(np.arange(200) % 9 == 0, "", (rng.integers(20, 60, 200) + 9 * up).astype(str))
    columns = {"age": age, "income": np.exp(rng.normal(size=200)) + up, "town": rng.choice(["A", "B"], 200)}
    write_csv("mixed.csv", {**columns, "label": label})


def families(*options):
    run("fit", "mixed.csv", "-t", "label", "--model", "naive-bayes", *options, "-o", "m.suffice")
    return suffice.load("m.suffice").families_


def test_a_family_for_all_other_columns(mixed):
    found = families("--family", "histogram", "--family", "age=binned")
    assert isinstance(found["age"], Binned)
    assert isinstance(found["income"], Histogram)
    assert found["town"].name == "categorical"
    chosen = families("--family", "best", "--family", "age=binned")
    assert isinstance(chosen["age"], Binned)
    assert "cannot both apply" in refused(
        "fit", "mixed.csv", "-t", "label", "--model", "naive-bayes", "--family", "best", "--family", "binned", code=2
    )


def test_a_family_of_numbers_leaves_texts_to_their_type(mixed):
    assert {name: family.name for name, family in families("--family", "binned").items()} == {
        "age": "binned",
        "income": "binned",
        "town": "categorical",
    }


def test_inspect_shows_bins_and_parents(mixed):
    run("fit", "mixed.csv", "-t", "label", "--model", "averaged-dependence", "-o", "m.suffice")
    shown = ran("inspect", "m.suffice")
    assert "Bins" in shown
    assert "levels" in shown
    refusal = refused(
        "fit", "mixed.csv", "-t", "label", "--model", "averaged-dependence", "--missing", "ignore", code=2
    )
    assert "a missing cell is in a bin of its own" in refusal


def test_inspect_finds_a_member_of_a_block(mixed):
    families("--family", "age,income=averaged_dependence")
    assert "p(x | y) of income" in ran("inspect", "m.suffice", "--column", "income")


def test_sampled_missing_cells_are_empty(mixed):
    run("fit", "mixed.csv", "-t", "label", "--model", "averaged-dependence", "-o", "m.suffice")
    drawn = list(csv.DictReader(io.StringIO(run("sample", "m.suffice", "-n", "300", "--seed", "1").stdout)))
    assert {row["age"] for row in drawn} >= {""}
    assert not any("nan" in row["age"] for row in drawn)
