"""Text of delimited fields, CSV and its kin, read in blocks.

Arrow parses a block of whole records on all processors, with types that are fixed beforehand: that is twice as quick as
its own stream of a file. Only a block that it refuses is looked at row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO

from suffice.exceptions import InputError
from suffice.kernels.records import last_record
from suffice.sources.files.batch import Batch
from suffice.sources.files.blocks import BLOCK_BYTES, Block, batches_of, blocks, next_line
from suffice.sources.files.csv_header import delimiter_of, names_in, same_columns
from suffice.sources.files.csv_rows import Columns, table_of
from suffice.sources.files.csv_types import inferred
from suffice.sources.files.decoding import Text, head_of
from suffice.sources.files.reader import Faults, HeadTooShortError, Layout, Reading
from suffice.sources.files.types import asked_types

__all__ = ["peek_csv", "read_csv"]


def peek_csv(head: bytes, whole: bool, path: str, reading: Reading) -> Layout:
    r"""Names and types of the columns of a CSV, found in its first rows.

    Types are those that Arrow infers: whole numbers, numbers, yes/no (true and false), dates, times and text. Besides,
    whole numbers of which one has a leading zero ("007") are codes, and so text; a column that is empty in the first
    rows is text. Rows that have not as many fields as the first are not looked at.

    Parameters
    ----------
    head : bytes
        The first of the file.
    whole : bool
        Whether they are all of it.
    path : str
        For messages.
    reading : Reading

    Examples
    --------
    >>> peek_csv(b"age;city\n40;Rome\n", True, "data.csv", Reading()).types
    {'age': DataType(int64), 'city': DataType(string)}
    """
    data, first_byte = head_of(head, whole, path, reading.encoding)
    delimiter = delimiter_of(data, path, reading)
    cut = last_record(data, delimiter, reading.quote)
    end = len(data) if whole and cut.open < 0 else cut.end
    first = Block(path, data, 0, end, 1, first_byte, delimiter, reading.quote, cut.broken)
    if reading.bad_rows == "skip" and cut.open >= 0 and not first.blank:
        more = _after_open_quotes(data[end:], whole, delimiter, reading.quote)
        first = replace(first, held=data[:end] + more, end=end + len(more), broken=True)
    names, body = ([], first) if first.blank else names_in(first, reading)
    few = body.blank or (reading.bad_rows == "skip" and cut.open >= 0 and 2 * body.end < len(data) <= 2 * BLOCK_BYTES)
    if first.blank or (few and not whole):
        quote = f", and the quote that opens in line {first.line(cut.open)} is not closed" if cut.open >= 0 else ""
        refusal = InputError if whole else HeadTooShortError
        raise refusal(f"{path}: its first row does not end in the first {len(data):,} bytes{quote}. Is it a CSV file?")
    found, notes, empty = inferred(body, names, reading.nulls)
    return Layout(names, asked_types(reading.types, found, path), delimiter, notes=notes, empty=empty)


def _after_open_quotes(data: bytes, whole: bool, delimiter: str, quote: str) -> bytes:
    """The records after lines with a quote that is never closed, which `blocks` leaves out."""
    found = b""
    while data:
        cut = last_record(data, delimiter, quote)
        found += data if whole and cut.open < 0 else data[: cut.end]
        if cut.open < 0 or not (whole or len(data) - cut.end > BLOCK_BYTES):
            break
        data = data[next_line(data, cut.open) :]
    return found


def read_csv(
    file: BinaryIO, path: str, layout: Layout, columns: Sequence[str], reading: Reading, faults: Faults
) -> Iterator[Batch]:
    """The rows of a CSV, in batches.

    Blank lines are no rows. A cell that spells a null is one in any column, and within quotes too. Whole numbers become
    numbers from the block on in which they are not whole.

    Parameters
    ----------
    file : binary file
        From its beginning.
    path : str
        For messages.
    layout : Layout
        Of the source: of its first file. Another file has the same columns, in any order.
    columns : sequence of str
        Those to read.
    reading : Reading
    faults : Faults
        Takes what is wrong with rows.
    """
    known: Columns | None = None
    for block in blocks(Text(file, path, reading.encoding), path, layout.delimiter, reading.quote, faults):
        if block.blank:
            continue
        if known is None:
            names, block = names_in(block, reading)
            same_columns(names, layout.names, path)
            known = Columns(names, list(columns), dict(layout.types), reading.nulls)
            if block.blank:
                continue
        rows, kept = table_of(block, known, faults)
        yield from batches_of(rows, block, kept, reading.batch_rows)
