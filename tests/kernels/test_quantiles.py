"""Quantiles of columns."""

import numpy as np
import pytest

from suffice import kernels


@pytest.mark.parametrize("n_parts", [1, 2, 5, 40])
@pytest.mark.parametrize("n", [1, 7, 3001])
def test_quantiles_are_numbers_of_the_column(n, n_parts):
    rng = np.random.default_rng(0)
    z = rng.standard_normal(n)
    x = np.column_stack([z, np.rint(z), 1e9 + z, -np.exp(50 * z), np.zeros(n), 1 + z * 1e-14, *rng.random((5, n))])
    at = -(-np.arange(1, n_parts) * n // n_parts) - 1
    expected = np.column_stack([np.sort(x, axis=0)[at].T, x.max(axis=0)])
    np.testing.assert_array_equal(kernels.quantiles(x, n_parts), expected)
    np.testing.assert_array_equal(kernels.quantiles(np.asfortranarray(x)[:, ::2], n_parts), expected[::2])
    few = np.where(np.arange(2 * n) % 2, np.nan, np.repeat(z, 2))[:, None]
    np.testing.assert_array_equal(kernels.quantiles(few, n_parts), expected[:1])


def test_columns_without_numbers_have_none():
    assert np.isnan(kernels.quantiles(np.full((4, 2), np.nan), 3)).all()
    assert np.isnan(kernels.quantiles(np.empty((0, 2)), 3)).all()
    assert kernels.quantiles(np.empty((5, 0)), 3).shape == (0, 3)
