"""Counts of pairs of cells, and scores from them."""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from suffice import kernels


def example(n=20_000, seed=0):
    rng = np.random.default_rng(seed)
    sizes = np.array([3, 4, 2])
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    cells = (rng.integers(0, sizes, (n, 3)) + offsets[:-1]).astype(np.int32)
    parents, shift = np.array([0, 2]), np.array([0, 3 - 7])
    return cells, parents, shift, rng.integers(-1, 2, n), rng.random(n), rng.dirichlet([1.0, 2.0], n)


def counted(cells, parents, shift, **members):
    pairs, single = np.zeros((2, 5, 9)), np.zeros((2, 9))
    kernels.add_pair_counts(cells, parents, shift, pairs, single, **members)
    return pairs, single


def test_counts_are_those_of_one_hot_rows():
    cells, parents, shift, codes, weights, soft = example()
    hot = np.eye(9)[cells].sum(axis=1)
    for members, share in (
        ({"codes": codes}, (codes[:, None] == np.arange(2)).astype(float)),
        ({"codes": codes, "weights": weights}, (codes[:, None] == np.arange(2)) * weights[:, None]),
        ({"soft": soft, "weights": weights}, soft * weights[:, None]),
    ):
        pairs, single = counted(cells, parents, shift, **members)
        rows = hot[:, [0, 1, 2, 7, 8]]
        expected = np.einsum("nk,nr,nc->krc", share, rows, hot)
        expected[:, 3:, :3] = 0.0  # pairs of two parents are in the rows of the first
        np.testing.assert_allclose(pairs, expected, rtol=1e-12)
        np.testing.assert_allclose(single, share.T @ hot, rtol=1e-12)


def test_threads_change_nothing():
    cells, parents, shift, codes, weights, _ = example(50_000)
    with threadpool_limits(1):
        one = counted(cells, parents, shift, codes=codes, weights=weights)
    with threadpool_limits(4):
        four = counted(cells, parents, shift, codes=codes, weights=weights)
    for a, b in zip(one, four, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("cells", "parents", "shift"),
    [
        ([[0, 3, 9]], [0], [0]),
        ([[-1, 3, 7]], [0], [0]),
        ([[0, 3, 7]], [3], [0]),
        ([[0, 3, 7]], [2, 0], [0, 0]),
        ([[0, 3, 7]], [2], [0]),
        ([[0, 3, 7]], [0, 2], [0]),
    ],
)
def test_cells_outside_the_tables_are_refused(cells, parents, shift):
    cells = np.array(cells, dtype=np.int32)
    with pytest.raises(ValueError, match=r"cell is outside|parents"):
        counted(cells, np.array(parents), np.array(shift), codes=np.zeros(1, dtype=np.int64))


@pytest.mark.parametrize("n_classes", [1, 2, 200])
@pytest.mark.parametrize("sizes", [[5, 6, 2, 1], [3, 70, 90, 9], [2, 5, 400, 20]])
def test_counts_of_rows_are_those_of_rows_of_weight_one(n_classes, sizes):
    rng = np.random.default_rng(0)
    n, sizes = 20_000, np.array(sizes)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    cells = np.minimum(rng.geometric(0.2, (n, 4)) - 1, sizes - 1) + offsets[:-1]
    cells[:, 0] = offsets[0]  # one cell alone
    parents = np.array([0, 1, 3])
    starts = np.concatenate([[0], np.cumsum(sizes[parents])])
    shift, codes = starts[:-1] - offsets[parents], rng.integers(-1, n_classes, n)
    found = []
    for weights in (None, np.ones(n)):
        pairs, single = np.zeros((n_classes, starts[-1], offsets[-1])), np.zeros((n_classes, offsets[-1]))
        kernels.add_pair_counts(cells.astype(np.int32), parents, shift, pairs, single, codes=codes, weights=weights)
        found.append((pairs, single))
    for rows, weighted in zip(*found, strict=True):
        np.testing.assert_array_equal(rows, weighted)


@pytest.mark.parametrize("n_cuts", [0, 1, 4, 16, 17, 300])
def test_cells_of_numbers(n_cuts):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((2500, 3))
    x[::7, 1] = np.nan
    x[3] = np.inf, -np.inf, 0.0
    cuts = [np.sort(rng.choice(x[20:, 0], n_cuts, replace=False)), np.array([]), np.array([-0.5, 0.0, 0.5])]
    first, columns = np.array([0, 400, 10]), np.array([3, 0, 1])
    for rows in (x, np.asfortranarray(x), x.astype(np.float32)):
        out = np.full((len(x), 4), -7, dtype=np.int32)
        kernels.interval_cells(rows, cuts, first, columns, out)
        for values, own, start, j in zip(rows.T.astype(float), cuts, first, columns, strict=True):
            expected = start + np.where(np.isnan(values), len(own) + 1, np.searchsorted(own, values))
            np.testing.assert_array_equal(out[:, j], expected)
        assert (out[:, 2] == -7).all()


@pytest.mark.parametrize("share", [None, 0.7])
def test_ends_of_cells(share):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((20_000, 3)).astype(np.float32)
    x[::7, 1] = np.nan
    present = None if share is None else rng.random(len(x)) < share
    cells = rng.integers(0, 5, (len(x), 4)).astype(np.int32) + 5 * np.arange(4, dtype=np.int32)
    columns = np.array([3, 0, 1])
    low, high = np.full(20, np.inf), np.full(20, -np.inf)
    low[0] = -9.0
    kernels.widen_cell_ends(x, cells, columns, low, high, present=present)
    for values, j in zip(x.T.astype(float), columns, strict=True):
        for cell in range(5 * j, 5 * j + 5):
            here = values[(cells[:, j] == cell) & ~np.isnan(values) & (True if present is None else present)]
            assert (low[cell], high[cell]) == (min(here.min(), -9.0 if cell == 0 else np.inf), here.max())
    assert np.isinf(low[10:15]).all()
    with pytest.raises(ValueError, match="outside the tables"):
        kernels.widen_cell_ends(x, cells + np.int32(5), columns, low, high)
