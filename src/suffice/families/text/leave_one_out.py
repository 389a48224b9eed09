"""Scores of each document by all the others, in closed form: its words are counted less, and so is the document."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.families.text.held_out_words import LeftOutWords
from suffice.families.text.parameters import document_weights
from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Codes, Float, Mask, Matrix
from suffice.statistics import Membership, WordSums
from suffice.statistics.subtraction import subtract_part
from suffice.tables import WordRows
from suffice.tables.word_rows import some_columns

__all__ = ["left_out_text"]


BLOCK_CELLS = 1 << 20
# Which words are used does not depend on smoothing, nor on weights of words and documents: tuning asks for it again.
_KEPT: weakref.WeakKeyDictionary[WordRows, tuple[weakref.ref[WordSums], int | None, Float, Any, LeftOutWords]] = (
    weakref.WeakKeyDictionary()
)
MOST_WEIGHTS = 64  # different ones, for each of which the words that a document has not are summed


def left_out_text(family: Any, statistic: WordSums, rows: WordRows, members: Membership) -> Float | None:
    """The relative log-likelihood of each document given the others (n, K); NaN where it has no closed form.

    Parameters
    ----------
    family : Text
    rows : WordRows
        The documents, each of which is in the statistic with its code and a weight above zero.
    """
    assert members.codes is not None
    weights = np.ones(len(rows)) if members.weights is None else members.weights
    held = np.flatnonzero(statistic.count.any(axis=0))
    count, documents = statistic.count[:, held], statistic.documents[:, held]
    alpha = 0.0 if family.estimation == "mle" else float(family.smoothing)
    x, words = _words_used(statistic, rows, weights, held, family.max_words)
    each = _Left(x, words, np.asarray(members.codes), weights, count, documents, statistic.weight, alpha)
    if family.event == "bernoulli":
        out = _bernoulli(each)
        if out is not None:
            out[rows.missing] = 0.0
        return out
    return _drawn(family, each)


def _words_used(
    statistic: WordSums, rows: WordRows, weights: Float, held: Codes, most: int | None
) -> tuple[Any, LeftOutWords]:
    """The rows of the words that there are, and those that are used without each; the last ones are kept."""
    kept = _KEPT.get(rows)
    if kept is not None and kept[0]() is statistic and kept[1] == most and np.array_equal(kept[2], weights):
        return kept[3], kept[4]
    x = rows.on(statistic.vocabulary)
    if len(held) < len(statistic.vocabulary):
        where = np.full(len(statistic.vocabulary), -1, dtype=np.int64)
        where[held] = np.arange(len(held))
        x = some_columns(x, where, len(held))
    count, documents = (each[:, held].sum(axis=0) for each in (statistic.count, statistic.documents))
    words = LeftOutWords.of(x, weights, count, documents, most)
    _KEPT[rows] = weakref.ref(statistic), most, weights, x, words
    return x, words


@dataclass(frozen=True, eq=False)
class _Left:
    """Documents, the words that are used without each, and the sums of all."""

    x: Matrix
    words: LeftOutWords
    codes: Codes
    weights: Float
    count: Float
    documents: Float
    present: Float
    alpha: float

    def blocks(self) -> Iterator[_Block]:
        """Cells of some rows after others."""
        n, bounds = self.x.shape[0], self.x.indptr.astype(np.int64)
        start = 0
        while start < n:
            stop = max(start + 1, int(np.searchsorted(bounds, bounds[start] + BLOCK_CELLS, side="right")) - 1)
            cells = slice(int(bounds[start]), int(bounds[stop]))
            rows = np.repeat(np.arange(stop - start), np.diff(bounds[start : stop + 1]))
            columns = self.x.indices[cells].astype(np.int64)
            here = slice(start, stop)
            above = self.words.rank[columns] < self.words.cut[here][rows]
            yield _Block(here, rows, columns, self.x.data[cells], self.words.used[cells], above)
            start = stop


@dataclass(frozen=True, eq=False)
class _Block:
    """Cells of some rows: row, word, count, whether the word is used, and whether it is above the cut."""

    here: slice
    rows: Codes
    columns: Codes
    values: Float
    used: Mask
    above: Mask

    def sums(self, each: Float) -> Float:
        """Sums over the cells of each row (n,)."""
        return np.bincount(self.rows, each, minlength=self.here.stop - self.here.start).astype(np.float64)


def cumulated(values: Float, order: Codes) -> Float:
    """Sums of the first 0, 1, 2, … values in an order, along the last axis.

    >>> cumulated(np.array([1.0, 2.0, 4.0]), np.array([2, 0, 1]))
    array([0., 4., 5., 7.])
    """
    out = np.zeros((*values.shape[:-1], len(order) + 1))
    np.cumsum(values[..., order], axis=-1, out=out[..., 1:])
    return out


# ---------------------------------------------------------------------- words that are drawn


def _drawn(family: Any, left: _Left) -> Float:
    """Of multinomial words, and of their complement."""
    tally = left.documents if family.binary else left.count
    n = float(left.present.sum())
    idf = document_weights(n, left.documents.sum(axis=0)) if family.idf else np.ones(tally.shape[1])
    weighted, plain = (cumulated(each, left.words.order) for each in (idf * tally, tally))
    out = np.empty((len(left.codes), len(tally)))
    for block in left.blocks():
        out[block.here] = _drawn_block(family, left, block, tally, idf, (weighted, plain))
    return out


def _drawn_block(
    family: Any, left: _Left, block: _Block, tally: Float, idf: Float, totals: tuple[Float, Float]
) -> Float:
    here, row, j, used = block.here, block.rows, block.columns, block.used
    w, codes, cut = left.weights[here], left.codes[here], left.words.cut[here]
    weighted, plain = totals
    n = float(left.present.sum())
    drawn = np.ones_like(block.values) if family.binary else block.values
    taken = w[row] * drawn
    everyone = tally.sum(axis=0)
    length = block.sums(np.where(used, drawn, 0.0))
    # All words are met a little more often when there is a document less; those of the document more so.
    shift = np.log1p(n - w) - np.log1p(n) if family.idf else np.zeros(len(w))
    own_idf = np.ones(len(j))
    if family.idf:
        own_idf = document_weights(n - w[row], subtract_part(left.documents.sum(axis=0)[j], w[row]))
    draws = np.where(used, own_idf * drawn, 0.0)
    if family.length:
        rest = np.where(used, everyone[j] - taken, 0.0) - np.where(block.above, everyone[j], 0.0)
        total = plain.sum(axis=0)[cut] + block.sums(rest)
        mean = total / np.where(n - w > 0, n - w, 1.0)
        draws = draws * family.length_factor(length, mean)[row]
    sizes = np.empty((len(tally), len(w)))
    for k, each in enumerate(tally):
        mine = np.where(codes[row] == k, taken, 0.0)
        cells = np.where(used, own_idf * (each[j] - mine), 0.0)
        cells -= np.where(block.above, (idf[j] + shift[row]) * each[j], 0.0)
        sizes[k] = weighted[k, cut] + shift * plain[k, cut] + block.sums(cells)
    prior = left.alpha * left.words.size[here]
    out = np.empty((len(w), len(tally)))
    empty = np.zeros(len(w), dtype=bool)
    whole = sizes.sum(axis=0)
    for k, each in enumerate(tally):
        if family.event == "complement":
            mine = np.where(codes[row] == k, 0.0, taken)
            counts, size, before = subtract_part(everyone[j] - each[j], mine), whole - sizes[k], whole
        else:
            mine = np.where(codes[row] == k, taken, 0.0)
            counts, size, before = subtract_part(each[j], mine), sizes[k], weighted[k, cut]
        size = np.where(size <= 1e-12 * before, 0.0, size) + prior
        empty |= size <= 0
        out[:, k] = _scored(family, block, draws, own_idf * counts + left.alpha, np.where(size > 0, size, 1.0))
    if family.event == "complement":
        out = -out
        empty |= ~np.isfinite(out).all(axis=1)
    out[empty] = np.nan  # without the document a class has no word, and takes the shares of all documents
    out[length == 0] = 0.0
    return out


def _scored(family: Any, block: _Block, draws: Float, counts: Float, size: Float) -> Float:
    """Σ x log of the shares, or the Dirichlet-multinomial of the draws (n,)."""
    known = draws > 0
    possible = np.where(counts > 0, counts, 1.0)
    total = block.sums(draws)
    if family.estimation == "bayes":
        each, norm = log_rise(possible, draws), log_rise(size, total)
    else:
        each, norm = draws * np.log(possible), total * np.log(size)
    each = np.where(counts > 0, each, -np.inf)
    return np.asarray(block.sums(np.where(known, each, 0.0)) - norm)


# ---------------------------------------------------------------------- words that are there or not


def _bernoulli(left: _Left) -> Float | None:
    a, n, d = left.alpha, left.present, left.documents
    different = np.unique(left.weights)
    if len(different) > MOST_WEIGHTS or (n + 2 * a <= 0).any():
        return None
    out = np.empty((len(left.codes), len(n)))
    order, cut = left.words.order, left.words.cut
    with np.errstate(divide="ignore"):
        yes, no = (np.log(each + a) - np.log(n + 2 * a)[:, None] for each in (d, subtract_part(n[:, None], d)))
    for block in left.blocks():
        out[block.here] = _there(block, yes, no, order, cut[block.here])
    for w in different.tolist():
        for k in range(len(n)):
            here = (left.codes == k) & (left.weights == w)
            if not here.any():
                continue
            rest = n[k] - w if n[k] - w > 1e-12 * n[k] else 0.0
            if rest + 2 * a <= 0:
                out[here] = np.nan  # without the document the class takes the chances of all documents
                continue
            with np.errstate(divide="ignore"):
                less = np.log(subtract_part(d[k], np.full_like(d[k], w)) + a) - np.log(rest + 2 * a)
                none = np.log(subtract_part(np.full_like(d[k], rest), d[k]) + a) - np.log(rest + 2 * a)
            for block in left.blocks():
                some = here[block.here]
                if some.any():
                    found = _there(block, less[None], none[None], order, cut[block.here])[:, 0]
                    out[block.here, k] = np.where(some, found, out[block.here, k])
    return out


def _there(block: _Block, yes: Float, no: Float, order: Codes, cut: Codes) -> Float:
    """Σ log φ of the words that are there, and log(1 − φ) of those that are not, of each row and class (n, K)."""
    never = np.isneginf(no)
    finite = np.where(never, 0.0, no)
    sums, counts = cumulated(finite, order), cumulated(never.astype(np.float64), order)
    out = np.empty((len(cut), len(yes)))
    j = block.columns
    for k in range(len(yes)):
        with_word = np.where(block.used, yes[k, j], 0.0)
        out[:, k] = sums[k, cut] + block.sums(with_word - np.where(block.above, finite[k, j], 0.0))
        lacking = counts[k, cut] - block.sums(np.where(block.above, never[k, j], 0.0))
        out[lacking > 0.5, k] = -np.inf
    return out
