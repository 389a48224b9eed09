"""Merge many items in a balanced tree."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["MergeTree"]

T = TypeVar("T")


class MergeTree(Generic[T]):
    """Merges items two by two, those of equally many items first.

    Rounding then grows with the logarithm of their number, and so does the number of items in memory.

    Examples
    --------
    >>> tree = MergeTree(lambda a, b: f"({a} {b})")
    >>> for letter in "abcde":
    ...     tree.add(letter)
    >>> tree.total()
    '(((a b) (c d)) e)'
    """

    def __init__(self, merge: Callable[[T, T], T]) -> None:
        self._merge = merge
        self._parts: list[tuple[int, T]] = []  # with the number of items in each, the largest first

    def add(self, item: T) -> None:
        """Take in the next item."""
        size = 1
        while self._parts and self._parts[-1][0] == size:
            item = self._merge(self._parts.pop()[1], item)
            size *= 2
        self._parts.append((size, item))

    def __len__(self) -> int:
        return sum(size for size, _ in self._parts)

    def total(self) -> T | None:
        """The merge of all items; None if there are none."""
        while len(self._parts) > 1:
            size, last = self._parts.pop()
            self._parts[-1] = self._parts[-1][0] + size, self._merge(self._parts[-1][1], last)
        return self._parts[0][1] if self._parts else None
