"""The sample of a stream is uniform, bounded, and independent of the batches."""

import numpy as np
import pyarrow as pa
import pytest

from suffice.learning.kept_rows import KeptRows, _keys, _sizes
from suffice.statistics import ClassAxis, Membership

AXIS = ClassAxis.of(["a", "b", "c"])


def kept_of(table, codes, step, weights=None, **limits):
    kept = KeptRows(**limits)
    for start in range(0, len(codes), step):
        part = slice(start, start + step)
        members = Membership(AXIS, codes=codes[part], weights=None if weights is None else weights[part])
        kept.add(table.slice(start, step), members)
    return kept.rows(AXIS)


def splitmix64(state):
    """The reference algorithm in Python integers (Vigna 2015)."""
    mask = (1 << 64) - 1
    z = state * 0x9E3779B97F4A7C15 & mask
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & mask
    z = (z ^ z >> 27) * 0x94D049BB133111EB & mask
    return z ^ z >> 31


def test_keys_are_splitmix64():
    assert _keys(10**12, 50).tolist() == [splitmix64(i) for i in range(10**12 + 1, 10**12 + 51)]


@pytest.mark.parametrize("step", [1, 7, 100, 10_000])
def test_the_rows_with_the_smallest_keys_are_kept(step):
    n = 3_000
    codes = np.arange(n) % 3
    rows, members = kept_of(pa.table({"row": np.arange(n)}), codes, step, np.arange(n) / 2, most=200)
    best = np.sort(np.argsort([splitmix64(i + 1) for i in range(n)])[:200])
    np.testing.assert_array_equal(rows["row"].to_numpy(), best)
    np.testing.assert_array_equal(members.codes, codes[best])
    np.testing.assert_array_equal(members.weights, best / 2)
    assert rows["row"].num_chunks == 1


def test_few_rows_are_all_kept_in_order():
    rows, members = kept_of(pa.table({"row": np.arange(500)}), np.arange(500) % 2, 33, most=500)
    np.testing.assert_array_equal(rows["row"].to_numpy(), np.arange(500))
    np.testing.assert_array_equal(members.codes, np.arange(500) % 2)


@pytest.mark.parametrize("step", [1, 13, 400])
def test_bytes_are_bounded(step):
    rng = np.random.default_rng(0)
    size = rng.integers(0, 2000, 1200)
    table = pa.table({"row": np.arange(1200), "text": ["x" * int(each) for each in size]})
    rows, _ = kept_of(table, np.zeros(1200, dtype=np.int64), step, most=1000, most_bytes=100_000)
    order = np.argsort([splitmix64(i + 1) for i in range(1200)])
    fit = np.searchsorted(np.cumsum(size[order] + 16), 100_000, side="right")
    np.testing.assert_array_equal(rows["row"].to_numpy(), np.sort(order[:fit]))


def test_the_sample_is_uniform():
    from scipy.stats import chisquare, kstest

    n = 400_000
    rows, members = kept_of(pa.table({"row": np.arange(n)}), np.arange(n) % 3, 60_000, most=20_000)
    chosen = rows["row"].to_numpy()
    assert len(chosen) == 20_000
    assert kstest(chosen / n, "uniform").pvalue > 1e-4
    assert chisquare(np.bincount(members.codes)).pvalue > 1e-4
    assert chisquare(np.bincount(chosen % 7)).pvalue > 1e-4


def test_classes_in_later_batches():
    kept = KeptRows()
    kept.add(pa.table({"x": [1, 2]}), Membership(ClassAxis.of(["b"]), codes=np.array([0, 0])))
    kept.add(pa.table({"x": [3]}), Membership(ClassAxis.of(["a", "b"]), codes=np.array([0])))
    assert kept.rows(ClassAxis.of(["a", "b"]))[1].codes.tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        (pa.array([2**53 + 1, 5]), pa.array([0.5, None]), pa.float64()),
        (pa.array([1, 2], pa.int8()), pa.array([2**63 + 1, 5], pa.uint64()), pa.float64()),
        (pa.array([1, 2], pa.date32()), pa.array([10**9, 5], pa.timestamp("us", "Europe/Berlin")), pa.timestamp("us")),
        (pa.array([10**11], pa.timestamp("s")), pa.array([10**9], pa.timestamp("ns")), pa.timestamp("us")),
        (pa.array([10**11], pa.duration("s")), pa.array([10**9], pa.duration("ns")), pa.duration("us")),
    ],
)
def test_batches_of_different_types_are_joined(first, second, kind):
    axis, kept = ClassAxis.of([0, 1]), KeptRows()
    for array in (first, second):
        kept.add(pa.table({"x": array}), Membership(axis, codes=np.zeros(len(array), dtype=np.int64)))
    rows = kept.rows(axis)[0]
    wanted = [*first.cast(kind, safe=False).to_pylist(), *second.cast(kind, safe=False).to_pylist()]
    assert rows.schema.types == [kind]
    assert rows["x"].to_pylist() == wanted


def test_sizes_of_rows():
    columns = {"a": [1, 2, 3], "b": [0.5, None, 1.0], "c": ["x", None, "yyy"], "d": pa.array(["é", "", None])}
    assert _sizes(pa.table(columns)).tolist() == [4 * 8 + 1 + 2, 4 * 8, 4 * 8 + 3]
    assert _sizes(pa.table({"a": [1, 2]})).tolist() == [8, 8]
