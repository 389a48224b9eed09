"""A program that has the JSON of a model alone computes the model's probabilities."""

import json
import re
from dataclasses import fields
from datetime import date
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd
import pytest

from every_estimator import ESTIMATORS, example, numbers
from json_values import RefusedError, posteriors, words
from scoring_cases import HOSTILE, TEXTS, cells_of, labels, mixed_table, scoring_cases
from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.exceptions import InputError
from suffice.export.json_rule import FORMAT, VERSION
from suffice.families.formula import BlockForm, ColumnForm, WordReading
from suffice.learning.scoring_rule import CalibrationMap

KEYS = ["format", "version", "library", "estimator", "classes", "prior", "log_prior", "impossible"]
KEYS += ["columns", "blocks", "calibration"]


def refuse(token):
    raise AssertionError(f"{token} is not JSON")


def parsed(text):
    """The document; NaN and Infinity are errors, as they are for other parsers."""
    return json.loads(text, parse_constant=refuse)


def assert_same(model, X):
    got = posteriors(parsed(model.to_json()), cells_of(X))
    np.testing.assert_allclose(got, model.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore::suffice.ImpossibleRowsWarning")
@pytest.mark.parametrize("case", scoring_cases(), ids=lambda case: case.name)
def test_the_formulas_give_the_probabilities(case):
    text = case.model.to_json()
    assert text == case.model.to_json()
    assert text.isascii()
    document = parsed(text)
    assert list(document) == KEYS
    got = posteriors(document, case.cells)
    np.testing.assert_allclose(got, case.model.predict_proba(case.rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_every_estimator_has_formulas_or_a_reason(name):
    model, X, y = example(name, np.random.default_rng(0))
    model.fit(X, y)
    if name == "text_slots":
        with pytest.raises(InputError, match="hashed to slots"):
            model.to_json()
    else:
        assert_same(model, X)


def test_equal_models_are_written_equally():
    """Fits of the same rows give the same text, whatever the order of the rows of the levels."""
    rng = np.random.default_rng(0)
    y = labels(rng)
    X = mixed_table(rng, y)
    first, second = (NaiveBayes().fit(X, y).to_json() for _ in range(2))
    assert first == second


@pytest.mark.parametrize("form", [*get_args(ColumnForm), *get_args(BlockForm), WordReading, CalibrationMap])
def test_the_page_describes_every_field(form):
    page = (Path(__file__).parents[2] / "docs" / "export.md").read_text(encoding="utf-8")
    section = page.split("### The document")[1].split("## The command")[0]
    if form not in (WordReading, CalibrationMap):
        assert f"`{form.__name__}`" in section
    code = " ".join(re.findall("`[^`]*`", section))
    names = {field.name for field in fields(form)} - {"by_column"}  # which the document leaves out
    assert [name for name in sorted(names) if not re.search(rf"(?<![a-z]){name}(?![a-z])", code)] == []


def test_the_head():
    model = NaiveBayes(estimation="mle").fit([[1.0], [2.0], [5.0], [7.0]], ["a", "a", "b", "b"])
    document = parsed(model.to_json())
    assert (document["format"], document["version"]) == (FORMAT, VERSION) == ("suffice scoring rule", 1)
    assert document["estimator"] == "NaiveBayes"
    assert document["classes"] == ["a", "b"]
    assert document["prior"] == [0.5, 0.5]
    assert document["columns"] == [{"name": 0, "position": 0, "kind": "number", "missing": True, "levels": None}]
    (block,) = document["blocks"]
    assert block["forms"][0]["form"] == "Normal"
    assert block["forms"][0]["mean"] == [1.5, 6.0]
    assert document["calibration"] is None


@pytest.mark.parametrize(
    ("given", "written"),
    [
        (list(HOSTILE), list(HOSTILE)),
        ([-1, 0, 2**60], [-1, 0, {"text": str(2**60)}]),
        ([False, True], [False, True]),
        ([1.0, 2.0], [1, 2]),
        (
            np.array(["2024-01-01", "2025-01-01"], dtype="M8[s]"),
            [{"text": "2024-01-01 00:00:00"}, {"text": "2025-01-01 00:00:00"}],
        ),
        (["\ud800", "a\0b"], ["\ud800", "a\0b"]),
    ],
    ids=["hostile", "integers", "booleans", "numbers", "times", "surrogates"],
)
def test_labels_of_every_type(given, written):
    rng = np.random.default_rng(0)
    codes = np.arange(60) % len(given)
    model = NaiveBayes().fit(numbers(rng, codes), np.asarray(given)[codes])
    document = parsed(model.to_json())
    order = [model.classes_.tolist().index(each) for each in np.asarray(given).tolist()]
    assert [document["classes"][i] for i in order] == written
    assert_same(model, numbers(rng, codes))


def test_hostile_names_and_levels():
    rng = np.random.default_rng(0)
    y = labels(rng)
    X = pd.DataFrame({name: np.array(HOSTILE, dtype=object)[rng.integers(0, 6, len(y))] for name in HOSTILE})
    model = NaiveBayes().fit(X, y)
    columns = parsed(model.to_json())["columns"]
    assert [column["name"] for column in columns] == list(HOSTILE)
    assert all(column["levels"] == sorted(HOSTILE) for column in columns)
    assert_same(model, X.replace({HOSTILE[0]: "unseen", HOSTILE[1]: None}))


def test_levels_of_other_types():
    X = pd.DataFrame({"day": [date(2024, 1, 1), date(2024, 1, 2)] * 6, "code": [2**60, 2**60 + 1] * 6})
    model = NaiveBayes("categorical").fit(X, [0, 1, 1] * 4)
    columns = parsed(model.to_json())["columns"]
    assert columns[0]["levels"] == [{"text": "2024-01-01"}, {"text": "2024-01-02"}]
    assert columns[1]["levels"] == [{"text": str(2**60)}, {"text": str(2**60 + 1)}]
    assert_same(model, X)


def test_infinite_numbers_are_texts():
    """A class in which a word never occurs has the logarithm −∞."""
    model = TextNaiveBayes(estimation="mle").fit(["cheap pills", "see you"], ["spam", "ham"])
    text = model.to_json()
    assert '"-Infinity"' in text
    np.testing.assert_array_equal(posteriors(parsed(text), [["cheap"], ["you"]]), [[0, 1], [1, 0]])
    with pytest.raises(RefusedError):
        posteriors(parsed(text), [["cheap you"]])


def test_ignored_columns_keep_the_positions_of_others():
    rng = np.random.default_rng(0)
    y = np.arange(60) % 3
    X = pd.DataFrame(numbers(rng, y), columns=["a", "b", "c"])
    model = NaiveBayes({"a": None}).fit(X, y)
    document = parsed(model.to_json())
    assert [(column["name"], column["position"]) for column in document["columns"]] == [("b", 1), ("c", 2)]
    assert_same(model, X)


def test_a_column_that_may_not_be_missing():
    X = np.random.default_rng(0).standard_normal((20, 2))
    document = parsed(GaussianDiscriminant(missing="error").fit(X, np.arange(20) % 2).to_json())
    assert [column["missing"] for column in document["columns"]] == [False, False]
    with pytest.raises(RefusedError):
        posteriors(document, [[1.0, None]])


def test_values_outside_the_domain():
    model = NaiveBayes("poisson").fit([[1.0], [2.0], [5.0], [7.0]], [0, 0, 1, 1])
    document = parsed(model.to_json())
    assert (document["blocks"][0]["domain"], document["blocks"][0]["outside"]) == ("count", "error")
    with pytest.raises(RefusedError):
        posteriors(document, [[0.5]])
    with pytest.raises(InputError):
        model.predict_proba([[0.5]])


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"analyzer": "char", "ngram_range": (2, 3)},
        {"analyzer": "char_wb", "ngram_range": (3, 5)},
        {"strip_accents": "ascii", "punctuation": True},
        {"strip_accents": "unicode", "ngram_range": (1, 2), "stop_words": ["the", "deja"]},
        {"characters": (2, 4), "min_length": 1},
    ],
)
def test_words_are_those_of_the_library(settings):
    texts = [each for each in TEXTS if each]
    model = TextNaiveBayes(**settings).fit(texts, np.arange(len(texts)) % 2)
    form = parsed(model.to_json())["blocks"][0]["form"]
    found = sorted({word for text in texts for word in words(text, form["reading"])})
    assert found == sorted(form["words"])
