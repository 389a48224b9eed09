"""Per-class sums of the words of documents: ``t_kj = Σ w x_j``, and ``d_kj = Σ w [x_j > 0]``, over words that are met.

Which words there are is part of the statistic, and unites in a merge; so filters that were trained apart, each on words
of its own, become the filter of all documents.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError, MergeError, columns_at, listed, short
from suffice.kernels.text import Documents, TokenRules, count_words
from suffice.numerics.compensated import add, product
from suffice.numerics.equal_sums import evened
from suffice.statistics.class_sums import class_sums
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.statistic import LOW, ByClass, Statistic
from suffice.statistics.subtraction import remaining_weight
from suffice.statistics.weights import class_weights
from suffice.tables.vocabulary import Vocabulary
from suffice.tables.word_rows import WordRows

__all__ = ["WordSums", "counted_directly"]

Float = NDArray[np.float64]

MOST_CLASSES = 16  # whose tables of all words are counted side by side
NOTHING = 1e-12  # of a sum of weights that are not whole numbers
UNSURE = 1e-9


@dataclass(frozen=True, eq=False)
class WordSums(Statistic):
    """Per-class counts of words, and of the documents that have them.

    Attributes
    ----------
    weight, weight_low : array of shape (K,)
        Weight of the documents that are there, with or without words. It is the unevaluated sum of the two; and so
        is the next.
    missing, missing_low : array of shape (K,)
        Weight of the documents that are not there.
    count : array of shape (K, V)
        How often each word is there, Σ w x.
    documents : array of shape (K, V)
        Weight of the documents that have it.
    vocabulary : Vocabulary
        The words, each of which a document has; or slots.
    settings : tuple of str
        How the documents were read, where it was not by default. Sums of documents that were read differently do not
        join.

    Examples
    --------
    >>> axis = ClassAxis.of(["ham", "spam"])
    >>> texts = Documents.of_strings(["a day", "a pill a day, a pill", None])
    >>> sums = WordSums.summarize(texts, TokenRules(), Membership(axis, codes=np.array([0, 1, 1])))
    >>> sums.vocabulary.words
    ['day', 'pill']
    >>> sums.count, sums.documents, sums.missing
    (array([[1., 0.],
           [1., 2.]]), array([[1., 0.],
           [1., 1.]]), array([0., 1.]))
    """

    weight: ByClass
    missing: ByClass
    count: ByClass
    documents: ByClass
    vocabulary: Vocabulary
    _: KW_ONLY
    settings: tuple[str, ...] = ()
    weight_low: ByClass = LOW
    missing_low: ByClass = LOW

    @classmethod
    def zero(cls, classes: ClassAxis, slots: int = 0, settings: tuple[str, ...] = ()) -> WordSums:
        """The statistic of no documents."""
        k = len(classes)
        words = Vocabulary.empty(slots)
        count, documents = np.zeros((2, k, len(words)))
        return cls(classes, np.zeros(k), np.zeros(k), count, documents, words, settings=settings)

    @classmethod
    def summarize(
        cls,
        documents: Documents,
        reading: TokenRules,
        members: Membership,
        slots: int = 0,
        settings: tuple[str, ...] = (),
    ) -> WordSums:
        """The statistic of a batch of documents."""
        if not counted_directly(members):
            return cls.of_rows(WordRows.read(documents, reading, slots), members, settings)
        assert members.codes is not None
        codes = np.ascontiguousarray(members.codes, dtype=np.int64)
        found = count_words(documents, reading, codes, len(members.classes), slots=slots)
        words = Vocabulary.empty(slots) if found.words is None else Vocabulary.packed(found.words)
        return cls._of(found.count, found.documents, words, documents.missing, members, settings)

    @classmethod
    def of_rows(cls, rows: WordRows, members: Membership, settings: tuple[str, ...] = ()) -> WordSums:
        """The statistic of documents that are rows already. A document without weight has no words."""
        count, _ = class_sums(rows.counts, members)
        documents, _ = class_sums(rows.counts, members, above=0.0)
        return cls._of(count, documents, rows.vocabulary, rows.missing, members, settings)._pruned()

    @classmethod
    def _of(
        cls,
        count: Float,
        documents: Float,
        words: Vocabulary,
        missing: NDArray[np.bool_],
        members: Membership,
        settings: tuple[str, ...],
    ) -> WordSums:
        k = len(members.classes)
        lost, lost_low = np.zeros((2, k))
        there = members
        if missing.any():
            lost, lost_low = class_weights(members.take(missing))
            there = members.take(~missing)
        weight, low = class_weights(there)
        lows = {"weight_low": low, "missing_low": lost_low}
        return cls(members.classes, weight, lost, count, documents, words, settings=settings, **lows)

    @property
    def shape(self) -> tuple[int, ...]:
        """One column."""
        return (1,)

    def axes(self) -> tuple[object, ...]:
        """Classes, and words."""
        return self.classes, self.vocabulary, self.settings

    def class_weights(self) -> Float:
        """Weight of each class (K,), with that of documents that are not there."""
        return np.asarray(self.weight + self.missing)

    def taking(self, at: Any) -> Self:
        """The statistic of some of the classes, and of the words that these have."""
        return super().taking(at)._pruned()

    def emptied(self, where: NDArray[np.bool_]) -> Self:
        """The statistic with nothing in the classes where a mask is true, and of the words that the others have."""
        return super().emptied(where)._pruned()

    def prune(self, min_count: float) -> Self:
        """Without the words of a total count below ``min_count``.

        That loses them for good: they are no longer among the words to choose from, their earlier counts are not
        known if they come again, and a document that has one of them can no longer be taken out.

        >>> axis = ClassAxis.of(["ham"])
        >>> texts = Documents.of_strings(["rare common", "common"])
        >>> sums = WordSums.summarize(texts, TokenRules(), Membership(axis, codes=np.array([0, 0])))
        >>> sums.prune(2).vocabulary.words
        ['common']
        """
        number = isinstance(min_count, int | float | np.number) and not isinstance(min_count, bool)
        if not (number and 0 <= min_count < np.inf):
            raise InputError(f"min_count is a count of words, at least 0; got {min_count!r}.")
        if self.vocabulary.slots:
            raise InputError("Words that are hashed to slots are not pruned: the number of slots is fixed.")
        return self._of_words(np.asarray(evened(self.count.sum(axis=0)) >= evened(np.array(float(min_count)))))

    def _of_words(self, keep: NDArray[np.bool_]) -> Self:
        if keep.all():
            return self
        parts: dict[str, Any] = {name: getattr(self, name)[:, keep] for name in ("count", "documents")}
        return replace(self, vocabulary=self.vocabulary.taking(keep), **parts)

    def _pruned(self) -> Self:
        """Without the words that no document has: weight zero is absence."""
        return self if self.vocabulary.slots else self._of_words(np.asarray(self.documents.any(axis=0)))

    def _spread(self, name: str, at: NDArray[np.int64], size: int) -> Float:
        """Counts of each word among more words (K, size)."""
        values: Float = getattr(self, name)
        if values.shape[1] == size:
            return values  # places rise
        out = np.zeros((len(self.classes), size))
        out[:, at] = values
        return out

    def check_joins(self, other: Statistic) -> None:
        """Raise unless the other is of words that were read and are kept in the same way."""
        super().check_joins(other)
        assert isinstance(other, WordSums)
        self.vocabulary.check_alike(other.vocabulary)
        if self.settings != other.settings:
            different = sorted({each.split("=")[0] for each in set(self.settings) ^ set(other.settings)})
            raise MergeError(
                "Words of documents that were read in different ways cannot be joined: "
                f"{_short(self.settings, different)} here, and {_short(other.settings, different)} there."
            )

    def _merged(self, other: Self) -> Self:
        words, mine, theirs = self.vocabulary.joined(other.vocabulary)
        parts: dict[str, Any] = {
            name: self._spread(name, mine, len(words)) + other._spread(name, theirs, len(words))
            for name in ("count", "documents")
        }
        for name in ("weight", "missing"):
            low = f"{name}_low"
            parts[name], parts[low] = add(*(getattr(each, part) for each in (self, other) for part in (name, low)))
        return replace(self, vocabulary=words, **parts)

    def _subtracted(self, other: Self, columns: Sequence[object]) -> Self:
        other = other._pruned()
        words, mine, theirs = self.vocabulary.joined(other.vocabulary)
        if len(words) > len(self.vocabulary):
            strange = np.setdiff1d(np.arange(len(words)), mine)
            raise MergeError(
                f"Documents with {listed([words.word(int(i)) for i in strange[:9]])} in {columns_at(columns, [0])} "
                "cannot be taken out: there are none. Nothing was changed."
            )
        where = self._place(columns)

        def word(k: int, j: int) -> str:
            return f"{where(k, 0)}, word {short(words.word(j))}"

        parts: dict[str, Any] = {}
        for name, what in (("weight", "documents"), ("missing", "missing documents")):
            low = f"{name}_low"
            mine_of, theirs_of = ((getattr(each, name), getattr(each, low)) for each in (self, other))
            place = functools.partial(_among, what, where)
            parts[name], parts[low] = remaining_weight(*mine_of, *theirs_of, place)
        taken = {name: other._spread(name, theirs, len(words)) for name in ("count", "documents")}
        exact = all((each == np.floor(each)).all() for one in (self, other) for each in (one.count, one.documents))
        for name, part in taken.items():
            parts[name] = _remaining(getattr(self, name), part, exact, word)
        some, often = parts["documents"] > 0, parts["count"] > 0
        held = some & often
        wrong = (parts["documents"] > parts["weight"][:, None] * (1 + UNSURE)) | (some != often)
        wrong |= parts["count"] < parts["documents"] * (1 - UNSURE)
        if exact and wrong.any():
            k, j = (int(i) for i in np.argwhere(wrong)[0])
            raise MergeError(
                f"What would be left of {word(k, j)}, no documents can have: it would be there "
                f"{parts['count'][k, j]:.6g} times in {parts['documents'][k, j]:.6g} of {parts['weight'][k]:.6g} "
                "documents. These documents were not all in the model; nothing was changed."
            )
        parts |= {name: np.where(held, parts[name], 0.0) for name in taken}
        return replace(self, **parts)._pruned()

    def _scaled(self, factor: float) -> Self:
        parts: dict[str, Any] = {"count": self.count * factor, "documents": self.documents * factor}
        for name in ("weight", "missing"):
            low = f"{name}_low"
            parts[name], parts[low] = product(getattr(self, name), getattr(self, low), np.asarray(factor))
        return replace(self, **parts)._pruned()


def counted_directly(members: Membership) -> bool:
    """Whether words are counted while documents are read; otherwise these become rows, whose sums are taken.

    Sums of weights are rounded, and those of rows do not depend on how many threads there are.
    """
    return members.codes is not None and members.weights is None and 0 < len(members.classes) <= MOST_CLASSES


def _among(what: str, where: Callable[..., str], k: int) -> str:
    return f"{what} of {where(k, 0)}"


def _remaining(whole: Float, part: Float, exact: bool, place: Any) -> Float:
    """``whole − part`` of sums in one double; what is left of rounding is zero."""
    left = whole - part
    wrong = left < (0.0 if exact else -UNSURE * whole)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise MergeError(
            f"More would be taken out than there is of {place(*at)}: {part[at]:.6g} of {whole[at]:.6g}. These "
            "documents were not all in the model, or not with these weights; nothing was changed."
        )
    return left if exact else np.where(left <= NOTHING * whole, 0.0, left)


def _short(settings: Sequence[str], names: Sequence[str]) -> str:
    """Some of the settings, which are by default if they are not there."""
    known = {each.split("=")[0]: each for each in settings}
    shown = [known.get(name, f"the default {name}") for name in names]
    return ", ".join(each if len(each) <= 60 else f"{each[:57]}..." for each in shown)
