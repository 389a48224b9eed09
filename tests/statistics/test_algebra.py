"""Columns, classes, weights and rounding of statistics against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from suffice import InputError, MergeError, kernels
from suffice.statistics import (
    CellSums,
    ClassAxis,
    Counts,
    CountVectors,
    FourthMoments,
    JointCounts,
    Membership,
    Moments,
    PooledScatter,
    RowMoments,
    Scatter,
    Sums,
)
from suffice.statistics.weights import cell_weights, weighted_counts
from suffice.tables import Coded, CodedColumn
from suffice.tables.levels import coded_numbers

NUMERIC = [Sums, CellSums, CountVectors, Moments, RowMoments, Scatter, PooledScatter, FourthMoments]
CODED = [Counts, JointCounts]
RNG = np.random.default_rng(0)
X = RNG.integers(0, 4, (60, 3)).astype(float)
WEIGHTS = RNG.random(60) * 10.0 ** RNG.integers(-3, 4, 60)
MEMBERS = Membership(ClassAxis.of(["a", "b"]), codes=RNG.integers(0, 2, 60), weights=WEIGHTS)


def rows_for(kind, x):
    if kind in CODED:
        return Coded(len(x), tuple(CodedColumn(*coded_numbers(column)) for column in x.T))
    return x


def summarize(kind, x, members):
    return kind.summarize(rows_for(kind, x), members)


def assert_equal(a, b):
    assert a.axes() == b.axes()
    for name, values in a.arrays().items():
        if not name.endswith("_low"):
            size = np.abs(b.arrays()[name]).max(initial=0.0)
            np.testing.assert_allclose(values, b.arrays()[name], rtol=0, atol=1e-14 * size, err_msg=name)


@pytest.mark.parametrize("kind", [*NUMERIC, *CODED])
def test_columns_in_another_order(kind):
    reordered = summarize(kind, X, MEMBERS).columns([2, 0, 1])
    assert_equal(reordered, summarize(kind, np.ascontiguousarray(X[:, [2, 0, 1]]), MEMBERS))
    if kind is RowMoments:
        assert_equal(reordered.rows, RowMoments.summarize(X[:, [2, 0, 1]], MEMBERS).rows)
    for wrong in ([0, 0, 1], [0, 3], [-1]):
        with pytest.raises(InputError, match="distinct positions of columns from 0 to 2"):
            reordered.columns(wrong)


@pytest.mark.parametrize("kind", [kind for kind in [*NUMERIC, *CODED] if kind is not CountVectors])
def test_some_of_the_columns(kind):
    some = summarize(kind, X, MEMBERS).columns([2, 0])
    assert_equal(some, summarize(kind, np.ascontiguousarray(X[:, [2, 0]]), MEMBERS))


def test_columns_of_whole_rows():
    with pytest.raises(InputError, match=r"Cannot select 2 of 3 columns.*whole rows"):
        CountVectors.summarize(X, MEMBERS).columns([0, 1])
    holes = X.copy()
    holes[0, 2] = np.nan
    table = summarize(JointCounts, holes, MEMBERS)
    assert_equal(table.columns([1, 2, 0]), summarize(JointCounts, holes[:, [1, 2, 0]], MEMBERS))
    with pytest.raises(InputError, match="joint table with missing values"):
        table.columns([0, 1])


@pytest.mark.parametrize("kind", [CellSums, Counts, Moments, RowMoments])
def test_concatenated_columns(kind):
    few = Membership(ClassAxis.of(["b"]), codes=np.zeros(60, dtype=np.int64), weights=WEIGHTS)
    parts = [summarize(kind, X[:, :2], MEMBERS), summarize(kind, X[:, 2:], few)]
    joined = type(parts[0]).concatenate_columns(parts)
    assert joined.shape[0] == 3
    assert joined.classes.labels.tolist() == ["a", "b"]
    assert_equal(joined.columns([0, 1]), parts[0])
    assert_equal(joined.columns([2]), parts[1].on(joined.classes))


@pytest.mark.parametrize("kind", [Sums, Scatter, CountVectors])
def test_statistics_of_whole_rows_do_not_concatenate(kind):
    parts = [summarize(kind, X[:, :1], MEMBERS), summarize(kind, X[:, 1:], MEMBERS)]
    with pytest.raises(MergeError, match="whole rows"):
        kind.concatenate_columns(parts)


@pytest.mark.parametrize("kind", [*NUMERIC, *CODED])
def test_taking_classes(kind):
    both = summarize(kind, X, MEMBERS)
    here = MEMBERS.codes == 1
    alone = Membership(ClassAxis.of(["b"]), codes=np.zeros(here.sum(), dtype=np.int64), weights=WEIGHTS[here])
    if kind is PooledScatter:
        with pytest.raises(MergeError, match="shared scatter matrix"):
            both.taking([1])
        both = both.subtract(summarize(kind, X[~here], MEMBERS.take(~here)))
    for at in ([1], np.array([False, True])):
        assert_equal(both.taking(at), summarize(kind, X[here], alone))
    assert_equal(both.emptied(np.array([True, False])).taking([1]), both.taking([1]))


@pytest.mark.parametrize("kind", [*NUMERIC, *CODED])
def test_removing_all_rows_leaves_zero(kind):
    whole = summarize(kind, X, MEMBERS)
    for i in np.random.default_rng(1).permutation(60).reshape(-1, 3):
        whole = whole.subtract(summarize(kind, X[i], MEMBERS.take(i)))
    for name, values in whole.arrays().items():
        assert not values.any(), name


def test_sums_of_weights_are_exact():
    codes = RNG.integers(0, 3, 5000)
    weights = RNG.random(5000) * 10.0 ** RNG.integers(-8, 9, 5000)
    high, low = weighted_counts(codes, weights, 4)
    for k in range(4):
        exact = sum((Fraction(w) for w in weights[codes == k]), Fraction(0))
        assert abs(Fraction(high[k]) + Fraction(low[k]) - exact) <= abs(exact) / 2**75
    members = Membership(ClassAxis.of([0, 1, 2]), codes=codes, weights=weights)
    missing = RNG.random((5000, 2)) < [0.5, 0.0]
    high, low = cell_weights(members, 2, missing)
    exact = sum(Fraction(w) for w in weights[(codes == 1) & ~missing[:, 0]])
    assert abs(Fraction(high[1, 0]) + Fraction(low[1, 0]) - exact) <= exact / 2**70


@pytest.mark.parametrize("offset", [0.0, 1e8])
def test_moments_after_removing_outliers_against_exact_fractions(offset):
    x = (offset + RNG.standard_normal((40, 1))) * 1.0
    x[:4] += 1e9
    weights = RNG.random(40)
    members = Membership(ClassAxis.of([0]), codes=np.zeros(40, dtype=np.int64), weights=weights)
    rest = [(Fraction(w), Fraction(float(v))) for w, v in zip(weights[4:], x[4:, 0], strict=True)]
    size = sum(w for w, _ in rest)
    mean = sum(w * v for w, v in rest) / size
    m2 = sum(w * (v - mean) ** 2 for w, v in rest)
    for kind in (Moments, Scatter, PooledScatter):
        left = kind.summarize(x, members).subtract(kind.summarize(x[:4], members.rows(0, 4)))
        square = "m2" if kind is Moments else "scatter"
        values = {name: Fraction(float(array.ravel()[0])) for name, array in left.arrays().items()}
        assert abs(float((values["weight"] + values["weight_low"]) / size - 1)) < 1e-22
        assert abs(float(values["mean"] + values["mean_low"] - mean)) < 1e-12
        assert abs(float((values[square] + values[f"{square}_low"]) / m2 - 1)) < 1e-9


def test_exact_kernels_in_fractions():
    x = np.column_stack([1e8 + RNG.standard_normal(30), RNG.standard_normal(30) * 1e-5, 1e6 * RNG.random(30)])
    codes, weights = RNG.integers(0, 2, 30), RNG.random(30)
    moments = kernels.class_moments(x, 2, codes=codes, weights=weights)
    total, total_low, square, square_low = kernels.exact_moments(
        x, moments.mean, moments.mean_low, codes=codes, weights=weights
    )
    scatter, scatter_low = np.zeros((2, 2, 3, 3))
    kernels.exact_scatter(x, moments.mean, moments.mean_low, scatter, scatter_low, codes=codes, weights=weights)
    for k in range(2):
        centre = [Fraction(float(moments.mean[k, j])) + Fraction(float(moments.mean_low[k, j])) for j in range(3)]
        z = [
            (Fraction(w), [Fraction(float(v)) - c for v, c in zip(row, centre, strict=True)])
            for w, row in zip(weights[codes == k].tolist(), x[codes == k], strict=True)
        ]
        for i in range(3):
            size = sum(w * abs(row[i]) for w, row in z)
            exact = sum(w * row[i] for w, row in z)
            assert abs(Fraction(float(total[k, i])) + Fraction(float(total_low[k, i])) - exact) <= size / 2**95
            exact = sum(w * row[i] ** 2 for w, row in z)
            assert abs(Fraction(float(square[k, i])) + Fraction(float(square_low[k, i])) - exact) <= exact / 2**95
            for j in range(i + 1):
                exact = sum(w * row[i] * row[j] for w, row in z)
                size = sum(w * abs(row[i] * row[j]) for w, row in z)
                value = Fraction(float(scatter[k, i, j])) + Fraction(float(scatter_low[k, i, j]))
                assert abs(value - exact) <= size / 2**95


def test_removing_most_of_a_large_batch():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((300_000, 4)) + 1e6
    members = Membership(ClassAxis.of([0, 1]), codes=rng.integers(0, 2, 300_000), weights=rng.random(300_000))
    for kind in (Moments, PooledScatter):
        whole, half = kind.summarize(x, members), kind.summarize(x[:250_000], members.rows(0, 250_000))
        rest = kind.summarize(x[250_000:], members.rows(250_000, 300_000))
        left = whole.subtract(half)
        name = "m2" if kind is Moments else "scatter"
        size = np.abs(rest.arrays()[name]).max()
        np.testing.assert_allclose(left.arrays()[name], rest.arrays()[name], rtol=0, atol=1e-12 * size)
        empty = left.subtract(rest)
        assert not empty.arrays()[name].any()
        assert not empty.arrays()["weight"].any()
