"""How often each word is there, in how many documents: what a vocabulary is chosen by."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.kernels.text import Documents, Encoded, Reading, Words, count_words, join_words

__all__ = ["Chosen", "Lost", "WordTotals", "chosen_words"]

Counts = NDArray[np.int64]
BLOCK = 1 << 22  # entries of a matrix at a time


@dataclass(frozen=True, eq=False)
class WordTotals:
    """How often each word is there, and in how many documents. It adds.

    Parameters
    ----------
    words : Words
    count, documents : array of shape (V,)
        Occurrences of each word, and documents that have it.
    n_documents, n_missing : int
        Documents that were read, and that were not there.

    Examples
    --------
    >>> def totals(*texts):
    ...     return WordTotals.of(Documents.of_strings(texts), Reading())
    >>> both = totals("to be or not to be").merge(totals("to do", None))
    >>> both.words.texts(), both.count, both.documents
    (['be', 'do', 'not', 'or', 'to'], array([2, 1, 1, 1, 3]), array([1, 1, 1, 1, 2]))
    >>> both.n_documents, both.n_missing
    (2, 1)
    """

    words: Words
    count: Counts
    documents: Counts
    n_documents: int
    n_missing: int

    @classmethod
    def zero(cls) -> WordTotals:
        """Those of no documents."""
        return cls(Words.of([]), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0, 0)

    @classmethod
    def of(cls, documents: Documents, reading: Reading) -> WordTotals:
        """Those of some documents."""
        found = count_words(documents, reading, np.zeros(len(documents), dtype=np.int64), 1)
        assert found.words is not None
        sums, having = (np.asarray(each[0]).astype(np.int64) for each in (found.count, found.documents))
        missing = int(np.count_nonzero(documents.missing))
        return cls(found.words, sums, having, len(documents) - missing, missing)

    @classmethod
    def of_encoded(cls, words: Words, found: Encoded, n_missing: int) -> WordTotals:
        """Those of documents that are rows of a sparse matrix already."""
        count = np.zeros(words.size, dtype=np.int64)
        documents = np.zeros(words.size, dtype=np.int64)
        for start in range(0, len(found.columns), BLOCK):  # NumPy copies what it counts
            here = slice(start, start + BLOCK)
            count += np.bincount(found.columns[here], found.counts[here], minlength=words.size).astype(np.int64)
            documents += np.bincount(found.columns[here], minlength=words.size)
        return cls(words, count, documents, len(found.starts) - 1 - n_missing, n_missing)

    def merge(self, other: WordTotals) -> WordTotals:
        """Those of the documents of both."""
        words, mine, theirs = join_words(self.words, other.words)
        sums = np.zeros((2, words.size), dtype=np.int64)
        for totals, at in ((self, mine), (other, theirs)):
            sums[0][at] += totals.count
            sums[1][at] += totals.documents
        n = self.n_documents + other.n_documents
        return WordTotals(words, sums[0], sums[1], n, self.n_missing + other.n_missing)


@dataclass(frozen=True)
class Lost:
    """What a vocabulary leaves out.

    Attributes
    ----------
    n_words, n_occurrences : int
        Different words that were read, and how often they are there.
    rare, frequent, beyond : tuple of int
        Words and occurrences that are left out because too few documents have them, because too many have them, or
        because others are more frequent.
    n_missing : int
        Documents that were not there.
    """

    n_words: int
    n_occurrences: int
    rare: tuple[int, int]
    frequent: tuple[int, int]
    beyond: tuple[int, int]
    n_missing: int

    def __str__(self) -> str:
        parts = [
            f"{words:,} {why} ({occurrences:,} occurrences)"
            for why, (words, occurrences) in (
                ("rarer than min_df", self.rare),
                ("more frequent than max_df", self.frequent),
                ("beyond max_features", self.beyond),
            )
            if words
        ]
        left = "; ".join(parts) if parts else "none"
        missing = f" {self.n_missing:,} documents were missing." if self.n_missing else ""
        return f"Of {self.n_words:,} words ({self.n_occurrences:,} occurrences) were left out: {left}.{missing}"


@dataclass(frozen=True, eq=False)
class Chosen:
    """The words of a vocabulary: which of all, and what is lost with the others."""

    mask: NDArray[np.bool_]
    lost: Lost


def chosen_words(totals: WordTotals, min_df: Any, max_df: Any, max_features: int | None, *, binary: bool) -> Chosen:
    """The words in at least ``min_df`` and at most ``max_df`` documents; of these the most frequent.

    Of words that are equally frequent those that sort first are taken.

    Parameters
    ----------
    min_df, max_df : int or float
        A number of documents, or a share of them.
    max_features : int or None
    binary : bool
        Whether a word counts once for each document.
    """
    if not totals.words.size:
        raise InputError("empty vocabulary; perhaps the documents only contain stop words")
    n = totals.n_documents
    least, most = (int(each) if isinstance(each, Integral) else each * n for each in (min_df, max_df))
    if most < least:
        raise InputError("max_df corresponds to < documents than min_df")
    rare, frequent = totals.documents < least, totals.documents > most
    mask = ~(rare | frequent)
    beyond = np.zeros_like(mask)
    if max_features is not None and mask.sum() > max_features:
        size = totals.documents if binary else totals.count
        places = np.flatnonzero(mask)
        beyond[places[np.argsort(-size[places], kind="stable")[max_features:]]] = True
        mask &= ~beyond
    if not mask.any():
        raise InputError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")

    def lost(which: NDArray[np.bool_]) -> tuple[int, int]:
        return int(which.sum()), int(totals.count[which].sum())

    said = Lost(
        totals.words.size, int(totals.count.sum()), lost(rare), lost(frequent & ~rare), lost(beyond), totals.n_missing
    )
    return Chosen(mask, said)
