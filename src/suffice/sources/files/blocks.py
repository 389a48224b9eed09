"""Blocks of whole records of a text file, and the line of each record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from suffice.exceptions import InputError
from suffice.kernels.records import Records, count_lines, last_record, records
from suffice.numerics.types import Codes, Mask
from suffice.sources.engine_types import ArrowTable
from suffice.sources.files.batch import Batch, RowLocation
from suffice.sources.files.decoding import UncommentedReader, Utf8Reader, check_no_nul, is_utf8
from suffice.sources.files.reader import SkippedRows

__all__ = ["BLOCK_BYTES", "ByteBlock", "LineLocations", "next_line", "read_blocks", "split_batches"]

BLOCK_BYTES = 1 << 24  # read at once; the longest record that is accepted


@dataclass(frozen=True)
class ByteBlock:
    """Consecutive whole records of a file.

    Attributes
    ----------
    path : str
    buffer : bytes
        Contains the records, and perhaps more.
    begin, end : int
        Position of the records in the buffer.
    first_line, first_byte : int
        Position of the records in the file: lines are counted from 1, bytes from 0.
    delimiter, quote : str
    has_line_breaks : bool
        Whether a quoted field contains a line break.
    """

    path: str
    buffer: bytes
    begin: int
    end: int
    first_line: int
    first_byte: int
    delimiter: str
    quote: str
    has_line_breaks: bool

    @property
    def view(self) -> memoryview:
        """The records, not copied."""
        return memoryview(self.buffer)[self.begin : self.end]

    @cached_property
    def data(self) -> bytes:
        """A copy of the records."""
        return bytes(self.view)

    @cached_property
    def records(self) -> Records:
        """Positions of the records in the data, and their numbers of fields."""
        return records(self.view, self.delimiter, self.quote)

    @cached_property
    def blank(self) -> bool:
        """Whether the block contains no record."""
        return not len(records(self.view, self.delimiter, self.quote, 1).starts)

    def is_utf8(self) -> bool:
        """Whether all bytes are valid UTF-8."""
        return self.buffer.isascii() or is_utf8(self.view)

    @cached_property
    def _line_ends(self) -> Codes:
        """Position of the last byte of each line end, found once for all lines that are asked for."""
        data = np.frombuffer(self.view, dtype=np.uint8)
        ends = data == ord("\n")
        returns = data == ord("\r")
        returns[:-1] &= ~ends[1:]
        return np.flatnonzero(ends | returns)

    def line(self, at: int) -> int:
        """Line number in the file of a byte of the data."""
        return self.first_line + int(np.searchsorted(self._line_ends, at))

    def location(self, record: int) -> RowLocation:
        """Location of a record in the file."""
        return RowLocation(self.path, line=self.line(int(self.records.starts[record])))

    def split_first(self) -> tuple[bytes, int, ByteBlock]:
        """Return the first record, its line, and the block without it."""
        start, end, _ = (int(each[0]) for each in records(self.view, self.delimiter, self.quote, 1))
        rest = min(end + (2 if bytes(self.view[end : end + 2]) == b"\r\n" else 1), len(self.view))
        line, next_line = (self.first_line + count_lines(self.view[:at]) for at in (start, rest))
        body = replace(self, begin=self.begin + rest, first_line=next_line, first_byte=self.first_byte + rest)
        return bytes(self.view[start:end]), line, body

    def select(self, good: Mask) -> bytes:
        """Return the selected records, each with a line end."""
        edges = np.flatnonzero(np.diff(good, prepend=False, append=False))  # of runs of selected records
        starts, ends = self.records.starts, self.records.ends
        return b"".join(
            self.data[starts[first] : ends[last - 1]] + b"\n"
            for first, last in zip(edges[::2], edges[1::2], strict=True)
        )


def read_blocks(
    text: Utf8Reader | UncommentedReader, path: str, delimiter: str, quote: str, skipped: SkippedRows
) -> Iterator[ByteBlock]:
    """Read a text in blocks that end at the end of a record.

    A quote that is not closed before the end of the file, or within the length of the longest record, is an error. If
    bad rows are skipped, the line with the opening quote is dropped.
    """
    line, byte, data, ended = 1, text.first_byte, b"", False
    while data or not ended:
        if not ended:
            more = text.read(BLOCK_BYTES)
            ended = len(more) < BLOCK_BYTES
            data += more
            check_no_nul(data, path, line)
        cut = last_record(data, delimiter, quote)
        end = len(data) if ended and cut.open < 0 else cut.end
        if end:
            yield ByteBlock(path, data, 0, end, line, byte, delimiter, quote, cut.broken)
            line, byte, data = line + count_lines(memoryview(data)[:end]), byte + end, data[end:]
        if ended and not data:
            return
        if not ended and len(data) <= BLOCK_BYTES:
            continue
        if cut.open < 0:
            raise InputError(
                f"{path}, line {line} is longer than {BLOCK_BYTES >> 20} MB. Is this a text file with one row per "
                "line?",
                file=path,
                line=line,
            )
        opened = cut.open - end
        at = line + count_lines(memoryview(data)[:opened])
        problem = "is never closed" if ended else f"is not closed within {BLOCK_BYTES >> 20} MB"
        skipped.skip_or_raise(RowLocation(path, line=at).error(f"the quote that opens here {problem}."))
        rest = next_line(data, opened)
        line, byte, data = line + count_lines(memoryview(data)[:rest]), byte + rest, data[rest:]


def next_line(data: bytes, at: int) -> int:
    """Position of the start of the line that follows the line of a byte."""
    ends = [end for end in (data.find(b"\n", at), data.find(b"\r", at)) if end >= 0]
    if not ends:
        return len(data)
    return min(ends) + (2 if data[min(ends) : min(ends) + 2] == b"\r\n" else 1)


@dataclass(frozen=True)
class LineLocations:
    """Locations of rows of a block, by line.

    Parameters
    ----------
    block : ByteBlock
    first : int
        Row of the block that is the first of the batch.
    kept : array of int64 or None
        Record of each row of the block, if some records were skipped.
    """

    block: ByteBlock
    first: int
    kept: Codes | None

    def of(self, row: int) -> RowLocation:
        """Location of a row of the batch."""
        at = self.first + row
        return self.block.location(at if self.kept is None else int(self.kept[at]))


def split_batches(rows: ArrowTable, block: ByteBlock, kept: Codes | None, batch_rows: int) -> Iterator[Batch]:
    """Split the rows of a block into batches of at most ``batch_rows`` rows, each column in one chunk."""
    whole = rows.combine_chunks()
    for first in range(0, whole.num_rows, batch_rows):
        part = whole.slice(first, min(batch_rows, whole.num_rows - first))
        yield Batch(part, LineLocations(block, first, kept))
