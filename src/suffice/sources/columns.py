"""Tables made of columns of different types, each read as numbers or as categories when a family asks for it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.statistics import Coded, CodedColumn, Table
from suffice.statistics.levels import Levels, coded_numbers, coded_values, is_missing
from suffice.statistics.table import Columns, Kind

__all__ = ["Column", "ColumnTable", "ObjectColumn", "kind_of_values", "not_a_number"]

Float = NDArray[np.float64]
Codes = NDArray[np.int64]


class Column(ABC):
    """One column of a batch."""

    kind: Kind

    @abstractmethod
    def numbers(self, name: object) -> Float:
        """The column as float64, with NaN where a cell is missing (n,)."""

    @abstractmethod
    def coded(self) -> tuple[Levels, Codes]:
        """The column as codes of levels, with −1 where a cell is missing."""


@dataclass(frozen=True, eq=False)
class ColumnTable(Table):
    """Rows that come column by column."""

    n_rows: int
    columns: Sequence[Column]

    def __len__(self) -> int:
        return self.n_rows

    @property
    def kinds(self) -> Sequence[Kind]:
        """What the type of each column says of it."""
        return [column.kind for column in self.columns]

    def _chosen(self, columns: Columns) -> list[Column]:
        return list(self.columns[columns] if isinstance(columns, slice) else [self.columns[j] for j in columns])

    def numbers(self, columns: Columns, names: Sequence[object]) -> Float:
        """Those columns as one matrix, in which each column lies in one piece."""
        chosen = self._chosen(columns)
        out = np.empty((len(chosen), self.n_rows))
        for j, column in enumerate(chosen):
            out[j] = column.numbers(names[j])
        return out.T

    def categories(self, columns: Columns, names: Sequence[object]) -> Coded:
        """Those columns as codes of levels."""
        found = []
        for column, name in zip(self._chosen(columns), names, strict=True):
            try:
                found.append(CodedColumn(*column.coded()))
            except TypeError:
                raise InputError(
                    f"Column {name!r} holds values that cannot be told apart as categories (they are not hashable)."
                ) from None
        return Coded(self.n_rows, tuple(found))


@dataclass(frozen=True, eq=False)
class ObjectColumn(Column):
    """A column of Python objects, of an array of objects or of texts."""

    values: Sequence[Any]

    @cached_property
    def kind(self) -> Kind:  # type: ignore[override]
        """What the values are."""
        return kind_of_values(self.values)

    def numbers(self, name: object) -> Float:
        """The column as float64."""
        out = np.empty(len(self.values))
        for row, value in enumerate(self.values):
            if is_missing(value):
                out[row] = np.nan
            elif isinstance(value, bool | int | float | np.number | np.bool_):
                out[row] = value
            else:
                raise not_a_number(name, row, value)
        return out

    def coded(self) -> tuple[Levels, Codes]:
        """The column as codes of levels."""
        if self.kind in ("number", "bool"):
            return coded_numbers(self.numbers(""))
        return coded_values(self.values)


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
    return "number" if all(issubclass(kind, bool | int | float | np.number | np.bool_) for kind in kinds) else "text"


def not_a_number(name: object, row: int, value: object) -> InputError:
    """The error for a cell that is read as a number and is none."""
    return InputError(
        f"Column {name!r}, row {row} holds {value!r}, which is not a number. Give the column a family for "
        "categories, such as 'categorical', or convert it."
    )
