"""A table of points in the plane of two columns, with all other columns missing or at one value."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np

from suffice.exceptions import InputError
from suffice.numerics.types import Float, Index, Matrix
from suffice.tables import Coded, CodedColumn, Levels, Table
from suffice.tables.levels import coded_numbers
from suffice.tables.table import ColumnSelection, Kind
from suffice.text.texts import Texts

__all__ = ["GridTable", "given_number"]


@dataclass(frozen=True, eq=False)
class GridTable(Table):
    """Rows whose cells are given column by column, as an array or as one value for all rows; others are missing.

    Parameters
    ----------
    n_rows : int
    column_kinds : sequence of Kind
    cells : mapping of position to array of shape (n_rows,), or to one value
    """

    n_rows: int
    column_kinds: Sequence[Kind]
    cells: Mapping[int, Any]

    def __len__(self) -> int:
        return self.n_rows

    @property
    def kinds(self) -> Sequence[Kind]:
        """Kind of each column."""
        return self.column_kinds

    def rows(self, start: int, stop: int) -> GridTable:
        """Return the rows start..stop−1."""
        return self.take(np.arange(start, stop))

    def take(self, index: Index) -> GridTable:
        """Return the rows at these positions."""
        cells = {j: v[index] if isinstance(v, np.ndarray) else v for j, v in self.cells.items()}
        return GridTable(len(index), self.column_kinds, cells)

    def numbers(self, columns: ColumnSelection, names: Sequence[object], *, copy: bool | None = False) -> Matrix:
        """Return columns as a matrix of numbers, with NaN in missing cells."""
        at = self._positions(columns)
        out: Float = np.full((self.n_rows, len(at)), np.nan)
        for i, j in enumerate(at):
            if j in self.cells:
                out[:, i] = given_number(self.cells[j], names[i])
        return out

    def categories(self, columns: ColumnSelection, names: Sequence[object]) -> Coded:
        """Return columns as codes of levels; −1 in missing cells."""
        return Coded(self.n_rows, tuple(self._coded(j) for j in self._positions(columns)))

    def documents(self, columns: ColumnSelection, names: Sequence[object]) -> Any:
        """Return the one selected column as texts, all of which are equal, or missing."""
        text = self.cells.get(self._positions(columns)[0])
        return Texts.of([text] * self.n_rows)

    def _positions(self, columns: ColumnSelection) -> list[int]:
        return list(range(len(self.column_kinds)))[columns] if isinstance(columns, slice) else list(columns)

    def _coded(self, j: int) -> CodedColumn:
        value = self.cells.get(j)
        if isinstance(value, np.ndarray):
            return CodedColumn(*coded_numbers(value))
        if value is None:
            return CodedColumn(Levels(()), np.full(self.n_rows, -1, dtype=np.int64))
        return CodedColumn(Levels.of([value]), np.zeros(self.n_rows, dtype=np.int64))


def given_number(value: Any, name: object) -> Any:
    """The number of a given value, in seconds for a time or a duration; an array stays as it is."""
    if isinstance(value, np.ndarray):
        return value
    try:
        if hasattr(value, "isoformat") or isinstance(value, np.datetime64):
            return np.datetime64(value, "us").astype(np.int64) / 1e6
        if isinstance(value, timedelta | np.timedelta64):
            return np.timedelta64(value, "us").astype(np.int64) / 1e6
        return float(value)
    except (TypeError, ValueError):
        raise InputError(
            f"Column {name!r} holds numbers; got the value {value!r:.80}.", argument="values", column=name
        ) from None
