"""Scores of predictions, accumulated batch by batch.

The scores have the definitions of scikit-learn's functions of the same names, with row weights. As there, and in the
scores of a fit, the log-loss raises probabilities below 2.2e-16 to that value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from suffice.learning.roc_areas import MAX_EXACT_SCORES, RocAreas
from suffice.learning.scores import BINS, LEAST, baseline, brier_score
from suffice.numerics.types import Codes, Float, Index

__all__ = ["ClassScores", "Evaluation", "TotalScores"]


class TotalScores(TypedDict):
    """Scores of all classes together."""

    accuracy: float
    accuracy_error: float
    majority: float
    balanced_accuracy: float
    log_loss: float
    log_loss_error: float
    baseline_log_loss: float
    brier: float
    calibration_error: float
    auc: float
    auc_error: float


class ClassScores(TypedDict):
    """Scores of one class."""

    label: object
    rows: float
    precision: float
    recall: float
    f1: float
    auc: float


class Evaluation:
    """Scores of predicted probabilities against labels.

    Parameters
    ----------
    labels : sequence
        The classes of the model. Codes beyond them stand for other labels, which count as errors.
    max_exact : int
        Number of scores up to which the area under the ROC curve is exact.

    Attributes
    ----------
    n_rows : int
        Number of rows added.
    """

    def __init__(self, labels: Sequence[object], max_exact: int = MAX_EXACT_SCORES) -> None:
        self.labels = labels
        k = len(labels)
        self._confusion = np.zeros((k, k))
        self._areas = RocAreas(k, max_exact)
        self._bins = np.zeros((3, BINS))  # weight, confidence and correct predictions
        self._brier = 0.0
        self._loss = np.zeros(6)  # Σw, Σwl, Σw², Σw²l, Σw²l² of rows with a known label, and Σw² of all rows
        self.n_rows = 0

    def add(self, codes: Codes, log_proba: Float, weights: Float | None = None) -> None:
        """Add rows.

        Parameters
        ----------
        codes : array of shape (n,)
            Labels as positions among the classes, or beyond them.
        log_proba : array of shape (n, K)
            log p(class | x).
        weights : array of shape (n,), optional
        """
        n, k = log_proba.shape
        w = np.ones(n) if weights is None else weights
        rows, proba, predicted = np.arange(n), np.exp(log_proba), np.argmax(log_proba, axis=1)
        self._count_pairs(codes, predicted, w)
        self.n_rows += n
        known = codes < k
        total = w.sum()
        self._brier += total * brier_score(proba, codes, w) if total else 0.0
        loss, v = -np.maximum(log_proba[rows[known], codes[known]], np.log(LEAST)), w[known]
        squares = v**2
        self._loss += v.sum(), v @ loss, squares.sum(), squares @ loss, squares @ loss**2, (w**2).sum()
        confidence = proba[rows, predicted]
        bins = np.minimum((confidence * BINS).astype(np.int64), BINS - 1)
        for i, values in enumerate((w, w * confidence, w * (predicted == codes))):
            self._bins[i] += np.bincount(bins, values, minlength=BINS)
        self._areas.add(codes, proba, weights)

    def _count_pairs(self, codes: Codes, predicted: Index, w: Float) -> None:
        """Add (label, prediction) pairs to the confusion matrix, with new rows for new labels."""
        k = self._confusion.shape[1]
        n_labels = max(self._confusion.shape[0], int(codes.max(initial=-1)) + 1)
        counts = np.bincount(codes * k + predicted, w, minlength=n_labels * k).astype(np.float64)
        pairs: Float = counts.reshape(n_labels, k)
        pairs[: len(self._confusion)] += self._confusion
        self._confusion = pairs

    # ------------------------------------------------------------------ scores

    @property
    def n_known_rows(self) -> float:
        """Weight of the rows whose label is a class of the model."""
        return float(self._confusion[: len(self.labels)].sum())

    def scores(self) -> TotalScores:
        """Scores of all classes together."""
        total = self._confusion.sum()
        k = len(self.labels)
        accuracy = np.trace(self._confusion[:k]) / total
        known, loss, squares, crossed, crossed2, all_squares = self._loss
        mean = loss / known if known else np.nan
        spread = crossed2 - 2 * mean * crossed + mean**2 * squares
        rows = self._confusion.sum(axis=1)
        present = rows > 0
        recall = np.append(np.diag(self._confusion[:k]), np.zeros(len(rows) - k))[present] / rows[present]
        area, area_error = self._areas.mean()
        _, baseline_log_loss = baseline(rows[:k])
        weight, confidence, correct = self._bins
        return {
            "accuracy": float(accuracy),
            "accuracy_error": float(np.sqrt(accuracy * (1 - accuracy) * all_squares) / total),
            "majority": float(rows.max() / total),
            "balanced_accuracy": float(recall.mean()),
            "log_loss": float(mean),
            "log_loss_error": float(np.sqrt(max(spread, 0.0)) / known) if known else np.nan,
            "baseline_log_loss": baseline_log_loss,
            "brier": float(self._brier / total),
            "calibration_error": float(np.abs(confidence - correct).sum() / weight.sum()),
            "auc": area,
            "auc_error": area_error,
        }

    def reliability(self) -> tuple[Float, Float, Float]:
        """Weight, mean confidence and accuracy of the predictions in 15 bins of equal confidence (15,); NaN if empty.

        The confidence of a prediction is the probability of the predicted class.
        """
        weight, confidence, correct = self._bins
        size = np.where(weight > 0, weight, np.nan)
        return weight.copy(), confidence / size, correct / size

    def by_class(self) -> list[ClassScores]:
        """Rows, precision, recall, F1 and AUC of each class of the model."""
        rows, predictions = self._confusion.sum(axis=1), self._confusion.sum(axis=0)
        areas = self._areas.by_class()
        scores: list[ClassScores] = []
        for i, label in enumerate(self.labels):
            correct = self._confusion[i, i]
            scores.append(
                {
                    "label": label,
                    "rows": float(rows[i]),
                    "precision": _ratio(correct, predictions[i]),
                    "recall": _ratio(correct, rows[i]),
                    "f1": _ratio(2 * correct, rows[i] + predictions[i]),
                    "auc": areas[i],
                }
            )
        return scores

    def confusion(self, n_labels: int = 0) -> list[list[float]]:
        """Weight of the rows with each label (down) for which each class was predicted (across).

        There are at least ``n_labels`` rows: a label whose rows were all skipped has weight zero.
        """
        rows: list[list[float]] = self._confusion.tolist()
        return rows + [[0.0] * self._confusion.shape[1] for _ in range(n_labels - len(rows))]


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else np.nan
