"""Graphs of ONNX have the answers of their models; the evaluator of the package onnx computes them."""

import numpy as np
import onnx
import pytest

import suffice
from every_estimator import ESTIMATORS, example
from graph_answers import assert_same_answers
from scoring_cases import scoring_cases
from suffice import GaussianDiscriminant, NaiveBayes
from suffice.exceptions import SingularCovarianceWarning
from suffice.families import MultivariateGaussian

WITHOUT_GRAPH = {"text_slots"}
CASES = {case.name: case for case in scoring_cases()}


@pytest.mark.parametrize("precision", ["double", "float"])
@pytest.mark.parametrize("name", CASES)
def test_models_of_every_kind(name, precision):
    assert_same_answers(CASES[name].model, CASES[name].rows, precision=precision)


@pytest.mark.parametrize("name", sorted(set(ESTIMATORS) - WITHOUT_GRAPH))
def test_every_estimator(name):
    model, X, y = example(name, np.random.default_rng(3))
    assert_same_answers(model.fit(X, y), X)


@pytest.mark.parametrize("shape", ["full", "diagonal", "spherical"])
@pytest.mark.parametrize("covariance", ["shared", "own"])
def test_shapes_of_covariances(covariance, shape):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 80)
    X = rng.standard_normal((80, 4)) @ rng.standard_normal((4, 4)) + y[:, None]
    rows = np.where(rng.random(X.shape) < 0.3, np.nan, X)
    assert_same_answers(GaussianDiscriminant(covariance, shape=shape).fit(X, y), rows)


@pytest.mark.parametrize("settings", [{"shrinkage": 0.2}, {"covariance": "own", "shrinkage": 0.2, "mix": 0.5}])
def test_regularised_covariances(settings):
    rng = np.random.default_rng(4)
    y = rng.integers(0, 3, 80)
    X = rng.standard_normal((80, 4)) @ rng.standard_normal((4, 4)) + y[:, None]
    assert_same_answers(GaussianDiscriminant(**settings).fit(X, y), np.where(rng.random(X.shape) < 0.3, np.nan, X))


@pytest.mark.parametrize("estimation", ["mle", "map", "bayes"])
def test_singular_covariances_of_rows_with_holes(estimation):
    rng = np.random.default_rng(5)
    y = rng.integers(0, 2, 50)
    X = rng.standard_normal((50, 3)) + y[:, None]
    X = np.column_stack([X, X[:, 0] - X[:, 1], np.full(50, 7.0)])
    model = NaiveBayes({tuple(range(5)): MultivariateGaussian("shared", estimation=estimation)})
    rows = np.where(rng.random(X.shape) < 0.4, np.nan, X)
    with pytest.warns(SingularCovarianceWarning):
        model.fit(X, y)
    assert_same_answers(model, rows)
    without = X[:, [0, 1, 2, 4]]  # only the last column is constant, in every class
    with pytest.warns(SingularCovarianceWarning):
        own = GaussianDiscriminant("own", shrinkage=0.1).fit(without, y)
    assert_same_answers(own, rows[:, [0, 1, 2, 4]])


def test_many_rows_are_scored_a_part_at_a_time():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 3, 60_000)
    X = rng.standard_normal((len(y), 12)) + y[:, None] / 2
    X[rng.random(X.shape) < 0.05] = np.nan
    assert_same_answers(GaussianDiscriminant("own").fit(X[:500], y[:500]), X)


def test_bytes_are_the_same_every_time():
    for name in ("mixed", "averaged", "ensemble-text", "gda-own-mle", "calibrated-isotonic"):
        model = CASES[name].model
        content = model.to_onnx().SerializeToString()
        assert model.to_onnx().SerializeToString() == content
        assert suffice.loads(model.to_bytes()).to_onnx().SerializeToString() == content


def test_versions_that_older_runtimes_read():
    proto = CASES["mixed"].model.to_onnx()
    assert proto.ir_version == 8
    assert {each.domain: each.version for each in proto.opset_import} == {"": 18, "ai.onnx.ml": 3}
    assert (proto.producer_name, proto.producer_version) == ("suffice", suffice.__version__)


def test_a_file(tmp_path):
    case = CASES["mixed"]
    onnx.save(case.model.to_onnx(), tmp_path / "model.onnx")
    assert onnx.load(tmp_path / "model.onnx") == case.model.to_onnx()


def test_wide_models_have_few_nodes_and_bytes():
    rng = np.random.default_rng(7)
    y = np.arange(500) % 50
    X = rng.standard_normal((500, 500)) + rng.standard_normal((50, 500))[y]
    proto = NaiveBayes().fit(X, y).to_onnx()
    assert len(proto.graph.node) < 500
    assert proto.ByteSize() < 1e6
    assert GaussianDiscriminant().fit(X, y).to_onnx().ByteSize() < 5e6
    averaged = suffice.AveragedDependence().fit(X[:, :60], y).to_onnx()
    assert len(averaged.graph.node) < 200
