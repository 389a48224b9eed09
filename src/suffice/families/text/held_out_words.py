"""The words that a model uses without one document: the document's own words lose counts and may fall below others.

Words are ranked by their counts. Without a document, its own words may fall to lower ranks. All other words keep their
order, so those of them that are used are exactly the ones up to some rank. A sum over the used words is then a
cumulative sum up to that rank, corrected for the few words of the document.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.numerics.rounded_sums import rounded_sums
from suffice.numerics.types import Codes, Float, Mask, Matrix
from suffice.statistics.subtraction import subtract_part
from suffice.tables.sparse_cells import cell_rows

__all__ = ["HeldOutWords"]


@dataclass(frozen=True, eq=False)
class HeldOutWords:
    """The words that a model uses without each document.

    Attributes
    ----------
    order : array of shape (V,)
        All words, the most frequent first.
    rank : array of shape (V,)
        Position of each word in that order.
    cut : array of shape (n,)
        Words that the document does not have are used without it if their rank is below this.
    used : array of bool of shape (nnz,)
        Whether the word of each stored cell is used without the document of the cell.
    size : array of shape (n,)
        Number of used words.
    """

    order: Codes
    rank: Codes
    cut: Codes
    used: Mask
    size: Codes

    @cached_property
    def cuts(self) -> Codes:
        """The different cuts, ascending."""
        return np.unique(self.cut)

    @cached_property
    def place(self) -> Codes:
        """Position of each document's cut among the `cuts` (n,)."""
        return np.searchsorted(self.cuts, self.cut)

    def sums(self, values: Float) -> Float:
        """Sums of values (K, V) over the words of rank below each of the `cuts` (K, C)."""
        if len(self.cuts) == 1 and self.cuts[0] == values.shape[1]:
            return np.asarray(values.sum(axis=1, keepdims=True))
        ranked = values[:, self.order[: self.cuts[-1] if len(self.cuts) else 0]]
        parts = [ranked[:, a:b].sum(axis=1) for a, b in zip([0, *self.cuts[:-1]], self.cuts, strict=True)]
        return np.asarray(np.cumsum(np.array(parts).reshape(len(parts), len(values)).T, axis=1))

    @classmethod
    def of(cls, x: Matrix, weights: Float, count: Float, documents: Float, most: int | None) -> HeldOutWords:
        """From counts x (n, V) of documents with weights, and the counts of all documents together (V,).

        >>> from scipy.sparse import csr_array
        >>> x = csr_array(np.array([[2.0, 0.0, 0.0], [1.0, 2.0, 1.0], [0.0, 0.0, 1.0]]))
        >>> words = HeldOutWords.of(x, np.ones(3), np.array([3.0, 2.0, 2.0]), np.array([2.0, 1.0, 2.0]), 2)
        >>> words.used, words.size
        (array([False,  True, False,  True, False]), array([2, 2, 2]))
        """
        (n, v), columns = x.shape, x.indices.astype(np.int64)
        total = rounded_sums(count)
        order = np.lexsort((np.arange(v), -total))
        rank = np.empty(v, dtype=np.int64)
        rank[order] = np.arange(v)
        rows = cell_rows(x)
        w = weights[rows]
        used = subtract_part(documents[columns], w) > 0
        dropped = np.bincount(rows, ~used, minlength=n).astype(np.int64)
        if most is None or v <= most:
            return cls(order, rank, np.full(n, v), used, v - dropped)
        cut, size = np.full(n, most), np.minimum(v - dropped, most)
        left = rounded_sums(subtract_part(count[columns], w * x.data))
        before = rank[columns] < most
        # A word that keeps more than the most frequent unused word stays in use.
        doubtful = np.zeros(n, dtype=bool)
        doubtful[rows[before & ~(left > total[order[most]])]] = True
        used &= before
        some = np.flatnonzero(doubtful[rows])
        if len(some):
            here = _Cells(rows[some], columns[some], left[some], used=left[some] > 0)
            used[some], at = here.chosen(order, rank, total, size)
            cut[doubtful] = at[doubtful]
        return cls(order, rank, cut, used, size)


@dataclass(frozen=True, eq=False)
class _Cells:
    """Words of some documents, with their counts without the document."""

    rows: Codes
    columns: Codes
    left: Float
    used: Mask

    def chosen(self, order: Codes, rank: Codes, count: Float, size: Codes) -> tuple[Mask, Codes]:
        """Whether each word is used, and the cut of each document (n,)."""
        v, n = len(order), len(size)
        starts = np.searchsorted(self.rows, np.arange(n))
        # Sorted by row and old rank, to count how many of a document's own words are above a rank.
        old = np.sort(self.rows * (v + 1) + rank[self.columns])
        above = _ranks(-count[order], order, -self.left, self.columns)
        own = np.searchsorted(old, self.rows * (v + 1) + above) - starts[self.rows]
        by_new = np.lexsort((self.columns, -self.left, self.rows))
        among = np.empty(len(by_new), dtype=np.int64)
        among[by_new] = np.arange(len(by_new)) - starts[self.rows[by_new]]
        used = self.used & (above - own + among < size[self.rows])
        others = size - np.bincount(self.rows, used, minlength=n).astype(np.int64)
        # A word of the document lies above the cut if fewer other words are above it than are used.
        row, place = np.divmod(old, v + 1)
        higher = place - (np.arange(len(old)) - starts[row]) < others[row]
        return used, others + np.bincount(row, higher, minlength=n).astype(np.int64)


def _ranks(keys: Float, ties: Codes, key: Float, tie: Codes) -> Codes:
    """Number of the sorted pairs ``(keys, ties)`` that come before each pair ``(key, tie)``."""
    group = np.cumsum(np.diff(keys, prepend=keys[:1]) > 0)
    width = len(keys) + 1
    first, last = np.searchsorted(keys, key, "left"), np.searchsorted(keys, key, "right")
    equal = first < last
    among = group[np.minimum(first, len(keys) - 1)] * width + tie
    return np.where(equal, np.searchsorted(group * width + ties, among), first)
