"""The kernels for categories, against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from instruction_sets import assert_same_bits
from suffice import kernels

TYPES = ["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?"]
LAYOUTS = {
    "rows": np.ascontiguousarray,
    "columns": np.asfortranarray,
    "strided": lambda x: np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3],
    "backwards": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
    "apart": lambda x: [np.ascontiguousarray(x[:, j]) for j in range(x.shape[1])],
    "apart and strided": lambda x: [x[:, j] for j in range(x.shape[1])],
    "swapped": lambda x: x.astype(x.dtype.newbyteorder(">")),
}


def numbers(dtype: str, n: int = 300, d: int = 5, seed: int = 0) -> np.ndarray:
    """Small integers, some negative if the type is signed; floats have missing values."""
    rng = np.random.default_rng(seed)
    low, high = (0, 2) if dtype == "?" else (0 if dtype[0] == "u" else -3, 6)
    x = rng.integers(low, high, (n, d)).astype(dtype)
    if dtype[0] == "f":
        x[rng.random(x.shape) < 0.1] = np.nan
    return x


def places(x: np.ndarray, low: np.ndarray, size: np.ndarray) -> np.ndarray:
    """The table cell of each value, computed one by one."""
    start = np.concatenate([[0], np.cumsum(size + 2)])
    out = np.empty(x.shape, dtype=int)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            value = x[i, j].item()
            if value != value:
                at = size[j] + 1
            elif value in (np.inf, -np.inf) or value != int(value) or not 0 <= int(value) - low[j] < size[j]:
                at = size[j]
            else:
                at = int(value) - low[j]
            out[i, j] = start[j] + at
    return out


def counted(at: np.ndarray, cells: int, soft: np.ndarray) -> np.ndarray:
    out = np.zeros((soft.shape[1], cells))
    for i in range(at.shape[0]):
        for j in range(at.shape[1]):
            out[:, at[i, j]] += soft[i]
    return out


LOW, SIZE = np.array([-3, -3, 0, 1, 2]), np.array([9, 4, 6, 0, 1])
CELLS = int(SIZE.sum()) + 2 * len(SIZE)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TYPES)
def test_ranges(dtype: str, layout: str) -> None:
    x = numbers(dtype, n=200)
    found = kernels.value_ranges(LAYOUTS[layout](x))
    np.testing.assert_array_equal(found.low, np.nanmin(x.astype(float), axis=0))
    np.testing.assert_array_equal(found.high, np.nanmax(x.astype(float), axis=0))
    np.testing.assert_array_equal(found.missing, np.isnan(x.astype(float)).any(axis=0))
    assert found.whole.all()


@pytest.mark.parametrize("n", [1, 63, 64, 65, 8191, 20000])
@pytest.mark.parametrize("d", [1, 63, 130])
@pytest.mark.parametrize("order", ["C", "F"])
def test_one_odd_cell_is_seen_wherever_it_is(n: int, d: int, order: str) -> None:
    rng = np.random.default_rng(n + d)
    x = np.zeros((n, d), order=order)
    i, j = int(rng.integers(n)), int(rng.integers(d))
    others = np.arange(d) != j
    for value in (0.5, -1e300, np.nan, np.inf, -np.inf, 1e17):
        x[i, j] = value
        low, high, missing, whole = kernels.value_ranges(x)
        assert not missing[others].any()
        assert whole[others].all()
        assert missing[j] == np.isnan(value)
        assert whole[j] == (value != 0.5)
        here = np.nanmin(x[:, j]) if n > 1 or not np.isnan(value) else np.inf
        assert low[j] == here
        assert high[j] == (np.nanmax(x[:, j]) if n > 1 or not np.isnan(value) else -np.inf)


def test_ranges_of_extremes_and_of_nothing() -> None:
    for dtype in TYPES[2:-1]:
        limits = np.iinfo(dtype)
        found = kernels.value_ranges(np.array([[limits.min, limits.max]] * 3, dtype=dtype))
        assert found.low.tolist() == [float(limits.min), float(limits.max)]
        assert found.high.tolist() == [float(limits.min), float(limits.max)]
    for x in (np.empty((0, 2)), np.full((3, 2), np.nan), np.full((3, 2), np.nan, dtype="f4")):
        found = kernels.value_ranges(x)
        assert (found.low == np.inf).all()
        assert (found.high == -np.inf).all()
        assert found.whole.all()
        assert (found.missing == (len(x) > 0)).all()
    assert kernels.value_ranges(np.empty((3, 0))).low.shape == (0,)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TYPES)
def test_counts_of_every_kind_of_membership(dtype: str, layout: str) -> None:
    x, rng = numbers(dtype), np.random.default_rng(1)
    codes, weights = rng.integers(-1, 4, len(x)), rng.random(len(x)) * (rng.random(len(x)) < 0.9)
    soft = rng.dirichlet(np.ones(3), len(x))
    rows, at, hard = LAYOUTS[layout](x), places(x, LOW, SIZE), np.eye(4)[codes][:, :3] * (codes >= 0)[:, None]
    for who, each in (
        ({"codes": codes}, hard),
        ({"codes": codes, "weights": weights}, hard * weights[:, None]),
        ({"soft": soft}, soft),
        ({"soft": soft, "weights": weights}, soft * weights[:, None]),
    ):
        high, low = kernels.class_counts(rows, LOW, SIZE, 3, **who)
        exact = "weights" not in who and "soft" not in who
        np.testing.assert_allclose(high, counted(at, CELLS, each), rtol=0 if exact else 1e-13, atol=0)
        assert (np.abs(low) <= np.spacing(high)).all()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", TYPES)
def test_sums_of_entries(dtype: str, layout: str) -> None:
    x = numbers(dtype)
    at = places(x, LOW, SIZE)
    for k in (1, 2, 3, 4, 5, 8, 9, 16, 17, 40):
        table = np.random.default_rng(k).normal(size=(CELLS, k))
        table[0, 0] = -np.inf
        expected = np.zeros((len(x), k))
        for j in range(x.shape[1]):
            expected += table[at[:, j]]
        found = kernels.table_sums(LAYOUTS[layout](x), LOW, SIZE, kernels.padded_table(table), k)
        np.testing.assert_array_equal(found, expected)


def test_numbers_that_no_place_has() -> None:
    odd = [0.5, -0.5, 1e300, -1e300, np.inf, -np.inf, 2.0**63, -(2.0**63), 4e18, -4e18, 2.0**53]
    x = np.array(odd)[:, None]
    low, size = np.array([-1]), np.array([3])
    high, _ = kernels.class_counts(x, low, size, 1, codes=np.zeros(len(x), dtype=np.int64))
    assert high.tolist() == [[0, 0, 0, len(odd), 0]]
    large = np.array([[2**64 - 1], [2**63]], dtype=np.uint64)  # negative as int64
    high, _ = kernels.class_counts(large, low, size, 1, codes=np.zeros(2, dtype=np.int64))
    assert high.tolist() == [[0, 0, 0, 2, 0]]
    assert kernels.class_counts(np.array([[-(2**63)]]), low, size, 1, codes=np.zeros(1, dtype=np.int64))[0][0, 3] == 1


def test_weights_keep_two_doubles() -> None:
    weights = np.array([1e8, 1e-9, 3e-9, 1e8])
    high, low = kernels.class_counts(
        np.zeros((4, 1)), np.array([0]), np.array([1]), 1, codes=np.zeros(4, dtype=np.int64), weights=weights
    )
    assert high[0, 0] == 2e8
    assert low[0, 0] == pytest.approx(4e-9, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("classes", [3, 70000])
def test_the_result_does_not_depend_on_threads(weighted: bool, classes: int) -> None:
    rng = np.random.default_rng(2)
    x, codes = rng.integers(0, 30, (50000, 3)), rng.integers(0, classes, 50000)
    who = {"codes": codes, "weights": rng.random(50000) if weighted else None}
    low, size = np.zeros(3, dtype=np.int64), np.full(3, 30)
    table = kernels.padded_table(rng.normal(size=(96, 4)))

    def answers() -> list[np.ndarray]:
        counts = kernels.class_counts(x, low, size, classes, **who)
        return [*counts, kernels.table_sums(x, low, size, table, 4), *kernels.value_ranges(x)]

    with threadpool_limits(1):
        one = answers()
    for threads in (2, 7):
        with threadpool_limits(threads):
            for a, b in zip(one, answers(), strict=True):
                np.testing.assert_array_equal(a, b)
    if not weighted:
        np.testing.assert_array_equal(one[0].sum(axis=1), 3 * np.bincount(codes, minlength=classes))


def test_every_instruction_set_gives_the_same_bits() -> None:
    program = """
import numpy as np
from suffice import kernels
rng = np.random.default_rng(0)
x = rng.integers(-2, 9, (3000, 7)).astype(float); x[rng.random(x.shape) < .1] = np.nan
low, size = np.full(7, -2), np.full(7, 11)
who = dict(codes=rng.integers(0, 5, 3000), weights=rng.random(3000))
parts = [*kernels.value_ranges(x), *kernels.class_counts(x, low, size, 5, **who),
         kernels.table_sums(x, low, size, kernels.padded_table(rng.normal(size=(91, 5))), 5),
         *kernels.class_moments(x + 1e6, 5, missing=True, **who)]
made = parts
"""
    assert_same_bits(program)


def test_shapes_are_checked() -> None:
    x, one = np.zeros((3, 2)), np.zeros(1, dtype=np.int64)
    codes = np.zeros(3, dtype=np.int64)
    with pytest.raises(ValueError, match="each column"):
        kernels.class_counts(x, one, one, 1, codes=codes)
    two = np.array([1, -5])
    with pytest.raises(ValueError, match="too many levels"):
        kernels._core.table_sums(x, two, two, np.zeros((3, 1)), np.zeros((3, 1)))
    with pytest.raises(ValueError, match="row for each cell"):
        kernels.table_sums(x, np.zeros(2, dtype=np.int64), np.ones(2, dtype=np.int64), np.zeros((3, 1)), 1)


@pytest.mark.parametrize("layout", ["rows", "columns", "apart"])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_with_holes(layout: str, weighted: bool) -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(1e3, 2.0, (5000, 11))
    x[rng.random(x.shape) < 0.3] = np.nan
    x[:, 3] = np.nan
    x[:4000, 4] = np.nan
    codes = rng.integers(0, 4, len(x))
    weights = rng.random(len(x)) + 0.1 if weighted else None
    found = kernels.class_moments(LAYOUTS[layout](x), 4, codes=codes, weights=weights, missing=True)
    w = np.ones(len(x)) if weights is None else weights
    for k in range(4):
        for j in range(x.shape[1]):
            here = (codes == k) & ~np.isnan(x[:, j])
            size = w[here].sum()
            assert found.weight[k, j] == pytest.approx(size, rel=1e-12)
            if not here.any():
                assert found.m2[k, j] == 0
                continue
            mean = np.average(x[here, j], weights=w[here])
            assert found.mean[k, j] == pytest.approx(mean, rel=1e-14)
            assert found.m2[k, j] == pytest.approx((w[here] * (x[here, j] - mean) ** 2).sum(), rel=1e-10)
