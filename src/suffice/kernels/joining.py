"""Summaries of rows: refined in two doubles, joined, and pooled over classes."""

from __future__ import annotations

import numpy as np

from suffice.kernels import _core
from suffice.kernels.moments import MomentSums
from suffice.kernels.reading import Codes, Float, Numbers, readable

__all__ = [
    "complete_symmetric",
    "grand_mean",
    "join_moments",
    "join_row",
    "join_row_scatter",
    "join_scatter",
    "pool_moments",
    "refine_moments",
]

Pairs = tuple[Float, Float, Float, Float, Float, Float]
"""Weight, mean, and squares or scatter, each followed by its low part."""


def refine_moments(
    x: Numbers,
    moments: MomentSums,
    weight: Float,
    weight_low: Float,
    *,
    codes: Codes | None = None,
    soft: Float | None = None,
    weights: Float | None = None,
    missing: bool = False,
) -> None:
    """Read the rows a second time and overwrite mean and centred sum of squares of ``moments`` in two doubles.

    ``weight + weight_low`` is the weight of each class and column. Where squares overflow or underflow, ``moments``
    keeps its values.

    >>> from suffice.kernels.moments import class_moments
    >>> rows, codes, three = np.array([[-1e9 - 1], [1.0], [1e9]]), np.zeros(3, dtype=np.int64), np.full((1, 1), 3.0)
    >>> moments = class_moments(rows, 1, codes=codes)
    >>> refine_moments(rows, moments, three, 0 * three, codes=codes)
    >>> int(moments.m2.item()) + int(moments.m2_low.item()) == (10**9 + 1) ** 2 + 1 + 10**18
    True
    """
    _core.refine_moments(readable(x), codes, soft, weights, missing, weight, weight_low, *moments[1:])


def join_moments(a: Pairs, b: Pairs) -> Float:
    """Moments of both groups of rows together (6, n_classes, d), in the order of `Pairs`.

    >>> one, none = np.ones((1, 1)), np.zeros((1, 1))
    >>> join_moments((one, none, one, none, none, none), (one, none, 3 * one, none, none, none))[::2].ravel()
    array([2., 2., 2.])
    """
    out = np.empty((6, *a[2].shape))
    _core.join_moments(out, *_contiguous(*a, *b))
    return out


def join_row(a: Pairs, row: Float, code: int) -> tuple[Float, Float] | None:
    """`join_moments` with one row of a class, and `pool_moments` of the result.

    None if the row has a missing or infinite value, or if squares are out of range.

    >>> one, none = np.ones((1, 1)), np.zeros((1, 1))
    >>> joined, pooled = join_row((one, none, one, none, none, none), np.array([3.0]), 0)
    >>> joined[::2].ravel(), pooled.ravel()
    (array([2., 2., 2.]), array([2., 2., 0., 2.]))
    """
    shape = a[2].shape
    out, pooled = np.empty((6, *shape)), np.empty((4, shape[1]))
    weight, weight_low, mean, mean_low, m2, m2_low = _contiguous(*a)
    done = _core.join_row(out, pooled, weight, weight_low, mean, mean_low, m2, m2_low, row, code)
    return (out, pooled) if done else None


def pool_moments(weight: Float, mean: Float, mean_low: Float, m2: Float) -> tuple[Float, bool]:
    """Pool all classes into one: weight, mean, its low part and centred sum of squares (4, d).

    Also returns whether all squares, pooled and per class, are finite and large enough to keep all their digits.
    """
    out = np.empty((4, mean.shape[1]))
    return out, _core.pool_moments(out, *_contiguous(weight, mean, mean_low, m2))


def complete_symmetric(high: Float, low: Float) -> None:
    """Complete symmetric matrices ``high + low`` (n, d, d) from their lower triangles, in place.

    Each entry is also normalised: ``high`` becomes the double nearest to the sum.

    >>> high, low = np.array([[[1.0, 0.0], [2.0, 3.0]]]), np.zeros((1, 2, 2))
    >>> complete_symmetric(high, low)
    >>> high[0]
    array([[1., 2.],
           [2., 3.]])
    """
    _core.complete_symmetric(high, low)


def join_scatter(a: Pairs, b: Pairs) -> tuple[Float, Float, Float, Float]:
    """Weight (2, n_classes), mean (2, n_classes, d), scatter (n, d, d) and its low part, for both groups together.

    There is one scatter matrix for each class (n = n_classes) or one for all (n = 1).
    """
    weight, mean = np.empty((2, len(a[0]))), np.empty((2, *a[2].shape))
    scatter, low = np.zeros(a[4].shape), np.zeros(a[4].shape)
    _core.join_scatter(weight, mean, scatter, low, *_contiguous(*a, *b))
    return weight, mean, scatter, low


def join_row_scatter(a: Pairs, row: Float, code: int) -> tuple[Float, Float, Float, Float, Float, Float, bool] | None:
    """`join_scatter` with one row of a class; mean of all rows, offsets and the second warning of `grand_mean`.

    None if the row has a missing or infinite value, or if squares are out of range.
    """
    weight, mean = np.empty((2, len(a[0]))), np.empty((2, *a[2].shape))
    scatter, low = np.zeros((2, *a[4].shape))
    grand, away = np.empty((2, a[2].shape[1])), np.empty(a[2].shape)
    parts = _contiguous(*a)
    bits = _core.join_row_scatter(
        weight, mean, scatter, low, grand, away, parts[0], parts[1], parts[2], parts[3], parts[4], parts[5], row, code
    )
    return None if bits & 1 else (weight, mean, scatter, low, grand, away, bool(bits & 2))  # −1 has all bits


def grand_mean(weight: Float, mean: Float, mean_low: Float, scatter: Float) -> tuple[Float, Float, bool, bool]:
    """Mean of all rows (2, d), the offset of each class mean from it (n_classes, d), and two warnings.

    The first is True if squares overflowed or underflowed: the diagonals of ``scatter`` (n, d, d), or the squares about
    the common mean. The second is True if a column has almost no squares in any matrix.
    """
    out, away = np.empty((2, mean.shape[1])), np.empty(mean.shape)
    bits = _core.grand_mean(out, away, *_contiguous(weight, mean, mean_low, scatter))
    return out, away, bool(bits & 1), bool(bits & 2)


def _contiguous(*arrays: Float) -> list[Float]:
    """The arrays as contiguous float64, copied only where needed."""
    return [np.ascontiguousarray(each, dtype=np.float64) for each in arrays]
