"""Tables made of columns of different types, each read as numbers or as categories when a family asks for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.tables import Coded, CodedColumn, Table
from suffice.tables.column_matrix import ColumnMatrix, Part
from suffice.tables.levels import Levels, coded_values, is_missing
from suffice.tables.table import ColumnSelection, Kind
from suffice.text.texts import Texts

__all__ = ["Column", "ColumnTable", "NoColumn", "ObjectColumn", "kind_of_values", "not_a_number", "numbers_of"]

Float = NDArray[np.float64]


class Column(ABC):
    """One column of a batch."""

    kind: Kind

    @abstractmethod
    def numbers(self, name: object) -> Float:
        """The column as float64, with NaN where a cell is missing (n,)."""

    def part(self, name: object) -> Part:
        """The same as a part of a `ColumnMatrix`."""
        return self.numbers(name)

    @abstractmethod
    def coded(self) -> CodedColumn:
        """The column as codes of levels, with −1 where a cell is missing."""

    def documents(self, name: object) -> Texts:
        """The column as texts, with None where a cell is missing; kept, since it is read again and again."""
        kept: Texts | None = self.__dict__.get("_texts")
        if kept is None:
            kept = self.__dict__["_texts"] = Texts.of(self.listed(), name=name)
        return kept

    @abstractmethod
    def listed(self) -> Sequence[Any]:
        """The cells as Python has them."""

    @abstractmethod
    def rows(self, start: int, stop: int) -> Column:
        """The cells of rows start..stop−1."""

    @abstractmethod
    def take(self, index: NDArray[np.intp]) -> Column:
        """The cells of the rows at those places."""

    def unhashable(self) -> tuple[int, Any]:
        """The first cell that cannot be a category, and its row."""
        return next((i, value) for i, value in enumerate(self.listed()) if type(value).__hash__ is None)


@dataclass(frozen=True, eq=False)
class ColumnTable(Table):
    """Rows that come column by column."""

    n_rows: int
    columns: Sequence[Column]
    names: Sequence[object] | None = None

    def __len__(self) -> int:
        return self.n_rows

    @property
    def kinds(self) -> Sequence[Kind]:
        """What the type of each column says of it."""
        return [column.kind for column in self.columns]

    def rows(self, start: int, stop: int) -> ColumnTable:
        """The rows start..stop−1."""
        stop = min(stop, self.n_rows)
        return ColumnTable(stop - start, [column.rows(start, stop) for column in self.columns], self.names)

    def take(self, index: NDArray[np.intp]) -> ColumnTable:
        """The rows at those places."""
        return ColumnTable(len(index), [column.take(index) for column in self.columns], self.names)

    def _chosen(self, columns: ColumnSelection) -> list[Column]:
        return list(self.columns[columns] if isinstance(columns, slice) else [self.columns[j] for j in columns])

    def numbers(self, columns: ColumnSelection, names: Sequence[object]) -> ColumnMatrix:
        """Those columns, each where it lies."""
        chosen = zip(self._chosen(columns), names, strict=True)
        return ColumnMatrix(self.n_rows, [column.part(name) for column, name in chosen])

    def categories(self, columns: ColumnSelection, names: Sequence[object]) -> Coded:
        """Those columns as codes of levels."""
        found = []
        for column, name in zip(self._chosen(columns), names, strict=True):
            try:
                found.append(column.coded())
            except TypeError:
                row, value = column.unhashable()
                raise InputError(
                    f"Column {name!r}, row {row} holds {value!r}, which cannot be a category (it is not hashable)."
                ) from None
        return Coded(self.n_rows, tuple(found))

    def documents(self, columns: ColumnSelection, names: Sequence[object]) -> Texts:
        """The only one of those columns as texts."""
        (column,) = self._chosen(columns)
        return column.documents(names[0])


@dataclass(frozen=True, eq=False)
class ObjectColumn(Column):
    """A column of Python objects, of an array of objects or of texts."""

    values: Sequence[Any]

    @cached_property
    def kind(self) -> Kind:  # type: ignore[override]
        """What the values are."""
        return kind_of_values(self.values)

    def numbers(self, name: object) -> Float:
        """The column as float64; a time as seconds."""
        return numbers_of(self.values, name)

    def coded(self) -> CodedColumn:
        """The column as codes of levels."""
        return CodedColumn(*coded_values(self.values))

    def listed(self) -> Sequence[Any]:
        """The cells as Python has them."""
        return self.values

    def rows(self, start: int, stop: int) -> ObjectColumn:
        """The cells of rows start..stop−1."""
        return ObjectColumn(self.values[start:stop])

    def take(self, index: NDArray[np.intp]) -> ObjectColumn:
        """The cells of the rows at those places."""
        return ObjectColumn([self.values[i] for i in index])


@dataclass(frozen=True, eq=False)
class NoColumn(Column):
    """A column that is not there, and that no family reads."""

    n_rows: int
    kind: Kind = "empty"

    def numbers(self, name: object) -> Float:
        """Nothing."""
        return np.full(self.n_rows, np.nan)

    def coded(self) -> CodedColumn:
        """Nothing."""
        return CodedColumn(Levels(()), np.full(self.n_rows, -1, dtype=np.int64))

    def listed(self) -> Sequence[Any]:
        """Nothing."""
        return [None] * self.n_rows

    def rows(self, start: int, stop: int) -> NoColumn:
        """Nothing."""
        return NoColumn(stop - start)

    def take(self, index: NDArray[np.intp]) -> NoColumn:
        """Nothing."""
        return NoColumn(len(index))


def numbers_of(values: Sequence[Any], name: object) -> Float:
    """Python's values as float64: numbers, truth values, times as seconds, and NaN for what is missing."""
    out = np.empty(len(values))
    for row, value in enumerate(values):
        if is_missing(value):
            out[row] = np.nan
        elif isinstance(value, bool | int | float | np.number | np.bool_):
            try:
                out[row] = value
            except OverflowError:
                raise InputError(f"Column {name!r}, row {row} holds a whole number too large for float64.") from None
        elif isinstance(value, date | timedelta):
            out[row] = _seconds(value)
        else:
            raise not_a_number(name, row, value)
    return out


def _seconds(value: date | timedelta) -> float:
    if isinstance(value, timedelta):
        return value.total_seconds()
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    return float(
        (moment.replace(tzinfo=None) - datetime(1970, 1, 1) - (moment.utcoffset() or timedelta())).total_seconds()
    )


def kind_of_values(values: Sequence[Any]) -> Kind:
    """The kind of a column of Python objects.

    >>> kind_of_values([1, None, 2.5]), kind_of_values([True, None]), kind_of_values(["a", 1])
    ('number', 'bool', 'text')
    """
    kinds = set(map(type, values)) - {type(None)}
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


def not_a_number(name: object, row: int, value: object) -> InputError:
    """The error for a cell that is read as a number and is none."""
    return InputError(
        f"Column {name!r}, row {row} holds {value!r}, which is not a number. Give the column a family for "
        "categories, such as 'categorical', or convert it."
    )
