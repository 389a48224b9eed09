"""A table with one column of texts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import Argument, InputError
from suffice.tables.table import ColumnSelection, Kind, Table
from suffice.text.texts import Texts

__all__ = ["TextTable"]

WORDS_OF_ROW = 32  # assumed words of a text, for the size of row blocks


@dataclass(frozen=True, eq=False)
class TextTable(Table):
    """A table whose rows have one text each.

    >>> table = TextTable(Texts(["a pill", None]))
    >>> len(table.documents(slice(None), ["body"]))
    2
    """

    texts: Texts
    names: Sequence[object] | None = None

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def kinds(self) -> Sequence[Kind]:
        """The kind of the only column: text."""
        return ["text"]

    @property
    def cells_of_row(self) -> int:
        """Cells that take as much work as a row; a fixed number, since the number of words is unknown."""
        return WORDS_OF_ROW

    def rows(self, start: int, stop: int) -> TextTable:
        """Rows start..stop−1."""
        return TextTable(self.texts.rows(start, min(stop, len(self))), self.names)

    def take(self, index: NDArray[np.intp]) -> TextTable:
        """The rows at these positions."""
        return TextTable(self.texts.take(index), self.names)

    def numbers(self, columns: ColumnSelection, names: Sequence[object], *, copy: bool | None = False) -> NoReturn:
        """Raise `InputError`: texts are not numbers."""
        raise InputError(
            f"Column {names[0]!r} holds texts, which are not numbers. Set ",
            Argument("families", {names[0]: "text"}),
            ".",
            column=names[0],
        )

    def categories(self, columns: ColumnSelection, names: Sequence[object]) -> NoReturn:
        """Raise `InputError`: documents are not categories."""
        raise InputError(
            f"Column {names[0]!r} holds documents, which are not categories. Set ",
            Argument("families", {names[0]: "text"}),
            ".",
            column=names[0],
        )

    def listed(self, column: int, rows: NDArray[np.intp]) -> Sequence[object]:
        """The texts of some rows."""
        return self.texts.take(rows).listed()

    def documents(self, columns: ColumnSelection, names: Sequence[object]) -> Texts:
        """The texts."""
        return self.texts
