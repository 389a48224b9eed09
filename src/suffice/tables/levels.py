"""Levels of categorical columns, and columns stored as codes of levels.

A level is any hashable value: a string, a number, a boolean, a date. Its code is its position among the sorted levels
seen, so the number 10⁹ or a text of a megabyte takes no more memory in a row than any other level.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from suffice.numerics.types import Array, Codes, Mask, Selection

__all__ = [
    "Coded",
    "CodedColumn",
    "Levels",
    "coded_numbers",
    "coded_values",
    "is_missing",
    "level_kind",
    "level_positions",
]

EXACT = 2.0**53  # whole numbers below are exact in float64


@dataclass(frozen=True, eq=False)
class Levels:
    """Sorted, distinct levels of one column: numbers, then strings, then other values grouped by type.

    Parameters
    ----------
    values : tuple
        The levels, sorted and distinct.
    declared : frozenset
        Levels that the type of the column lists, such as the categories of pandas. They stay even if no row has them.

    See Also
    --------
    suffice.tables.CodedColumn : A column as codes of levels.
    suffice.tables.Vocabulary : The words of documents.

    Examples
    --------
    >>> levels = Levels.of(["red", "blue", "red"])
    >>> levels.values
    ('blue', 'red')
    >>> levels.union(Levels.of(["green"])).values
    ('blue', 'green', 'red')
    """

    values: tuple[Hashable, ...]
    declared: frozenset[Hashable] = frozenset()

    @classmethod
    def of(cls, values: Iterable[Hashable], *, declared: bool = False) -> Levels:
        """Return the distinct levels among ``values``."""
        distinct = set(values)
        return cls(tuple(in_order(distinct)), frozenset(distinct) if declared else frozenset())

    def __len__(self) -> int:
        return len(self.values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Levels):
            return NotImplemented
        return self is other or (self.values == other.values and self.declared == other.declared)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def place(self) -> dict[Hashable, int]:
        """Position of each level."""
        return dict(zip(self.values, range(len(self.values)), strict=True))

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of the levels; see `level_kind`."""
        return frozenset(map(level_kind, self.values))

    def union(self, other: Levels) -> Levels:
        """Return the levels of both."""
        if self is other or (other.declared <= self.declared and all(value in self.place for value in other.values)):
            return self
        if self.declared <= other.declared and all(value in other.place for value in self.values):
            return other
        return Levels(tuple(in_order({*self.values, *other.values})), self.declared | other.declared)

    def positions(self, values: Iterable[Hashable]) -> Codes:
        """Return the position of each value; −1 for a value that is not a level."""
        place = self.place
        return np.array([place.get(value, -1) for value in values], dtype=np.int64)

    def taking(self, keep: Mask) -> Levels:
        """Return the levels where ``keep`` is true."""
        return Levels(tuple(value for value, kept in zip(self.values, keep, strict=True) if kept), self.declared)


def level_kind(value: object) -> str:
    """Return the kind of a level; levels of one kind sort together."""
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return "number"
    return "text" if isinstance(value, str) else type(value).__name__


def in_order(values: Iterable[Hashable]) -> list[Hashable]:
    """Sort levels: numbers, then strings, then other values by type; values without an order by their string."""
    groups: dict[str, list[Any]] = {}
    values = list(values)
    if set(map(type, values)) <= {str}:
        return sorted(values)  # type: ignore[type-var]
    for value in values:
        groups.setdefault(level_kind(value), []).append(value)
    rank = {"number": "0", "text": "1"}
    out: list[Hashable] = []
    for kind in sorted(groups, key=lambda kind: (rank.get(kind, "2"), kind)):
        try:
            out += sorted(groups[kind])
        except TypeError:
            out += sorted(groups[kind], key=str)
    return out


def is_missing(value: object) -> bool:
    """Whether a cell is missing: None, NaN, NA or NaT."""
    if value is None:
        return True
    if isinstance(value, str | bytes | int | bool):
        return False
    try:
        return bool(value != value)
    except (TypeError, ArithmeticError):
        return True  # comparing NA gives NA, which is neither true nor false; a signalling NaN raises
    except ValueError:
        return False  # an array


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """One column as codes of levels.

    Parameters
    ----------
    levels : Levels
        The levels.
    codes : array of int of shape (n,), or (m,) with ``rows``
        Positions among the levels; −1 for a missing cell.
    rows : array of int of shape (m,), optional
        Rows of the codes if only some rows are stored (sparse).
    rest : int
        Code of all other rows.

    See Also
    --------
    suffice.tables.Coded : A batch of coded columns.
    suffice.tables.Levels : The levels.

    Examples
    --------
    >>> from suffice.tables import CodedColumn
    >>> from suffice.tables.levels import coded_values
    >>> column = CodedColumn(*coded_values(["red", None, "blue", "red"]))
    >>> column.levels.values, column.codes.tolist()
    (('blue', 'red'), [1, -1, 0, 1])
    """

    levels: Levels
    codes: Codes
    rows: Codes | None = None
    rest: int = -1

    def dense(self, n: int) -> Codes:
        """Return the code of every row (n,)."""
        if self.rows is None:
            return self.codes
        out = np.full(n, self.rest, dtype=np.int64)
        out[self.rows] = self.codes
        return out

    def on(self, levels: Levels) -> CodedColumn:
        """Return the column as codes of other levels; −2 marks a level that is not among them."""
        if levels is self.levels or levels.values == self.levels.values:
            return self
        where = np.append(levels.positions(self.levels.values), -1)  # code −1 indexes the last entry
        where[:-1][where[:-1] < 0] = -2
        return CodedColumn(levels, where[self.codes], self.rows, int(where[self.rest]))

    def values(self, n: int) -> list[Hashable]:
        """Return the level of every row; None for a missing cell."""
        names = [*self.levels.values, None]
        return [names[code] for code in self.dense(n).tolist()]

    def take(self, n: int, index: Selection) -> CodedColumn:
        """Return the selected rows."""
        return CodedColumn(self.levels, self.dense(n)[index])


@dataclass(frozen=True, eq=False)
class Coded:
    """A batch of rows whose columns are all coded.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    columns : tuple of CodedColumn
        The columns.

    See Also
    --------
    suffice.tables.CodedColumn : One column of the batch.
    suffice.statistics.Counts : Counts of the levels by class.

    Examples
    --------
    >>> from suffice.tables import Coded, CodedColumn
    >>> from suffice.tables.levels import coded_values
    >>> batch = Coded(3, (CodedColumn(*coded_values(["red", None, "blue"])),))
    >>> batch.columns[0].codes.tolist()
    [1, -1, 0]
    """

    n_rows: int
    columns: tuple[CodedColumn, ...]

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return self.n_rows, len(self.columns)

    def take(self, index: Selection) -> Coded:
        """Return the selected rows."""
        columns = tuple(column.take(self.n_rows, index) for column in self.columns)
        return Coded(len(np.arange(self.n_rows)[index]), columns)

    def matrix(self) -> Codes:
        """Return the code of every cell (n, d)."""
        return np.column_stack([column.dense(self.n_rows) for column in self.columns]).reshape(self.shape)


def coded_numbers(values: Array) -> tuple[Levels, Codes]:
    """Return levels and codes of a column of numbers; NaN is missing, and whole numbers become ``int``.

    >>> levels, codes = coded_numbers(np.array([7.0, np.nan, 1e9, 7.0]))
    >>> levels.values, codes
    ((7, 1000000000), array([ 0, -1,  1,  0]))
    """
    values = np.ascontiguousarray(values)
    if values.dtype.kind == "f":
        there = ~np.isnan(values)
        if not there.all():
            codes = np.full(len(values), -1, dtype=np.int64)
            levels, codes[there] = coded_numbers(values[there])
            return levels, codes
        if len(values) and values.min() > -EXACT and values.max() < EXACT:
            whole = values.astype(np.int64)
            if (whole == values).all():
                values = whole
    if values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < 1000 + 2 * len(values) and low > -(2**62) and high < 2**62:
            offset = values.astype(np.int64, copy=False) - low
            present = np.flatnonzero(np.bincount(offset))
            if len(present) == high - low + 1:
                return Levels(tuple(range(low, high + 1))), offset
            code = np.zeros(high - low + 1, dtype=np.int64)
            code[present] = np.arange(len(present))
            return Levels(tuple((present + low).tolist())), code[offset]
    distinct, codes = np.unique(values, return_inverse=True)
    return Levels(tuple(_whole(value) for value in distinct.tolist())), codes.astype(np.int64).ravel()


def _whole(value: Hashable) -> Hashable:
    """Convert a float that is a whole number to ``int``, because 1.0 and 1 are one level."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def coded_values(values: Sequence[Hashable]) -> tuple[Levels, Codes]:
    """Return the levels of a column of any values in order, and its codes.

    >>> levels, codes = coded_values(["b", None, "a", "b"])
    >>> levels.values, codes
    (('a', 'b'), array([ 1, -1,  0,  1]))
    """
    code: dict[Hashable, int] = {}  # in the order in which values occur
    codes = np.fromiter((code.setdefault(value, len(code)) for value in values), dtype=np.int64, count=len(values))
    levels, positions = level_positions(list(code))
    return levels, positions[codes]


def level_positions(distinct: Sequence[Hashable], *, declared: bool = False) -> tuple[Levels, Codes]:
    """Return the levels in order, and the position of each distinct value among them followed by an entry of −1.

    The position of a missing value is −1. Code −1 indexes the last entry, so it stays −1.

    >>> levels, positions = level_positions(["b", None, "a"])
    >>> levels.values, positions
    (('a', 'b'), array([ 1, -1,  0, -1]))
    """
    if set(map(type, distinct)) <= {str}:  # never missing
        values, levels = distinct, Levels.of(distinct, declared=declared)
    else:
        values = [None if is_missing(value) else _whole(value) for value in distinct]
        levels = Levels.of((value for value in values if value is not None), declared=declared)
    return levels, np.array([*map(levels.place.get, values, repeat(-1)), -1], dtype=np.int64)
