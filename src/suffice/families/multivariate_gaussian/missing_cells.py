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
matrix, far from that of the complete rows. If two columns do not vary together in any row, it may have many. The M step
then adds one row's weight of independent columns with the variances of the data, which bounds the likelihood; weights
count rows here. Where complete rows alone do not show a regular covariance, this prior is used if few rows show that
there is no maximum, or if none is found in ``TRIAL`` steps. The prior is a convention, and the search with
it ends earlier. If columns are linearly dependent in all rows, everything happens in the subspace that the complete
rows span.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from suffice.exceptions import Argument, ConvergenceWarning, warn_user
from suffice.families.multivariate_gaussian.em_step import NotRegularError, Point, Search, Step, em_step, inverses
from suffice.families.multivariate_gaussian.observed_rows import ObservedRows, Units
from suffice.numerics.compensated import add
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Codes, Float
from suffice.statistics import PatternScatter, PooledScatter, Scatter

__all__ = ["End", "Expected", "expected_statistic", "iterated"]

AT_REST, PATIENCE = 1e-7, 10  # after so many steps below AT_REST that do not get smaller, only rounding is left
MOST_STEPS = 1000
TRIAL = 100  # steps without the prior, if complete rows alone have no regular covariance
SETTLED = 1e-3  # last step of a search with the prior; see `Search.close`
ROUGH_STEPS = 30  # of a rough search: later steps do not change the scores of new rows
LEAST_SHARE = 1e-9  # of the weight of all rows, that a prior has at least
VANISHING = 1e-6  # share of the least pivot of complete rows; below it, the likelihood grows without bound

EMStep = Callable[[Point], Step]

_KEPT: WeakKeyDictionary[PatternScatter, dict[tuple[bool, bool], Expected]] = WeakKeyDictionary()


class End(NamedTuple):
    """The last step of a search: the point before it, and the means and scatter after it."""

    classes: Codes
    search: Search
    point: Point
    mean: Float
    scatter: Float


class Expected(NamedTuple):
    """The statistic of all rows with the expected values of their missing cells.

    ``log_likelihoods`` are those of the steps, one sequence for each covariance, up to a constant. ``ends`` are the
    last steps of each group of classes that share a covariance, in these units.
    """

    statistic: Scatter | PooledScatter
    log_likelihoods: list[list[float]]
    converged: bool
    units: Units
    ends: list[End]


def expected_statistic(statistic: PatternScatter, *, shared: bool, rough: bool = False) -> Expected:
    """The statistic of all rows, with the expected values of missing cells at the maximum of the likelihood.

    Parameters
    ----------
    statistic : PatternScatter
    shared : bool
        Whether the classes share one covariance.
    rough : bool
        Whether a few steps are enough. A shrunk covariance that only scores rows gains nothing from the others.

    Notes
    -----
    The result is kept as long as the statistic: settings that apply after EM need no second search.
    """
    kept = _KEPT.setdefault(statistic, {})
    if (shared, rough) not in kept:
        kept[shared, rough] = _expected(statistic, shared=shared, rough=rough)
    if not rough and not kept[shared, rough].converged:
        _warn_not_converged()
    return kept[shared, rough]


def _expected(statistic: PatternScatter, *, shared: bool, rough: bool) -> Expected:
    complete = statistic.complete
    units = Units.of(statistic)
    k, d = len(statistic.classes), statistic.shape[0]
    mean, scatter = np.zeros((k, d)), np.zeros((k, d, d))
    found, ends = [], []
    groups = [np.arange(k)] if shared else [np.array([c]) for c in range(k)]
    weight = statistic.class_weights()
    for group in groups:
        if not weight[group].any():
            continue
        maximum = _maximised(ObservedRows.of(statistic, units, group), rough)
        mean[group], scatter[group[0]] = maximum.mean, maximum.scatter
        found.append(maximum)
        ends.append(End(group, maximum.search, maximum.point, maximum.mean, maximum.scatter))
    traces, converged = [each.log_likelihoods for each in found], all(each.converged for each in found)
    seen = weight[:, None] > 0
    high, low = add(np.broadcast_to(units.origin, (k, d)), np.zeros((k, d)), units.scale * mean)
    means = np.where(seen, high, 0.0), np.where(seen, low, 0.0)
    scatter = scatter * units.scale[:, None] * units.scale
    if isinstance(complete, PooledScatter):
        pooled = scatter.sum(axis=0)
        whole: Scatter | PooledScatter = PooledScatter(statistic.classes, weight, *means, pooled, np.zeros_like(pooled))
    else:
        whole = Scatter(statistic.classes, weight, *means, scatter, np.zeros_like(scatter))
    return Expected(whole, traces, converged, units, ends)


def _warn_not_converged() -> None:
    warn_user(
        ConvergenceWarning(
            "The means and covariances of rows with missing cells have not converged after "
            f"{MOST_STEPS:,} steps of EM: the cells that are present hardly determine some of them. Remove columns "
            "that are mostly missing, or use ",
            Argument("missing", "drop"),
            ".",
        )
    )


class _Maximum(NamedTuple):
    mean: Float
    scatter: Float
    log_likelihoods: list[float]
    converged: bool
    search: Search
    point: Point  # before the last step


# ---------------------------------------------------------------------- steps


@single_threaded_blas(lambda rows, _: rows.mean.shape[1])
def _maximised(rows: ObservedRows, rough: bool) -> _Maximum:
    """The maximum of the likelihood, with a prior where the likelihood has no maximum."""
    start, search, certain = _without_prior(rows)
    most = ROUGH_STEPS if rough else MOST_STEPS
    if certain or not (rough or rows.have_no_maximum):
        with suppress(NotRegularError):
            found = _iterated(rows, start, search, most if certain else TRIAL)
            if certain or found.converged:
                return _in_subspace(found, start.covariance) if search.subspace else found
    start = Point(rows.start_mean, np.diag(rows.prior_variance))
    # With so large weights that one row would not make the covariance regular, the prior weighs more.
    pseudo = max(1.0, LEAST_SHARE * float(rows.class_weight.sum()))
    return _iterated(rows, start, Search(pseudo=pseudo, close=SETTLED), most)


def _without_prior(rows: ObservedRows) -> tuple[Point, Search, bool]:
    """Where and how a search without prior starts, and whether complete rows alone show that there is a maximum."""
    start = Point(rows.start_mean, np.diag(rows.start_variance))
    if rows.weight.sum() > 0:
        complete = rows.scatter / rows.weight.sum()
        found = inverses(complete, np.ones((1, len(complete)), dtype=bool))
        if found is not None:
            vary = (np.diagonal(complete) > 0) | (rows.start_variance == 0)
            return Point(rows.start_mean, complete), Search(VANISHING * found.least_pivot), bool(vary.all())
        if _spans_all(rows, complete):
            return Point(rows.start_mean, complete), Search(subspace=True), True
    return start, Search(VANISHING), False


def _spans_all(rows: ObservedRows, covariance: Float) -> bool:
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


def _in_subspace(found: _Maximum, complete: Float) -> _Maximum:
    """The maximum without the rounding errors of its scatter outside the subspace that complete rows span."""
    variance = np.diagonal(complete)
    deviation = np.sqrt(np.where(variance > 0, variance, 1.0))
    values, vectors = np.linalg.eigh(complete / deviation[:, None] / deviation)
    null = vectors[:, values <= 1e-12 * max(values[-1:].sum(), 0.0)]
    inside = np.eye(len(complete)) - null @ null.T
    scatter = inside @ (found.scatter / deviation[:, None] / deviation) @ inside
    return found._replace(scatter=(scatter + scatter.T) / 2 * deviation[:, None] * deviation)


def _iterated(rows: ObservedRows, start: Point, search: Search, most: int) -> _Maximum:
    """EM steps with extrapolation, from a start to the maximum."""
    found = iterated(lambda point: em_step(rows, point, search), start, search.close, most)
    last = found.last
    return _Maximum(last.after.mean, last.scatter, found.log_likelihoods, found.converged, search, found.before)


class Iteration(NamedTuple):
    """The last step, the point before it, the log-likelihoods of the steps, and whether they have converged."""

    last: Step
    before: Point
    log_likelihoods: list[float]
    converged: bool


def iterated(step: EMStep, start: Point, close: float, most: int) -> Iteration:
    """Steps with extrapolation from a start, until one moves the point by less than ``close``; ``most`` at most."""
    trace: list[float] = []
    first = step(start)
    before, n_steps = start, 1
    smallest, stalled = np.inf, 0
    while n_steps < most:
        trace.append(first.log_likelihood)
        if _distance(before, first.after) < close:
            return Iteration(first, before, trace, True)
        second = step(first.after)
        n_steps += 1
        trace.append(second.log_likelihood)
        moved = _distance(first.after, second.after)
        smallest, stalled = (moved, 0) if moved < smallest else (smallest, stalled + 1)
        if moved < close or (moved < AT_REST and stalled >= PATIENCE):
            return Iteration(second, first.after, trace, True)
        before, found = _extrapolated(step, before, first.after, second)
        n_steps += 1 if found is not None else 2
        first = step(before) if found is None else found
    return Iteration(first, before, trace, False)


def _extrapolated(step: EMStep, before: Point, middle: Point, second: Step) -> tuple[Point, Step | None]:
    """The next point, and the step from it if it was tried: extrapolated if that does not lower the likelihood."""
    after = second.after
    change = [b - a for a, b in zip(before, middle, strict=True)]
    bend = [c - b - r for b, c, r in zip(middle, after, change, strict=True)]
    size, curve = (np.sqrt(sum(float((part**2).sum()) for part in parts)) for parts in (change, bend))
    if not size > curve > 0:
        return after, None
    length = size / curve
    mean, covariance = (a + 2 * length * r + length**2 * v for a, r, v in zip(before, change, bend, strict=True))
    point = Point(mean, (covariance + covariance.T) / 2)
    try:
        found = step(point)
    except NotRegularError:
        return after, None
    return (point, found) if found.log_likelihood >= second.log_likelihood else (after, None)


def _distance(a: Point, b: Point) -> float:
    """Largest change of a mean or a covariance, in units of the standard deviations."""
    deviation = np.sqrt(np.diagonal(b.covariance))
    safe = np.where(deviation > 0, deviation, 1.0)
    mean = np.abs(b.mean - a.mean) / safe
    covariance = np.abs(b.covariance - a.covariance) / safe[:, None] / safe
    return float(max(mean.max(initial=0.0), covariance.max(initial=0.0)))
