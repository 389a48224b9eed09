"""Text of delimited fields, CSV and its kin, read in blocks.

Arrow parses a block of whole records on all processors with types that are fixed beforehand: no other way to read CSV
in bounded memory that was measured is as quick. Only a block that it refuses is looked at row by row.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from suffice.exceptions import InputError, short
from suffice.kernels.records import last_record
from suffice.sources.files.batch import Batch
from suffice.sources.files.blocks import Block, batches_of, blocks
from suffice.sources.files.cells import converted, options
from suffice.sources.files.csv_header import delimiter_of, names_in, same_columns
from suffice.sources.files.csv_rows import Columns, table_of
from suffice.sources.files.decoding import Text
from suffice.sources.files.reader import Faults, Layout, Reading
from suffice.sources.files.types import asked_types, wide

__all__ = ["peek_csv", "read_csv"]

LEADING_ZERO = r"^\s*[+-]?0[0-9]+\s*$"
MOSTLY = 0.9  # of the cells of a column of text are numbers: that is worth a note


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
    text = Text(io.BytesIO(head), path, reading.encoding, whole)
    data = text.read(4 * len(head) + 4)  # a byte of latin-1 may be two of UTF-8, one of cp437 three
    if not data.strip(b"\r\n"):
        why = "holds nothing but ends of lines" if data else "is empty"
        raise InputError(f"{path} {why}: there is nothing to read.")
    delimiter = delimiter_of(data, path, reading)
    cut = last_record(data, delimiter, reading.quote)
    end = len(data) if whole and cut.open < 0 else cut.end
    first = Block(path, data, 0, end, 1, text.first_byte, delimiter, reading.quote, cut.broken)
    if first.blank:
        opened = (
            f"the quote that opens in line {data[: cut.open].count(10) + 1:,} is not closed"
            if cut.open >= 0
            else ("its first line does not end")
        )
        raise InputError(f"{path}: {opened} in the first {len(data):,} bytes. Is it a CSV file?")
    names, body = names_in(first, reading)
    found, notes = _inferred(body, names, reading)
    return Layout(names, asked_types(reading.types, found, path), delimiter, notes=notes)


def _inferred(body: Block, names: list[str], reading: Reading) -> tuple[dict[str, Any], list[str]]:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv

    def parsed(types: dict[str, Any] | None) -> Any:
        return pyarrow.csv.read_csv(
            pa.BufferReader(body.data),
            pyarrow.csv.ReadOptions(column_names=names, block_size=len(body.data) + 1, use_threads=False),
            pyarrow.csv.ParseOptions(
                delimiter=body.delimiter,
                quote_char=body.quote or False,
                newlines_in_values=True,
                invalid_row_handler=lambda _: "skip",
            ),
            options(None, types, reading.nulls),
        )

    if body.blank:
        return dict.fromkeys(names, pa.string()), []
    types = {field.name: field.type for field in parsed(None).schema}
    texts = parsed(dict.fromkeys(names, pa.string()))
    notes: list[str] = []
    for name, kind in types.items():
        cells = texts[name].combine_chunks()
        if pa.types.is_null(kind):
            notes.append(f"Column {short(name)} is empty in the first rows and read as text.")
        elif pa.types.is_integer(kind) and pc.any(pc.match_substring_regex(cells, LEADING_ZERO)).as_py():
            types[name] = pa.string()
            notes.append(f"Column {short(name)} has numbers with leading zeros and is read as text.")
        elif pa.types.is_timestamp(kind) and kind.unit == "ns":
            finer = converted(cells, pa.timestamp("us", kind.tz))[1].any()
            types[name] = kind if finer else pa.timestamp("us", kind.tz)
        elif pa.types.is_string(kind):
            wrong = converted(cells, pa.float64())[1]
            if 0 < wrong.sum() <= (1 - MOSTLY) * (len(cells) - cells.null_count):
                odd = cells[int(wrong.argmax())].as_py()
                notes.append(f"Column {short(name)} is read as text: {short(odd)} is not a number, though most are.")
    return {name: wide(kind) for name, kind in types.items()}, notes


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
