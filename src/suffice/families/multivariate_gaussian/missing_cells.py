"""Maximum likelihood with missing cells: the EM algorithm of Little and Rubin on statistics by pattern.

The likelihood of a row is that of the cells it has, N(x_o; μ_o, Σ_oo). Given μ and Σ, a row of a pattern has the
expected cells and the covariance of the missing ones

    x̂ = μ + B (x − μ)_o,    B = Σ_·o Σ_oo⁻¹,    C = Σ − B Σ_o·

B and C are equal for all rows of a pattern, so the E step needs only the weight, the mean and the scatter S_o of its
rows: their expected scatter is ``B S_o Bᵀ + n C``. The M step takes mean and covariance of the expected rows. Neither
step lowers the likelihood. Extrapolation along two steps (SQUAREM, Varadhan and Roland 2008) saves most of them; a
point with a lower likelihood is not used.

Shrinkage, priors and divisors are applied afterwards, to the expected statistic.

If there are too few rows for a regular covariance, the likelihood has no maximum: the covariance approaches a singular
matrix, far from that of the complete rows. The search then starts again with an M step that adds one row's weight of
independent columns with the variances of the data, which bounds the likelihood; weights count rows here. If columns are linearly dependent in
all rows, everything happens in the subspace that the complete rows span.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from suffice.exceptions import Argument, ConvergenceWarning, warn_user
from suffice.families.covariance import rank_tolerance
from suffice.numerics.compensated import add
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Codes, Float, Mask
from suffice.statistics import PatternScatter, PooledScatter, Scatter

__all__ = ["Expected", "expected_statistic", "inverses"]

CLOSE = 1e-11  # a step that moves means and covariances of standardised columns by less is the last
AT_REST, PATIENCE = 1e-7, 10  # steps below the first that get no smaller that many times move by rounding alone
MOST_STEPS = 1000
LEAST_PIVOT = 1e-12  # of the factor of a correlation matrix, squared; below it, the matrix is singular
VANISHING = 1e-6  # share of the least pivot of complete rows; below it, the likelihood grows without bound
CHUNK = 1 << 20  # entries of the matrices of patterns that are processed together


_KEPT: WeakKeyDictionary[PatternScatter, dict[bool, Expected]] = WeakKeyDictionary()


class Expected(NamedTuple):
    """The statistic of all rows with the expected values of their missing cells.

    ``log_likelihoods`` are those of the steps, one sequence for each covariance, up to a constant.
    """

    statistic: Scatter | PooledScatter
    log_likelihoods: list[list[float]]


def expected_statistic(statistic: PatternScatter, *, shared: bool) -> Expected:
    """The statistic of all rows, with the expected values of missing cells at the maximum of the likelihood.

    Parameters
    ----------
    statistic : PatternScatter
    shared : bool
        Whether the classes share one covariance.

    Notes
    -----
    The result is kept as long as the statistic: settings that apply after EM need no second search.
    """
    kept = _KEPT.setdefault(statistic, {})
    if shared not in kept:
        kept[shared] = _expected(statistic, shared=shared)
    return kept[shared]


def _expected(statistic: PatternScatter, *, shared: bool) -> Expected:
    complete = statistic.complete
    units = _Units.of(statistic)
    k, d = len(statistic.classes), statistic.shape[0]
    mean, scatter = np.zeros((k, d)), np.zeros((k, d, d))
    traces = []
    groups = [np.arange(k)] if shared else [np.array([c]) for c in range(k)]
    weight = statistic.class_weights()
    for group in groups:
        if not weight[group].any():
            continue
        found = _maximised(_Rows.of(statistic, units, group))
        mean[group], scatter[group[0]] = found.mean, found.scatter
        traces.append(found.log_likelihoods)
    seen = weight[:, None] > 0
    high, low = add(np.broadcast_to(units.origin, (k, d)), np.zeros((k, d)), units.scale * mean)
    means = np.where(seen, high, 0.0), np.where(seen, low, 0.0)
    scatter = scatter * units.scale[:, None] * units.scale
    if isinstance(complete, PooledScatter):
        pooled = scatter.sum(axis=0)
        return Expected(PooledScatter(statistic.classes, weight, *means, pooled, np.zeros_like(pooled)), traces)
    return Expected(Scatter(statistic.classes, weight, *means, scatter, np.zeros_like(scatter)), traces)


# ---------------------------------------------------------------------- rows in units of their columns


@dataclass(frozen=True, eq=False)
class _Units:
    """Mean and standard deviation within the classes of the cells that each column has (d,)."""

    origin: Float
    scale: Float

    @classmethod
    def of(cls, statistic: PatternScatter) -> _Units:
        n, mean, squares = _available(statistic, np.zeros(statistic.shape))
        total = np.maximum(n.sum(axis=0), np.finfo(np.float64).tiny)
        origin = (n * mean).sum(axis=0) / total
        # Once more, about a point among the values.
        n, mean, squares = _available(statistic, origin)
        origin = origin + (n * mean).sum(axis=0) / total
        scale = np.sqrt(squares.sum(axis=0) / total)
        return cls(origin, np.where(scale > 0, scale, 1.0))


def _available(statistic: PatternScatter, origin: Float) -> tuple[Float, Float, Float]:
    """Weight, mean and squares about the class mean of the cells that each class has in each column (K, d).

    The squares of complete rows in a pooled statistic are all in the first class.
    """
    s, complete, d = statistic, statistic.complete, statistic.shape[0]
    k = len(s.classes)
    has = s.observed > 0
    weights = np.vstack([np.repeat(complete.weight[:, None], d, axis=1), np.where(has, s.weight[:, None], 0.0)])
    means = np.vstack([complete.mean - origin + complete.mean_low, np.where(has, s.mean - origin + s.mean_low, 0.0)])
    own = complete.arrays()["scatter"]
    squares = np.zeros((k, d))
    squares[: 1 if own.ndim == 2 else k] = np.diagonal(own, axis1=-2, axis2=-1)
    squares = np.vstack([squares, np.diagonal(s.scatter, axis1=1, axis2=2)])
    codes = np.concatenate([np.arange(k), s.codes])
    n, sums, out = np.zeros((3, k, d))
    np.add.at(n, codes, weights)
    np.add.at(sums, codes, weights * means)
    mean = np.divide(sums, n, out=np.zeros_like(sums), where=n > 0)
    np.add.at(out, codes, squares + weights * (means - mean[codes]) ** 2)
    return n, mean, out


@dataclass(frozen=True, eq=False)
class _Rows:
    """Rows of classes with one covariance, in standard units.

    Attributes
    ----------
    weight, mean, scatter : arrays of shape (K,), (K, d) and (d, d)
        Of the complete rows.
    observed : array of bool of shape (P, d)
    pattern_weight, pattern_scatter : arrays of shape (P,) and (P, d, d)
        Of the rows of each pattern, about the means of their cells.
    pattern, code, cell_weight, cell_mean : arrays of length C
        Pattern, class, weight and mean of each pair of both.
    start_mean, start_variance : arrays of shape (K, d) and (d,)
        Of the cells that there are.
    prior_variance : array of shape (d,)
        Variance of the cells of all classes: one, or zero in a constant column.
    """

    weight: Float
    mean: Float
    scatter: Float
    observed: Mask
    pattern_weight: Float
    pattern_scatter: Float
    pattern: Codes
    code: Codes
    cell_weight: Float
    cell_mean: Float
    start_mean: Float
    start_variance: Float
    prior_variance: Float

    @classmethod
    def of(cls, statistic: PatternScatter, units: _Units, classes: Codes) -> _Rows:
        s, complete, d = statistic, statistic.complete, statistic.shape[0]
        position = np.full(len(s.classes), -1)
        position[classes] = np.arange(len(classes))
        here = np.flatnonzero(position[s.codes] >= 0)
        unit = units.scale[:, None] * units.scale
        mean = np.where(complete.weight[:, None] > 0, complete.mean - units.origin + complete.mean_low, 0.0)
        own = complete.arrays()["scatter"]
        scatter = own if own.ndim == 2 else own[classes].sum(axis=0)
        patterns, pattern = np.unique(s.observed[here], axis=0, return_inverse=True)
        pattern = pattern.ravel()
        observed = patterns.reshape(-1, d) > 0
        cell_mean = np.where(s.observed[here] > 0, s.mean[here] - units.origin + s.mean_low[here], 0.0) / units.scale
        weights, scatters = np.zeros(len(observed)), np.zeros((len(observed), d, d))
        np.add.at(weights, pattern, s.weight[here])
        np.add.at(scatters, pattern, s.scatter[here] / unit)
        n, start, squares = _available(s, units.origin)
        # A pooled statistic has all squares in the first class, which is one of the classes then.
        total = n[classes].sum(axis=0)
        variance = squares[classes].sum(axis=0) / np.where(total > 0, total, 1.0) / units.scale**2
        variance = np.where(variance > rank_tolerance(d) ** 2, variance, 0.0)
        return cls(
            complete.weight[classes],
            mean[classes] / units.scale,
            scatter / unit,
            observed,
            weights,
            scatters,
            pattern,
            position[s.codes[here]],
            s.weight[here],
            cell_mean,
            start[classes] / units.scale,
            np.where(total > 0, variance, 1.0),
            np.where(squares.sum(axis=0) > 0, 1.0, 0.0),
        )

    @property
    def class_weight(self) -> Float:
        return np.asarray(self.weight + np.bincount(self.code, self.cell_weight, minlength=len(self.weight)))


class _Point(NamedTuple):
    """Means (K, d) and a covariance (d, d)."""

    mean: Float
    covariance: Float


class _Step(NamedTuple):
    """The point after a step, the expected scatter there, and the log-likelihood before the step."""

    after: _Point
    scatter: Float
    log_likelihood: float


class _Maximum(NamedTuple):
    mean: Float
    scatter: Float
    log_likelihoods: list[float]


class _Search(NamedTuple):
    """How the maximum is searched for.

    A pivot of the correlation matrix below ``least_pivot`` shows that the likelihood has no maximum. ``pseudo`` is the
    weight of a prior of independent columns with the variances of the data. With ``subspace`` the covariance is
    singular, and all rows lie in the subspace where it is not zero.
    """

    least_pivot: float = 0.0
    pseudo: float = 0.0
    subspace: bool = False


class _NotRegularError(Exception):
    """A covariance is singular to working precision."""


# ---------------------------------------------------------------------- steps


@single_threaded_blas(lambda rows: rows.mean.shape[1])
def _maximised(rows: _Rows) -> _Maximum:
    """The maximum of the likelihood, bounded by a prior if there is none otherwise."""
    start, search = _Point(rows.start_mean, np.diag(rows.start_variance)), _Search(VANISHING)
    if rows.weight.sum() > 0:
        complete = rows.scatter / rows.weight.sum()
        found = inverses(complete, np.ones((1, len(complete)), dtype=bool))
        if found is not None:
            start, search = _Point(rows.start_mean, complete), _Search(VANISHING * found.least_pivot)
        elif _spans_all(rows, complete):
            start, search = _Point(rows.start_mean, complete), _Search(subspace=True)
    try:
        return _iterated(rows, start, search)
    except _NotRegularError:
        start = _Point(rows.start_mean, np.diag(rows.prior_variance))
        return _iterated(rows, start, _Search(pseudo=1.0))


def _spans_all(rows: _Rows, covariance: Float) -> bool:
    """Whether a singular covariance of many complete rows spans the incomplete ones, too."""
    k, d = rows.mean.shape
    if rows.weight.sum() <= 5 * (d + k):
        return False
    for p, observed in enumerate(rows.observed):
        at = np.flatnonzero(observed & (rows.start_variance > 0))
        values, vectors = np.linalg.eigh(covariance[np.ix_(at, at)])
        null = vectors[:, values <= 1e-12 * max(values[-1:].sum(), 0.0)]
        here = rows.pattern == p
        away = (rows.cell_mean[here] - rows.mean[rows.code[here]])[:, at] @ null
        off = np.einsum("ir,ij,jr->", null, rows.pattern_scatter[p][np.ix_(at, at)], null)
        if off + rows.cell_weight[here] @ (away**2).sum(axis=1) > 1e-12 * rows.pattern_weight[p]:
            return False
    return True


def _iterated(rows: _Rows, start: _Point, search: _Search) -> _Maximum:
    """EM steps with extrapolation, from a start to the maximum."""
    trace: list[float] = []
    first = _step(rows, start, search)
    before, n_steps = start, 1
    smallest, stalled = np.inf, 0
    while n_steps < MOST_STEPS:
        trace.append(first.log_likelihood)
        if _distance(before, first.after) < CLOSE:
            return _Maximum(first.after.mean, first.scatter, trace)
        second = _step(rows, first.after, search)
        n_steps += 1
        trace.append(second.log_likelihood)
        moved = _distance(first.after, second.after)
        smallest, stalled = (moved, 0) if moved < smallest else (smallest, stalled + 1)
        if moved < CLOSE or (moved < AT_REST and stalled >= PATIENCE):
            return _Maximum(second.after.mean, second.scatter, trace)
        before, found = _extrapolated(rows, before, first.after, second, search)
        n_steps += 1 if found is not None else 2
        first = _step(rows, before, search) if found is None else found
    warn_user(
        ConvergenceWarning(
            f"The means and covariances of rows with missing cells have not converged after {MOST_STEPS} steps of EM: "
            "the cells that are present say little about some of them. Remove columns that are mostly missing, or use ",
            Argument("missing", "drop"),
            ".",
        )
    )
    return _Maximum(first.after.mean, first.scatter, trace)


def _extrapolated(
    rows: _Rows, before: _Point, middle: _Point, second: _Step, search: _Search
) -> tuple[_Point, _Step | None]:
    """The next point, and the step from it if it was tried: extrapolated if that does not lower the likelihood."""
    after = second.after
    change = [b - a for a, b in zip(before, middle, strict=True)]
    bend = [c - b - r for b, c, r in zip(middle, after, change, strict=True)]
    size, curve = (np.sqrt(sum(float((part**2).sum()) for part in parts)) for parts in (change, bend))
    if not size > curve > 0:
        return after, None
    length = size / curve
    mean, covariance = (a + 2 * length * r + length**2 * v for a, r, v in zip(before, change, bend, strict=True))
    point = _Point(mean, (covariance + covariance.T) / 2)
    try:
        found = _step(rows, point, search)
    except _NotRegularError:
        return after, None
    return (point, found) if found.log_likelihood >= second.log_likelihood else (after, None)


def _distance(a: _Point, b: _Point) -> float:
    """Largest change of a mean or a covariance, in units of the standard deviations."""
    deviation = np.sqrt(np.diagonal(b.covariance))
    safe = np.where(deviation > 0, deviation, 1.0)
    mean = np.abs(b.mean - a.mean) / safe
    covariance = np.abs(b.covariance - a.covariance) / safe[:, None] / safe
    return float(max(mean.max(initial=0.0), covariance.max(initial=0.0)))


def _step(rows: _Rows, point: _Point, search: _Search) -> _Step:
    """One EM step; raises `_NotRegularError` if the covariance is singular, unless the rows lie in its subspace."""
    mean, sigma = point
    pseudo = search.pseudo
    d = len(sigma)
    whole = _inverses(sigma, np.ones((1, d), dtype=bool), search)
    apart = rows.mean - mean
    square = rows.scatter + (rows.weight[:, None] * apart).T @ apart
    total = -0.5 * (rows.weight.sum() * whole.log_det[0] + float((whole.matrix[0] * square).sum()))
    total -= 0.5 * pseudo * (whole.log_det[0] + float(np.diagonal(whole.matrix[0]) @ rows.prior_variance))
    scatter, expected = rows.scatter.copy(), np.empty_like(rows.cell_mean)
    step = max(1, CHUNK // d**2)
    bounds = np.argsort(rows.pattern, kind="stable")
    ordered = rows.pattern[bounds]
    for low in range(0, len(rows.observed), step):
        here = slice(low, low + step)
        observed = rows.observed[here]
        inverse = _inverses(sigma, observed, search)
        cells = bounds[np.searchsorted(ordered, low) : np.searchsorted(ordered, low + step)]
        at = rows.pattern[cells] - low
        known = np.where(observed[at], rows.cell_mean[cells] - mean[rows.code[cells]], 0.0)
        white = np.matmul(inverse.matrix[at], known[:, :, None])[:, :, 0]
        distance = rows.cell_weight[cells] @ (known * white).sum(axis=1)
        distance += (inverse.matrix * rows.pattern_scatter[here]).sum()
        total -= 0.5 * float(rows.pattern_weight[here] @ inverse.log_det + distance)
        predicted = white @ sigma
        expected[cells] = mean[rows.code[cells]] + np.where(observed[at], known, predicted)
        # B: the identity for columns that are observed, regressions for the others.
        slope = np.where(observed[:, :, None], np.eye(d), np.matmul(sigma, inverse.matrix))
        scatter += _summed_products(np.matmul(slope, rows.pattern_scatter[here]), slope)
        left = np.where(observed[:, :, None] | observed[:, None, :], 0.0, sigma - np.matmul(slope, sigma))
        scatter += np.tensordot(rows.pattern_weight[here], left, 1)
    size = rows.class_weight
    sums = rows.weight[:, None] * rows.mean
    np.add.at(sums, rows.code, rows.cell_weight[:, None] * expected)
    new = np.divide(sums, size[:, None], out=mean.copy(), where=size[:, None] > 0)
    scatter += (rows.weight[:, None] * (rows.mean - new)).T @ (rows.mean - new)
    away = expected - new[rows.code]
    scatter += (rows.cell_weight[:, None] * away).T @ away
    scatter = (scatter + scatter.T) / 2
    covariance = (scatter + pseudo * np.diag(rows.prior_variance)) / (size.sum() + pseudo)
    return _Step(_Point(new, covariance), scatter, total)


def _summed_products(a: Float, b: Float) -> Float:
    """Σ_p a_p b_pᵀ of matrices (P, d, d)."""
    d = a.shape[1]
    return np.asarray(a.transpose(1, 0, 2).reshape(d, -1) @ b.transpose(1, 0, 2).reshape(d, -1).T)


# ---------------------------------------------------------------------- inverses of the observed parts of a matrix


class Inverses(NamedTuple):
    """Inverse of the observed part of a matrix for each pattern (P, d, d), zero elsewhere, and log-determinants (P,).

    ``least_pivot`` is the smallest of their Cholesky factors, squared, on standardised columns.
    """

    matrix: Float
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
    return Inverses(np.matmul(factor.transpose(0, 2, 1), factor), log_det, least)


def _inverses(covariance: Float, observed: Mask, search: _Search) -> Inverses:
    """`inverses`, or those in the subspace where a singular covariance is not zero."""
    if not search.subspace:
        found = inverses(covariance, observed)
        if found is None or found.least_pivot < search.least_pivot:
            raise _NotRegularError
        return found
    variance = np.diagonal(covariance)
    deviation = np.sqrt(np.where(variance > 0, variance, 1.0))
    has = observed & (variance > 0)
    both = has[:, :, None] & has[:, None, :]
    values, vectors = np.linalg.eigh(np.where(both, covariance / deviation[:, None] / deviation, 0.0))
    rounding = 1e3 * rank_tolerance(len(covariance)) * values.max(axis=1, keepdims=True, initial=0.0)
    if not ((values >= -rounding) & (variance >= 0).all()).all():
        raise _NotRegularError
    kept = values > rounding
    safe = np.where(kept, values, 1.0)
    factor = np.where(kept, 1 / np.sqrt(safe), 0.0)[:, :, None] * vectors.transpose(0, 2, 1) / deviation
    log_det = np.log(safe).sum(axis=1) + 2 * np.where(has, np.log(deviation), 0.0).sum(axis=1)
    return Inverses(np.matmul(factor.transpose(0, 2, 1), factor), log_det, 0.0)
