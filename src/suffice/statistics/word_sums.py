"""Per-class word counts of documents: ``t_kj = Σ w x_j`` and ``d_kj = Σ w [x_j > 0]`` for each word that occurs.

The vocabulary is part of the statistic, and `merge` takes the union. Filters that were trained on different documents,
each with its own words, therefore merge into the filter of all documents.

A merge of many words with a few, such as those of one mail, keeps both as parts, and so does `scale`. The parts are
joined when their counts are read; see `suffice.statistics.word_table`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

import numpy as np

from suffice.exceptions import InputError, MergeError, columns_at, listed, short
from suffice.kernels.text import Documents, TokenRules, count_words, encode_words
from suffice.numerics.compensated import add, product
from suffice.numerics.number_range import FADED
from suffice.numerics.rounded_sums import rounded_sums
from suffice.numerics.types import Codes, Float, Mask, Selection
from suffice.statistics.class_sums import class_sums
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.statistic import LOW, ByClass, Statistic, has_faded
from suffice.statistics.subtraction import subtract_part, subtract_weights
from suffice.statistics.weights import class_weights
from suffice.statistics.word_table import WordTable, joined_parts, with_part
from suffice.tables.vocabulary import Vocabulary
from suffice.tables.word_rows import WordRows, rows_of

__all__ = ["WordSums", "counted_directly"]


MANY_WORDS = 1 << 12  # fewer are copied by each merge
MOST_CLASSES = 16  # whose word counts are kept side by side while documents are read
WORDS = ("vocabulary", "count", "documents")
OTHERS = ("classes", "weight", "missing", "settings", "weight_low", "missing_low")
UNSURE = 1e-9  # relative error of a sum of weights that are not whole numbers
NOT_LEARNED = (
    "Some of these documents were not learned with this label, were already removed, or had other weights. Nothing was "
    "changed."
)


@dataclass(frozen=True, eq=False)
class WordSums(Statistic):
    """Per-class counts of words, and of the documents that contain them.

    Attributes
    ----------
    weight, weight_low : array of shape (K,)
        Weight of the documents that are not missing, with or without words; stored as the sum ``weight + weight_low``.
    missing, missing_low : array of shape (K,)
        Weight of the missing documents, stored as the sum ``missing + missing_low``.
    count : array of shape (K, V)
        Weighted number of occurrences of each word, Σ w x.
    documents : array of shape (K, V)
        Weight of the documents that contain the word.
    vocabulary : Vocabulary
        The words that occur, or slots.
    settings : tuple of str
        Settings of reading that differ from the defaults. Statistics with different settings cannot merge.

    See Also
    --------
    suffice.families.Text : The family with this statistic.
    suffice.tables.WordRows : Counts of words in each document.
    suffice.tables.Vocabulary : The words.

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
        """Return the statistic of no documents."""
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
        """Return the statistic of a batch of documents."""
        if not counted_directly(members):
            return cls.of_rows(WordRows.read(documents, reading, slots), members, settings)
        assert members.codes is not None
        codes = np.ascontiguousarray(members.codes, dtype=np.int64)
        if slots > MANY_WORDS and documents.native.sizes().sum() < slots:  # a word has two letters or more
            table = _used_slots(documents, reading, codes, len(members.classes), slots)
            return cls._of(table, documents.missing, members, settings)
        counted = count_words(documents, reading, codes, len(members.classes), slots=slots)
        words = Vocabulary.empty(slots) if counted.words is None else Vocabulary.packed(counted.words)
        table = WordTable(words, counted.count, counted.documents)
        return cls._of(table, documents.missing, members, settings)

    @classmethod
    def of_rows(cls, rows: WordRows, members: Membership, settings: tuple[str, ...] = ()) -> WordSums:
        """Return the statistic of documents given as rows. A document without weight adds no words."""
        x, at = rows.counts, None
        if x.nnz * 2 < rows.vocabulary.slots:  # most slots are empty
            at, columns = np.unique(x.indices, return_inverse=True)
            at = at.astype(np.int64)
            x = rows_of(x.data, columns, x.indptr, (len(rows), len(at)))
        count, _ = class_sums(x, members)
        documents, _ = class_sums(x, members, above=0.0)
        table = WordTable(rows.vocabulary, count, documents, at)
        made = cls._of(table, rows.missing, members, settings)
        return made if rows.vocabulary.slots else made.without_empty()

    @classmethod
    def _of(cls, table: WordTable, missing: Mask, members: Membership, settings: tuple[str, ...]) -> WordSums:
        k = len(members.classes)
        lost, lost_low = np.zeros((2, k))
        present = members
        if missing.any():
            lost, lost_low = class_weights(members.take(missing))
            present = members.take(~missing)
        weight, low = class_weights(present)
        lows = {"weight_low": low, "missing_low": lost_low}
        if table.at is not None:
            return cls._of_parts(
                (table,), classes=members.classes, weight=weight, missing=lost, settings=settings, **lows
            )
        count, documents, words = table.count, table.documents, table.vocabulary
        return cls(members.classes, weight, lost, count, documents, words, settings=settings, **lows)

    # ------------------------------------------------------------------ parts

    @classmethod
    def _of_parts(cls, parts: tuple[WordTable, ...], **fields: Any) -> Self:
        """Return a statistic whose words are in parts until they are read."""
        made = object.__new__(cls)
        made.__dict__.update(fields, _parts=parts)
        for value in fields.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
        return made

    def __getattr__(self, name: str) -> Any:
        """Join the parts when the words or their counts are read for the first time."""
        if name not in WORDS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        fields = vars(self)
        parts = fields.get("_parts")
        if parts is not None and name not in fields:  # another thread may have been faster
            table = joined_parts(parts)
            keep = np.asarray(table.documents.any(axis=0))
            if not table.vocabulary.slots and not keep.all():  # counts that were scaled may have become zero
                table = WordTable(table.vocabulary.taking(keep), table.count[:, keep], table.documents[:, keep])
            for array in (table.count, table.documents):
                array.setflags(write=False)
            fields.update(vocabulary=table.vocabulary, count=table.count, documents=table.documents)
            fields.pop("_parts", None)
        return fields[name]

    def tables(self) -> tuple[WordTable, ...]:
        """Return the words in parts of falling size."""
        parts: tuple[WordTable, ...] | None = vars(self).get("_parts")
        return (WordTable(self.vocabulary, self.count, self.documents),) if parts is None else parts

    def _others(self) -> dict[str, Any]:
        """Return the fields besides the words."""
        return {name: getattr(self, name) for name in OTHERS}

    @property
    def shape(self) -> tuple[int, ...]:
        """One column: the documents."""
        return (1,)

    def axes(self) -> tuple[object, ...]:
        """Return the classes, the words and the settings."""
        return self.classes, self.vocabulary, self.settings

    def class_weights(self) -> Float:
        """Return the weight of each class (K,), including missing documents."""
        return np.asarray(self.weight + self.missing)

    def taking(self, at: Selection) -> Self:
        """Return the statistic of some of the classes and of the words that occur in them."""
        return super().taking(at).without_empty()

    def emptied(self, where: Mask) -> Self:
        """Return the statistic with zero weight in the classes where a mask is true, and the words of the others."""
        return super().emptied(where).without_empty()

    def prune(self, min_count: float) -> Self:
        """Return the statistic without words of a total count below ``min_count``.

        This discards the words permanently: feature selection no longer sees them, they start from zero if they occur
        again, and documents that contain them can no longer be removed.

        >>> axis = ClassAxis.of(["ham"])
        >>> texts = Documents.of_strings(["rare common", "common"])
        >>> sums = WordSums.summarize(texts, TokenRules(), Membership(axis, codes=np.array([0, 0])))
        >>> sums.prune(2).vocabulary.words
        ['common']
        """
        number = isinstance(min_count, int | float | np.number) and not isinstance(min_count, bool)
        if not (number and 0 <= min_count < np.inf):
            raise InputError(f"min_count must be a number of at least 0; got {min_count!r}.", argument="min_count")
        if self.vocabulary.slots:
            raise InputError("Cannot prune words that are hashed to slots: the number of slots is fixed.")
        return self._of_words(
            np.asarray(rounded_sums(self.count.sum(axis=0)) >= rounded_sums(np.array(float(min_count))))
        )

    def _of_words(self, keep: Mask) -> Self:
        if keep.all():
            return self
        count, documents = self.count[:, keep], self.documents[:, keep]
        return replace(self, count=count, documents=documents, vocabulary=self.vocabulary.taking(keep))

    def without_empty(self) -> Self:
        """Return the statistic without words of weight zero."""
        return self if self.vocabulary.slots else self._of_words(np.asarray(self.documents.any(axis=0)))

    def check_joins(self, other: Statistic) -> None:
        """Raise `MergeError` unless both read and store words in the same way."""
        super().check_joins(other)
        assert isinstance(other, WordSums)
        self.tables()[0].vocabulary.check_mergeable(other.tables()[0].vocabulary)
        if self.settings != other.settings:
            different = sorted({each.split("=")[0] for each in set(self.settings) ^ set(other.settings)})
            raise MergeError(
                "Cannot merge word counts of documents that were read with different settings: "
                f"{_shown(self.settings, different)} and {_shown(other.settings, different)}."
            )

    def _merged(self, other: Self) -> Self:
        weight, weight_low = add(self.weight, self.weight_low, other.weight, other.weight_low)
        missing, missing_low = add(self.missing, self.missing_low, other.missing, other.missing_low)
        sums = {"weight": weight, "weight_low": weight_low, "missing": missing, "missing_low": missing_low}
        parts, more = self.tables(), other.tables()
        if len(parts[0]) > MANY_WORDS and len(parts[0]) > 4 * len(more[0]):
            for part in more:
                parts = with_part(parts, part)
            return self._of_parts(parts, **(self._others() | sums))
        table = joined_parts((*parts, *more))
        words = {"count": table.count, "documents": table.documents, "vocabulary": table.vocabulary}
        return type(self)(**(self._others() | sums | words))

    def _subtracted(self, other: Self, columns: Sequence[object]) -> Self:
        other = other.without_empty()
        words, mine, theirs = self.vocabulary.joined(other.vocabulary)
        if len(words) > len(self.vocabulary):
            unknown = np.setdiff1d(np.arange(len(words)), mine)
            labels = self.classes.labels[other.weight > 0].tolist()
            raise MergeError(
                f"Cannot remove documents with {listed([words.word(int(i)) for i in unknown])} in "
                f"{columns_at(columns, [0])}: there are none in the model. They were not learned with the "
                f"{'label' if len(labels) == 1 else 'labels'} {listed(labels)}, or were already removed. Nothing was "
                "changed.",
                column=columns[0],
            )
        where = self.describe_position(columns)

        def word(k: int, j: int) -> str:
            return f"{where(k, 0)}, word {short(words.word(j))}"

        weight, weight_low = subtract_weights(
            self.weight, self.weight_low, other.weight, other.weight_low, lambda k: f"the documents of {where(k, 0)}"
        )
        missing, missing_low = subtract_weights(
            self.missing,
            self.missing_low,
            other.missing,
            other.missing_low,
            lambda k: f"the missing documents of {where(k, 0)}",
        )
        exact = all((each == np.floor(each)).all() for one in (self, other) for each in (one.count, one.documents))
        count = _subtract_counts(self.count, _spread(other.count, theirs, len(words)), exact, word)
        documents = _subtract_counts(self.documents, _spread(other.documents, theirs, len(words)), exact, word)
        held = (documents > 0) & (count > 0)
        wrong = (documents > weight[:, None] * (1 + UNSURE)) | ((documents > 0) != (count > 0))
        wrong |= count < documents * (1 - UNSURE)
        if exact and wrong.any():
            k, j = (int(i) for i in np.argwhere(wrong)[0])
            raise MergeError(
                f"Cannot remove these documents: {word(k, j)} would occur {count[k, j]:.6g} times in "
                f"{documents[k, j]:.6g} of {weight[k]:.6g} documents. {NOT_LEARNED}",
                column=columns[0],
            )
        left = replace(
            self,
            weight=weight,
            weight_low=weight_low,
            missing=missing,
            missing_low=missing_low,
            count=np.where(held, count, 0.0),
            documents=np.where(held, documents, 0.0),
        )
        return left.without_empty()

    def faded(self) -> Self:
        """Return the statistic after `scale`, without words that have lost their weight."""
        pairs = [("weight", "weight_low"), ("missing", "missing_low")]
        if any(part.fewest_documents < FADED for part in self.tables()):  # otherwise the parts need not be joined
            pairs.append(("documents", "count"))
        arrays: dict[str, Float] = {}
        for name, other in pairs:
            gone = has_faded(getattr(self, name))
            if gone.any():
                arrays |= {each: np.where(gone, 0.0, getattr(self, each)) for each in (name, other)}
        return self._replaced({}, arrays).without_empty() if arrays else self

    def _scaled(self, factor: float) -> Self:
        by = np.asarray(factor)
        weight, weight_low = product(self.weight, self.weight_low, by)
        missing, missing_low = product(self.missing, self.missing_low, by)
        parts = self.tables()
        if factor > 0 and len(parts[0]) > MANY_WORDS:
            sums = {"weight": weight, "weight_low": weight_low, "missing": missing, "missing_low": missing_low}
            return self._of_parts(tuple(part.scaled(factor) for part in parts), **(self._others() | sums))
        scaled = replace(
            self,
            weight=weight,
            weight_low=weight_low,
            missing=missing,
            missing_low=missing_low,
            count=self.count * factor,
            documents=self.documents * factor,
        )
        return scaled.without_empty()


def counted_directly(members: Membership) -> bool:
    """Whether words are counted while documents are read; otherwise documents become rows, which are summed.

    Sums of weights are rounded; sums of rows do not depend on the number of threads.
    """
    return members.codes is not None and members.weights is None and 0 < len(members.classes) <= MOST_CLASSES


def _spread(values: Float, at: Codes, size: int) -> Float:
    """Return the counts of words (K, V) at ascending positions among more words (K, size)."""
    if values.shape[1] == size:
        return values
    out = np.zeros((len(values), size))
    out[:, at] = values
    return out


def _subtract_counts(whole: Float, part: Float, exact: bool, place: Callable[[int, int], str]) -> Float:
    """Return ``whole − part`` of sums in one double; differences within rounding become zero."""
    left = whole - part
    wrong = left < (0.0 if exact else -UNSURE * whole)
    if wrong.any():
        k, j = (int(i) for i in np.argwhere(wrong)[0])
        raise MergeError(
            f"Cannot remove a weight of {part[k, j]:.6g} from {place(k, j)}, which has {whole[k, j]:.6g}. {NOT_LEARNED}"
        )
    return left if exact else subtract_part(whole, part)


def _shown(settings: Sequence[str], names: Sequence[str]) -> str:
    """Return the settings of these names, which have default values if they are not among ``settings``."""
    known = {each.split("=")[0]: each for each in settings}
    shown = [known.get(name, f"the default {name}") for name in names]
    return ", ".join(each if len(each) <= 60 else f"{each[:57]}..." for each in shown)


def _used_slots(documents: Documents, reading: TokenRules, codes: Codes, n_classes: int, slots: int) -> WordTable:
    """Counts of the slots that occur in documents, in a time that does not depend on the number of slots."""
    known = Vocabulary.hashed(slots)
    cells = encode_words(documents, reading, known.lookup, dtype=np.float64)
    code = np.repeat(codes, np.diff(cells.starts))
    at, columns = np.unique(cells.columns, return_inverse=True)
    here = code >= 0
    place, shape = (code * len(at) + columns)[here], (n_classes, len(at))
    count: Float = np.bincount(place, cells.counts[here], n_classes * len(at)).reshape(shape).astype(np.float64)
    having = np.bincount(place, minlength=n_classes * len(at)).reshape(shape).astype(np.float64)
    return WordTable(known, count, having, at.astype(np.int64))
