"""Multinomial draws: shares of the outcomes, and the Dirichlet-multinomial, whose shares are integrated out."""

from __future__ import annotations

import numpy as np

from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Float, Matrix
from suffice.tables.sparse_cells import cell_columns, same_cells
from suffice.tables.table import is_sparse

__all__ = ["drawn_shares", "log_shares", "predictive", "rise"]


def log_shares(total: Float, alpha: Float | float) -> tuple[Float, Float]:
    """Draws with α pseudo-draws of each outcome, one number or (K, d), and the logarithms of their shares (K, d).

    A class without draws gets the shares of all classes together.

    >>> draws, logs = log_shares(np.array([[3.0, 1.0], [0.0, 2.0]]), 1.0)
    >>> draws, np.exp(logs).round(3)
    (array([[4., 2.],
           [1., 3.]]), array([[0.667, 0.333],
           [0.25 , 0.75 ]]))
    """
    draws = total + alpha
    size = draws.sum(axis=1, keepdims=True)
    if not (size > 0).all():
        pooled = total.sum(axis=0)
        draws = np.where(size > 0, draws, pooled if pooled.any() else np.ones_like(pooled))
        size = draws.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = np.log(draws)
        logs -= np.log(size)  # in place: there may be millions of outcomes
    return draws, logs


def predictive(draws: Float, x: Matrix) -> Float:
    """Dirichlet-multinomial without its coefficient: Π_j Γ(a_j + x_j)/Γ(a_j) · Γ(A)/Γ(A + Σ x)."""
    size = draws.sum(axis=1)
    lengths = np.asarray(x.sum(axis=1), dtype=np.float64).reshape(-1, 1)
    out: Float = -log_rise(np.where(size > 0, size, 1.0), lengths)
    if is_sparse(x):
        columns, data = cell_columns(x), x.data.astype(np.float64)
        for k in range(len(draws)):
            out[:, k] += np.asarray(same_cells(x, rise(draws[k, columns], data)).sum(axis=1)).ravel()
        return out
    for j in range(x.shape[1]):
        out += rise(draws[:, j], np.asarray(x[:, [j]], dtype=np.float64))
    return out


def rise(a: Float, x: Float | float) -> Float:
    """log Γ(a + x)/Γ(a); −∞ for draws of an outcome with a = 0."""
    return np.where(a > 0, log_rise(np.where(a > 0, a, 1.0), x), np.where(np.asarray(x) > 0, -np.inf, 0.0))


def drawn_shares(draws: Float, rng: np.random.Generator) -> Float:
    """Shares of words drawn from their Dirichlet distribution (M,), also for tiny parameters.

    Γ(a) is drawn as Γ(a + 1) U^{1/a}, whose logarithm seldom underflows. If all do, one word gets everything.

    >>> bool(drawn_shares(np.full(3, 1e-320), np.random.default_rng(0)).max() == 1.0)
    True
    """
    with np.errstate(divide="ignore", over="ignore"):
        logs = np.log(rng.gamma(draws + 1.0)) - rng.standard_exponential(len(draws)) / draws
    logs[draws <= 0] = -np.inf
    if np.isneginf(logs).all():
        largest = draws / draws.max()
        logs[rng.choice(len(draws), p=largest / largest.sum())] = 0.0
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum())
