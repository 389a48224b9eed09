"""How good probabilities are, row by row and together; and differences between models on the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.learning.scores import LEAST, calibration_error

__all__ = ["Score", "mean_and_error", "row_losses", "scored"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Score:
    """Scores of one model on rows that it has not seen.

    Attributes
    ----------
    model : str
    accuracy : float
        Share of rows whose likeliest class is theirs.
    log_loss : float
        Mean of −log p(label | x). No probability counts as less than 2.2e-16, so that one row costs at most 36.
    brier : float
        Mean of ``Σ_k (p(k | x) − [label = k])²``.
    calibration_error : float
        Expected calibration error of the likeliest class, in 15 bins of equal width.
    accuracy_error, log_loss_error : float
        Standard errors, from row to row.
    behind, behind_error : float
        By how much the log-loss is larger than that of the best model, and the standard error of that difference: from
        row to row, of the same rows.
    fit_seconds : float
        Time of a fit to all rows.
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


def row_losses(probability: Float, codes: NDArray[np.int64]) -> Float:
    """−log p(label | x) of each row (n,).

    >>> row_losses(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([0, 1])).round(2)
    array([ 0.69, 36.04])
    """
    return -np.log(np.maximum(probability[np.arange(len(codes)), codes], LEAST))


def mean_and_error(values: Float) -> tuple[float, float]:
    """The mean of draws, and its standard error; NaN where there are none, or one."""
    n = len(values)
    mean = float(values.mean()) if n else np.nan
    return mean, float(values.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan


def scored(probabilities: dict[str, Float], codes: NDArray[np.int64], seconds: dict[str, float]) -> list[Score]:
    """The scores of several models on the same rows, the best log-loss first."""
    losses = {name: row_losses(p, codes) for name, p in probabilities.items()}
    order = sorted(losses, key=lambda name: float(losses[name].mean()))
    out = []
    for name in order:
        probability = probabilities[name]
        accuracy = mean_and_error((probability.argmax(axis=1) == codes).astype(np.float64))
        loss, behind = mean_and_error(losses[name]), mean_and_error(losses[name] - losses[order[0]])
        right = probability[np.arange(len(codes)), codes]
        brier = float(((probability**2).sum(axis=1) - 2 * right + 1).mean())
        error = calibration_error(probability.max(axis=1), probability.argmax(axis=1) == codes)
        out.append(Score(name, accuracy[0], loss[0], brier, error, accuracy[1], loss[1], *behind, seconds[name]))
    return out
