"""Areas under ROC curves, accumulated batch by batch."""

from __future__ import annotations

import numpy as np

from suffice.numerics.types import Codes, Float

__all__ = ["MAX_EXACT_SCORES", "RocAreas"]

MAX_EXACT_SCORES = 1 << 23  # scores that are kept for an exact area under the curve
MAX_FINE_BINS, MAX_BINS = 1 << 16, 1 << 23  # further scores are counted in bins: of a class, and of all classes
MAX_LOG_ODDS = 40.0  # log-odds are clipped to this


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
        self._n_bins = max(2, min(MAX_FINE_BINS, MAX_BINS // n_classes))
        self._counts: Float | None = None  # (classes, rows of others and of the class, bins)

    def add(self, codes: Codes, proba: Float, weights: Float | None) -> None:
        """Add rows: label codes (n,), probabilities (n, K) and weights (n,)."""
        batch = codes, proba[:, self._classes], weights
        self._n_scores += batch[1].size
        if self._counts is None and self._n_scores > self._max_exact:
            self._counts = np.zeros((len(self._classes), 2, self._n_bins))
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
        bins = (clipped / (2 * MAX_LOG_ODDS) * (self._n_bins - 1)).astype(np.int64)
        for j, k in enumerate(self._classes):
            both = np.bincount(bins[:, j] + self._n_bins * (codes == k), weights, minlength=2 * self._n_bins)
            self._counts[j] += both.reshape(2, self._n_bins)

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


def _area(others: Float, inside: Float) -> float:
    """Area from the weights of rows of other classes and of the class, at each score in ascending order."""
    pairs = others.sum() * inside.sum()
    below = np.cumsum(others) - others
    return float(inside @ (below + others / 2) / pairs) if pairs else np.nan


def _binning_error(others: Float, inside: Float) -> float:
    """Largest error of an area that comes from treating the scores in one bin as ties."""
    pairs = others.sum() * inside.sum()
    return float(others @ inside / 2 / pairs) if pairs else 0.0
