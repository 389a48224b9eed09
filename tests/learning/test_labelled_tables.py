"""Labelled rows that a model is shown with: other labels, weights of zero, and which rows were learned."""

from dataclasses import asdict

import numpy as np
import pandas as pd
import pytest

from suffice import NaiveBayes, diagnose
from suffice.exceptions import ClassError, InputError
from suffice.learning.labelled_tables import are_training_rows, read_labelled
from suffice.learning.row_predictions import check_held_out
from suffice.plotting import ConfusionDisplay
from suffice.tables.cell_values import json_value


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    y = np.repeat(["p", "q"], 100)
    return pd.DataFrame({"x": rng.normal(y == "q"), "weight": rng.integers(1, 4, 200).astype(float), "y": y})


def from_memory(rows, path, weight=None):
    return rows[["x"]], rows["y"], None if weight is None else rows[weight]


def from_file(rows, path, weight=None):
    rows[["x", "y", *([] if weight is None else [weight])]].to_csv(path / "rows.csv", index=False)
    return str(path / "rows.csv"), "y", weight


SOURCES = pytest.mark.parametrize("given", [from_memory, from_file])


@SOURCES
def test_labels_that_are_not_classes(rows, given, tmp_path):
    model = NaiveBayes().fit(rows[["x"]], rows["y"])
    rows.loc[:9, "y"] = "other"
    X, y, _ = given(rows, tmp_path)
    read = read_labelled(model.fitted_, X, y, scored=True)
    assert read.unknown == ("other",)
    assert read.n_rows == 200
    np.testing.assert_array_equal(read.codes, np.repeat([2, 0, 1], [10, 90, 100]))
    np.testing.assert_array_equal(read.members.codes, np.repeat([-1, 0, 1], [10, 90, 100]))
    assert not are_training_rows(model.fitted_, read)
    found = model.report(X, y).summary.held_out
    assert (found.rule, found.n_rows, found.of_rows) == ("new rows", 200, 200)
    assert any("count as errors" in note for note in found.notes)
    held = model.report(X, y, held_out=True).summary.held_out
    assert (held.rule, held.n_rows) == ("leave-one-out", 190)
    assert held.notes == ("Rows with the label 'other', which is not a class of the model, were not scored.",)
    with pytest.raises(ClassError, match="y holds 'other'"):
        ConfusionDisplay.from_estimator(model, X, y)


@SOURCES
def test_rows_of_weight_zero_are_absent(rows, given, tmp_path):
    rows.loc[::4, "weight"] = 0.0
    present = rows[rows["weight"] > 0]
    model = NaiveBayes().fit(present[["x"]], present["y"], present["weight"])
    rows.loc[0, "y"] = "other"  # has no weight
    X, y, weight = given(rows, tmp_path, "weight")
    for held_out in ("auto", False):
        found = model.report(X, y, weight, held_out=held_out).summary.held_out
        expected = model.report(present[["x"]], present["y"], present["weight"], held_out=held_out).summary.held_out
        assert json_value(asdict(found)) == json_value(asdict(expected))
    assert found.n_rows == 150
    assert not any("sample" in note for note in diagnose(model, X, y, sample_weight=weight).notes)


@SOURCES
@pytest.mark.parametrize("weight", [None, "weight"])
def test_learned_rows(rows, given, tmp_path, weight):
    model = NaiveBayes().fit(rows[["x"]], rows["y"], None if weight is None else rows[weight])
    read = read_labelled(model.fitted_, *given(rows, tmp_path, weight), scored=True)
    assert are_training_rows(model.fitted_, read)
    rows.loc[0, "x"] += 1.0
    read = read_labelled(model.fitted_, *given(rows, tmp_path, weight), scored=True)
    assert not are_training_rows(model.fitted_, read)


def test_values_of_held_out():
    for value in (True, False, np.True_, "auto"):
        check_held_out(value)
    for value in ("yes", None, 1, np.array([True, False])):
        with pytest.raises(InputError, match="held_out must be"):
            check_held_out(value)
