"""`Vocabulary`: the words of a text column, or slots that words are hashed to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import Argument, InputError, MergeError
from suffice.kernels.text import Lookup, Words, join_words, word_positions, word_slot
from suffice.numerics.types import Codes, Mask

__all__ = ["MOST_SLOTS", "Vocabulary"]

Places = Codes

MOST_SLOTS = 1 << 28


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Sorted, distinct words; or a fixed number of slots that words are hashed to.

    Words are stored packed, so a million words take the memory of their letters. Slots store no words: two words may
    share a slot, and the number of slots never grows.

    Attributes
    ----------
    text : array of uint8
        All words in UTF-8, concatenated; empty for slots.
    ends : array of int64
        End of each word in ``text``.
    slots : int
        Number of slots; 0 if words are stored.

    See Also
    --------
    suffice.tables.WordRows : Documents as counts of words.
    suffice.WordCounts : Counts the words of documents into a sparse matrix.

    Examples
    --------
    >>> words = Vocabulary.of(["pill", "hello", "pill"])
    >>> words.words
    ['hello', 'pill']
    >>> words.union(Vocabulary.of(["day"])).words
    ['day', 'hello', 'pill']
    >>> len(Vocabulary.hashed(8))
    8
    """

    text: NDArray[np.uint8]
    ends: Places
    slots: int = 0

    @classmethod
    def of(cls, words: Iterable[str]) -> Vocabulary:
        """Return the vocabulary of the distinct words among ``words``."""
        return cls.packed(Words.of(sorted(set(words))))

    @classmethod
    def packed(cls, words: Words) -> Vocabulary:
        """Return the vocabulary of words that are already sorted, distinct and packed."""
        return cls(words.text, words.ends)

    @classmethod
    def hashed(cls, slots: int) -> Vocabulary:
        """Return a vocabulary of a number of slots."""
        if isinstance(slots, bool) or not isinstance(slots, int | np.integer) or not 1 <= slots <= MOST_SLOTS:
            raise InputError(f"slots must be an integer from 1 to 2**28; got {slots!r}.", argument="slots")
        nothing = Words.of([])
        return cls(nothing.text, nothing.ends, int(slots))

    @classmethod
    def empty(cls, slots: int = 0) -> Vocabulary:
        """Return a vocabulary without words, or one of a number of slots."""
        return cls.hashed(slots) if slots else cls.packed(Words.of([]))

    def __post_init__(self) -> None:
        for array in (self.text, self.ends):
            if isinstance(array, np.ndarray):  # values read from a file may have other types; see `flaw`
                array.flags.writeable = False

    def __getstate__(self) -> dict[str, object]:
        """Return the fields without cached properties."""
        return {"text": self.text, "ends": self.ends, "slots": self.slots}

    def __len__(self) -> int:
        return self.slots or len(self.ends)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Vocabulary):
            return NotImplemented
        if self is other:
            return True
        same = self.slots == other.slots and np.array_equal(self.ends, other.ends)
        return bool(same and np.array_equal(self.text, other.text))

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Vocabulary of {self.slots} slots" if self.slots else f"Vocabulary of {len(self)} words"

    @property
    def raw(self) -> Words:
        """The words in the form that the kernels take."""
        return Words(self.text, self.ends)

    @property
    def words(self) -> list[str]:
        """The words, or a name such as "slot 3" for each slot."""
        return [f"slot {i}" for i in range(self.slots)] if self.slots else self.raw.texts()

    def word(self, at: int) -> str:
        """Return the word at a position."""
        if self.slots:
            return f"slot {at}"
        start = int(self.ends[at - 1]) if at else 0
        return self.text[start : int(self.ends[at])].tobytes().decode("utf-8", "surrogatepass")

    @cached_property
    def lookup(self) -> Lookup:
        """Table that finds the position of a word."""
        return Lookup(slots=self.slots) if self.slots else Lookup(self.raw)

    def place(self, word: str) -> int:
        """Return the position of a word; −1 if it is not in the vocabulary."""
        if self.slots:
            return word_slot(word, self.slots)
        return int(word_positions(self.raw, Words.of([word]))[0])

    def positions(self, other: Vocabulary) -> Places:
        """Return the position of each word of another vocabulary; −1 for a word that is not in this one."""
        self.check_mergeable(other)
        if self is other or self.slots:
            return np.arange(len(other))
        return word_positions(self.raw, other.raw)

    def taking(self, at: Places | Mask) -> Vocabulary:
        """Return some of the words, by ascending positions or by a mask."""
        if self.slots:
            raise InputError("Cannot select some slots: the number of slots is fixed.")
        return Vocabulary.packed(self.raw.taking(at))

    def union(self, other: Vocabulary) -> Vocabulary:
        """Return the vocabulary of the words of both."""
        return self.joined(other)[0]

    def joined(self, other: Vocabulary) -> tuple[Vocabulary, Places, Places]:
        """Return the words of both, and the positions of the words of each in the result."""
        self.check_mergeable(other)
        if self.slots or self == other:
            here = np.arange(len(self))
            return self, here, here
        both, mine, theirs = join_words(self.raw, other.raw)
        if both.size == len(self):
            return self, mine, theirs
        return (other if both.size == len(other) else Vocabulary.packed(both)), mine, theirs

    def check_mergeable(self, other: Vocabulary) -> None:
        """Raise `MergeError` unless both store words or both have the same number of slots."""
        if self.slots != other.slots:
            raise MergeError(
                f"Cannot merge {_storage(self)} with {_storage(other)}. Read both with the same number of ",
                Argument("slots"),
                ".",
            )

    def flaw(self) -> str | None:
        """Return what is wrong with fields that were read from a file; None if they are a valid vocabulary."""
        if type(self.slots) is not int or not 0 <= self.slots <= MOST_SLOTS:
            return "its number of slots is invalid"
        for array, kind in ((self.text, np.uint8), (self.ends, np.int64)):
            if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != 1:
                return "its words are not packed"
        starts = np.concatenate([[0], self.ends])
        if (np.diff(starts) < 0).any() or int(starts[-1]) != len(self.text):
            return "its words have invalid ends"
        if self.slots:
            return "it has both words and slots" if len(self.ends) else None
        try:
            self.raw.texts()
        except UnicodeDecodeError:
            return "its words are not UTF-8"
        return None if self.raw.first_unsorted() < 0 else "its words are not sorted and distinct"


def _storage(vocabulary: Vocabulary) -> str:
    return f"words hashed to {vocabulary.slots} slots" if vocabulary.slots else "words that are not hashed"
