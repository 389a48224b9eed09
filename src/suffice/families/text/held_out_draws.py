"""Documents as draws of words, multinomial or of the complement, scored without each document.

Without a document, only its own words and the sizes of the classes change. The score of a class that the document does
not belong to is therefore a sum over its words of a table of logarithms, which all documents share.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from suffice import kernels
from suffice.families.complement import equal_sums
from suffice.families.text.held_out_words import HeldOutWords
from suffice.families.text.parameters import COMPLEMENTS, TextSettings, document_weights
from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Codes, Float, Matrix
from suffice.statistics.subtraction import subtract_part

__all__ = ["BLOCK_CELLS", "Documents", "HeldOutDraws", "row_sums"]

BLOCK_CELLS = 1 << 22


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents, the used words without each, and the sums of all documents.

    Attributes
    ----------
    x : sparse array (CSR) of shape (n, V)
        Counts of words.
    words : HeldOutWords
    codes, weights : array of shape (n,)
    count, documents : array of shape (K, V)
        Counts of words, and of the documents that have them.
    present : array of shape (K,)
        Weight of the documents of each class.
    """

    x: Matrix
    words: HeldOutWords
    codes: Codes
    weights: Float
    count: Float
    documents: Float
    present: Float

    def blocks(self, most: int) -> Iterator[tuple[slice, slice]]:
        """Blocks of rows of at most so many cells, if a row has no more: the rows and their cells."""
        n, bounds = self.x.shape[0], self.x.indptr.astype(np.int64)
        start = 0
        while start < n:
            stop = max(start + 1, int(np.searchsorted(bounds, bounds[start] + most, side="right")) - 1)
            yield slice(start, stop), slice(int(bounds[start]), int(bounds[stop]))
            start = stop


@dataclass(frozen=True, eq=False)
class EveryWord:
    """Counts of all used words, to sum their logarithms over the words that a document does not have.

    Attributes
    ----------
    words : HeldOutWords
    place : array of shape (n,)
        Position of the cut of each document.
    above : Cells
        The words of each document that are above its cut, with value 1.
    counts : array of shape (K, V)
    """

    words: HeldOutWords
    place: Codes
    above: kernels.Cells
    counts: Float

    def other_log_sums(self, alpha: float) -> Float:
        """Σ log(count + α) over the used words that a document does not have (n, K)."""
        logs = np.log(self.counts + alpha)
        own = kernels.sparse_scores(self.above, np.zeros(len(logs)), np.ascontiguousarray(logs.T))
        return np.asarray(self.words.sums(logs)[:, self.place].T - own)


@dataclass(frozen=True, eq=False)
class HeldOutDraws:
    """A block of documents, and the counts of their words without each: what does not depend on smoothing.

    Attributes
    ----------
    here : slice
        Positions of the documents.
    cells : Cells
        The draws of each used word; its index is the row of the word in ``counts``.
    counts : array of shape (T, K)
        Counts of a word in the classes that the document does not belong to.
    own : array
        Count of each cell's word in the class of its document.
    codes : array of shape (n,)
    sizes : array of shape (n, K)
        Number of words of each class.
    words, length : array of shape (n,)
        Number of used words, and of those that the document draws.
    every : EveryWord or None
        Counts of all used words, if their weights are normalised.
    """

    here: slice
    cells: kernels.Cells
    counts: Float
    own: Float
    codes: Codes
    sizes: Float
    words: Codes
    length: Float
    every: EveryWord | None

    @classmethod
    def blocks(cls, family: TextSettings, data: Documents) -> Iterator[HeldOutDraws]:
        """The documents in blocks."""
        table = _Table.of(family, data)
        most = BLOCK_CELLS // (max(1, len(data.present)) if table.cells_differ(family) else 1)
        for here, cells in data.blocks(most):
            yield _of_block(family, data, table, here, cells)

    def scores(self, family: TextSettings, alpha: float) -> Float:
        """Relative log-likelihood of each document given all other documents (n, K), or NaN."""
        size = self.sizes + alpha * self.words[:, None]
        empty = (size <= 0).any(axis=1)
        size[size <= 0] = 1.0
        start, own = self.counts + alpha, self.own + alpha
        total = self._sums(self.cells.values)[:, None]
        if family.estimation == "bayes" and family.event == "multinomial":
            out = kernels.rising_scores(self.cells, start, own, self.codes) - log_rise(size, total)
        else:
            out = self._log_sums(self.cells, start, own) - total * np.log(size)
        if family.event in COMPLEMENTS:
            out = -out
            if self.every is not None:
                out *= equal_sums(self._weight_sums(self.every, start, own, np.log(size), alpha))
            empty |= ~np.isfinite(out).all(axis=1)
        out[empty] = np.nan  # without the document a class has no words and gets the shares of all documents
        out[self.length == 0] = 0.0
        return out

    def _log_sums(self, cells: kernels.Cells, start: Float, own: Float) -> Float:
        """Σ x log count of each document and class (n, K), with x the values of the cells."""
        never = start <= 0
        some = bool(never.any())
        logs = np.log(np.where(never, 1.0, start) if some else start)
        out = kernels.sparse_scores(cells, np.zeros(start.shape[1]), logs, never_more=never if some else None)
        with np.errstate(divide="ignore"):
            out[np.arange(len(out)), self.codes] = self._sums(cells.values * np.log(own))
        return out

    def _weight_sums(self, every: EveryWord, start: Float, own: Float, log_size: Float, alpha: float) -> Float:
        """Σ_j −log share of all used words in each class, without each document (n, K)."""
        once = self.cells._replace(values=np.ones(len(self.cells.values)))
        logs = every.other_log_sums(alpha) + self._log_sums(once, start, own)
        return np.asarray(self.words[:, None] * log_size - logs)

    def _sums(self, values: Float) -> Float:
        """Sums over the cells of each document (n,)."""
        return row_sums(self.cells.bounds, values)


def row_sums(bounds: Codes, values: Float) -> Float:
    """Sums of the values of the cells of each row.

    >>> row_sums(np.array([0, 2, 2, 3]), np.array([1.0, 2.0, 4.0]))
    array([3., 0., 4.])
    """
    n = len(bounds) - 1
    return np.bincount(np.repeat(np.arange(n), np.diff(bounds)), values, minlength=n).astype(np.float64)


@dataclass(frozen=True, eq=False)
class _Table:
    """Sums over all documents.

    Attributes
    ----------
    tally, everyone : array of shape (K, V) and (V,)
        Counts of each word, by class and of all documents.
    with_word : array of shape (V,)
        Weight of the documents that have each word.
    idf : array of shape (V,), or None
        Weight of each word.
    weighted, plain : array of shape (K, C)
        Counts of the words before each cut, with and without the weights of words.
    weight : float or None
        The weight of all documents; None if they differ.
    """

    tally: Float
    everyone: Float
    with_word: Float
    idf: Float | None
    weighted: Float
    plain: Float
    weight: float | None

    @classmethod
    def of(cls, family: TextSettings, data: Documents) -> _Table:
        tally = data.documents if family.binary else data.count
        with_word = data.documents.sum(axis=0)
        plain = data.words.sums(tally)
        idf, weighted = None, plain
        if family.idf:
            idf = document_weights(float(data.present.sum()), with_word)
            weighted = data.words.sums(idf * tally)
        same = bool((data.weights == data.weights[:1]).all())
        weight = float(data.weights[0]) if same and len(data.weights) else None
        return cls(tally, tally.sum(axis=0), with_word, idf, weighted, plain, weight)

    def cells_differ(self, family: TextSettings) -> bool:
        """Whether each word of a document has counts of its own in the classes that the document does not belong to.

        The complement loses what the document draws, and inverse document frequencies its weight.
        """
        outside = family.event in COMPLEMENTS
        if self.weight is None:
            return outside or family.idf
        return outside and family.weighting == "unit" and not family.binary

    def other_counts(self, n_documents: float) -> Float:
        """Weighted counts of each word outside each class, without a document that does not have the word (K, V)."""
        outside = self.everyone - self.tally
        if self.idf is None:
            return outside
        assert self.weight is not None
        return np.asarray((self.idf + np.log1p(n_documents - self.weight) - np.log1p(n_documents)) * outside)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Cells of a block of documents: row, word, draws, and the weight of the word without the document."""

    bounds: Codes
    row: Codes
    word: Codes
    drawn: Float
    idf: Float

    def taking(self, where: Codes) -> _Cells:
        """Some of the cells, by ascending positions."""
        bounds = np.searchsorted(where, self.bounds)
        return _Cells(bounds, self.row[where], self.word[where], self.drawn[where], self.idf[where])

    def sums(self, values: Float) -> Float:
        """Sums over the cells of each row."""
        return row_sums(self.bounds, values)


def _of_block(family: TextSettings, data: Documents, table: _Table, here: slice, cells: slice) -> HeldOutDraws:
    bounds = data.x.indptr[here.start : here.stop + 1].astype(np.int64)
    row, word = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds)), data.x.indices[cells].astype(np.int64)
    w, codes, n = data.weights[here], data.codes[here], float(data.present.sum())
    drawn = np.ones(len(word)) if family.binary else data.x.data[cells].astype(np.float64)
    idf = np.ones(len(word))
    if family.idf:
        idf = document_weights(n - w[row], subtract_part(table.with_word[word], w[row]))
    every = _Cells(bounds - bounds[0], row, word, drawn, idf)
    used = every.taking(np.flatnonzero(data.words.used[cells]))
    above = every.taking(np.flatnonzero(data.words.rank[word] < data.words.cut[here][row]))
    taken, length = w[used.row] * used.drawn, used.sums(used.drawn)
    draws = used.idf * used.drawn
    if family.length:
        total = table.plain.sum(axis=0)[data.words.place[here]] + used.sums(table.everyone[used.word] - taken)
        total -= above.sums(table.everyone[above.word])
        draws *= family.length_factor(length, total / np.where(n - w > 0, n - w, 1.0))[used.row]
    sizes = _sizes(family, data, table, here, used, above, taken)
    kind, counts, own = _counts(family, table, used, taken, codes)
    shape = len(bounds) - 1, len(counts)
    found = kernels.Cells(used.bounds, kind, draws, shape)
    others: EveryWord | None = None
    if family.event == "normalised_complement":
        others = EveryWord(
            data.words,
            data.words.place[here],
            kernels.Cells(above.bounds, above.word, np.ones(len(above.word)), (shape[0], data.x.shape[1])),
            table.other_counts(n),
        )
    return HeldOutDraws(here, found, counts, own, codes, sizes, data.words.size[here], length, others)


def _sizes(
    family: TextSettings, data: Documents, table: _Table, here: slice, used: _Cells, above: _Cells, taken: Float
) -> Float:
    """Number of words of each class without each document (n, K); with the complement, of all other classes."""
    w, codes, cut, n = data.weights[here], data.codes[here], data.words.place[here], float(data.present.sum())
    before, classes = table.weighted[:, cut].T, np.zeros(len(table.tally))
    by_word = np.ascontiguousarray(table.tally.T)
    shape = len(w), len(by_word)
    out = before + kernels.sparse_scores(kernels.Cells(used.bounds, used.word, used.idf, shape), classes, by_word)
    lost = np.ones(len(above.word))
    if table.idf is not None:
        # With one document less, all words have a slightly different inverse document frequency.
        shift = np.log1p(n - w) - np.log1p(n)
        out += shift[:, None] * table.plain[:, cut].T
        lost = table.idf[above.word] + shift[above.row]
    out -= kernels.sparse_scores(kernels.Cells(above.bounds, above.word, lost, shape), classes, by_word)
    out[np.arange(len(w)), codes] -= used.sums(used.idf * taken)
    if family.event in COMPLEMENTS:
        whole = out.sum(axis=1, keepdims=True)
        before, out = whole, whole - out
    return np.where(out <= 1e-12 * before, 0.0, out)


def _counts(
    family: TextSettings, table: _Table, used: _Cells, taken: Float, codes: Codes
) -> tuple[Codes, Float, Float]:
    """The kind of each cell, the weighted counts of each kind by class (T, K), and those of each cell's own class.

    Cells of a kind have the same counts in all classes that their document does not belong to.
    """
    outside = family.event in COMPLEMENTS
    mine = table.tally[codes[used.row], used.word]
    own = used.idf * (table.everyone[used.word] - mine if outside else subtract_part(mine, taken))
    if table.cells_differ(family):
        kind = first = np.arange(len(used.word))
    elif outside and not family.binary:
        values, value = np.unique(used.drawn, return_inverse=True)
        _, first, kind = np.unique(used.word * len(values) + value, return_index=True, return_inverse=True)
    else:
        at = np.full(len(table.everyone), -1, dtype=np.int64)
        at[used.word[::-1]] = np.arange(len(used.word))[::-1]  # the first cell of each word
        first = at[at >= 0]
        place = np.cumsum(at >= 0) - 1
        kind = place[used.word]
    counts = np.ascontiguousarray(table.tally[:, used.word[first]].T)
    if outside:
        counts = subtract_part(table.everyone[used.word[first], None] - counts, taken[first, None])
    return kind, counts * used.idf[first, None] if family.idf else counts, own
