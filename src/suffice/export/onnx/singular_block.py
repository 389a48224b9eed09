"""Scores of a Gaussian block with a covariance that is singular even without its constant columns.

The rank of the covariance of some columns then depends on which. A table has the whitening of every set of columns, so
there must be few columns.
"""

from __future__ import annotations

import numpy as np

from suffice.exceptions import Argument, InputError
from suffice.export.onnx.densities import is_linear, log_densities
from suffice.export.onnx.graph import Value
from suffice.export.onnx.operations import as_number, concatenated, is_nan, squeezed, summed, taken, tall, where
from suffice.families.covariance import Whitening, whiten
from suffice.families.formula import GaussianBlock
from suffice.numerics.types import Float

__all__ = ["is_singular", "scores_by_pattern"]

MOST_NUMBERS = 1 << 21  # of the tables


def is_singular(form: GaussianBlock) -> bool:
    """Whether columns that vary are linearly dependent."""
    return any(each.shape[1] < (each != 0).any(axis=1).sum() for each in form.whitening)


def scores_by_pattern(x: Value, form: GaussianBlock) -> Value:
    """Scores of rows x (n, d), with NaN for missing cells (n, K)."""
    d, covariance = len(form.origin), form.covariance
    assert covariance is not None
    if d > 30 or 2**d * d * d * len(covariance) > MOST_NUMBERS:
        raise InputError(
            f"The covariance of {d} columns is singular, so each set of missing cells needs a factor of its own, and a "
            "graph would have too many. Fit the model with ",
            Argument("shrinkage", 0.01),
            ", or without the columns that depend on others.",
        )
    graph, missing = x.graph, is_nan(x)
    pattern = summed(as_number(missing, "whole") * (1 << np.arange(d)), 1)
    factors = [[_factor(each, p) for p in range(2**d)] for each in covariance]
    if is_linear(form):
        away = (form.mean - form.origin) + form.mean_low
        slope = np.stack([(away @ each.matrix) @ each.matrix.T for each in factors[0]])
        row = tall(where(missing, 0.0, x - form.origin), 1)
        at_origin = -0.5 * (slope * away).sum(axis=2)
        return summed(row * taken(graph, slope, pattern), 2) + taken(graph, at_origin, pattern)
    distances = []
    for k, (mean, low) in enumerate(zip(form.mean, form.mean_low, strict=True)):
        own = np.stack([_padded(each.matrix) for each in factors[min(k, len(factors) - 1)]])
        row = tall(where(missing, 0.0, (x - mean) - low), 1)
        z = squeezed(row @ taken(graph, own, pattern), 1)
        distances.append(summed(z * z, 1, keep=True))
    rank = np.array([[each.matrix.shape[1] for each in own] for own in factors]).T
    log_det = np.array([[each.log_det for each in own] for own in factors]).T
    of_rows = taken(graph, rank, pattern, kind="whole")
    scores = log_densities(form, concatenated(distances, 1), taken(graph, log_det, pattern), of_rows)
    return where(of_rows > np.array(0), scores, 0.0)


def _factor(covariance: Float, pattern: int) -> Whitening:
    """The whitening of the columns that are not in a pattern of missing ones, with zeros for those."""
    d = len(covariance)
    known = np.flatnonzero(~(pattern >> np.arange(d)) & 1)
    matrix = np.zeros((d, 0))
    if not len(known):
        return Whitening(matrix, 0.0, known)
    found = whiten(covariance[np.ix_(known, known)])
    matrix = np.zeros((d, found.matrix.shape[1]))
    matrix[known] = found.matrix
    return Whitening(matrix, found.log_det, found.dependent)


def _padded(matrix: Float) -> Float:
    """A matrix (d, r) with columns of zeros (d, d)."""
    d, rank = matrix.shape
    return np.pad(matrix, ((0, 0), (0, d - rank)))
