"""Eigenvectors and singular vectors of small matrices, by the routines that SciPy calls and without its preparations.

Those take longer than the decomposition of a matrix of a few columns. What SciPy would refuse is left to it.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy.linalg
from numpy.typing import NDArray
from scipy.linalg.lapack import dgesdd, dgesdd_lwork, dsyevr, dsyevr_lwork

__all__ = ["eigh", "svd"]

Float = NDArray[np.float64]


@lru_cache(maxsize=64)
def _symmetric_space(n: int) -> tuple[int, int]:
    """How much memory LAPACK wants for a symmetric matrix."""
    size, whole, _ = dsyevr_lwork(n, lower=1)
    return int(size), int(whole)


@lru_cache(maxsize=64)
def _space(rows: int, columns: int) -> int:
    """How much memory LAPACK wants for a matrix."""
    size, _ = dgesdd_lwork(rows, columns, compute_uv=1, full_matrices=0)
    return int(size)


def eigh(a: Float) -> tuple[Float, Float]:
    """Eigenvalues, from the least to the largest, and eigenvectors, in columns, of a symmetric matrix.

    >>> eigh(np.array([[2.0, 0.0], [0.0, 1.0]]))[0]
    array([1., 2.])
    """
    if a.size and np.isfinite(a).all():
        size, whole = _symmetric_space(len(a))
        values, vectors, _, _, failed = dsyevr(a, lower=1, lwork=size, liwork=whole)
        if not failed:
            return values, vectors
    found: tuple[Float, Float] = scipy.linalg.eigh(a)
    return found


def svd(a: Float) -> tuple[Float, Float, Float]:
    """Left singular vectors in columns, singular values from the largest to the least, right ones in rows.

    >>> svd(np.array([[3.0], [4.0]]))[1]
    array([5.])
    """
    if a.size and np.isfinite(a).all():
        left, values, right, failed = dgesdd(a, compute_uv=1, full_matrices=0, lwork=_space(*a.shape))
        if not failed:
            return left, values, right
    found: tuple[Float, Float, Float] = scipy.linalg.svd(a, full_matrices=False)
    return found
