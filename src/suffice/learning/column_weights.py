"""Weights of columns: naive Bayes that discounts columns which repeat each other.

    p(y | x) = (1 − ε) q(y) + ε π(y)        q(y) ∝ π(y) exp(b_y + Σ_j w_j log p(x_j | y)),    w_j ≥ 0

π is the class prior of the data, and ε the share of outliers, whose scores are unrelated to their labels, as in
`suffice.learning.calibration`. A temperature is the special case of equal weights. The weights are fitted to held-out
log-likelihoods of the columns by maximum likelihood with the penalty

    λ Σ_j (w_j − w̄)² + ½ Σ_y b_y² + 0.05 Σ_j max(w_j − 1, 0)² − ½ log ε

where w̄ is their mean, so few rows give nearly equal weights. Three folds of the held-out rows choose λ. Models that
count every column several times have a further penalty ρ Σ_j w_j².
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from suffice import bayes
from suffice.learning.calibration import EVIDENCE, LEAST_LOG_OUTLIERS, MAX_SURPRISE, Calibration, fit_temperature
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Codes, Float, Index
from suffice.statistics.classes import evenly_spaced

__all__ = ["MOST_COLUMNS", "equal_weights", "fit_column_weights", "some_rows"]

ENOUGH_CELLS, MOST_CELLS = 1 << 21, 1 << 23  # held-out log-likelihoods of columns, rows and classes (16 and 64 MB)
ENOUGH_ROWS, LEAST_ROWS = 1000, 20
MOST_COLUMNS = 5000  # with weights of their own
SHRINKAGE = (300.0, 30.0, 3.0, 0.3)  # λ
N_FOLDS = 3
ABOVE_ONE = 0.05  # penalty of weights above one
FEWEST = 0.5  # outliers that the prior of ε is worth
FIRST, ROUGH, PRECISE = 1e-4, 1e-5, 1e-10  # relative change of the loss that ends a search
NO_OUTLIERS, START_OUTLIERS = 1e-9, 1e-3  # ε, in the order of the searches


def some_rows(rows: Index, n_cells: int) -> Index:
    """Evenly spaced rows, if there are more than memory and time allow; each row has ``n_cells`` log-likelihoods.

    They have 2²¹ log-likelihoods in all, or are a thousand rows with at most 2²³.

    >>> len(some_rows(np.arange(100_000), 2 * 50)), len(some_rows(np.arange(100_000), 50 * 100))
    (20971, 1000)
    """
    most = max(ENOUGH_CELLS // n_cells, min(ENOUGH_ROWS, MOST_CELLS // n_cells))
    return evenly_spaced(rows, most)


def equal_weights(temperature: Calibration, columns: tuple[object, ...]) -> Calibration:
    """A temperature as equal weights: ``b_y`` takes up the part of the prior."""
    weight = temperature.slope
    offset = temperature.offset + (weight - 1) * _log_share(temperature)
    return replace(
        temperature,
        slope=1.0,
        offset=offset - offset.mean(),
        columns=columns,
        weights=np.full(len(columns), weight),
    )


def _log_share(calibration: Calibration) -> Float:
    """log π, with 0 for a class of prior 0, whose offset has no effect."""
    return np.log(np.where(calibration.share > 0, calibration.share, 1.0))


@single_threaded_blas(lambda parts, *_, **__: parts.size)
def fit_column_weights(
    parts: Float,
    codes: Codes,
    weights: Float | None,
    temperature: Calibration,
    columns: tuple[object, ...],
    *,
    offsets: float,
    ridge: float = 0.0,
) -> Calibration:
    """Fit weights of columns, or return equal weights if held-out rows do not show that others are better.

    Each of three folds of the rows is predicted by weights, and by a temperature, that were fitted to the others. The
    weights must increase the log-likelihood of these predictions by two nats. Their ε is always above zero, since its
    prior is worth half an outlier, so one row changes the weights only a little.

    Parameters
    ----------
    parts : array of shape (1 + J, n, K)
        log p(y), and log p(x_j | y) of each column, of held-out rows.
    codes : array of int of shape (n,)
    temperature : Calibration
        Fitted to the same rows, or to more.
    columns : tuple
        Names of the columns.
    offsets : float
        Precision of the prior of an offset of a temperature.
    ridge : float
        ρ, the penalty of large weights. If it is above zero, there is no test for equal weights: they have no meaning
        for models that count columns several times.
    """
    equal = equal_weights(temperature, columns)
    w = np.ones(len(codes)) if weights is None else weights
    # A class with −∞ in the prior or a column has probability zero; the row teaches the share of outliers.
    possible = np.isfinite(parts[:, np.arange(len(codes)), codes]).all(axis=0)
    rows = _Rows.of(parts[:, possible], codes[possible], w[possible], temperature.share)
    best = SHRINKAGE[0]
    if len(rows.codes) < LEAST_ROWS:
        return _fitted(rows, equal, best, float(w[~possible].sum()), ridge) if ridge and len(rows.codes) else equal
    posterior = bayes.log_posterior(parts[:, possible].sum(axis=0))
    folds = np.empty(len(rows.codes), dtype=np.int64)
    folds[np.argsort(rows.codes, kind="stable")] = np.arange(len(rows.codes)) % N_FOLDS
    gains = _gains(rows, posterior, folds, temperature, offsets, ridge)
    best = max(gains, key=lambda shrinkage: float(rows.weights @ gains[shrinkage]))
    if not ridge and not rows.weights @ gains[best] > EVIDENCE:
        return equal
    return _fitted(rows, equal, best, float(w[~possible].sum()), ridge)


def _fitted(rows: _Rows, equal: Calibration, shrinkage: float, impossible: float, ridge: float) -> Calibration:
    """The weights that minimise the penalised loss of all rows."""
    objective = _Objective(rows, shrinkage, impossible, ridge)
    weight, offset, outliers = objective.parts(objective.search(objective.start(equal), PRECISE))
    return replace(equal, weights=weight, offset=offset - offset.mean(), outliers=outliers)


def _gains(
    rows: _Rows, posterior: Float, folds: Codes, temperature: Calibration, offsets: float, ridge: float
) -> dict[float, Float]:
    """Log-likelihood of each held-out row under weights of each λ minus that under a temperature (n,).

    With a ridge, the temperature of all rows is only where the search starts, and nothing is subtracted.
    """
    gains = {shrinkage: np.empty(len(folds)) for shrinkage in SHRINKAGE}
    axis, share = temperature.classes, temperature.share
    for fold in range(N_FOLDS):
        train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
        held_out, learned = rows.take(test), rows.take(train)
        known, before = temperature, np.zeros(len(test))
        if not ridge:
            known = fit_temperature(posterior[train], learned.codes, learned.weights, axis, share, offsets=offsets)
            mapped = bayes.log_posterior(known.applied(posterior[test], axis, share))
            before = mapped[np.arange(len(test)), held_out.codes]
        start: Float | None = None
        for shrinkage in SHRINKAGE:
            objective = _Objective(learned, shrinkage, 0.0, ridge)
            start = objective.start(equal_weights(known, tuple(range(rows.n_columns)))) if start is None else start
            start = objective.search(start)
            gains[shrinkage][test] = _Objective(held_out, shrinkage, 0.0).log_likelihood(start) - before
    return gains


@dataclass(frozen=True, eq=False)
class _Rows:
    """Held-out rows: log-likelihoods of the other classes minus that of the row's own."""

    relative: Float  # (J, n, K − 1)
    prior: Float  # (n, K − 1)
    others: Index  # (n, K − 1)
    codes: Codes
    weights: Float
    noise: Float  # log π of the label of each row (n,)
    n_classes: int

    @classmethod
    def of(cls, parts: Float, codes: Codes, weights: Float, share: Float) -> _Rows:
        n, k = parts.shape[1:]
        others = (codes[:, None] + np.arange(1, k)) % k
        row = np.arange(n)
        relative = np.empty((len(parts), n, k - 1))
        for part, out in zip(parts, relative, strict=True):
            np.subtract(part[row[:, None], others], part[row, codes][:, None], out=out)
        np.clip(relative, -MAX_SURPRISE, MAX_SURPRISE, out=relative)
        noise = np.log(np.maximum(share[codes], np.finfo(float).tiny))
        return cls(relative[1:], relative[0], others, codes, weights, noise, k)

    @property
    def n_columns(self) -> int:
        return len(self.relative)

    @cached_property
    def matrix(self) -> Float:
        """The columns as rows of a matrix (J, n (K − 1))."""
        return self.relative.reshape(len(self.relative), -1)

    def take(self, at: Index) -> _Rows:
        return _Rows(
            self.relative[:, at],
            self.prior[at],
            self.others[at],
            self.codes[at],
            self.weights[at],
            self.noise[at],
            self.n_classes,
        )


@dataclass(frozen=True, eq=False)
class _Objective:
    """Penalised log-loss as a function of (w, b, log ε)."""

    rows: _Rows
    shrinkage: float
    impossible: float  # weight of further rows whose label has probability zero
    ridge: float = 0.0

    def parts(self, theta: Float) -> tuple[Float, Float, float]:
        """w, b and ε."""
        j = self.rows.n_columns
        return theta[:j], theta[j:-1], float(np.exp(theta[-1]))

    def start(self, equal: Calibration) -> Float:
        """Weights near the minimum without outliers, from a temperature.

        With outliers the loss is not convex: it may have a minimum at which many rows are outliers because the weights
        are poor. With many classes that is often the nearest to a temperature.
        """
        temperature = np.concatenate([equal.weights, equal.offset, [np.log(NO_OUTLIERS)]])
        found = self.search(temperature, FIRST, outliers=False)
        found[-1] = np.log(START_OUTLIERS)
        return found

    def _scores(self, theta: Float) -> tuple[Float, Float]:
        """Probabilities of the other classes (n, K − 1), and log q of the row's own class (n,)."""
        rows = self.rows
        weight, offset, _ = self.parts(theta)
        scores = (weight @ rows.matrix).reshape(rows.prior.shape)
        scores += rows.prior
        scores += offset[rows.others] - offset[rows.codes][:, None]
        most = np.maximum(scores.max(axis=1), 0.0)
        scores -= most[:, None]
        np.exp(scores, out=scores)
        total = scores.sum(axis=1) + np.exp(-most)
        scores /= total[:, None]
        return scores, -most - np.log(total)

    def _mixed(self, own: Float, log_outliers: float) -> Float:
        """log (1 − ε) q + ε π of each row."""
        return np.asarray(np.logaddexp(np.log1p(-np.exp(log_outliers)) + own, log_outliers + self.rows.noise))

    def log_likelihood(self, theta: Float) -> Float:
        """log p of the label of each row (n,)."""
        return self._mixed(self._scores(theta)[1], theta[-1])

    def loss(self, theta: Float) -> tuple[float, Float]:
        """The penalised loss and its gradient."""
        rows = self.rows
        others, own = self._scores(theta)
        mixed = self._mixed(own, theta[-1])
        value = -float(rows.weights @ mixed)
        outliers = np.exp(theta[-1])
        regular = np.exp(np.log1p(-outliers) + own - mixed)  # probability that the row is not an outlier
        others *= (rows.weights * regular)[:, None]
        by_weight = rows.matrix @ others.ravel()
        by_offset = np.bincount(rows.others.ravel(), others.ravel(), rows.n_classes)
        by_offset -= np.bincount(rows.codes, others.sum(axis=1), rows.n_classes)
        by_outliers = -float(rows.weights @ (1 - regular - outliers / (1 - outliers) * regular))
        value -= self.impossible * theta[-1]
        penalty, slope = self._penalty(theta)
        return value + penalty, np.concatenate([by_weight, by_offset, [by_outliers - self.impossible]]) + slope

    def _penalty(self, theta: Float) -> tuple[float, Float]:
        weight, offset, _ = self.parts(theta)
        away, above = weight - weight.mean(), np.maximum(weight - 1, 0.0)
        value = self.shrinkage * away @ away + 0.5 * offset @ offset + ABOVE_ONE * above @ above - FEWEST * theta[-1]
        value += self.ridge * weight @ weight
        slope = [2 * (self.shrinkage * away + ABOVE_ONE * above + self.ridge * weight), offset, [-FEWEST]]
        return float(value), np.concatenate(slope)

    def _curvature(self, theta: Float) -> Float:
        """Approximate second derivatives of the loss: those of each parameter and class alone."""
        rows = self.rows
        others, own = self._scores(theta)
        regular = np.exp(np.log1p(-np.exp(theta[-1])) + own - self._mixed(own, theta[-1]))
        spread = (others * (1 - others) * (rows.weights * regular)[:, None]).ravel()
        by_weight = np.einsum("ji,ji,i->j", rows.matrix, rows.matrix, spread) + 2 * (self.shrinkage + self.ridge)
        by_offset = np.bincount(rows.others.ravel(), spread, rows.n_classes) + 1
        by_outliers = rows.weights @ (regular * (1 - regular)) + FEWEST
        return np.concatenate([by_weight, by_offset, [by_outliers]])

    def search(self, start: Float, tolerance: float = ROUGH, *, outliers: bool = True) -> Float:
        """The minimum near a start; with the share of outliers fixed if they are False.

        The units of the parameters give the loss about the same curvature by each.
        """
        from scipy.optimize import minimize

        unit = 1 / np.sqrt(self._curvature(start))
        j, k = self.rows.n_columns, self.rows.n_classes
        least, most = (LEAST_LOG_OUTLIERS, np.log(0.5)) if outliers else (start[-1], start[-1])
        lower = np.concatenate([np.zeros(j), np.full(k, -50.0), [least]]) / unit
        upper = np.concatenate([np.full(j, np.inf), np.full(k, 50.0), [most]]) / unit

        def loss(z: Float) -> tuple[float, Float]:
            value, slope = self.loss(z * unit)
            return value, slope * unit

        bounds = np.column_stack([lower, upper])
        found = minimize(loss, start / unit, jac=True, method="L-BFGS-B", bounds=bounds, options={"ftol": tolerance})
        return np.asarray(found.x * unit if found.fun <= self.loss(start)[0] else start)
