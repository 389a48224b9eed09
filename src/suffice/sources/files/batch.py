"""A batch of rows of a source, and where in it they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Batch", "Places", "RowNumbers"]


class Places(Protocol):
    """Where the rows of a batch are, in the words of who wrote the source."""

    def of(self, row: int) -> str:
        """The place of a row of the batch: ``"data.csv, line 17"``, ``"data.parquet, row 16"``."""
        ...


@dataclass(frozen=True)
class RowNumbers:
    """Rows that are counted from ``first`` on, of a source without lines."""

    name: str
    first: int

    def of(self, row: int) -> str:
        """The place of a row of the batch.

        >>> RowNumbers("data.parquet", 1000).of(17)
        'data.parquet, row 1017'
        """
        number = f"row {self.first + row}"
        return f"{self.name}, {number}" if self.name else number


@dataclass(frozen=True)
class Batch:
    """Rows that follow one another in a source.

    Attributes
    ----------
    rows : pyarrow.Table
        Each column in one chunk.
    places : Places
    """

    rows: Any
    places: Places

    def __len__(self) -> int:
        return int(self.rows.num_rows)
