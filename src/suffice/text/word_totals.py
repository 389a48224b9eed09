"""Occurrences and document counts of words, by which a vocabulary is chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.kernels.text import Documents, EncodedDocuments, TokenRules, Words, count_words, join_words
from suffice.numerics.types import Mask

__all__ = ["Chosen", "Lost", "WordTotals", "chosen_words"]

Counts = NDArray[np.int64]
BLOCK = 1 << 22  # entries of a matrix processed at a time


@dataclass(frozen=True, eq=False)
class WordTotals:
    """Occurrences of each word, and the number of documents that contain it. Totals of different documents add.

    Parameters
    ----------
    words : Words
    count, documents : array of shape (V,)
        Occurrences of each word, and number of documents that contain it.
    n_documents, n_missing : int
        Number of documents that were read, and of missing documents.

    Examples
    --------
    >>> def totals(*texts):
    ...     return WordTotals.of(Documents.of_strings(texts), TokenRules())
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
        """The totals of no documents."""
        return cls(Words.of([]), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), 0, 0)

    @classmethod
    def of(cls, documents: Documents, rules: TokenRules) -> WordTotals:
        """The totals of some documents."""
        counts = count_words(documents, rules, np.zeros(len(documents), dtype=np.int64), 1)
        assert counts.words is not None
        sums, having = (np.asarray(each[0]).astype(np.int64) for each in (counts.count, counts.documents))
        missing = int(np.count_nonzero(documents.missing))
        return cls(counts.words, sums, having, len(documents) - missing, missing)

    @classmethod
    def of_encoded(cls, words: Words, encoded: EncodedDocuments, n_missing: int) -> WordTotals:
        """The totals of documents that were already encoded as rows of a sparse matrix."""
        count = np.zeros(words.size, dtype=np.int64)
        documents = np.zeros(words.size, dtype=np.int64)
        for start in range(0, len(encoded.columns), BLOCK):  # np.bincount copies its input
            here = slice(start, start + BLOCK)
            count += np.bincount(encoded.columns[here], encoded.counts[here], minlength=words.size).astype(np.int64)
            documents += np.bincount(encoded.columns[here], minlength=words.size)
        return cls(words, count, documents, len(encoded.starts) - 1 - n_missing, n_missing)

    def merge(self, other: WordTotals) -> WordTotals:
        """The totals of both groups of documents together."""
        words, mine, theirs = join_words(self.words, other.words)
        sums = np.zeros((2, words.size), dtype=np.int64)
        for totals, at in ((self, mine), (other, theirs)):
            sums[0][at] += totals.count
            sums[1][at] += totals.documents
        n = self.n_documents + other.n_documents
        return WordTotals(words, sums[0], sums[1], n, self.n_missing + other.n_missing)


@dataclass(frozen=True)
class Lost:
    """The words that a vocabulary drops.

    Attributes
    ----------
    n_words, n_occurrences : int
        Distinct words that were read, and their occurrences.
    rare, frequent, beyond : tuple of int
        Number of words, and their occurrences, that were dropped because too few documents contain them, because too
        many do, or because other words are more frequent.
    n_missing : int
        Number of missing documents.
    """

    n_words: int
    n_occurrences: int
    rare: tuple[int, int]
    frequent: tuple[int, int]
    beyond: tuple[int, int]
    n_missing: int

    def __str__(self) -> str:
        parts = [
            f"{words:,} {reason} ({occurrences:,} occurrences)"
            for reason, (words, occurrences) in (
                ("rarer than min_df", self.rare),
                ("more frequent than max_df", self.frequent),
                ("beyond max_features", self.beyond),
            )
            if words
        ]
        dropped = "; ".join(parts) if parts else "none"
        missing = f" {self.n_missing:,} documents were missing." if self.n_missing else ""
        return f"{self.n_words:,} words ({self.n_occurrences:,} occurrences) read; dropped: {dropped}.{missing}"


@dataclass(frozen=True, eq=False)
class Chosen:
    """A choice of words: a mask over all words, and a summary of those it drops."""

    mask: Mask
    lost: Lost


def chosen_words(totals: WordTotals, min_df: float, max_df: float, max_features: int | None, *, binary: bool) -> Chosen:
    """Choose the words in at least ``min_df`` and at most ``max_df`` documents; of these, the most frequent ones.

    Among equally frequent words, those that sort first are chosen.

    Parameters
    ----------
    min_df, max_df : int or float
        A number of documents (int), or a share of them (float).
    max_features : int or None
    binary : bool
        Whether a word counts once per document.
    """
    if not totals.words.size:
        raise InputError("empty vocabulary; perhaps the documents only contain stop words")
    n = totals.n_documents
    least, most = (int(each) if isinstance(each, int | np.integer) else each * n for each in (min_df, max_df))
    if most < least:
        raise InputError("max_df corresponds to < documents than min_df", argument="max_df")
    rare, frequent = totals.documents < least, totals.documents > most
    mask = ~(rare | frequent)
    beyond = np.zeros_like(mask)
    if max_features is not None and mask.sum() > max_features:
        size = totals.documents if binary else totals.count
        candidates = np.flatnonzero(mask)
        beyond[candidates[np.argsort(-size[candidates], kind="stable")[max_features:]]] = True
        mask &= ~beyond
    if not mask.any():
        raise InputError("After pruning, no terms remain. Try a lower min_df or a higher max_df.")

    def dropped(which: Mask) -> tuple[int, int]:
        return int(which.sum()), int(totals.count[which].sum())

    lost = Lost(
        totals.words.size,
        int(totals.count.sum()),
        dropped(rare),
        dropped(frequent & ~rare),
        dropped(beyond),
        totals.n_missing,
    )
    return Chosen(mask, lost)
