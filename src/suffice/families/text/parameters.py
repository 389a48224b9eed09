"""Words and their weights in each class, by which documents are scored."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import cached_property
from typing import Protocol

import numpy as np

from suffice.families.complement import normalised_weights, outside_weights
from suffice.families.contract import read_only
from suffice.families.multinomial_draws import log_shares
from suffice.families.text.word_form import WordForm
from suffice.numerics.rounded_sums import rounded_sums
from suffice.numerics.types import Codes, Float, Matrix
from suffice.statistics import WordSums
from suffice.statistics.subtraction import subtract_part
from suffice.tables import Vocabulary, WordRows
from suffice.tables.word_rows import some_columns
from suffice.text.analysis import Analysis

__all__ = [
    "COMPLEMENTS",
    "TextParameters",
    "TextSettings",
    "document_weights",
    "most_frequent",
    "word_chances",
    "words_used",
]


COMPLEMENTS = ("complement", "normalised_complement")
LARGE = 1 << 16


class TextSettings(Protocol):
    """Settings of `Text` that its helpers read."""

    @property
    def event(self) -> str:
        """The distribution of words."""

    @property
    def estimation(self) -> str:
        """How parameters are estimated."""

    @property
    def smoothing(self) -> float:
        """Pseudo-draws of each word."""

    @property
    def max_words(self) -> int | None:
        """Number of words that are used."""

    @property
    def binary(self) -> bool:
        """Whether a document counts each of its words once."""

    @property
    def idf(self) -> bool:
        """Whether words are weighted by their inverse document frequency."""

    @property
    def length(self) -> float:
        """How strongly the length of a document is normalised."""

    @property
    def weighting(self) -> str:
        """Whether words count as often as they occur, or in documents of unit length."""

    @property
    def slots(self) -> int:
        """Number of slots that words are hashed to; 0 keeps the words."""

    @property
    def analysis(self) -> Analysis:
        """How the words of a document are read."""

    def length_factor(self, length: Float, mean: Float | float) -> Float:
        """Factor of the counts of documents of some length (n,)."""


@dataclass(frozen=True, eq=False)
class TextParameters:
    """Words, and the score of each in each class.

    Attributes
    ----------
    event : str
    alpha : float
        Pseudo-draws of each word, or pseudo-documents with and without it.
    vocabulary : Vocabulary
        The M words that the model uses; with slots, all slots.
    used : array of shape (M,)
        Positions of the used words in the vocabulary.
    count : array of shape (K, M)
        Number of occurrences of each word.
    tally : array of shape (K, M)
        Draws of each word, or documents that have it.
    documents : array of shape (K,)
        Number of documents.
    idf : array of shape (M,), or None
        Weight of each word.
    length : array of shape (K,)
        Mean number of words of a document in each class.
    mean_length : float
        Mean number of words over all documents.
    """

    event: str
    alpha: float
    vocabulary: Vocabulary
    used: Codes
    count: Float
    tally: Float
    documents: Float
    idf: Float | None
    length: Float
    mean_length: float

    def __post_init__(self) -> None:
        read_only(self)

    def __getstate__(self) -> dict[str, object]:
        """The fields, without cached values."""
        return {each.name: vars(self)[each.name] for each in fields(self)}

    @cached_property
    def _estimates(self) -> tuple[Float, Float | None, Float | None]:
        """``slope``, ``zero`` and ``draws``, computed when one is needed: tuning needs none of them."""
        zero: Float | None = None
        draws: Float | None = None
        tally = self.tally if self.idf is None else self.idf * self.tally
        if self.event == "bernoulli":
            slope, zero = word_chances(self.tally, self.documents, self.alpha)
        elif self.event == "complement":
            slope = outside_weights(tally, self.alpha)
        elif self.event == "normalised_complement":
            slope = normalised_weights(tally, self.alpha)
        else:
            draws, slope = log_shares(tally, self.alpha)
        for each in (slope, zero, draws):
            if each is not None:
                each.setflags(write=False)
        return slope, zero, draws

    @property
    def slope(self) -> Float:
        """Logarithm of the share or of the probability of each word; for the complement, its weight (K, M)."""
        return self._estimates[0]

    @property
    def zero(self) -> Float | None:
        """For Bernoulli words, the logarithm of the probability that a document does not have the word (K, M)."""
        return self._estimates[1]

    @property
    def draws(self) -> Float | None:
        """Draws and pseudo-draws of multinomial words (K, M)."""
        return self._estimates[2]

    @property
    def chances(self) -> Float:
        """The share or the probability of each word (K, M); for the complement, its share in all other classes."""
        if self.event not in COMPLEMENTS:
            return np.exp(self.slope)
        return np.exp(-outside_weights(self.tally if self.idf is None else self.idf * self.tally, self.alpha))

    @property
    def words(self) -> list[str]:
        """The words that the model uses."""
        if not self.vocabulary.slots:
            return self.vocabulary.words
        return [self.vocabulary.word(at) for at in self.used.tolist()]

    @cached_property
    def relative_slope(self) -> Float:
        """``slope`` times the weight of each word (K, M).

        Slopes of multinomial words are relative to the mean share over all classes, so long documents cost no digits.
        """
        slope = self.slope
        if self.event == "multinomial":
            shares = np.exp(slope).mean(axis=0) if len(slope) else np.ones(slope.shape[1])
            slope = slope - np.log(np.maximum(shares, np.finfo(float).tiny))
        elif self.zero is not None:
            slope = slope - np.where(np.isneginf(self.zero), 0.0, self.zero)
        return np.asarray(slope if self.idf is None else slope * self.idf)

    @cached_property
    def form(self) -> WordForm:
        """The scores, prepared for evaluation."""
        return WordForm.of(self.vocabulary, self.used, self.zero, self.relative_slope)

    def rows(self, rows: WordRows) -> Matrix:
        """Counts of the used words (n, M), as a sparse array."""
        if not self.vocabulary.slots:
            return rows.on(self.vocabulary)
        where = np.full(len(self.vocabulary), -1, dtype=np.int64)
        where[self.used] = np.arange(len(self.used))
        return some_columns(rows.on(self.vocabulary), where, len(self.used))


def most_frequent(total: Float, most: int | None) -> Codes:
    """Positions of the ``most`` largest totals above zero, ascending; of equal ones, up to rounding, the first.

    >>> most_frequent(np.array([1.0, 5.0, 2.0, 2.0, 0.0]), 2)
    array([1, 2])
    """
    held = total > 0
    if most is None or most >= len(total) or np.count_nonzero(held) <= most:
        return np.asarray(np.flatnonzero(held))
    total = rounded_sums(total)
    # Most words are rare and many have equal totals: whole numbers quickly narrow down the few words in question.
    whole = np.minimum(total, LARGE).astype(np.int64)
    sizes = np.bincount(whole[held] if (whole == 0).any() else whole)
    over = np.cumsum(sizes[::-1])[::-1]  # number of totals of at least each whole number
    least = int(np.flatnonzero(over >= most)[-1])
    used = whole > least
    doubtful = np.flatnonzero((whole == least) & held)
    room, some = most - int(np.count_nonzero(used)), total[doubtful]
    if some.min() == some.max():
        used[doubtful[:room]] = True
    else:
        last = np.partition(some, len(some) - room)[len(some) - room]
        used[doubtful[some > last]] = True
        equal = doubtful[some == last]
        used[equal[: most - int(np.count_nonzero(used))]] = True
    return np.asarray(np.flatnonzero(used))


def words_used(statistic: WordSums, max_words: int | None) -> tuple[Vocabulary, Codes, Codes]:
    """The vocabulary for lookups, the positions of the used words in it, and their positions in the statistic (M,)."""
    at = most_frequent(statistic.count.sum(axis=0), max_words)
    if statistic.vocabulary.slots:
        return statistic.vocabulary, at, at
    words = statistic.vocabulary if len(at) == len(statistic.vocabulary) else statistic.vocabulary.taking(at)
    return words, np.arange(len(at)), at


def document_weights(n_documents: Float | float, with_word: Float | float) -> Float:
    """``1 + log (1 + n)/(1 + d_j)``: rare words weigh more.

    >>> float(document_weights(9.0, 9.0)), float(document_weights(np.e - 1, 0.0))
    (1.0, 2.0)
    """
    return np.asarray(1.0 + np.log1p(n_documents) - np.log1p(with_word))


def word_chances(yes: Float, documents: Float, alpha: float) -> tuple[Float, Float]:
    """Logarithms of the probabilities that a document has each word, and that it does not (K, M)."""
    weight = documents[:, None] + 2 * alpha
    empty = weight <= 0
    pooled = float(documents.sum())
    no = subtract_part(documents[:, None], yes)
    yes, no = (np.where(empty, part.sum(axis=0), part) + alpha for part in (yes, no))
    size = np.log(np.where(empty, max(pooled, np.finfo(float).tiny), weight))
    with np.errstate(divide="ignore"):
        return np.log(yes) - size, np.log(no) - size
