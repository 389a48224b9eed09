"""Columns of categories as their source stores them: numbers of any type, or an engine's own codes.

Nothing is sorted, converted or copied until somebody asks for levels and codes. Counting and evaluating do not: the
kernels read what is stored, and a small table says what each number means.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from suffice import kernels
from suffice.numerics.types import Array, Codes, Mask
from suffice.tables.levels import EXACT, Coded, CodedColumn, Levels, coded_numbers

__all__ = [
    "NumberColumn",
    "NumberRows",
    "Places",
    "StoredCodes",
    "bounds",
    "coded_places",
    "countable",
    "stored_places",
]


class NumberColumn(CodedColumn):
    """A column of numbers of any real type, where NaN is missing; every number is a level.

    >>> NumberColumn(np.array([7, 5, 7], dtype=np.int8)).levels.values
    (5, 7)
    """

    def __init__(self, values: Array) -> None:
        self.__dict__["stored"] = values

    stored: Array

    @cached_property
    def _found(self) -> tuple[Levels, Codes]:
        return coded_numbers(self.stored)

    @cached_property
    def levels(self) -> Levels:
        """The distinct numbers."""
        return self._found[0]

    @cached_property
    def codes(self) -> Codes:
        """Positions among the levels."""
        return self._found[1]

    def take(self, n: int, index: Any) -> NumberColumn:
        """Some of the rows."""
        return NumberColumn(self.stored[index])


class StoredCodes(CodedColumn):
    """A column as codes of an engine's dictionary, of any type of whole numbers.

    Parameters
    ----------
    levels : Levels
    stored : array of int of shape (n,)
        A code v ≥ 0 stands for the level ``where[v]``; −1 is a missing cell.
    where : array of int of shape (m + 1,)
        Positions among the levels; −1 where an entry of the dictionary is missing itself, −2 where it is no level.
        The last entry is −1, and answers for code −1.
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
        """Whether the dictionary has an entry that is no level; no row need have it."""
        return bool((self.where == -2).any())

    def on(self, levels: Levels) -> StoredCodes:
        """The same column as codes of other levels; −2 marks a level that is not among them."""
        if levels is self.levels or levels.values == self.levels.values:
            return self
        place = np.append(levels.positions(self.levels.values), -1)
        place[:-1][place[:-1] < 0] = -2
        return StoredCodes(levels, self.stored, place[self.where])

    def take(self, n: int, index: Any) -> StoredCodes:
        """Some of the rows."""
        return StoredCodes(self.levels, self.stored[index], self.where)


class NumberRows(Coded):
    """A batch of rows that are one matrix of numbers (n, d); every column is a `NumberColumn`."""

    def __init__(self, x: Array, ranges: kernels.Ranges | None = None) -> None:
        self.__dict__.update(n_rows=len(x), x=x)
        if ranges is not None:
            self.__dict__["ranges"] = ranges

    x: Array

    @cached_property
    def ranges(self) -> kernels.Ranges:
        """What the columns hold."""
        return kernels.value_ranges(self.x)

    @cached_property
    def columns(self) -> tuple[CodedColumn, ...]:
        """The columns, one by one."""
        return tuple(NumberColumn(self.x[:, j]) for j in range(self.x.shape[1]))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, self.x.shape[1]

    def take(self, index: Any) -> NumberRows:
        """Some of the rows."""
        return NumberRows(self.x[index])


class Places(NamedTuple):
    """What the kernels count a column's numbers by: ``low..low+size-1`` stand for ``where``, others for nothing.

    ``where`` is None for numbers that are levels themselves.
    """

    stored: Array
    low: int
    size: int
    where: Codes | None


def countable(ranges: kernels.Ranges, n_rows: int) -> Mask:
    """Which columns hold whole numbers of so small a range that they are counted, and need not be sorted."""
    low, high = ranges.low, ranges.high
    empty = low > high
    with np.errstate(invalid="ignore"):
        small = (high - low < 1000 + 2 * n_rows) & (low > -EXACT) & (high < EXACT)
    out: Mask = ranges.whole & (small | empty)
    return out


def stored_places(columns: Sequence[CodedColumn]) -> list[Places | None]:
    """The places of each column that is dense; None for one whose numbers must be sorted, or that is sparse."""
    out: list[Places | None] = [None] * len(columns)
    numbers = [j for j, column in enumerate(columns) if isinstance(column, NumberColumn)]
    if numbers:
        stored = [columns[j].stored for j in numbers]  # type: ignore[attr-defined]
        ranges = kernels.value_ranges(stored)
        few = countable(ranges, len(stored[0]))
        for i in np.flatnonzero(few).tolist():
            out[numbers[i]] = Places(stored[i], *bounds(ranges, i), None)
    for j, column in enumerate(columns):
        if isinstance(column, StoredCodes):
            out[j] = Places(column.stored, -1, len(column.where), np.roll(column.where, 1))
        elif out[j] is None and column.rows is None and not isinstance(column, NumberColumn):
            out[j] = coded_places(column)
    return out


def coded_places(column: CodedColumn) -> Places:
    """The places of a column that is coded; −2, a level that is none of these, has none."""
    size = len(column.levels)
    return Places(column.codes, -1, size + 1, np.arange(-1, size))


def bounds(ranges: kernels.Ranges, j: int) -> tuple[int, int]:
    """The least number of a column, and how many there are up to the largest."""
    low, high = float(ranges.low[j]), float(ranges.high[j])
    return (int(low), int(high) - int(low) + 1) if low <= high else (0, 0)
