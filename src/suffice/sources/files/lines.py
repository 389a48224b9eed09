"""Texts, one on each line: the format "lines"."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from suffice.exceptions import Argument
from suffice.sources.files.batch import Batch, RowLocation, written
from suffice.sources.files.blocks import read_blocks
from suffice.sources.files.csv_header import DELIMITERS
from suffice.sources.files.decoding import Utf8Reader, decode_head, first_invalid_byte
from suffice.sources.files.reader import FileLayout, ReadOptions, SkippedRows

__all__ = ["COLUMN", "has_column", "peek_lines", "read_lines"]

COLUMN = "text"


def has_column(head: bytes, whole: bool, path: str, name: str, options: ReadOptions) -> bool:
    r"""Whether the first line of a text is a header that names a column, apart from case and blanks.

    >>> has_column(b"id,text\n1,hello\n", True, "data.txt", "text", ReadOptions())
    True
    >>> has_column(b"WINNER!! claim your prize\n", True, "standard input", "text", ReadOptions())
    False
    """
    data = decode_head(head, whole, path, options.encoding)[0].lstrip(b"\r\n")
    line = data.splitlines()[0].decode(errors="replace") if data else ""
    try:
        rows = [next(csv.reader([line], delimiter=mark), []) for mark in DELIMITERS]
    except csv.Error:  # a cell is too long
        return False
    return not line or name.strip().casefold() in {cell.strip().casefold() for cells in rows for cell in cells}


def peek_lines(head: bytes, whole: bool, path: str, options: ReadOptions) -> FileLayout:
    """The one column."""
    import pyarrow as pa

    return FileLayout([COLUMN], {COLUMN: pa.string()})


@dataclass(frozen=True)
class _Lines:
    """Locations of lines."""

    path: str
    numbers: Sequence[int]

    def of(self, row: int) -> RowLocation:
        return RowLocation(self.path, line=self.numbers[row])


def read_lines(
    file: BinaryIO,
    path: str,
    layout: FileLayout,
    columns: Sequence[str],
    options: ReadOptions,
    skipped: SkippedRows,
    also: Sequence[str] = (),
) -> Iterator[Batch]:
    """Read the lines of a text in batches. Every line is a row, also an empty one."""
    import pyarrow as pa

    for block in read_blocks(Utf8Reader(file, path, options.encoding), path, "", "", skipped):
        lines = bytes(block.view).splitlines()
        numbers: Sequence[int] = range(block.first_line, block.first_line + len(lines))
        if not block.is_utf8():
            bad = {number for line, number in zip(lines, numbers, strict=True) if first_invalid_byte(line) >= 0}
            for number in sorted(bad):
                advice = ("the line is not UTF-8. Set the encoding, such as ", Argument("encoding", "latin-1"), ".")
                skipped.skip_or_raise(RowLocation(path, line=number).error(*advice))
            lines = [line for line, number in zip(lines, numbers, strict=True) if number not in bad]
            numbers = [number for number in numbers if number not in bad]
        for first in range(0, len(lines), options.batch_rows):
            last = first + options.batch_rows
            cells = pa.array(lines[first:last], pa.string())
            names = [*columns, *map(written, also)]
            yield Batch(pa.Table.from_arrays([cells] * len(names), names=names), _Lines(path, numbers[first:last]))
