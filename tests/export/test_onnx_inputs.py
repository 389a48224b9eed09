"""Inputs, labels and errors of graphs of ONNX."""

import importlib.util
import json
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

import suffice.export.onnx.graph
from graph_answers import MISSING, answers, assert_same_answers, reference
from graph_inputs import graph_inputs, word_matrix
from scoring_cases import HOSTILE, scoring_cases
from suffice import AveragedDependence, GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.exceptions import InputError, SingularCovarianceWarning
from suffice.families import Categorical, Gaussian, JointTable, Text
from suffice.naive_bayes import GaussianNB

DOUBLE, STRING = 11, 8


def numbers(n=30, d=3, n_classes=3):
    rng = np.random.default_rng(0)
    y = np.arange(n) % n_classes
    return rng.standard_normal((n, d)) + y[:, None], y


def described(proto):
    """The metadata of a graph."""
    found = {each.key: each.value for each in proto.metadata_props}
    return {"missing": found.pop("missing"), **{key: json.loads(value) for key, value in found.items()}}


# ---------------------------------------------------------------------- inputs


def test_inputs_of_a_table():
    case = next(case for case in scoring_cases() if case.name == "table-text")
    proto = case.model.to_onnx(missing=MISSING)
    types = {each.name: each.type.tensor_type.elem_type for each in proto.graph.input}
    assert types == dict(zip([*HOSTILE, "text"], [DOUBLE, DOUBLE, STRING, DOUBLE, DOUBLE, DOUBLE, STRING], strict=True))
    metadata = described(proto)
    assert metadata["missing"] == MISSING
    assert metadata["classes"] == case.model.classes_.tolist()
    cells = ["numbers", "0 or 1", "texts", "numbers", "seconds since 1970-01-01 00:00 UTC", "numbers", "words"]
    assert [each["cells"] for each in metadata["inputs"].values()] == cells
    assert [each["column"] for each in metadata["inputs"].values()] == [*HOSTILE, "text"]
    assert metadata["inputs"]["text"]["reading"]["ngram_range"] == [1, 1]
    sentences = {each.name: each.doc_string for each in proto.graph.input}
    assert sentences[HOSTILE[2]] == "The column 'constructor'. Cells are texts; '<missing>' is a missing cell."
    assert sentences[HOSTILE[1]] == "The column '__proto__'. Cells are 0 or 1. NaN is a missing cell."
    assert "the only word '<missing>'" in sentences["text"]
    assert all(each.doc_string for each in proto.graph.output)


def test_one_input_for_each_way_to_read_a_text():
    case = next(case for case in scoring_cases() if case.name == "ensemble-text")
    inputs = described(case.model.to_onnx())["inputs"]
    texts = {name: each["reading"] for name, each in inputs.items() if each["column"] == "text"}
    assert list(texts) == ["text", "text_2", "text_3"]
    assert len({json.dumps(each) for each in texts.values()}) == 3


@pytest.mark.parametrize(
    ("names", "inputs"),
    [
        ([0, 1, 2], ["0", "1", "2"]),
        (["label", "probabilities", "log_probabilities"], ["label", "probabilities", "log_probabilities"]),
        (["v1", "v2", "label_"], ["v1", "v2", "label_"]),
        (["a/b:0", "x\\y\n", " "], ["a/b:0", "x\\y\n", " "]),
    ],
)
def test_names_of_columns(names, inputs):
    X, y = numbers()
    X = pd.DataFrame(X, columns=names)
    model = NaiveBayes().fit(X, y)
    assert_same_answers(model, X)
    graph = model.to_onnx().graph
    assert [each.name for each in graph.input] == inputs
    outputs = [each.name for each in graph.output]
    assert len({*outputs, *inputs}) == 6
    assert [each.rstrip("_") for each in outputs] == ["label", "probabilities", "log_probabilities"]


def test_a_matrix():
    X, y = numbers()
    for model in (NaiveBayes(), GaussianNB()):
        assert [each.name for each in model.fit(X, y).to_onnx().graph.input] == ["X"]
    levels = np.array(["red", "green", "blue"], dtype=object)[np.column_stack([y, y[::-1]])]
    model = NaiveBayes().fit(levels, y)
    (given,) = model.to_onnx().graph.input
    assert (given.name, given.type.tensor_type.elem_type) == ("X", STRING)
    levels[3] = [None, "pink"]
    assert_same_answers(model, levels)
    mixed = np.column_stack([X.astype(object), levels])
    model = NaiveBayes({0: "gaussian", 1: "gaussian", 2: "gaussian"}).fit(mixed, y)
    assert [each.name for each in model.to_onnx().graph.input] == ["0", "1", "2", "3", "4"]
    assert_same_answers(model, mixed)


def test_columns_that_the_model_does_not_use_are_no_inputs():
    X, y = numbers()
    X = pd.DataFrame(X, columns=["a", "b", "c"]).assign(empty=np.nan)
    with pytest.warns(UserWarning, match="empty"):
        model = NaiveBayes({"b": "gaussian"}).fit(X, y)
    proto = model.to_onnx()
    assert "a" in [each.name for each in proto.graph.input]
    np.testing.assert_allclose(answers(model, X)[1], model.predict_proba(X), rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    "levels",
    [
        [True, False, True],
        [3, 1, 2],
        [2.5, -1.0, 1e300],
        [2**60, 5, 2**60 + 1],
        ["1", "a", "\u00e9"],
        [pd.Timestamp("2024-01-01"), pd.Timestamp("2024-01-02"), pd.Timestamp("2024-01-03")],
    ],
    ids=["bools", "ints", "floats", "large ints", "texts", "times"],
)
@pytest.mark.parametrize("family", [Categorical(), JointTable()], ids=["categorical", "joint"])
def test_levels_of_every_type(levels, family):
    if isinstance(levels[0], pd.Timestamp):
        levels = [each.date() for each in levels]
    y = np.arange(30) % 3
    rng = np.random.default_rng(1)
    at = np.where(rng.random(30) < 0.5, y, rng.integers(0, 3, 30))
    dtype = object if isinstance(levels[0], str | bool) or hasattr(levels[0], "year") else None
    X = pd.DataFrame({"a": pd.Series([levels[i] for i in at], dtype=dtype), "b": np.array(["x", "y", None])[at[::-1]]})
    blocks = {("a", "b"): family} if isinstance(family, JointTable) else {"a": family, "b": family}
    assert_same_answers(NaiveBayes(blocks).fit(X, y), X)


# ---------------------------------------------------------------------- missing texts


def test_the_text_of_a_missing_cell():
    y = np.arange(12) % 2
    X = pd.DataFrame({"size": ["S", "M", "", None] * 3, "n": [1.0, 2, 3, 5] * 3})
    model = NaiveBayes().fit(X, y)
    with pytest.raises(InputError, match="'size' has the level '', which stands for a missing cell") as error:
        model.to_onnx()
    assert (error.value.column, error.value.argument) == ("size", "missing")
    assert_same_answers(model, X)
    without = NaiveBayes().fit(X[X["size"] != ""], y[X["size"] != ""])
    rows = X[X["size"] != ""]
    np.testing.assert_allclose(answers(without, rows, missing="")[1], without.predict_proba(rows), rtol=0, atol=1e-12)


@pytest.mark.parametrize("event", ["multinomial", "bernoulli"])
def test_a_missing_text_is_an_empty_one_unless_it_has_a_mark(event):
    texts = np.array(["the cheap pills", "lunch over", None, "the lunch"] * 3, dtype=object)
    model = TextNaiveBayes(event).fit(texts, np.arange(12) % 2)
    rows = np.array([None, "", "lunch"], dtype=object)
    want = model.predict_proba(rows)
    np.testing.assert_allclose(answers(model, rows)[1], want, rtol=0, atol=1e-12)
    np.testing.assert_allclose(answers(model, rows, missing="")[1], want[[1, 1, 2]], rtol=0, atol=1e-12)
    assert (np.abs(want[0] - want[1]).max() > 1e-3) == (event == "bernoulli")


def test_places_without_a_word_are_anywhere():
    texts = ["the cheap pills", "lunch over", "the lunch"] * 3
    for model in (TextNaiveBayes(), TextNaiveBayes("bernoulli"), TextNaiveBayes(weighting="unit", length=0.5)):
        model.fit(texts, [0, 1, 1] * 3)
        proto = model.to_onnx()
        (about,) = described(proto)["inputs"].values()
        words = word_matrix(["the cheap cheap lunch the", "over the unknown unknown lunch"], about["reading"], "")
        want = reference(proto, {"text": words})[1]
        shuffled = np.random.default_rng(2).permuted(np.pad(words, ((0, 0), (0, 3)), constant_values=""), axis=1)
        np.testing.assert_allclose(reference(proto, {"text": shuffled})[1], want, rtol=0, atol=1e-15)
        none = reference(proto, {"text": np.zeros((2, 0), dtype=object)})[1]
        np.testing.assert_allclose(none, model.predict_proba(["", ""]), rtol=0, atol=1e-12)


# ---------------------------------------------------------------------- labels


@pytest.mark.parametrize(
    "labels",
    [
        np.array([True, False]),
        np.array([-5, 2**62]),
        np.array([0, 1], dtype=np.int8),
        np.array([1.0, 2.0]),
        np.array(["no", "größe 日本"]),
        np.array(["", "b c"], dtype=object),
    ],
    ids=["bool", "int64", "int8", "float", "texts", "objects"],
)
def test_labels(labels):
    X, y = numbers(n_classes=2)
    model = NaiveBayes().fit(X, labels[y])
    assert_same_answers(model, X)
    assert described(model.to_onnx())["classes"] == model.classes_.tolist()


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (np.array([1, 2**63], dtype=np.uint64), "too large for int64"),
        (np.array(["2024-01-01", "2024-01-02"], dtype="M8[D]"), "The labels are of the type date"),
        (np.array(["a", "\ud800"], dtype=object), "A label, '\\\\ud800', is not valid Unicode"),
    ],
)
def test_labels_that_a_graph_cannot_have(labels, message):
    X, y = numbers(n_classes=2)
    with pytest.raises(InputError, match=message):
        NaiveBayes().fit(X, labels[y]).to_onnx()


# ---------------------------------------------------------------------- errors


class Louder(Gaussian):
    """A Gaussian whose evidence counts twice."""

    name: ClassVar[str] = "louder"

    def log_likelihood(self, parameters, x):
        return 2 * super().log_likelihood(parameters, x)


def test_models_without_a_graph_say_what_to_do():
    X, y = numbers()
    texts = ["cheap pills", "lunch"] * 2
    models = {
        "Fit the model without slots": TextNaiveBayes(slots=64).fit(texts, [0, 1] * 2),
        "Fit the model with one of the named analyzers": TextNaiveBayes(analyzer=str.split).fit(texts, [0, 1] * 2),
        "Define its method formula, or fit the model with another family": NaiveBayes({0: Louder()}).fit(X, y),
    }
    for advice, model in models.items():
        with pytest.raises(InputError, match=advice):
            model.to_onnx()
    with pytest.raises(NotFittedError):
        NaiveBayes().to_onnx()


def test_arguments():
    model = GaussianDiscriminant().fit(*numbers())
    with pytest.raises(InputError, match=r"precision must be 'double' or 'float'; got 'flaot'. Did you mean") as error:
        model.to_onnx("flaot")
    assert error.value.argument == "precision"
    with pytest.raises(
        InputError, match="missing must be a text: that of a missing cell in columns of texts; got "
    ) as error:
        model.to_onnx(missing=None)
    assert error.value.argument == "missing"
    with pytest.raises(InputError, match="The text of a missing cell, '\\\\ud800', is not valid Unicode"):
        model.to_onnx(missing="\ud800")
    texts = TextNaiveBayes().fit(["cheap lunch", "the pills"], [0, 1])
    with pytest.raises(InputError, match=r"The model has the word 'lunch', .* missing='<missing>'\.") as error:
        texts.to_onnx(missing="lunch")
    assert error.value.argument == "missing"
    levels = NaiveBayes().fit(np.array([["a"], ["\ud800"], ["a"]], dtype=object), [0, 1, 1])
    with pytest.raises(InputError, match="A level of the column at position 0, '\\\\ud800', is not valid Unicode"):
        levels.to_onnx()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["a", "", "b"], "A column has the empty text as its name"),
        (["a", "\ud800", "b"], "The name of a column, '\\\\ud800', is not valid Unicode"),
    ],
)
def test_names_that_an_input_cannot_have(names, message):
    X, y = numbers()
    with pytest.raises(InputError, match=message):
        NaiveBayes().fit(pd.DataFrame(X, columns=pd.Index(names, dtype=object)), y).to_onnx()


def test_levels_that_a_graph_cannot_tell_apart():
    y = np.arange(6) % 2
    X = pd.DataFrame({"a": pd.Series([1, "1", "x"] * 2, dtype=object)})
    with pytest.raises(InputError, match="different levels with the text '1'") as error:
        NaiveBayes({"a": "categorical"}).fit(X, y).to_onnx()
    assert error.value.column == "a"


def test_a_graph_of_more_than_two_gigabytes(monkeypatch):
    X, y = numbers()
    texts = [" ".join(f"word{i}" for i in range(500)), "lunch"]
    models = [GaussianDiscriminant().fit(X, y), AveragedDependence().fit(X, y), TextNaiveBayes().fit(texts, [0, 1])]
    monkeypatch.setattr(suffice.export.onnx.graph, "MOST_BYTES", 1000)
    for model in models:
        with pytest.raises(InputError, match=r"more than 2 GB, which a file of ONNX cannot have\. Fit the model with"):
            model.to_onnx()


def test_a_singular_covariance_of_many_columns_with_missing_cells():
    X, y = numbers(60, 24)
    X = np.column_stack([X, X[:, 0] + X[:, 1]])
    with pytest.warns(SingularCovarianceWarning):
        model = GaussianDiscriminant(estimation="mle").fit(X, y)
    with pytest.raises(InputError, match="The covariance of 25 columns is singular"):
        model.to_onnx()


def test_onnx_is_not_installed(monkeypatch):
    model = GaussianDiscriminant().fit(*numbers())
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(InputError, match=r"pip install 'suffice\[onnx\]'"):
        model.to_onnx()


def test_inputs_that_are_read_by_position():
    """The order of the columns of a table does not matter: each input has a name."""
    X, y = numbers()
    X = pd.DataFrame(X, columns=["a", "b", "c"]).assign(text=["cheap pills", "lunch", None] * 10)
    model = NaiveBayes({"text": Text()}).fit(X, y)
    proto = model.to_onnx()
    given, swapped = graph_inputs(proto, X), graph_inputs(proto, X[["text", "c", "a", "b"]])
    assert all(np.array_equal(given[name], swapped[name]) or name == "text" for name in given)
