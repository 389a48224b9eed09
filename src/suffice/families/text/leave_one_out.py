"""Leave-one-out scores of documents in closed form: the words of the document lose counts, and so do the documents."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from suffice.families.text.held_out_words import HeldOutWords
from suffice.families.text.parameters import TextSettings, document_weights
from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Codes, Float, Mask, Matrix
from suffice.statistics import Membership, WordSums
from suffice.statistics.subtraction import subtract_part
from suffice.tables import WordRows
from suffice.tables.word_rows import some_columns

__all__ = ["leave_one_out_text"]


BLOCK_CELLS = 1 << 20
# The used words do not depend on smoothing or on weights of words and lengths, so tuning reuses them.
_CACHE: weakref.WeakKeyDictionary[WordRows, tuple[weakref.ref[WordSums], int | None, Float, Matrix, HeldOutWords]] = (
    weakref.WeakKeyDictionary()
)
MOST_WEIGHTS = 64  # different document weights; each needs its own sums over absent words


def leave_one_out_text(family: TextSettings, statistic: WordSums, rows: WordRows, members: Membership) -> Float | None:
    """Relative log-likelihood of each document given all other documents (n, K); NaN if it has no closed form.

    Parameters
    ----------
    family : Text
    rows : WordRows
        The documents. Each is in the statistic, with its class code and a weight above zero.
    """
    assert members.codes is not None
    weights = np.ones(len(rows)) if members.weights is None else members.weights
    held = np.flatnonzero(statistic.count.any(axis=0))
    count, documents = statistic.count[:, held], statistic.documents[:, held]
    alpha = 0.0 if family.estimation == "mle" else float(family.smoothing)
    x, words = _words_used(statistic, rows, weights, held, family.max_words)
    each = _Documents(x, words, np.asarray(members.codes), weights, count, documents, statistic.weight, alpha)
    if family.event == "bernoulli":
        out = _bernoulli(each)
        if out is not None:
            out[rows.missing] = 0.0
        return out
    return _drawn(family, each)


def _words_used(
    statistic: WordSums, rows: WordRows, weights: Float, held: Codes, most: int | None
) -> tuple[Matrix, HeldOutWords]:
    """Counts of the words that occur, and the used words without each document; the last result is cached."""
    cached = _CACHE.get(rows)
    if cached is not None and cached[0]() is statistic and cached[1] == most and np.array_equal(cached[2], weights):
        return cached[3], cached[4]
    x = rows.on(statistic.vocabulary)
    if len(held) < len(statistic.vocabulary):
        where = np.full(len(statistic.vocabulary), -1, dtype=np.int64)
        where[held] = np.arange(len(held))
        x = some_columns(x, where, len(held))
    count, documents = (each[:, held].sum(axis=0) for each in (statistic.count, statistic.documents))
    words = HeldOutWords.of(x, weights, count, documents, most)
    _CACHE[rows] = weakref.ref(statistic), most, weights, x, words
    return x, words


@dataclass(frozen=True, eq=False)
class _Documents:
    """Documents, the used words without each, and the sums of all documents."""

    x: Matrix
    words: HeldOutWords
    codes: Codes
    weights: Float
    count: Float
    documents: Float
    present: Float
    alpha: float

    def blocks(self) -> Iterator[_Block]:
        """Blocks of rows with their cells."""
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
    """Cells of a block of rows: row, word, count, whether the word is used, and whether it is above the cut."""

    here: slice
    rows: Codes
    columns: Codes
    values: Float
    used: Mask
    above: Mask

    def sums(self, each: Float) -> Float:
        """Sums over the cells of each row (n,)."""
        return np.bincount(self.rows, each, minlength=self.here.stop - self.here.start).astype(np.float64)


def cumulative_sums(values: Float, order: Codes) -> Float:
    """Sums of the first 0, 1, 2, … values in an order, along the last axis.

    >>> cumulative_sums(np.array([1.0, 2.0, 4.0]), np.array([2, 0, 1]))
    array([0., 4., 5., 7.])
    """
    out = np.zeros((*values.shape[:-1], len(order) + 1))
    np.cumsum(values[..., order], axis=-1, out=out[..., 1:])
    return out


# ---------------------------------------------------------------------- multinomial and complement


def _drawn(family: TextSettings, data: _Documents) -> Float:
    """Scores of multinomial words, and of their complement."""
    tally = data.documents if family.binary else data.count
    n = float(data.present.sum())
    idf = document_weights(n, data.documents.sum(axis=0)) if family.idf else np.ones(tally.shape[1])
    weighted, plain = (cumulative_sums(each, data.words.order) for each in (idf * tally, tally))
    out = np.empty((len(data.codes), len(tally)))
    for block in data.blocks():
        out[block.here] = _drawn_block(family, data, block, tally, idf, (weighted, plain))
    return out


def _drawn_block(
    family: TextSettings, data: _Documents, block: _Block, tally: Float, idf: Float, totals: tuple[Float, Float]
) -> Float:
    here, row, j, used = block.here, block.rows, block.columns, block.used
    w, codes, cut = data.weights[here], data.codes[here], data.words.cut[here]
    weighted, plain = totals
    n = float(data.present.sum())
    drawn = np.ones_like(block.values) if family.binary else block.values
    taken = w[row] * drawn
    everyone = tally.sum(axis=0)
    length = block.sums(np.where(used, drawn, 0.0))
    # With one document less, all words have a slightly different inverse document frequency.
    shift = np.log1p(n - w) - np.log1p(n) if family.idf else np.zeros(len(w))
    own_idf = np.ones(len(j))
    if family.idf:
        own_idf = document_weights(n - w[row], subtract_part(data.documents.sum(axis=0)[j], w[row]))
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
    prior = data.alpha * data.words.size[here]
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
        out[:, k] = _scored(family, block, draws, own_idf * counts + data.alpha, np.where(size > 0, size, 1.0))
    if family.event == "complement":
        out = -out
        empty |= ~np.isfinite(out).all(axis=1)
    out[empty] = np.nan  # without the document a class has no words and gets the shares of all documents
    out[length == 0] = 0.0
    return out


def _scored(family: TextSettings, block: _Block, draws: Float, counts: Float, size: Float) -> Float:
    """Σ x log share of each row, or the Dirichlet-multinomial log-probability of its draws (n,)."""
    known = draws > 0
    possible = np.where(counts > 0, counts, 1.0)
    total = block.sums(draws)
    if family.estimation == "bayes":
        each, norm = log_rise(possible, draws), log_rise(size, total)
    else:
        each, norm = draws * np.log(possible), total * np.log(size)
    each = np.where(counts > 0, each, -np.inf)
    return np.asarray(block.sums(np.where(known, each, 0.0)) - norm)


# ---------------------------------------------------------------------- Bernoulli


def _bernoulli(data: _Documents) -> Float | None:
    """Scores of Bernoulli words; None if there are too many weights, or a class has no documents."""
    a, n, d = data.alpha, data.present, data.documents
    different = np.unique(data.weights)
    if len(different) > MOST_WEIGHTS or (n + 2 * a <= 0).any():
        return None
    out = np.empty((len(data.codes), len(n)))
    order, cut = data.words.order, data.words.cut
    with np.errstate(divide="ignore"):
        yes, no = (np.log(each + a) - np.log(n + 2 * a)[:, None] for each in (d, subtract_part(n[:, None], d)))
    for block in data.blocks():
        out[block.here] = _presence_scores(block, yes, no, order, cut[block.here])
    for w in different.tolist():
        for k in range(len(n)):
            here = (data.codes == k) & (data.weights == w)
            if not here.any():
                continue
            rest = n[k] - w if n[k] - w > 1e-12 * n[k] else 0.0
            if rest + 2 * a <= 0:
                out[here] = np.nan  # without the document the class gets the probabilities of all documents
                continue
            with np.errstate(divide="ignore"):
                less = np.log(subtract_part(d[k], np.full_like(d[k], w)) + a) - np.log(rest + 2 * a)
                none = np.log(subtract_part(np.full_like(d[k], rest), d[k]) + a) - np.log(rest + 2 * a)
            for block in data.blocks():
                some = here[block.here]
                if some.any():
                    scores = _presence_scores(block, less[None], none[None], order, cut[block.here])[:, 0]
                    out[block.here, k] = np.where(some, scores, out[block.here, k])
    return out


def _presence_scores(block: _Block, yes: Float, no: Float, order: Codes, cut: Codes) -> Float:
    """Σ log φ over present words plus Σ log(1 − φ) over absent words, of each row and class (n, K)."""
    never = np.isneginf(no)
    finite = np.where(never, 0.0, no)
    sums, counts = cumulative_sums(finite, order), cumulative_sums(never.astype(np.float64), order)
    out = np.empty((len(cut), len(yes)))
    j = block.columns
    for k in range(len(yes)):
        with_word = np.where(block.used, yes[k, j], 0.0)
        out[:, k] = sums[k, cut] + block.sums(with_word - np.where(block.above, finite[k, j], 0.0))
        lacking = counts[k, cut] - block.sums(np.where(block.above, never[k, j], 0.0))
        out[lacking > 0.5, k] = -np.inf
    return out
