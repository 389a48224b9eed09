"""Held-out scores of a model, and the scores of the class shares alone."""

from __future__ import annotations

import warnings

import numpy as np

from suffice import bayes
from suffice.exceptions import InputError
from suffice.learning.fitted import Fitted
from suffice.learning.hold_out import HoldOut
from suffice.learning.report import Scores
from suffice.learning.roc_areas import RocAreas
from suffice.learning.specification import HeldOutPosterior
from suffice.numerics.types import Codes, Float, Mask
from suffice.statistics import Membership
from suffice.tables import Table

__all__ = [
    "MOST_BY_SUBTRACTION",
    "balanced_accuracy",
    "baseline",
    "brier_score",
    "calibration_error",
    "held_out_posterior",
    "roc_auc",
    "score_held_out",
]

MOST_BY_SUBTRACTION = 1000  # rows without a closed form that are held out one by one; more are held out in folds
BINS = 15
MAX_SORTED, MIN_SORTED_ROWS = 1 << 22, 1000  # probabilities, and rows, that are sorted for the area under the ROC curve
LEAST = float(np.finfo(np.float64).eps)  # a probability below counts as this one, as in scikit-learn's log_loss


def score_held_out(fitted: Fitted, table: Table, members: Membership, of_rows: int) -> Scores:
    """The scores of a fitted model on rows that are in it and are held out of it.

    Rows are held out one by one in closed form where there is one, and by subtraction for up to 1,000 rows; otherwise
    in ten folds, each of which is subtracted from the model of all rows.

    Parameters
    ----------
    table, members
        The rows, and the class and weight that each has in the model; perhaps a sample of its rows.
    of_rows : int
        Number of rows in the model.
    """
    found = held_out_posterior(fitted, table, members)
    rows, posterior = found.rows, found.posterior
    assert members.codes is not None
    codes = members.codes[rows]
    weights = np.ones(len(codes)) if members.weights is None else members.weights[rows]
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
        found.rule,
        *baseline(np.bincount(codes, weights).astype(np.float64)),
        balanced_accuracy(codes, right, weights),
        roc_auc(codes, posterior, weights),
    )


def held_out_posterior(fitted: Fitted, table: Table, members: Membership) -> HeldOutPosterior:
    """p(y | x) of rows that are in the model, each under a model without it.

    Rows are held out as `score_held_out` says. A row without a label or a weight is not among them.
    """
    codes = members.codes
    assert codes is not None
    weights = np.ones(len(codes)) if members.weights is None else members.weights
    every = rows = np.flatnonzero((codes >= 0) & (weights > 0))
    if not len(rows):
        raise InputError("There is no row with a label and a weight to score the model on.")
    if len(rows) < len(codes) and not fitted.specification.counts_weightless_rows:
        table, members = table.take(rows), members.take(rows)  # a row that is not scored may have missing cells
        rows = np.arange(len(rows))
    else:
        every = np.arange(len(codes))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fit has warned already
        found = fitted.specification.held_out_posterior(fitted, table, members)
        if found is None:
            hold_out = HoldOut(fitted.model, table, members, MOST_BY_SUBTRACTION)
            if len(hold_out.only_rows()) == len(rows):
                rows = rows[:0]
            found = HeldOutPosterior(rows, _posterior(fitted, hold_out.joint(fitted)[rows]), hold_out.name)
    if not len(found.rows):
        raise InputError("No class has two rows, so no row can be held out.")
    return found._replace(rows=every[found.rows])


def _posterior(fitted: Fitted, joint: Float) -> Float:
    """p(y | x) as the model reports it (n, K); zero in a row without a posterior."""
    known = np.isfinite(joint.max(axis=1))
    out = np.zeros_like(joint)
    if fitted.specification.impossible == "prior":
        out[~known] = fitted.estimate.prior
    if known.any():
        out[known] = bayes.posterior(fitted.calibrated(np.ascontiguousarray(joint[known]), fitted.classes))
    return out


def _mean(values: Float, weights: Float) -> tuple[float, float]:
    """The weighted mean and its standard error, √Σ w²(v − mean)² / Σ w."""
    total = weights.sum()
    mean = float(weights @ values / total)
    few = len(values) / max(len(values) - 1, 1)
    return mean, float(np.sqrt(few * ((weights * (values - mean)) ** 2).sum()) / total)


def baseline(class_weights: Float) -> tuple[float, float]:
    """Accuracy and log-loss of the class shares alone: the largest share, and the entropy of the shares (nats).

    >>> baseline(np.array([30.0, 10.0, 0.0]))
    (0.75, 0.5623351446188083)
    """
    total = class_weights.sum()
    if not total:
        return np.nan, np.nan
    share = class_weights[class_weights > 0] / total
    return float(share.max()), float(0.0 - share @ np.log(share))  # 0, not −0, for one class


def balanced_accuracy(codes: Codes, right: Mask, weights: Float | None = None) -> float:
    """Mean over the classes of the share of rows with a correct label, as in scikit-learn.

    >>> balanced_accuracy(np.array([0, 0, 0, 1]), np.array([True, True, True, False]))
    0.5
    """
    w = np.ones(len(codes)) if weights is None else weights
    rows, correct = np.bincount(codes, w), np.bincount(codes, w * right)
    return float((correct[rows > 0] / rows[rows > 0]).mean())


def roc_auc(codes: Codes, posterior: Float, weights: Float | None = None) -> float:
    """Area under the ROC curve; with more than two classes, the mean of each class against the rest.

    It is scikit-learn's ``roc_auc_score``, macro-averaged over the classes that have rows. NaN for rows of one class.
    Of more than four million probabilities, those of evenly spaced rows are used.

    >>> roc_auc(np.array([0, 1, 0, 1]), np.array([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7], [0.2, 0.8]]))
    0.75
    """
    n, k = posterior.shape
    most = max(MIN_SORTED_ROWS, MAX_SORTED // k)
    if n > most:
        some = np.linspace(0, n - 1, most).astype(np.intp)
        codes, posterior, weights = codes[some], posterior[some], None if weights is None else weights[some]
    areas = RocAreas(k, max_exact=posterior.size)
    areas.add(codes, posterior, weights)
    return areas.mean()[0]


def brier_score(posterior: Float, codes: Codes, weights: Float | None = None) -> float:
    """Mean of Σ_k (p(k | x) − [label = k])², halved for two classes, as in scikit-learn.

    It is between 0 and 1 for two classes and between 0 and 2 for more.

    Parameters
    ----------
    posterior : array of shape (n, K)
    codes : array of shape (n,)
        Labels as positions among the classes. A code beyond them stands for another label.
    weights : array of shape (n,), optional

    Examples
    --------
    >>> round(brier_score(np.array([[0.9, 0.1], [0.4, 0.6]]), np.array([0, 0])), 3)
    0.185
    """
    n, k = posterior.shape
    known = codes < k
    of_label = np.where(known, posterior[np.arange(n), np.where(known, codes, 0)], 0.0)
    terms = (posterior**2).sum(axis=1) - 2 * of_label + 1
    return float(np.average(terms, weights=weights)) / (2 if k == 2 else 1)


def calibration_error(confidence: Float, right: Mask, weights: Float | None = None) -> float:
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
