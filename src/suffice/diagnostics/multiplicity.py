"""Corrected p-values: Holm's method within a check, and Bonferroni's over the checks."""

from __future__ import annotations

import numpy as np

from suffice.numerics.types import Float

__all__ = ["holm"]


def holm(p_values: Float) -> Float:
    """P-values by Holm's step-down method (m,); NaN is not a test and stays NaN.

    If all hypotheses hold, the probability that the least of them is below a level is at most that level, whatever the
    dependence between the tests.

    >>> holm(np.array([0.01, 0.04, np.nan, 0.03]))
    array([0.03, 0.06,  nan, 0.06])
    """
    out = np.full(p_values.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(p_values))
    order = tested[np.argsort(p_values[tested], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    out[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return out
