"""Covariance matrices: shrinkage, factors, and the columns that make them singular.

Everything works on the correlation matrix R of Σ = D R D, where D holds the standard deviations, so no decision depends
on the units of a column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from suffice.exceptions import InputError, columns_at
from suffice.numerics.decompositions import eigh, svd
from suffice.numerics.exact_product import exact_product
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Codes, Float

__all__ = [
    "Whitening",
    "checked_covariance",
    "discriminant_directions",
    "factor",
    "is_rank_one",
    "ledoit_wolf",
    "oas",
    "rank_tolerance",
    "whiten",
    "whiten_regular",
]


WELL_CONDITIONED = (
    1e-3  # reciprocal condition above which the Cholesky factor of a correlation matrix needs no refinement
)
ASYMMETRY = 1e-8  # difference of two opposite covariances, as a share of the deviations, that is rounding
REFINED_COLUMNS = 256  # with more columns, refining would dominate the time of a fit


@dataclass(frozen=True, eq=False)
class Whitening:
    """A map that turns a covariance into the identity, on the subspace where it is not zero.

    Attributes
    ----------
    matrix : array of shape (d, r)
        ``z = (x − μ) matrix`` has covariance I, and ‖z‖² is the Mahalanobis distance.
    log_det : float
        log |Σ|; for a singular Σ the sum of the logarithms of its non-zero eigenvalues.
    dependent : array of int
        Columns that are linearly dependent or constant; empty if r = d.
    """

    matrix: Float
    log_det: float
    dependent: Codes


def rank_tolerance(d: int) -> float:
    """Share of the largest eigenvalue of a correlation matrix below which an eigenvalue is rounding error."""
    return 64 * d * float(np.finfo(np.float64).eps)


def _correlation(covariance: Float) -> tuple[Float, Float]:
    """Standard deviations (d,) and the correlation matrix; both are 0 for a constant column."""
    deviation = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    inverse = np.divide(1.0, deviation, out=np.zeros_like(deviation), where=deviation > 0)
    return deviation, covariance * inverse[:, None] * inverse


def checked_covariance(
    covariance: Float,
    what: str = "covariance",
    names: Sequence[object] | None = None,
    *,
    argument: str = "covariance",
    definite: bool = True,
) -> Float:
    """A covariance matrix (d, d) made symmetric; raises `InputError` unless it is positive definite.

    Parameters
    ----------
    what : str
        The matrix in the words of the message.
    names : sequence, optional
        Names of the columns, for messages; positions by default.
    definite : bool
        Whether the matrix must have full rank to working precision, as `whiten_regular` needs it. If not, it must be
        positive semidefinite up to rounding.

    Examples
    --------
    >>> checked_covariance(np.array([[2.0, 1.0], [1.0, 2.0]]))
    array([[2., 1.],
           [1., 2.]])
    """
    columns = range(len(covariance)) if names is None else names
    if not np.isfinite(covariance).all():
        raise InputError(f"{what} holds a number that is not finite.", argument=argument)
    variance = np.diagonal(covariance)
    wrong = variance <= 0 if definite else variance < 0
    if wrong.any():
        j = int(np.argmax(wrong))
        raise InputError(
            f"{what} gives {columns_at(columns, [j])} the variance {variance[j]:.6g}; it must be "
            f"{'above' if definite else 'at least'} 0.",
            argument=argument,
            column=columns[j],
        )
    deviation = np.sqrt(variance)
    away = np.abs(covariance - covariance.T)
    if (away > ASYMMETRY * deviation[:, None] * deviation).any():
        i, j = divmod(int(np.argmax(away > ASYMMETRY * deviation[:, None] * deviation)), len(variance))
        raise InputError(
            f"{what} is not symmetric: {columns[i]!r} and {columns[j]!r} have {covariance[i, j]:.6g} in one place and "
            f"{covariance[j, i]:.6g} in the other.",
            argument=argument,
        )
    symmetric = covariance / 2 + covariance.T / 2
    _, correlation = _correlation(symmetric)
    least = float(np.linalg.eigvalsh(correlation).min(initial=1.0))
    if least < -ASYMMETRY or (definite and _cholesky(correlation) is None):
        kind = "definite" if definite else "semidefinite"
        raise InputError(
            f"{what} is not positive {kind}: the smallest eigenvalue of its correlation matrix is {least:.3g}. Some "
            "combination of the columns would have no variance, or a negative one.",
            argument=argument,
        )
    return np.asarray(symmetric)


@single_threaded_blas(lambda covariance, *_: len(covariance))
def whiten(covariance: Float, low: Float | None = None) -> Whitening:
    """Factor a covariance matrix: by Cholesky if it is regular, by eigenvectors otherwise.

    ``low`` holds its digits beyond double precision, if they are known.

    >>> w = whiten(np.array([[4.0, 0.0], [0.0, 9.0]]))
    >>> np.diagonal(w.matrix), round(float(np.exp(w.log_det)), 12), w.dependent.tolist()
    (array([0.5       , 0.33333333]), 36.0, [])
    >>> whiten(np.array([[1.0, 2.0], [2.0, 4.0]])).dependent.tolist()
    [0, 1]
    """
    d = len(covariance)
    deviation, correlation = _correlation(covariance)
    constant = deviation == 0
    if constant.any() and not constant.all():
        # A constant column is a null direction by itself; the other columns may be regular.
        varying = np.flatnonzero(~constant)
        square = np.ix_(varying, varying)
        rest = whiten(covariance[square], None if low is None else low[square])
        matrix = np.zeros((d, rest.matrix.shape[1]))
        matrix[varying] = rest.matrix
        dependent = np.sort(np.concatenate([np.flatnonzero(constant), varying[rest.dependent]]))
        return Whitening(matrix, rest.log_det, dependent)
    regular = _by_cholesky(covariance, low, deviation, correlation)
    if regular is not None:
        return regular
    values, vectors = eigh(correlation)
    kept = values > rank_tolerance(d) * max(values[-1], 0.0)
    safe = np.where(deviation > 0, deviation, 1.0)
    matrix = (vectors[:, kept] / np.sqrt(values[kept])) / safe[:, None]
    # Columns that take part in a null direction.
    involved = np.abs(vectors[:, ~kept]).max(axis=1, initial=0.0) > 1e-6
    # The product of the variances within the subspace is the squared volume that the columns of a root of Σ span.
    root = vectors[:, kept] * np.sqrt(values[kept]) * deviation[:, None]
    log_det = 2 * float(np.log(np.abs(np.diagonal(np.linalg.qr(root, mode="r")))).sum())
    return Whitening(matrix, log_det, np.flatnonzero(involved))


@single_threaded_blas(lambda covariance, *_: len(covariance))
def whiten_regular(covariance: Float, low: Float | None = None) -> Whitening | None:
    """`whiten` for a covariance of full rank; None if it is singular to working precision."""
    return _by_cholesky(covariance, low, *_correlation(covariance))


def _by_cholesky(covariance: Float, low: Float | None, deviation: Float, correlation: Float) -> Whitening | None:
    cholesky = _cholesky(correlation)
    if cholesky is None:
        return None
    lower, reciprocal = cholesky
    inverse, _ = scipy.linalg.lapack.dtrtri(lower, lower=1)
    matrix = np.ascontiguousarray(inverse.T / deviation[:, None])
    if reciprocal < WELL_CONDITIONED and len(covariance) <= REFINED_COLUMNS:
        matrix = _refined(covariance, np.zeros_like(covariance) if low is None else low, matrix)
    log_det = -2 * float(np.log(np.diagonal(matrix)).sum())
    return Whitening(matrix, log_det, np.empty(0, dtype=np.int64))


def _cholesky(correlation: Float) -> tuple[Float, float] | None:
    """Lower Cholesky factor and reciprocal condition; None if singular to working precision."""
    if not np.all(np.diagonal(correlation) > 0):
        return None
    d = len(correlation)
    lower, failed = scipy.linalg.lapack.dpotrf(correlation, lower=1, clean=1)
    if failed:
        return None
    reciprocal, _ = scipy.linalg.lapack.dpocon(lower, np.abs(correlation).sum(axis=0).max(), uplo="L")
    return None if reciprocal < rank_tolerance(d) / d else (lower, float(reciprocal))


def _refined(covariance: Float, covariance_low: Float, matrix: Float) -> Float:
    """A triangular whitening A of Σ that is more accurate than the one from the Cholesky factor.

    With ``E = Aᵀ Σ A − I`` and U its upper half, ``A (I − U)`` whitens Σ to second order in E. E is computed in double
    precision twice over; at first it is about the condition of Σ times the rounding error of one number.
    """
    identity = np.eye(len(covariance))
    best, size = matrix, np.inf
    for _ in range(4):
        high, low = exact_product(covariance, matrix)
        error_high, error_low = exact_product(matrix.T, high)
        error = (error_high - identity) + (error_low + matrix.T @ (low + covariance_low @ matrix))
        last, size = size, float(np.abs(error).max())
        if not size < 0.1 * last:
            # The remaining error is the rounding of A itself.
            return matrix if size < last else best
        upper = np.triu(error)
        np.fill_diagonal(upper, np.diagonal(error) / 2)
        best, matrix = matrix, matrix - matrix @ upper
    return matrix


@single_threaded_blas(len)
def factor(covariance: Float) -> Float:
    """A matrix F with F Fᵀ = Σ, for drawing samples. Σ may be singular."""
    deviation, correlation = _correlation(covariance)
    values, vectors = eigh(correlation)
    return np.asarray(deviation[:, None] * vectors * np.sqrt(np.maximum(values, 0.0)))


def is_rank_one(scatter: Float) -> bool:
    """Whether all rows lie on one line or in one point, as two rows always do."""
    deviation, r = _correlation(scatter)
    varies = int((deviation > 0).sum())
    return varies == 0 or (len(r) > 1 and float((r**2).sum()) >= varies**2 * (1 - 1e-12))


def oas(covariance: Float, n: float) -> float:
    """Oracle approximating shrinkage (Chen et al. 2010) toward the diagonal, on standardised columns.

    With R the correlation matrix of d columns, the amount is ``(a + m²) / ((n + 1)(a − m²/d))``, at most one, where a
    is the mean of the squared entries of R, and m the mean of its diagonal.
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

    The amount is β/δ, where δ is the squared distance of the correlation matrix from its target, and β the variance of
    its entries, ``(Σ_i ‖z_i‖⁴/n − ‖R‖²) / n`` for standardised rows z.
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
    """Fisher's directions, orthogonal in the metric of the within-class covariance, the most discriminating first.

    Parameters
    ----------
    away : array of shape (K, d)
        Class means minus an origin.
    whitening : array of shape (d, r)
    deviation : array of shape (d,)
        Standard deviation of each column within the classes.
    prior : array of shape (K,)

    Returns
    -------
    directions : array of shape (d, min(K − 1, r)), for K classes with a positive prior
        Orthonormal in the metric of the whitened covariance.
    share : array of shape (min(K − 1, r),)
        Share of the between-class variance that each explains.
    """
    centred = away - prior @ away
    _, stretch, rows = svd((np.sqrt(prior)[:, None] * centred) @ whitening)
    count = min(np.count_nonzero(prior) - 1, whitening.shape[1])
    total = float((stretch**2).sum())
    share = stretch[:count] ** 2 / total if total > 0 else np.zeros(count)
    directions = whitening @ rows[:count].T
    # The sign of a direction is arbitrary: make its largest entry, on standardised columns, positive.
    standard = directions * deviation[:, None]
    largest = standard[np.abs(standard).argmax(axis=0), np.arange(count)] if count else np.empty(0)
    return directions * np.where(largest < 0, -1.0, 1.0), share
