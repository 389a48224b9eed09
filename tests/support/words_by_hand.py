"""`suffice.kernels.text` in plain Python: the oracle of its tests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.text import ClassWordCounts, EncodedDocuments, TokenRules, Words

Float = NDArray[np.float64]
Positions = NDArray[np.int64]


class Documents:
    """Texts or lists of words; a missing one has no words."""

    def __init__(self, texts: list[Any], *, tokens: bool = False) -> None:
        self._texts, self._tokens = texts, tokens

    @classmethod
    def of_strings(cls, texts: Sequence[str | None]) -> Documents:
        """From strings; raises `TypeError` with the row of the first value that is neither str nor None."""
        for row, each in enumerate(texts):
            if each is not None and not isinstance(each, str):
                raise TypeError(row)
        return cls(list(texts))

    @classmethod
    def of_tokens(cls, tokens: Sequence[Sequence[str] | None]) -> Documents:
        """From lists of words."""
        return cls(list(tokens), tokens=True)

    def __len__(self) -> int:
        return len(self._texts)

    @property
    def missing(self) -> NDArray[np.bool_]:
        """Mask of the missing documents (n,)."""
        return np.array([each is None for each in self._texts], dtype=bool)

    def rows(self, start: int, stop: int) -> Documents:
        """The documents of rows start..stop−1."""
        return Documents(self._texts[start:stop], tokens=self._tokens)

    def take(self, index: NDArray[np.intp]) -> Documents:
        """The documents at these rows."""
        return Documents([self._texts[i] for i in index], tokens=self._tokens)

    def words(self, row: int, rules: TokenRules) -> list[str]:
        """The words of one document, in order."""
        text = self._texts[row]
        if text is None:
            return []
        return list(text) if self._tokens else _words(text, rules)


class Lookup:
    """Maps each word to its position: among given words, or by a hash among a fixed number of slots."""

    def __init__(self, words: Words | None = None, *, slots: int = 0) -> None:
        self._slots = slots
        self._positions = {} if words is None else {word: i for i, word in enumerate(words.texts())}

    @property
    def size(self) -> int:
        """Number of positions."""
        return self._slots or len(self._positions)

    def position(self, word: str) -> int:
        """Position of a word; −1 if it is unknown."""
        return word_slot(word, self._slots) if self._slots else self._positions.get(word, -1)


def count_words(
    documents: Documents, rules: TokenRules, codes: Positions, n_classes: int, *, slots: int = 0
) -> ClassWordCounts:
    """Count the words of documents by class. Documents whose code is not a class add no words."""
    found: dict[Any, Float] = {}
    for row, code in enumerate(codes.tolist()):
        if not 0 <= code < n_classes:
            continue
        words: list[Any] = documents.words(row, rules)
        words = [word_slot(each, slots) for each in words] if slots else words
        for each in words:
            found.setdefault(each, np.zeros((2, n_classes)))[0, code] += 1
        for each in set(words):
            found[each][1, code] += 1
    if slots:
        table = np.zeros((2, n_classes, slots))
        for slot, sums in found.items():
            table[:, :, slot] = sums
        return ClassWordCounts(None, table[0], table[1])
    order = sorted(found)
    table = np.array([found[word] for word in order]).reshape(len(order), 2, n_classes).transpose(1, 2, 0)
    return ClassWordCounts(Words.of(order), np.ascontiguousarray(table[0]), np.ascontiguousarray(table[1]))


def encode_words(
    documents: Documents, rules: TokenRules, lookup: Lookup | None = None, *, dtype: Any = np.int64
) -> EncodedDocuments:
    """Count the words of each document: those of the lookup, or all that occur. ``dtype`` is int64 or float64."""
    lists = [documents.words(row, rules) for row in range(len(documents))]
    words = None if lookup is not None else Words.of(sorted({word for each in lists for word in each}))
    lookup = Lookup(words) if lookup is None else lookup
    starts, columns, counts = [0], [], []
    for each in lists:
        row: dict[int, int] = {}
        for word in each:
            at = lookup.position(word)
            if at >= 0:
                row[at] = row.get(at, 0) + 1
        columns += sorted(row)
        counts += [row[at] for at in sorted(row)]
        starts.append(len(columns))
    return EncodedDocuments(
        words, np.array(starts, dtype=np.int64), np.array(columns, dtype=np.int32), np.array(counts, dtype=dtype)
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
    found = encode_words(documents, rules, lookup, dtype=np.float64)
    rows = np.repeat(np.arange(len(documents)), np.diff(found.starts))
    counts = np.ones_like(found.counts) if distinct else found.counts
    scores = np.zeros((len(documents), slope.shape[1]))
    np.add.at(scores, rows, counts[:, None] * slope[found.columns])
    return scores, np.bincount(rows, counts, minlength=len(documents)).astype(np.float64)


def join_words(mine: Words, others: Words) -> tuple[Words, Positions, Positions]:
    """The union of two vocabularies, and the positions of the words of each in it."""
    joined = Words.of(sorted({*mine.texts(), *others.texts()}))
    return joined, word_positions(joined, mine), word_positions(joined, others)


def word_positions(among: Words, words: Words) -> Positions:
    """Position of each word in ``among``; −1 for words that are not in it."""
    position = {word: i for i, word in enumerate(among.texts())}
    return np.array([position.get(word, -1) for word in words.texts()], dtype=np.int64)


def word_slot(word: str, slots: int) -> int:
    """The slot of a word, by a hash that is the same on every machine."""
    data, h = word.encode("utf-8", "surrogatepass"), 0x9E3779B97F4A7C15
    for i in range(0, len(data), 8):
        h = _mix(h ^ int.from_bytes(data[i : i + 8], "little"))
    return _mix(h ^ len(data)) % slots


def _mix(h: int) -> int:
    h = (h * 0xBF58476D1CE4E5B9) & 0xFFFFFFFFFFFFFFFF
    return h ^ (h >> 32)


def _words(text: str, rules: TokenRules) -> list[str]:
    text = text.lower() if rules.lowercase else text
    least, most = rules.ngrams
    if rules.analyzer == "word":
        found = re.findall(rf"\b\w{{{rules.min_length},}}\b" + (r"|[^\w\s]" if rules.punctuation else ""), text)
        found = [word for word in found if word not in rules.stop_words]
        return [" ".join(found[i : i + n]) for n in range(least, most + 1) for i in range(len(found) - n + 1)]
    text = re.sub(r"\s\s+", " ", text)
    if rules.analyzer == "char":
        return [text[i : i + n] for n in range(least, most + 1) for i in range(len(text) - n + 1)]
    out = []
    for word in text.split():
        padded = f" {word} "
        for n in range(least, most + 1):
            out += [padded[i : i + n] for i in range(max(1, len(padded) - n + 1))]
            if len(padded) <= n:
                break
    return out
