"""The kernels against NumPy and exact arithmetic, on every kind of input they accept."""

from fractions import Fraction

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from instruction_sets import assert_same_bits
from suffice import kernels

LAYOUTS = {
    "rows": lambda x: np.ascontiguousarray(x),
    "columns": lambda x: np.asfortranarray(x),
    "strided": lambda x: np.repeat(np.repeat(x, 2, axis=0), 3, axis=1)[::2, ::3],
    "backward": lambda x: np.ascontiguousarray(x[::-1, ::-1])[::-1, ::-1],
}


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    n, d, k = 10_000, 7, 5
    x = rng.standard_normal((n, d)) * 10.0 ** np.arange(-3, 4) + 100.0
    return x, rng.integers(0, k, n), k


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_class_moments(data, layout, dtype, weighted):
    x, codes, k = data
    x = LAYOUTS[layout](x.astype(dtype))
    weights = np.random.default_rng(1).random(len(x)) if weighted else None
    found = kernels.class_moments(x, k, codes=codes, weights=weights)
    for c in range(k):
        rows = x[codes == c].astype(np.longdouble)
        w = np.ones(len(rows)) if weights is None else weights[codes == c]
        mean = np.average(rows, axis=0, weights=w)
        m2 = (w[:, None] * (rows - mean) ** 2).sum(axis=0)
        np.testing.assert_allclose(found.weight[c], w.sum(), rtol=1e-14)
        np.testing.assert_allclose((found.mean + found.mean_low)[c], mean, rtol=1e-15)
        np.testing.assert_allclose(found.m2[c], m2, rtol=1e-14)


def test_class_moments_of_hostile_numbers_are_exact():
    rng = np.random.default_rng(2)
    values = 1e8 + rng.integers(0, 3, 999) * 1e-6
    exact = [Fraction(v) for v in values]
    mean = sum(exact) / len(exact)
    m2 = sum((v - mean) ** 2 for v in exact)
    found = kernels.class_moments(values[:, None], 1, codes=np.zeros(999, dtype=np.int64))
    in_two = Fraction(float(found.mean[0, 0])) + Fraction(float(found.mean_low[0, 0]))
    assert abs(in_two - mean) < Fraction(1, 10**20)
    assert abs(Fraction(float(found.m2[0, 0])) / m2 - 1) < Fraction(1, 10**15)


@pytest.mark.parametrize("order", ["sorted", "reversed", "two far groups"])
def test_class_moments_in_any_order_of_rows(order):
    rng = np.random.default_rng(3)
    values = np.concatenate([rng.standard_normal(5000), 1e7 + rng.standard_normal(5000)])
    values = {"sorted": np.sort(values), "reversed": np.sort(values)[::-1], "two far groups": values}[order]
    found = kernels.class_moments(values[:, None].copy(), 1, codes=np.zeros(len(values), dtype=np.int64))
    exact = [Fraction(v) for v in values]
    mean = sum(exact) / len(exact)
    m2 = sum((v - mean) ** 2 for v in exact)
    assert float(abs(Fraction(float(found.m2[0, 0])) / m2 - 1)) < 1e-15


def test_missing_cells_are_not_counted(data):
    x, codes, k = data
    x = np.where(np.random.default_rng(4).random(x.shape) < 0.2, np.nan, x)
    found = kernels.class_moments(x, k, codes=codes, missing=True)
    for c in range(k):
        rows = x[codes == c]
        np.testing.assert_array_equal(found.weight[c], (~np.isnan(rows)).sum(axis=0))
        np.testing.assert_allclose(found.mean[c], np.nanmean(rows, axis=0), rtol=1e-13)
        np.testing.assert_allclose(found.m2[c] / found.weight[c], np.nanvar(rows, axis=0), rtol=1e-11)


def test_codes_outside_the_classes_leave_the_row_out(data):
    x, codes, k = data
    odd = codes.copy()
    odd[::3], odd[1::3] = -1, k
    kept = np.arange(len(x)) % 3 == 2
    found = kernels.class_moments(x, k, codes=odd)
    alone = kernels.class_moments(x[kept], k, codes=codes[kept])
    np.testing.assert_array_equal(found.weight, alone.weight)
    np.testing.assert_allclose(found.m2, alone.m2, rtol=1e-14)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_class_sums(data, layout):
    x, codes, k = data
    found = kernels.class_sums(LAYOUTS[layout](x), k, codes=codes)
    np.testing.assert_allclose(found, [x[codes == c].sum(axis=0) for c in range(k)], rtol=1e-12)


def test_soft_membership_is_weights_for_each_class(data):
    x, _, k = data
    soft = np.random.default_rng(5).dirichlet(np.ones(k), len(x))
    found = kernels.class_moments(x, k, soft=soft)
    np.testing.assert_allclose(found.mean, (soft.T @ x) / soft.sum(axis=0)[:, None], rtol=1e-12)
    np.testing.assert_allclose(kernels.class_sums(x, k, soft=soft), soft.T @ x, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_diagonal_log_likelihood(data, layout, dtype):
    x, codes, k = data
    x = LAYOUTS[layout](x.astype(dtype)[:1001])
    mean = np.array([x[codes[:1001] == c].mean(axis=0) for c in range(k)], dtype=np.float64)
    scale = 1 / np.array([x[codes[:1001] == c].std(axis=0) for c in range(k)], dtype=np.float64)
    norm = np.log(scale)
    found = kernels.diagonal_log_likelihood(x, mean, np.zeros_like(mean), scale, norm)
    wide = x.astype(np.float64)[:, None, :]
    parts = norm - 0.5 * ((wide - mean) * scale) ** 2
    np.testing.assert_allclose(found, parts.sum(axis=2), rtol=1e-12)
    holes = np.where(np.random.default_rng(6).random(x.shape) < 0.3, np.nan, x).astype(dtype)
    found = kernels.diagonal_log_likelihood(holes, mean, np.zeros_like(mean), scale, norm, missing=True)
    np.testing.assert_allclose(found, np.where(np.isnan(holes)[:, None, :], 0, parts).sum(axis=2), rtol=1e-11)


@pytest.mark.parametrize("k", [1, 5, 3000])
def test_result_does_not_depend_on_threads(data, k):
    x, codes, _ = data
    codes = codes % k if k < 5 else np.random.default_rng(7).integers(0, k, len(x))
    results = []
    for threads in (1, 2, 7):
        with threadpool_limits(threads, user_api="openmp"):
            moments = kernels.class_moments(x, k, codes=codes)
            results.append([*moments, kernels.class_sums(x, k, codes=codes)])
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_many_columns_go_through_in_slabs():
    rng = np.random.default_rng(8)
    x = rng.standard_normal((500, 300))
    codes = rng.integers(0, 700, 500)
    found = kernels.class_moments(x, 700, codes=codes)
    for c in np.unique(codes)[::50]:
        np.testing.assert_allclose(found.mean[c], x[codes == c].mean(axis=0), rtol=1e-12)


def test_every_instruction_set_gives_the_same_bits():
    script = (
        "import numpy as np; from suffice import kernels\n"
        "rng = np.random.default_rng(0); x = rng.standard_normal((5000, 13)) + 1e3; c = rng.integers(0, 4, 5000)\n"
        "m = kernels.class_moments(x, 4, codes=c, weights=rng.random(5000))\n"
        "l = kernels.diagonal_log_likelihood(x, m.mean, m.mean_low, 1 / np.sqrt(m.m2), np.zeros_like(m.m2))\n"
        "b = kernels.CentredBlocks(4, 13, 5000); z = b.centre(x, c, None, rng.random(5000))\n"
        "g = np.zeros((2, 13, 13)); kernels.accumulate(z[:13], *g)\n"
        "o = np.zeros((2, 1, 13, 13)); s = np.zeros((2, 4, 13, 13))\n"
        "kernels.outer(np.ones(len(z)), np.zeros(len(z)), z, 1e-17 * z, *o)\n"
        "kernels.exact_scatter(x, *m[1:3], *s, codes=c)\n"
        "e = kernels.exact_moments(x, *m[1:3], codes=c, weights=rng.random(5000))\n"
        "a = (*m, l, kernels.class_sums(x, 4, codes=c), z, b.squares, b.squares_low, b.mean, *g, *o, *s, *e)\n"
        "made = a\n"
    )
    assert_same_bits(script)


def test_outer_products_are_exact():
    rng = np.random.default_rng(9)
    z = rng.standard_normal((40, 3)) * [1, 1e8, 1e-8]
    totals, lows = np.zeros((2, 1, 3, 3))
    kernels.outer(np.ones(40), np.zeros(40), z, np.zeros((40, 3)), totals, lows)
    total, low = totals[0], lows[0]
    for i in range(3):
        for j in range(i + 1):
            exact = sum(Fraction(float(row[i])) * Fraction(float(row[j])) for row in z)
            size = sum(abs(Fraction(float(row[i])) * Fraction(float(row[j]))) for row in z)
            found = Fraction(float(total[i, j])) + Fraction(float(low[i, j]))
            assert abs(found - exact) <= size / 2**98


def test_empty_input():
    empty = np.empty((0, 3))
    found = kernels.class_moments(empty, 2, codes=np.empty(0, dtype=np.int64))
    assert not any(part.any() for part in found)
    assert kernels.diagonal_log_likelihood(empty, *np.ones((4, 2, 3))).shape == (0, 2)
