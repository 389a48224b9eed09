"""Scores of predicted probabilities, and paired differences between models on the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.learning.scores import LEAST, balanced_accuracy, brier_score, calibration_error, roc_auc
from suffice.numerics.types import Codes, Float

__all__ = ["Score", "mean_and_error", "row_losses", "scored"]


@dataclass(frozen=True)
class Score:
    """Scores of one model on held-out rows.

    Attributes
    ----------
    model : str
    accuracy : float
        Fraction of rows whose most probable class is their label.
    log_loss : float
        Mean of −log p(label | x). Probabilities are at least 2.2e-16, so a row adds at most 36.
    brier : float
        Mean of ``Σ_k (p(k | x) − [label = k])²``, halved for two classes, as in scikit-learn.
    calibration_error : float
        Expected calibration error of the most probable class, in 15 bins of equal width.
    accuracy_error, log_loss_error : float
        Standard errors over rows.
    behind, behind_error : float
        The log-loss minus that of the best model, and the standard error of this difference over rows, paired by row.
    fit_seconds : float
        Duration of a fit to all rows.
    balanced_accuracy : float
        Mean over the classes of the share of correct labels.
    auc : float
        Area under the ROC curve; with more than two classes, the mean of each class against the rest.
    """

    model: str
    accuracy: float
    log_loss: float
    brier: float
    calibration_error: float
    accuracy_error: float
    log_loss_error: float
    behind: float
    behind_error: float
    fit_seconds: float
    balanced_accuracy: float
    auc: float


def row_losses(probability: Float, codes: Codes) -> Float:
    """Return −log p(label | x) of each row (n,).

    >>> row_losses(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0, 1])).round(2)
    array([ 0.69, 36.04])
    """
    return -np.log(np.maximum(probability[np.arange(len(codes)), codes], LEAST))


def mean_and_error(values: Float) -> tuple[float, float]:
    """Return the mean and its standard error; NaN for the mean of no values and for the error of fewer than two."""
    n = len(values)
    mean = float(values.mean()) if n else np.nan
    return mean, float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan


def scored(probabilities: dict[str, Float], codes: Codes, seconds: dict[str, float]) -> list[Score]:
    """Return the scores of several models on the same rows, lowest log-loss first."""
    losses = {name: row_losses(p, codes) for name, p in probabilities.items()}
    order = sorted(losses, key=lambda name: float(losses[name].mean()))
    out = []
    for name in order:
        probability = probabilities[name]
        accuracy = mean_and_error((probability.argmax(axis=1) == codes).astype(np.float64))
        loss, behind = mean_and_error(losses[name]), mean_and_error(losses[name] - losses[order[0]])
        brier = brier_score(probability, codes)
        correct = probability.argmax(axis=1) == codes
        error = calibration_error(probability.max(axis=1), correct)
        by_class = balanced_accuracy(codes, correct), roc_auc(codes, probability)
        errors = accuracy[1], loss[1]
        out.append(Score(name, accuracy[0], loss[0], brier, error, *errors, *behind, seconds[name], *by_class))
    return out
