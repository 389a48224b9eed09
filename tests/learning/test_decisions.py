"""Decisions by costs and thresholds."""

import itertools

import numpy as np
import pytest
from sklearn.datasets import load_iris

from suffice import ClassError, InputError, NaiveBayes
from suffice.learning.decisions import cost_matrix, decide, least_cost, over_threshold

CLASSES = ["a", "b", "c"]
P = np.random.default_rng(0).dirichlet([1, 1, 1], size=200)


def test_least_cost_against_brute_force():
    costs = {("a", "b"): 5.0, ("c", "a"): 0.25, ("b", "b"): 0.1}
    matrix = cost_matrix(CLASSES, costs)
    for true, predicted in itertools.product(range(3), repeat=2):
        default = float(true != predicted)
        assert matrix[true, predicted] == costs.get((CLASSES[true], CLASSES[predicted]), default)
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
        (InputError, {"thresholds": {"a": 1.5}}),
        (InputError, {"thresholds": {"a": 0.5}, "costs": {}}),
    ],
)
def test_refused(error, options):
    with pytest.raises(error):
        decide(P, CLASSES, **options)


def test_estimators_decide():
    X, y = load_iris(return_X_y=True)
    model = NaiveBayes().fit(X, y)
    p = model.predict_proba(X)
    assert (model.decide(X) == model.predict(X)).all()
    assert (
        model.decide(X, thresholds={1: 0.01}) == np.where(p[:, 1] >= 0.01, 1, np.where(p[:, 0] > p[:, 2], 0, 2))
    ).all()
    assert (model.decide(X, costs={(1, 2): 1e9, (0, 2): 1e9}) == 2).sum() < (model.predict(X) == 2).sum()
