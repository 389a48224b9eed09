"""Texts as a table of one column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.tables.levels import Coded
from suffice.tables.table import ColumnSelection, Kind, Table
from suffice.text.texts import Texts

__all__ = ["TextTable"]

WORDS_OF_ROW = 32  # that blocks of rows reckon with


@dataclass(frozen=True, eq=False)
class TextTable(Table):
    """Rows of one text each.

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
        """One column of texts."""
        return ["text"]

    @property
    def cells_of_row(self) -> int:
        """A text is as much work as some cells, however many its words are."""
        return WORDS_OF_ROW

    def rows(self, start: int, stop: int) -> TextTable:
        """The rows start..stop−1."""
        return TextTable(self.texts.rows(start, min(stop, len(self))), self.names)

    def take(self, index: NDArray[np.intp]) -> TextTable:
        """The rows at those places."""
        return TextTable(self.texts.take(index), self.names)

    def numbers(self, columns: ColumnSelection, names: Sequence[object]) -> Any:
        """Raises: texts are no numbers."""
        raise InputError(f"Column {names[0]!r} holds texts, which are not numbers. Give it the family 'text'.")

    def categories(self, columns: ColumnSelection, names: Sequence[object]) -> Coded:
        """Raises: texts that are documents are no categories."""
        raise InputError(f"Column {names[0]!r} holds documents, which are no categories. Give it the family 'text'.")

    def documents(self, columns: ColumnSelection, names: Sequence[object]) -> Texts:
        """The texts."""
        return self.texts
