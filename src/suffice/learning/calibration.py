"""Probabilities that are what they say: maps from the posteriors of a model to calibrated ones.

Naive Bayes counts columns that depend on each other as often as they come, and is too sure of itself. The map is
fitted to log-posteriors of rows under the model of all other rows, so that it needs no rows of its own:

- a temperature and an offset for each class, ``p(y | x) ∝ exp(β log p₀(y | x) + b_y)``, by maximum likelihood;
- or a monotone function of each class's log-odds (isotonic), with more freedom, for many rows.

A map is fitted with the class shares of the data. Under another prior p(y) the calibrated posterior is multiplied by
p(y)/share(y), as Bayes' rule has it for any other model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from sklearn.isotonic import IsotonicRegression

from suffice import bayes
from suffice.exceptions import InputError
from suffice.statistics import ClassAxis

__all__ = ["OFFSETS", "Calibration", "fit_isotonic", "fit_temperature"]

Float = NDArray[np.float64]

FARTHEST = 700.0  # log-odds beyond are certainty in float64
LOWEST = 1e8  # a log-posterior below has no say in a temperature
# Precisions of the prior of log β, and of the offsets: few rows that are told apart without a fault are no reason to be
# surer than the model, and a few dozen rows say little of offsets. To be less sure hardly needs a reason.
SURER, LESS_SURE, OFFSETS = 30.0, 0.1, 10.0


@dataclass(frozen=True, eq=False)
class Calibration:
    """A map of posteriors.

    Attributes
    ----------
    classes : ClassAxis
    share : array of shape (K,)
        The class prior that the posteriors were made with.
    slope : float
        β, one over the temperature; below one where the model is too sure.
    offset : array of shape (K,)
    knots, values : tuple of arrays
        Of an isotonic map: log-odds of each class, and its probability there; empty for a temperature.
    rule : str
        How the rows that it was fitted to were left out: one by one, or in ten folds.
    """

    classes: ClassAxis
    share: Float
    slope: float
    offset: Float
    knots: tuple[Float, ...] = ()
    values: tuple[Float, ...] = ()
    rule: str = ""

    def applied(self, joint: Float, classes: ClassAxis, prior: Float) -> Float:
        """Calibrated log p(y | x), up to a term of each row, from the log p(x, y) of a model with that prior (n, K).

        A class that the map does not know is treated as one without an offset.
        """
        at, shift = self._shift(classes, prior)
        known = bayes.log_posterior(joint - shift)
        if not self.knots:
            with np.errstate(invalid="ignore"):
                mapped = np.where(np.isneginf(known), -np.inf, self.slope * known)
            return mapped + np.where(at >= 0, self.offset[at], 0.0) + shift
        probability = np.exp(known)
        for k, place in enumerate(at):
            if place >= 0:
                probability[:, k] = np.interp(_log_odds(known, k), self.knots[place], self.values[place])
        probability[np.isneginf(known)] = 0.0
        return bayes.log_prior(probability) + shift

    def linear(self, classes: ClassAxis, prior: Float) -> tuple[float, Float]:
        """What a temperature makes of a linear log p(x, y): ``scale · log p(x, y) + offset`` of each class (K,)."""
        at, shift = self._shift(classes, prior)
        return self.slope, (1 - self.slope) * shift + np.where(at >= 0, self.offset[at], 0.0)

    def _shift(self, classes: ClassAxis, prior: Float) -> tuple[NDArray[np.int64], Float]:
        """Where the classes are on the map, and log prior/share of each; of a class it does not know nothing."""
        at = self.classes.positions(classes.labels)
        share = np.where(at >= 0, self.share[at], prior)
        with np.errstate(divide="ignore", invalid="ignore"):
            return at, np.where((prior > 0) & (share > 0), np.log(prior) - np.log(share), 0.0)

    def check(self) -> None:
        """Raise unless this is a map, wherever it came from."""
        k, finite = len(self.classes), [self.share, self.offset, np.array(self.slope), *self.knots, *self.values]
        shaped = self.share.shape == self.offset.shape == (k,) and len(self.knots) == len(self.values) in (0, k)
        pairs = zip(self.knots, self.values, strict=False)
        risen = all(
            len(a) == len(b) > 0 and (np.diff(a) > 0).all() and (b >= 0).all() and (b <= 1).all() for a, b in pairs
        )
        if not (shaped and risen and all(np.isfinite(each).all() for each in finite) and self.slope > 0):
            raise InputError("calibration is no map of the posteriors of its classes.")


def _log_odds(log_posterior: Float, k: int) -> Float:
    """log p/(1 − p) of class k (n,), with the digits that 1 − p would lose."""
    others = np.delete(log_posterior, k, axis=1)
    if not others.shape[1]:
        return np.full(len(log_posterior), FARTHEST)
    rest = bayes.log_evidence(others)
    with np.errstate(invalid="ignore"):
        odds = np.where(np.isneginf(log_posterior[:, k]), -FARTHEST, log_posterior[:, k] - rest)
    return np.clip(odds, -FARTHEST, FARTHEST)


def fit_temperature(
    log_posterior: Float,
    codes: NDArray[np.int64],
    weights: Float | None,
    classes: ClassAxis,
    share: Float,
    *,
    offsets: float = OFFSETS,
) -> Calibration:
    """The temperature and offsets of largest likelihood, with a prior that is against being surer than the model.

    Normal about zero, for log β above and below, and for each offset: it keeps the map of a few rows near to none, and
    that of classes which are told apart without a fault finite.

    Parameters
    ----------
    log_posterior : array of shape (n, K)
        Of rows that the model has not seen.
    codes : array of int of shape (n,)
    offsets : float
        Precision of the prior of each offset.

    Examples
    --------
    A model that is twice as sure as it should be:

    >>> rng = np.random.default_rng(0)
    >>> odds = rng.normal(0, 2, 20_000)
    >>> y = (rng.random(20_000) < 1 / (1 + np.exp(-odds))).astype(int)
    >>> claimed = np.column_stack([np.zeros(20_000), 2 * odds])
    >>> found = fit_temperature(bayes.log_posterior(claimed), y, None, ClassAxis.of([0, 1]), np.array([0.5, 0.5]))
    >>> round(found.slope, 1)
    0.5
    """
    n_classes = log_posterior.shape[1]
    row = np.arange(len(codes))
    known = np.flatnonzero(np.isfinite(log_posterior[row, codes]))  # an impossible row says nothing of a temperature
    if not len(known):
        return Calibration(classes, share, 1.0, np.zeros(n_classes))
    z, codes = np.maximum(log_posterior[known], -LOWEST), codes[known]
    w = np.ones(len(known)) if weights is None else weights[known]
    row, total = np.arange(len(known)), max(float(w.sum()), np.finfo(float).tiny)

    def loss(theta: Float) -> tuple[float, Float]:
        slope, offset = np.exp(theta[0]), theta[1:]
        reserve = np.full(len(theta), offsets)
        reserve[0] = SURER if theta[0] > 0 else LESS_SURE
        mapped = bayes.log_posterior(slope * z + offset)
        value = -float(w @ mapped[row, codes]) + 0.5 * float(reserve @ theta**2)
        excess = np.exp(mapped)
        excess[row, codes] -= 1.0
        excess *= w[:, None]
        gradient = np.append(slope * float((excess * z).sum()), excess.sum(axis=0)) + reserve * theta
        return value / total, gradient / total

    # However sure a model is, the search begins near the temperature that it needs.
    starts = (np.append(-step, np.zeros(n_classes)) for step in np.arange(0.0, np.log(LOWEST)))
    start = min(starts, key=lambda theta: loss(theta)[0])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(-40.0, 12.0)] + [(-50.0, 50.0)] * n_classes)
    best = found.x if found.fun <= loss(start)[0] else start
    return Calibration(classes, share, float(np.exp(best[0])), best[1:] - best[1:].mean())


def fit_isotonic(
    log_posterior: Float, codes: NDArray[np.int64], weights: Float | None, classes: ClassAxis, share: Float
) -> Calibration:
    """A monotone function of the log-odds of each class; never nearer to certainty than one row in all would be."""
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
