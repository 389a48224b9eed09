"""Statistics of rows with missing cells without the rows of a fold, from the search for all rows.

Given the means and covariances of all rows, each row has expected cells and a covariance of its missing ones, and the
statistics of such rows add. Those of a fold are subtracted from those of all rows:

    n′ = n − n_f,    δ = −Σ_f w z / n′,    S′ = S − Σ_f w (z zᵀ + C) − n′ δ δᵀ,    z = x̂ − mean

This is one step of EM without the fold, from the maximum of all rows: the expected cells of the other rows are those
that the fold has helped to estimate. Where the rows are few or many cells are missing, more steps without the fold
follow. A mean that no other row of the class has a cell for starts again at that of all rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import NamedTuple

import numpy as np

from suffice.families.multivariate_gaussian.em_step import NotRegularError, Point, Step, em_step, inverses
from suffice.families.multivariate_gaussian.missing_cells import End, Expected, iterated
from suffice.families.multivariate_gaussian.observed_rows import ObservedRows
from suffice.families.multivariate_gaussian.row_batches import bordered, row_batches
from suffice.numerics.compensated import add
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Codes, Float, Mask
from suffice.statistics import Membership, PatternScatter, PooledScatter, Scatter
from suffice.statistics.patterns import coarsened

__all__ = ["training_statistics"]

ROUNDING = 1e-9  # relative to the weight of a class
STEPS = 150  # times the missing share of the cells, for each parameter per row and column
FEW_STEPS, MANY_STEPS = 3, 12  # at most if there are many cells; at least and at most if there are few
SMALL = 1 << 20  # rows times columns²
MOST_SEARCHES = 100  # folds and covariances; with more, one step is enough for the little that they say
CLOSE = 1e-3  # see `Search.close`
CONSTANT = 1e-12  # share of the squares of a column; below it, only rounding is left


def training_statistics(
    statistic: PatternScatter, expected: Expected, x: Float, members: Membership, folds: Codes
) -> Iterator[Scatter | PooledScatter] | None:
    """For each fold, the expected statistic of all rows without those of the fold; all classes stay.

    Parameters
    ----------
    statistic, expected : PatternScatter, Expected
        Of the rows, and perhaps of many more, which stay in every statistic.
    x, members, folds : arrays
        The rows (n, d), their classes and weights, and their folds.

    Returns
    -------
    iterator
        None if a covariance is singular to working precision.
    """
    assert members.codes is not None
    n_folds = int(folds.max()) + 1
    weights = np.ones(len(x)) if members.weights is None else members.weights
    observed = coarsened(~np.isnan(x), statistic.level)
    counted = observed.any(axis=1)  # others are not in the statistic
    scaled = np.where(observed, x - expected.units.origin, np.nan) / expected.units.scale
    found: list[list[tuple[Codes, _Moments]]] = [[] for _ in range(n_folds)]
    for end in expected.ends:
        position = np.full(len(members.classes), -1)
        position[end.classes] = np.arange(len(end.classes))
        here = np.flatnonzero(counted & (position[members.codes] >= 0))
        codes = position[members.codes[here]]
        rows = _Rows(scaled[here], codes, weights[here], folds[here])
        try:
            left = _without_folds(statistic, expected, end, rows, n_folds)
        except NotRegularError:
            return None
        for f, moments in left.items():
            found[f].append((end.classes, moments))
    return (_statistic(expected, each) for each in found)


def _without_folds(
    statistic: PatternScatter, expected: Expected, end: End, rows: _Rows, n_folds: int
) -> dict[int, _Moments]:
    """Moments without the rows of each fold that has some, of classes with one covariance."""
    weight = expected.statistic.weight[end.classes]
    total = _Moments(weight, end.mean, end.scatter)
    sums = _fold_sums(end.point, end.mean, rows, n_folds)
    cells = statistic.cell_weights()[end.classes]
    out = {f: total.without(each).forgetting(cells - each.cells <= ROUNDING * cells) for f, each in sums.items()}
    missing = np.isnan(rows.x).mean() if len(rows.x) else 0.0
    n_steps = int(STEPS * missing * sum(end.mean.shape) / weight.sum())
    is_small = len(rows.x) * len(end.scatter) ** 2 < SMALL
    n_steps = int(np.clip(n_steps, FEW_STEPS, MANY_STEPS)) if is_small else min(n_steps, FEW_STEPS)
    if n_steps == 0 or n_folds * len(expected.ends) > MOST_SEARCHES:
        return out
    every = ObservedRows.of(statistic, expected.units, end.classes)
    prior = end.search.pseudo * np.diag(every.prior_variance)

    def step_without(rows: _Rows, point: Point) -> Step:
        step = em_step(every, point, end.search)
        fold = _fold_sums(point, step.after.mean, rows, 1)[0]
        left = _Moments(weight, step.after.mean, step.scatter).without(fold)
        return Step(left.point(prior, end.search.pseudo), left.scatter, step.log_likelihood - fold.log_likelihood)

    for f, left in out.items():
        if not left.weight.any():
            continue
        mine = rows.of_fold(f)
        with suppress(NotRegularError):
            last = iterated(partial(step_without, mine), left.point(prior, end.search.pseudo), CLOSE, n_steps).last
            out[f] = _Moments(left.weight, last.after.mean, last.scatter)
    return out


class _Rows(NamedTuple):
    """Rows (n, d) of classes with one covariance, in units of their columns, with NaN in missing cells."""

    x: Float
    codes: Codes
    weights: Float
    folds: Codes

    def of_fold(self, fold: int) -> _Rows:
        """The rows of a fold, as fold 0."""
        here = np.flatnonzero(self.folds == fold)
        return _Rows(self.x[here], self.codes[here], self.weights[here], np.zeros(len(here), dtype=np.int64))


class _Fold(NamedTuple):
    """Sums of the expected rows of a fold about the means of all rows (K,), (K, d) and (d, d).

    ``cells`` are the weights of the cells that the rows have (K, d).
    """

    weight: Float
    sums: Float
    squares: Float
    cells: Float
    log_likelihood: float


class _Moments(NamedTuple):
    """Weights and means of classes, and their scatter about the means: (K,), (K, d) and (d, d)."""

    weight: Float
    mean: Float
    scatter: Float

    def point(self, prior: Float, pseudo: float) -> Point:
        """The means, and the covariance with a prior."""
        return Point(self.mean, (self.scatter + prior) / (self.weight.sum() + pseudo))

    def without(self, fold: _Fold) -> _Moments:
        """The moments of the other rows; columns in which only rounding is left are constant."""
        n = self.weight - fold.weight
        n[n <= ROUNDING * self.weight] = 0.0
        move = -np.divide(fold.sums, n[:, None], out=np.zeros_like(fold.sums), where=n[:, None] > 0)
        left = self.scatter - fold.squares - (n[:, None] * move).T @ move
        still = (np.diagonal(left) <= CONSTANT * np.diagonal(self.scatter)) | (not n.any())
        left[still] = 0.0
        left[:, still] = 0.0
        return _Moments(n, self.mean + move, (left + left.T) / 2)

    def forgetting(self, unknown: Mask) -> _Moments:
        """The moments with those of all rows, zero and one, where a class (K, d) has no cells to estimate them."""
        if not unknown.any():
            return self
        scatter = self.scatter.copy()
        never = unknown.all(axis=0)
        scatter[never] = 0.0
        scatter[:, never] = 0.0
        scatter[never, never] = self.weight.sum()
        return _Moments(self.weight, np.where(unknown, 0.0, self.mean), scatter)


@single_threaded_blas(lambda point, *_: len(point.covariance))
def _fold_sums(point: Point, mean: Float, rows: _Rows, n_folds: int) -> dict[int, _Fold]:
    """Sums of the rows of each fold that has some; raises `NotRegularError` if the covariance is singular."""
    d = rows.x.shape[1]
    whole = inverses(point.covariance, np.ones((1, d), dtype=bool))
    if whole is None:
        raise NotRegularError
    varies = np.diagonal(point.covariance) > 0
    precision = bordered(whole.matrix[0] + np.diag(np.where(varies, 0.0, 1.0)), 2)
    observed = ~np.isnan(rows.x)
    known = bordered(np.where(observed, rows.x - point.mean[rows.codes], 0.0))
    pull = known @ precision
    spread = np.zeros((n_folds, (d + 1) ** 2))
    log_det = np.full(len(rows.x), whole.log_det[0])
    for batch in row_batches(observed):
        inner = batch.inner(precision)
        log_det[batch.rows] += np.linalg.slogdet(inner)[1]
        left = np.linalg.inv(inner)
        known[batch.rows[:, None], batch.missing] = -np.matmul(left, batch.take(pull)[:, :, None])[:, :, 0]
        place = rows.folds[batch.rows, None, None] * (d + 1) ** 2 + batch.pairs
        weighted = rows.weights[batch.rows, None, None] * left
        spread += np.bincount(place.ravel(), weighted.ravel(), minlength=spread.size).reshape(spread.shape)
    remaining = spread.reshape(n_folds, d + 1, d + 1)[:, :d, :d] * (varies[:, None] & varies)
    distance = ((known[:, :d] @ whole.factor[0].T) ** 2).sum(axis=1)
    likelihood = -0.5 * rows.weights * (log_det + distance)
    z = known[:, :d] + (point.mean - mean)[rows.codes]
    out = {}
    for f in np.unique(rows.folds).tolist():
        here = np.flatnonzero(rows.folds == f)
        codes, weighted = rows.codes[here], rows.weights[here, None] * z[here]
        sums, cells = np.zeros((2, *mean.shape))
        np.add.at(sums, codes, weighted)
        np.add.at(cells, codes, rows.weights[here, None] * observed[here])
        weight = np.bincount(codes, rows.weights[here], minlength=len(mean)).astype(np.float64)
        squares = weighted.T @ z[here] + remaining[f]
        out[f] = _Fold(weight, sums, squares, cells, float(likelihood[here].sum()))
    return out


def _statistic(expected: Expected, parts: list[tuple[Codes, _Moments]]) -> Scatter | PooledScatter:
    """The expected statistic with other moments of some classes."""
    total, units = expected.statistic, expected.units
    weight, mean, low = total.weight.copy(), total.mean.copy(), total.mean_low.copy()
    scatter = total.scatter.copy()
    for classes, moments in parts:
        at = ... if isinstance(total, PooledScatter) else classes[0]
        scatter[at] = moments.scatter * units.scale[:, None] * units.scale
        weight[classes] = moments.weight
        away = units.scale * moments.mean
        mean[classes], low[classes] = add(np.broadcast_to(units.origin, away.shape), np.zeros_like(away), away)
    seen = weight[:, None] > 0
    means = np.where(seen, mean, 0.0), np.where(seen, low, 0.0)
    if isinstance(total, PooledScatter):
        return PooledScatter(total.classes, weight, *means, scatter, np.zeros_like(scatter))
    return Scatter(total.classes, weight, *means, scatter, np.zeros_like(scatter))
