"""Rows → `Window`, in one pass over blocks of rows that stay in cache."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice import bayes, kernels
from suffice.learning import prediction
from suffice.learning.fitted import Fitted
from suffice.learning.impossible import impossible_rows
from suffice.learning.profile import MOST_CLASSES
from suffice.learning.watched_columns import ReadColumns, WatchedColumns, log_density
from suffice.monitoring.window import MOST_SAMPLED, MOST_UNSEEN, SCORES, Layout, Window, most_frequent
from suffice.numerics.types import Array, Codes, Float, Index
from suffice.tables import CodedColumn, Levels, Table
from suffice.tables.row_blocks import MOST_AT_ONCE, run_at_once

__all__ = ["CALIBRATION_BINS", "Labels", "Scored", "Summarizer", "scored", "scored_by_joint"]

BLOCK_CELLS = 1 << 18
LEAST_ROWS = 1 << 10
CALIBRATION_BINS = 15
LEAST = float(np.finfo(np.float64).eps)  # a probability below counts as this one, as in scikit-learn's log_loss


class Labels(NamedTuple):
    """Labels of rows as positions among the classes of the model, −1 for others and −2 for none; and all labels."""

    codes: Codes
    others: Array | None = None

    def rows(self, start: int, stop: int) -> Labels:
        """Labels of rows start..stop−1."""
        return Labels(self.codes[start:stop], None if self.others is None else self.others[start:stop])


class Scored(NamedTuple):
    """log p(x) of rows (n,) or None, log p(y | x) (n, K), and the rows that have probability zero in every class."""

    log_density: Float | None
    log_posterior: Float
    impossible: Index


class Summarizer:
    """Makes windows of rows for one fitted model and layout."""

    def __init__(self, fitted: Fitted, columns: WatchedColumns, layout: Layout) -> None:
        self.fitted, self.columns, self.layout = fitted, columns, layout
        self._offsets = layout.offsets
        self._one_bin = np.array([len(each) == 0 for each in layout.cuts])
        self._fourth = self._one_bin & np.array([scale not in ("yes or no",) for _, scale in layout.numbers], bool)
        with np.errstate(divide="ignore"):
            self._log_prior = np.asarray(fitted.estimate.log_prior, dtype=np.float64)

    def window(self, table: Table, labels: Labels | None, weights: Float | None) -> Window:
        """The window of some rows."""
        n = len(table)
        step = max(LEAST_ROWS, BLOCK_CELLS // max(len(self.layout.numbers), 2 * len(self.layout.classes), 1))
        if n <= step or not table.divisible:
            return self._part(table, labels, weights, 0)
        total = Window.zero(self.layout)
        found: dict[int, Window] = {}

        def summarize(start: int) -> None:
            stop = min(n, start + step)
            own = None if labels is None else labels.rows(start, stop)
            found[start] = self._part(
                table.rows(start, stop), own, None if weights is None else weights[start:stop], start
            )

        starts = range(0, n, step)
        for i in range(0, len(starts), 2 * MOST_AT_ONCE):
            run_at_once(summarize, starts[i : i + 2 * MOST_AT_ONCE])
            for start in starts[i : i + 2 * MOST_AT_ONCE]:
                total = total.merge(found.pop(start))
        return total

    def _part(self, table: Table, labels: Labels | None, weights: Float | None, first: int) -> Window:
        return self.of_scored(table, scored(self.fitted, table), labels, weights, first)

    def of_scored(
        self,
        table: Table,
        answers: Scored,
        labels: Labels | None,
        weights: Float | None,
        first: int = 0,
        *,
        held_out: bool = False,
    ) -> Window:
        """The window of rows that the model, or one of other rows, has scored; ``first`` is the number of rows before."""
        density, log_posterior, impossible = answers
        read = self.columns.read(table, density, held_out=held_out)
        own = np.ones(len(table)) if weights is None else weights
        moments, bins = self._numbers(read, weights)
        counted = [
            self._levels(each, known, len(table), weights)
            for (_, known), each in zip(self.layout.levels, read.coded, strict=False)
        ]
        proba = np.exp(log_posterior)
        known = proba if weights is None else proba * weights[:, None]
        keys = _keys(density if density is not None else log_posterior[:, 0], own, first)
        some = np.argpartition(keys, MOST_SAMPLED)[:MOST_SAMPLED] if len(keys) > MOST_SAMPLED else np.arange(len(keys))
        some = some[np.argsort(keys[some], kind="stable")]
        some = some[np.isfinite(keys[some])]
        with np.errstate(invalid="ignore"):
            ratios = log_posterior[some] - self._log_prior
        ratios[np.isnan(ratios)] = -np.inf
        usable = np.isfinite(ratios).any(axis=1)
        k = len(self.layout.classes)
        label_parts = (np.zeros(k), {}, np.zeros((3, CALIBRATION_BINS)), np.zeros(len(SCORES)))
        if labels is not None:
            label_parts = self._label_sums(labels, proba, own)
        return Window(
            self.layout,
            len(table),
            float(own.sum()),
            float((own * own).sum()),
            moments,
            bins,
            tuple(each for each, _ in counted),
            tuple(each for _, each in counted),
            tuple(self._words(read, i, own) for i in range(len(self.layout.words))),
            np.vstack([known.sum(axis=0), proba.T @ known if k <= MOST_CLASSES else (proba * known).sum(axis=0)]),
            float(own[impossible].sum()),
            keys[some][usable],
            ratios[usable],
            *label_parts,
        )

    def _numbers(self, read: ReadColumns, weights: Float | None) -> tuple[Float, Float]:
        """Moments (5, D) and bins (C,) of the numbers."""
        x, d = read.numbers, len(self.layout.numbers)
        dense = x.shape[1]
        moments, bins = np.zeros((5, d)), np.zeros(int(self._offsets[-1]))
        at = np.arange(d)
        if read.sparse is not None:
            last = 1 if self.columns.numbers[-1].name is None else 0  # log p(x) is dense
            wide = np.arange(d - last)
            at = np.arange(d - last, d)
            moments[:, wide], missing = _sparse_moments(read.sparse, weights)
            bins[self._offsets[wide]], bins[self._offsets[wide + 1] - 1] = moments[0, wide], missing
        if not dense or not len(x):
            return moments, bins
        x = np.ascontiguousarray(x)
        codes = np.zeros(len(x), dtype=np.int64)
        sums = kernels.class_moments(x, 1, codes=codes, weights=weights, missing=True)
        weight, mean = sums.weight[0], sums.mean[0] + sums.mean_low[0]
        moments[:3, at] = weight, mean, np.maximum(sums.m2[0] + sums.m2_low[0], 0.0)
        fourth = self._fourth[at]
        if fourth.any():
            moments[3:, at[fourth]] = _high_moments(x[:, fourth], mean[fourth], weights)
        cells = np.empty(x.shape, dtype=np.int32)
        kernels.interval_cells(x, [self.layout.cuts[j] for j in at], self._offsets[at], np.arange(dense), cells)
        own = None if weights is None else np.repeat(weights, dense)
        bins += np.bincount(cells.ravel(), own, minlength=len(bins))
        return moments, bins

    def _levels(
        self, column: CodedColumn, known: Levels, n: int, weights: Float | None
    ) -> tuple[Float, dict[object, float]]:
        """Weight of each known level, of unknown levels, and of missing cells; and the most frequent unknown levels."""
        codes = column.dense(n)
        size = len(column.levels)
        count = np.bincount(np.where(codes < 0, size, codes), weights, minlength=size + 1).astype(np.float64)
        out = np.zeros(len(known) + 2)
        where = _positions(known, column.levels)
        here = where >= 0
        np.add.at(out, where[here], count[:-1][here])
        out[-1] = count[-1]
        new = np.flatnonzero(~here & (count[:-1] > 0))
        out[-2] = count[new].sum()
        most = new[np.argsort(-count[new], kind="stable")[:MOST_UNSEEN]]
        return out, most_frequent({}, {column.levels.values[i]: float(count[i]) for i in most.tolist()})

    def _words(self, read: ReadColumns, i: int, weights: Float) -> Float:
        """Weight of the documents with each word, of all documents, and of missing ones."""
        cells, missing = read.words[i]
        size = len(self.layout.words[i][1])
        count = np.bincount(cells[:, 1], weights[cells[:, 0]], minlength=size)
        return np.concatenate([count, [weights[~missing].sum(), weights[missing].sum()]])

    def _label_sums(
        self, labels: Labels, proba: Float, weights: Float
    ) -> tuple[Float, dict[object, float], Float, Float]:
        """Weights of the labels, of the most frequent other labels, calibration bins, and scores."""
        codes, k = labels.codes, proba.shape[1]
        here = np.flatnonzero(codes >= 0)
        own, p, at = weights[here], proba[here], codes[here]
        chosen = np.argmax(p, axis=1)
        top = p[np.arange(len(p)), chosen]
        right = (chosen == at).astype(np.float64)
        loss = -np.log(np.maximum(p[np.arange(len(p)), at], LEAST))
        gap = right - top
        bins = np.minimum((top * CALIBRATION_BINS).astype(np.int64), CALIBRATION_BINS - 1)
        calibration = np.array(
            [np.bincount(bins, own * each, minlength=CALIBRATION_BINS) for each in (np.ones(len(own)), top, right)]
        )
        others: dict[object, float] = {}
        lost = np.flatnonzero(codes == -1)
        if len(lost) and labels.others is not None:
            values, index = np.unique(np.asarray(labels.others[lost], dtype=str), return_inverse=True)
            count = np.bincount(index.ravel(), weights[lost])
            others = most_frequent({}, dict(zip(values.tolist(), count.tolist(), strict=True)))
        sums = [own.sum(), *(float((own * each).sum()) for each in (right, loss, loss**2, gap, gap**2))]
        scores = np.array([*sums, weights[lost].sum()], dtype=np.float64)
        return np.bincount(at, own, minlength=k).astype(np.float64), others, calibration, scores


def scored(fitted: Fitted, table: Table) -> Scored:
    """What the model says of rows."""
    density, scores = None, None
    if fitted.has_density:
        scores = prediction.joint(fitted, table, relative=False)
        density = log_density(fitted, scores)
    if scores is None or fitted.scorer is not fitted.solution:
        scores = prediction.joint(fitted, table)
    return scored_by_joint(fitted, density, scores)


def scored_by_joint(fitted: Fitted, density: Float | None, scores: Float) -> Scored:
    """What the model says of rows with these log p(x, y), up to a term of each row; they may be overwritten."""
    impossible = impossible_rows(scores)
    if len(impossible):
        scores[impossible] = fitted.estimate.log_prior
    calibrated = fitted.calibrated(scores, fitted.classes)
    return Scored(density, bayes.log_posterior(np.ascontiguousarray(calibrated)), impossible)


def _positions(known: Levels, found: Levels) -> Codes:
    return np.arange(len(found)) if found is known else known.positions(found.values)


def _keys(values: Float, weights: Float, first: int) -> Float:
    """Keys −log(u)/w of rows, where u ∈ (0, 1) is a hash of a number of the row and its position; ∞ without weight."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.uint64)
    at = np.arange(first, first + len(bits), dtype=np.uint64)
    with np.errstate(over="ignore"):
        mixed = bits ^ (at * np.uint64(0x9E3779B97F4A7C15))
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
    uniform = ((mixed >> np.uint64(11)).astype(np.float64) + 0.5) * 2.0**-53
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log(uniform) / weights)


def _high_moments(x: Float, mean: Float, weights: Float | None) -> Float:
    """Centred sums of cubes and fourth powers (2, D)."""
    z = x - mean
    z[np.isnan(z)] = 0.0
    square = z * z
    left = z if weights is None else z * weights[:, None]
    right = square if weights is None else square * weights[:, None]
    return np.array([np.einsum("ij,ij->j", left, square), np.einsum("ij,ij->j", right, square)])


def _sparse_moments(x: Array, weights: Float | None) -> tuple[Float, Float]:
    """Moments (5, D) of the columns of a sparse matrix, and the weight of missing cells.

    Sums of powers about zero are accurate, because most cells are zero, so a mean is small next to a deviation.
    """
    own = np.ones(x.shape[0]) if weights is None else weights
    w = np.repeat(own, np.diff(x.indptr))
    data = np.asarray(x.data, dtype=np.float64)
    hole = np.isnan(data)
    data = np.where(hole, 0.0, data)
    d = x.shape[1]
    missing = np.bincount(x.indices, w * hole, minlength=d)
    n = own.sum() - missing
    safe = np.where(n > 0, n, 1.0)
    one, two, three, four = (np.bincount(x.indices, w * data**p, minlength=d) for p in (1, 2, 3, 4))
    mean = one / safe
    m2 = np.maximum(two - n * mean**2, 0.0)
    m3 = three - 3 * mean * two + 2 * n * mean**3
    m4 = np.maximum(four - 4 * mean * three + 6 * mean**2 * two - 3 * n * mean**4, 0.0)
    return np.array([n, mean, m2, m3, m4]), missing
