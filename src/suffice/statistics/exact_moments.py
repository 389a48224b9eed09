"""Class moments of rows, with twice the digits if there are few rows.

If squares are summed in one double, removing a row at 10⁶ deviations leaves a sum with a relative error of
10⁻¹⁶ · 10¹² / n. Up to a million cells, a second pass over rows that are still in the cache therefore sums deviations
and their squares in two doubles; with more rows, n makes the error small enough.
"""

from __future__ import annotations

import numpy as np

from suffice import kernels
from suffice.numerics.types import Float, Matrix
from suffice.statistics.classes import Membership
from suffice.statistics.weights import cell_weights

__all__ = ["EXACT_CELLS", "class_moments"]

EXACT_CELLS = 1 << 20
FIRST_ROWS = 256


def _known_weights(x: Matrix, members: Membership) -> tuple[Float, Float]:
    """Return the sum of the weights of the cells that are not NaN (K, d), in two doubles."""
    none = np.zeros(x.shape[1], dtype=np.int64)  # distinguish no numbers: a cell is present or missing
    high, low = kernels.class_counts(x, none, none, len(members.classes), **members.arrays)
    return np.ascontiguousarray(high[:, ::2]), np.ascontiguousarray(low[:, ::2])


def class_moments(x: Matrix, members: Membership, *, missing: bool) -> tuple[kernels.MomentSums, Float]:
    """Return weight, mean and centred sum of squares of each class and column, and the low part of the weight.

    NaN is a missing cell if ``missing`` is true.
    """
    holes = missing and bool(np.isnan(x[:FIRST_ROWS]).any())  # usually there are others in the first rows
    arrays = members.arrays
    moments = kernels.class_moments(x, members.n_classes, missing=holes, **arrays)
    if missing and not holes and np.isnan(moments.mean).any():
        # There is a NaN after the first rows. Only data with missing cells pay for counting them one by one.
        moments, holes = kernels.class_moments(x, members.n_classes, missing=True, **arrays), True
    weight, low = moments.weight, np.zeros_like(moments.weight)
    if members.weights is not None or members.soft is not None:  # otherwise the weight is a count, which is exact
        weight, low = _known_weights(x, members) if holes else cell_weights(members, x.shape[1])
    if x.shape[0] * x.shape[1] * (1 if members.soft is None else members.n_classes) > EXACT_CELLS:
        return moments._replace(weight=weight), low
    kernels.refine_moments(x, moments, weight, low, missing=holes, **arrays)
    return moments._replace(weight=weight), low
