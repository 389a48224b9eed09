"""Documents read as words: counted by class, encoded as rows of a sparse matrix, and scored.

Words are kept packed (`Words`): their UTF-8 one after another, sorted by code point as Python sorts strings.
`TokenRules` defines what a word is, exactly as scikit-learn's analyzers do. All functions use all threads, and results
do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import TracebackType
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from suffice.exceptions import InputError
from suffice.kernels import _core
from suffice.kernels.arrow import ArrowStream
from suffice.kernels.reading import Array, Float

__all__ = [
    "ClassWordCounts",
    "Documents",
    "EncodedDocuments",
    "Lookup",
    "NotUtf8Error",
    "TokenRules",
    "TooLongError",
    "Words",
    "count_words",
    "encode_words",
    "join_words",
    "score_words",
    "word_positions",
    "word_slot",
]

Positions = NDArray[np.int64]

ANALYZERS = ("word", "char", "char_wb")
MOST_BYTES = 1 << 31  # bytes of documents read in one pass, for which 32-bit numbers are enough
LONGEST = 1 << 30  # documents, words and n-grams are shorter than this


class Words(NamedTuple):
    """Distinct strings in the order of their code points, packed.

    Attributes
    ----------
    text : array of uint8
        Their UTF-8, one after another.
    ends : array of int64
        Where each string ends.
    """

    text: NDArray[np.uint8]
    ends: Positions

    @classmethod
    def of(cls, texts: Sequence[str]) -> Words:
        """Pack strings that are already sorted and distinct.

        >>> Words.of(["ab", "é"]).ends
        array([2, 4])
        """
        packed = [each.encode("utf-8", "surrogatepass") for each in texts]
        ends = np.cumsum([len(each) for each in packed], dtype=np.int64)
        return cls(np.frombuffer(b"".join(packed), dtype=np.uint8), ends)

    @property
    def size(self) -> int:
        """Number of words."""
        return len(self.ends)

    def texts(self) -> list[str]:
        """The words as Python strings.

        >>> Words.of(["ab", "é"]).texts()
        ['ab', 'é']
        """
        raw, ends = self.text.tobytes(), self.ends.tolist()
        return [raw[a:b].decode("utf-8", "surrogatepass") for a, b in zip([0, *ends], ends, strict=False)]

    def taking(self, at: Positions | NDArray[np.bool_]) -> Words:
        """The words at increasing positions, or where a mask is True."""
        positions = np.flatnonzero(at) if at.dtype == bool else np.ascontiguousarray(at, dtype=np.int64)
        return Words(*_core.take_words(*self, positions))

    def first_unsorted(self) -> int:
        """Position of the first word that does not sort after the one before it; −1 if all do.

        Raises `ValueError` if ``ends`` does not fit ``text``.
        """
        return _core.first_unsorted(*self)


class TokenRules(NamedTuple):
    """How the kernels split a document into words, with the meaning of scikit-learn's analyzers.

    Attributes
    ----------
    analyzer : {"word", "char", "char_wb"}
        Words of letters, digits and underscores; character n-grams; or character n-grams within words.
    lowercase : bool
    min_length : int
        Smallest length of a word, in characters.
    ngrams : tuple of int
        Smallest and largest number of words, or characters, in an n-gram.
    stop_words : frozenset of str
        Words removed before n-grams are formed.
    punctuation : bool
        Whether every character that is neither part of a word nor white space is a word of its own.
    characters : tuple of int
        Smallest and largest number of characters in the fragments of words that are counted beside words; (0, 0) for
        none.
    """

    analyzer: str = "word"
    lowercase: bool = True
    min_length: int = 2
    ngrams: tuple[int, int] = (1, 1)
    stop_words: frozenset[str] = frozenset()
    punctuation: bool = False
    characters: tuple[int, int] = (0, 0)


@lru_cache(maxsize=64)
def _native(rules: TokenRules) -> _core.TokenRules:
    stop, (least, most) = Words.of(sorted(rules.stop_words)), rules.ngrams
    return _core.token_rules(
        ANALYZERS.index(rules.analyzer),
        rules.lowercase,
        min(rules.min_length, LONGEST),
        min(least, LONGEST),
        min(most, LONGEST),
        *stop,
        rules.punctuation,
        *(min(each, LONGEST) for each in rules.characters),
    )


class NotUtf8Error(InputError):
    """A document whose bytes are not UTF-8.

    Attributes
    ----------
    rows : list of int
        All such documents of the batch.
    byte : int
        Position of the first invalid byte in the first of them.
    """

    byte: int = 0

    @classmethod
    def at_byte(cls, rows: Sequence[int], byte: int) -> Self:
        """The error for documents ``rows``, the first of which is invalid at ``byte``."""
        error = cls.in_row(
            f"has bytes that are not UTF-8, starting at byte {byte}. Decode the column to strings first, with its "
            "actual encoding or with errors replaced.",
            rows=rows,
        )
        error.byte = byte
        return error


class TooLongError(InputError):
    """A document that is too long to read."""

    @classmethod
    def with_length(cls, rows: Sequence[int], length: int) -> Self:
        """The error for documents ``rows``, the first of which has this length."""
        return cls.in_row(
            f"is {length:,} characters or bytes long; the limit is {LONGEST - 1:,}. Split the document.", rows=rows
        )


class Documents:
    """A column of texts, read in place from Python strings or Arrow columns. A missing text has no words.

    >>> documents = Documents.of_strings(["To be, or not", None])
    >>> documents.words(0, TokenRules())
    ['to', 'be', 'or', 'not']
    >>> documents.missing
    array([False,  True])
    """

    def __init__(self, native: _core.Documents) -> None:
        self._native = native

    @classmethod
    def of_strings(cls, texts: Sequence[str | None]) -> Documents:
        """Documents from a list, tuple or array of strings.

        Raises `TypeError` with the row of the first value that is neither str nor None.
        """
        return cls(_core.documents_of_strings(texts))

    @classmethod
    def of_arrow(cls, column: object) -> Documents | None:
        """Documents of a column with an Arrow C stream, in place; None if it is not a string column."""
        if not isinstance(column, ArrowStream):
            return None
        native = _core.documents_of_arrow(column.__arrow_c_stream__())
        return None if native is None else cls(native)

    @classmethod
    def of_tokens(cls, tokens: Sequence[Sequence[str] | None]) -> Documents:
        """Documents from lists of words, which are used unchanged whatever the `TokenRules`.

        Raises `TypeError` with the row of the first list that is invalid.
        """
        return cls(_core.documents_of_tokens(tokens))

    def __len__(self) -> int:
        return len(self._native)

    @property
    def native(self) -> _core.Documents:
        """The documents as the C++ functions take them."""
        return self._native

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of the missing documents (n,)."""
        return self._native.missing().view(np.bool_)

    def check_utf8(self) -> None:
        """Raise `NotUtf8Error` with all documents that are not UTF-8."""
        at = self._native.bad_bytes()
        rows = np.flatnonzero(at >= 0)
        if len(rows):
            raise NotUtf8Error.at_byte(rows.tolist(), int(at[rows[0]]))

    def rows(self, start: int, stop: int) -> Documents:
        """The documents of rows start..stop−1."""
        return Documents(self._native.rows(start, min(stop, len(self))))

    def take(self, index: NDArray[np.intp]) -> Documents:
        """The documents at these rows."""
        return Documents(self._native.take(np.ascontiguousarray(index, dtype=np.int64)))

    def words(self, row: int, rules: TokenRules) -> list[str]:
        """The words of one document in their order; word n-grams follow, shorter before longer, and fragments."""
        with _RowErrors(self.rows(row, row + 1)):
            return _core.document_words(self._native, _native(rules), row)

    def passes(self) -> list[tuple[int, int]]:
        """Ranges of rows that are read in one pass each."""
        if self._native.bytes() < MOST_BYTES:
            return [(0, len(self))]
        ends = np.cumsum(self._native.sizes())
        bounds = np.searchsorted(ends, np.arange(MOST_BYTES, ends[-1] + MOST_BYTES, MOST_BYTES)).tolist()
        starts = [0, *(min(stop + 1, len(self)) for stop in bounds)]
        return [(a, b) for a, b in zip(starts, [*starts[1:], len(self)], strict=True) if a < b]


class _RowErrors:
    """Context manager around a pass that starts at row ``first``. Turns C++ errors about a row into `InputError`."""

    def __init__(self, documents: Documents, first: int = 0) -> None:
        self.documents, self.first = documents, first

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if isinstance(error, ValueError) and str(error).startswith(("bad ", "long ")):
            reason, first, number = str(error).split()
            row = self.first + int(first)
            if reason == "bad":
                later = np.flatnonzero(self.documents.native.bad_bytes() >= 0)
                raise NotUtf8Error.at_byte([row, *later[later > row].tolist()], int(number)) from None
            long = np.flatnonzero(self.documents.native.sizes() >= LONGEST).tolist()
            raise TooLongError.with_length([row, *(each for each in long if each > row)], int(number)) from None


class Lookup:
    """Maps each word to its position: among given words, or by a hash among a fixed number of slots."""

    def __init__(self, words: Words | None = None, *, slots: int = 0) -> None:
        self._native = _core.Lookup(*(Words.of([]) if words is None else words), slots)

    @property
    def native(self) -> _core.Lookup:
        """The lookup as the C++ functions take it."""
        return self._native

    @property
    def size(self) -> int:
        """Number of positions."""
        return len(self._native)


class EncodedDocuments(NamedTuple):
    """Word counts of documents as rows of a sparse matrix (CSR), with increasing columns in each row.

    Attributes
    ----------
    words : Words or None
        The words of the columns, if they were not given.
    starts : array of int64 of shape (n + 1,)
    columns : array of int32
    counts : array of int64 or float64
    """

    words: Words | None
    starts: Positions
    columns: Array
    counts: Array


@dataclass(frozen=True, eq=False)
class ClassWordCounts:
    """Word counts of each class.

    Attributes
    ----------
    words : Words or None
        None if slots were counted.
    count : array of shape (K, V)
        Occurrences of each word, Σ x.
    documents : array of shape (K, V)
        Number of documents that contain the word.
    """

    words: Words | None
    count: Float
    documents: Float


def count_words(
    documents: Documents, rules: TokenRules, codes: Positions, n_classes: int, *, slots: int = 0
) -> ClassWordCounts:
    """Count the words of documents by class. Documents whose code is not a class add no words.

    >>> documents = Documents.of_strings(["an apple", "an apple or an egg"])
    >>> counts = count_words(documents, TokenRules(), np.array([0, 1]), 2)
    >>> counts.words.texts(), counts.count, counts.documents[1]
    (['an', 'apple', 'egg', 'or'], array([[1., 1., 0., 0.],
           [2., 1., 1., 1.]]), array([1., 1., 1., 1.]))
    """
    total: ClassWordCounts | None = None
    for start, stop in documents.passes():
        native, part_codes = documents.rows(start, stop).native, codes[start:stop]
        with _RowErrors(documents, start):
            if slots:
                part = ClassWordCounts(None, *_core.count_slots(native, _native(rules), part_codes, n_classes, slots))
            else:
                words, count, having = _core.count_words(native, _native(rules), part_codes, n_classes)
                part = ClassWordCounts(Words(*words), count, having)
        total = part if total is None else _added(total, part)
    assert total is not None
    return total


def _added(a: ClassWordCounts, b: ClassWordCounts) -> ClassWordCounts:
    """The sum of two counts."""
    if a.words is None or b.words is None:
        return ClassWordCounts(None, a.count + b.count, a.documents + b.documents)
    words, at_a, at_b = join_words(a.words, b.words)
    count, having = np.zeros((2, len(a.count), words.size))
    count[:, at_a], having[:, at_a] = a.count, a.documents
    count[:, at_b] += b.count
    having[:, at_b] += b.documents
    return ClassWordCounts(words, count, having)


def encode_words(
    documents: Documents, rules: TokenRules, lookup: Lookup | None = None, *, dtype: DTypeLike = np.int64
) -> EncodedDocuments:
    """Count the words of each document: the words of the lookup, or all words that occur.

    >>> documents = Documents.of_strings(["an apple", "an apple or an egg"])
    >>> encoded = encode_words(documents, TokenRules())
    >>> encoded.columns, encoded.counts, encoded.starts
    (array([0, 1, 0, 1, 2, 3], dtype=int32), array([1, 1, 2, 1, 1, 1]), array([0, 2, 6]))
    """
    passes = documents.passes()
    if len(passes) > 1 and lookup is None:  # the columns must be known before the first pass ends
        known = count_words(documents, rules, np.zeros(len(documents), dtype=np.int64), 1).words
        return encode_words(documents, rules, Lookup(known), dtype=dtype)._replace(words=known)
    native = None if lookup is None else lookup.native
    parts = []
    for start, stop in passes:
        with _RowErrors(documents, start):
            parts.append(_core.encode_words(documents.rows(start, stop).native, _native(rules), native))
    packed, starts, columns, counts = parts[0]
    if len(parts) > 1:
        base = np.cumsum([0, *(part[1][-1] for part in parts[:-1])])
        starts = np.concatenate([parts[0][1], *(part[1][1:] + b for part, b in zip(parts[1:], base[1:], strict=True))])
        columns, counts = (np.concatenate([part[i] for part in parts]) for i in (2, 3))
    words = None if packed is None else Words(*packed)
    return EncodedDocuments(
        words, starts.view(np.int64), columns.view(np.int32), counts.view(np.int64).astype(dtype, copy=False)
    )


def score_words(
    documents: Documents, rules: TokenRules, lookup: Lookup, slope: Float, *, distinct: bool = False
) -> tuple[Float, Float]:
    """Sum the slopes (V, K) of the known words of each document, once per occurrence or once per distinct word.

    Returns
    -------
    scores : array of shape (n, K)
    length : array of shape (n,)
        Number of words added.
    """
    scores, length = np.empty((len(documents), slope.shape[1])), np.empty(len(documents))
    slope = np.ascontiguousarray(slope, dtype=np.float64)
    with _RowErrors(documents):
        _core.score_words(documents.native, _native(rules), lookup.native, slope, distinct, scores, length)
    return scores, length


def join_words(a: Words, b: Words) -> tuple[Words, Positions, Positions]:
    """The union of two vocabularies, and the positions of the words of each in it."""
    words, at_a, at_b = _core.join_words(*a, *b)
    return Words(*words), at_a, at_b


def word_positions(among: Words, words: Words) -> Positions:
    """Position of each word in ``among``; −1 for words that are not in it."""
    return _core.word_positions(*among, *words)


def word_slot(word: str, slots: int) -> int:
    """The slot of a word, by a hash that is the same on every machine."""
    return int(_core.word_hash(word.encode("utf-8", "surrogatepass")) % slots)


def case_classes() -> NDArray[np.uint8]:
    """How each character affects the lower case of a neighbouring capital sigma: 1 ignored, 2 cased, 0 neither.

    Derived from ``str.lower``, since Python does not expose these properties: a sigma is final after a cased character.
    """
    every = np.arange(0x110000, dtype=np.uint32)
    sigma, letter, end = (np.full_like(every, ord(each)) for each in "ΣA\n")
    alone = _lower_sigma(np.column_stack([every, sigma, end]))
    after = _lower_sigma(np.column_stack([letter, every, sigma, end]))
    final = ord("ς")
    return np.where(alone == final, 2, np.where(after == final, 1, 0)).astype(np.uint8)


def _lower_sigma(rows: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Lower case of the sigma that is the last but one character of each row."""
    rows[ord("İ"), -3] = ord("i")  # the only character whose lower case is two characters
    rows[ord("Σ"), -3] = ord("σ")
    text = rows.astype("<u4").tobytes().decode("utf-32-le", "surrogatepass").lower()
    lower = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4").reshape(rows.shape)
    return lower[:, -2]
