"""Calibrate probabilities: maps from the posteriors of a model to calibrated posteriors.

Naive Bayes treats dependent columns as independent evidence, so its posteriors are too extreme. The map is fitted to
held-out log-posteriors, each row under the model of the other rows, so it needs no separate rows. There are two maps
of posteriors, and weights of columns (see `suffice.learning.column_weights`):

- a temperature, an offset for each class and a share ε of outliers, by maximum likelihood:
  ``p(y | x) = (1 − ε) q(y) + ε π(y)`` with ``q(y) ∝ exp(β log p₀(y | x) + b_y)``;
- a monotone function of the log-odds of each class (isotonic), which is more flexible and needs many rows.

An outlier is a row whose score is unrelated to its label. Without ε, one row with an enormous score for the wrong
class would determine the temperature of all rows. A row without evidence, whose posterior is the prior before the map,
is an outlier: it keeps the prior. All of its cells are missing, or its document has no known word.

A map is fitted under the class prior of the data, π. Under another prior p(y) the calibrated posterior is multiplied by
p(y)/π(y), which is Bayes' rule.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from suffice import bayes, kernels
from suffice.exceptions import Argument, InputError
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Codes, Float, Mask
from suffice.statistics import ClassAxis
from suffice.tables.listing import Listing

__all__ = ["OFFSETS", "Calibration", "fit_isotonic", "fit_temperature", "has_evidence"]

MAX_LOG_ODDS = 700.0  # larger log-odds are a probability of 1 in float64
MAX_SURPRISE = 1e8  # log-posteriors are cut off at minus this number
# Precisions of the normal priors of log β > 0, log β < 0, and the offsets. A few separable rows do not justify
# probabilities more extreme than the model's, and a few dozen rows hardly determine offsets. Less extreme
# probabilities need little evidence.
SHARPER, SOFTER, OFFSETS = 100.0, 0.1, 10.0
EVIDENCE = 2.0  # nats that a parameter must gain
OUTLIERS = (1e-4, 1e-3, 1e-2, 0.05, 0.2)  # shares to start a search from
LEAST_LOG_OUTLIERS = np.log(1e-12)
ROUNDING = 1e-12  # of log-odds


@dataclass(frozen=True, eq=False, repr=False)
class Calibration:
    """A calibration: a map from the posteriors of a model to calibrated posteriors.

    Attributes
    ----------
    classes : ClassAxis
        The classes.
    share : array of shape (K,)
        The class prior of the posteriors that the map was fitted to.
    slope : float
        β, the inverse temperature; below one if the model is overconfident.
    offset : array of shape (K,)
        Offset of the log-posterior of each class.
    knots, values : tuple of arrays
        For an isotonic map, the log-odds of each class and the probabilities there; empty for a temperature.
    outliers : float
        ε, the share of outliers: rows whose scores are unrelated to their labels. 0 if there is no evidence of
        outliers, and for an isotonic map.
    rule : str
        How rows were held out for the fit: "leave-one-out", "10 folds" (fewer if there are few rows), or "held-out
        rows" if the model has many other rows.
    columns : tuple
        For weights of columns, the column or the tuple of dependent columns of each weight; empty for other maps.
    weights : array of shape (J,)
        The weight of each of these: p₀ is ∝ p(y) Π_j p(x_j | y)^w_j.
    keeps_prior : bool
        Whether a row without evidence keeps the prior; False in files of earlier versions.
    """

    classes: ClassAxis
    share: Float
    slope: float
    offset: Float
    knots: tuple[Float, ...] = ()
    values: tuple[Float, ...] = ()
    rule: str = ""
    outliers: float = 0.0
    columns: tuple[object, ...] = ()
    weights: Float = field(default_factory=lambda: np.empty(0))
    keeps_prior: bool = False

    def __repr__(self) -> str:
        if len(self.weights):
            title = f"Calibration: weights of columns, share of outliers {self.outliers:.3g}, {self.rule}"
            return f"{title}\n{self.column_weights()!r}"
        if self.knots:
            return f"Calibration: isotonic, {self.rule}"
        return f"Calibration: slope {self.slope:.3g}, share of outliers {self.outliers:.3g}, {self.rule}"

    def column_weights(self) -> Listing:
        """The weight of each column, or of each block of dependent columns.

        Raises `InputError` unless the model has ``calibrate="columns"``, because other calibrations have no such
        weights.
        """
        if not len(self.weights):
            raise InputError(
                "This calibration has no weights of columns: it has one slope for all. Fit with ",
                Argument("calibrate", "columns"),
                ".",
                argument="calibrate",
            )
        names = [", ".join(map(str, each)) if isinstance(each, tuple) else each for each in self.columns]
        return Listing({"column": names, "weight": self.weights.tolist()})

    def applied(self, joint: Float, classes: ClassAxis, prior: Float) -> Float:
        """Return calibrated log p(y | x), up to a term of each row, from log p(x, y) under a prior (n, K).

        A class unknown to the map has no offset.
        """
        at, shift = self._shift(classes, prior)
        share = np.where(at >= 0, self.share[at], prior)
        log_share = bayes.log_prior(np.where(prior > 0, share / share.sum(), 0.0))
        known = joint - shift
        keep = self._keeping(known, log_share)
        out = self._mapped(known, at, log_share)
        out[keep] = log_share
        return np.asarray(np.add(out, shift, out=out))

    def highest(self, classes: ClassAxis, prior: Float) -> Float:
        """The probability of each class (K,) in a row that the model is certain of: below 1 if there are outliers."""
        certain = np.where(np.eye(len(classes), dtype=bool), 0.0, -MAX_SURPRISE)
        return np.where(prior > 0, np.diagonal(bayes.posterior(self.applied(certain, classes, prior))), 0.0)

    def row_offsets(self, joint: Float, classes: ClassAxis, prior: Float) -> Float:
        """The offset of each row and class (n, K): 0 for rows that keep the prior."""
        _, offset = self.linear(classes, prior)
        keep = self._keeping(joint, bayes.log_prior(prior))
        return np.where(keep[:, None], 0.0, offset)

    def _keeping(self, joint: Float, log_prior: Float) -> Mask:
        """The rows that keep the prior (n,)."""
        return ~has_evidence(joint, log_prior) if self.keeps_prior else np.zeros(len(joint), dtype=bool)

    def _mapped(self, scores: Float, at: Codes, log_share: Float) -> Float:
        """The map of log p(x, y), up to a term of each row (n, K); it is written over them."""
        if not self.knots:
            if self.slope != 1 or not self.outliers:  # raises for impossible rows, as the mixture does
                scores = bayes.log_posterior(scores)
                scores *= self.slope
            scores += np.where(at >= 0, self.offset[at], 0.0)
            return self._with_outliers(scores, log_share) if self.outliers else scores
        known = bayes.log_posterior(scores)
        probability = np.exp(known)
        for k, position in enumerate(at):
            if position >= 0:
                probability[:, k] = np.interp(_log_odds(known, k), self.knots[position], self.values[position])
        probability[np.isneginf(known)] = 0.0
        return bayes.log_prior(probability)

    def _with_outliers(self, mapped: Float, log_share: Float) -> Float:
        """log (1 − ε) q(y) + ε π(y), where π is the prior of the map (n, K); −∞ for a class of prior 0."""
        probability = bayes.posterior(mapped)
        probability *= 1 - self.outliers
        probability += self.outliers * np.exp(log_share)
        with np.errstate(divide="ignore"):
            return np.log(probability, out=probability)

    def linear(self, classes: ClassAxis, prior: Float) -> tuple[float, Float]:
        """Return ``scale`` and ``offset`` (K,) of a temperature map: ``scale · log p(x, y) + offset``.

        The mixture with the prior, if there are outliers, is not included: it is not linear.
        """
        at, shift = self._shift(classes, prior)
        return self.slope, (1 - self.slope) * shift + np.where(at >= 0, self.offset[at], 0.0)

    def _shift(self, classes: ClassAxis, prior: Float) -> tuple[Codes, Float]:
        """Return the position of each class on the map (−1 if unknown), and log prior/share (0 if unknown)."""
        at = self.classes.positions(classes.labels)
        share = np.where(at >= 0, self.share[at], prior)
        with np.errstate(divide="ignore", invalid="ignore"):
            return at, np.where((prior > 0) & (share > 0), np.log(prior) - np.log(share), 0.0)

    def check(self) -> None:
        """Raise unless the map is valid, for example after reading it from a file."""
        k, weights = len(self.classes), self.weights
        finite = [self.share, self.offset, np.array(self.slope), weights, *self.knots, *self.values]
        shaped = self.share.shape == self.offset.shape == (k,) and len(self.knots) == len(self.values) in (0, k)
        pairs = zip(self.knots, self.values, strict=False)
        monotone = all(
            len(a) == len(b) > 0 and (np.diff(a) > 0).all() and (b >= 0).all() and (b <= 1).all() for a, b in pairs
        )
        valid = all(np.isfinite(each).all() for each in finite) and self.slope > 0 and 0 <= self.outliers < 1
        valid = valid and isinstance(self.keeps_prior, bool)
        weighted = weights.shape == (len(self.columns),) and (weights >= 0).all() and not (len(weights) and self.knots)
        if not (shaped and monotone and valid and weighted):
            raise InputError("calibration is not a valid map of the posteriors of its classes.")


def has_evidence(joint: Float, log_prior: Float) -> Mask:
    """Whether log p(x, y) of each row (n, K) differs from log p(y), of all rows or of each, by more than a constant.

    >>> prior = np.log([0.2, 0.8])
    >>> has_evidence(np.array([prior - 5, np.log([0.3, 0.7])]), prior)
    array([False,  True])
    """
    likeliest = np.argmax(log_prior, axis=-1)
    with np.errstate(invalid="ignore"):
        evidence = joint - log_prior
        each = likeliest.ndim > 0
        reference = evidence[np.arange(len(joint)), likeliest] if each else evidence[:, likeliest].copy()
        out = np.zeros(len(joint), dtype=bool)
        for column in evidence.T:  # no matrix of differences is made
            out |= np.abs(column - reference) > ROUNDING
    return out


def _log_odds(log_posterior: Float, k: int) -> Float:
    """Return log p/(1 − p) of class k (n,), without the cancellation in 1 − p."""
    others = np.delete(log_posterior, k, axis=1)
    if not others.shape[1]:
        return np.full(len(log_posterior), MAX_LOG_ODDS)
    rest = bayes.log_evidence(others)
    with np.errstate(invalid="ignore"):
        odds = np.where(np.isneginf(log_posterior[:, k]), -MAX_LOG_ODDS, log_posterior[:, k] - rest)
    return np.clip(odds, -MAX_LOG_ODDS, MAX_LOG_ODDS)


@single_threaded_blas(lambda log_posterior, *_: log_posterior.size)  # L-BFGS-B multiplies tiny matrices
def fit_temperature(
    log_posterior: Float,
    codes: Codes,
    weights: Float | None,
    classes: ClassAxis,
    share: Float,
    *,
    offsets: float = OFFSETS,
) -> Calibration:
    """Fit a temperature, offsets and a share of outliers by penalised maximum likelihood.

    The penalties are normal priors with mean zero for log β, with different precisions above and below zero, and for
    each offset. They keep the map near the identity if there are few rows, and finite if the classes are separable.

    Without evidence, the map changes nothing: the temperature, the share of outliers and the offsets, which alone can
    change the most probable class, must each increase the log-likelihood by two nats for each parameter, as in a test
    at the level of 5 %.

    Parameters
    ----------
    log_posterior : array of shape (n, K)
        Log-posteriors of held-out rows.
    codes : array of int of shape (n,)
    offsets : float
        Precision of the prior of each offset.

    Examples
    --------
    A model whose log-odds are twice as large as they should be:

    >>> rng = np.random.default_rng(0)
    >>> odds = rng.normal(0, 2, 20_000)
    >>> y = (rng.random(20_000) < 1 / (1 + np.exp(-odds))).astype(int)
    >>> claimed = np.column_stack([np.zeros(20_000), 2 * odds])
    >>> axis, share = ClassAxis.of([0, 1]), np.array([0.5, 0.5])
    >>> fitted = fit_temperature(bayes.log_posterior(claimed.copy()), y, None, axis, share)
    >>> round(fitted.slope, 1), fitted.outliers
    (0.5, 0.0)

    One row with an enormous score for the wrong class hardly changes the temperature:

    >>> claimed[0], y[0] = [0.0, 1e7], 0
    >>> fitted = fit_temperature(bayes.log_posterior(claimed), y, None, axis, share)
    >>> round(fitted.slope, 1), 0 < fitted.outliers < 0.01
    (0.5, True)
    """
    n_classes = log_posterior.shape[1]
    identity = Calibration(classes, share, 1.0, np.zeros(n_classes), keeps_prior=True)
    w = np.ones(len(codes)) if weights is None else weights
    possible = np.isfinite(log_posterior[np.arange(len(codes)), codes])
    known = np.flatnonzero(possible & (w > 0))
    if not len(known):
        return identity
    z = np.maximum(log_posterior[known], -MAX_SURPRISE)
    prior = np.maximum(share[codes[known]], np.finfo(float).tiny)
    objective = _Objective(z, codes[known], w[known], prior, offsets, float(w[~possible].sum()))
    plain, mixed = objective.starts()
    best = objective.better(objective.at(np.zeros(n_classes + 1)), objective.search(plain), 1)
    if mixed is not None:
        found = objective.search(mixed)
        best = found if objective.impossible else objective.better(best, found, 1)
    best = objective.better(best, objective.search(best.x, offsets=True), n_classes - 1)
    slope, offset, outliers = objective.parts(best.x)
    return replace(identity, slope=float(slope), offset=offset - offset.mean(), outliers=outliers)


class _Map(NamedTuple):
    """Parameters of a temperature map, and their penalised mean log-loss."""

    x: Float
    loss: float


@dataclass(frozen=True, eq=False)
class _Objective:
    """Penalised mean log-loss of a temperature map as a function of (log β, offsets), or (log β, offsets, log ε)."""

    z: Float  # log-posteriors (n, K)
    codes: Codes
    weights: Float
    prior: Float  # class prior of the label of each row
    offsets: float
    impossible: float  # weight of further rows whose label has probability zero

    @property
    def total(self) -> float:
        """The weight of all rows."""
        return max(float(self.weights.sum()) + self.impossible, np.finfo(float).tiny)

    def parts(self, theta: Float) -> tuple[float, Float, float]:
        """β, the offsets and ε."""
        k = self.z.shape[1]
        return np.exp(theta[0]), theta[1 : k + 1], float(np.exp(theta[k + 1])) if len(theta) > k + 1 else 0.0

    def loss(self, theta: Float) -> tuple[float, Float]:
        """The loss and its gradient."""
        slope, offset, outliers = self.parts(theta)
        found = kernels.tempered_loss(
            self.z, self.codes, self.weights, slope, np.ascontiguousarray(offset), self.prior, outliers
        )
        value, gradient = found.loss, np.append(slope * found.by_slope, found.by_offset)
        if outliers > 0:
            value -= self.impossible * np.log(outliers)
            gradient = np.append(gradient, found.by_log_share - self.impossible)
        penalty, slope_of_penalty = self._penalty(theta)
        return (value + penalty) / self.total, (gradient + slope_of_penalty) / self.total

    def _mixed(self, explained: Float, outliers: float) -> float:
        """Loss of the mixture with the prior, from the log-probabilities of the labels."""
        mixture = np.logaddexp(np.log1p(-outliers) + explained, np.log(outliers) + np.log(self.prior))
        return -float(self.weights @ mixture) - self.impossible * float(np.log(outliers))

    def _penalty(self, theta: Float) -> tuple[float, Float]:
        precision = np.full(len(theta), self.offsets)
        precision[0] = SHARPER if theta[0] > 0 else SOFTER
        precision[self.z.shape[1] + 1 :] = 0.0
        return 0.5 * float(precision @ theta**2), precision * theta

    def starts(self) -> tuple[Float, Float | None]:
        """Starts near the best temperature, which may be orders of magnitude from 1, without and with outliers.

        None if outliers do not lower the loss anywhere.
        """
        row, zeros = np.arange(len(self.codes)), np.zeros(self.z.shape[1])
        least = {False: (np.inf, 0.0, 0.0), True: (np.inf, 0.0, 0.0)}
        for step in -np.arange(0.0, np.log(MAX_SURPRISE)):
            explained = bayes.log_posterior(np.exp(step) * self.z)[row, self.codes]
            penalty = 0.5 * SOFTER * step**2
            losses = {0.0: -float(self.weights @ explained)}
            losses |= {outliers: self._mixed(explained, outliers) for outliers in OUTLIERS}
            for outliers, loss in losses.items():
                least[outliers > 0] = min(least[outliers > 0], (loss + penalty, step, outliers))
            if step < min(each[1] for each in least.values()) - 3:
                break  # the loss rises again
        plain, mixed = least[False], least[True]
        start = np.append(plain[1], zeros)
        if not self.impossible and mixed[0] >= plain[0]:
            return start, None
        return start, np.concatenate([[mixed[1]], zeros, [np.log(mixed[2])]])

    def search(self, start: Float, *, offsets: bool = False) -> _Map:
        """The minimum near a start; without ``offsets``, they stay zero."""
        from scipy.optimize import minimize

        k = self.z.shape[1]
        most = 50.0 if offsets else 0.0
        bounds = [(-40.0, 12.0)] + [(-most, most)] * k + [(LEAST_LOG_OUTLIERS, np.log(0.5))] * (len(start) - k - 1)
        found = minimize(self.loss, start, jac=True, method="L-BFGS-B", bounds=bounds)
        here = self.at(start)
        return _Map(found.x, float(found.fun)) if found.fun <= here.loss else here

    def at(self, theta: Float) -> _Map:
        """The loss of one map."""
        return _Map(theta, self.loss(theta)[0])

    def better(self, simple: _Map, other: _Map, more: int) -> _Map:
        """The map with so many more parameters if they increase the log-likelihood enough, else the simple one."""
        return other if self.total * (simple.loss - other.loss) > EVIDENCE * more else simple


def fit_isotonic(
    log_posterior: Float, codes: Codes, weights: Float | None, classes: ClassAxis, share: Float
) -> Calibration:
    """Fit a monotone function of the log-odds of each class.

    Probabilities stay between 1/(n + 2) and (n + 1)/(n + 2), for rows of total weight n.
    """
    if not len(codes):
        return Calibration(classes, share, 1.0, np.zeros(len(classes)), keeps_prior=True)
    from sklearn.isotonic import IsotonicRegression

    knots, values = [], []
    size = float(len(codes) if weights is None else weights.sum())
    for k in range(len(classes)):
        monotone = IsotonicRegression(y_min=1 / (size + 2), y_max=(size + 1) / (size + 2), out_of_bounds="clip")
        monotone.fit(_log_odds(log_posterior, k), codes == k, sample_weight=weights)
        knots.append(np.asarray(monotone.X_thresholds_, dtype=np.float64))
        values.append(np.asarray(monotone.y_thresholds_, dtype=np.float64))
    return Calibration(classes, share, 1.0, np.zeros(len(classes)), tuple(knots), tuple(values), keeps_prior=True)
