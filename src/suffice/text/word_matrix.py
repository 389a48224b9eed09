"""Documents that come in parts, as rows of one sparse matrix."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.kernels.text import Documents, Encoded, Lookup, Reading, Words, encode_words, join_words, word_places

__all__ = ["encoded_with", "joined_words", "taking_columns"]

BLOCK = 1 << 22  # entries at a time


def joined_words(parts: Iterable[tuple[Documents, Reading]]) -> tuple[Words, Encoded, int]:
    """The words of all documents, how often each document has each, and how many documents are missing."""
    found, n_missing = [], 0
    for documents, reading in parts:
        found.append(encode_words(documents, reading))
        n_missing += int(np.count_nonzero(documents.missing))
    if len(found) == 1:
        assert found[0].words is not None
        return found[0].words, found[0], n_missing
    words = _union([each.words for each in found if each.words is not None])
    for i, each in enumerate(found):
        assert each.words is not None
        # Both are sorted, so that columns go on rising in each row.
        at = word_places(words, each.words).astype(np.int32 if words.size < 1 << 31 else np.int64)
        found[i] = each._replace(columns=at[each.columns])
    return words, _stacked(found), n_missing


def encoded_with(parts: Iterable[tuple[Documents, Reading]], lookup: Lookup) -> Encoded:
    """How often each document has each word that is known."""
    return _stacked([encode_words(documents, reading, lookup) for documents, reading in parts])


def taking_columns(found: Encoded, mask: NDArray[np.bool_]) -> Encoded:
    """Some columns of a matrix; those that stay keep their order.

    >>> from suffice.kernels.text import Documents, Reading
    >>> found = encode_words(Documents.of_strings(["be do be", "do to"]), Reading())
    >>> [part.tolist() for part in taking_columns(found, np.array([True, False, True]))[1:]]
    [[0, 1, 2], [0, 1], [2, 1]]
    """
    place = (np.cumsum(mask) - 1).astype(found.columns.dtype)
    kept: NDArray[np.bool_] = np.empty(len(found.columns), dtype=bool)
    before = np.zeros(len(found.starts), dtype=np.int64)  # entries that stay before each row
    so_far = 0
    for start in range(0, len(kept), BLOCK):
        here = slice(start, min(start + BLOCK, len(kept)))
        np.take(mask, found.columns[here], out=kept[here])
        running = np.cumsum(kept[here])
        rows = slice(*np.searchsorted(found.starts, [start, here.stop], side="right"))
        before[rows] = so_far + running[found.starts[rows] - start - 1]
        so_far += int(running[-1])
    return Encoded(None, before, place[found.columns[kept]], found.counts[kept])


def _union(words: list[Words]) -> Words:
    """The words of all, joined two and two."""
    while len(words) > 1:
        pairs = [join_words(*words[i : i + 2])[0] for i in range(0, len(words) - 1, 2)]
        words = pairs + words[len(words) - len(words) % 2 :]
    return words[0] if words else Words.of([])


def _stacked(found: list[Encoded]) -> Encoded:
    """Rows below rows."""
    if len(found) == 1:
        return found[0]

    def joined(parts: list[Any], dtype: Any) -> NDArray[Any]:
        return np.concatenate(parts) if parts else np.zeros(0, dtype=dtype)

    starts, so_far = [np.zeros(1, dtype=np.int64)], 0
    for each in found:
        starts.append(each.starts[1:] + so_far)
        so_far += int(each.starts[-1])
    columns = joined([each.columns for each in found], np.int32)
    return Encoded(None, np.concatenate(starts), columns, joined([each.counts for each in found], np.int64))
