"""Multivariate Gaussians without one of their rows: rank-one downdates.

A class of weight n that loses a row x of weight w keeps the scatter ``S − n w/(n − w) u uᵀ``, where u = x − μ, about a
mean that is n/(n − w) times as far from x. For a covariance Σ = A/D made of a sum A of scatters, of which A loses
``γ u uᵀ`` and D becomes D′,

    h = 1 − γ uᵀA⁻¹u,    |A − γuuᵀ| = |A| h,    vᵀ(A − γuuᵀ)⁻¹v = vᵀA⁻¹v + γ (vᵀA⁻¹u)²/h

(Sherman and Morrison), so that each row costs no more than its prediction.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.families.linear import centred_blocks
from suffice.numerics.types import Float
from suffice.statistics import Membership

__all__ = ["leave_one_out_log_density"]


LEAST_VOLUME = 1e-4  # of the volume that a row may leave; with less, digits are lost, and the row is left out by hand


def leave_one_out_log_density(
    parameters: Any, weight: Float, share: Float, divisor: Float, x: Float, members: Membership
) -> Float:
    """log p(x | y) of each row under the classes without it (n, K), up to a term that classes of one covariance share.

    Parameters
    ----------
    parameters : MultivariateGaussianParameters
        Of all rows.
    weight : array of shape (K,)
        Weight of the rows of each class.
    share : array of shape (K, K)
        The share of class c's scatter in the covariance of class k.
    divisor : array of shape (K,)
        What the scatter of each class's covariance was divided by.

    Returns
    -------
    array of shape (n, K)
        NaN in rows without which a class has no rows left, or too little volume.
    """
    assert members.codes is not None
    codes = members.codes
    w = np.ones(len(codes)) if members.weights is None else members.weights
    rest = weight[codes] - w
    safe = np.where(rest > 1e-9 * weight[codes], rest, np.nan)
    stretch = weight[codes] / safe
    lost = w * stretch  # times the share, what multiplies u uᵀ
    evaluate = _shared if parameters.covariance.ndim == 2 else _own
    out = evaluate(parameters, share, divisor, x, codes, w, stretch, lost)
    out[np.isnan(out).any(axis=1)] = np.nan
    return out


def _shared(p: Any, share: Float, divisor: Float, x: Float, codes: Any, w: Float, stretch: Float, lost: Float) -> Float:
    """One covariance, which every row has a part in."""
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


def _own(p: Any, share: Float, divisor: Float, x: Float, codes: Any, w: Float, stretch: Float, lost: Float) -> Float:
    """A covariance for each class, in which a class has a share."""
    out = np.empty((len(x), len(p.mean)))
    for k, each in enumerate(p.whitening):
        rank, full = each.matrix.shape[1], divisor[k]
        means = (p.away[k] - p.away) @ each.matrix  # from u about μ_c to about μ_k
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
