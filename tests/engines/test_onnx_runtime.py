"""Graphs of ONNX in ONNX Runtime have the probabilities and the labels of their models."""

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from every_estimator import ESTIMATORS, example
from graph_answers import answers, assert_same_answers
from scoring_cases import documents, labels, mixed_table, scoring_cases
from suffice import AveragedDependence, GaussianDiscriminant, GenerativeEnsemble, NaiveBayes, TextNaiveBayes
from suffice.families import family_names

N_ROWS = 100_000
WITHOUT_GRAPH = {"text_slots"}
CASES = {case.name: case for case in scoring_cases()}


def runtime(proto, inputs):
    """The outputs of a session, which reads the graph from its bytes."""
    session = onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("name", CASES)
def test_models_of_every_kind(name, precision):
    assert_same_answers(CASES[name].model, CASES[name].rows, runtime, precision)


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - WITHOUT_GRAPH))
def test_every_estimator(name, precision):
    model, X, y = example(name, np.random.default_rng(3))
    model.fit(X, y)
    assert_same_answers(model, X, runtime, precision)
    if name != "ComplementNB":  # has no class prior
        assert_same_answers(model.with_prior({0: 0.6, 1: 0.3, 2: 0.1}), X, runtime, precision)
    label, p, _ = answers(model, X[:0], runtime, precision)
    assert (label.shape, p.shape) == ((0,), (0, 3))


def test_every_family_has_a_graph():
    families = {block.family.name for case in CASES.values() for block in case.model.fitted_.combined.blocks}
    assert families == set(family_names())


@pytest.fixture(scope="module")
def table():
    """A mixed table with missing cells and levels that the models have not seen, and its first rows for learning.

    Its numbers are exact in float32, so none is rounded across a limit between two bins.
    """
    rng = np.random.default_rng(1)
    y = labels(rng, N_ROWS)
    X = mixed_table(rng, y)
    X = X.mask(rng.random(X.shape) < 0.1).assign(**{X.columns[1]: X.iloc[:, 1]})
    for name in X.columns[[0, 5]]:
        X[name] = X[name].astype(np.float32).astype(np.float64)
    rows = X.copy()
    rows.iloc[::7, 2] = "unseen"
    return X.iloc[:3000], np.array(["no", "yes", "<b>"])[y[:3000]], rows


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize(
    "model", [NaiveBayes(), NaiveBayes("best"), AveragedDependence(), GenerativeEnsemble()], ids=repr
)
def test_many_rows_of_a_table(table, model, precision):
    X, y, rows = table
    assert_same_answers(model.fit(X, y), rows, runtime, precision)


@pytest.mark.parametrize("covariance", ["shared", "own"])
def test_many_rows_of_numbers(covariance):
    rng = np.random.default_rng(2)
    y = labels(rng, N_ROWS)
    X = rng.standard_normal((N_ROWS, 6)) + y[:, None] / 2
    X[rng.random(X.shape) < 0.05] = np.nan
    model = GaussianDiscriminant(covariance).fit(X[:3000], y[:3000])
    assert_same_answers(model, X, runtime)


@pytest.mark.parametrize("settings", [{}, {"event": "bernoulli"}, {"weighting": "unit"}, {"estimation": "bayes"}])
def test_texts_of_ten_thousand_words(settings):
    rng = np.random.default_rng(3)
    words = np.array([f"word{i}" for i in range(10_000)])
    texts = [" ".join(words[rng.zipf(1.3, 40) % 10_000]) for _ in range(1000)] + [" ".join(words)] * 3
    model = TextNaiveBayes(**settings).fit(texts, labels(rng, 1003))
    assert_same_answers(model, np.array([*texts[:200], texts[-1], "", None], dtype=object), runtime)


def test_many_columns_and_classes():
    rng = np.random.default_rng(4)
    y = np.arange(1000) % 50
    X = rng.standard_normal((1000, 500)) + rng.standard_normal((50, 500))[y] / 10
    holes = np.where(rng.random(X.shape) < 0.01, np.nan, X)[:50]
    for model in (NaiveBayes(), GaussianDiscriminant()):
        assert_same_answers(model.fit(X, y), holes, runtime)
    frame = pd.DataFrame(X).rename(columns="column {}".format)
    assert_same_answers(NaiveBayes().fit(frame, y), frame[:50], runtime, "float")
    assert_same_answers(AveragedDependence().fit(X[:, :30], y), X[:50, :30], runtime)


def test_documents_in_a_table():
    rng = np.random.default_rng(5)
    y = labels(rng, 300)
    X = mixed_table(rng, y).assign(text=documents(rng, y))
    assert_same_answers(GenerativeEnsemble().fit(X, y), X, runtime)
