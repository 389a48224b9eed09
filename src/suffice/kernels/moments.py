"""Per-class sums, means and sums of squares."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice.kernels import _core
from suffice.kernels.reading import Codes, Float, Numbers, readable, shape_of
from suffice.kernels.value_flags import ValueFlags, cell_rule

__all__ = ["MomentSums", "class_moments", "class_sums", "class_sums_with_flags", "exact_moments"]


def class_sums(
    x: Numbers,
    n_classes: int,
    *,
    codes: Codes | None = None,
    soft: Float | None = None,
    weights: Float | None = None,
) -> Float:
    """Per-class weighted column sums, (n_classes, d).

    >>> class_sums(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), 2, codes=np.array([0, 1, 1]))
    array([[ 1.,  2.],
           [ 8., 10.]])
    """
    total = np.zeros((n_classes, shape_of(x)[1]))
    _core.class_sums(readable(x), codes, soft, weights, *cell_rule(None, False), False, total)
    return total


def class_sums_with_flags(
    x: Numbers,
    n_classes: int,
    *,
    codes: Codes | None = None,
    soft: Float | None = None,
    weights: Float | None = None,
    above: float | None = None,
    missing: bool = False,
) -> tuple[Float, ValueFlags]:
    """`class_sums`, and flags about the values, in one read.

    With ``above`` a cell counts one if its value is above the threshold; with ``missing``, if it is missing.

    >>> class_sums_with_flags(np.array([[1.0, np.nan], [3.0, 4.0]]), 1, codes=np.array([0, 0]), above=2.0)
    (array([[1., 1.]]), ValueFlags(negative=False, missing=True, infinite=False))
    """
    total = np.zeros((n_classes, shape_of(x)[1]))
    flags = _core.class_sums(readable(x), codes, soft, weights, *cell_rule(above, missing), True, total)
    return total, ValueFlags.of(flags)


class MomentSums(NamedTuple):
    """Result of `class_moments`; all arrays have shape (n_classes, d).

    The mean is the unevaluated sum ``mean + mean_low``, so that a mean of 1e8 with a spread of 1 keeps all its
    digits. The centred sum of squares is ``m2 + m2_low``. Where values differ but their squared differences
    underflow, ``m2`` is the smallest positive number instead of zero.
    """

    weight: Float
    mean: Float
    mean_low: Float
    m2: Float
    m2_low: Float


def class_moments(
    x: Numbers,
    n_classes: int,
    *,
    codes: Codes | None = None,
    soft: Float | None = None,
    weights: Float | None = None,
    missing: bool = False,
) -> MomentSums:
    """Per-class weight, mean and centred sum of squares of each column, in one read of ``x``.

    With ``missing=True`` NaN is a missing cell, and ``weight`` counts the cells that are not missing.

    >>> m = class_moments(np.array([[1.0], [2.0], [6.0]]), 2, codes=np.array([0, 1, 1]))
    >>> m.mean.ravel(), m.m2.ravel()
    (array([1., 4.]), array([0., 8.]))
    """
    out = MomentSums(*np.zeros((5, n_classes, shape_of(x)[1])))
    _core.class_moments(readable(x, bits=True), codes, soft, weights, missing, *out)
    return out


def exact_moments(
    x: Numbers,
    mean: Float,
    mean_low: Float,
    *,
    codes: Codes | None = None,
    soft: Float | None = None,
    weights: Float | None = None,
    missing: bool = False,
) -> tuple[Float, Float, Float, Float]:
    """Σ w (x − c) and Σ w (x − c)² of each class and column about ``c = mean + mean_low``, in two doubles each.

    >>> at = np.array([[1.0]])
    >>> total, _, square, low = exact_moments(np.array([[2.0], [1e9]]), at, 0 * at, codes=np.array([0, 0]))
    >>> total.item(), int(square.item()) + int(low.item()) == 1 + (10**9 - 1) ** 2
    (1000000000.0, True)
    """
    out = tuple(np.zeros((4, *mean.shape)))
    _core.exact_moments(readable(x), codes, soft, weights, missing, mean, mean_low, *out)
    return out[0], out[1], out[2], out[3]
