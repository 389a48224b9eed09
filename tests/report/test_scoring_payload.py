"""The payload of a page: exact numbers, small, plain values, and a sentence where there is none."""

import base64
import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

from scoring_cases import HOSTILE, labels, mixed_table, scoring_cases
from suffice import GaussianDiscriminant, GenerativeEnsemble, NaiveBayes, TextNaiveBayes
from suffice.families import Gaussian
from suffice.report.scoring import encoded_array, scoring_payload


def decoded(text):
    """The numbers of an encoded array."""
    raw = base64.b64decode(text[3:])
    if text.startswith("f8:"):
        return np.frombuffer(raw, dtype="<f8")
    out, value, shift = [], 0, 0
    for byte in raw:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(value)
            value = shift = 0
    return np.array(out, dtype=float)


@pytest.mark.parametrize(
    "values",
    [
        [],
        [0.0, 127, 128, 300, 16383, 16384, 2**21 - 1, 2**21, 2**28, 2**32, 2**53 - 1],
        [2.0**53],
        [0.1, -1.0, np.inf, -np.inf, 5e-324, 1.7976931348623157e308],
        [-3.0, 2.0],
        [[1.0, 2], [3, 4]],
    ],
)
def test_arrays_are_exact(values):
    np.testing.assert_array_equal(decoded(encoded_array(np.array(values))), np.ravel(values))


@pytest.mark.parametrize("case", scoring_cases(), ids=lambda case: case.name)
def test_payloads_are_plain_values(case):
    model = case.fitted()
    payload = scoring_payload(model.fitted_)
    text = json.dumps(payload, allow_nan=False)
    assert json.loads(text) == payload
    assert payload["classes"] == [str(each) for each in model.classes_]
    np.testing.assert_array_equal(decoded(payload["prior"]), model.fitted_.estimate.prior)
    assert len({column["name"] for column in payload["columns"]}) == len(payload["columns"])


def test_columns_of_a_table():
    rng = np.random.default_rng(0)
    y = labels(rng)
    X = mixed_table(rng, y).assign(note="a few words of text")
    model = NaiveBayes({HOSTILE[3]: None, "note": "text"}).fit(X, y)
    columns = scoring_payload(model.fitted_)["columns"]
    assert [column["name"] for column in columns] == [
        HOSTILE[0],
        HOSTILE[1],
        HOSTILE[2],
        HOSTILE[4],
        HOSTILE[5],
        "note",
    ]
    assert [column["kind"] for column in columns] == ["number", "yes_no", "levels", "time", "number", "text"]
    assert columns[2]["levels"] == ["blue", "green", "red"]
    assert all(column["missing"] for column in columns)


def test_levels_of_other_types():
    levels = pd.to_datetime(["2024-01-01", "2024-01-02"] * 4)
    X = pd.DataFrame({"day": levels.date, "half": [0.5, 1.0] * 4, "yes": [True, False] * 4})
    model = NaiveBayes({"day": "categorical", "half": "categorical", "yes": "categorical"}).fit(X, [0, 0, 1, 1] * 2)
    columns = scoring_payload(model.fitted_)["columns"]
    assert columns[0]["levels"] == [{"text": "2024-01-01"}, {"text": "2024-01-02"}]
    assert columns[1]["levels"] == [0.5, 1]
    assert columns[2]["levels"] == [0, 1]


def test_a_column_that_may_not_be_missing():
    X = np.random.default_rng(0).standard_normal((20, 2))
    model = GaussianDiscriminant(missing="error").fit(X, np.arange(20) % 2)
    assert [column["missing"] for column in scoring_payload(model.fitted_)["columns"]] == [False, False]


def test_a_changed_prior():
    X = np.random.default_rng(0).standard_normal((20, 2))
    model = NaiveBayes().fit(X, np.arange(20) % 2)
    payload = scoring_payload(model.with_prior({0: 0.9, 1: 0.1}).fitted_)
    np.testing.assert_allclose(decoded(payload["log_prior"]), np.log([0.9, 0.1]))


@dataclass(frozen=True)
class Louder(Gaussian):
    """A family that scores rows in another way than its base class, whose formula it inherits."""

    name: ClassVar[str] = "louder"

    def log_likelihood(self, parameters, x):
        return 2 * super().log_likelihood(parameters, x)


def test_a_sentence_where_a_page_cannot_compute():
    rng = np.random.default_rng(0)
    texts, y = ["hello you", "cheap pills"] * 3, [0, 1] * 3
    assert "hashed" in scoring_payload(TextNaiveBayes(slots=64).fit(texts, y).fitted_)["reason"]
    own = NaiveBayes({0: Louder()}).fit(rng.standard_normal((6, 1)), y)
    assert scoring_payload(own.fitted_) == {
        "reason": "The family louder has no formula that other programs can evaluate. Define its method formula, or "
        "fit the model with another family."
    }
    words = TextNaiveBayes(max_words=None).fit([" ".join(f"word{i}" for i in range(500))] * 2, [0, 1])
    reason = scoring_payload(words.fitted_, most_bytes=2000)["reason"]
    assert reason.startswith("A page that computes posteriors would have to hold the scores of 500 words, 0.0 MB")
    model = NaiveBayes().fit(rng.standard_normal((6, 1)), y)
    model.set_params(calibrate=True)
    assert "calibrat" in scoring_payload(model.fitted_)["reason"]


@pytest.mark.filterwarnings("ignore::suffice.SufficeWarning")
def test_fifty_columns_of_an_ensemble_are_small():
    rng = np.random.default_rng(0)
    n = 400
    y = rng.integers(0, 3, n)
    X = pd.DataFrame({f"number {j}": rng.gamma(2 + y, 1.0) for j in range(40)})
    levels = np.array([f"level {i}" for i in range(8)], dtype=object)
    X = X.assign(**{f"level {j}": levels[(rng.integers(0, 6, n) + y) % 8] for j in range(10)})
    payload = scoring_payload(GenerativeEnsemble().fit(X, y).fitted_)
    members = [block.get("member") for block in payload["blocks"]]
    assert {"averaged dependence", "own covariance", "shared covariance"} <= set(members)
    assert len(json.dumps(payload)) < 300_000
