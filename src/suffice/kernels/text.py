"""Documents read as words: counted by class, encoded as rows of a sparse matrix, and scored.

Words are kept packed (`Words`): their UTF-8 one after another, sorted by code point as Python sorts texts. What a word
is says a `Reading`; it is exactly that of scikit-learn's analyzers. All threads are used, and what is found does not
depend on how many they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.kernels import _core

__all__ = [
    "Counted",
    "Documents",
    "Encoded",
    "Lookup",
    "NotUtf8Error",
    "Reading",
    "Words",
    "count_words",
    "encode_words",
    "join_words",
    "score_words",
    "word_places",
    "word_slot",
]

Float = NDArray[np.float64]
Places = NDArray[np.int64]

ANALYZERS = ("word", "char", "char_wb")
MOST_BYTES = 1 << 31  # of documents that are read in one pass, in which numbers of 32 bits are enough
LONGEST = 1 << 30  # no document is longer than that, and no word or run of it


class Words(NamedTuple):
    """Distinct texts in the order of their code points, packed.

    Attributes
    ----------
    text : array of uint8
        Their UTF-8, one after another.
    ends : array of int64
        Where each of them ends.
    """

    text: NDArray[np.uint8]
    ends: Places

    @classmethod
    def of(cls, texts: Sequence[str]) -> Words:
        """Those texts, which are sorted and distinct already.

        >>> Words.of(["ab", "é"]).ends
        array([2, 4])
        """
        packed = [each.encode("utf-8", "surrogatepass") for each in texts]
        ends = np.cumsum([len(each) for each in packed], dtype=np.int64)
        return cls(np.frombuffer(b"".join(packed), dtype=np.uint8), ends)

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.ends)

    def texts(self) -> list[str]:
        """The texts.

        >>> Words.of(["ab", "é"]).texts()
        ['ab', 'é']
        """
        raw, ends = self.text.tobytes(), self.ends.tolist()
        return [raw[a:b].decode("utf-8", "surrogatepass") for a, b in zip([0, *ends], ends, strict=False)]

    def taking(self, at: Places | NDArray[np.bool_]) -> Words:
        """Some of them, by rising places or by a mask."""
        places = np.flatnonzero(at) if at.dtype == bool else np.ascontiguousarray(at, dtype=np.int64)
        return Words(*_core.take_words(*self, places))

    def first_unsorted(self) -> int:
        """The first that does not come after the one before it; −1 if all do. `ValueError` if they end nowhere."""
        return _core.first_unsorted(*self)


class Reading(NamedTuple):
    """What the words of a document are, as scikit-learn's analyzers have it.

    Attributes
    ----------
    analyzer : {"word", "char", "char_wb"}
        Runs of letters, digits and underscores; runs of characters; or runs of characters within words.
    lowercase : bool
    min_length : int
        Of a word, in characters.
    ngrams : tuple of int
        The least and the largest number of words, or characters, in a run.
    stop_words : frozenset of str
        Words that are left out before runs are made.
    punctuation : bool
        Whether every character that is neither a part of a word nor white space is a word of its own.
    """

    analyzer: str = "word"
    lowercase: bool = True
    min_length: int = 2
    ngrams: tuple[int, int] = (1, 1)
    stop_words: frozenset[str] = frozenset()
    punctuation: bool = False


@lru_cache(maxsize=64)
def _native(reading: Reading) -> Any:
    stop, (least, most) = Words.of(sorted(reading.stop_words)), reading.ngrams
    return _core.reading_of(
        ANALYZERS.index(reading.analyzer),
        reading.lowercase,
        min(reading.min_length, LONGEST),
        min(least, LONGEST),
        min(most, LONGEST),
        *stop,
        reading.punctuation,
    )


class NotUtf8Error(InputError):
    """Bytes of a document that are no UTF-8: its row, and where in it they are."""

    def __init__(self, row: int, at: int) -> None:
        self.row, self.at = row, at
        super().__init__(
            f"Document {row} has bytes that are no UTF-8, from byte {at} on. Decode the column to texts before, in "
            "the encoding that it has, or with errors replaced."
        )


class TooLongError(InputError):
    """A document that is longer than can be read."""

    def __init__(self, row: int, length: int) -> None:
        super().__init__(
            f"Document {row} is {length:,} characters or bytes long, and must be shorter than {LONGEST:,}. Cut it into "
            "several."
        )


class Documents:
    """Texts where they lie, of Python's objects or of Arrow columns; a missing one has no words.

    >>> documents = Documents.of_strings(["To be, or not", None])
    >>> documents.words(0, Reading())
    ['to', 'be', 'or', 'not']
    >>> documents.missing
    array([False,  True])
    """

    def __init__(self, native: Any) -> None:
        self._native = native

    @classmethod
    def of_strings(cls, texts: Sequence[str | None]) -> Documents:
        """Texts of Python, in a list or tuple; `TypeError` with the row of the first that is neither str nor None."""
        return cls(_core.documents_of_strings(texts))

    @classmethod
    def of_arrow(cls, column: Any) -> Documents | None:
        """Texts of a column with an Arrow C stream, where they are; None if it is no column of texts."""
        stream = getattr(column, "__arrow_c_stream__", None)
        found = None if stream is None else _core.documents_of_arrow(stream())
        return None if found is None else cls(found)

    @classmethod
    def of_tokens(cls, tokens: Sequence[Sequence[str] | None]) -> Documents:
        """Lists of words, taken as they are whatever the `Reading`; `TypeError` with the row of a wrong one."""
        return cls(_core.documents_of_tokens(tokens))

    def __len__(self) -> int:
        return len(self._native)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which of them are not there (n,)."""
        found: NDArray[np.bool_] = self._native.missing().view(bool)
        return found

    def rows(self, start: int, stop: int) -> Documents:
        """Those of rows start..stop−1."""
        return Documents(self._native.rows(start, min(stop, len(self))))

    def take(self, index: NDArray[np.intp]) -> Documents:
        """Those at some places."""
        return Documents(self._native.take(np.ascontiguousarray(index, dtype=np.int64)))

    def words(self, row: int, reading: Reading) -> list[str]:
        """The words of one document, in their order; runs of two after all of one, and so on."""
        with _Sentences(0):
            return _core.document_words(self._native, _native(reading), row)

    def _passes(self) -> list[tuple[int, int]]:
        """Rows that are read in one pass."""
        if self._native.bytes() < MOST_BYTES:
            return [(0, len(self))]
        ends = np.cumsum(self._native.sizes())
        bounds = np.searchsorted(ends, np.arange(MOST_BYTES, ends[-1] + MOST_BYTES, MOST_BYTES)).tolist()
        starts = [0, *(min(stop + 1, len(self)) for stop in bounds)]
        return [(a, b) for a, b in zip(starts, [*starts[1:], len(self)], strict=True) if a < b]


class _Sentences:
    """Around a pass over rows from ``first`` on: names the row of the whole that cannot be read."""

    def __init__(self, first: int) -> None:
        self.first = first

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, ValueError) and str(error).startswith(("bad ", "long ")):
            why, row, number = str(error).split()
            raise (NotUtf8Error if why == "bad" else TooLongError)(self.first + int(row), int(number)) from None


class Lookup:
    """The place of each word: among those given, or by a hash among a fixed number of slots."""

    def __init__(self, words: Words | None = None, *, slots: int = 0) -> None:
        self._native = _core.Lookup(*(Words.of([]) if words is None else words), slots)

    @property
    def size(self) -> int:
        """How many places there are."""
        return len(self._native)


class Encoded(NamedTuple):
    """Documents as rows of a sparse matrix (CSR), columns rising in each row.

    Attributes
    ----------
    words : Words or None
        Those of the columns, if none were given.
    starts : array of int64 of shape (n + 1,)
    columns : array of int32
    counts : array of int64 or float64
    """

    words: Words | None
    starts: Places
    columns: NDArray[Any]
    counts: NDArray[Any]


@dataclass(frozen=True, eq=False)
class Counted:
    """How often words are there in each class.

    Attributes
    ----------
    words : Words or None
        None where slots were counted.
    count : array of shape (K, V)
        Σ x.
    documents : array of shape (K, V)
        How many documents have the word.
    """

    words: Words | None
    count: Float
    documents: Float


def count_words(documents: Documents, reading: Reading, codes: Places, n_classes: int, *, slots: int = 0) -> Counted:
    """The words of all documents that have a code, counted by class; those of others are no words.

    >>> documents = Documents.of_strings(["an apple", "an apple or an egg"])
    >>> found = count_words(documents, Reading(), np.array([0, 1]), 2)
    >>> found.words.texts(), found.count, found.documents[1]
    (['an', 'apple', 'egg', 'or'], array([[1., 1., 0., 0.],
           [2., 1., 1., 1.]]), array([1., 1., 1., 1.]))
    """
    whole: Counted | None = None
    for start, stop in documents._passes():
        part, some = documents.rows(start, stop), codes[start:stop]
        with _Sentences(start):
            if slots:
                found = Counted(None, *_core.count_slots(part._native, _native(reading), some, n_classes, slots))
            else:
                words, count, having = _core.count_words(part._native, _native(reading), some, n_classes)
                found = Counted(Words(*words), count, having)
        whole = found if whole is None else _added(whole, found)
    assert whole is not None
    return whole


def _added(mine: Counted, others: Counted) -> Counted:
    """The counts of both."""
    if mine.words is None or others.words is None:
        return Counted(None, mine.count + others.count, mine.documents + others.documents)
    words, here, there = join_words(mine.words, others.words)
    count, having = np.zeros((2, len(mine.count), words.size))
    count[:, here], having[:, here] = mine.count, mine.documents
    count[:, there] += others.count
    having[:, there] += others.documents
    return Counted(words, count, having)


def encode_words(
    documents: Documents, reading: Reading, lookup: Lookup | None = None, *, dtype: Any = np.int64
) -> Encoded:
    """How often each document has each word: of the lookup, or of all that occur.

    >>> documents = Documents.of_strings(["an apple", "an apple or an egg"])
    >>> found = encode_words(documents, Reading())
    >>> found.columns, found.counts, found.starts
    (array([0, 1, 0, 1, 2, 3], dtype=int32), array([1, 1, 2, 1, 1, 1]), array([0, 2, 6]))
    """
    passes = documents._passes()
    if len(passes) > 1 and lookup is None:  # what the words are is found first
        known = count_words(documents, reading, np.zeros(len(documents), dtype=np.int64), 1).words
        return encode_words(documents, reading, Lookup(known), dtype=dtype)._replace(words=known)
    native = None if lookup is None else lookup._native
    parts = []
    for start, stop in passes:
        with _Sentences(start):
            parts.append(_core.encode_words(documents.rows(start, stop)._native, _native(reading), native))
    packed, starts, columns, counts = parts[0]
    if len(parts) > 1:
        base = np.cumsum([0, *(part[1][-1] for part in parts[:-1])])
        starts = np.concatenate([parts[0][1], *(part[1][1:] + b for part, b in zip(parts[1:], base[1:], strict=True))])
        columns, counts = (np.concatenate([part[i] for part in parts]) for i in (2, 3))
    words = None if packed is None else Words(*packed)
    return Encoded(
        words, starts.view(np.int64), columns.view(np.int32), counts.view(np.int64).astype(dtype, copy=False)
    )


def score_words(
    documents: Documents, reading: Reading, lookup: Lookup, slope: Float, *, distinct: bool = False
) -> tuple[Float, Float]:
    """Σ of the slope (V, K) of each word of a document that has a place, each as often as it comes, or once.

    Returns
    -------
    scores : array of shape (n, K)
    length : array of shape (n,)
        How many words were added.
    """
    scores, length = np.empty((len(documents), slope.shape[1])), np.empty(len(documents))
    slope = np.ascontiguousarray(slope, dtype=np.float64)
    with _Sentences(0):
        _core.score_words(documents._native, _native(reading), lookup._native, slope, distinct, scores, length)
    return scores, length


def join_words(mine: Words, others: Words) -> tuple[Words, Places, Places]:
    """The words of both, and where those of each are among them."""
    words, here, there = _core.join_words(*mine, *others)
    return Words(*words), here, there


def word_places(among: Words, words: Words) -> Places:
    """Where words are among others; −1 if they are not."""
    return _core.word_places(*among, *words)


def word_slot(word: str, slots: int) -> int:
    """The slot of a word, by a hash that is the same everywhere."""
    return int(_core.word_hash(word.encode("utf-8", "surrogatepass")) % slots)


def case_classes() -> NDArray[np.uint8]:
    """What each character is around a capital sigma: 1 if case is ignored there, 2 if it has case, else 0.

    Asked of ``str.lower``, which knows no other way to say it: a sigma is the final one after a character with case.
    """
    every = np.arange(0x110000, dtype=np.uint32)
    sigma, letter, end = (np.full_like(every, ord(each)) for each in "ΣA\n")
    alone = _lowered(np.column_stack([every, sigma, end]))
    after = _lowered(np.column_stack([letter, every, sigma, end]))
    final = ord("ς")
    return np.where(alone == final, 2, np.where(after == final, 1, 0)).astype(np.uint8)


def _lowered(rows: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """What the sigma, the last but one of each row, is in lower case."""
    rows[ord("İ"), -3] = ord("i")  # the one character that two stand for
    rows[ord("Σ"), -3] = ord("σ")
    text = rows.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass").lower()
    lower = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").reshape(rows.shape)
    return lower[:, -2]
