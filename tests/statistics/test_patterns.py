"""Patterns of missing cells, and the bound on their number."""

import numpy as np
import pytest

from suffice import InputError, MergeError
from suffice.statistics import ClassAxis, Membership, PatternScatter, PooledScatter, Scatter, pattern_scatter
from suffice.statistics.patterns import coarsened, distinct_patterns, n_levels
from suffice.testing import assert_same

AXIS = ClassAxis.of(["a", "b"])


def rows(seed, n, d, share=0.3):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) + 1e3
    x[rng.random(x.shape) < share] = np.nan
    return x, rng.integers(0, 2, n)


def summarize(x, codes, kind=PooledScatter):
    return PatternScatter.summarize(x, Membership(AXIS, codes=codes), kind)


@pytest.mark.parametrize("d", [1, 2, 5, 7, 8])
def test_each_level_is_a_function_of_the_one_before(d):
    patterns = np.array([[bool(i >> j & 1) for j in range(d)] for i in range(2**d)])
    before, zeros = patterns, np.zeros(len(patterns), dtype=int)
    for level in range(1, n_levels(d) + 1):
        after = coarsened(patterns, level)
        assert (after <= before).all()
        _, old = distinct_patterns(before, zeros)
        _, pair = distinct_patterns(after, old)
        assert pair.max() == old.max()  # one new pattern for each old one
        before = after
    assert set(before.sum(axis=1).tolist()) <= {0, d}


@pytest.mark.parametrize("kind", [Scatter, PooledScatter])
def test_the_bound_does_not_depend_on_order_or_batches(monkeypatch, kind):
    monkeypatch.setattr(pattern_scatter, "most_cells", lambda d: 12)
    x, codes = rows(0, 300, 6)
    whole = summarize(x, codes, kind)
    assert whole.level > 0
    assert 0 < len(whole.codes) <= 12
    order = np.random.default_rng(1).permutation(300)
    total = summarize(x[:0], codes[:0], kind)
    for at in np.split(order, [1, 2, 40, 200]):
        total = total.merge(summarize(x[at], codes[at], kind))
    assert total.level == whole.level
    assert_same(total, whole, "batches")
    part = summarize(x[:50], codes[:50], kind)
    rest = whole.subtract(part)
    assert_same(rest, summarize(x[50:], codes[50:], kind).at_level(whole.level), "subtract", beside=whole)


def test_cells_are_lost_only_from_rows_with_many_holes(monkeypatch):
    monkeypatch.setattr(pattern_scatter, "most_cells", lambda d: 60)
    x, codes = rows(2, 2000, 8, 0.2)
    statistic = summarize(x, codes)
    few = np.isnan(x).sum(axis=1) == 1
    singles = statistic.observed.sum(axis=1) == 7
    assert statistic.weight[singles].sum() == few.sum()


def test_rows_without_a_cell_or_a_weight_are_not_there():
    x = np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, np.nan]])
    members = Membership(AXIS, codes=np.array([0, 0, 1]), weights=np.array([2.0, 1.0, 0.0]))
    found = PatternScatter.summarize(x, members, Scatter)
    assert found.weight.tolist() == [2.0]
    assert found.codes.tolist() == [0]
    assert found.class_weights().tolist() == [2.0, 0.0]


def test_rows_that_were_not_there_cannot_be_removed():
    x, codes = rows(3, 20, 3)
    whole = summarize(x, codes)
    other = np.array([[np.nan, 5.0, np.nan]])
    alone = whole.taking_cells(np.flatnonzero(~(whole.observed == [0, 1, 0]).all(axis=1)))
    with pytest.raises(MergeError, match="with missing cells in columns 'u', 'w': there are none"):
        alone.subtract(summarize(other, np.array([0])), ["u", "v", "w"])


def test_decay_forgets_patterns():
    x, codes = rows(4, 20, 3)
    assert summarize(x, codes).scale(1e-150).faded().is_complete


def test_some_columns_cannot_be_selected():
    x, codes = rows(5, 20, 3)
    with pytest.raises(InputError, match="Select all columns, in any order"):
        summarize(x, codes).columns([0, 2])


def test_columns_keep_their_order_once_patterns_are_coarser():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(40, 3))
    x[rng.random(x.shape) < 0.3] = np.nan
    found = PatternScatter.summarize(x, Membership(ClassAxis.of(["a"]), codes=np.zeros(40, dtype=int)), Scatter)
    found.columns([2, 0, 1])
    with pytest.raises(InputError, match="order of the model"):
        found.at_level(1).columns([2, 0, 1])
