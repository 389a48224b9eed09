"""The cells of a table that parts of an explanation come from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.numerics.types import Index
from suffice.tables.cell_values import plain_value
from suffice.tables.table import Table

__all__ = ["PartCells"]


@dataclass(frozen=True, eq=False)
class PartCells:
    """The cells that parts of rows come from, read from a table of their own when asked for.

    Parameters
    ----------
    table : Table
    columns : tuple of tuples of int
        Positions of the columns of each part; none for a part without cells.
    """

    table: Table
    columns: tuple[tuple[int, ...], ...]

    def values(self, rows: Sequence[int] | Index, parts: Sequence[int] | Index) -> list[object]:
        """Return the value of each pair of a row and a part: a tuple for several columns, None for none."""
        out: list[object] = [None] * len(rows)
        at, which = np.asarray(rows, dtype=np.int64), np.asarray(parts, dtype=np.int64)
        for j in np.unique(which).tolist():
            here = np.flatnonzero(which == j)
            cells = [map(plain_value, self.table.listed(column, at[here])) for column in self.columns[j]]
            for i, values in zip(here.tolist(), zip(*cells, strict=True), strict=False):
                out[i] = values[0] if len(values) == 1 else values
        return out
