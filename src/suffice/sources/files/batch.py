"""A batch of rows of a source, and the location of each row."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from suffice.exceptions import Argument, InputError, short
from suffice.sources.engine_types import ArrowTable

__all__ = ["Batch", "JoinedLocations", "RowLocation", "RowLocations", "RowNumbers", "SelectedLocations", "written"]


def written(name: str) -> str:
    """Name in a batch of the column that holds the cells of ``name`` as the file has them, without conversion.

    A batch may also have the column ``name`` itself. A text file cannot contain the first character.
    """
    return f"\0{name}"


@dataclass(frozen=True)
class RowLocation:
    """Location of one row: its file, and its line or its number in the file.

    Attributes
    ----------
    file : str or None
        Path of the file, or the name of the source in messages; None for a stream.
    line : int or None
        Number of the line, counted from 1, in files of lines.
    row : int or None
        Number of the row, counted from 0, in sources without lines.

    Examples
    --------
    >>> str(RowLocation("data.csv", line=17)), str(RowLocation("data.parquet", row=16)), str(RowLocation(row=16))
    ('data.csv, line 17', 'data.parquet, row 16', 'row 16')
    >>> str(RowLocation("mails/0001.eml"))
    'mails/0001.eml'
    """

    file: str | None = None
    line: int | None = None
    row: int | None = None

    def __str__(self) -> str:
        if self.file and self.line is None and self.row is None:
            return self.file  # the row is the file
        number = f"row {self.row}" if self.line is None else f"line {self.line}"
        return f"{self.file}, {number}" if self.file else number

    def error(self, *problem: str | Argument, column: str | None = None) -> InputError:
        """Make an error about this row, or about its cell in a column.

        >>> print(RowLocation("data.csv", line=17).error("'big' is not a number.", column="size"))
        data.csv, line 17, column 'size': 'big' is not a number.
        """
        where = f"{self}" if column is None else f"{self}, column {short(column)}"
        return InputError(f"{where}: ", *problem, file=self.file, line=self.line, column=column)


class RowLocations(Protocol):
    """Locations of the rows of a batch: files, lines and row numbers."""

    def of(self, row: int) -> RowLocation:
        """Location of a row of the batch."""
        ...


@dataclass(frozen=True)
class RowNumbers:
    """Locations of consecutive rows that are numbered from ``first`` on, in a source without lines."""

    name: str
    first: int

    def of(self, row: int) -> RowLocation:
        """Location of a row of the batch.

        >>> str(RowNumbers("data.parquet", 1000).of(17))
        'data.parquet, row 1017'
        """
        return RowLocation(self.name or None, row=self.first + row)


@dataclass(frozen=True)
class SelectedLocations:
    """Locations of the rows that were kept of a larger batch; ``kept`` holds their positions in it."""

    whole: RowLocations
    kept: Sequence[int]

    def of(self, row: int) -> RowLocation:
        """Location of a row of the batch.

        >>> str(SelectedLocations(RowNumbers("data.parquet", 100), [0, 2]).of(1))
        'data.parquet, row 102'
        """
        return self.whole.of(int(self.kept[row]))


@dataclass(frozen=True)
class JoinedLocations:
    """Locations of the rows of several batches that were joined; part i begins at row ``starts[i]``."""

    starts: Sequence[int]
    parts: Sequence[RowLocations]

    def of(self, row: int) -> RowLocation:
        """Location of a row of the batch.

        >>> str(JoinedLocations([0, 3], [RowNumbers("a.parquet", 0), RowNumbers("b.parquet", 0)]).of(4))
        'b.parquet, row 1'
        """
        part = bisect_right(self.starts, row) - 1
        return self.parts[part].of(row - self.starts[part])


@dataclass(frozen=True)
class Batch:
    """Consecutive rows of a source.

    Attributes
    ----------
    rows : pyarrow.Table
        The rows; each column has one chunk.
    locations : RowLocations
        The location of each row in its file.
    """

    rows: ArrowTable
    locations: RowLocations

    def __len__(self) -> int:
        return int(self.rows.num_rows)
