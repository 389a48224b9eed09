"""CSV and other delimited text, read in blocks.

Arrow parses a block of whole records on all cores, with column types fixed beforehand; this is twice as fast as Arrow's
own streaming reader. Only a block that Arrow rejects is read row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import BinaryIO

from suffice.exceptions import Argument, InputError
from suffice.kernels.records import last_record
from suffice.sources.files.batch import Batch, RowLocation
from suffice.sources.files.blocks import BLOCK_BYTES, ByteBlock, next_line, read_blocks, split_batches
from suffice.sources.files.csv_header import (
    HEADER,
    NO_HEADER,
    check_same_columns,
    empty_name,
    find_delimiter,
    find_quote,
    first_row_note,
    looks_like_data,
    read_header,
)
from suffice.sources.files.csv_rows import CsvColumns, parse_block
from suffice.sources.files.csv_types import InferredTypes, infer_types
from suffice.sources.files.decoding import UncommentedReader, Utf8Reader, decode_head, without_comments
from suffice.sources.files.reader import (
    FileLayout,
    HeadTooShortError,
    ReadOptions,
    Sentence,
    SkippedRows,
    given_format,
    request_types,
)

__all__ = ["peek_csv", "read_csv"]

LINE_BREAKS = "line breaks"  # topic of a note


def peek_csv(head: bytes, whole: bool, path: str, options: ReadOptions) -> FileLayout:
    r"""Find the names and types of the columns of a CSV in its first rows.

    Types are those that `suffice.sources.files.csv_types.infer_types` infers. Rows with another number of fields than
    the first are not used. A first column without a name that holds row numbers is not a column.

    Parameters
    ----------
    head : bytes
        First bytes of the file.
    whole : bool
        Whether they are the whole file.
    path : str
        For messages.
    options : ReadOptions

    Examples
    --------
    >>> peek_csv(b"age;city\n40;Rome\n", True, "data.csv", ReadOptions()).types
    {'age': DataType(int64), 'city': DataType(string)}
    """
    data, first_byte = decode_head(head, whole, path, options.encoding)
    data = without_comments(data, options.comment)
    delimiter = find_delimiter(data, path, options)
    quote = find_quote(data, delimiter, options)
    cut = last_record(data, delimiter, quote)
    end = len(data) if whole and cut.open < 0 else cut.end
    first = ByteBlock(path, data, 0, end, 1, first_byte, delimiter, quote, cut.broken)
    if options.bad_rows == "skip" and cut.open >= 0 and not first.blank:
        more = _after_open_quotes(data[end:], whole, delimiter, quote)
        first = replace(first, buffer=data[:end] + more, end=end + len(more), has_line_breaks=True)
    names, body = ([], first) if first.blank else read_header(first, options)
    few = body.blank or (options.bad_rows == "skip" and cut.open >= 0 and 2 * body.end < len(data) <= 2 * BLOCK_BYTES)
    if first.blank or (few and not whole):
        opened = f", and the quote that opens in line {first.line(cut.open)} is not closed" if cut.open >= 0 else ""
        error = InputError if whole else HeadTooShortError
        raise error(
            f"{path}: the first row does not end within the first {len(data):,} bytes{opened}. Is this a CSV file?",
            file=path,
        )
    inferred = infer_types(body, names, options)
    notes = {LINE_BREAKS: _line_break_note(first)} if cut.broken and not first.blank else {}
    if options.header and options.names is None and looks_like_data(names):
        notes[HEADER] = (f"{path}: the column names look like data.", *NO_HEADER)
    if options.header and options.names is not None and (note := first_row_note(first)):
        notes[HEADER] = note
    if not names[0].strip():
        notes["row numbers"] = _row_numbers_note(body, inferred)
        names = names[1:]
    layout = FileLayout(
        names,
        {name: inferred.types[name] for name in names},
        delimiter,
        notes=notes,
        remarks=inferred.remarks,
        formats=inferred.formats,
        as_written=inferred.as_written,
        zero_one=inferred.zero_one,
        decimal_points=inferred.decimal_points,
        empty=inferred.empty,
        quote=quote,
        has_header=options.header and options.names is None,
    )
    request_types(layout, options.types, options, path)
    return layout


def _line_break_note(block: ByteBlock) -> Sentence:
    """Note on the first quoted cell that spans lines."""
    starts, ends, _ = block.records
    breaks = (at for at, (start, end) in enumerate(zip(starts, ends, strict=True)) if b"\n" in block.data[start:end])
    at = next(breaks, None)
    if at is None:  # the line break is a lone CR
        return (f"{block.path} has a quoted cell that spans lines.",)
    first, last = block.line(int(starts[at])), block.line(int(ends[at]))
    return (
        f"{block.path}, line {first}: a quoted cell spans lines {first} to {last}. If quotes are ordinary characters "
        "in this file, set ",
        Argument("quote", "none"),
        ".",
    )


def _row_numbers_note(body: ByteBlock, inferred: InferredTypes) -> Sentence:
    """Note on a first column without a name; raises unless it holds row numbers."""
    if not inferred.row_numbers:
        raise empty_name([1], RowLocation(body.path, line=max(1, body.first_line - 1)))
    return (f"The first column of {body.path} has no name and holds row numbers; it is ignored.",)


def _after_open_quotes(data: bytes, whole: bool, delimiter: str, quote: str) -> bytes:
    """The records after lines with a quote that is never closed; `read_blocks` drops those lines."""
    rest = b""
    while data:
        cut = last_record(data, delimiter, quote)
        rest += data if whole and cut.open < 0 else data[: cut.end]
        if cut.open < 0 or not (whole or len(data) - cut.end > BLOCK_BYTES):
            break
        data = data[next_line(data, cut.open) :]
    return rest


def read_csv(
    file: BinaryIO,
    path: str,
    layout: FileLayout,
    columns: Sequence[str],
    options: ReadOptions,
    skipped: SkippedRows,
    written: Sequence[str] = (),
) -> Iterator[Batch]:
    """Read the rows of a CSV in batches.

    Blank lines are not rows. A cell that spells a null is null in any column, also within quotes. A column of whole
    numbers becomes float64 from the block on in which a number has a fraction.

    Parameters
    ----------
    file : binary file
        At its beginning.
    path : str
        For messages.
    layout : FileLayout
        Layout of the first file of the source. This file must have the same columns, in any order.
    columns : sequence of str
        Columns to read.
    options : ReadOptions
    skipped : SkippedRows
        Receives the errors of bad rows.
    written : sequence of str
        Columns to return as they are written.
    """
    known: CsvColumns | None = None
    whole = Utf8Reader(file, path, options.encoding)
    text = UncommentedReader(whole, options.comment) if options.comment else whole
    for block in read_blocks(text, path, layout.delimiter, layout.quote, skipped):
        if block.blank:
            continue
        if known is None:
            names, block = read_header(block, options)
            check_same_columns(names[not names[0].strip() :], layout.names, path)
            formats = {name: form for name, form in layout.formats.items() if not form.is_plain}
            known = CsvColumns(
                names,
                list(columns),
                dict(layout.types),
                options.null_texts(layout.nulls),
                formats,
                given_format("number", options),
                written,
                layout.zero_one,
            )
            if block.blank:
                continue
        if block.has_line_breaks and LINE_BREAKS not in layout.notes:
            layout.notes[LINE_BREAKS] = _line_break_note(block)
        rows, kept = parse_block(block, known, skipped)
        yield from split_batches(rows, block, kept, options.batch_rows)
