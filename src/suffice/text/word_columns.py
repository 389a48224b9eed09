"""Words and their columns in a matrix: learned ones in the order of the alphabet, given ones in any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

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
        The column of each, if it is not its place.
    """

    words: Words
    columns: NDArray[np.int64] | None = None

    @classmethod
    def of(cls, given: Any) -> WordColumns:
        """A mapping of words to columns, or words in the order of their columns; a set is sorted first.

        >>> WordColumns.of({"pizza": 0, "beer": 1}).columns
        array([1, 0])
        >>> WordColumns.of({"pizza": 1, "beer": 2})
        Traceback (most recent call last):
        suffice.exceptions.InputError: Vocabulary of size 2 doesn't contain index 0.
        """
        places = _of_mapping(given) if isinstance(given, Mapping) else _of_words(given)
        if not places:
            raise InputError("empty vocabulary passed to fit")
        order = sorted(places)
        columns = np.array([places[word] for word in order], dtype=np.int64)
        return cls(Words.of(order), None if (np.diff(columns) == 1).all() else columns)

    @property
    def size(self) -> int:
        """How many there are."""
        return self.words.size

    @cached_property
    def lookup(self) -> Lookup:
        """Where to find the place of a word."""
        return Lookup(self.words)

    @cached_property
    def places(self) -> dict[str, int]:
        """The column of each word."""
        columns = range(self.size) if self.columns is None else self.columns.tolist()
        return dict(zip(self.words.texts(), columns, strict=True))

    def names(self) -> NDArray[Any]:
        """The words in the order of their columns."""
        out = np.empty(self.size, dtype=object)
        out[slice(None) if self.columns is None else self.columns] = self.words.texts()
        return out

    def same_as(self, other: WordColumns) -> bool:
        """Whether both have the same words at the same columns."""
        same = np.array_equal(self.words.text, other.words.text) and np.array_equal(self.words.ends, other.words.ends)
        if self.columns is None or other.columns is None:
            return same and self.columns is other.columns
        return same and np.array_equal(self.columns, other.columns)

    def __getstate__(self) -> dict[str, Any]:
        """Without what is made of it."""
        return {"words": self.words, "columns": self.columns}


def _checked(given: Iterable[Any]) -> list[str]:
    words = list(given)
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"The words of a vocabulary must be texts; {word!r:.80} is none.")
    return words


def _of_words(given: Any) -> dict[str, int]:
    places: dict[str, int] = {}
    words = _checked(given)
    for column, word in enumerate(sorted(words) if isinstance(given, set | frozenset) else words):
        if places.setdefault(word, column) != column:
            raise InputError(f"Duplicate term in vocabulary: {word!r:.80}")
    return places


def _of_mapping(given: Mapping[Any, Any]) -> dict[str, int]:
    places = dict(zip(_checked(given), given.values(), strict=True))
    for word, column in places.items():
        if not isinstance(column, Integral):
            raise InputError(
                f"The columns of a vocabulary must be whole numbers; that of {word!r:.80} is {column!r:.80}."
            )
    columns = set(places.values())
    if len(columns) != len(places):
        raise InputError("Vocabulary contains repeated indices.")
    for column in range(len(places)):
        if column not in columns:
            raise InputError(f"Vocabulary of size {len(places)} doesn't contain index {column}.")
    return {word: int(column) for word, column in places.items()}
