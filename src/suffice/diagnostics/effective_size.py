"""Weights of rows in units of the effective sample size (Kish 1965).

    n_eff = (Σ w)² / Σ w²

A weighted mean of independent rows varies as much as the mean of n_eff rows. So weights that sum to n_eff in each class
make tests of weighted rows as careful as they should be, and the unit of the weights does not matter. Equal weights
become ones.
"""

from __future__ import annotations

import numpy as np

from suffice.numerics.types import Codes, Float

__all__ = ["effective_size", "effective_weights"]


def effective_weights(weights: Float, codes: Codes) -> Float:
    """Weights that sum to the effective size of each class (n,).

    >>> effective_weights(np.array([10.0, 10.0, 3.0, 1.0]), np.array([0, 0, 1, 1]))
    array([1. , 1. , 1.2, 0.4])
    """
    relative = weights / weights.max(initial=0.0) if len(weights) else weights
    total, squares = np.bincount(codes, relative), np.bincount(codes, relative**2)
    return np.asarray(relative * (total / np.maximum(squares, 1e-300))[codes])


def effective_size(total: Float, squares: Float) -> Float:
    """The effective size of rows with these sums of weights and of squared weights."""
    return np.asarray(np.where(squares > 0, total**2 / np.where(squares > 0, squares, 1.0), 0.0))
