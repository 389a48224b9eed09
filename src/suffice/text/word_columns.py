"""Words and their columns in a matrix: learned words are in alphabetical order, given words in any order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.kernels.text import Lookup, Words

__all__ = ["WordColumns"]


@dataclass(frozen=True, eq=False)
class WordColumns:
    """Words and their columns in a matrix.

    Parameters
    ----------
    words : Words
    columns : array of int of shape (V,), optional
        The column of each word, if it differs from the word's position.
    """

    words: Words
    columns: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, given: Mapping[str, int] | Iterable[str]) -> WordColumns:
        """From a mapping of words to columns, or from words in the order of their columns; a set is sorted first.

        >>> WordColumns.of({"pizza": 0, "beer": 1}).columns
        array([1, 0])
        >>> WordColumns.of({"pizza": 1, "beer": 2})
        Traceback (most recent call last):
        suffice.exceptions.InputError: Vocabulary of size 2 doesn't contain index 0.
        """
        column_of = _of_mapping(given) if isinstance(given, Mapping) else _of_words(given)
        if not column_of:
            raise InputError("empty vocabulary passed to fit", argument="vocabulary")
        order = sorted(column_of)
        columns = np.array([column_of[word] for word in order], dtype=np.int64)
        return cls(Words.of(order), None if (np.diff(columns) == 1).all() else columns)

    @property
    def size(self) -> int:
        """Number of words."""
        return self.words.size

    @cached_property
    def lookup(self) -> Lookup:
        """Maps each word to its position."""
        return Lookup(self.words)

    @cached_property
    def column_of(self) -> dict[str, int]:
        """The column of each word."""
        columns = range(self.size) if self.columns is None else self.columns.tolist()
        return dict(zip(self.words.texts(), columns, strict=True))

    def names(self) -> NDArray[np.object_]:
        """The words in the order of their columns."""
        out = np.empty(self.size, dtype=object)
        out[slice(None) if self.columns is None else self.columns] = self.words.texts()
        return out

    def same_as(self, other: WordColumns) -> bool:
        """Whether both have the same words in the same columns."""
        same = np.array_equal(self.words.text, other.words.text) and np.array_equal(self.words.ends, other.words.ends)
        if self.columns is None or other.columns is None:
            return same and self.columns is other.columns
        return same and np.array_equal(self.columns, other.columns)

    def __getstate__(self) -> dict[str, object]:
        """The state without cached properties."""
        return {"words": self.words, "columns": self.columns}


def _checked(given: Iterable[str]) -> list[str]:
    words = list(given)
    for word in words:
        if not isinstance(word, str):
            raise _error(f"The words of a vocabulary must be strings; {word!r:.80} is not a string.")
    return words


def _error(sentence: str) -> InputError:
    return InputError(sentence, argument="vocabulary")


def _of_words(given: Iterable[str]) -> dict[str, int]:
    column_of: dict[str, int] = {}
    words = _checked(given)
    for column, word in enumerate(sorted(words) if isinstance(given, set | frozenset) else words):
        if column_of.setdefault(word, column) != column:
            raise _error(f"Duplicate term in vocabulary: {word!r:.80}")
    return column_of


def _of_mapping(given: Mapping[str, int]) -> dict[str, int]:
    column_of: dict[str, object] = dict(zip(_checked(given), given.values(), strict=True))
    columns = []
    for word, column in column_of.items():
        if not isinstance(column, Integral):
            raise _error(f"The columns of a vocabulary must be whole numbers; that of {word!r:.80} is {column!r:.80}.")
        columns.append(int(column))
    distinct = set(columns)
    if len(distinct) != len(column_of):
        raise _error("Vocabulary contains repeated indices.")
    for number in range(len(column_of)):
        if number not in distinct:
            raise _error(f"Vocabulary of size {len(column_of)} doesn't contain index {number}.")
    return dict(zip(column_of, columns, strict=True))
