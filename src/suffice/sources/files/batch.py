"""A batch of rows of a source, and where in it they are."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

__all__ = ["Batch", "JoinedPlaces", "Places", "RowNumbers", "SomePlaces"]


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
class SomePlaces:
    """Rows that are left of a batch when others were taken out: ``kept`` are their places in it."""

    whole: Places
    kept: Sequence[int]

    def of(self, row: int) -> str:
        """The place of a row of the batch.

        >>> SomePlaces(RowNumbers("data.parquet", 100), [0, 2]).of(1)
        'data.parquet, row 102'
        """
        return self.whole.of(int(self.kept[row]))


@dataclass(frozen=True)
class JoinedPlaces:
    """Rows of batches that were joined: part i begins at row ``starts[i]``."""

    starts: Sequence[int]
    parts: Sequence[Places]

    def of(self, row: int) -> str:
        """The place of a row of the batch.

        >>> JoinedPlaces([0, 3], [RowNumbers("a.parquet", 0), RowNumbers("b.parquet", 0)]).of(4)
        'b.parquet, row 1'
        """
        part = bisect_right(self.starts, row) - 1
        return self.parts[part].of(row - self.starts[part])


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
