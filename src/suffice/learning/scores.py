"""How good a model is on rows that it has not seen: accuracy, log-loss, and whether its probabilities are true."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import bayes
from suffice.exceptions import InputError
from suffice.learning.hold_out import HoldOut
from suffice.model import Model
from suffice.statistics import Membership
from suffice.tables import Table

__all__ = ["BY_HAND", "Scores", "calibration_error", "score_held_out"]

Float = NDArray[np.float64]

BY_HAND = 1000  # rows that are left out one by one where there is no closed form; beyond, there are folds
BINS = 15
LEAST = float(np.finfo(np.float64).eps)  # a probability below counts as this one, as in scikit-learn's log_loss


@dataclass(frozen=True)
class Scores:
    """How good a model is on rows that it has not seen, each judged by the model of all other rows.

    Settings that were "auto", and a calibration, were chosen by the same rows, each left out; with many rows that
    flatters the scores little, with a few dozen it may.

    Attributes
    ----------
    accuracy, log_loss, calibration_error : float
        Share of right answers; mean −log p(label | x), where a probability below 2.2e-16 counts as that; expected
        calibration error of the likeliest class, in 15 bins of equal width. Rows count by their weights. A row
        that is the only one of its class cannot be answered rightly.
    accuracy_error, log_loss_error : float
        Their standard errors.
    n_rows : int
        How many rows were judged: all, or those of a uniform sample; those of weight zero are not.
    of_rows : int
        How many there are.
    rule : str
        "leave-one-out" or "10 folds".
    """

    accuracy: float
    log_loss: float
    calibration_error: float
    accuracy_error: float
    log_loss_error: float
    n_rows: int
    of_rows: int
    rule: str


def score_held_out(estimator: Any, model: Model, table: Table, members: Membership, of_rows: int) -> Scores:
    """The scores of an estimator that has learned a model, by rows that are in it and are left out of it.

    One by one in closed form where the estimator has one, and where there are at most 1,000 rows without; otherwise
    in ten folds, each of which is left out of the model of all rows.

    Parameters
    ----------
    table, members
        The rows, and the class and weight that each has in the model; perhaps a sample of its rows.
    of_rows : int
        How many rows there are.
    """
    codes = members.codes
    assert codes is not None
    weights = np.ones(len(codes)) if members.weights is None else members.weights
    rows = np.flatnonzero((codes >= 0) & (weights > 0))
    if not len(rows):
        raise InputError("There is no row to judge the model by.")
    if len(rows) < len(codes) and not estimator._counts_weightless:  # a row that is not judged may have holes
        table, members = table.take(rows), members.take(rows)
        codes, weights, rows = codes[rows], weights[rows], np.arange(len(rows))
    rule = HoldOut(model, table, members, BY_HAND)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has said what is to be said
        joint = rule.joint(estimator)
        codes, weights, joint = codes[rows], weights[rows], joint[rows]
        posterior = _posterior(estimator, joint, model)
    likeliest = np.argmax(posterior, axis=1)
    right = (likeliest == codes) & (posterior[np.arange(len(codes)), codes] > 0)
    losses = -np.log(np.maximum(posterior[np.arange(len(codes)), codes], LEAST))
    accuracy, accuracy_error = _mean(right.astype(np.float64), weights)
    log_loss, log_loss_error = _mean(losses, weights)
    return Scores(
        accuracy,
        log_loss,
        calibration_error(posterior.max(axis=1), right, weights),
        accuracy_error,
        log_loss_error,
        len(rows),
        of_rows,
        rule.name,
    )


def _posterior(estimator: Any, joint: Float, model: Model) -> Float:
    """p(y | x) as the estimator gives it out (n, K); zero in a row that no class can explain."""
    known = np.isfinite(joint.max(axis=1))
    out = np.zeros_like(joint)
    if known.any():
        mended = estimator._calibrated(np.ascontiguousarray(joint[known]), model.classes)
        out[known] = bayes.posterior(mended)
    return out


def _mean(values: Float, weights: Float) -> tuple[float, float]:
    """The weighted mean and its standard error, √Σ w²(v − mean)² / Σ w."""
    total = weights.sum()
    mean = float(weights @ values / total)
    few = len(values) / max(len(values) - 1, 1)
    return mean, float(np.sqrt(few * ((weights * (values - mean)) ** 2).sum()) / total)


def calibration_error(confidence: Float, right: NDArray[np.bool_], weights: Float | None = None) -> float:
    """Expected calibration error: Σ_b (n_b/n) |accuracy_b − mean confidence_b| over bins of equal width.

    Parameters
    ----------
    confidence : array of shape (n,)
        The probability of each row's likeliest class.
    right : array of bool of shape (n,)
        Whether that is its class.

    Examples
    --------
    >>> round(calibration_error(np.array([0.9, 0.9, 0.6, 0.6]), np.array([True, True, True, False])), 3)
    0.1
    """
    w = np.ones(len(confidence)) if weights is None else weights
    at = np.clip(np.ceil(confidence * BINS).astype(np.int64) - 1, 0, BINS - 1)
    gaps = np.bincount(at, w * (right - confidence), minlength=BINS)
    return float(np.abs(gaps).sum() / w.sum())
