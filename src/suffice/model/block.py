"""A group of columns that share one family."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from suffice.exceptions import InputError, listed
from suffice.families import Family
from suffice.families.capabilities import BlockRows
from suffice.numerics.types import Mask, Matrix
from suffice.statistics import Statistic
from suffice.tables.mixed_rows import MixedRows
from suffice.tables.table import ColumnSelection, MatrixTable, Table, is_sparse

__all__ = ["Block"]


@dataclass(frozen=True)
class Block:
    """A block: columns that share one family.

    Parameters
    ----------
    family : Family
        Their family.
    columns : slice or sequence of int
        Positions of the columns in a row.
    names : sequence
        Names of the columns, for messages.
    chosen : bool
        Whether the data have chosen the family. If so, a cell outside its domain counts as missing in predictions;
        otherwise it is an error.
    member : str
        Name of the member of an ensemble that the block belongs to; empty for naive Bayes and for other models.

    See Also
    --------
    suffice.model.Model : The statistics of several blocks.
    suffice.families.Family : The form of p(x | y) of the columns.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> from suffice.model import Block
    >>> block = Block(Poisson(), [1], ["count"])
    >>> block.take(np.array([[1.5, 5.0], [3.0, 7.0]]))
    array([[5.],
           [7.]])
    >>> block.checked(np.array([[1.5, 5.0], [3.0, 7.5]]))
    Traceback (most recent call last):
    suffice.exceptions.InputError: Column 'count', row 1 holds 7.5, but a count is a whole number of at least 0.
    """

    family: Family
    columns: ColumnSelection
    names: Sequence[object]
    chosen: bool = False
    member: str = ""

    def take(self, x: Table | Matrix) -> BlockRows:
        """Return the columns of the block in the form that its family reads: numbers, levels, texts, or mixed."""
        table = x if isinstance(x, Table) else MatrixTable(x)
        if self.family.reads == "categories":
            return table.categories(self.columns, self.names)
        if self.family.reads == "documents":
            if len(self.names) != 1:
                raise InputError(
                    f"The family {self.family.name!r} takes one column of texts, got {len(self.names)}: "
                    f"{listed(self.names)}. Name the column with the texts, and give the other columns other families."
                )
            return table.documents(self.columns, self.names)
        if self.family.reads == "cells":
            return MixedRows(table, self.columns, self.names)
        return table.numbers(self.columns, self.names, copy=None if self.family.reads_columns else True)

    def copies(self, x: Table) -> bool:
        """Whether `take` must copy numbers, because they are not adjacent in a matrix, or are columns of a frame."""
        if self.family.reads != "numbers":
            return False
        return x.copies(self.columns) if isinstance(x, MatrixTable) else not self.family.reads_columns

    def check(self, rows: BlockRows, present: Mask | None = None) -> None:
        """Raise `InputError` for values outside the family's domain.

        Cells that a further model reads as they are have been checked by the first model of their columns.
        """
        if not (self.member and self.family.reads == "cells"):
            self.family.check(rows, self.names, present)

    def checked(self, x: Table | Matrix) -> BlockRows:
        """Return the columns of the block in rows to predict for; raises `InputError` for values outside the domain."""
        rows = self.take(x)
        try:
            self.check(rows)
        except InputError:
            if not self.chosen or self.family.reads != "numbers":
                raise
            dense = np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
            with np.errstate(invalid="ignore"):
                rows = np.where(self.family.in_domain(dense), dense, np.nan)
            self.family.check(rows, self.names)
        return rows

    def settled(self, statistic: Statistic) -> Block:
        """Return the block with the choices that the rows of its statistic have made, such as the cuts of bins."""
        family = self.family.settled(statistic)
        return self if family is self.family else replace(self, family=family)

    def positions(self, n_columns: int) -> list[int]:
        """Return the positions of the columns in a row."""
        return list(range(n_columns))[self.columns] if isinstance(self.columns, slice) else list(self.columns)

    @property
    def independent(self) -> bool:
        """Whether the columns are independent given the class."""
        return self.family.independent

    @property
    def by_column(self) -> bool:
        """Whether each column has parameters of its own."""
        return self.family.by_column
