"""What `suffice.kernels.text` finds, found by Python's own means: the oracle of its tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.text import ClassWordCounts, EncodedDocuments, TokenRules, Words

Float = NDArray[np.float64]
Places = NDArray[np.int64]


class Documents:
    """Texts where they lie, of Python's objects or of Arrow columns; a missing one has no words."""

    def __init__(self, texts: list[Any], *, tokens: bool = False) -> None:
        self._texts, self._tokens = texts, tokens

    @classmethod
    def of_strings(cls, texts: Sequence[str | None]) -> Documents:
        """Texts of Python; `TypeError` with the row of the first that is neither str nor None."""
        for row, each in enumerate(texts):
            if each is not None and not isinstance(each, str):
                raise TypeError(row)
        return cls(list(texts))

    @classmethod
    def of_tokens(cls, tokens: Sequence[Sequence[str] | None]) -> Documents:
        """Words that need no reading."""
        return cls(list(tokens), tokens=True)

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Which of them are not there (n,)."""
        return np.array([each is None for each in self._texts], dtype=bool)

    def rows(self, start: int, stop: int) -> Documents:
        """Those of rows start..stop−1."""
        return Documents(self._texts[start:stop], tokens=self._tokens)

    def take(self, index: NDArray[np.intp]) -> Documents:
        """Those at some places."""
        return Documents([self._texts[i] for i in index], tokens=self._tokens)

    def words(self, row: int, reading: TokenRules) -> list[str]:
        """The words of one document, in their order."""
        text = self._texts[row]
        if text is None:
            return []
        return list(text) if self._tokens else _words(text, reading)


class Lookup:
    """The place of each word: among those given, or by a hash among a fixed number of slots."""

    def __init__(self, words: Words | None = None, *, slots: int = 0) -> None:
        self._slots = slots
        self._place = {} if words is None else {word: i for i, word in enumerate(words.texts())}

    @property
    def size(self) -> int:
        """How many places there are."""
        return self._slots or len(self._place)

    def place(self, word: str) -> int:
        """The place of a word; −1 if it has none."""
        return word_slot(word, self._slots) if self._slots else self._place.get(word, -1)


def count_words(
    documents: Documents, reading: TokenRules, codes: Places, n_classes: int, *, slots: int = 0
) -> ClassWordCounts:
    """The words of all documents that have a code, counted by class; those of others are no words."""
    found: dict[Any, Float] = {}
    for row, code in enumerate(codes.tolist()):
        if not 0 <= code < n_classes:
            continue
        words: list[Any] = documents.words(row, reading)
        words = [word_slot(each, slots) for each in words] if slots else words
        for each in words:
            found.setdefault(each, np.zeros((2, n_classes)))[0, code] += 1
        for each in set(words):
            found[each][1, code] += 1
    if slots:
        table = np.zeros((2, n_classes, slots))
        for place, sums in found.items():
            table[:, :, place] = sums
        return ClassWordCounts(None, table[0], table[1])
    order = sorted(found)
    table = np.array([found[word] for word in order]).reshape(len(order), 2, n_classes).transpose(1, 2, 0)
    return ClassWordCounts(Words.of(order), np.ascontiguousarray(table[0]), np.ascontiguousarray(table[1]))


def encode_words(
    documents: Documents, reading: TokenRules, lookup: Lookup | None = None, *, dtype: Any = np.int64
) -> EncodedDocuments:
    """How often each document has each word: of the lookup, or of all that occur. ``dtype`` is int64 or float64."""
    lists = [documents.words(row, reading) for row in range(len(documents))]
    words = None if lookup is not None else Words.of(sorted({word for each in lists for word in each}))
    lookup = Lookup(words) if lookup is None else lookup
    starts, columns, counts = [0], [], []
    for each in lists:
        places: dict[int, int] = {}
        for word in each:
            at = lookup.place(word)
            if at >= 0:
                places[at] = places.get(at, 0) + 1
        columns += sorted(places)
        counts += [places[at] for at in sorted(places)]
        starts.append(len(columns))
    return EncodedDocuments(
        words, np.array(starts, dtype=np.int64), np.array(columns, dtype=np.int32), np.array(counts, dtype=dtype)
    )


def score_words(
    documents: Documents, reading: TokenRules, lookup: Lookup, slope: Float, *, distinct: bool = False
) -> tuple[Float, Float]:
    """Σ of the slope (V, K) of each word of a document that has a place, each as often as it comes, or once.

    Returns
    -------
    scores : array of shape (n, K)
    length : array of shape (n,)
        How many words were added.
    """
    found = encode_words(documents, reading, lookup, dtype=np.float64)
    rows = np.repeat(np.arange(len(documents)), np.diff(found.starts))
    counts = np.ones_like(found.counts) if distinct else found.counts
    scores = np.zeros((len(documents), slope.shape[1]))
    np.add.at(scores, rows, counts[:, None] * slope[found.columns])
    return scores, np.bincount(rows, counts, minlength=len(documents)).astype(np.float64)


def join_words(mine: Words, others: Words) -> tuple[Words, Places, Places]:
    """The words of both, and where those of each are among them."""
    joined = Words.of(sorted({*mine.texts(), *others.texts()}))
    return joined, word_positions(joined, mine), word_positions(joined, others)


def word_positions(among: Words, words: Words) -> Places:
    """Where words are among others; −1 if they are not."""
    place = {word: i for i, word in enumerate(among.texts())}
    return np.array([place.get(word, -1) for word in words.texts()], dtype=np.int64)


def word_slot(word: str, slots: int) -> int:
    """The slot of a word, by a hash that is the same everywhere."""
    data, h = word.encode("utf-8", "surrogatepass"), 0x9E3779B97F4A7C15
    for i in range(0, len(data), 8):
        h = _mixed(h ^ int.from_bytes(data[i : i + 8], "little"))
    return _mixed(h ^ len(data)) % slots


def _mixed(h: int) -> int:
    h = (h * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    return h ^ (h >> 32)


def _words(text: str, reading: TokenRules) -> list[str]:
    text = text.lower() if reading.lowercase else text
    least, most = reading.ngrams
    if reading.analyzer == "word":
        found = re.findall(rf"\b\w{{{reading.min_length},}}\b" + (r"|[^\w\s]" if reading.punctuation else ""), text)
        found = [word for word in found if word not in reading.stop_words]
        return [" ".join(found[i : i + n]) for n in range(least, most + 1) for i in range(len(found) - n + 1)]
    text = re.sub(r"\s\s+", " ", text)
    if reading.analyzer == "char":
        return [text[i : i + n] for n in range(least, most + 1) for i in range(len(text) - n + 1)]
    out = []
    for word in text.split():
        padded = f" {word} "
        for n in range(least, most + 1):
            out += [padded[i : i + n] for i in range(max(1, len(padded) - n + 1))]
            if len(padded) <= n:
                break
    return out
