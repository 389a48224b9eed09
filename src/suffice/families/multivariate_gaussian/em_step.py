"""One step of the EM algorithm for rows with missing cells; `missing_cells` has the formulas."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice.families.covariance import rank_tolerance
from suffice.families.multivariate_gaussian.observed_rows import CHUNK, ObservedRows
from suffice.numerics.types import Codes, Float, Mask

__all__ = ["Inverses", "NotRegularError", "Point", "Search", "Step", "em_step", "inverses"]

LEAST_PIVOT = 1e-12  # of the factor of a correlation matrix, squared; below it, the matrix is singular
ROUNDING = 1e-14  # with a least pivot v, the inverse of the whole matrix has relative errors of about ROUNDING / v


class Point(NamedTuple):
    """Means (K, d) and a covariance (d, d)."""

    mean: Float
    covariance: Float


class Step(NamedTuple):
    """The point after a step, the expected scatter there, and the log-likelihood before the step."""

    after: Point
    scatter: Float
    log_likelihood: float


class Search(NamedTuple):
    """How the maximum is searched for.

    A pivot of the correlation matrix below ``least_pivot`` shows that the likelihood has no maximum. ``pseudo`` is the
    weight of a prior of independent columns with the variances of the data. With ``subspace`` the covariance is
    singular, and all rows lie in the subspace where it is not zero. A step that moves the means and covariances of
    standardised columns by less than ``close`` is the last.
    """

    least_pivot: float = 0.0
    pseudo: float = 0.0
    subspace: bool = False
    close: float = 1e-11


class NotRegularError(Exception):
    """A covariance is singular to working precision."""


def em_step(rows: ObservedRows, point: Point, search: Search) -> Step:
    """One EM step; raises `NotRegularError` if the covariance is singular, unless the rows lie in its subspace."""
    mean, sigma = point
    pseudo = search.pseudo
    whole = _inverses(sigma, np.ones((1, len(sigma)), dtype=bool), search)
    apart = rows.mean - mean
    square = rows.scatter + (rows.weight[:, None] * apart).T @ apart
    total = -0.5 * (rows.weight.sum() * whole.log_det[0] + float((whole.matrix[0] * square).sum()))
    total -= 0.5 * pseudo * (whole.log_det[0] + float(np.diagonal(whole.matrix[0]) @ rows.prior_variance))
    if whole.least_pivot * search.close > ROUNDING and (np.diagonal(sigma) > 0).all():
        found = _expected_by_missing(rows, mean, whole)
    else:
        found = _expected_by_observed(rows, point, search)
    expected, scatter = found.cells, rows.scatter + found.scatter
    size = rows.class_weight
    sums = rows.weight[:, None] * rows.mean + rows.class_sums(expected)
    new = np.divide(sums, size[:, None], out=mean.copy(), where=size[:, None] > 0)
    scatter += (rows.weight[:, None] * (rows.mean - new)).T @ (rows.mean - new)
    away = expected - new[rows.code]
    scatter += (rows.cell_weight[:, None] * away).T @ away
    scatter = (scatter + scatter.T) / 2
    covariance = (scatter + pseudo * np.diag(rows.prior_variance)) / (size.sum() + pseudo)
    return Step(Point(new, covariance), scatter, total + found.log_likelihood)


class _Expectation(NamedTuple):
    """Of rows with missing cells: expected cells (C, d), scatter about them (d, d), and log-likelihood."""

    cells: Float
    scatter: Float
    log_likelihood: float


def _expected_by_missing(rows: ObservedRows, mean: Float, whole: Inverses) -> _Expectation:
    """The E step from the inverse Λ of the covariance, with matrices of the missing columns m of each pattern alone.

    C = Λ_mm⁻¹,    x̂_m = μ_m − C Λ_mo (x − μ)_o,    log |Σ_oo| = log |Σ| + log |Λ_mm|
    """
    d = mean.shape[1]
    precision = np.zeros((d + 1, d + 1))
    precision[:d, :d] = whole.matrix[0]
    known = np.where(rows.observed[rows.pattern], rows.cell_mean - mean[rows.code], 0.0)
    pull = np.append(known @ precision[:d, :d], np.zeros((len(known), 1)), axis=1)
    expected = np.append(known, np.zeros((len(known), 1)), axis=1)
    spread, scatter = np.zeros((2, (d + 1) ** 2))
    total = rows.pattern_weight.sum() * whole.log_det[0]
    for batch in rows.batches:
        at, here = batch.missing, slice(batch.low, batch.high)
        diagonal = np.arange(at.shape[1])
        inner = precision.ravel()[batch.pairs]
        inner[:, diagonal, diagonal] += batch.filled
        pivots = np.diagonal(_cholesky(inner), axis1=1, axis2=2)
        weight = rows.pattern_weight[here]
        total += 2 * float(weight @ np.log(pivots).sum(axis=1))
        left = np.linalg.inv(inner)
        place = at[batch.own]
        drawn = np.take_along_axis(pull[batch.cells], place, axis=1)
        expected[batch.cells[:, None], place] = -np.matmul(left[batch.own], drawn[:, :, None])[:, :, 0]
        spread += _sums(weight[:, None, None] * left, batch.pairs, d + 1)
        some = batch.scattered
        if len(some):
            link = precision[at[some]][:, :, :d]
            # Scatter of missing with observed columns.
            cross = -np.matmul(left[some], np.matmul(link, rows.pattern_scatter[here][some]))
            beside = _sums(cross, at[some][:, :, None] * (d + 1) + np.arange(d), d + 1).reshape(d + 1, d + 1)
            scatter += (beside + beside.T).ravel()
            inside = -np.matmul(np.matmul(cross, link.transpose(0, 2, 1)), left[some])
            scatter += _sums(inside, batch.pairs[some], d + 1)
    # The distance of the cells that a row has is that of the row with its expected cells.
    white, factor = expected[:, :d] @ whole.factor[0].T, whole.factor[0]
    about_means = scatter.reshape(d + 1, d + 1)[:d, :d] + rows.total_scatter
    total += float(rows.cell_weight @ (white**2).sum(axis=1)) + float(((factor @ about_means) * factor).sum())
    whole_scatter = about_means + spread.reshape(d + 1, d + 1)[:d, :d]
    return _Expectation(mean[rows.code] + expected[:, :d], whole_scatter, -0.5 * float(total))


def _cholesky(matrices: Float) -> Float:
    try:
        return np.asarray(np.linalg.cholesky(matrices), dtype=np.float64)
    except np.linalg.LinAlgError:
        raise NotRegularError from None


def _sums(values: Float, pairs: Codes, size: int) -> Float:
    """Sums of the entries of matrices by their positions in a square matrix, flat."""
    return np.asarray(np.bincount(pairs.ravel(), values.ravel(), minlength=size * size), dtype=np.float64)


def _expected_by_observed(rows: ObservedRows, point: Point, search: Search) -> _Expectation:
    """The E step from the inverses of the observed parts of a covariance, which may be nearly singular."""
    mean, sigma = point
    d, total = len(sigma), 0.0
    scatter, expected = np.zeros((d, d)), np.empty_like(rows.cell_mean)
    step = max(1, CHUNK // d**2)
    for low in range(0, len(rows.observed), step):
        here = slice(low, low + step)
        observed = rows.observed[here]
        inverse = _inverses(sigma, observed, search)
        cells = rows.cells_of(low, low + step)
        at = rows.pattern[cells] - low
        known = np.where(observed[at], rows.cell_mean[cells] - mean[rows.code[cells]], 0.0)
        white = np.matmul(inverse.matrix[at], known[:, :, None])[:, :, 0]
        distance = rows.cell_weight[cells] @ (known * white).sum(axis=1)
        some = np.flatnonzero(rows.scattered[here])
        distance += (inverse.matrix[some] * rows.pattern_scatter[here][some]).sum()
        total -= 0.5 * float(rows.pattern_weight[here] @ inverse.log_det + distance)
        predicted = white @ sigma
        expected[cells] = mean[rows.code[cells]] + np.where(observed[at], known, predicted)
        # B: the identity for columns that are observed, regressions for the others.
        slope = np.where(observed[:, :, None], np.eye(d), np.matmul(sigma, inverse.matrix))
        scatter += _summed_products(np.matmul(slope[some], rows.pattern_scatter[here][some]), slope[some])
        left = np.where(observed[:, :, None] | observed[:, None, :], 0.0, sigma - np.matmul(slope, sigma))
        scatter += np.tensordot(rows.pattern_weight[here], left, 1)
    return _Expectation(expected, scatter, total)


def _summed_products(a: Float, b: Float) -> Float:
    """Σ_p a_p b_pᵀ of matrices (P, d, d)."""
    d = a.shape[1]
    return np.asarray(a.transpose(1, 0, 2).reshape(d, -1) @ b.transpose(1, 0, 2).reshape(d, -1).T)


# ---------------------------------------------------------------------- inverses of the observed parts of a matrix


class Inverses(NamedTuple):
    """Inverse of the observed part of a matrix for each pattern (P, d, d), zero elsewhere, and log-determinants (P,).

    The inverse is ``factorᵀ factor``.
    ``least_pivot`` is the smallest of their Cholesky factors, squared, on standardised columns.
    """

    matrix: Float
    factor: Float
    log_det: Float
    least_pivot: float


def inverses(covariance: Float, observed: Mask) -> Inverses | None:
    """Inverses for patterns of observed columns (P, d); None if one is singular to working precision.

    Columns without variance count as missing.

    >>> found = inverses(np.diag([4.0, 2.0, 0.0]), np.array([[True, False, True]]))
    >>> np.diagonal(found.matrix[0]).tolist(), float(np.exp(found.log_det[0]))
    ([0.25, 0.0, 0.0], 4.0)
    """
    variance = np.diagonal(covariance)
    if not (variance >= 0).all():
        return None
    deviation = np.sqrt(np.where(variance > 0, variance, 1.0))
    has = observed & (variance > 0)
    d = len(covariance)
    matrix = np.where(has[:, :, None] & has[:, None, :], covariance / deviation[:, None] / deviation, 0.0)
    matrix[:, np.arange(d), np.arange(d)] = 1.0
    try:
        lower = np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return None
    pivots = np.diagonal(lower, axis1=1, axis2=2)
    if not (pivots**2 > LEAST_PIVOT).all():
        return None
    factor = np.linalg.solve(lower, np.broadcast_to(np.eye(d), lower.shape)) / deviation
    factor = np.where(has[:, :, None] & has[:, None, :], factor, 0.0)
    log_det = 2 * (np.log(pivots) + np.where(has, np.log(deviation), 0.0)).sum(axis=1)
    least = float(pivots.min(initial=1.0)) ** 2
    return Inverses(np.matmul(factor.transpose(0, 2, 1), factor), factor, log_det, least)


def _inverses(covariance: Float, observed: Mask, search: Search) -> Inverses:
    """`inverses`, or those in the subspace where a singular covariance is not zero."""
    if not search.subspace:
        found = inverses(covariance, observed)
        if found is None or found.least_pivot < search.least_pivot:
            raise NotRegularError
        return found
    variance = np.diagonal(covariance)
    deviation = np.sqrt(np.where(variance > 0, variance, 1.0))
    has = observed & (variance > 0)
    both = has[:, :, None] & has[:, None, :]
    values, vectors = np.linalg.eigh(np.where(both, covariance / deviation[:, None] / deviation, 0.0))
    rounding = 1e3 * rank_tolerance(len(covariance)) * values.max(axis=1, keepdims=True, initial=0.0)
    if not ((values >= -rounding) & (variance >= 0).all()).all():
        raise NotRegularError
    kept = values > rounding
    safe = np.where(kept, values, 1.0)
    factor = np.where(kept, 1 / np.sqrt(safe), 0.0)[:, :, None] * vectors.transpose(0, 2, 1) / deviation
    log_det = np.log(safe).sum(axis=1) + 2 * np.where(has, np.log(deviation), 0.0).sum(axis=1)
    return Inverses(np.matmul(factor.transpose(0, 2, 1), factor), factor, log_det, 0.0)
