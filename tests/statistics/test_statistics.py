"""Statistics against brute force and exact fractions; the laws are in tests/families/test_laws.py."""

from fractions import Fraction

import numpy as np
import pytest

from suffice import ClassError, InputError, MergeError, NaiveBayes, kernels
from suffice.statistics import (
    ClassAxis,
    FourthMoments,
    Membership,
    Moments,
    PooledScatter,
    Scatter,
    Sums,
    fourth_moments,
)

KINDS = [Sums, Moments, Scatter, PooledScatter, FourthMoments]


def labelled(labels, codes, **more):
    return Membership(ClassAxis(np.array(labels)), codes=np.asarray(codes), **more)


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((400, 3)) @ rng.standard_normal((3, 3)) + 1e6
    return x, labelled(["a", "b"], rng.integers(0, 2, 400), weights=rng.random(400))


def test_scatter_is_the_weighted_covariance(rows):
    x, members = rows
    own, pooled = Scatter.summarize(x, members), PooledScatter.summarize(x, members)
    for k in range(2):
        here = members.codes == k
        expected = np.cov(x[here], rowvar=False, aweights=members.weights[here], ddof=0) * members.weights[here].sum()
        np.testing.assert_allclose(own.scatter[k], expected, rtol=1e-8)
    np.testing.assert_allclose(pooled.scatter, own.scatter.sum(axis=0), rtol=1e-13)
    np.testing.assert_allclose(own.within()[0], pooled.within()[0], rtol=1e-13)
    np.testing.assert_array_equal(own.scatter, np.swapaxes(own.scatter, 1, 2))


def test_scatter_in_exact_fractions():
    rng = np.random.default_rng(1)
    x = 1e8 + rng.integers(0, 1000, (50, 2)) * 1e-5
    exact = [[Fraction(v) for v in row] for row in x]
    mean = [sum(row[j] for row in exact) / 50 for j in range(2)]
    cross = sum((row[0] - mean[0]) * (row[1] - mean[1]) for row in exact)
    whole = Scatter.summarize(x, labelled(["a"], np.zeros(50, dtype=int)))
    streamed = Scatter.zero(ClassAxis.of(["a"]), 2)
    for i in range(50):
        streamed = streamed.merge(Scatter.summarize(x[i : i + 1], labelled(["a"], [0])))
    for statistic in (whole, streamed):
        value = Fraction(float(statistic.scatter[0, 0, 1])) + Fraction(float(statistic.scatter_low[0, 0, 1]))
        assert float(abs(value / cross - 1)) < 1e-14


def test_fourth_moments(rows):
    x, members = rows
    whole = FourthMoments.summarize(x, members)
    halves = FourthMoments.summarize(x[:150], members.rows(0, 150)).merge(
        FourthMoments.summarize(x[150:], members.rows(150, 400))
    )
    for k in range(2):
        here = members.codes == k
        w, exact = members.weights[here], x[here].astype(np.longdouble)
        z = exact - np.average(exact, axis=0, weights=w)
        for statistic in (whole, halves):
            np.testing.assert_allclose(statistic.cubic[k], (z**2).T @ (w[:, None] * z), atol=1e-7)
            np.testing.assert_allclose(statistic.quartic[k], (z**2).T @ (w[:, None] * z**2), rtol=1e-7)
    exact = x.astype(np.longdouble)
    z = exact - np.average(exact, axis=0, weights=members.weights)
    pooled = whole.pooled()
    np.testing.assert_allclose(pooled.quartic[0], (z**2).T @ (members.weights[:, None] * z**2), rtol=1e-7)


@pytest.mark.parametrize("soft", [False, True])
def test_fourth_moments_of_many_rows(monkeypatch, soft):
    """Products that BLAS sums in several blocks equal the exact ones, also far from zero and with weights."""
    rng = np.random.default_rng(3)
    axis, n = ClassAxis.of([0, 1, 2]), 3000
    codes, weights = rng.integers(0, 3, n), rng.integers(0, 3, n).astype(float)
    x = (rng.standard_normal((n, 5)) + codes[:, None]) * 10.0 ** np.arange(-2, 3) + 1e3
    members = Membership(
        axis, soft=rng.random((n, 3)) if soft else None, codes=None if soft else codes, weights=weights
    )
    exact = FourthMoments.summarize(x, members)
    monkeypatch.setattr(fourth_moments, "EXACT_PRODUCTS", 0)
    found = FourthMoments.summarize(x, members)
    sizes = exact.rounding()
    for name in ("weight", "mean", "scatter", "cubic", "quartic"):
        error = np.abs(found.arrays()[name] - exact.arrays()[name])
        assert (error <= 1e-12 * sizes[name]).all(), name


def test_one_batch_of_fourth_moments_takes_no_merges(monkeypatch):
    """A merge moves all products to a new centre, which costs more than the products of a block of rows."""
    rng = np.random.default_rng(4)
    monkeypatch.setattr(kernels, "add_moved", None)
    FourthMoments.summarize(rng.standard_normal((20_000, 30)), labelled([0, 1], rng.integers(0, 2, 20_000)))


def test_pooled_moments_equal_moments_of_all_rows(rows):
    x, members = rows
    pooled = Moments.summarize(x, members).pooled()
    one = Moments.summarize(x, labelled(["all"], np.zeros(400, dtype=int), weights=members.weights))
    for name in ("weight", "mean", "m2"):
        np.testing.assert_allclose(pooled.arrays()[name], one.arrays()[name], rtol=1e-13)


def test_a_thousand_classes_share_one_matrix():
    x = np.random.default_rng(2).standard_normal((3000, 40))
    codes = np.arange(3000) % 1000
    pooled = PooledScatter.summarize(x, Membership(ClassAxis(np.arange(1000)), codes=codes))
    assert pooled.scatter.shape == (40, 40)
    residual = x - np.array([x[codes == k].mean(axis=0) for k in range(1000)])[codes]
    np.testing.assert_allclose(pooled.scatter, residual.T @ residual, atol=1e-10)


@pytest.mark.parametrize("kind", KINDS)
def test_merge_takes_the_union_of_classes(kind):
    x = np.arange(12.0).reshape(6, 2)
    a = kind.summarize(x[:2], labelled([1, 5], [0, 1]))
    b = kind.summarize(x[2:], labelled([3, 5], [0, 1, 1, 0]))
    both = a.merge(b)
    assert both.classes.labels.tolist() == [1, 3, 5]
    np.testing.assert_array_equal(both.weight if both.weight.ndim == 1 else both.weight[:, 0], [1, 2, 3])


@pytest.mark.parametrize("kind", KINDS)
def test_errors_of_incompatible_statistics(kind):
    one = labelled(["a"], [0])
    a = kind.summarize(np.ones((1, 2)), one)
    with pytest.raises(MergeError, match=r"Cannot merge .* 2 columns .* one of 3"):
        a.merge(kind.summarize(np.ones((1, 3)), one))
    other = Sums if kind is not Sums else Moments
    with pytest.raises(MergeError, match="Cannot merge"):
        a.merge(other.summarize(np.ones((1, 2)), one))
    with pytest.raises(MergeError, match="Cannot remove rows of class 'b': there are none"):
        a.subtract(kind.summarize(np.ones((1, 2)), labelled(["b"], [0])))
    with pytest.raises(MergeError, match="Cannot remove a weight of 2"):
        a.subtract(kind.summarize(np.ones((2, 2)), labelled(["a"], [0, 0])))
    with pytest.raises(InputError, match="at least 0"):
        a.scale(-1.0)


def test_labels_of_different_types_do_not_merge():
    with pytest.raises(ClassError, match="labels of different types"):
        ClassAxis.of([1, 2]).union(ClassAxis.of(["a"]))
    with pytest.raises(ClassError, match="one type"):
        ClassAxis.of(np.array([1, "a", None], dtype=object))


def test_positions_of_unknown_labels():
    axis = ClassAxis.of(["b", "d"])
    assert axis.positions(np.array(["a", "b", "c", "d", "e"])).tolist() == [-1, 0, -1, 1, -1]
    with pytest.raises(ClassError, match="'x' is not a class"):
        axis.position("x")


@pytest.mark.parametrize("kind", [Moments, Scatter, PooledScatter, FourthMoments])
@pytest.mark.parametrize(("size", "words"), [(1e300, "overflow"), (1e-200, "underflow"), (5e-324, "underflow")])
def test_squares_outside_the_range_of_float64(kind, size, words):
    x = np.column_stack([np.arange(6.0), np.arange(6.0) * size])
    with pytest.raises(InputError, match=rf"column 'tiny or huge' .*{words}"):
        kind.summarize(x, labelled([0, 1], [0, 1] * 3), ["fine", "tiny or huge"])


def test_constants_of_any_size_do_not_underflow():
    for value in (0.0, 5e-324, 1e-200, 0.1, 1e300):
        scatter = Scatter.summarize(np.full((5, 1), value), labelled(["a"], [0] * 5))
        assert scatter.scatter[0, 0, 0] == 0
        assert Moments.summarize(np.full((5, 1), value), labelled(["a"], [0] * 5)).m2[0, 0] == 0


@pytest.mark.parametrize("columns", [[0, 1], [1, 0]])
def test_counts_of_whole_and_fractional_columns_together(columns):
    rng = np.random.default_rng(3)
    x = np.column_stack([rng.integers(0, 3, 60), rng.choice([0.25, 0.5, 1.75], 60)])[:, columns]
    y = rng.integers(0, 2, 60)
    model = NaiveBayes("categorical", smoothing=0).fit(x, y)
    for j in (0, 1):
        levels = np.unique(x[:, j])
        table = model.parameters(j)
        np.testing.assert_array_equal(np.asarray(table["level"], dtype=float), levels)
        for k in (0, 1):
            np.testing.assert_allclose(table[f"given {k}"], [np.mean(x[y == k, j] == level) for level in levels])


def test_folds_of_many_rows_are_those_of_each_fold(monkeypatch):
    monkeypatch.setattr("suffice.statistics.scatter_sums.EXACT_PRODUCTS", 0)
    rng = np.random.default_rng(0)
    x, codes, folds = rng.standard_normal((90, 3)) + 100, rng.integers(0, 2, 90), rng.integers(-1, 3, 90)
    members = Membership(ClassAxis.of(["a", "b"]), codes=codes)
    for fold, found in enumerate(PooledScatter.summarize_folds(x, members, folds, 3, list("xyz"))):
        rows = np.flatnonzero(folds == fold)
        expected = PooledScatter.summarize(x[rows], members.take(rows), list("xyz"))
        for name in ("weight", "mean", "scatter"):
            np.testing.assert_allclose(getattr(found, name), getattr(expected, name), rtol=1e-12, atol=1e-12)
