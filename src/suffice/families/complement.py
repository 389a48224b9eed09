"""Scores of a class from the rows outside it, as in scikit-learn's ``ComplementNB``.

They are not a distribution p(x | y), so there is no family for them.

With t the sums of each column over the rows of a class, and T the sums over all rows,

    weight_kj = −log( (T_j − t_kj + α_j) / Σ_j (T_j − t_kj + α_j) ),    score_k = Σ_j x_j weight_kj

The weights of a small class, whose complement has many words, sum to more than those of a large one. Normalised weights
are divided by their sum, weight_kj / Σ_j weight_kj (Rennie, Shih, Teevan and Karger 2003).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.families.contract import read_only
from suffice.families.linear import CellForm
from suffice.numerics.types import Float, Matrix
from suffice.statistics import Membership, Sums
from suffice.tables.sparse_cells import nonzero_cells

__all__ = [
    "ComplementWeights",
    "complement_scores",
    "complement_weights",
    "equal_sums",
    "leave_one_out_complement",
    "normalised_weights",
    "outside_weights",
]


def _outside(total: Float, alpha: Float | float) -> Float:
    return np.asarray(total.sum(axis=0) + alpha - total)


@dataclass(frozen=True, eq=False)
class ComplementWeights:
    """Weights of each class and column (K, d)."""

    weights: Float

    def __post_init__(self) -> None:
        read_only(self)

    @cached_property
    def certain(self) -> Float | None:
        """Whether a class is the only one that has a column (d, K); None if no class is."""
        certain = np.isposinf(self.weights)
        return np.ascontiguousarray(certain.T, dtype=np.float64) if certain.any() else None

    @cached_property
    def cells(self) -> CellForm:
        """Σ x weight, prepared for evaluation."""
        return CellForm.of(None, self.weights)


def complement_weights(statistic: Sums, alpha: Float | float, *, norm: bool) -> ComplementWeights:
    """Weights of each class and column (K, d), divided by their sum if ``norm``."""
    return ComplementWeights(outside_weights(statistic.total, alpha, norm=norm))


def outside_weights(total: Float, alpha: Float | float, *, norm: bool = False) -> Float:
    """`complement_weights` from the sums of each class and column (K, d)."""
    outside = _outside(total, alpha)
    size = outside.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        logged = np.where(size > 0, np.log(np.maximum(outside, 0.0)) - np.log(size), 0.0)
        if not norm:
            return -logged
        total = logged.sum(axis=1, keepdims=True)
        return np.where(total != 0, logged / total, 0.0)


def normalised_weights(total: Float, alpha: float) -> Float:
    """`outside_weights` with equal sums in all classes: the mean of their sums (K, d).

    The scores are proportional to those of weights that sum to one, and keep the scale of log-likelihoods.

    >>> normalised_weights(np.array([[3.0, 1.0], [0.0, 2.0]]), 1.0).sum(axis=1).round(3)
    array([1.589, 1.589])
    """
    weights = outside_weights(np.ascontiguousarray(total), alpha)  # sums depend on the order in memory
    return weights * equal_sums(weights.sum(axis=1))[:, None]


def equal_sums(sums: Float) -> Float:
    """Factors by which sums of classes (..., K) become their mean; 0 for a sum of zero.

    >>> equal_sums(np.array([[1.0, 3.0], [0.0, 0.0]]))
    array([[2.        , 0.66666667],
           [0.        , 0.        ]])
    """
    mean = sums.sum(axis=-1, keepdims=True) / max(sums.shape[-1], 1)
    return np.asarray(np.divide(mean, sums, out=np.zeros_like(sums), where=sums > 0))


def complement_scores(parameters: ComplementWeights, x: Matrix) -> Float:
    """Score of each row and class (n, K); NaN if a value is missing.

    A row with a column that only one class has belongs to that class.
    """
    out = parameters.cells.scores(x, missing=False)
    if parameters.certain is not None:
        sure = np.asarray((x > 0).astype(np.float64) @ parameters.certain) > 0
        out[sure.any(axis=1, keepdims=True) & ~sure] = -np.inf
    return out


def leave_one_out_complement(statistic: Sums, alpha: Float | float, x: Matrix, members: Membership) -> Float:
    """Score of each row given all other rows (n, K): the weights of all classes but its own change without the row.

    A row is NaN if its class has no other rows, or if a column without it belongs to one class only.
    """
    assert members.codes is not None
    outside, weight = _outside(statistic.total, alpha), statistic.weight[members.codes]
    w = np.ones(len(members)) if members.weights is None else members.weights
    rows, at, values = nonzero_cells(x)
    lengths = np.bincount(rows, values, minlength=len(w))
    out = np.empty((len(w), len(outside)))
    for k in range(len(outside)):
        lost = np.where(members.codes == k, 0.0, w)
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(outside[k, at] - lost[rows] * values)
            out[:, k] = lengths * np.log(outside[k].sum() - lost * lengths)
        out[:, k] -= np.bincount(rows, values * logs, minlength=len(w))
    out[~np.isfinite(out).all(axis=1) | (weight - w <= 1e-9 * weight)] = np.nan
    return out
