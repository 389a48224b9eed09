"""Summaries of rows: made exact, joined, and pooled over the classes."""

from __future__ import annotations

import numpy as np

from suffice.kernels import _core
from suffice.kernels.moments import Moments
from suffice.kernels.reading import Codes, Float, Numbers, readable

__all__ = ["complete", "grand_mean", "join_moments", "join_scatter", "pool_moments", "settle_moments"]

Pairs = tuple[Float, Float, Float, Float, Float, Float]
"""Weight, its low part, mean, its low part, squares or scatter, their low part."""


def settle_moments(
    x: Numbers,
    found: Moments,
    weight: Float,
    weight_low: Float,
    *,
    codes: Codes | None = None,
    soft: Float | None = None,
    weights: Float | None = None,
    missing: bool = False,
) -> None:
    """A second look at the rows, which writes mean and centred sum of squares in two doubles over those of ``found``.

    ``weight + weight_low`` is the weight of each class and column. Where squares over- or underflow, what was found
    stays.

    >>> from suffice.kernels.moments import class_moments
    >>> rows, codes, three = np.array([[-1e9 - 1], [1.0], [1e9]]), np.zeros(3, dtype=np.int64), np.full((1, 1), 3.0)
    >>> found = class_moments(rows, 1, codes=codes)
    >>> settle_moments(rows, found, three, 0 * three, codes=codes)
    >>> int(found.m2.item()) + int(found.m2_low.item()) == (10**9 + 1) ** 2 + 1 + 10**18
    True
    """
    _core.settle_moments(readable(x), codes, soft, weights, missing, weight, weight_low, *found[1:])


def join_moments(a: Pairs, b: Pairs) -> Float:
    """Moments of the rows of both (6, n_classes, d), in the order in which they are given.

    >>> one, none = np.ones((1, 1)), np.zeros((1, 1))
    >>> join_moments((one, none, one, none, none, none), (one, none, 3 * one, none, none, none))[::2].ravel()
    array([2., 2., 2.])
    """
    out = np.empty((6, *a[2].shape))
    _core.join_moments(out, *_plain(*a, *b))
    return out


def pool_moments(weight: Float, mean: Float, mean_low: Float, m2: Float) -> tuple[Float, bool]:
    """Weight, mean, its low part and centred sum of squares of all classes as one (4, d).

    And whether neither these squares nor those of a class are infinite, or so small that they have lost digits.
    """
    out = np.empty((4, mean.shape[1]))
    return out, _core.pool_moments(out, *_plain(weight, mean, mean_low, m2))


def complete(high: Float, low: Float) -> None:
    """Write matrices ``high + low`` (n, d, d) over their lower triangles, each entry as a double and what it lacks.

    >>> high, low = np.array([[[1.0, 0.0], [2.0, 3.0]]]), np.zeros((1, 2, 2))
    >>> complete(high, low)
    >>> high[0]
    array([[1., 2.],
           [2., 3.]])
    """
    _core.complete(high, low)


def join_scatter(a: Pairs, b: Pairs) -> tuple[Float, Float, Float, Float]:
    """Weight (2, n_classes), mean (2, n_classes, d) and scatter (n, d, d), with its low part, of the rows of both.

    There is a scatter matrix for each class, or one for all.
    """
    weight, mean = np.empty((2, len(a[0]))), np.empty((2, *a[2].shape))
    scatter, low = np.zeros(a[4].shape), np.zeros(a[4].shape)
    _core.join_scatter(weight, mean, scatter, low, *_plain(*a, *b))
    return weight, mean, scatter, low


def grand_mean(weight: Float, mean: Float, mean_low: Float, scatter: Float) -> tuple[Float, Float, bool, bool]:
    """Mean of all rows (2, d), how far each class mean lies from it (n_classes, d), and what is strange.

    That is whether squares, the diagonals of ``scatter`` (n, d, d), over- or underflowed, by themselves or about the
    common mean; and whether a column has next to none in any matrix.
    """
    out, away = np.empty((2, mean.shape[1])), np.empty(mean.shape)
    found = _core.grand_mean(out, away, *_plain(weight, mean, mean_low, scatter))
    return out, away, bool(found & 1), bool(found & 2)


def _plain(*arrays: Float) -> list[Float]:
    """The arrays, copied only where one does not lie in a row."""
    return [np.ascontiguousarray(each, dtype=np.float64) for each in arrays]
