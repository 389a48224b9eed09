"""Scores of a class by what lies outside it: scikit-learn's ``ComplementNB``. No distribution p(x | y), and no family.

With t the sums of each column over the rows of a class, and T those of all rows,

    weight_kj = −log( (T_j − t_kj + α_j) / Σ_j (T_j − t_kj + α_j) ),    score_k = Σ_j x_j weight_kj
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.linear import scores_of_cells
from suffice.statistics import Membership, Sums
from suffice.statistics.sparse_sums import nonzero_cells

__all__ = ["complement_scores", "complement_weights", "left_out_complement"]

Float = NDArray[np.float64]


def _outside(statistic: Sums, alpha: Any) -> Float:
    return np.asarray(statistic.total.sum(axis=0) + alpha - statistic.total)


def complement_weights(statistic: Sums, alpha: Any, *, norm: bool) -> Float:
    """The weights of each class and column (K, d); as shares of their sum if ``norm``."""
    outside = _outside(statistic, alpha)
    size = outside.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        logged = np.where(size > 0, np.log(np.maximum(outside, 0.0)) - np.log(size), 0.0)
        if not norm:
            return -logged
        total = logged.sum(axis=1, keepdims=True)
        return np.where(total != 0, logged / total, 0.0)


def complement_scores(weights: Float, x: Any) -> Float:
    """The score of each row and class (n, K); a column that no other class has decides."""
    certain = np.isposinf(weights)
    out = scores_of_cells(x, np.zeros_like(weights), np.where(certain, 0.0, weights))
    if certain.any():
        sure = np.asarray((x > 0).astype(np.float64) @ certain.T.astype(np.float64)) > 0
        out[sure.any(axis=1, keepdims=True) & ~sure] = -np.inf
    return out


def left_out_complement(statistic: Sums, alpha: Any, x: Any, members: Membership) -> Float:
    """The score of each row given the others (n, K): it is outside of all classes but its own, and they lose it.

    NaN in rows without which a class has none, or a column decides.
    """
    assert members.codes is not None
    outside, weight = _outside(statistic, alpha), statistic.weight[members.codes]
    w = np.ones(len(members)) if members.weights is None else members.weights
    rows, at, values = nonzero_cells(x)
    lengths = np.bincount(rows, values, minlength=len(w))
    out = np.empty((len(w), len(outside)))
    for k in range(len(outside)):
        gone = np.where(members.codes == k, 0.0, w)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(outside[k, at] - gone[rows] * values)
            out[:, k] = lengths * np.log(outside[k].sum() - gone * lengths)
        out[:, k] -= np.bincount(rows, values * logs, minlength=len(w))
    out[~np.isfinite(out).all(axis=1) | (weight - w <= 1e-9 * weight)] = np.nan
    return out
