"""A group of columns that share one family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.exceptions import InputError, listed
from suffice.families import Family
from suffice.tables.column_matrix import ColumnMatrix
from suffice.tables.table import ColumnSelection, as_table

__all__ = ["Block"]


@dataclass(frozen=True)
class Block:
    """A group of columns that share one family.

    Parameters
    ----------
    family : Family
    columns : slice or sequence of int
        Where the block's columns stand in a row.
    names : sequence
        What messages call them.
    """

    family: Family
    columns: ColumnSelection
    names: Sequence[object]

    def take(self, x: Any) -> Any:
        """The block's part of the rows, as its family reads them: a matrix of numbers, codes of levels, or texts."""
        table = as_table(x)
        reads = self.family.reads
        if reads == "categories":
            return table.categories(self.columns, self.names)
        if reads == "documents":
            if len(self.names) != 1:
                raise InputError(
                    f"The family {self.family.name!r} is of one column of texts, and got {len(self.names)}: "
                    f"{listed(self.names)}. Name the column with the texts, and give the others families of their own."
                )
            return table.documents(self.columns, self.names)
        rows = table.numbers(self.columns, self.names)
        apart = isinstance(rows, ColumnMatrix) and not self.family.reads_columns
        return np.asarray(rows) if apart else rows

    def positions(self, n_columns: int) -> list[int]:
        """Where the block's columns stand in a row."""
        return list(range(n_columns))[self.columns] if isinstance(self.columns, slice) else list(self.columns)

    @property
    def independent(self) -> bool:
        """Whether the columns are independent given the class."""
        return self.family.independent

    @property
    def by_column(self) -> bool:
        """Whether each column has parameters of its own."""
        return self.family.independent or self.family.reads == "documents"
