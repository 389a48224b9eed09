"""Correlations of columns within the classes, by the covariances of a model."""

from __future__ import annotations

import numpy as np

from suffice.families.capabilities import Parameters
from suffice.model.block import Block
from suffice.model.estimate import Estimate
from suffice.numerics.types import Float
from suffice.statistics.correlations import correlations_of

__all__ = ["model_correlations"]


def model_correlations(estimate: Estimate, k: int | None = None) -> tuple[list[object], Float]:
    """Columns of the blocks that have a covariance, and their correlations within the classes (d, d).

    Parameters
    ----------
    estimate : Estimate
    k : int, optional
        Position of a class; by default the correlations are those of Σ_k p(y = k) Σ_k, the mean covariance.

    Returns
    -------
    names : list
        Empty if no block has a covariance.
    correlation : array of shape (d, d)
        Zero between blocks, by assumption; NaN for a column without variance.

    Examples
    --------
    >>> from suffice import GaussianDiscriminant
    >>> X, y = [[0.0, 0.0], [2.0, 1.0], [1.0, 2.0], [5.0, 5.0], [7.0, 7.0], [9.0, 6.0]], list("aaabbb")
    >>> names, correlation = model_correlations(GaussianDiscriminant(estimation="mle").fit(X, y).fitted_.estimate)
    >>> names, correlation.round(2)
    ([0, 1], array([[1.  , 0.47],
           [0.47, 1.  ]]))
    """
    found = []
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        covariance = None if block.member else _covariance(estimate, block, parameters, k)
        if covariance is not None:
            found.append((block.names, correlations_of(covariance)))
    names = [name for each, _ in found for name in each]
    out = np.zeros((len(names), len(names)))
    start = 0
    for each, correlation in found:
        here = slice(start, start + len(each))
        out[here, here] = correlation
        start += len(each)
    return names, out


def _covariance(estimate: Estimate, block: Block, parameters: Parameters, k: int | None) -> Float | None:
    """Covariance of class k, or the mean of those that are finite (d, d); None if the family has none."""
    total, weight = np.zeros((len(block.names),) * 2), 0.0
    for i in range(len(estimate.classes)) if k is None else (k,):
        moments = block.family.mean_and_covariance(parameters, i)
        if moments is None:
            return None
        share = float(estimate.prior[i]) if k is None else 1.0
        if share > 0 and np.isfinite(moments[1]).all():  # Student's t has no covariance for few rows
            total, weight = total + share * moments[1], weight + share
    return total / weight if weight else np.full_like(total, np.nan)
