"""Words of each class: their shares, the chances that they are there, and their weights by what lies outside."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.families.gamma_function import log_rise
from suffice.statistics.sparse_sums import left_of

__all__ = ["drawn_shares", "outside_weights", "rise", "word_chances", "word_shares"]

Float = NDArray[np.float64]


def word_shares(draws: Float, alpha: float) -> tuple[Float, Float]:
    """Draws with pseudo-draws, and the logarithms of their shares (K, M)."""
    pooled = None if alpha > 0 else draws.sum(axis=0)
    draws = draws + alpha
    size = draws.sum(axis=1, keepdims=True)
    if pooled is not None and not (size > 0).all():
        draws = np.where(size > 0, draws, pooled)
        size = draws.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore"):
        logs = np.log(draws)
        logs -= np.log(size)  # there may be millions of words
        return draws, logs


def word_chances(yes: Float, documents: Float, alpha: float) -> tuple[Float, Float]:
    """Logarithms of the probabilities that words are there, and that they are not (K, M)."""
    weight = documents[:, None] + 2 * alpha
    empty = weight <= 0
    pooled = float(documents.sum())
    no = left_of(documents[:, None], yes)
    yes, no = (np.where(empty, part.sum(axis=0), part) + alpha for part in (yes, no))
    size = np.log(np.where(empty, max(pooled, np.finfo(float).tiny), weight))
    with np.errstate(divide="ignore"):
        return np.log(yes) - size, np.log(no) - size


def outside_weights(draws: Float, alpha: float) -> Float:
    """Less the logarithms of the shares of words outside of each class (K, M)."""
    outside = np.maximum(draws.sum(axis=0) - draws, 0.0) + alpha
    size = outside.sum(axis=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(size > 0, np.log(size) - np.log(outside), 0.0)


def drawn_shares(draws: Float, rng: np.random.Generator) -> Float:
    """Shares of words from their Dirichlet distribution (M,), also where its draws are next to nothing.

    Γ(a) is drawn as Γ(a + 1) U^{1/a}, whose logarithm does not underflow; where it does, one word has it all.

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


def rise(a: Any, x: Any) -> Any:
    """log Γ(a + x)/Γ(a), −∞ for draws of what can never be drawn."""
    return np.where(a > 0, log_rise(np.where(a > 0, a, 1.0), x), np.where(np.asarray(x) > 0, -np.inf, 0.0))
