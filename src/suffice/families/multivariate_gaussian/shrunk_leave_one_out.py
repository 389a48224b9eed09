"""Leave-one-out scores with one shrunk covariance of all classes.

Without a row every variance changes, and with them the target of the shrinkage, so no downdate of a factor exists. The
scatter without the row is still a rank-one change, ``S − γ u uᵀ``. It is standardised, shrunk and factored for each
row: d³/3 multiplications, without the overhead of a fit. So is the scatter without the rows of a fold.
"""

from __future__ import annotations

import numpy as np
import scipy

from suffice.families.linear import centred_blocks
from suffice.families.multivariate_gaussian.parameters import MultivariateGaussianParameters
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Codes, Float
from suffice.statistics import Membership, PooledScatter

__all__ = ["MOST_ROWS", "shrunk_fold_scores", "shrunk_leave_one_out"]


MOST_ROWS = 1000  # more rows are held out in folds
LEAST_VARIANCE = 1e-4  # share of a variance that must remain without the row; below it, digits are lost
CONSTANT = 1e-12  # share of a variance without the rows of a fold; below it, only rounding is left
ROUNDING = 1e-9  # relative to the weight of a class
LEAST_PIVOT = 1e-10  # of the factor of a shrunk correlation matrix, squared


@single_threaded_blas(lambda *arguments: arguments[5].size)  # LAPACK solves even tiny systems on all threads
def shrunk_leave_one_out(
    parameters: MultivariateGaussianParameters,
    weight: Float,
    scatter: Float,
    divisor: float,
    shrinkage: float | None,
    x: Float,
    members: Membership,
) -> Float:
    """Compute log p(x | y) of each row given all other rows (n, K), up to a term that the classes share.

    Parameters
    ----------
    parameters : MultivariateGaussianParameters
        Parameters of all rows.
    weight : array of shape (K,)
        Weight of the rows of each class.
    scatter : array of shape (d, d)
        Scatter of all classes about their means, and its divisor.
    shrinkage : float, optional
        Share of the diagonal; by default that of `suffice.families.covariance.oas`.

    Returns
    -------
    array of shape (n, K)
        A row is NaN if its class has no other rows, or if digits are lost.
    """
    assert members.codes is not None
    out = np.full((len(x), len(weight)), np.nan)
    varies = np.flatnonzero(np.diagonal(scatter) > 0)
    s, n_columns, total = np.ascontiguousarray(scatter[np.ix_(varies, varies)]), len(scatter), float(weight.sum())
    w = np.ones(len(x)) if members.weights is None else members.weights
    codes = members.codes.tolist()
    away = parameters.away[:, varies]
    for rows, block in centred_blocks(x, parameters.origin):
        for i, row in enumerate(block[:, varies], rows.start):
            k, own = codes[i], float(w[i])
            rest = float(weight[k]) - own
            if not rest > 1e-9 * weight[k]:
                continue
            stretch = float(weight[k]) / rest
            from_means = row - away
            u = from_means[k].copy()
            from_means[k] *= stretch
            quadratic = _quadratic(s, u, own * stretch, from_means, n_columns, total - own, shrinkage)
            if quadratic is not None:
                out[i] = -0.5 * (divisor - own) * quadratic
    return out


@single_threaded_blas(lambda statistic, *_: statistic.shape[0])
def shrunk_fold_scores(statistic: PooledScatter, x: Float, members: Membership, folds: Codes) -> Float | None:
    """log p(x | y) of each row given all rows but those of its fold (n, K), up to a term that the classes share.

    The amount of shrinkage is that of `suffice.families.covariance.oas`. A class without other rows has −∞. None if a
    covariance is singular to working precision.
    """
    assert members.codes is not None
    out = np.full((len(x), len(statistic.weight)), -np.inf)
    w = np.ones(len(x)) if members.weights is None else members.weights
    origin, origin_low, away = statistic.grand_mean()
    least = CONSTANT * np.diagonal(statistic.scatter)
    for f in range(int(folds.max()) + 1):
        test = np.flatnonzero(folds == f)
        codes, rows = members.codes[test], (x[test] - origin) - origin_low
        from_means = rows - away[codes]
        weighted = w[test, None] * from_means
        weight = statistic.weight - np.bincount(codes, w[test], minlength=len(statistic.weight))
        kept = np.flatnonzero(weight > ROUNDING * statistic.weight)
        sums = np.zeros_like(away)
        np.add.at(sums, codes, weighted)
        move = -sums[kept] / weight[kept, None]
        scatter = statistic.scatter - weighted.T @ from_means
        scatter -= (weight[kept, None] * move).T @ move
        scores = _linear_scores(scatter, least, away[kept] + move, rows, weight[kept])
        if scores is None:
            return None
        out[np.ix_(test, kept)] = scores
    return out


def _linear_scores(scatter: Float, least: Float, away: Float, rows: Float, weight: Float) -> Float | None:
    """Scores of rows (n, K) for means ``away`` (K, d) and the shrunk scatter, which is overwritten.

    Columns whose squares are below ``least`` are constant.
    """
    n_columns, total = len(scatter), float(weight.sum())
    varies = np.diagonal(scatter) > least
    if not varies.all():
        scatter, away, rows = np.ascontiguousarray(scatter[np.ix_(varies, varies)]), away[:, varies], rows[:, varies]
    inverse = 1 / np.sqrt(np.diagonal(scatter))
    scatter *= inverse[:, None]
    scatter *= inverse
    scatter *= 1 - _oas(scatter, n_columns, total)
    np.fill_diagonal(scatter, 1.0)
    factor, failed = scipy.linalg.lapack.dpotrf(scatter.T, lower=1, clean=0, overwrite_a=1)
    if failed or np.diagonal(factor).min(initial=1.0) ** 2 < LEAST_PIVOT:
        return None
    coefficients, _ = scipy.linalg.lapack.dpotrs(factor, (away * inverse).T, lower=1)
    constants = np.einsum("kj,jk->k", away * inverse, coefficients)
    return np.asarray(total * ((rows * inverse) @ coefficients - 0.5 * constants))


def _quadratic(
    scatter: Float, u: Float, lost: float, away: Float, n_columns: int, n: float, shrinkage: float | None
) -> Float | None:
    """vᵀA⁻¹v of each v in ``away`` (K, d), where A is the shrunk matrix ``scatter − lost u uᵀ`` of n rows."""
    variance = np.diagonal(scatter) - lost * u * u
    if not (variance > LEAST_VARIANCE * np.diagonal(scatter)).all():
        return None
    inverse = 1 / np.sqrt(variance)
    unit = u * inverse
    matrix = scatter * inverse[:, None]
    matrix *= inverse
    matrix -= np.outer(lost * unit, unit)
    amount = _oas(matrix, n_columns, n) if shrinkage is None else shrinkage
    matrix *= 1 - amount
    np.fill_diagonal(matrix, 1.0)
    # The transpose, which is the same matrix, is what LAPACK can overwrite.
    factor, failed = scipy.linalg.lapack.dpotrf(matrix.T, lower=1, clean=0, overwrite_a=1)
    if failed or np.diagonal(factor).min(initial=1.0) ** 2 < LEAST_PIVOT:
        return None
    solved, _ = scipy.linalg.lapack.dtrtrs(factor, (away * inverse).T, lower=1)
    return np.asarray(np.einsum("jk,jk->k", solved, solved))


def _oas(correlation: Float, d: int, n: float) -> float:
    """`suffice.families.covariance.oas` of d columns, the constant ones of which are not in the matrix."""
    if d == 1:
        return 0.0
    flat = correlation.ravel()
    mean_square, mean_diagonal = float(flat @ flat) / d**2, len(correlation) / d
    below = (n + 1) * (mean_square - mean_diagonal**2 / d)
    return 1.0 if below <= 0 else min((mean_square + mean_diagonal**2) / below, 1.0)
