"""Class sums and scores of sparse matrices against dense arithmetic, on every kind of input they accept."""

import mpmath
import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_limits

from instruction_sets import assert_same_bits
from suffice import kernels
from suffice.kernels import Cells, ValueFlags

TYPES = [np.float64, np.float32, np.int64, np.int32, np.int16, np.int8, np.uint64, np.uint32, np.uint16, np.uint8, bool]
SHAPES = {  # rows, columns, classes: few classes (own tables), many (row by row), and too few cells for a second thread
    "few classes": (3000, 200, 3),
    "many classes": (3000, 200, 400),
    "small": (40, 30, 3),
    "one class": (3000, 200, 1),
    "long rows": (9, 20_000, 2),
}


def random_cells(shape, dtype=np.float64, index=np.int32, kind="csr", seed=0):
    rng = np.random.default_rng(seed)
    dense = rng.poisson(0.7, shape) * (rng.random(shape) < 0.4)
    dense[rng.random(shape[0]) < 0.1] = 0
    x = sparse.csr_array(dense.astype(dtype))
    x = x.asformat(kind)
    x.indices, x.indptr = x.indices.astype(index), x.indptr.astype(index)
    return x, x.toarray().astype(np.float64)


def membership(n, k, how, seed=1):
    """Keywords for a kernel, and the weight of each row in each class (n, k)."""
    rng = np.random.default_rng(seed)
    weights = rng.random(n) * (rng.random(n) < 0.8) if "weights" in how else None
    scale = np.ones(n) if weights is None else weights
    if "soft" in how:
        soft = rng.random((n, k)) * (rng.random((n, k)) < 0.7)
        return {"soft": soft, "weights": weights}, soft * scale[:, None]
    codes = rng.integers(-1, k, n)
    return {"codes": codes, "weights": weights}, (codes[:, None] == np.arange(k)) * scale[:, None]


@pytest.mark.parametrize("how", ["codes", "codes, weights", "soft", "soft, weights"])
@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize("name", SHAPES)
def test_class_sums(name, kind, how):
    n, d, k = SHAPES[name]
    x, dense = random_cells((n, d), kind=kind)
    who, weight = membership(n, k, how)
    found, flags = kernels.sparse_sums(Cells.of(x), k, **who)
    np.testing.assert_allclose(found, weight.T @ dense, rtol=1e-12)
    assert flags == ValueFlags(negative=False, missing=False, infinite=False)
    found, _ = kernels.sparse_sums(Cells.of(x), k, above=1.0, **who)
    np.testing.assert_allclose(found, weight.T @ (dense > 1), rtol=1e-12)


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", TYPES)
def test_every_type(dtype, index):
    x, dense = random_cells((500, 20), dtype, index)
    codes = np.arange(500) % 3
    exact = np.stack([dense[codes == k].sum(axis=0) for k in range(3)])
    np.testing.assert_array_equal(kernels.sparse_sums(Cells.of(x), 3, codes=codes)[0], exact)
    np.testing.assert_array_equal(kernels.sparse_sums(Cells.of(x.tocsc()), 3, codes=codes)[0], exact)
    slope = np.random.default_rng(0).standard_normal((20, 5))
    np.testing.assert_allclose(kernels.sparse_scores(Cells.of(x), np.ones(5), slope), 1 + dense @ slope, atol=1e-12)


@pytest.mark.parametrize("name", SHAPES)
def test_missing_cells_count_for_nothing_and_are_counted(name):
    n, d, k = SHAPES[name]
    x, dense = random_cells((n, d))
    x.data[:: max(1, x.nnz // 50)] = np.nan
    dense = x.toarray()
    who, weight = membership(n, k, "codes")
    for cells in (Cells.of(x), Cells.of(x.tocsc())):
        found, flags = kernels.sparse_sums(cells, k, **who)
        assert flags == ValueFlags(negative=False, missing=True, infinite=False)
        np.testing.assert_allclose(found, weight.T @ np.nan_to_num(dense), rtol=1e-12)
        found, _ = kernels.sparse_sums(cells, k, missing=True, **who)
        np.testing.assert_array_equal(found, weight.T @ np.isnan(dense))
        found, _ = kernels.sparse_sums(cells, k, above=0.5, **who)
        np.testing.assert_array_equal(found, weight.T @ (dense > 0.5))


@pytest.mark.parametrize("value", [-1.0, np.nan, np.inf, -np.inf, -0.0])
@pytest.mark.parametrize("counts", [True, False])
@pytest.mark.parametrize("kind", ["csr", "csc", "dense"])
def test_what_is_met(kind, counts, value):
    """Including values of a row that does not count."""
    _, dense = random_cells((3000, 30))
    dense[1234, 7] = value
    codes = np.zeros(3000, dtype=np.int64)
    codes[1234] = 0 if counts else -1
    expected = ValueFlags(negative=value < 0, missing=bool(np.isnan(value)), infinite=bool(np.isinf(value)))
    if kind == "dense":
        found = kernels.class_sums_with_flags(dense, 1, codes=codes)[1]
    else:
        found = kernels.sparse_sums(Cells.of(sparse.csr_array(dense).asformat(kind)), 1, codes=codes)[1]
    assert found == expected


@pytest.mark.parametrize("k", [1, 2, 3, 4, 5, 17])
@pytest.mark.parametrize("shape", [(1500, 60), (7, 20_000), (0, 5)])
def test_scores(shape, k):
    rng = np.random.default_rng(k)
    x, dense = random_cells(shape)
    slope, offset = rng.standard_normal((shape[1], k)), rng.standard_normal(k)
    np.testing.assert_allclose(kernels.sparse_scores(Cells.of(x), offset, slope), offset + dense @ slope, atol=1e-9)
    above = kernels.sparse_scores(Cells.of(x), offset, slope, above=1.0)
    np.testing.assert_allclose(above, offset + (dense > 1) @ slope, atol=1e-9)


@pytest.mark.parametrize("shape", [(300, 40), (5, 16_000)])
def test_scores_of_what_is_missing_or_impossible(shape):
    rng = np.random.default_rng(3)
    x, _ = random_cells(shape)
    x.data[rng.random(x.nnz) < 0.1] = np.nan
    x.data[rng.random(x.nnz) < 0.1] = 0.0  # stored zeros
    dense = x.toarray()
    k = 3
    slope, zero = rng.standard_normal((2, shape[1], k))
    never_more, never_zero = rng.random((2, shape[1], k)) < 2.0 / shape[1]
    zero[never_zero] = 0.0
    found = kernels.sparse_scores(
        Cells.of(x), zero.sum(axis=0), slope, zero=zero, never_more=never_more, never_zero=never_zero
    )
    missing = np.isnan(dense)
    known = np.where(missing, 0.0, dense)
    expected = zero.sum(axis=0) + known @ slope - missing @ zero
    expected[(known > 0) @ never_more.astype(float) > 0] = -np.inf
    expected[((known == 0) & ~missing) @ never_zero.astype(float) > 0] = -np.inf
    np.testing.assert_allclose(found, expected, atol=1e-9)
    found = kernels.sparse_scores(Cells.of(x), np.zeros(k), slope, missing=False)
    np.testing.assert_array_equal(np.isnan(found), np.repeat(missing.any(axis=1)[:, None], k, axis=1))


def test_above_a_threshold_infinity_is_no_answer():
    x, _ = random_cells((50, 20))
    x.data[7] = np.inf
    row = np.searchsorted(x.indptr, 7, side="right") - 1
    found = kernels.sparse_scores(Cells.of(x), np.zeros(2), np.ones((20, 2)), above=0.0)
    assert np.flatnonzero(np.isnan(found).any(axis=1)).tolist() == [row]


def test_duplicates_and_any_order_add_up():
    x = Cells(np.array([0, 4]), np.array([2, 0, 2, 1]), np.array([1.0, 2.0, 3.0, 4.0]), (1, 3))
    assert kernels.sparse_sums(x, 1, codes=np.zeros(1, dtype=np.int64))[0].tolist() == [[2.0, 4.0, 4.0]]
    assert kernels.sparse_scores(x, np.zeros(1), np.array([[1.0], [10.0], [100.0]])).tolist() == [[442.0]]
    for indices, sorted_ in (x.indices, False), (np.array([0, 1, 2, 3]), True), (np.array([0, 1, 1, 3]), False):
        assert kernels.has_sorted_indices(x.bounds, indices, 4, (1, 4)) == sorted_


@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("shape", [(3000, 200, 3), (3000, 200, 400), (40, 30, 3)])
@pytest.mark.parametrize("place", ["beyond", "negative", "lowest"])
def test_a_broken_matrix_is_an_error(shape, place, index):
    n, d, k = shape
    for kind in ("csr", "csc"):
        x, _ = random_cells((n, d), index=index, kind=kind)
        limit = {"csr": d, "csc": n}[kind]
        x.indices[x.nnz // 2] = {"beyond": limit, "negative": -1, "lowest": np.iinfo(index).min}[place]
        with pytest.raises(ValueError, match="outside its shape"):
            kernels.sparse_sums(Cells.of(x), k, codes=np.zeros(n, dtype=np.int64))
        if kind == "csr":
            with pytest.raises(ValueError, match="outside its shape"):
                kernels.sparse_scores(Cells.of(x), np.zeros(2), np.zeros((d, 2)))


@pytest.mark.parametrize("bounds", [[0, 5, 3], [0, 2, 9], [1, 2, 3], [0, 3], [-1, 0, 3], [0, -4, 3]])
def test_broken_bounds_are_an_error(bounds):
    x = Cells(np.array(bounds), np.array([0, 1, 2]), np.ones(3), (2, 3))
    with pytest.raises(ValueError, match="indptr"):
        kernels.sparse_sums(x, 1, codes=np.zeros(2, dtype=np.int64))
    with pytest.raises(ValueError, match="indptr"):
        kernels.sparse_scores(x, np.zeros(1), np.zeros((3, 1)))


def test_read_only_and_byte_swapped():
    x, dense = random_cells((100, 9))
    swapped = x.copy()
    swapped.data = x.data.astype(">f8")
    for part in (x.data, x.indices, x.indptr):
        part.flags.writeable = False
    codes = np.zeros(100, dtype=np.int64)
    for each in (x, swapped):
        np.testing.assert_array_equal(kernels.sparse_sums(Cells.of(each), 1, codes=codes)[0], [dense.sum(axis=0)])


@pytest.mark.parametrize("name", SHAPES)
def test_the_same_bits_with_any_number_of_threads(name):
    n, d, k = SHAPES[name]
    x, _ = random_cells((n, d))
    x.data = np.random.default_rng(5).standard_normal(x.nnz)
    results = []
    for threads in (1, 2, 7):
        with threadpool_limits(threads, user_api="openmp"):
            arrays = []
            for how in ("codes, weights", "soft"):
                who, _ = membership(n, k, how)
                arrays += [kernels.sparse_sums(Cells.of(each), k, **who)[0] for each in (x, x.tocsc())]
            arrays.append(kernels.sparse_scores(Cells.of(x), np.zeros(k), np.random.default_rng(6).random((d, k))))
            results.append(arrays)
    for other in results[1:]:
        for a, b in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(a, b)


def test_a_row_has_the_same_score_whatever_lies_beside_it():
    x, _ = random_cells((400, 50))
    x.data = np.random.default_rng(5).standard_normal(x.nnz)
    x.data[11::97] = np.nan
    slope = np.random.default_rng(6).random((50, 2))
    whole = kernels.sparse_scores(Cells.of(x), np.zeros(2), slope)
    parts = [kernels.sparse_scores(Cells.of(x[i : i + 1]), np.zeros(2), slope) for i in range(400)]
    np.testing.assert_array_equal(whole, np.concatenate(parts))


@pytest.mark.parametrize("layout", [np.ascontiguousarray, np.asfortranarray, lambda x: list(x.T.copy())])
@pytest.mark.parametrize("dtype", TYPES)
def test_dense_sums_above_a_threshold(dtype, layout):
    _, dense = random_cells((9000, 11))
    x = layout(dense.astype(dtype))
    codes = np.arange(9000) % 4 - 1
    found, flags = kernels.class_sums_with_flags(x, 3, codes=codes, above=0.0)
    exact = [(dense.astype(dtype).astype(float)[codes == k] > 0).sum(axis=0) for k in range(3)]
    np.testing.assert_array_equal(found, exact)
    assert not any(flags)


def test_dense_sums_of_wide_rows_are_made_in_slabs():
    rng = np.random.default_rng(7)
    x, codes = rng.random((50, 3000)), rng.integers(0, 2000, 50)
    exact = np.zeros((2000, 3000))
    np.add.at(exact, codes, x)
    np.testing.assert_array_equal(kernels.class_sums(x, 2000, codes=codes), exact)


def test_every_instruction_set_gives_the_same_bits():
    script = (
        "import numpy as np; from scipy import sparse; from suffice import kernels\n"
        "rng = np.random.default_rng(0); x = sparse.random_array((3000, 70), density=0.3, format='csr', rng=rng)\n"
        "c = rng.integers(0, 5, 3000); w = rng.random(3000); s = rng.standard_normal((70, 5))\n"
        "x = kernels.Cells.of(x)\n"
        "a = kernels.sparse_sums(x, 5, codes=c, weights=w)[0], kernels.sparse_sums(x, 5, codes=c, above=0.4)[0]\n"
        "a += tuple(kernels.sparse_scores(x, s[0, :k], s[:, :k].copy()) for k in (1, 2, 3, 4, 5))\n"
        "d, codes = rng.random((5000, 13)), rng.integers(0, 5, 5000)\n"
        "a += (kernels.class_sums_with_flags(d, 5, codes=codes, above=0.5)[0],)\n"
        "made = a\n"
    )
    assert_same_bits(script)


@pytest.mark.parametrize("whole", [True, False])
def test_rising_scores_are_ratios_of_gamma_functions(whole):
    rng = np.random.default_rng(0)
    bounds, indices = np.arange(0, 201, 20), np.concatenate([np.sort(rng.permutation(50)[:20]) for _ in range(10)])
    draws = rng.integers(1, 9, 200).astype(float) * (1 if whole else rng.random(200))
    start = 10 ** rng.uniform(-3, 5, (50, 7))
    own, codes = 10 ** rng.uniform(-3, 5, 200), rng.integers(0, 7, 10)
    each = start[indices]
    each[np.arange(200), np.repeat(codes, 20)] = own
    with mpmath.workdps(40):
        rise = np.vectorize(lambda a, x: float(mpmath.loggamma(mpmath.mpf(a) + x) - mpmath.loggamma(a)))
        terms = rise(each, draws[:, None])
    found = kernels.rising_scores(kernels.Cells(bounds, indices, draws, (10, 50)), start, own, codes)
    np.testing.assert_allclose(found, terms.reshape(10, 20, 7).sum(axis=1), rtol=1e-13, atol=1e-12)


def test_rising_scores_refuse_invalid_cells():
    cells = kernels.Cells(np.array([0, 1]), np.array([1]), np.ones(1), (1, 1))
    with pytest.raises(ValueError, match="outside its shape"):
        kernels.rising_scores(cells, np.ones((1, 2)), np.ones(1), np.array([0]))
    zero = kernels.rising_scores(cells._replace(indices=np.array([0])), np.zeros((1, 2)), np.ones(1), np.array([0]))
    assert zero.tolist() == [[0.0, -np.inf]]
