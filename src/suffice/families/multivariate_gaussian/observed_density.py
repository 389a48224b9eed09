"""Densities of rows with missing cells, many patterns at once; `row_batches` has the formulas."""

from __future__ import annotations

import numpy as np

from suffice.families.multivariate_gaussian.parameters import MultivariateGaussianParameters
from suffice.families.multivariate_gaussian.row_batches import CHUNK, bordered, row_batches
from suffice.families.multivariate_gaussian.wishart import log_student_density
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Float, Mask

__all__ = ["has_precision", "is_fast", "observed_log_density"]

FACTOR = 200  # scores of a row and a class that take as long as a factor of a covariance

MOST_INFLATION = 1e6  # of the variance of a column given the others; beyond it, inverses lose digits


def is_fast(parameters: MultivariateGaussianParameters, n_rows: int, n_patterns: int) -> bool:
    """Whether the rows have so many patterns that factors for each pattern take longer than `observed_log_density`.

    False if the inverse of a covariance has too few digits.
    """
    n_factors = n_patterns * len(parameters.whitening)
    return n_rows * len(parameters.mean) < FACTOR * n_factors and has_precision(parameters)


def has_precision(p: MultivariateGaussianParameters) -> bool:
    """Whether the inverses of all covariances have enough digits for the densities of some of the columns."""
    if any(len(each.dependent) for each in p.whitening):
        return False
    variance = np.diagonal(p.covariance, axis1=-2, axis2=-1).reshape(len(p.whitening), -1)
    inverse = np.stack([(each.matrix**2).sum(axis=1) for each in p.whitening])
    with np.errstate(over="ignore"):
        return bool((variance * inverse < MOST_INFLATION).all())


@single_threaded_blas(lambda parameters, _: parameters.mean.shape[1])
def observed_log_density(parameters: MultivariateGaussianParameters, x: Float) -> Float:
    """Log-density of the cells that each row has, under each class (n, K); zero for a row without cells."""
    n, d = x.shape
    out = np.empty((n, len(parameters.mean)))
    step = max(1, CHUNK // d)
    for low in range(0, n, step):
        out[low : low + step] = _block(parameters, x[low : low + step])
    return out


def _block(p: MultivariateGaussianParameters, x: Float) -> Float:
    observed = ~np.isnan(x)
    n, d = x.shape
    distance, log_det = np.empty((2, len(p.mean), n))
    widest = int((~observed).sum(axis=1).max(initial=0))
    step = max(1, CHUNK // max(1, n * max(d, widest**2)))
    for low in range(0, len(p.mean), step):
        here = slice(low, low + step)
        distance[here], log_det[here] = _of_classes(p, here, x, observed)
    size = observed.sum(axis=1)[:, None]
    if p.freedom is not None and p.spread is not None:
        out = log_student_density(distance.T, log_det.T, size, p.freedom, p.spread)
    else:
        out = -0.5 * (size * np.log(2 * np.pi) + log_det.T + distance.T)
    return np.where(size > 0, out, 0.0)


def _of_classes(p: MultivariateGaussianParameters, here: slice, x: Float, observed: Mask) -> tuple[Float, Float]:
    """Mahalanobis distances and log-determinants (K, n) of some classes, on the columns that each row has.

    Columns have unit variance within the classes, so the squares of their differences stay in range.
    """
    whitening = p.whitening if p.covariance.ndim == 2 else p.whitening[here]
    deviation = np.sqrt(np.diagonal(p.within))
    unit = np.where(deviation > 0, deviation, 1.0)
    factors = np.stack([each.matrix * unit[:, None] for each in whitening])
    away = np.where(observed, (x - p.mean[here, None]) - p.mean_low[here, None], 0.0) / unit
    white = np.matmul(away, factors)
    distance = (white**2).sum(axis=2)
    missing_variance = (np.where(observed, 0.0, 2 * np.log(unit))).sum(axis=1)
    log_det = np.array([each.log_det for each in whitening])[:, None] - missing_variance
    log_det = np.broadcast_to(log_det, distance.shape).copy()
    pull = bordered(np.matmul(white, factors.transpose(0, 2, 1)))
    precision = bordered(np.matmul(factors, factors.transpose(0, 2, 1)), 2)
    for batch in row_batches(observed):
        inner, drawn = batch.inner(precision), batch.take(pull)
        lower = np.linalg.cholesky(inner)
        log_det[:, batch.rows] += 2 * np.log(np.diagonal(lower, axis1=2, axis2=3)).sum(axis=2)
        solved = np.linalg.solve(inner, drawn[..., None])[..., 0]
        distance[:, batch.rows] -= (drawn * solved).sum(axis=2)
    return distance, log_det
