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
