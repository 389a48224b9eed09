"""The words of a column of texts: which column of a table of counts is of which word, and how two of them unite."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError, MergeError
from suffice.kernels.text import Lookup, Words, join_words, word_positions, word_slot

__all__ = ["MOST_SLOTS", "Vocabulary"]

Places = NDArray[np.int64]

MOST_SLOTS = 1 << 28


@dataclass(frozen=True, eq=False)
class Vocabulary:
    """Sorted, distinct words; or a fixed number of slots, in which words are found by a hash.

    Words are kept packed, so that a million of them cost what their letters do. Slots know no words: two words may
    share one, and no stream of documents makes them more.

    Attributes
    ----------
    text : array of uint8
        The UTF-8 of all words, one after another; of slots nothing.
    ends : array of int64
        Where each word ends.
    slots : int
        Their number; 0 where words are kept.

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
        """The distinct words among ``words``."""
        return cls.packed(Words.of(sorted(set(words))))

    @classmethod
    def packed(cls, words: Words) -> Vocabulary:
        """Of words that are sorted, distinct and packed already."""
        return cls(words.text, words.ends)

    @classmethod
    def hashed(cls, slots: int) -> Vocabulary:
        """Of so many slots."""
        if isinstance(slots, bool) or not isinstance(slots, int | np.integer) or not 1 <= slots <= MOST_SLOTS:
            raise InputError(f"slots is the number of places to hash words to, from 1 to 2**28; got {slots!r}.")
        nothing = Words.of([])
        return cls(nothing.text, nothing.ends, int(slots))

    @classmethod
    def empty(cls, slots: int = 0) -> Vocabulary:
        """Without a word; or of so many slots."""
        return cls.hashed(slots) if slots else cls.packed(Words.of([]))

    def __post_init__(self) -> None:
        for array in (self.text, self.ends):
            if isinstance(array, np.ndarray):  # a file may say otherwise; see `flaw`
                array.flags.writeable = False

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone, without what was made of them."""
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
        """The words as the kernels take them."""
        return Words(self.text, self.ends)

    @property
    def words(self) -> list[str]:
        """The words; for each slot its number."""
        return [f"slot {i}" for i in range(self.slots)] if self.slots else self.raw.texts()

    def word(self, at: int) -> str:
        """One of the words."""
        if self.slots:
            return f"slot {at}"
        start = int(self.ends[at - 1]) if at else 0
        return self.text[start : int(self.ends[at])].tobytes().decode("utf-8", "surrogatepass")

    @cached_property
    def lookup(self) -> Lookup:
        """Finds the place of a word."""
        return Lookup(slots=self.slots) if self.slots else Lookup(self.raw)

    def place(self, word: str) -> int:
        """The place of a word; −1 if it has none."""
        if self.slots:
            return word_slot(word, self.slots)
        return int(word_positions(self.raw, Words.of([word]))[0])

    def positions(self, other: Vocabulary) -> Places:
        """Where each word of another vocabulary is in this one; −1 for a word that is not."""
        self.check_alike(other)
        if self is other or self.slots:
            return np.arange(len(other))
        return word_positions(self.raw, other.raw)

    def taking(self, at: Places | NDArray[np.bool_]) -> Vocabulary:
        """Some of the words, by rising places or by a mask."""
        if self.slots:
            raise InputError("Slots are of a fixed number: none can be taken without the others.")
        return Vocabulary.packed(self.raw.taking(at))

    def union(self, other: Vocabulary) -> Vocabulary:
        """The words of both."""
        return self.joined(other)[0]

    def joined(self, other: Vocabulary) -> tuple[Vocabulary, Places, Places]:
        """The words of both, and where those of each are among them."""
        self.check_alike(other)
        if self.slots or self == other:
            here = np.arange(len(self))
            return self, here, here
        both, mine, theirs = join_words(self.raw, other.raw)
        if both.size == len(self):
            return self, mine, theirs
        return (other if both.size == len(other) else Vocabulary.packed(both)), mine, theirs

    def check_alike(self, other: Vocabulary) -> None:
        """Raise unless both keep words, or both are of as many slots."""
        if self.slots != other.slots:
            raise MergeError(
                f"Words that are {_kept(self)} cannot be joined with words that are {_kept(other)}. Read both with "
                "the same slots."
            )

    def flaw(self) -> str | None:
        """What is wrong with arrays that came from elsewhere; None if they are the words of a vocabulary."""
        if type(self.slots) is not int or not 0 <= self.slots <= MOST_SLOTS:
            return "its slots are no number"
        for array, kind in ((self.text, np.uint8), (self.ends, np.int64)):
            if not isinstance(array, np.ndarray) or array.dtype != kind or array.ndim != 1:
                return "its words are not packed"
        starts = np.concatenate([[0], self.ends])
        if (np.diff(starts) < 0).any() or int(starts[-1]) != len(self.text):
            return "its words do not end where they should"
        if self.slots:
            return "it has both words and slots" if len(self.ends) else None
        try:
            self.raw.texts()
        except UnicodeDecodeError:
            return "its words are not UTF-8"
        return None if self.raw.first_unsorted() < 0 else "its words are not sorted and distinct"


def _kept(vocabulary: Vocabulary) -> str:
    return f"hashed to {vocabulary.slots} slots" if vocabulary.slots else "kept as they are"
