"""Class moments of rows, to twice the digits where they are few.

Taking out a row that lies 10⁶ deviations away leaves what is left known to 10⁻¹⁶ · 10¹² / n of itself, if squares were
summed in one double. Of up to a million cells a second look, at rows that are still in the cache, therefore sums the
deviations and their squares in two; of more rows n makes up for it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import kernels
from suffice.statistics.classes import Membership
from suffice.statistics.weights import cell_weights

__all__ = ["EXACT_CELLS", "class_moments"]

Float = NDArray[np.float64]
EXACT_CELLS = 1 << 20
FIRST_ROWS = 256


def _known_weights(x: Any, who: dict[str, Any], n_classes: int) -> tuple[Float, Float]:
    """Sum of the weights of the cells that are not NaN (K, d), in two doubles."""
    none = np.zeros(x.shape[1], dtype=np.int64)  # numbers that are counted apart: a cell is there, or it is missing
    high, low = kernels.class_counts(x, none, none, n_classes, **who)
    return np.ascontiguousarray(high[:, ::2]), np.ascontiguousarray(low[:, ::2])


def class_moments(x: Any, members: Membership, *, missing: bool) -> tuple[kernels.MomentSums, Float]:
    """Weight, mean and centred sum of squares of each class and column, and the low part of the weight.

    NaN is a missing cell if ``missing``.
    """
    who: dict[str, Any] = {"codes": members.codes, "soft": members.soft, "weights": members.weights}
    holes = missing and bool(np.isnan(x[:FIRST_ROWS]).any())  # where there is one, there are more
    found = kernels.class_moments(x, len(members.classes), missing=holes, **who)
    if missing and not holes and np.isnan(found.mean).any():
        # A NaN was met. Cells are counted one by one only for data that have holes.
        found, holes = kernels.class_moments(x, len(members.classes), missing=True, **who), True
    weight, low = found.weight, np.zeros_like(found.weight)
    if members.weights is not None or members.soft is not None:  # without them it is a count, and exact
        weight, low = _known_weights(x, who, len(members.classes)) if holes else cell_weights(members, x.shape[1])
    if x.shape[0] * x.shape[1] * (1 if members.soft is None else len(members.classes)) > EXACT_CELLS:
        return found._replace(weight=weight), low
    kernels.refine_moments(x, found, weight, low, missing=holes, **who)
    return found._replace(weight=weight), low
