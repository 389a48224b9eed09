"""Merging many values in a balanced tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["MergeTree"]

T = TypeVar("T")


class MergeTree(Generic[T]):
    """Merges values pairwise, in their order, always two that stand for equally many values.

    Rounding errors then grow with the logarithm of the number of values instead of the number itself, and so does the
    work if merged values grow. Only a logarithmic number of partial results is kept.

    Parameters
    ----------
    merge : callable
        Returns the merge of two values.

    Examples
    --------
    >>> tree = MergeTree(lambda a, b: f"({a}{b})")
    >>> for letter in "abcdef":
    ...     tree.add(letter)
    >>> tree.total()
    '(((ab)(cd))(ef))'
    """

    def __init__(self, merge: Callable[[T, T], T]) -> None:
        self._merge = merge
        self._parts: list[tuple[int, T]] = []  # number of values, and their merge; the largest first

    def add(self, value: T) -> None:
        """Add the next value."""
        size = 1
        while self._parts and self._parts[-1][0] == size:
            value = self._merge(self._parts.pop()[1], value)
            size *= 2
        self._parts.append((size, value))

    def total(self) -> T | None:
        """The merge of all values so far; None if there are none."""
        if not self._parts:
            return None
        total = self._parts[-1][1]
        for _, part in reversed(self._parts[:-1]):
            total = self._merge(part, total)
        return total
