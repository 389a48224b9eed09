"""Rows whose columns are read one by one, as numbers or as levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from suffice.numerics.types import Float, Index, Selection
from suffice.tables.levels import CodedColumn
from suffice.tables.sparse_cells import is_sparse
from suffice.tables.table import ColumnSelection, Kind, Table

__all__ = ["MixedRows"]


@dataclass(frozen=True, eq=False)
class MixedRows:
    """Some columns of a table, each of which can be read as numbers or as levels.

    Parameters
    ----------
    table : Table
    columns : slice or sequence of int
        Positions of the columns in the table.
    names : sequence
        Their names, for messages.
    """

    table: Table
    columns: ColumnSelection
    names: Sequence[object]

    def __len__(self) -> int:
        return len(self.table)

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns."""
        return len(self.table), len(self.names)

    @property
    def kinds(self) -> list[Kind]:
        """Kind of each column."""
        kinds = self.table.kinds
        return list(kinds[self.columns]) if isinstance(self.columns, slice) else [kinds[j] for j in self.columns]

    def rows(self, start: int, stop: int) -> MixedRows:
        """Return the rows start..stop−1."""
        return replace(self, table=self.table.rows(start, stop))

    def take(self, index: Selection) -> MixedRows:
        """Return the selected rows."""
        at: Index = np.arange(len(self))[index]
        return replace(self, table=self.table.take(at))

    def numbers(self, at: Sequence[int]) -> Float:
        """Return some columns as one dense array (n, m), with NaN for missing cells."""
        every = isinstance(self.columns, slice) and list(at) == list(range(len(self.names)))
        columns = self.columns if every else [self._positions()[j] for j in at]
        values = self.table.numbers(columns, [self.names[j] for j in at], copy=True)
        return values.toarray() if is_sparse(values) else np.asarray(values)

    def levels(self, j: int) -> CodedColumn:
        """Return a column as codes of its levels."""
        return self.table.categories([self._positions()[j]], [self.names[j]]).columns[0]

    def _positions(self) -> Sequence[int]:
        if isinstance(self.columns, slice):
            return range(len(self.table.kinds))[self.columns]
        return self.columns
