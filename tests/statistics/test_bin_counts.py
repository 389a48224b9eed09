"""Counts in bins that depend on the set of numbers alone."""

from dataclasses import replace

import numpy as np
import pytest

from suffice.exceptions import MergeError
from suffice.statistics import BinCounts, ClassAxis, Membership
from suffice.statistics.bin_counts import MOST_BINS
from suffice.testing import assert_same

AXIS = ClassAxis.of(["a", "b"])


def _summary(x, codes, weights=None, cuts=()):
    return BinCounts.summarize(x, Membership(AXIS, codes=codes, weights=weights), cuts)


@pytest.fixture(scope="module")
def rows():
    """Columns that need coarser bins: symmetric, skewed, far from zero, heavy-tailed, rounded, and of few values."""
    rng = np.random.default_rng(1)
    n = 6000
    x = np.column_stack(
        [
            rng.standard_normal(n),
            np.exp(3 * rng.standard_normal(n)),
            1.7e9 + 1e5 * rng.standard_normal(n),
            rng.standard_cauchy(n),
            np.round(rng.standard_normal(n), 2),
            rng.integers(0, 5, n),
        ]
    )
    return x, rng.integers(0, 2, n)


def test_batches_in_any_order_give_the_same_bins(rows):
    x, codes = rows
    whole = _summary(x, codes)
    assert whole.shift.max() > 40
    assert whole.sizes.max() <= MOST_BINS
    rng = np.random.default_rng(2)
    for n_parts in (2, 7, 60):
        parts = [_summary(x[i], codes[i]) for i in np.array_split(rng.permutation(len(x)), n_parts)]
        while len(parts) > 1:  # merged in a random tree
            a, b = parts.pop(int(rng.integers(len(parts)))), parts.pop(0)
            parts.append(a.merge(b))
        assert_same(parts[0], whole, "batches", 0.0)


def test_a_large_batch_equals_small_ones():
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.standard_normal(40_000), np.rint(50 * rng.standard_normal(30_000)), np.zeros(9)])[:, None]
    codes = rng.integers(0, 2, len(x))
    parts = [_summary(x[i], codes[i]) for i in np.array_split(rng.permutation(len(x)), 40)]
    total = parts[0]
    for part in parts[1:]:
        total = total.merge(part)
    assert_same(_summary(x, codes), total, "a large batch", 0.0)


@pytest.mark.parametrize("n_cells", [128, 129])
def test_a_large_batch_with_a_zero_beside_a_full_octave(n_cells):
    x = np.append(np.repeat(1 + np.arange(n_cells) / 4096, 300), [0.0, -1.5])[:, None]
    codes = np.zeros(len(x), dtype=int)
    whole = _summary(x, codes)
    assert_same(whole, _summary(x[::2], codes[::2]).merge(_summary(x[1::2], codes[1::2])), "a large batch", 0.0)
    assert whole.sizes[0] == (130 if n_cells == 128 else 67)


def test_numbers_that_fit_are_exact(rows):
    x, codes = rows
    low, high = _summary(x[:, 5:], codes).ends(0)
    assert low.tolist() == high.tolist() == [0, 1, 2, 3, 4]
    extreme = np.array([[-1e300], [5e-324], [0.0], [-0.0], [1e-300]])
    assert _summary(extreme, np.zeros(5, dtype=int)).ends(0)[0].tolist() == [-1e300, 0.0, 1e-300]


def test_a_column_never_needs_more_than_its_bins():
    rng = np.random.default_rng(4)
    x = rng.choice([-1.0, 1.0], 60_000) * 2.0 ** rng.uniform(-100, 100, 60_000)
    counts = _summary(x[:, None], rng.integers(0, 2, len(x)))
    assert counts.sizes[0] <= MOST_BINS
    assert counts.count.sum() == len(x)


def test_removed_rows_keep_the_bins(rows):
    x, codes = rows
    whole, part = _summary(x, codes), _summary(x[:500], codes[:500])
    left = whole.subtract(part)
    assert left.count.sum() == (len(x) - 500) * x.shape[1]
    assert set(left.bins[: left.sizes[0]]) <= set(whole.bins[: whole.sizes[0]])
    assert_same(left.merge(part), whole, "removed and added again", 0.0)
    # The rest alone may have narrower bins; joined with any rows, both agree.
    assert_same(_summary(x[500:], codes[500:]).merge(whole), left.merge(whole), "then merged", 0.0)


def test_rows_that_were_not_there_cannot_be_removed(rows):
    x, codes = rows
    whole = _summary(x, codes)
    foreign = x[:1].copy()
    foreign[0, 5] = 77.0
    with pytest.raises(MergeError, match=r"values near 77 in column 'f'"):
        whole.subtract(_summary(foreign, codes[:1]), list("abcdef"))
    with pytest.raises(MergeError, match="Cannot remove a weight of 9000"):
        whole.subtract(_summary(x[:1], codes[:1], np.array([9000.0])))


def test_different_cuts_do_not_merge():
    x, codes = np.array([[1.0], [5.0]]), np.array([0, 1])
    with pytest.raises(MergeError, match=r"the first model has the cuts 2, 3, the second the cuts 2, 4.*same cuts"):
        _summary(x, codes, cuts=(2.0, 3.0)).merge(_summary(x, codes, cuts=(2.0, 4.0)))


def test_forged_sizes_and_bins_are_invalid():
    axis = ClassAxis.of(["a", "b"])
    good = BinCounts.summarize(np.array([[1.0], [2.0], [3.0]]), Membership(axis, codes=np.array([0, 1, 0])))
    assert good.has_valid_bins()
    assert not replace(good, sizes=np.array([2**63 - 1, 2**63 - 1, 5])).has_valid_bins()
    assert not replace(good, bins=np.array([np.iinfo(np.int64).min, *good.bins[1:].tolist()])).has_valid_bins()


def test_rows_cannot_be_removed_from_a_column_without_values():
    axis = ClassAxis.of(["a", "b"])
    members = Membership(axis, codes=np.array([0, 1]))
    empty = BinCounts.summarize(np.full((2, 1), np.nan), members)
    with pytest.raises(MergeError, match="there are none"):
        empty.subtract(BinCounts.summarize(np.array([[1.0], [2.0]]), members), ["x"])


def test_bins_of_numbers_far_below_and_above_zero_are_valid():
    axis = ClassAxis.of(["a", "b"])
    x = np.array([[-4.0], [7.0], [-1e300], [1e300]])
    assert BinCounts.summarize(x, Membership(axis, codes=np.array([0, 1, 0, 1]))).has_valid_bins()
