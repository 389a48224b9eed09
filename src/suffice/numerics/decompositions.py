"""Eigenvectors and singular vectors of small matrices, computed by LAPACK without SciPy's preparations.

For a matrix of a few columns, the preparations take longer than the decomposition. Matrices that SciPy rejects are
passed on to SciPy, which raises its own errors.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import scipy

from suffice.numerics.types import Float

__all__ = ["eigh", "svd"]


@lru_cache(maxsize=64)
def _symmetric_space(n: int) -> tuple[int, int]:
    """Return the sizes of the two workspaces that LAPACK needs for a symmetric matrix."""
    size, whole, _ = scipy.linalg.lapack.dsyevr_lwork(n, lower=1)
    return int(size), int(whole)


@lru_cache(maxsize=64)
def _space(rows: int, columns: int) -> int:
    """Return the size of the workspace that LAPACK needs for a matrix."""
    size, _ = scipy.linalg.lapack.dgesdd_lwork(rows, columns, compute_uv=1, full_matrices=0)
    return int(size)


def eigh(a: Float) -> tuple[Float, Float]:
    """Return eigenvalues in ascending order and eigenvectors in columns of a symmetric matrix.

    >>> eigh(np.array([[2.0, 0.0], [0.0, 1.0]]))[0]
    array([1., 2.])
    """
    if a.size and np.isfinite(a).all():
        size, whole = _symmetric_space(len(a))
        values, vectors, _, _, failed = scipy.linalg.lapack.dsyevr(a, lower=1, lwork=size, liwork=whole)
        if not failed:
            return values, vectors
    decomposition: tuple[Float, Float] = scipy.linalg.eigh(a)
    return decomposition


def svd(a: Float) -> tuple[Float, Float, Float]:
    """Return left singular vectors in columns, singular values in descending order, right singular vectors in rows.

    >>> svd(np.array([[3.0], [4.0]]))[1]
    array([5.])
    """
    if a.size and np.isfinite(a).all():
        left, values, right, failed = scipy.linalg.lapack.dgesdd(
            a, compute_uv=1, full_matrices=0, lwork=_space(*a.shape)
        )
        if not failed:
            return left, values, right
    decomposition: tuple[Float, Float, Float] = scipy.linalg.svd(a, full_matrices=False)
    return decomposition
