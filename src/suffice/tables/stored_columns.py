"""Categorical columns in the form that their source stores: numbers of any type, or an engine's own codes.

Levels and codes are computed only when asked for. Counting and evaluating do not need them: the kernels read the stored
numbers, and a small table maps each number to its level.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from suffice import kernels
from suffice.numerics.types import Array, Codes, Mask, Selection
from suffice.tables.levels import EXACT, Coded, CodedColumn, Levels, coded_numbers

__all__ = [
    "CodeRange",
    "NumberColumn",
    "NumberRows",
    "StoredCodes",
    "code_range",
    "code_ranges",
    "countable",
    "value_bounds",
]


class NumberColumn(CodedColumn):
    """A column of numbers of any real type; NaN is missing, and every other number is a level.

    >>> NumberColumn(np.array([7, 5, 7], dtype=np.int8)).levels.values
    (5, 7)
    """

    def __init__(self, values: Array) -> None:
        self.__dict__["stored"] = values

    stored: Array

    @cached_property
    def _coded(self) -> tuple[Levels, Codes]:
        return coded_numbers(self.stored)

    @cached_property
    def levels(self) -> Levels:
        """The distinct numbers."""
        return self._coded[0]

    @cached_property
    def codes(self) -> Codes:
        """Positions among the levels."""
        return self._coded[1]

    def take(self, n: int, index: Selection) -> NumberColumn:
        """Return the selected rows."""
        return NumberColumn(self.stored[index])


class StoredCodes(CodedColumn):
    """A column as integer codes of an engine's dictionary.

    Parameters
    ----------
    levels : Levels
    stored : array of int of shape (n,)
        A code v ≥ 0 stands for the level ``where[v]``; −1 is a missing cell.
    where : array of int of shape (m + 1,)
        Positions among the levels; −1 for a dictionary entry that is missing itself, −2 for one that is not a level.
        The last entry is −1, because code −1 indexes it.
    """

    def __init__(self, levels: Levels, stored: Array, where: Codes) -> None:
        self.__dict__.update(levels=levels, stored=stored, where=where)

    stored: Array
    where: Codes

    @cached_property
    def codes(self) -> Codes:
        """Positions among the levels."""
        codes: Codes = self.where[self.stored]
        return codes

    @property
    def may_be_unseen(self) -> bool:
        """Whether the dictionary has an entry that is not a level, even if no row has it."""
        return bool((self.where == -2).any())

    def on(self, levels: Levels) -> StoredCodes:
        """Return the column as codes of other levels; −2 marks a level that is not among them."""
        if levels is self.levels or levels.values == self.levels.values:
            return self
        positions = np.append(levels.positions(self.levels.values), -1)
        positions[:-1][positions[:-1] < 0] = -2
        return StoredCodes(levels, self.stored, positions[self.where])

    def take(self, n: int, index: Selection) -> StoredCodes:
        """Return the selected rows."""
        return StoredCodes(self.levels, self.stored[index], self.where)


class NumberRows(Coded):
    """A batch of rows stored as one matrix of numbers (n, d); every column is a `NumberColumn`."""

    def __init__(self, x: Array, ranges: kernels.Ranges | None = None) -> None:
        self.__dict__.update(n_rows=len(x), x=x)
        if ranges is not None:
            self.__dict__["ranges"] = ranges

    x: Array

    @cached_property
    def ranges(self) -> kernels.Ranges:
        """Smallest and largest value of each column, and whether all are whole numbers."""
        return kernels.value_ranges(self.x)

    @cached_property
    def columns(self) -> tuple[CodedColumn, ...]:
        """The columns."""
        return tuple(NumberColumn(self.x[:, j]) for j in range(self.x.shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.n_rows, self.x.shape[1]

    def take(self, index: Selection) -> NumberRows:
        """Return the selected rows."""
        return NumberRows(self.x[index])


class CodeRange(NamedTuple):
    """A column's stored numbers as the kernels count them: each of ``low..low+size-1`` is counted apart.

    ``where`` (size,) gives the position of each number among the levels; None if the numbers are the levels.
    """

    stored: Array
    low: int
    size: int
    where: Codes | None


def countable(ranges: kernels.Ranges, n_rows: int) -> Mask:
    """Return which columns hold whole numbers in a range small enough to count them without sorting (d,)."""
    low, high = ranges.low, ranges.high
    empty = low > high
    with np.errstate(invalid="ignore"):
        small = (high - low < 1000 + 2 * n_rows) & (low > -EXACT) & (high < EXACT)
    out: Mask = ranges.whole & (small | empty)
    return out


def code_ranges(columns: Sequence[CodedColumn]) -> list[CodeRange | None]:
    """Return the code range of each column; None for a sparse column and for numbers that must be sorted."""
    out: list[CodeRange | None] = [None] * len(columns)
    at, stored = [], []
    for j, column in enumerate(columns):
        if isinstance(column, NumberColumn):
            at.append(j)
            stored.append(column.stored)
    if stored:
        ranges = kernels.value_ranges(stored)
        few = countable(ranges, len(stored[0]))
        for i in np.flatnonzero(few).tolist():
            out[at[i]] = CodeRange(stored[i], *value_bounds(ranges, i), None)
    for j, column in enumerate(columns):
        if isinstance(column, StoredCodes):
            out[j] = CodeRange(column.stored, -1, len(column.where), np.roll(column.where, 1))
        elif out[j] is None and column.rows is None and not isinstance(column, NumberColumn):
            out[j] = code_range(column)
    return out


def code_range(column: CodedColumn) -> CodeRange:
    """Return the range of a column of codes, from −1 on; −2, an unknown level, is outside it."""
    size = len(column.levels)
    return CodeRange(column.codes, -1, size + 1, np.arange(-1, size))


def value_bounds(ranges: kernels.Ranges, j: int) -> tuple[int, int]:
    """Return the smallest number of a column, and the number of integers from there to the largest."""
    low, high = float(ranges.low[j]), float(ranges.high[j])
    return (int(low), int(high) - int(low) + 1) if low <= high else (0, 0)
