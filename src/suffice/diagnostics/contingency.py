"""Tests of independence in tables of counts: the likelihood ratio G and Pearson's χ².

    G = 2 Σ n log(n / e),     χ² = Σ (n − e)² / e

for counts n and expected counts e. Each is too liberal for some tables, so the p-value is the larger of the two.
"""

from __future__ import annotations

import numpy as np

from suffice.numerics.types import Float

__all__ = ["EXPECTED", "cell_terms", "table_p_value"]

EXPECTED = 5.0  # least expected count of a cell


def cell_terms(counts: Float, expected: Float) -> tuple[Float, Float]:
    """What each cell adds to G and to χ²; 0 for a cell that no row can be in.

    >>> g, square = cell_terms(np.array([8.0, 2.0]), np.array([5.0, 5.0]))
    >>> round(float(g.sum()), 3), round(float(square.sum()), 3)
    (3.855, 3.6)
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        log_ratio = np.where(counts > 0, 2 * counts * np.log(counts / expected), 0.0)
        square = np.where(expected > 0, (counts - expected) ** 2 / expected, 0.0)
    return log_ratio, square


def table_p_value(ratio: Float | float, pearson: Float | float, df: Float | float) -> Float:
    """The larger p-value of G and χ² with some degrees of freedom."""
    from scipy.special import chdtrc

    return np.asarray(np.maximum(chdtrc(df, ratio), chdtrc(df, pearson)))
