"""Decompositions by LAPACK give the numbers and the errors of SciPy."""

import numpy as np
import pytest
import scipy.linalg

from suffice.numerics.decompositions import eigh, svd

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("d", [1, 2, 5, 40])
def test_eigenvectors_equal_those_of_scipy(d):
    a = RNG.standard_normal((d, d))
    a = a @ a.T
    for ours, expected in zip(eigh(a), scipy.linalg.eigh(a), strict=True):
        assert np.array_equal(ours, expected)


@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (4, 3), (3, 0), (0, 3), (50, 20)])
def test_singular_vectors_equal_those_of_scipy(shape):
    a = RNG.standard_normal(shape)
    before = a.copy()
    for ours, expected in zip(svd(a), scipy.linalg.svd(a, full_matrices=False), strict=True):
        assert np.array_equal(ours, expected)
    assert np.array_equal(a, before)


@pytest.mark.parametrize("function", [eigh, svd])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_raise(function, bad):
    with pytest.raises(ValueError, match="must not contain infs or NaNs"):
        function(np.array([[1.0, bad], [bad, 1.0]]))
