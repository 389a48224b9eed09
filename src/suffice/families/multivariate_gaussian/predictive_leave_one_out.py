"""Leave-one-out scores of multivariate t distributions whose prior does not change with the rows.

With rows and pseudo-rows of weight N about their mean, the scatter A and D degrees of freedom, a class without its row
x of weight w has the scatter ``A − γ u uᵀ``, where u = x − μ and γ = N w/(N − w), D − w degrees of freedom, and a mean
that is N/(N − w) times as far from x. With Σ = A/D,

    h = 1 − γ/D uᵀΣ⁻¹u,    |A − γuuᵀ| = |A| h,    vᵀ(A − γuuᵀ)⁻¹v = (vᵀΣ⁻¹v + γ/D (vᵀΣ⁻¹u)²/h)/D
"""

from __future__ import annotations

import numpy as np

from suffice.families.linear import centred_blocks
from suffice.families.multivariate_gaussian.leave_one_out import LEAST_VOLUME
from suffice.families.multivariate_gaussian.parameters import MultivariateGaussianParameters
from suffice.families.multivariate_gaussian.wishart import log_student, log_student_density
from suffice.numerics.types import Float
from suffice.statistics import Membership

__all__ = ["predictive_leave_one_out"]


def predictive_leave_one_out(
    parameters: MultivariateGaussianParameters, weight: Float, x: Float, members: Membership
) -> Float:
    """Compute log p(x | y) of each row given all other rows (n, K); NaN in rows that leave too little behind.

    Parameters
    ----------
    parameters : MultivariateGaussianParameters
        Of the posterior predictive of all rows.
    weight : array of shape (K,)
        Weight of the rows and pseudo-rows of each class.
    """
    assert members.codes is not None
    p, codes = parameters, members.codes
    assert p.freedom is not None
    w = np.ones(len(codes)) if members.weights is None else members.weights
    shared = p.covariance.ndim == 2
    out = np.full((len(x), len(weight)), np.nan) if shared else log_student(p, x)
    for c in np.unique(codes).tolist():
        white, mine = p.whitening[0 if shared else c], np.flatnonzero(codes == c)
        d, apart = white.matrix.shape[1], (p.away[c] - p.away) @ white.matrix  # from u to the distance from each mean
        for block, away in centred_blocks(x[mine], p.mean[c], p.mean_low[c]):
            rows = mine[block]
            lost, full = w[rows], p.freedom[c]
            stretch = weight[c] / (weight[c] - lost)
            u = away @ white.matrix
            size = np.einsum("ij,ij->i", u, u)
            gamma = lost * stretch / full
            volume = 1 - gamma * size
            h = np.where(volume > LEAST_VOLUME, volume, np.nan)
            rest = full - lost
            log_det = white.log_det + np.log(h) - d * np.log(rest / full)
            for k in range(len(weight)) if shared else (c,):
                v = u + apart[k]
                square, product = np.einsum("ij,ij->i", v, v), np.einsum("ij,ij->i", v, u)
                far, left = (stretch, weight[c] - lost) if k == c else (1.0, weight[k])
                distance = far**2 * (square + gamma * product**2 / h) * rest / full
                out[rows, k] = log_student_density(distance, log_det, d, rest, 1 + 1 / left)
    out[np.isnan(out).any(axis=1)] = np.nan
    return out
