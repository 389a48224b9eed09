"""Tables of columns of different types; each column is converted when a family reads it as numbers or categories."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cached_property
from typing import ClassVar

import numpy as np

from suffice.exceptions import Argument, InputError
from suffice.numerics.types import Float, Index, Matrix
from suffice.tables import Coded, CodedColumn, Table
from suffice.tables.column_matrix import ColumnMatrix, Part
from suffice.tables.levels import Levels, coded_values, is_missing
from suffice.tables.table import ColumnSelection, Kind
from suffice.text.texts import Texts

__all__ = ["Column", "ColumnTable", "NoColumn", "ObjectColumn", "kind_of_values", "numbers_of", "seconds"]

FEW_CELLS = 1 << 12  # copying so few cells into one array is faster than reading columns in place
PLAIN_NUMBERS = frozenset((bool, int, float))
KIND_OF_TYPE: dict[type, Kind] = {str: "text", bool: "bool", int: "number"}  # types without missing values


class Column(ABC):
    """One column of a batch."""

    kind: Kind

    @abstractmethod
    def numbers(self, name: object) -> Float:
        """The column as float64 (n,), with NaN for missing cells."""

    def part(self, name: object) -> Part:
        """The column as a part of a `ColumnMatrix`."""
        return self.numbers(name)

    @abstractmethod
    def coded(self) -> CodedColumn:
        """The column as codes of levels, with −1 for missing cells."""

    def documents(self, name: object) -> Texts:
        """The column as texts, with None for missing cells; cached because it is read repeatedly."""
        cached: Texts | None = self.__dict__.get("_texts")
        if cached is None:
            cached = self.__dict__["_texts"] = Texts.of(self.listed(), name=name)
        return cached

    @abstractmethod
    def listed(self) -> Sequence[object]:
        """The cells as Python objects."""

    @abstractmethod
    def rows(self, start: int, stop: int) -> Column:
        """The cells of rows start..stop−1."""

    @abstractmethod
    def take(self, index: Index) -> Column:
        """The cells of the rows at these positions."""

    def unhashable(self) -> list[int]:
        """The rows whose cells cannot be categories because they are not hashable."""
        return [row for row, value in enumerate(self.listed()) if not _is_hashable(value)]


@dataclass(frozen=True, eq=False)
class ColumnTable(Table):
    """Rows that are stored column by column."""

    dtype: ClassVar[np.dtype[np.float64]] = np.dtype(np.float64)

    n_rows: int
    columns: Sequence[Column]
    names: Sequence[object] | None = None

    def __len__(self) -> int:
        return self.n_rows

    @cached_property
    def kinds(self) -> Sequence[Kind]:
        """The kind of each column."""
        return [column.kind for column in self.columns]

    def rows(self, start: int, stop: int) -> ColumnTable:
        """The rows start..stop−1."""
        stop = min(stop, self.n_rows)
        return ColumnTable(stop - start, [column.rows(start, stop) for column in self.columns], self.names)

    def take(self, index: Index) -> ColumnTable:
        """The rows at these positions."""
        return ColumnTable(len(index), [column.take(index) for column in self.columns], self.names)

    def _chosen(self, columns: ColumnSelection) -> Sequence[Column]:
        if isinstance(columns, slice):
            return self.columns[columns]
        return list(map(self.columns.__getitem__, columns))

    def numbers(self, columns: ColumnSelection, names: Sequence[object], *, copy: bool | None = False) -> Matrix:
        """These columns as a matrix, without copying them where possible, unless ``copy`` asks for one array."""
        chosen = self._chosen(columns)
        if copy or (copy is None and self.n_rows * len(chosen) <= FEW_CELLS):
            out = np.empty((len(chosen), self.n_rows))
            for row, column, name in zip(out, chosen, names, strict=True):
                row[:] = column.numbers(name)
            return out.T
        return ColumnMatrix(self.n_rows, [column.part(name) for column, name in zip(chosen, names, strict=True)])

    def categories(self, columns: ColumnSelection, names: Sequence[object]) -> Coded:
        """These columns as codes of levels."""
        coded = []
        for column, name in zip(self._chosen(columns), names, strict=True):
            try:
                coded.append(column.coded())
            except TypeError:
                rows = column.unhashable()
                problem = f"holds {column.listed()[rows[0]]!r}, which cannot be a category because it is not hashable."
                raise InputError.in_row(problem, rows=rows, column=name) from None
        return Coded(self.n_rows, tuple(coded))

    def listed(self, column: int, rows: Index) -> Sequence[object]:
        """The cells of a column in some rows as Python objects."""
        return self.columns[column].take(rows).listed()

    def documents(self, columns: ColumnSelection, names: Sequence[object]) -> Texts:
        """A single column as texts."""
        (column,) = self._chosen(columns)
        return column.documents(names[0])


@dataclass(frozen=True, eq=False)
class ObjectColumn(Column):
    """A column of an array of Python objects or texts."""

    values: Sequence[object]

    @cached_property
    def kind(self) -> Kind:  # type: ignore[override]
        """Kind of the values."""
        return kind_of_values(self.values)

    def numbers(self, name: object) -> Float:
        """The column as float64; times become seconds since 1970."""
        return numbers_of(self.values, name)

    def coded(self) -> CodedColumn:
        """The column as codes of levels."""
        return CodedColumn(*coded_values(self.values))

    def listed(self) -> Sequence[object]:
        """The cells as Python objects."""
        return self.values

    def rows(self, start: int, stop: int) -> ObjectColumn:
        """The cells of rows start..stop−1."""
        return ObjectColumn(self.values[start:stop])

    def take(self, index: Index) -> ObjectColumn:
        """The cells of the rows at these positions."""
        return ObjectColumn([self.values[i] for i in index])


@dataclass(frozen=True, eq=False)
class NoColumn(Column):
    """An absent column, which no family reads; all cells are missing."""

    n_rows: int
    kind: Kind = "empty"

    def numbers(self, name: object) -> Float:
        """NaN for every row."""
        return np.full(self.n_rows, np.nan)

    def coded(self) -> CodedColumn:
        """No levels, and −1 for every row."""
        return CodedColumn(Levels(()), np.full(self.n_rows, -1, dtype=np.int64))

    def listed(self) -> Sequence[object]:
        """None for every row."""
        return [None] * self.n_rows

    def rows(self, start: int, stop: int) -> NoColumn:
        """An absent column of ``stop - start`` rows."""
        return NoColumn(stop - start)

    def take(self, index: Index) -> NoColumn:
        """An absent column of as many rows."""
        return NoColumn(len(index))


def _is_hashable(value: object) -> bool:
    try:
        hash(value)
    except TypeError:  # also of a decimal that is a signalling NaN
        return False
    return True


def numbers_of(values: Sequence[object], name: object) -> Float:
    """Python objects as float64: numbers, booleans, times in seconds; NaN for missing values."""
    out = np.empty(len(values))
    for row, value in enumerate(values):
        if value is None or (type(value) not in PLAIN_NUMBERS and is_missing(value)):
            out[row] = np.nan
        elif isinstance(value, bool | int | float | np.number | np.bool_):
            try:
                out[row] = value
            except OverflowError:
                raise InputError.in_row(
                    "holds a whole number too large for float64.", rows=[row], column=name
                ) from None
        elif isinstance(value, date | time | timedelta):
            out[row] = seconds(value)
        elif isinstance(value, Decimal):
            out[row] = np.nan if value.is_nan() else float(value)
        else:
            raise _not_numbers(values, row, name)
    return out


def seconds(value: date | time | timedelta) -> float:
    """A point in time as seconds since 1970, in UTC if it has a zone; a duration or a time of day in seconds."""
    if isinstance(value, time):
        value = timedelta(0, value.second, value.microsecond, 0, value.minute, value.hour)
    if isinstance(value, timedelta):
        return value.total_seconds()
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return float(
        (moment.replace(tzinfo=None) - datetime(1970, 1, 1) - (moment.utcoffset() or timedelta())).total_seconds()
    )


def kind_of_values(values: Sequence[object]) -> Kind:
    """The kind of a column of Python objects.

    >>> kind_of_values([1, None, 2.5]), kind_of_values([True, None]), kind_of_values(["a", 1])
    ('number', 'bool', 'text')
    """
    kinds = set(map(type, values)) - {type(None)}
    if len(kinds) == 1 and not kinds.isdisjoint(KIND_OF_TYPE):
        return KIND_OF_TYPE[kinds.pop()]
    if any(issubclass(kind, complex | np.complexfloating) for kind in kinds):
        raise InputError("Complex data not supported. Use the real and the imaginary parts as two columns.")
    if any(issubclass(kind, str) for kind in kinds):
        return "text"
    if not kinds or all(map(is_missing, values)):
        return "empty"
    kinds = {type(value) for value in values if not is_missing(value)} if len(kinds) > 1 else kinds
    if all(issubclass(kind, bool | np.bool_) for kind in kinds):
        return "bool"
    if all(issubclass(kind, bool | int | float | np.number | np.bool_) for kind in kinds):
        return "number"
    if all(issubclass(kind, date) for kind in kinds):
        return "time"
    return "duration" if all(issubclass(kind, timedelta) for kind in kinds) else "text"


def _not_numbers(values: Sequence[object], first: int, name: object) -> InputError:
    """The error for the cells of a numeric column that are not numbers, of which ``first`` is the first."""
    rows = [row for row in range(first, len(values)) if not (is_missing(values[row]) or _is_numeric(values[row]))]
    return InputError.in_row(
        f"holds {values[first]!r}, which is not a number. Convert the column, or fit the model with a family for "
        "categories, such as ",
        Argument("families", {name: "categorical"}),
        ".",
        rows=rows,
        column=name,
    )


def _is_numeric(value: object) -> bool:
    return isinstance(value, bool | int | float | np.number | np.bool_ | date | time | timedelta | Decimal)
