"""Correlations of columns within the classes."""

from __future__ import annotations

import numpy as np

from suffice.numerics.types import Codes, Float

__all__ = ["correlations_of", "within_class_correlations"]


def correlations_of(covariance: Float) -> Float:
    """The correlation form of a covariance (d, d); NaN for a column without variance.

    >>> correlations_of(np.array([[4.0, 1.0], [1.0, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    deviation = np.sqrt(np.diagonal(covariance))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(np.clip(covariance / deviation[:, None] / deviation, -1.0, 1.0))


def within_class_correlations(x: Float, codes: Codes, weights: Float) -> Float:
    """Correlation of columns about the means of the classes (d, d), over the rows in which both are known.

    NaN for a column that does not vary within a class. Rows of class −1 are not used.
    """
    x, codes, weights = x[codes >= 0], codes[codes >= 0], weights[codes >= 0]
    known = np.isfinite(x)
    away = np.where(known, x, 0.0)
    first = np.zeros(int(codes.max(initial=-1)) + 1)
    for j in range(x.shape[1]):
        here = known[:, j]
        values, own, w = x[:, j][here], codes[here], weights[here]
        first[own[::-1]] = values[::-1]  # of each class: removes offsets before the mean is taken
        values -= first[own]
        total = np.bincount(own, w, minlength=len(first))
        mean = np.bincount(own, w * values, minlength=len(first)) / np.where(total > 0, total, 1.0)
        away[here, j] = values - mean[own]
    size = np.abs(away).max(axis=0, initial=0.0)
    unit = np.where(size > 1e-12 * np.abs(np.where(known, x, 0.0)).max(axis=0, initial=0.0), size, np.inf)
    z = away / unit
    product = (z * weights[:, None]).T @ z
    square = (z**2 * weights[:, None]).T @ known
    with np.errstate(invalid="ignore", divide="ignore"):
        out = product / np.sqrt(square * square.T)
    return np.asarray(np.clip(out, -1.0, 1.0))
