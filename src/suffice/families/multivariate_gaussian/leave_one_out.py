"""Leave-one-out scores of multivariate Gaussians, by rank-one downdates.

A class of weight n without its row x of weight w has the scatter ``S − n w/(n − w) u uᵀ``, where u = x − μ, about a
mean that is n/(n − w) times as far from x. For a covariance Σ = A/D, where A is a sum of scatters that loses ``γ u uᵀ``
and D becomes D′,

    h = 1 − γ uᵀA⁻¹u,    |A − γuuᵀ| = |A| h,    vᵀ(A − γuuᵀ)⁻¹v = vᵀA⁻¹v + γ (vᵀA⁻¹u)²/h

(Sherman and Morrison), so a row costs no more than its prediction.
"""

from __future__ import annotations

import numpy as np

from suffice.families.linear import centred_blocks
from suffice.families.multivariate_gaussian.parameters import MultivariateGaussianParameters
from suffice.numerics.types import Codes, Float
from suffice.statistics import Membership

__all__ = ["leave_one_out_log_density"]


LEAST_VOLUME = 1e-4  # share of the volume that must remain without the row; below it, digits are lost


def leave_one_out_log_density(
    parameters: MultivariateGaussianParameters,
    weight: Float,
    share: Float,
    divisor: Float,
    x: Float,
    members: Membership,
) -> Float:
    """log p(x | y) of each row given all other rows (n, K), up to a term that classes with one covariance share.

    Parameters
    ----------
    parameters : MultivariateGaussianParameters
        Parameters of all rows.
    weight : array of shape (K,)
        Weight of the rows of each class.
    share : array of shape (K, K)
        Share of the scatter of class c in the covariance of class k.
    divisor : array of shape (K,)
        Divisor of the scatter of each covariance.

    Returns
    -------
    array of shape (n, K)
        A row is NaN if its class has no other rows, or too little volume without it.
    """
    assert members.codes is not None
    codes = members.codes
    w = np.ones(len(codes)) if members.weights is None else members.weights
    rest = weight[codes] - w
    safe = np.where(rest > 1e-9 * weight[codes], rest, np.nan)
    stretch = weight[codes] / safe
    lost = w * stretch  # times the share, the factor of u uᵀ
    evaluate = _shared if parameters.covariance.ndim == 2 else _own
    out = evaluate(parameters, share, divisor, x, codes, w, stretch, lost)
    out[np.isnan(out).any(axis=1)] = np.nan
    return out


def _shared(
    p: MultivariateGaussianParameters,
    share: Float,
    divisor: Float,
    x: Float,
    codes: Codes,
    w: Float,
    stretch: Float,
    lost: Float,
) -> Float:
    """Scores with one covariance, to which every row contributes."""
    out = np.empty((len(x), len(p.mean)))
    matrix, full = p.whitening[0].matrix, divisor[0]
    means = p.away @ matrix
    apart = ((means[:, None] - means[None]) ** 2).sum(axis=2)
    for rows, block in centred_blocks(x, p.origin):
        c = codes[rows]
        at = np.arange(len(c))
        u = block @ matrix - means[c]
        size = np.einsum("ij,ij->i", u, u)
        toward = u @ means.T
        toward = toward[at, c][:, None] - toward  # u · (m_c − m_k)
        square, product = size[:, None] + 2 * toward + apart[c], size[:, None] + toward
        square[at, c], product[at, c] = size * stretch[rows] ** 2, size * stretch[rows]
        gamma = lost[rows] / full
        h = _kept(1 - gamma * size)
        out[rows] = -0.5 * ((full - w[rows]) / full)[:, None] * (square + (gamma / h)[:, None] * product**2)
    return out


def _own(
    p: MultivariateGaussianParameters,
    share: Float,
    divisor: Float,
    x: Float,
    codes: Codes,
    w: Float,
    stretch: Float,
    lost: Float,
) -> Float:
    """Scores with a covariance for each class, in which every class may have a share."""
    out = np.empty((len(x), len(p.mean)))
    for k, each in enumerate(p.whitening):
        rank, full = each.matrix.shape[1], divisor[k]
        means = (p.away[k] - p.away) @ each.matrix  # from u relative to μ_c to u relative to μ_k
        for rows, block in centred_blocks(x, p.mean[k], p.mean_low[k]):
            c = codes[rows]
            mine, part = c == k, share[k, c]
            v = block @ each.matrix
            square = np.einsum("ij,ij->i", v, v)
            volume, change = np.zeros(len(c)), np.ones(len(c))
            touched = np.flatnonzero(part > 0)
            if len(touched):
                u = v[touched] + means[c[touched]]
                size, product = np.einsum("ij,ij->i", u, u), np.einsum("ij,ij->i", u, v[touched])
                far = np.where(mine, stretch[rows], 1.0)[touched]
                gamma = (part * lost[rows])[touched] / full
                h = _kept(1 - gamma * size)
                square[touched] = far**2 * (square[touched] + gamma * product**2 / h)
                change[touched] = 1 - (part * w[rows])[touched] / full
                volume[touched] = np.log(h) - rank * np.log(change[touched])
            norm = rank * np.log(2 * np.pi) + each.log_det
            out[rows, k] = -0.5 * (norm + volume + change * square)
    return out


def _kept(h: Float) -> Float:
    return np.where(h > LEAST_VOLUME, h, np.nan)
