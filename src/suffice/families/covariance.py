"""Covariance matrices: shrinking them, factoring them, and saying what is wrong with singular ones.

Everything works on the correlation matrix R of Σ = D R D, where D holds the standard deviations: no
decision here depends on the units of a column.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg.lapack import dpocon, dpotrf, dtrtri

from suffice.numerics.decompositions import eigh, svd
from suffice.numerics.exact_product import exact_product
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Codes, Float

__all__ = [
    "Whitening",
    "discriminant_directions",
    "factor",
    "is_rank_one",
    "ledoit_wolf",
    "oas",
    "rank_tolerance",
    "whiten",
]


WELL_CONDITIONED = 1e-3  # reciprocal condition of a correlation matrix whose Cholesky factor is good as it is
REFINED_COLUMNS = 256  # beyond, refining would take longer than all else in a fit


@dataclass(frozen=True, eq=False)
class Whitening:
    """The map that turns a covariance into the identity, on the subspace where it is not zero.

    Attributes
    ----------
    matrix : array of shape (d, r)
        ``z = (x − μ) matrix`` has covariance I, and ‖z‖² is the Mahalanobis distance.
    log_det : float
        log |Σ|; of a singular Σ the sum of the logarithms of its eigenvalues that are not zero.
    dependent : array of int
        Columns that hang together linearly, or do not vary; empty when r = d.
    """

    matrix: Float
    log_det: float
    dependent: Codes


def rank_tolerance(d: int) -> float:
    """Eigenvalues of a correlation matrix below this share of the largest are rounding."""
    return 64 * d * float(np.finfo(np.float64).eps)


def _correlation(covariance: Float) -> tuple[Float, Float]:
    """Standard deviations (d,) and the correlation matrix; a constant column has deviation 0 and row 0."""
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    inverse = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    return deviation, covariance * inverse[:, None] * inverse


@single_threaded_blas(lambda covariance, *_: len(covariance))
def whiten(covariance: Float, low: Float | None = None) -> Whitening:
    """Factor a covariance matrix: by Cholesky where it is regular, by eigenvectors where it is not.

    ``low`` are digits of it beyond the double, if they are known.

    >>> w = whiten(np.array([[4.0, 0.0], [0.0, 9.0]]))
    >>> np.diagonal(w.matrix), round(float(np.exp(w.log_det)), 12), w.dependent.tolist()
    (array([0.5       , 0.33333333]), 36.0, [])
    >>> whiten(np.array([[1.0, 2.0], [2.0, 4.0]])).dependent.tolist()
    [0, 1]
    """
    d = len(covariance)
    deviation, correlation = _correlation(covariance)
    still = deviation == 0
    if still.any() and not still.all():
        # A constant column is a null direction by itself; the others may well be regular.
        moving = np.flatnonzero(~still)
        square = np.ix_(moving, moving)
        rest = whiten(covariance[square], None if low is None else low[square])
        matrix = np.zeros((d, rest.matrix.shape[1]))
        matrix[moving] = rest.matrix
        dependent = np.sort(np.concatenate([np.flatnonzero(still), moving[rest.dependent]]))
        return Whitening(matrix, rest.log_det, dependent)
    found = _cholesky(correlation)
    if found is not None:
        lower, reciprocal = found
        inverse, _ = dtrtri(lower, lower=1)
        matrix = np.ascontiguousarray(inverse.T / deviation[:, None])
        if reciprocal < WELL_CONDITIONED and d <= REFINED_COLUMNS:
            matrix = _refined(covariance, np.zeros_like(covariance) if low is None else low, matrix)
        log_det = -2 * float(np.log(np.diagonal(matrix)).sum())
        return Whitening(matrix, log_det, np.empty(0, dtype=np.int64))
    values, vectors = eigh(correlation)
    kept = values > rank_tolerance(d) * max(values[-1], 0.0)
    safe = np.where(deviation > 0, deviation, 1.0)
    matrix = (vectors[:, kept] / np.sqrt(values[kept])) / safe[:, None]
    # Columns that take part in a null direction; a constant column is one by itself.
    involved = np.abs(vectors[:, ~kept]).max(axis=1, initial=0.0) > 1e-6
    # The product of the variances within the subspace: the volume that the columns of a root of Σ span.
    root = vectors[:, kept] * np.sqrt(values[kept]) * deviation[:, None]
    log_det = 2 * float(np.log(np.abs(np.diagonal(np.linalg.qr(root, mode="r")))).sum())
    return Whitening(matrix, log_det, np.flatnonzero(involved))


def _cholesky(correlation: Float) -> tuple[Float, float] | None:
    """Lower Cholesky factor and reciprocal condition, or None where singular to working precision."""
    if not np.all(np.diagonal(correlation) > 0):
        return None
    d = len(correlation)
    lower, failed = dpotrf(correlation, lower=1, clean=1)
    if failed:
        return None
    reciprocal, _ = dpocon(lower, np.abs(correlation).sum(axis=0).max(), uplo="L")
    return None if reciprocal < rank_tolerance(d) / d else (lower, float(reciprocal))


def _refined(covariance: Float, covariance_low: Float, matrix: Float) -> Float:
    """A triangular whitening A that is right for Σ to more digits than Cholesky's factor.

    With ``E = Aᵀ Σ A − I`` and U its upper half, ``A (I − U)`` is whitening to second order in E. E is
    computed with twice the digits; it starts at the condition of Σ times the rounding of one number.
    """
    identity = np.eye(len(covariance))
    best, size = matrix, np.inf
    for _ in range(4):
        high, low = exact_product(covariance, matrix)
        error_high, error_low = exact_product(matrix.T, high)
        error = (error_high - identity) + (error_low + matrix.T @ (low + covariance_low @ matrix))
        last, size = size, float(np.abs(error).max())
        if not size < 0.1 * last:
            # What is left is the rounding of A itself.
            return matrix if size < last else best
        upper = np.triu(error)
        np.fill_diagonal(upper, np.diagonal(error) / 2)
        best, matrix = matrix, matrix - matrix @ upper
    return matrix


@single_threaded_blas(len)
def factor(covariance: Float) -> Float:
    """A matrix F with F Fᵀ = Σ, for drawing samples; Σ may be singular."""
    deviation, correlation = _correlation(covariance)
    values, vectors = eigh(correlation)
    return np.asarray(deviation[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


def is_rank_one(scatter: Float) -> bool:
    """Whether all rows lie on one line, or on one point: two rows always do."""
    deviation, r = _correlation(scatter)
    varies = int((deviation > 0).sum())
    return varies == 0 or (len(r) > 1 and float((r**2).sum()) >= varies**2 * (1 - 1e-12))


def oas(covariance: Float, n: float) -> float:
    """Oracle approximating shrinkage (Chen et al. 2010) toward the diagonal, on standardised columns.

    With R the correlation matrix and d columns, ``(a + m²) / ((n + 1)(a − m²/d))``, where a is the mean
    of the squared entries of R and m its mean diagonal, at most one.
    """
    _, r = _correlation(covariance)
    d = len(r)
    if d == 1:
        return 0.0
    mean_square, mean_diagonal = float(np.mean(r**2)), float(np.trace(r)) / d
    above = mean_square + mean_diagonal**2
    below = (n + 1) * (mean_square - mean_diagonal**2 / d)
    return 1.0 if below <= 0 else min(above / below, 1.0)


def ledoit_wolf(weight: float, scatter: Float, quartic: Float) -> float:
    """Ledoit and Wolf's (2004) shrinkage toward the diagonal, on standardised columns.

    β/δ, where δ is the squared distance of the correlation matrix from its target, and β the variance
    of its entries, ``(Σ_i ‖z_i‖⁴/n − ‖R‖²) / n`` for standardised rows z.
    """
    d = len(scatter)
    if d == 1 or weight <= 0:
        return 0.0
    variance = np.diagonal(scatter) / weight
    inverse = np.divide(1.0, variance, out=np.ones_like(variance), where=variance > 0)
    r = scatter / weight * np.sqrt(inverse)[:, None] * np.sqrt(inverse)
    norms = float((quartic * inverse[:, None] * inverse).sum())
    squares = float((r**2).sum())
    mean_diagonal = float(np.trace(r)) / d
    spread = (norms / weight - squares) / (d * weight)
    distance = squares / d - mean_diagonal**2
    spread = min(spread, distance)
    return 0.0 if spread <= 0 else spread / distance


@single_threaded_blas(lambda away, *_: away.shape[1])
def discriminant_directions(away: Float, whitening: Float, deviation: Float, prior: Float) -> tuple[Float, Float]:
    """Fisher's directions: orthogonal in the metric of the within-class covariance, most telling first.

    Parameters
    ----------
    away : array of shape (K, d)
        Class means less any origin.
    whitening : array of shape (d, r)
    deviation : array of shape (d,)
        Standard deviation of each column within the classes.
    prior : array of shape (K,)

    Returns
    -------
    directions : array of shape (d, min(K − 1, r)), for K classes of positive prior
        Orthonormal in the metric of the covariance that is whitened.
    share : array of shape (min(K − 1, r),)
        Share of the between-class variance that each explains.
    """
    centred = away - prior @ away
    _, stretch, rows = svd((np.sqrt(prior)[:, None] * centred) @ whitening)
    count = min(np.count_nonzero(prior) - 1, whitening.shape[1])
    total = float((stretch**2).sum())
    share = stretch[:count] ** 2 / total if total > 0 else np.zeros(count)
    directions = whitening @ rows[:count].T
    # The sign of a direction is arbitrary: its largest entry, on standardised columns, is made positive.
    standard = directions * deviation[:, None]
    largest = standard[np.abs(standard).argmax(axis=0), np.arange(count)] if count else np.empty(0)
    return directions * np.where(largest < 0, -1.0, 1.0), share
