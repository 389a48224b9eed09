"""Counts of words in parts, which are joined when they are read.

A mail has a hundred words and a vocabulary a million. Joining the two would copy the million for each mail, so a table
of words is kept in parts of falling size: a new part is joined with the last one if that is not much larger. A word is
then copied a number of times that grows with the logarithm of the vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from suffice.numerics.types import Codes, Float
from suffice.tables.vocabulary import Vocabulary

__all__ = ["WordTable", "joined_parts", "with_part"]


@dataclass(frozen=True, eq=False)
class WordTable:
    """Per-class counts of some words.

    Attributes
    ----------
    vocabulary : Vocabulary
        The words, or slots.
    count, documents : array of shape (K, P)
        Occurrences of each word, and documents that have it.
    at : array of shape (P,), optional
        For some of the slots, their ascending positions.
    factor : float
        Factor of all counts.
    """

    vocabulary: Vocabulary
    count: Float
    documents: Float
    at: Codes | None = None
    factor: float = 1.0

    def __len__(self) -> int:
        return int(self.count.shape[1])

    def scaled(self, factor: float) -> WordTable:
        """The table with all counts multiplied by a factor."""
        out = replace(self, factor=self.factor * factor)
        if "_fewest" in vars(self):
            vars(out)["_fewest"] = self._fewest
        return out

    @property
    def fewest_documents(self) -> float:
        """The smallest positive number of documents of a word in a class; infinite if there is none."""
        return self._fewest * self.factor

    @cached_property
    def _fewest(self) -> float:
        """The smallest positive number of documents, without the factor."""
        return float(self.documents.min(initial=np.inf, where=self.documents > 0))

    def counts(self) -> tuple[Float, Float]:
        """Both counts, multiplied by the factor."""
        if self.factor == 1:
            return self.count, self.documents
        return self.count * self.factor, self.documents * self.factor

    def joined(self, other: WordTable) -> WordTable:
        """The table of the words of both."""
        if self.vocabulary.slots:
            return self._joined_slots(other)
        words, mine, theirs = self.vocabulary.joined(other.vocabulary)
        return WordTable(words, *self._sums(other, mine, theirs, len(words)))

    def _joined_slots(self, other: WordTable) -> WordTable:
        if self.at is None or other.at is None:
            every = np.arange(self.vocabulary.slots)
            mine, theirs = (every if each.at is None else each.at for each in (self, other))
            return WordTable(self.vocabulary, *self._sums(other, mine, theirs, len(every)))
        at = np.union1d(self.at, other.at)
        mine, theirs = np.searchsorted(at, self.at), np.searchsorted(at, other.at)
        return WordTable(self.vocabulary, *self._sums(other, mine, theirs, len(at)), at)

    def _sums(self, other: WordTable, mine: Codes, theirs: Codes, size: int) -> tuple[Float, Float]:
        """Both counts at positions among ``size`` words."""
        out = []
        for a, b in zip(self.counts(), other.counts(), strict=True):
            if len(mine) == len(theirs) == size:
                out.append(a + b)
                continue
            total = a.copy() if len(mine) == size else _spread(a, mine, size)
            if len(theirs) == size:
                total += b
            else:
                total[:, theirs] += b
            out.append(total)
        return out[0], out[1]

    def whole(self) -> WordTable:
        """The table without a factor, and with all slots."""
        count, documents = self.counts()
        if self.at is not None:
            count, documents = (_spread(each, self.at, self.vocabulary.slots) for each in (count, documents))
        return WordTable(self.vocabulary, count, documents)


def _spread(values: Float, at: Codes, size: int) -> Float:
    out = np.zeros((len(values), size))
    out[:, at] = values
    return out


def with_part(parts: Sequence[WordTable], part: WordTable) -> tuple[WordTable, ...]:
    """Parts of falling size, with one more; parts of similar size are joined."""
    out = [*parts, part]
    while len(out) > 1 and len(out[-2]) <= 2 * len(out[-1]):
        last = out.pop()
        out[-1] = out[-1].joined(last)
    return tuple(out)


def joined_parts(parts: Sequence[WordTable]) -> WordTable:
    """All parts as one table.

    >>> one = np.ones((1, 1))
    >>> parts = with_part([], WordTable(Vocabulary.of(["pill"]), one, one))
    >>> parts = with_part(parts, WordTable(Vocabulary.of(["day"]), 2 * one, one, factor=0.5))
    >>> joined_parts(parts).vocabulary.words, joined_parts(parts).count
    (['day', 'pill'], array([[1., 1.]]))
    """
    out = parts[-1]
    for part in reversed(parts[:-1]):
        out = part.joined(out)
    return out.whole()
