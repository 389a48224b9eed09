"""Leave-one-out scores of documents in closed form: the words of the document lose counts, and so do the documents."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from suffice import kernels
from suffice.families.text.held_out_draws import BLOCK_CELLS, Documents, HeldOutDraws, row_sums
from suffice.families.text.held_out_words import HeldOutWords
from suffice.families.text.parameters import TextSettings
from suffice.numerics.types import Codes, Float, Mask, Matrix
from suffice.statistics import Membership, WordSums
from suffice.statistics.subtraction import subtract_part
from suffice.tables import WordRows
from suffice.tables.word_rows import some_columns

__all__ = ["leave_one_out_text"]


MOST_WEIGHTS = 64  # different document weights; each needs its own sums over absent words


@dataclass(eq=False)
class _Prepared:
    """Values that tuning needs several times for the same documents, because they do not depend on smoothing.

    Attributes
    ----------
    statistic : weak reference to the statistic of all documents
    weights : array of shape (n,)
    x : sparse array (CSR)
        Counts of the words that occur.
    count, documents : array of shape (K, V)
        Counts of those words, and of the documents that have them.
    words : dict
        For each number of words, those that are used without each document.
    draws : tuple
        The settings of the last draws, and the draws.
    """

    statistic: weakref.ref[WordSums]
    weights: Float
    x: Matrix
    count: Float
    documents: Float
    words: dict[int | None, HeldOutWords] = field(default_factory=dict)
    draws: tuple[tuple[object, ...], list[HeldOutDraws]] | None = None


_CACHE: weakref.WeakKeyDictionary[WordRows, _Prepared] = weakref.WeakKeyDictionary()


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
    prepared = _prepared(statistic, rows, weights)
    words = prepared.words.get(family.max_words)
    if words is None:
        count, documents = prepared.count.sum(axis=0), prepared.documents.sum(axis=0)
        words = HeldOutWords.of(prepared.x, weights, count, documents, family.max_words)
        prepared.words[family.max_words] = words
    codes, alpha = np.asarray(members.codes), 0.0 if family.estimation == "mle" else float(family.smoothing)
    data = Documents(prepared.x, words, codes, weights, prepared.count, prepared.documents, statistic.weight)
    if family.event == "bernoulli":
        out = _bernoulli(data, alpha)
        if out is not None:
            out[rows.missing] = 0.0
            if family.weighting == "unit":
                out[row_sums(prepared.x.indptr, words.used.astype(np.float64)) == 0] = 0.0
        return out
    if family.event == "normalised_complement" and family.idf and len(np.unique(weights)) > 1:
        return None  # the weights of all words depend on the weight of the document
    out = np.empty((len(codes), len(prepared.count)))
    for block in _draws(family, data, prepared):
        out[block.here] = block.scores(family, alpha)
    return out


def _prepared(statistic: WordSums, rows: WordRows, weights: Float) -> _Prepared:
    """Counts of the words that occur; the last result is cached."""
    known = _CACHE.get(rows)
    if known is not None and known.statistic() is statistic and np.array_equal(known.weights, weights):
        return known
    x, count, documents = rows.on(statistic.vocabulary), statistic.count, statistic.documents
    held = np.flatnonzero(count.any(axis=0))
    if len(held) < len(statistic.vocabulary):
        where = np.full(len(statistic.vocabulary), -1, dtype=np.int64)
        where[held] = np.arange(len(held))
        x, count, documents = some_columns(x, where, len(held)), count[:, held], documents[:, held]
    _CACHE[rows] = _Prepared(weakref.ref(statistic), weights, x, count, documents)
    return _CACHE[rows]


def _draws(family: TextSettings, data: Documents, prepared: _Prepared) -> Iterator[HeldOutDraws]:
    """Blocks of documents as draws of words; kept for the next call if they are one block."""
    settings = family.event, family.binary, family.idf, family.length, family.max_words, data.codes.tobytes()
    if prepared.draws is not None and prepared.draws[0] == settings:
        yield from prepared.draws[1]
        return
    prepared.draws = None
    blocks = HeldOutDraws.blocks(family, data)
    first = next(blocks, None)
    if first is None:
        return
    if first.here.stop == len(data.codes):
        prepared.draws = settings, [first]
    yield first
    yield from blocks


# ---------------------------------------------------------------------- Bernoulli


@dataclass(frozen=True, eq=False)
class _Cells:
    """Words of a block of documents: row, word, whether the word is used, and whether it is above the cut."""

    here: slice
    rows: Codes
    bounds: Codes
    columns: Codes
    used: Mask
    above: Mask

    def sums(self, values: Mask, table: Float) -> Float:
        """Sums over the words of each row where ``values`` is true, by class (n, K); the table is (K, V)."""
        shape = len(self.bounds) - 1, table.shape[1]
        cells = kernels.Cells(self.bounds, self.columns, values.astype(np.float64), shape)
        return kernels.sparse_scores(cells, np.zeros(len(table)), np.ascontiguousarray(table.T))

    def own_sums(self, values: Mask, table: Float, codes: Codes) -> Float:
        """The same for the class of each row only (n,)."""
        some = np.where(values, table[codes[self.rows], self.columns], 0.0)
        return np.bincount(self.rows, some, minlength=len(codes)).astype(np.float64)


def _cells(data: Documents) -> Iterator[_Cells]:
    for here, cells in data.blocks(BLOCK_CELLS):
        bounds = data.x.indptr[here.start : here.stop + 1].astype(np.int64)
        rows = np.repeat(np.arange(here.stop - here.start), np.diff(bounds))
        columns = data.x.indices[cells].astype(np.int64)
        above = data.words.rank[columns] < data.words.cut[here][rows]
        yield _Cells(here, rows, bounds - bounds[0], columns, data.words.used[cells], above)


def _bernoulli(data: Documents, a: float) -> Float | None:
    """Scores of Bernoulli words; None if there are too many weights, or a class has no documents."""
    n, d = data.present, data.documents
    different = np.unique(data.weights)
    if len(different) > MOST_WEIGHTS or (n + 2 * a <= 0).any():
        return None
    out = np.empty((len(data.codes), len(n)))
    with np.errstate(divide="ignore"):
        yes, no = (np.log(each + a) - np.log(n + 2 * a)[:, None] for each in (d, subtract_part(n[:, None], d)))
    absent = _Absent.of(no, data.words)
    for cells in _cells(data):
        cut = data.words.place[cells.here]
        scores = absent.sums[:, cut].T + cells.sums(cells.used, np.where(np.isneginf(yes), 0.0, yes))
        scores -= cells.sums(cells.above, absent.finite)
        if np.isneginf(yes).any():
            scores[cells.sums(cells.used, np.isneginf(yes).astype(np.float64)) > 0.5] = -np.inf
        if absent.never.any():
            lacking = absent.counts[:, cut].T - cells.sums(cells.above, absent.never.astype(np.float64))
            scores[lacking > 0.5] = -np.inf
        out[cells.here] = scores
    for w in different.tolist():
        _replace_own(data, a, w, out)
    return out


def _replace_own(data: Documents, a: float, w: float, out: Float) -> None:
    """Score documents of weight w in their own class by the class without them."""
    n, d = data.present, data.documents
    rest = np.where(n - w > 1e-12 * n, n - w, 0.0)
    possible = rest + 2 * a > 0
    size = np.log(np.where(possible, rest + 2 * a, 1.0))[:, None]
    with np.errstate(divide="ignore"):
        yes = np.log(subtract_part(d, np.full_like(d, w)) + a) - size
        no = np.log(subtract_part(np.broadcast_to(rest[:, None], d.shape), d) + a) - size
    absent = _Absent.of(no, data.words)
    for cells in _cells(data):
        codes, cut = data.codes[cells.here], data.words.place[cells.here]
        with np.errstate(invalid="ignore"):
            scores = absent.sums[codes, cut] + cells.own_sums(cells.used, yes, codes)
        scores -= cells.own_sums(cells.above, absent.finite, codes)
        lacking = absent.counts[codes, cut] - cells.own_sums(cells.above, absent.never.astype(np.float64), codes)
        scores[lacking > 0.5] = -np.inf
        here = np.flatnonzero(data.weights[cells.here] == w)
        own = codes[here]
        block = out[cells.here]
        block[here, own] = scores[here]
        block[here[~possible[own]]] = np.nan  # without the document the class gets the probabilities of all documents


@dataclass(frozen=True, eq=False)
class _Absent:
    """Logarithms of the probability that a word is absent (K, V): where it is zero, and sums of the rest by cut."""

    never: Mask
    finite: Float
    sums: Float
    counts: Float

    @classmethod
    def of(cls, no: Float, words: HeldOutWords) -> _Absent:
        never = np.isneginf(no)
        finite = np.where(never, 0.0, no)
        sums = words.sums(finite)
        counts = words.sums(never.astype(np.float64)) if never.any() else np.zeros_like(sums)
        return cls(never, finite, sums, counts)
