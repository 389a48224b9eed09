"""Points of a Gaussian at a given number of standard deviations from its mean."""

from __future__ import annotations

import numpy as np

from suffice.numerics.types import Float

__all__ = ["ellipse"]


def ellipse(mean: Float, covariance: Float, deviations: float, n: int = 101) -> Float:
    """Points x with (x − μ)ᵀ Σ⁻¹ (x − μ) = deviations² (n, 2), for a mean (2,) and a covariance (2, 2).

    >>> ellipse(np.zeros(2), np.diag([4.0, 1.0]), 1.0, 5).round(12).tolist()
    [[2.0, 0.0], [0.0, 1.0], [-2.0, 0.0], [-0.0, -1.0], [2.0, -0.0]]
    """
    scale = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    unit = np.where(scale > 0, scale, 1.0)
    value, vector = np.linalg.eigh(covariance / np.outer(unit, unit))
    root = (vector * np.sqrt(np.maximum(value, 0.0))) @ vector.T
    angle = np.linspace(0, 2 * np.pi, n)
    circle = np.column_stack([np.cos(angle), np.sin(angle)])
    return np.asarray(mean + deviations * (circle @ root) * unit)
