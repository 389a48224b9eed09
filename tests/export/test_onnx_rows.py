"""Graphs of ONNX for unusual rows: none, one, with cells that a model refuses, far from all classes, rounded."""

import numpy as np
import pandas as pd
import pytest

from every_estimator import ESTIMATORS, example, take
from graph_answers import answers, assert_same_answers
from suffice import AveragedDependence, GaussianDiscriminant, NaiveBayes, TextNaiveBayes
from suffice.exceptions import ImpossibleRowsWarning, InputError
from suffice.families import Binned, Categorical, Gaussian, Multinomial

NO_LABEL = np.iinfo(np.int64).min
WITH_GRAPH = sorted(set(ESTIMATORS) - {"text_slots"})


def labels(rng, n=90):
    return np.concatenate([np.arange(3), rng.integers(0, 3, n - 3)])


@pytest.mark.parametrize("name", WITH_GRAPH)
def test_no_row_and_one_row(name):
    model, X, y = example(name, np.random.default_rng(1))
    model.fit(X, y)
    label, p, logs = answers(model, take(X, slice(0, 0)))
    assert (label.shape, p.shape, logs.shape) == ((0,), (0, 3), (0, 3))
    assert_same_answers(model, take(X, slice(5, 6)))


@pytest.mark.parametrize("name", ["shared", "naive", "mixed", "averaged", "BernoulliNB", "CategoricalNB", "PoissonNB"])
@pytest.mark.parametrize("value", [np.inf, -np.inf, -1.0, 0.5, 2.0**53, 1e15, np.nan])
def test_a_row_that_the_model_refuses_has_no_label_and_others_have_theirs(name, value):
    model, X, y = example(name, np.random.default_rng(2))
    model.fit(X, y)
    rows = take(X, slice(0, 6)).copy()
    if isinstance(rows, pd.DataFrame):
        rows.loc[2, "visits"] = value
    else:
        rows = rows.astype(float)
        rows[2, 1] = value
    try:
        model.predict_proba(rows)
    except InputError:
        pass
    else:
        assert_same_answers(model, rows)
        return
    label, p, logs = answers(model, rows)
    assert label[2] == NO_LABEL
    assert np.isnan([p[2], logs[2]]).all()
    others = [0, 1, 3, 4, 5]
    np.testing.assert_array_equal(label[others], model.predict(take(rows, others)))
    np.testing.assert_allclose(p[others], model.predict_proba(take(rows, others)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("unseen", ["ignore", "share", "error"])
@pytest.mark.parametrize("missing", ["ignore", "category"])
def test_levels_that_the_model_does_not_know(unseen, missing):
    X = pd.DataFrame({"size": ["S", "M", "L", None] * 3, "code": [1.0, 2, 3, 4] * 3})
    family = Categorical(unseen=unseen, missing=missing)
    model = NaiveBayes({"size": family, "code": family}).fit(X, np.arange(12) % 2)
    rows = pd.DataFrame({"size": [None, "S", "XXL", "M"], "code": [1.0, np.nan, 2, 99]})
    if unseen != "error":
        assert_same_answers(model, rows)
        return
    assert_same_answers(model, rows[:2])
    with pytest.raises(InputError):
        model.predict(rows)
    assert answers(model, rows)[0].tolist() == [*model.predict(rows[:2]), NO_LABEL, NO_LABEL]


@pytest.mark.parametrize("impossible", ["error", "prior", "nan"])
def test_rows_that_are_impossible_in_every_class(impossible):
    X = np.array([[0.0, 0], [0, 1], [1, 0], [1, 0]])
    model = NaiveBayes("bernoulli", estimation="mle", impossible=impossible).fit(X, [4, 4, 5, 5])
    rows = np.array([[1.0, 1], [0, 1], [1, np.nan]])
    if impossible != "error":
        with pytest.warns(ImpossibleRowsWarning):
            want, likeliest = model.predict_proba(rows), model.predict(rows)
        label, p, _ = answers(model, rows)
        np.testing.assert_array_equal(p, want)
        np.testing.assert_array_equal(label, likeliest)
        return
    label, p, _ = answers(model, rows)
    assert label.tolist() == [NO_LABEL, 4, 5]
    assert np.isnan(p[0]).all()


@pytest.mark.parametrize("precision", ["double", "float"])
def test_posteriors_of_rows_far_from_all_classes(precision):
    rng = np.random.default_rng(3)
    y = labels(rng)
    X = rng.standard_normal((len(y), 4)) + y[:, None]
    rows = np.array([[500.0, -500, 500, 500], [-500, 500, 1, 1], [500, np.nan, -500, np.nan], [1, 1, 1, 1]])
    for model in (NaiveBayes(), GaussianDiscriminant("own"), GaussianDiscriminant()):
        model.fit(X, y)
        assert_same_answers(model, rows, precision=precision)
        assert model.predict_joint_log_proba(rows).min() < -1e5


def test_texts_of_many_words():
    texts = ["the cheap pills", "lunch over the hill", "cheap lunch"] * 4
    model = TextNaiveBayes().fit(texts, [0, 1, 1] * 4)
    rows = ["cheap " * 40_000, "the lunch " * 30_000 + "pills", "", "unknown words " * 5]
    assert model.predict_joint_log_proba(rows[:1]).max() < -1e4
    assert_same_answers(model, rows)


# ---------------------------------------------------------------------- rounding to float32


@pytest.mark.parametrize("offset", [0.0, 1e4, 1e8])
@pytest.mark.parametrize("as_frame", [False, True])
@pytest.mark.parametrize(
    "model",
    [
        NaiveBayes(),
        NaiveBayes(Gaussian(variance="shared")),
        NaiveBayes("histogram"),
        NaiveBayes("binned"),
        NaiveBayes(estimation="bayes"),
        GaussianDiscriminant(),
        GaussianDiscriminant("own"),
        AveragedDependence(),
    ],
    ids=repr,
)
def test_float_with_means_far_from_zero(model, as_frame, offset):
    rng = np.random.default_rng(4)
    y = labels(rng)
    X = rng.standard_normal((len(y), 3)) + y[:, None] + [0, offset, -offset]
    X = pd.DataFrame(X, columns=["a", "b", "c"]) if as_frame else X
    model.fit(X, y)
    assert_same_answers(model, X, precision="float")


def test_columns_that_float_would_round_too_much_are_double():
    rng = np.random.default_rng(4)
    y = labels(rng)
    X = pd.DataFrame({"a": rng.standard_normal(len(y)) + y})
    X["b"], X["c"] = X["a"] * 1e-6, X["a"] + 1e8
    types = {"a": 1, "b": 1, "c": 11}
    for model in (NaiveBayes(), GaussianDiscriminant(shape="diagonal")):
        proto = model.fit(X, y).to_onnx("float")
        assert {each.name: each.type.tensor_type.elem_type for each in proto.graph.input} == types


@pytest.mark.parametrize("unit", [1e-100, 1e-44, 1e-30, 1e30, 1e39, 1e100])
@pytest.mark.parametrize(
    "model",
    [
        *(NaiveBayes(family) for family in ("gaussian", "log_normal", "gamma", "exponential", "histogram", "binned")),
        *(NaiveBayes(family, estimation="bayes") for family in ("gaussian", "log_normal", "gamma", "exponential")),
        GaussianDiscriminant(),
        GaussianDiscriminant("own"),
        AveragedDependence(),
    ],
    ids=repr,
)
def test_numbers_too_small_or_too_large_for_float_are_double(model, unit):
    rng = np.random.default_rng(8)
    y = labels(rng)
    X = pd.DataFrame(rng.gamma(3, size=(len(y), 2)) * (1 + y[:, None]), columns=["a", "b"])
    X["a"] *= unit
    assert_same_answers(model.fit(X, y), X, precision="float")
    types = {each.name: each.type.tensor_type.elem_type for each in model.to_onnx("float").graph.input}
    assert types["a"] == (types["b"] if 1e-37 < unit < 1e37 else 11)
    assert types["b"] == 1 or "histogram" in repr(model)  # knots of a histogram are close


@pytest.mark.parametrize("unit", [1e-100, 1e-44, 1e39, 1e100])
def test_levels_too_small_or_too_large_for_float_are_double(unit):
    rng = np.random.default_rng(9)
    y = labels(rng)
    X = (unit * (y + rng.integers(0, 2, len(y))))[:, None]
    assert_same_answers(NaiveBayes("categorical").fit(X, y), X, precision="float")


@pytest.mark.parametrize("family", ["poisson", "geometric"])
@pytest.mark.parametrize("estimation", ["map", "bayes"])
def test_float_of_large_counts(family, estimation):
    rng = np.random.default_rng(5)
    y = labels(rng)
    X = np.round(1e8 + 1e4 * (rng.standard_normal((len(y), 2)) + y[:, None]))
    model = NaiveBayes(family, estimation=estimation).fit(X, y)
    p = answers(model, X, precision="float")[1]
    np.testing.assert_allclose(p, model.predict_proba(X), rtol=0, atol=1e-5)


def test_float_of_limits_and_levels():
    """Limits and levels are rounded as cells are, so a cell on a limit or a level stays on it."""
    rng = np.random.default_rng(6)
    y = labels(rng)
    cuts = (0.1, 0.2, 0.3)
    X = np.array([0.05, *cuts, 0.4])[rng.integers(0, 5, (len(y), 2))]
    assert_same_answers(NaiveBayes({0: Binned(cuts), 1: Binned(cuts)}).fit(X, y), X, precision="float")
    assert_same_answers(NaiveBayes("categorical").fit(X, y), X, precision="float")
    codes = 123_456_789.0 + rng.integers(0, 3, (len(y), 1))  # float32 would make them equal
    model = NaiveBayes("categorical").fit(codes, y)
    assert model.to_onnx("float").graph.input[0].type.tensor_type.elem_type == 11
    assert_same_answers(model, codes, precision="float")


def test_float_of_points_in_time():
    rng = np.random.default_rng(7)
    y = labels(rng)
    days = pd.to_timedelta(rng.integers(0, 60, len(y)) + 30 * y, unit="D")
    X = pd.DataFrame({"when": pd.Timestamp("2024-01-01") + days, "for": days})
    assert_same_answers(NaiveBayes().fit(X, y), X, precision="float")


def test_counts_of_a_multinomial_distribution_may_not_be_missing():
    X = np.array([[1.0, 2], [3, 0], [0, 5]])
    model = NaiveBayes({(0, 1): Multinomial()}).fit(X, ["a", "b", "b"])
    with pytest.raises(InputError):
        model.predict_proba([[np.nan, 1]])
    label, p, _ = answers(model, np.array([[np.nan, 1], [1, 1], [1.5, 1]]))
    assert label.tolist() == ["", model.predict([[1, 1]])[0], ""]
    assert np.isnan(p).all(axis=1).tolist() == [True, False, True]
