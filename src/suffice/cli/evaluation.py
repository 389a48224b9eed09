"""Scores of predictions, accumulated batch by batch.

The scores have the definitions of scikit-learn's functions of the same names, with row weights. As there, and in the
scores of a fit, the log-loss raises probabilities below 2.2e-16 to that value.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from suffice.learning.scores import BINS, LEAST
from suffice.numerics.types import Codes, Float, Index

__all__ = ["ClassScores", "Evaluation", "RocAreas", "TotalScores"]

MAX_EXACT_SCORES = 1 << 23  # scores that are kept for an exact area under the curve
N_FINE_BINS, MAX_LOG_ODDS = 1 << 16, 40.0  # further scores are counted in bins of their log-odds, clipped to this


class TotalScores(TypedDict):
    """Scores of all classes together."""

    accuracy: float
    accuracy_error: float
    balanced_accuracy: float
    log_loss: float
    log_loss_error: float
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
        of_label = np.where(known, proba[rows, np.where(known, codes, 0)], 0.0)
        self._brier += float(w @ ((proba**2).sum(axis=1) - 2 * of_label + 1))
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
        weight, confidence, correct = self._bins
        return {
            "accuracy": float(accuracy),
            "accuracy_error": float(np.sqrt(accuracy * (1 - accuracy) * all_squares) / total),
            "balanced_accuracy": float(recall.mean()),
            "log_loss": float(mean),
            "log_loss_error": float(np.sqrt(max(spread, 0.0)) / known) if known else np.nan,
            "brier": float(self._brier / total / (2 if k == 2 else 1)),
            "calibration_error": float(np.abs(confidence - correct).sum() / weight.sum()),
            "auc": area,
            "auc_error": area_error,
        }

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


class RocAreas:
    """Area under the ROC curve of each class against all others.

    It is the probability that a row of the class has a larger predicted probability of the class than another row;
    ties count half. Up to ``max_exact`` probabilities are kept and give the exact area. Further ones are counted in
    fine bins; the error is less than the share of pairs that fall into one bin.
    """

    def __init__(self, n_classes: int, max_exact: int = MAX_EXACT_SCORES) -> None:
        self._n_classes, self._max_exact = n_classes, max_exact
        # The curves of two classes mirror each other, so one is enough.
        self._classes = [1] if n_classes == 2 else list(range(n_classes))
        self._kept: list[tuple[Codes, Float, Float | None]] = []
        self._n_scores = 0
        self._counts: Float | None = None  # (classes, rows of others and of the class, bins)

    def add(self, codes: Codes, proba: Float, weights: Float | None) -> None:
        """Add rows: label codes (n,), probabilities (n, K) and weights (n,)."""
        batch = codes, proba[:, self._classes], weights
        self._n_scores += batch[1].size
        if self._counts is None and self._n_scores > self._max_exact:
            self._counts = np.zeros((len(self._classes), 2, N_FINE_BINS))
            for each in self._kept:
                self._count(*each)
            self._kept = []
        if self._counts is None:
            self._kept.append(batch)
        else:
            self._count(*batch)

    def _count(self, codes: Codes, scores: Float, weights: Float | None) -> None:
        assert self._counts is not None
        with np.errstate(divide="ignore"):
            odds = np.log(scores) - np.log1p(-scores)
        clipped = np.clip(odds, -MAX_LOG_ODDS, MAX_LOG_ODDS) + MAX_LOG_ODDS
        bins = (clipped / (2 * MAX_LOG_ODDS) * (N_FINE_BINS - 1)).astype(np.int64)
        for j, k in enumerate(self._classes):
            both = np.bincount(bins[:, j] + N_FINE_BINS * (codes == k), weights, minlength=2 * N_FINE_BINS)
            self._counts[j] += both.reshape(2, N_FINE_BINS)

    def by_class(self) -> list[float]:
        """Area of each class; NaN if the class has no rows, or all of them."""
        areas = [area for area, _ in self._areas_and_errors()]
        return [areas[0], areas[0]] if self._n_classes == 2 else areas

    def mean(self) -> tuple[float, float]:
        """Mean of the areas that are defined, and a bound on its error from binning."""
        defined = [each for each in self._areas_and_errors() if not np.isnan(each[0])]
        if not defined:
            return np.nan, 0.0
        areas, errors = zip(*defined, strict=True)
        return float(np.mean(areas)), float(np.mean(errors))

    def _areas_and_errors(self) -> list[tuple[float, float]]:
        if self._counts is not None:
            return [(_area(*each), _binning_error(*each)) for each in self._counts]
        if not self._kept:
            return [(np.nan, 0.0) for _ in self._classes]
        codes = np.concatenate([each[0] for each in self._kept])
        weights = None if self._kept[0][2] is None else np.concatenate([np.asarray(each[2]) for each in self._kept])
        areas = []
        for j, k in enumerate(self._classes):
            _, ranks = np.unique(np.concatenate([each[1][:, j] for each in self._kept]), return_inverse=True)
            n = int(ranks.max()) + 1
            both = np.bincount(ranks + n * (codes == k), weights, minlength=2 * n).astype(np.float64)
            areas.append((_area(*both.reshape(2, n)), 0.0))
        return areas


def _ratio(part: float, whole: float) -> float:
    return float(part / whole) if whole else np.nan


def _area(others: Float, inside: Float) -> float:
    """Area from the weights of rows of other classes and of the class, at each score in ascending order."""
    pairs = others.sum() * inside.sum()
    below = np.cumsum(others) - others
    return float(inside @ (below + others / 2) / pairs) if pairs else np.nan


def _binning_error(others: Float, inside: Float) -> float:
    """Largest error of an area that comes from treating the scores in one bin as ties."""
    pairs = others.sum() * inside.sum()
    return float(others @ inside / 2 / pairs) if pairs else 0.0
