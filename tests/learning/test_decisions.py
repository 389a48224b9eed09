"""Decisions by costs and thresholds."""

import itertools
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_iris

from suffice import ClassError, InputError, NaiveBayes, SufficeWarning
from suffice.families import Gaussian
from suffice.learning.decisions import cost_matrix, decide, least_cost, over_threshold
from suffice.statistics import ClassAxis

LABELS = ["a", "b", "c"]
CLASSES = ClassAxis.of(LABELS)
P = np.random.default_rng(0).dirichlet([1, 1, 1], size=200)


def test_least_cost_against_brute_force():
    costs = {("a", "b"): 5.0, ("c", "a"): 0.25, ("b", "b"): 0.1}
    matrix = cost_matrix(CLASSES, costs)
    for true, predicted in itertools.product(range(3), repeat=2):
        default = float(true != predicted)
        assert matrix[true, predicted] == costs.get((LABELS[true], LABELS[predicted]), default)
    expected = [min(range(3), key=lambda j, p=p: sum(p[i] * matrix[i, j] for i in range(3))) for p in P]
    assert decide(P, CLASSES, costs=costs).tolist() == expected
    assert least_cost(P, matrix).tolist() == expected


def test_equal_costs_give_the_most_probable_class():
    assert (decide(P, CLASSES, costs={}) == P.argmax(axis=1)).all()
    assert (decide(P, CLASSES) == P.argmax(axis=1)).all()


def test_thresholds():
    found = decide(P, CLASSES, thresholds={"c": 0.2})
    assert (found == np.where(P[:, 2] >= 0.2, 2, P[:, :2].argmax(axis=1))).all()
    found = decide(P, CLASSES, thresholds={"a": 0.9})
    assert (found == np.where(P[:, 0] >= 0.9, 0, 1 + P[:, 1:].argmax(axis=1))).all()
    half = over_threshold(P, np.full(3, 0.5))
    assert (half == P.argmax(axis=1)).all()
    several = over_threshold(np.array([[0.3, 0.3, 0.4]]), np.array([0.1, 0.2, np.nan]))
    assert several.tolist() == [0]
    assert over_threshold(np.array([[0.2, 0.8], [0.0, 1.0]]), np.array([0.2, np.nan])).tolist() == [0, 1]
    assert over_threshold(np.array([[0.0, 1.0], [0.3, 0.7]]), np.array([0.0, np.nan])).tolist() == [0, 0]


@pytest.mark.parametrize(
    ("error", "options"),
    [
        (ClassError, {"costs": {("a", "d"): 1.0}}),
        (ClassError, {"thresholds": {"d": 0.5}}),
        (InputError, {"costs": {"a": 1.0}}),
        (InputError, {"costs": {("a", "b"): np.inf}}),
        (InputError, {"costs": {("a", "b"): "5"}}),
        (InputError, {"costs": {("a", "b"): None}}),
        (InputError, {"costs": [[0, 1], [1, 0]]}),
        (ClassError, {"costs": {("a", 1): 1.0}}),
        (InputError, {"thresholds": {"a": 1.5}}),
        (InputError, {"thresholds": {"a": "0.5"}}),
        (InputError, {"thresholds": {"a": np.nan}}),
        (InputError, {"thresholds": 0.5}),
        (InputError, {"thresholds": {"a": 0.5}, "costs": {}}),
    ],
)
def test_refused(error, options):
    with pytest.raises(error) as raised:
        decide(P, CLASSES, **options)
    assert len(options) > 1 or raised.value.argument == next(iter(options))


def test_a_class_that_is_spelled_wrong():
    with pytest.raises(ClassError, match="Did you mean 'spam'"):
        decide(P[:, :2], ClassAxis.of(["ham", "spam"]), thresholds={"spma": 0.5})
    with pytest.raises(ClassError, match="Its classes are 1, 2"):
        decide(P[:, :2], ClassAxis.of([1, 2]), thresholds={"1": 0.5})


def test_estimators_decide():
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes().fit(X, y)
    p = model.predict_proba(X)
    assert (model.decide(X) == model.predict(X)).all()
    assert (
        model.decide(X, thresholds={1: 0.01}) == np.where(p[:, 1] >= 0.01, 1, np.where(p[:, 0] > p[:, 2], 0, 2))
    ).all()
    assert (model.decide(X, costs={(1, 2): 1e9, (0, 2): 1e9}) == 2).sum() < (model.predict(X) == 2).sum()


@pytest.mark.parametrize("calibrate", [True, "isotonic"])
@pytest.mark.parametrize("prior", [None, {"a": 0.9, "b": 0.1}])
def test_thresholds_out_of_reach_warn(calibrate, prior):
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b"], 100)
    X = rng.normal(size=(200, 2)) + 3.0 * (y == "b")[:, None]
    X[:5] += 6.0  # rows that resemble the other class
    model = NaiveBayes(Gaussian(variance="shared"), calibrate=calibrate).fit(X, y)
    model = model if prior is None else model.with_prior(prior)
    far = model.predict_proba([[300.0, 300.0]])[0, 1]
    highest = model.calibration_.highest(model.fitted_.classes, model.fitted_.estimate.prior)[1]
    assert far == pytest.approx(highest, rel=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.decide(X, thresholds={"b": 0.999 * highest})
    assert highest < 1
    with pytest.warns(SufficeWarning, match="No row reaches the threshold .* of class 'b'.* is at most 0"):
        assert (model.decide(X, thresholds={"b": 0.5 + highest / 2}) == "a").all()


def test_a_threshold_of_a_class_with_prior_zero_warns():
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes(calibrate=True).fit(X, y).with_prior({0: 0.5, 1: 0.5, 2: 0.0})
    with pytest.warns(SufficeWarning, match="of class 2: .* is at most 0"):
        assert (model.decide(X, thresholds={2: 0.5}) < 2).all()


@pytest.mark.filterwarnings("ignore::suffice.exceptions.ImpossibleRowsWarning")
@pytest.mark.parametrize("calibrate", [False, True])
def test_rows_of_unknown_probabilities_get_the_class_of_the_prior(calibrate):
    X = np.array([["u", "p"], ["u", "p"], ["v", "q"], ["v", "q"], ["v", "q"]] * 4)
    y = ["a", "a", "b", "b", "b"] * 4
    model = NaiveBayes("categorical", estimation="mle", impossible="nan", calibrate=calibrate).fit(X, y)
    rows = np.array([["u", "p"], ["u", "q"], ["v", "q"]])
    assert np.isnan(model.predict_proba(rows)[1]).all()
    for options in ({}, {"costs": {("a", "b"): 2.0}}, {"thresholds": {"a": 0.9}}, {"thresholds": {"b": 0.9}}):
        assert model.decide(rows, **options).tolist() == model.predict(rows).tolist() == ["a", "b", "b"]
