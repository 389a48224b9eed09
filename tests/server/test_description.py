"""Descriptions of served models: complete for every model, plain JSON, and true to what predictions accept."""

import datetime
import json
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest

from scoring_cases import HOSTILE, scoring_cases
from suffice import GaussianDiscriminant, InputError, NaiveBayes, TextNaiveBayes
from suffice.families import Categorical, Gaussian, JointTable
from suffice.server.description import MOST_LEVELS, MOST_RANGES, describe, label_value

CASES = {case.name: case for case in scoring_cases()}


@dataclass(eq=False)
class Served:
    """What `describe` reads of a host."""

    model: Any
    name: str = "m"
    learner: Any = None
    version: int = 0

    @property
    def published(self):
        return self.model, self.version


class OwnGaussian(Gaussian):
    """A family of a user, which states no formula."""


class OwnCategorical(Categorical):
    """A family of a user, which states no formula."""


class OwnJointTable(JointTable):
    """A family of a user, which states no formula."""


def described(model, **parts):
    """The description as a client reads it."""
    return json.loads(json.dumps(describe(Served(model, **parts)), allow_nan=False))


def columns_by_name(model):
    return {each["name"]: each for each in described(model)["columns"]}


@pytest.mark.parametrize("name", CASES)
def test_every_model_has_a_description(name):
    model = CASES[name].model
    found = described(model)
    fitted = model.fitted_
    assert found["classes"] == fitted.classes.labels.tolist()
    assert sum(found["prior"]) == pytest.approx(1)
    assert found["rows"] == pytest.approx(fitted.model.weights.weight.sum())
    assert found["density"] == fitted.has_density
    assert [each["name"] for each in found["columns"]] == [str(each) for each in fitted.layout.names]
    for each in found["columns"]:
        if each["kind"] in ("number", "count", "time", "duration"):
            assert each["low"] <= each["start"] <= each["high"], each
            assert each["levels"] is None
        elif each["kind"] == "text":
            assert each["start"] == ""
        else:
            assert each["start"] in each["levels"]
            assert each["n_levels"] == len(each["levels"])


@pytest.mark.parametrize("name", [name for name, case in CASES.items() if isinstance(case.rows, pd.DataFrame)])
def test_the_first_values_of_a_form_can_be_predicted(name):
    model = CASES[name].model
    columns = described(model)["columns"]
    cells = {
        each["name"]: pd.Timestamp(each["start"], unit="s") if each["kind"] == "time" else each["start"]
        for each in columns
    }
    rows = pd.DataFrame({name: [cell] for name, cell in cells.items()})
    assert model.predict_proba(rows).sum() == pytest.approx(1)
    for each in columns:
        without = rows.assign(**{each["name"]: [None]})
        if each["missing"]:
            assert model.predict_proba(without).sum() == pytest.approx(1)
        else:
            with pytest.raises((InputError, ValueError)):
                model.predict_proba(without)


def test_columns_of_a_table():
    found = columns_by_name(CASES["mixed"].model)
    assert [found[name]["kind"] for name in HOSTILE] == ["number", "yes_no", "levels", "number", "time", "number"]
    assert found[HOSTILE[1]]["levels"] == [False, True]
    assert found[HOSTILE[2]]["levels"] == ["blue", "green", "red"]
    assert found[HOSTILE[4]]["unit"] == "UTC"
    assert found[HOSTILE[4]]["low"] < pd.Timestamp("2024-03-01").timestamp() < found[HOSTILE[4]]["high"]


def test_counts_durations_and_thresholds():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 40)
    table = pd.DataFrame(
        {
            "visits": rng.poisson(3, 80),
            "stay": pd.to_timedelta(rng.integers(10, 500, 80), unit="s"),
            "size": rng.standard_normal(80),
        }
    )
    found = columns_by_name(NaiveBayes({"visits": "poisson"}).fit(table, y))
    assert [found[name]["kind"] for name in table] == ["count", "duration", "number"]
    assert found["stay"]["unit"] == "seconds"
    assert found["visits"]["low"] == 0
    assert found["visits"]["family"] == "poisson"
    assert found["visits"]["start"] == round(found["visits"]["start"])
    above = columns_by_name(CASES["BernoulliNB"].model)["0"]
    assert above["kind"] == "number"
    assert above["low"] < 0.5 < above["high"]


@pytest.mark.parametrize("family", [OwnGaussian(), OwnCategorical(), OwnJointTable()])
def test_families_without_a_formula(family):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 30)
    table = pd.DataFrame({"x": rng.integers(0, 3, 60), "z": rng.integers(0, 3, 60)})
    families = {("x", "z"): family} if isinstance(family, JointTable) else {"x": family, "z": family}
    found = columns_by_name(NaiveBayes(families).fit(table, y))
    plain = columns_by_name(NaiveBayes({names: type(family).__mro__[1]() for names in families}).fit(table, y))
    assert found == plain


def test_slots_of_words():
    found = described(TextNaiveBayes(slots=64).fit(["cheap pills", "lunch today"], ["spam", "ham"]))
    assert [each["kind"] for each in found["columns"]] == ["text"]
    assert found["classes"] == ["ham", "spam"]


def test_models_of_parameters_and_the_target(tmp_path):
    found = described(GaussianDiscriminant.from_parameters({"a": 0.4, "b": 0.6}, [[0.0, 1], [2, 3]], np.eye(2)))
    assert found["rows"] is None
    assert found["target"] is None
    path = tmp_path / "rows.csv"
    path.write_text("x,kind\n1,a\n2,a\n5,b\n7,b\n")
    assert described(NaiveBayes().fit(str(path), "kind"))["target"] == "kind"


@pytest.mark.parametrize(
    "labels",
    [
        np.array([0, 2**60]),
        np.array([-5, 7], dtype=np.int8),
        np.array([0.0, 1.0], dtype=np.float32),
        np.array([False, True]),
        np.array(["", "<b>"]),
        np.array(["2024-05-01", "2024-06-01"], dtype="datetime64[D]"),
    ],
    ids=lambda labels: str(labels[1]),
)
def test_labels_are_plain_values(labels):
    model = NaiveBayes().fit([[1.0], [2.0], [5.0], [7.0]], np.repeat(labels, 2))
    found = described(model)["classes"]
    assert len(set(map(str, found))) == 2
    assert found == [label_value(label) for label in model.classes_.tolist()]


def test_levels_are_plain_values():
    for value, plain in [
        (np.int64(3), 3),
        (2**60, 2**60),
        (float("inf"), "inf"),
        (np.float32(0.5), 0.5),
        (np.bool_(True), True),
        (pd.Timestamp("2024-05-01 10:00"), "2024-05-01 10:00:00"),
        (datetime.time(10, 30), "10:30:00"),
    ]:
        assert label_value(value) == plain
        assert type(label_value(value)) is type(plain)


def test_many_levels_are_the_frequent_ones():
    names = [f"c{i:05}" for i in range(MOST_LEVELS + 500)]
    often = names[300:-200]
    rows = pd.DataFrame({"code": pd.Categorical(names + often)})
    y = np.resize(["a", "b"], len(rows))
    found = columns_by_name(NaiveBayes({"code": "categorical"}).fit(rows, y))["code"]
    assert found["levels"] == often
    assert found["n_levels"] == len(names)
    assert found["start"] in often


def test_a_description_is_made_once_for_each_version():
    model = NaiveBayes().fit([[1.0], [2.0], [5.0], [7.0]], ["a", "a", "b", "b"])
    host = Served(model, learner=object())
    first = describe(host)
    assert first["learns"]
    assert describe(host) is first
    model.partial_fit([[9.0]], ["c"])
    host.version = 1
    second = describe(host)
    assert (second["version"], second["rows"], second["classes"]) == (1, 5.0, ["a", "b", "c"])


def test_many_columns_have_no_ranges():
    rng = np.random.default_rng(0)
    columns = described(NaiveBayes().fit(rng.standard_normal((50, MOST_RANGES + 20)), rng.integers(0, 2, 50)))[
        "columns"
    ]
    assert all(each["low"] < each["start"] < each["high"] for each in columns[:MOST_RANGES])
    assert all(each["low"] is each["start"] is each["high"] is None for each in columns[MOST_RANGES:])
    assert {each["kind"] for each in columns} == {"number"}
