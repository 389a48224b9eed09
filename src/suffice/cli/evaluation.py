"""How good predictions are, summed up batch by batch.

Scores are scikit-learn's, of the same names; weights are those of rows. As there, and in the scores of a fit, a
probability below 2.2e-16 counts as that in the log-loss.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.learning.scores import BINS, LEAST

__all__ = ["Evaluation", "Ranks"]

Float = NDArray[np.float64]
Codes = NDArray[np.int64]
MOST = 1 << 23  # scores that are kept for an exact area under the curve
FINE, WIDEST = 1 << 16, 40.0  # beyond, they are counted in so many bins of their log-odds, up to this


class Evaluation:
    """Scores of predicted probabilities against labels.

    Parameters
    ----------
    labels : list
        The classes of the model. Labels beyond them are met later: they count as errors.
    """

    def __init__(self, labels: list[Any], most: int = MOST) -> None:
        self.labels = labels
        k = len(labels)
        self._confusion = np.zeros((k, k))
        self._ranks = Ranks(k, most)
        self._bins = np.zeros((3, BINS))  # weight, confidence and hits
        self._brier = 0.0
        self._loss = np.zeros(6)  # Σw, Σwl, Σw², Σw²l, Σw²l² of rows whose label is known, and Σw² of all
        self.n_rows = 0

    def add(self, codes: Codes, log_proba: Float, weights: Float | None = None) -> None:
        """Take in rows: their labels, as places among all labels met, and log p(class | x)."""
        n, k = log_proba.shape
        w = np.ones(n) if weights is None else weights
        rows, proba, chosen = np.arange(n), np.exp(log_proba), np.argmax(log_proba, axis=1)
        self._take_pairs(codes, chosen, w)
        self.n_rows += n
        known = codes < k
        hit = np.where(known, proba[rows, np.where(known, codes, 0)], 0.0)
        self._brier += float(w @ ((proba**2).sum(axis=1) - 2 * hit + 1))
        loss, v = -np.maximum(log_proba[rows[known], codes[known]], np.log(LEAST)), w[known]
        squares = v**2
        self._loss += v.sum(), v @ loss, squares.sum(), squares @ loss, squares @ loss**2, (w**2).sum()
        sure = proba[rows, chosen]
        bins = np.minimum((sure * BINS).astype(np.int64), BINS - 1)
        for i, values in enumerate((w, w * sure, w * (chosen == codes))):
            self._bins[i] += np.bincount(bins, values, minlength=BINS)
        self._ranks.add(codes, proba, weights)

    def _take_pairs(self, codes: Codes, chosen: NDArray[np.intp], w: Float) -> None:
        k = self._confusion.shape[1]
        met = max(self._confusion.shape[0], int(codes.max(initial=-1)) + 1)
        pairs: Float = np.bincount(codes * k + chosen, w, minlength=met * k).astype(np.float64).reshape(met, k)
        pairs[: len(self._confusion)] += self._confusion
        self._confusion = pairs

    # ------------------------------------------------------------------ scores

    def scores(self) -> dict[str, float]:
        """Scores of all classes together."""
        total = self._confusion.sum()
        k = len(self.labels)
        right = np.trace(self._confusion[:k]) / total
        known, loss, squares, crossed, crossed2, all_squares = self._loss
        mean = loss / known if known else np.nan
        spread = crossed2 - 2 * mean * crossed + mean**2 * squares
        rows = self._confusion.sum(axis=1)
        there = rows > 0
        recall = np.append(np.diag(self._confusion[:k]), np.zeros(len(rows) - k))[there] / rows[there]
        area, error = self._ranks.area()
        weight, sure, hits = self._bins
        return {
            "accuracy": float(right),
            "accuracy_error": float(np.sqrt(right * (1 - right) * all_squares) / total),
            "balanced_accuracy": float(recall.mean()),
            "log_loss": float(mean),
            "log_loss_error": float(np.sqrt(max(spread, 0.0)) / known) if known else np.nan,
            "brier": float(self._brier / total / (2 if k == 2 else 1)),
            "calibration_error": float(np.abs(sure - hits).sum() / weight.sum()),
            "auc": area,
            "auc_error": error,
        }

    def by_class(self) -> list[dict[str, Any]]:
        """Rows, precision, recall and F1 of each class of the model."""
        k, out = len(self.labels), []
        rows, answers = self._confusion.sum(axis=1), self._confusion.sum(axis=0)
        areas = self._ranks.areas()
        for i in range(k):
            hits = self._confusion[i, i]
            shares = ((hits, answers[i]), (hits, rows[i]), (2 * hits, rows[i] + answers[i]))
            precision, recall, f1 = (float(a / b) if b else np.nan for a, b in shares)
            values = {"rows": float(rows[i]), "precision": precision, "recall": recall, "f1": f1, "auc": areas[i]}
            out.append({"label": self.labels[i]} | values)
        return out

    def confusion(self) -> list[list[float]]:
        """Weight of the rows of each label met (down) that were given to each class (across)."""
        found: list[list[float]] = self._confusion.tolist()
        return found


class Ranks:
    """The area under the ROC curve of each class against all others.

    It is the chance that a row of the class has a larger probability of it than another row; equal ones count half.
    Probabilities are kept until there are too many, and are counted in fine bins from then on, which is out by less
    than the pairs in one bin.
    """

    def __init__(self, n_classes: int, most: int = MOST) -> None:
        self._k, self._most = n_classes, most
        self._asked = (
            [1] if n_classes == 2 else list(range(n_classes))
        )  # of two classes one curve is the other's mirror
        self._kept: list[tuple[Codes, Float, Float | None]] = []
        self._n = 0
        self._counts: Float | None = None  # (classes asked, out and in, bins)

    def add(self, codes: Codes, proba: Float, weights: Float | None) -> None:
        """Take in rows."""
        part = codes, proba[:, self._asked], weights
        self._n += part[1].size
        if self._counts is None and self._n > self._most:
            self._counts = np.zeros((len(self._asked), 2, FINE))
            for each in self._kept:
                self._count(*each)
            self._kept = []
        if self._counts is None:
            self._kept.append(part)
        else:
            self._count(*part)

    def _count(self, codes: Codes, scores: Float, weights: Float | None) -> None:
        assert self._counts is not None
        with np.errstate(divide="ignore"):
            odds = np.log(scores) - np.log1p(-scores)
        places = ((np.clip(odds, -WIDEST, WIDEST) + WIDEST) / (2 * WIDEST) * (FINE - 1)).astype(np.int64)
        for j, k in enumerate(self._asked):
            both = np.bincount(places[:, j] + FINE * (codes == k), weights, minlength=2 * FINE)
            self._counts[j] += both.reshape(2, FINE)

    def areas(self) -> list[float]:
        """The area of each class; NaN of one that has no rows, or all."""
        found = [area for area, _ in self._found()]
        return [found[0], found[0]] if self._k == 2 else found

    def area(self) -> tuple[float, float]:
        """The mean of the areas that there are, and how far it may be out by binning."""
        found = [each for each in self._found() if not np.isnan(each[0])]
        if not found:
            return np.nan, 0.0
        areas, errors = zip(*found, strict=True)
        return float(np.mean(areas)), float(np.mean(errors))

    def _found(self) -> list[tuple[float, float]]:
        if self._counts is not None:
            return [(_area(each[0], each[1]), _tied(each[0], each[1])) for each in self._counts]
        if not self._kept:
            return [(np.nan, 0.0) for _ in self._asked]
        codes = np.concatenate([each[0] for each in self._kept])
        weights = None if self._kept[0][2] is None else np.concatenate([np.asarray(each[2]) for each in self._kept])
        found = []
        for j, k in enumerate(self._asked):
            _, places = np.unique(np.concatenate([each[1][:, j] for each in self._kept]), return_inverse=True)
            n = int(places.max()) + 1
            both = np.bincount(places + n * (codes == k), weights, minlength=2 * n).astype(np.float64)
            out, inside = both.reshape(2, n)
            found.append((_area(out, inside), 0.0))
        return found


def _area(out: Float, inside: Float) -> float:
    """From the weights of rows of others, and of the class, at scores that rise."""
    pairs = out.sum() * inside.sum()
    below = np.cumsum(out) - out
    return float(inside @ (below + out / 2) / pairs) if pairs else np.nan


def _tied(out: Float, inside: Float) -> float:
    """The most that an area may be out because scores in one bin are called equal."""
    pairs = out.sum() * inside.sum()
    return float(out @ inside / 2 / pairs) if pairs else 0.0
