"""The levels of a categorical column, and columns whose cells are codes of levels.

A level is any hashable value: a text, a number, a truth value, a date. Its code is its position among the
sorted levels seen, so that a level of 10⁹ or of a megabyte costs no more than any other.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from suffice.numerics.types import Array, Codes, Mask

__all__ = [
    "Coded",
    "CodedColumn",
    "Levels",
    "coded_numbers",
    "coded_values",
    "is_missing",
    "level_kind",
    "level_places",
]

EXACT = 2.0**53  # up to here whole numbers are exact in float64


@dataclass(frozen=True, eq=False)
class Levels:
    """Sorted, distinct levels of one column. Numbers come before texts, and anything else by its type.

    Parameters
    ----------
    values : tuple
    declared : frozenset
        Levels that the column's type lists, so that they count even if no row has them.

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
        """The distinct levels among ``values``."""
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
        return {value: i for i, value in enumerate(self.values)}

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The kinds of the levels; see `level_kind`."""
        return frozenset(map(level_kind, self.values))

    def union(self, other: Levels) -> Levels:
        """The levels of both."""
        if self is other or (other.declared <= self.declared and all(value in self.place for value in other.values)):
            return self
        if self.declared <= other.declared and all(value in other.place for value in self.values):
            return other
        return Levels(tuple(in_order({*self.values, *other.values})), self.declared | other.declared)

    def positions(self, values: Iterable[Hashable]) -> Codes:
        """Position of each value on this axis; −1 for a value that is not on it."""
        place = self.place
        return np.array([place.get(value, -1) for value in values], dtype=np.int64)

    def taking(self, keep: Mask) -> Levels:
        """The levels where ``keep`` is true."""
        return Levels(tuple(value for value, kept in zip(self.values, keep, strict=True) if kept), self.declared)


def level_kind(value: object) -> str:
    """The kind of a level: levels of one kind sort together."""
    if isinstance(value, bool | int | float | np.number | np.bool_):
        return "number"
    return "text" if isinstance(value, str) else type(value).__name__


def in_order(values: Iterable[Hashable]) -> list[Any]:
    """Levels sorted: numbers, then texts, then anything else by its type, and by its text if it has no order."""
    groups: dict[str, list[Any]] = {}
    for value in values:
        groups.setdefault(level_kind(value), []).append(value)
    rank = {"number": "0", "text": "1"}
    out: list[Any] = []
    for kind in sorted(groups, key=lambda kind: (rank.get(kind, "2"), kind)):
        try:
            out += sorted(groups[kind])
        except TypeError:
            out += sorted(groups[kind], key=str)
    return out


def is_missing(value: object) -> bool:
    """Whether a cell holds nothing: None, NaN, NA or NaT."""
    if value is None:
        return True
    if isinstance(value, str | bytes | int | bool):
        return False
    try:
        return bool(value != value)
    except TypeError:
        return True  # neither equal to itself nor not: NA
    except ValueError:
        return False  # an array


@dataclass(frozen=True, eq=False)
class CodedColumn:
    """One column as codes of levels.

    Parameters
    ----------
    levels : Levels
    codes : array of int of shape (n,), or (m,) with ``rows``
        Positions among the levels; −1 is a cell that is missing.
    rows : array of int of shape (m,), optional
        The rows the codes are of, where only some are stored (sparse).
    rest : int
        The code of all other rows.
    """

    levels: Levels
    codes: Codes
    rows: Codes | None = None
    rest: int = -1

    def dense(self, n: int) -> Codes:
        """The code of every row (n,)."""
        if self.rows is None:
            return self.codes
        out = np.full(n, self.rest, dtype=np.int64)
        out[self.rows] = self.codes
        return out

    def on(self, levels: Levels) -> CodedColumn:
        """The same column as codes of other levels; −2 marks a level that is not among them."""
        if levels is self.levels or levels.values == self.levels.values:
            return self
        where = np.append(levels.positions(self.levels.values), -1)  # the last entry answers for code −1
        where[:-1][where[:-1] < 0] = -2
        return CodedColumn(levels, where[self.codes], self.rows, int(where[self.rest]))

    def values(self, n: int) -> list[Any]:
        """The level of every row, None where the cell is missing."""
        names = [*self.levels.values, None]
        return [names[code] for code in self.dense(n).tolist()]

    def take(self, n: int, index: Any) -> CodedColumn:
        """Some of the rows."""
        return CodedColumn(self.levels, self.dense(n)[index])


@dataclass(frozen=True, eq=False)
class Coded:
    """A batch of rows whose columns are all coded."""

    n_rows: int
    columns: tuple[CodedColumn, ...]

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.n_rows, len(self.columns)

    def take(self, index: Any) -> Coded:
        """Some of the rows."""
        columns = tuple(column.take(self.n_rows, index) for column in self.columns)
        return Coded(len(np.arange(self.n_rows)[index]), columns)

    def matrix(self) -> Codes:
        """The code of every cell (n, d)."""
        return np.column_stack([column.dense(self.n_rows) for column in self.columns]).reshape(self.shape)


def coded_numbers(values: Array) -> tuple[Levels, Codes]:
    """Levels and codes of a column of numbers, where NaN is missing; whole numbers become ``int``.

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
            place = values.astype(np.int64, copy=False) - low
            present = np.flatnonzero(np.bincount(place))
            if len(present) == high - low + 1:
                return Levels(tuple(range(low, high + 1))), place
            code = np.zeros(high - low + 1, dtype=np.int64)
            code[present] = np.arange(len(present))
            return Levels(tuple((present + low).tolist())), code[place]
    distinct, codes = np.unique(values, return_inverse=True)
    return Levels(tuple(_plain(value) for value in distinct.tolist())), codes.astype(np.int64).ravel()


def _plain(value: Any) -> Any:
    """A float that is a whole number as that number: 1.0 and 1 are one level."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def coded_values(values: Sequence[Any]) -> tuple[Levels, Codes]:
    """Levels and codes of a column of any values, in the order of the levels.

    >>> levels, codes = coded_values(["b", None, "a", "b"])
    >>> levels.values, codes
    (('a', 'b'), array([ 1, -1,  0,  1]))
    """
    met: dict[Any, int] = {}
    codes = np.fromiter((met.setdefault(value, len(met)) for value in values), dtype=np.int64, count=len(values))
    return sorted_levels(list(met), codes)


def sorted_levels(met: Sequence[Any], codes: Codes, *, declared: bool = False) -> tuple[Levels, Codes]:
    """Levels in order, and the codes that refer to them, from levels in any order with missing ones among them."""
    levels, where = level_places(met, declared=declared)
    return levels, where[codes]


def level_places(met: Sequence[Any], *, declared: bool = False) -> tuple[Levels, Codes]:
    """Levels in order, and where each of those met stands among them: −1 if it is missing, as is one after the last.

    >>> levels, where = level_places(["b", None, "a"])
    >>> levels.values, where
    (('a', 'b'), array([ 1, -1,  0, -1]))
    """
    plain = [None if is_missing(value) else _plain(value) for value in met]
    levels = Levels.of((value for value in plain if value is not None), declared=declared)
    return levels, np.array([-1 if value is None else levels.place[value] for value in plain] + [-1], dtype=np.int64)
