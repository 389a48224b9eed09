"""Learning curves: nested, stratified subsets, and the same points as a loop of fits."""

from functools import partial

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB

from suffice import GaussianDiscriminant, InputError, NaiveBayes
from suffice.comparison import compare
from suffice.comparison.curves import checked_sizes, nested_order, stratified

textbook_discriminant = partial(GaussianDiscriminant, estimation="mle")
textbook_bayes = partial(NaiveBayes, estimation=None)


def test_every_prefix_is_stratified_and_has_two_rows_of_each_class():
    rng = np.random.default_rng(0)
    codes = rng.permutation(np.repeat([0, 1, 2], [700, 260, 40]))
    rows = np.flatnonzero(rng.random(1000) < 0.8)
    order = nested_order(codes, rows, rng)
    assert sorted(order) == sorted(rows)
    share = np.bincount(codes[rows]) / len(rows)
    for size in (6, 7, 20, 100, 300, len(rows)):
        count = np.bincount(codes[order[:size]], minlength=3)
        assert count.min() >= 2
        assert (np.abs(count - size * share) <= 3).all()


def test_orders_are_random():
    codes, rows = np.repeat([0, 1], 50), np.arange(100)
    rng = np.random.default_rng(0)
    first = {tuple(sorted(nested_order(codes, rows, rng)[:4])) for _ in range(200)}
    assert len(first) > 190
    assert {row for each in first for row in each} == set(range(100))


def test_a_class_of_one_row_comes_first():
    codes = np.array([0] * 30 + [1])
    assert 30 in nested_order(codes, np.arange(31), np.random.default_rng(0))[:3]


@pytest.mark.parametrize(
    ("n", "classes", "expected"),
    [
        (455, 2, [10, 20, 40, 80, 160, 320, 455]),
        (16_000, 2, [10, 30, 90, 270, 810, 2430, 7290, 16_000]),
        (120, 3, [10, 20, 40, 80, 120]),
        (1280, 2, [10, 20, 40, 80, 160, 320, 640, 1280]),  # a factor of 2 reaches exactly all rows
        (9, 2, [9]),
        (400, 10, [20, 40, 80, 160, 320, 400]),
        (3, 2, []),
    ],
)
def test_sizes_grow_by_a_factor(n, classes, expected):
    assert checked_sizes(None, n, classes) == expected


@pytest.mark.parametrize("sizes", [[3], [10, 10_000], []])
def test_invalid_sizes(sizes):
    with pytest.raises(InputError, match="sizes must be between 4") as caught:
        checked_sizes(sizes, 100, 2)
    assert caught.value.argument == "sizes"


def test_points_and_scores_equal_those_of_separate_fits():
    # The first is fitted in one pass for all folds, the second by scikit-learn, fold by fold.
    X, y = load_wine(return_X_y=True)
    models = {"ours": textbook_bayes(), "theirs": GaussianNB(var_smoothing=0.0)}
    found = compare(X, y, models=models, cv=2, sizes=[30, 80], repeats=3)
    for score in ("log_loss", "accuracy"):
        here, there = (getattr(found.curves, score)[name] for name in models)
        np.testing.assert_allclose(here, there, atol=1e-6)
    ours, theirs = (next(each for each in found.results if each.model == name) for name in models)
    assert ours.log_loss == pytest.approx(theirs.log_loss, abs=1e-6)
    assert ours.accuracy == theirs.accuracy


def test_cross_validated_scores_by_hand():
    X, y = load_wine(return_X_y=True)
    found = compare(X, y, models={"theirs": GaussianNB()}, repeats=0, cv=4, random_state=7)
    probability = np.empty((len(y), 3))
    for train, test in stratified(y, 4, 7):
        assert not set(train) & set(test)
        probability[test] = GaussianNB().fit(X[train], y[train]).predict_proba(X[test])
    assert next(each for each in found.results if each.model == "theirs").log_loss == pytest.approx(
        log_loss(y, probability), rel=1e-12
    )
    assert found.curves is None
    assert found.n_folds == 4


def test_the_same_seed_gives_the_same_scores():
    X, y = load_wine(return_X_y=True)
    models = {"shared": GaussianDiscriminant()}
    a, b, c = (compare(X, y, models=models, cv=2, sizes=[40], repeats=1, random_state=seed) for seed in (1, 1, 2))
    assert np.array_equal(a.curves.log_loss["shared"], b.curves.log_loss["shared"])
    assert not np.array_equal(a.curves.log_loss["shared"], c.curves.log_loss["shared"])


def test_a_model_that_cannot_be_fitted_has_no_point_and_a_reason():
    X, y = load_wine(return_X_y=True)
    models = {"own": textbook_discriminant("own"), "shared": textbook_discriminant()}
    found = compare(X, y, models=models, sizes=[12, 120], repeats=2)
    assert np.isnan(found.curves.points("own")[0][0])
    assert np.isfinite(found.curves.points("own")[0][1])
    assert np.isfinite(found.curves.points("shared")[0]).all()
    assert "rank" in found.curves.reasons["own"][12]
    assert 120 not in found.curves.reasons["own"]
    with pytest.raises(InputError, match="score must be 'log_loss' or 'accuracy'; got 'brier'"):
        found.curves.points("own", "brier")
    assert any(
        "own could not be fitted in some draws of 12 rows: The covariance of class" in each for each in found.notes
    )
    listing = found.curves.listing
    assert listing["rows"] == [12, 120] * 3
    assert listing["model"][:2] == ["own", "own"]


def test_progress_counts_to_the_end():
    X, y = load_wine(return_X_y=True)
    steps = []
    compare(X, y, models={"nb": NaiveBayes()}, cv=2, sizes=[40, 80], repeats=2, progress=lambda *at: steps.append(at))
    assert steps == [(i + 1, 6) for i in range(6)]
