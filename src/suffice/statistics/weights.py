"""Sums of weights in two doubles, so that removing all rows leaves exactly zero.

One double stores a sum of 10⁵ to 10⁻¹¹, which is not negligible compared with a remaining row of weight 10⁻³. Sums of
whole numbers are exact anyway; other weights are cut into two slices, the upper with so few bits that its sum is exact.
"""

from __future__ import annotations

import numpy as np

from suffice.numerics.compensated import add, two_sum
from suffice.numerics.types import Codes, Float, Mask
from suffice.statistics.classes import Membership

__all__ = ["cell_weights", "class_weights", "weighted_counts"]


def weighted_counts(codes: Codes, weights: Float | None, size: int) -> tuple[Float, Float]:
    """Return the sum of the weights of each code (size,), in two doubles.

    >>> high, low = weighted_counts(np.array([0, 0, 1]), np.array([1e3, 1e-15, 0.1]), 2)
    >>> high, low
    (array([1.e+03, 1.e-01]), array([1.e-15, 0.e+00]))
    """
    if weights is None or not len(weights) or (weights == np.floor(weights)).all():
        return np.bincount(codes, weights, minlength=size).astype(np.float64), np.zeros(size)
    upper, lower = _slices(weights)
    high, low = (np.bincount(codes, part, minlength=size).astype(np.float64) for part in (upper, lower))
    return two_sum(high, low)


def _slices(weights: Float) -> tuple[Float, Float]:
    """Return two arrays that sum to the weights; any sum of the first is exact."""
    _, exponent = np.frexp(weights.max())
    # Adding and subtracting a large power of two rounds to a multiple of its last digit.
    anchor = np.ldexp(1.0, int(exponent) + int(np.ceil(np.log2(len(weights)))) + 1)
    upper = (weights + anchor) - anchor
    return upper, weights - upper


def class_weights(members: Membership) -> tuple[Float, Float]:
    """Return the sum of the weights of each class (K,), in two doubles."""
    return _by_class(members, None)


def cell_weights(members: Membership, n_columns: int, missing: Mask | None = None) -> tuple[Float, Float]:
    """Return the sum of the weights of the cells that are not ``missing`` (n, d), for each class and column (K, d)."""
    by_class = _by_class(members, None)
    high, low = np.repeat(by_class[0][:, None], n_columns, axis=1), np.repeat(by_class[1][:, None], n_columns, axis=1)
    if missing is None:
        return high, low
    for j in np.flatnonzero(missing.any(axis=0)):
        lost = _by_class(members, missing[:, j])
        left, left_low = add(high[:, j], low[:, j], -lost[0], -lost[1])
        # If all cells are missing, the two sums of the same weights may differ in their last digit.
        none = left <= 1e-20 * high[:, j]
        high[:, j], low[:, j] = np.where(none, 0.0, left), np.where(none, 0.0, left_low)
    return high, low


def _by_class(members: Membership, where: Mask | None) -> tuple[Float, Float]:
    k, codes, soft, weights = members.n_classes, members.codes, members.soft, members.weights
    if codes is not None and weights is None and where is None:
        return members.row_counts.astype(np.float64), np.zeros(k)
    weights = weights if weights is None or where is None else weights[where]
    if codes is not None:
        codes = codes if where is None else codes[where]
        if codes.min(initial=0) < 0:
            here = codes >= 0
            codes, weights = codes[here], None if weights is None else weights[here]
        return weighted_counts(codes, weights, k)
    assert soft is not None
    soft = soft if where is None else soft[where]
    soft = soft if weights is None else soft * weights[:, None]
    one = np.zeros(len(soft), dtype=np.int64)
    parts = [weighted_counts(one, np.ascontiguousarray(soft[:, i]), 1) for i in range(k)]
    return np.array([part[0][0] for part in parts]), np.array([part[1][0] for part in parts])
