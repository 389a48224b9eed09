"""Files of earlier versions load and give the same predictions."""

import json
import pathlib
from typing import get_args

import numpy as np
import pandas as pd
import pytest

from suffice import GenerativeEnsemble, load, merge
from suffice.estimators import ESTIMATORS
from suffice.model_file.validation import KINDS
from suffice.tables.table import Kind

STORED = pathlib.Path(__file__).parent / "stored"
ANSWERS = json.loads((STORED / "v1.json").read_text())


def rows_of(name):
    columns = ANSWERS[name]["rows"]
    if name == "NaiveBayes-frame":
        frame = pd.DataFrame(columns)
        return frame.assign(when=pd.to_datetime(frame["when"]), kind=frame["kind"].astype("category"))
    if name.startswith("TextNaiveBayes"):
        return columns["text"]
    if "0" not in columns:
        return pd.DataFrame(columns)
    return np.column_stack([np.array(column, dtype=float) for column in columns.values()])


@pytest.mark.parametrize("name", ANSWERS)
def test_a_file_of_the_first_format(name, tmp_path):
    expected = ANSWERS[name]
    model = load(STORED / f"v1-{name}.suffice")
    assert model.classes_.tolist() == expected["classes"]
    assert model.fitted_.model.weights.weight.tolist() == expected["class_count"]
    rows = rows_of(name)
    np.testing.assert_allclose(model.predict_proba(rows), expected["probabilities"], rtol=1e-9, atol=1e-300)
    before = model.fitted_.model.weights.weight.sum()
    labels = model.classes_[: len(rows)].repeat(2)[: len(rows)]
    model.partial_fit(rows[: len(labels)], labels)
    assert model.fitted_.model.weights.weight.sum() == pytest.approx(before + len(labels))
    model.save(tmp_path / "x")
    np.testing.assert_array_equal(load(tmp_path / "x").predict_proba(rows), model.predict_proba(rows))


def test_every_kind_of_column_keeps_its_number():
    assert KINDS[:7] == ("number", "bool", "time", "duration", "category", "text", "empty")
    assert set(KINDS) == set(get_args(Kind))


def test_there_is_a_file_of_every_estimator():
    assert {name.split("-")[0] for name in ANSWERS} == set(ESTIMATORS)


def test_members_that_a_file_did_not_have_get_no_weight_and_learn():
    model = load(STORED / "v1-GenerativeEnsemble-text.suffice")
    calibration = model.calibration_
    assert calibration.weights[calibration.columns.index("(complement words of text)")] == 0
    rows, labels = rows_of("GenerativeEnsemble-text"), model.classes_.repeat(2)
    new = GenerativeEnsemble(model.families_, cuts=model.cuts_, parents=model.parents_).fit(rows, labels)
    for merged in (merge([model, new]), merge([new, model])):
        blocks, statistics = merged.fitted_.model.blocks, merged.fitted_.model.statistics
        words = {block.member: statistic for block, statistic in zip(blocks, statistics, strict=True)}
        weighted, complement = (words[f"{which} words of text"] for which in ("weighted", "complement"))
        np.testing.assert_array_equal(weighted.count, complement.count)
        assert weighted.count.sum() > new.fitted_.model.statistics[-1].count.sum()
