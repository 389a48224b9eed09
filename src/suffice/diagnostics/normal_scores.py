"""Normal scores: numbers replaced by the normal quantile of their rank, within a class.

Correlations of normal scores equal those of the numbers if these are Gaussian. For independent columns of any shape,
their distribution is that of a random permutation, which Student's t approximates well far into the tails.
"""

from __future__ import annotations

import numpy as np

from suffice.numerics.types import Float

__all__ = ["normal_scores"]


def normal_scores(x: Float, weights: Float) -> Float:
    """Normal quantile of the mid-rank of each number, divided by the total weight; NaN for missing cells (n,).

    A row of weight k counts as k equal rows.

    >>> normal_scores(np.array([1.0, 5.0, 3.0]), np.ones(3)).round(3)
    array([-0.967,  0.967,  0.   ])
    """
    from scipy.special import ndtri

    out = np.full(len(x), np.nan)
    here = np.flatnonzero(~np.isnan(x))
    if not len(here):
        return out
    order = here[np.argsort(x[here], kind="stable")]
    ordered, total = x[order], np.cumsum(weights[order])
    first = np.flatnonzero(np.append(True, ordered[1:] > ordered[:-1]))
    ends = total[np.append(first[1:], len(order)) - 1]
    middle = (np.append(0.0, ends[:-1]) + ends) / 2
    group = np.repeat(np.arange(len(first)), np.diff(np.append(first, len(order))))
    out[order] = ndtri(middle[group] / ends[-1])
    return out
