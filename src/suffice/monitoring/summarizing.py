"""Rows → `Window`, in one pass over blocks of rows that stay in cache."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice import bayes, kernels
from suffice.learning import prediction
from suffice.learning.fitted import Fitted
from suffice.learning.impossible import impossible_rows
from suffice.learning.profile import MOST_CLASSES
from suffice.learning.watched_columns import ReadColumns, WatchedColumns
from suffice.monitoring.window import MOST_UNSEEN, SCORES, Layout, Window, most_frequent
from suffice.numerics.types import Array, Codes, Float, Index, SparseMatrix
from suffice.tables import CodedColumn, Levels, Table
from suffice.tables.row_blocks import MOST_AT_ONCE, run_at_once
from suffice.tables.table import is_sparse

__all__ = ["CALIBRATION_BINS", "Labels", "Scored", "Summarizer", "scored", "scored_by_joint"]

BLOCK_CELLS = 1 << 19
LEAST_ROWS = 1 << 10
BINNED_ROWS = 1 << 14  # of a batch: one of every n/BINNED_ROWS rows is counted in bins
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
    """What the model says of rows.

    Attributes
    ----------
    log_density : array of shape (m,), or None
        log p(x) of some of the rows.
    scores : array of shape (n, K)
        log p(x, y), calibrated, up to a term of each row.
    posterior : array of shape (n, K)
    impossible : array of int
        Rows that have probability zero in every class, which get the class prior.
    """

    log_density: Float | None
    scores: Float
    posterior: Float
    impossible: Index


class Summarizer:
    """Makes windows of rows for one fitted model and layout."""

    def __init__(self, fitted: Fitted, columns: WatchedColumns, layout: Layout, prior: Float | None = None) -> None:
        self.fitted, self.columns, self.layout = fitted, columns, layout
        self._offsets = layout.offsets
        self._binned = np.array([len(each) > 0 for each in layout.cuts], dtype=bool)
        self._log_prior = np.asarray(fitted.estimate.log_prior, dtype=np.float64)
        # Posteriors and log p(x) are compared under the prior of the profile, whatever that of the model is by now.
        own = np.asarray(fitted.estimate.prior, dtype=np.float64)
        self._factor = None if prior is None or np.allclose(prior, own) else prior / np.where(own > 0, own, np.inf)

    def window(self, table: Table, labels: Labels | None, weights: Float | None) -> Window:
        """The window of some rows."""
        n = len(table)
        step = max(LEAST_ROWS, BLOCK_CELLS // max(len(self.layout.numbers), 2 * len(self.layout.classes), 1))
        every = max(1, n // BINNED_ROWS)
        if n <= step or not table.divisible:
            return self._part(table, labels, weights, 0, every)
        total = Window.zero(self.layout)
        found: dict[int, Window] = {}

        def summarize(start: int) -> None:
            stop = min(n, start + step)
            own = None if labels is None else labels.rows(start, stop)
            found[start] = self._part(
                table.rows(start, stop), own, None if weights is None else weights[start:stop], start, every
            )

        starts = range(0, n, step)
        for i in range(0, len(starts), 2 * MOST_AT_ONCE):
            run_at_once(summarize, starts[i : i + 2 * MOST_AT_ONCE])
            for start in starts[i : i + 2 * MOST_AT_ONCE]:
                total = total.merge(found.pop(start))
        return total

    def _part(
        self, table: Table, labels: Labels | None, weights: Float | None, first: int = 0, every: int = 1
    ) -> Window:
        return self.of_scored(table, scored(self.fitted, table, every, self._factor), labels, weights, first, every)

    def of_scored(
        self,
        table: Table,
        answers: Scored,
        labels: Labels | None,
        weights: Float | None,
        first: int = 0,
        every: int = 1,
        *,
        held_out: bool = False,
    ) -> Window:
        """The window of rows that the model, or one of other rows, has scored.

        ``first`` is the number of rows before these; one of ``every`` rows is counted in bins, and has a density.
        """
        density, scores, proba, impossible = answers
        read = self.columns.read(table, held_out=held_out)
        own = np.ones(len(table)) if weights is None else weights
        moments, bins = self._numbers(read, density, weights, every)
        counted = [
            self._levels(each, known, len(table), weights)
            for (_, known), each in zip(self.layout.levels, read.coded, strict=False)
        ]
        compared = proba if self._factor is None else _scaled(proba, self._factor)
        known = compared if weights is None else compared * weights[:, None]
        squares = compared.T @ known if len(self._log_prior) <= MOST_CLASSES else (compared * known).sum(axis=0)
        keys, ratios = self._sample(scores, own, first)
        k = len(self.layout.classes)
        label_parts: tuple[Float, dict[object, float], Float, Float] = (
            np.zeros(k),
            {},
            np.zeros((3, CALIBRATION_BINS)),
            np.zeros(len(SCORES)),
        )
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
            np.vstack([known.sum(axis=0), squares]),
            float(own[impossible].sum()),
            keys,
            ratios,
            *label_parts,
        )

    def _sample(self, scores: Float, weights: Float, first: int) -> tuple[Float, Float]:
        """Keys of the sampled rows in ascending order, and their log-likelihoods."""
        keys = _keys(scores[:, 0], weights, first)
        most = self.layout.sampled
        some = np.argpartition(keys, most)[:most] if len(keys) > most else np.arange(len(keys))
        some = some[np.argsort(keys[some], kind="stable")]
        ratios = bayes.log_posterior(np.ascontiguousarray(scores[some]))
        with np.errstate(invalid="ignore"):
            ratios -= self._log_prior
        ratios[np.isnan(ratios)] = -np.inf
        usable = np.isfinite(ratios).any(axis=1) & np.isfinite(keys[some])
        return keys[some[usable]], ratios[usable]

    def _numbers(
        self, read: ReadColumns, density: Float | None, weights: Float | None, every: int
    ) -> tuple[Float, Float]:
        """Moments (5, D) and bins (C,) of the numbers; missing cells are counted in all rows."""
        moments, bins = np.zeros((5, len(self.layout.numbers))), np.zeros(int(self._offsets[-1]))
        start = 0
        for part in read.parts:
            here = np.arange(start, start + part.shape[1])
            start += part.shape[1]
            if is_sparse(part):
                moments[:, here] = _sparse_moments(part, weights)
            elif part.size:
                moments[:, here] = self._moments(np.ascontiguousarray(part), here, weights)
                own = None if weights is None else weights[::every]
                self._count(part[::every], here, own, bins)
            bins[self._offsets[here + 1] - 1] = _missing(part, moments[0, here], weights)
        if density is not None:
            here = np.array([start])
            own = None if weights is None else weights[::every]
            part = np.where(density > -np.inf, density, np.nan)[:, None]
            moments[:, here] = self._moments(part, here, own)
            self._count(part, here, own, bins)
        return moments, bins

    def _moments(self, x: Float, here: Index, weights: Float | None) -> Float:
        codes = np.zeros(len(x), dtype=np.int64)
        sums = kernels.class_moments(x, 1, codes=codes, weights=weights, missing=True)
        mean = sums.mean[0] + sums.mean_low[0]
        out = np.zeros((5, len(here)))
        out[:3] = sums.weight[0], mean, np.maximum(sums.m2[0] + sums.m2_low[0], 0.0)
        fourth = self.layout.fourth[here]
        if fourth.any():
            out[3:, fourth] = _high_moments(x[:, fourth], mean[fourth], weights)
        return out

    def _count(self, x: Float, here: Index, weights: Float | None, bins: Float) -> None:
        """Count numbers in bins."""
        at = here[self._binned[here]]
        if not len(at):
            return
        x = x if len(at) == len(here) else x[:, at - here[0]]
        first = self._offsets[at]
        base = int(first[0])
        cells = np.empty(x.shape, dtype=np.int32)
        cuts = [self.layout.cuts[j] for j in at.tolist()]
        kernels.interval_cells(np.ascontiguousarray(x), cuts, first - base, np.arange(len(at)), cells)
        own = None if weights is None else np.repeat(weights, len(at))
        counted = np.bincount(cells.ravel(), own)
        bins[base : base + len(counted)] += counted

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


def scored(fitted: Fitted, table: Table, every: int = 1, factor: Float | None = None) -> Scored:
    """What the model says of rows; one of ``every`` rows has a density, under the prior times a factor."""
    density = None
    if fitted.has_density:
        some = table if every == 1 else table.take(np.arange(0, len(table), every))
        scores = prediction.joint(fitted, some, relative=False)
        with np.errstate(divide="ignore"):
            density = bayes.log_evidence(scores if factor is None else scores + np.log(factor))
        if every == 1 and fitted.scorer is fitted.solution:
            return scored_by_joint(fitted, density, scores)
    return scored_by_joint(fitted, density, prediction.joint(fitted, table))


def scored_by_joint(fitted: Fitted, density: Float | None, scores: Float) -> Scored:
    """What the model says of rows with these log p(x, y), up to a term of each row; they may be overwritten."""
    impossible = impossible_rows(scores)
    if len(impossible):
        scores[impossible] = fitted.estimate.log_prior
    calibrated = np.ascontiguousarray(fitted.calibrated(scores, fitted.classes))
    return Scored(density, calibrated, bayes.posterior(calibrated, np.empty_like(calibrated)), impossible)


def _scaled(proba: Float, factor: Float) -> Float:
    """Posteriors under another prior."""
    out = proba * factor
    total = out.sum(axis=1, keepdims=True)
    return np.where(total > 0, out / np.where(total > 0, total, 1.0), proba)


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


def _missing(x: Float | SparseMatrix, present: Float, weights: Float | None) -> Float:
    """Weight of the missing cells of each column (D,); zero only for a column without missing cells."""
    if weights is None:
        return np.asarray(x.shape[0] - present, dtype=np.float64)
    if isinstance(x, np.ndarray):
        return np.asarray(weights @ np.isnan(x), dtype=np.float64)
    hole = np.repeat(weights, np.diff(x.indptr)) * np.isnan(np.asarray(x.data, dtype=np.float64))
    return np.bincount(x.indices, hole, minlength=x.shape[1]).astype(np.float64)


def _sparse_moments(x: SparseMatrix, weights: Float | None) -> Float:
    """Moments (5, D) of the columns of a sparse matrix.

    Sums of powers about zero are accurate, because most cells are zero, so a mean is small next to a deviation.
    """
    own = np.ones(x.shape[0]) if weights is None else weights
    w = np.repeat(own, np.diff(x.indptr))
    data = np.asarray(x.data, dtype=np.float64)
    hole = np.isnan(data)
    data = np.where(hole, 0.0, data)
    d = x.shape[1]
    n = own.sum() - np.bincount(x.indices, w * hole, minlength=d)
    safe = np.where(n > 0, n, 1.0)
    one, two, three, four = (np.bincount(x.indices, w * data**p, minlength=d) for p in (1, 2, 3, 4))
    mean = one / safe
    m2 = np.maximum(two - n * mean**2, 0.0)
    m3 = three - 3 * mean * two + 2 * n * mean**3
    m4 = np.maximum(four - 4 * mean * three + 6 * mean**2 * two - 3 * n * mean**4, 0.0)
    return np.array([n, mean, m2, m3, m4])
