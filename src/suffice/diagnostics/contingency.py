"""Tests of independence in tables of counts: the likelihood ratio G and Pearson's χ².

    G = 2 Σ n log(n / e),     χ² = Σ (n − e)² / e

for counts n and expected counts e. Each is too liberal for some tables, so the p-value is the larger of the two.
"""

from __future__ import annotations

import numpy as np

from suffice.numerics.types import Codes, Float, Index

__all__ = ["EXPECTED", "cell_terms", "joined_neighbours", "level_cells", "table_p_value"]

EXPECTED = 5.0  # least expected count of a cell


def cell_terms(counts: Float, expected: Float) -> tuple[Float, Float]:
    """Compute the terms of each cell in G and in χ²; 0 for a cell that no row can be in.

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


def joined_neighbours(weight: Float, least: float) -> Codes:
    """Groups of neighbouring cells, joined until each group has some weight.

    >>> joined_neighbours(np.array([1.0, 2.0, 7.0, 6.0, 1.0]), 5.0)
    array([0, 0, 0, 1, 1])
    """
    names, n, held = np.zeros(len(weight), dtype=np.int64), 0, 0.0
    for g, each in enumerate(weight.tolist()):
        names[g] = n
        held += each
        if held >= least:
            n, held = n + 1, 0.0
    if n > 0:
        names[names == n] = n - 1
    return names


def level_cells(coded: Codes, starts: Index, width: int) -> Float:
    """Ones in the level of each cell and zeros elsewhere (n, width); codes below 0 have no level.

    >>> level_cells(np.array([[0, 1], [-1, 0]]), np.array([0, 1]), 3)
    array([[1., 0., 1.],
           [0., 1., 0.]])
    """
    out = np.zeros((len(coded), width + 1))
    out[np.arange(len(coded))[:, None], np.where(coded < 0, width, coded + starts)] = 1.0
    return out[:, :width]
