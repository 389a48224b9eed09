"""Rows that are held out from a model that may have other rows too."""

import numpy as np
import pytest

from suffice import NaiveBayes
from suffice.learning.hold_out import HoldOut
from suffice.statistics import Membership
from suffice.tables import MatrixTable

X, Y = np.random.default_rng(0).normal(size=(60, 2)), np.repeat([0, 1, 2], 20)


@pytest.mark.parametrize("partial", [0, 1, 2])
def test_the_only_row_here_of_a_class_with_more_rows_in_the_model_is_held_out(partial):
    fitted = NaiveBayes().fit(X, Y).fitted_
    here = np.flatnonzero((partial != Y) | (np.arange(60) % 20 == 0))
    members = Membership(fitted.classes, codes=Y[here])
    hold_out = HoldOut(fitted.model, MatrixTable(X[here]), members, 10)
    assert hold_out.only_rows().tolist() == []
    row = int(np.flatnonzero(Y[here] == partial)[0])
    rest = np.delete(np.arange(60), here[row])
    expected = NaiveBayes().fit(X[rest], Y[rest]).predict_log_proba(X[here[row]][None])[0]
    joint = hold_out.joint(fitted)[row]
    np.testing.assert_allclose(joint - np.logaddexp.reduce(joint), expected, rtol=1e-9)


def test_the_only_row_of_a_class_is_not_held_out():
    y = Y.copy()
    y[:19] = 1
    fitted = NaiveBayes().fit(X, y).fitted_
    hold_out = HoldOut(fitted.model, MatrixTable(X), Membership(fitted.classes, codes=y), 10)
    assert hold_out.only_rows().tolist() == [19]
    some = np.arange(19, 60, 2)
    hold_out = HoldOut(fitted.model, MatrixTable(X[some]), Membership(fitted.classes, codes=y[some]), 10)
    assert hold_out.only_rows().tolist() == [0]


@pytest.mark.parametrize(
    ("rows", "weight", "rule"),
    [
        (slice(0, 20), 1.0, "held-out rows"),
        (slice(0, 20), 1e3, "held-out rows"),
        (slice(0, 200), 1e3, "leave-one-out"),
        (slice(0, 3000, 290), 1.0, "held-out rows"),  # one of the 20 rows of the last class
        (slice(2980, 3000, 2), 1.0, "leave-one-out"),  # ten of them
    ],
)
def test_a_small_share_of_each_class_is_held_out_at_once(rows, weight, rule):
    y = np.repeat([0, 1, 0, 1, 2], [745, 745, 745, 745, 20])
    X = np.random.default_rng(0).standard_normal((3000, 2)) + y[:, None]
    weights = np.full(3000, weight)
    fitted = NaiveBayes("gaussian").fit(X, y, weights).fitted_
    members = Membership(fitted.classes, codes=y[rows], weights=weights[rows])
    hold_out = HoldOut(fitted.model, MatrixTable(X[rows]), members, 10)
    parts = hold_out.parts(fitted, np.arange(len(members)))
    assert hold_out.name == rule
    assert np.isfinite(parts).all()
