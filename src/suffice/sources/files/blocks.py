"""Blocks of whole records of a text file, and where each record is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.kernels.records import Records, count_lines, last_record, records
from suffice.sources.files.batch import Batch
from suffice.sources.files.decoding import Text, check_text, is_utf8
from suffice.sources.files.reader import Faults

__all__ = ["BLOCK_BYTES", "Block", "Lines", "batches_of", "blocks", "next_line"]

BLOCK_BYTES = 1 << 24  # that are read at once; a record is not longer
Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Block:
    """Whole records that follow one another in a file.

    Attributes
    ----------
    path : str
    held : bytes
        Holds the records, and perhaps more.
    begin, end : int
        Where in it they are.
    first_line, first_byte : int
        Of the records in the file: lines from 1 on, bytes from 0 on.
    delimiter, quote : str
    broken : bool
        Whether a quoted field holds an end of a line.
    """

    path: str
    held: bytes
    begin: int
    end: int
    first_line: int
    first_byte: int
    delimiter: str
    quote: str
    broken: bool

    @property
    def view(self) -> memoryview:
        """The records where they lie."""
        return memoryview(self.held)[self.begin : self.end]

    @cached_property
    def data(self) -> bytes:
        """The records, copied."""
        return bytes(self.view)

    @cached_property
    def records(self) -> Records:
        """Where the records are in the data, and how many fields they have."""
        return records(self.view, self.delimiter, self.quote)

    @cached_property
    def blank(self) -> bool:
        """Whether there is no record."""
        return not len(records(self.view, self.delimiter, self.quote, 1).starts)

    def is_utf8(self) -> bool:
        """Whether all bytes are."""
        return self.held.isascii() or is_utf8(self.view)

    def line(self, at: int) -> int:
        """The number of the line in which that byte of the data is."""
        return self.first_line + count_lines(self.view[:at])

    def place(self, record: int) -> str:
        """Where a record is: ``"data.csv, line 17"``."""
        return f"{self.path}, line {self.line(int(self.records.starts[record]))}"

    def first(self) -> tuple[bytes, int, Block]:
        """The first record, its line, and the block without it."""
        start, end, _ = (int(each[0]) for each in records(self.view, self.delimiter, self.quote, 1))
        rest = min(end + (2 if bytes(self.view[end : end + 2]) == b"\r\n" else 1), len(self.view))
        body = replace(self, begin=self.begin + rest, first_line=self.line(rest), first_byte=self.first_byte + rest)
        return bytes(self.view[start:end]), self.line(start), body

    def chosen(self, good: NDArray[np.bool_]) -> bytes:
        """Those records alone, each with an end of line."""
        edges = np.flatnonzero(np.diff(good, prepend=False, append=False))  # of runs of records
        starts, ends = self.records.starts, self.records.ends
        return b"".join(
            self.data[starts[first] : ends[last - 1]] + b"\n"
            for first, last in zip(edges[::2], edges[1::2], strict=True)
        )


def blocks(text: Text, path: str, delimiter: str, quote: str, faults: Faults) -> Iterator[Block]:
    """A text in blocks that end where records do.

    A quote that is not closed, up to the end or in as many bytes as a record may have, is a fault; where faults are
    skipped, its line is left out.
    """
    line, byte, data, ended = 1, text.first_byte, b"", False
    while data or not ended:
        if not ended:
            more = text.read(BLOCK_BYTES)
            ended = len(more) < BLOCK_BYTES
            data += more
            check_text(data, path, line)
        cut = last_record(data, delimiter, quote)
        end = len(data) if ended and cut.open < 0 else cut.end
        if end:
            yield Block(path, data, 0, end, line, byte, delimiter, quote, cut.broken)
            line, byte, data = line + count_lines(memoryview(data)[:end]), byte + end, data[end:]
        if ended and not data:
            return
        if not ended and len(data) <= BLOCK_BYTES:
            continue
        if cut.open < 0:
            raise InputError(
                f"{path}, line {line}, is longer than {BLOCK_BYTES >> 20} MB. Is it a file of lines, and are rows "
                "ended by line feeds?"
            )
        opened = cut.open - end
        at = line + count_lines(memoryview(data)[:opened])
        where = "is never closed" if ended else f"is not closed within {BLOCK_BYTES >> 20} MB"
        faults.met(f"{path}, line {at}: the quote that opens here {where}.")
        rest = next_line(data, opened)
        line, byte, data = line + count_lines(memoryview(data)[:rest]), byte + rest, data[rest:]


def next_line(data: bytes, at: int) -> int:
    """Where the line after the one of that byte begins."""
    ends = [end for end in (data.find(b"\n", at), data.find(b"\r", at)) if end >= 0]
    if not ends:
        return len(data)
    return min(ends) + (2 if data[min(ends) : min(ends) + 2] == b"\r\n" else 1)


@dataclass(frozen=True)
class Lines:
    """Rows of a block, by their lines.

    Parameters
    ----------
    block : Block
    first : int
        The row of the block that is the first of the batch.
    kept : array of int64 or None
        The record of each row of the block, where some were left out.
    """

    block: Block
    first: int
    kept: Rows | None

    def of(self, row: int) -> str:
        """The place of a row of the batch."""
        at = self.first + row
        return self.block.place(at if self.kept is None else int(self.kept[at]))


def batches_of(rows: Any, block: Block, kept: Rows | None, most: int) -> Iterator[Batch]:
    """The rows of a block, in batches of at most so many, each column in one chunk."""
    whole = rows.combine_chunks()
    for first in range(0, whole.num_rows, most):
        yield Batch(whole.slice(first, min(most, whole.num_rows - first)), Lines(block, first, kept))
