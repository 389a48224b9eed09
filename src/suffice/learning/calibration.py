"""Calibrate probabilities: maps from the posteriors of a model to calibrated posteriors.

Naive Bayes treats dependent columns as independent evidence, so its posteriors are too extreme. The map is fitted to
held-out log-posteriors, each row under the model of the other rows, so it needs no separate rows. There are two maps:

- a temperature and an offset for each class, ``p(y | x) ∝ exp(β log p₀(y | x) + b_y)``, by maximum likelihood;
- a monotone function of the log-odds of each class (isotonic), which is more flexible and needs many rows.

A map is fitted under the class prior of the data, π. Under another prior p(y) the calibrated posterior is multiplied by
p(y)/π(y), which is Bayes' rule.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

from suffice import bayes, kernels
from suffice.exceptions import InputError
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Codes, Float
from suffice.statistics import ClassAxis

__all__ = ["OFFSETS", "Calibration", "fit_isotonic", "fit_temperature"]

MAX_LOG_ODDS = 700.0  # larger log-odds are a probability of 1 in float64
MAX_SURPRISE = 1e8  # log-posteriors are cut off at minus this number
# Precisions of the normal priors of log β > 0, log β < 0, and the offsets. A few separable rows do not justify
# probabilities more extreme than the model's, and a few dozen rows hardly determine offsets. Less extreme
# probabilities need little evidence.
SHARPER, SOFTER, OFFSETS = 30.0, 0.1, 10.0


@dataclass(frozen=True, eq=False)
class Calibration:
    """A map of posteriors.

    Attributes
    ----------
    classes : ClassAxis
    share : array of shape (K,)
        The class prior of the posteriors that the map was fitted to.
    slope : float
        β, the inverse temperature; below one if the model is overconfident.
    offset : array of shape (K,)
    knots, values : tuple of arrays
        For an isotonic map, the log-odds of each class and the probabilities there; empty for a temperature.
    rule : str
        How rows were held out for the fit: leave-one-out or ten folds.
    """

    classes: ClassAxis
    share: Float
    slope: float
    offset: Float
    knots: tuple[Float, ...] = ()
    values: tuple[Float, ...] = ()
    rule: str = ""

    def applied(self, joint: Float, classes: ClassAxis, prior: Float) -> Float:
        """Return calibrated log p(y | x), up to a term of each row, from log p(x, y) under a prior (n, K).

        A class unknown to the map has no offset.
        """
        at, shift = self._shift(classes, prior)
        known = bayes.log_posterior(joint - shift)
        if not self.knots:
            with np.errstate(invalid="ignore"):
                mapped = np.where(np.isneginf(known), -np.inf, self.slope * known)
            return mapped + np.where(at >= 0, self.offset[at], 0.0) + shift
        probability = np.exp(known)
        for k, position in enumerate(at):
            if position >= 0:
                probability[:, k] = np.interp(_log_odds(known, k), self.knots[position], self.values[position])
        probability[np.isneginf(known)] = 0.0
        return bayes.log_prior(probability) + shift

    def linear(self, classes: ClassAxis, prior: Float) -> tuple[float, Float]:
        """Return ``scale`` and ``offset`` (K,) of a temperature map: ``scale · log p(x, y) + offset``."""
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
        k, finite = len(self.classes), [self.share, self.offset, np.array(self.slope), *self.knots, *self.values]
        shaped = self.share.shape == self.offset.shape == (k,) and len(self.knots) == len(self.values) in (0, k)
        pairs = zip(self.knots, self.values, strict=False)
        monotone = all(
            len(a) == len(b) > 0 and (np.diff(a) > 0).all() and (b >= 0).all() and (b <= 1).all() for a, b in pairs
        )
        if not (shaped and monotone and all(np.isfinite(each).all() for each in finite) and self.slope > 0):
            raise InputError("calibration is not a valid map of the posteriors of its classes.")


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
    """Fit a temperature and offsets by penalised maximum likelihood.

    The penalties are normal priors with mean zero for log β, with different precisions above and below zero, and for
    each offset. They keep the map near the identity if there are few rows, and finite if the classes are separable.

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
    >>> fitted = fit_temperature(bayes.log_posterior(claimed), y, None, ClassAxis.of([0, 1]), np.array([0.5, 0.5]))
    >>> round(fitted.slope, 1)
    0.5
    """
    n_classes = log_posterior.shape[1]
    row = np.arange(len(codes))
    known = np.flatnonzero(np.isfinite(log_posterior[row, codes]))  # an impossible label cannot inform a temperature
    if not len(known):
        return Calibration(classes, share, 1.0, np.zeros(n_classes))
    z, codes = np.maximum(log_posterior[known], -MAX_SURPRISE), codes[known]
    w = np.ones(len(known)) if weights is None else weights[known]
    total = max(float(w.sum()), np.finfo(float).tiny)

    def loss(theta: Float) -> tuple[float, Float]:
        slope, offset = np.exp(theta[0]), theta[1:]
        precision = np.full(len(theta), offsets)
        precision[0] = SHARPER if theta[0] > 0 else SOFTER
        found = kernels.tempered_loss(z, codes, w, slope, offset)
        gradient = np.append(slope * found.by_slope, found.by_offset) + precision * theta
        return (found.loss + 0.5 * float(precision @ theta**2)) / total, gradient / total

    # Start near the best temperature, which may be orders of magnitude from 1.
    starts = (np.append(-step, np.zeros(n_classes)) for step in np.arange(0.0, np.log(MAX_SURPRISE)))
    start = min(starts, key=lambda theta: loss(theta)[0])
    search = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(-40.0, 12.0)] + [(-50.0, 50.0)] * n_classes)
    best = search.x if search.fun <= loss(start)[0] else start
    return Calibration(classes, share, float(np.exp(best[0])), best[1:] - best[1:].mean())


def fit_isotonic(
    log_posterior: Float, codes: Codes, weights: Float | None, classes: ClassAxis, share: Float
) -> Calibration:
    """Fit a monotone function of the log-odds of each class.

    Probabilities stay between 1/(n + 2) and (n + 1)/(n + 2), for rows of total weight n.
    """
    if not len(codes):
        return Calibration(classes, share, 1.0, np.zeros(len(classes)))
    knots, values = [], []
    size = float(len(codes) if weights is None else weights.sum())
    for k in range(len(classes)):
        monotone = IsotonicRegression(y_min=1 / (size + 2), y_max=(size + 1) / (size + 2), out_of_bounds="clip")
        monotone.fit(_log_odds(log_posterior, k), codes == k, sample_weight=weights)
        knots.append(np.asarray(monotone.X_thresholds_, dtype=np.float64))
        values.append(np.asarray(monotone.y_thresholds_, dtype=np.float64))
    return Calibration(classes, share, 1.0, np.zeros(len(classes)), tuple(knots), tuple(values))
