"""Documents that arrive in parts, encoded as rows of one sparse matrix."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import DTypeLike

from suffice.kernels.text import (
    Documents,
    EncodedDocuments,
    Lookup,
    TokenRules,
    Words,
    encode_words,
    join_words,
    word_positions,
)
from suffice.numerics.types import Array, Mask

__all__ = ["encoded_with", "joined_words", "taking_columns"]

BLOCK = 1 << 22  # entries processed at a time


def joined_words(parts: Iterable[tuple[Documents, TokenRules]]) -> tuple[Words, EncodedDocuments, int]:
    """The words of all documents, their counts in each document, and the number of missing documents."""
    encoded, n_missing = [], 0
    for documents, rules in parts:
        encoded.append(encode_words(documents, rules))
        n_missing += int(np.count_nonzero(documents.missing))
    if len(encoded) == 1:
        assert encoded[0].words is not None
        return encoded[0].words, encoded[0], n_missing
    words = _union([each.words for each in encoded if each.words is not None])
    for i, each in enumerate(encoded):
        assert each.words is not None
        # Both vocabularies are sorted, so the columns of each row still increase.
        at = word_positions(words, each.words).astype(np.int32 if words.size < 1 << 31 else np.int64)
        encoded[i] = each._replace(columns=at[each.columns])
    return words, _stacked(encoded), n_missing


def encoded_with(parts: Iterable[tuple[Documents, TokenRules]], lookup: Lookup) -> EncodedDocuments:
    """Counts of the known words in each document."""
    return _stacked([encode_words(documents, rules, lookup) for documents, rules in parts])


def taking_columns(encoded: EncodedDocuments, mask: Mask) -> EncodedDocuments:
    """The columns of a matrix where ``mask`` is True, in the same order.

    >>> from suffice.kernels.text import Documents, TokenRules
    >>> encoded = encode_words(Documents.of_strings(["be do be", "do to"]), TokenRules())
    >>> [part.tolist() for part in taking_columns(encoded, np.array([True, False, True]))[1:]]
    [[0, 1, 2], [0, 1], [2, 1]]
    """
    new_column = (np.cumsum(mask) - 1).astype(encoded.columns.dtype)
    kept: Mask = np.empty(len(encoded.columns), dtype=bool)
    before = np.zeros(len(encoded.starts), dtype=np.int64)  # kept entries before each row
    so_far = 0
    for start in range(0, len(kept), BLOCK):
        here = slice(start, min(start + BLOCK, len(kept)))
        np.take(mask, encoded.columns[here], out=kept[here])
        running = np.cumsum(kept[here])
        rows = slice(*np.searchsorted(encoded.starts, [start, here.stop], side="right"))
        before[rows] = so_far + running[encoded.starts[rows] - start - 1]
        so_far += int(running[-1])
    return EncodedDocuments(None, before, new_column[encoded.columns[kept]], encoded.counts[kept])


def _union(words: list[Words]) -> Words:
    """The union of vocabularies, joined in pairs."""
    while len(words) > 1:
        pairs = [join_words(*words[i : i + 2])[0] for i in range(0, len(words) - 1, 2)]
        words = pairs + words[len(words) - len(words) % 2 :]
    return words[0] if words else Words.of([])


def _stacked(encoded: list[EncodedDocuments]) -> EncodedDocuments:
    """The rows of all parts, one part after another."""
    if len(encoded) == 1:
        return encoded[0]

    def joined(parts: list[Array], dtype: DTypeLike) -> Array:
        return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)

    starts, so_far = [np.zeros(1, dtype=np.int64)], 0
    for each in encoded:
        starts.append(each.starts[1:] + so_far)
        so_far += int(each.starts[-1])
    columns = joined([each.columns for each in encoded], np.int32)
    return EncodedDocuments(None, np.concatenate(starts), columns, joined([each.counts for each in encoded], np.int64))
