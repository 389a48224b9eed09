"""A block of a CSV as a table: parsed by Arrow at once, or row by row if Arrow rejects it."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from suffice.exceptions import Argument, InputError, counted, short
from suffice.numerics.types import Codes, Mask
from suffice.sources.engine_types import ArrowArray, ArrowTable, ArrowType
from suffice.sources.files.arrow_memory import copy_to_arrow
from suffice.sources.files.bad_rows import BadRows
from suffice.sources.files.batch import written
from suffice.sources.files.blocks import ByteBlock
from suffice.sources.files.cell_formats import CellFormat, is_grouped
from suffice.sources.files.conversion import all_convertible, convert_options, convert_or_widen
from suffice.sources.files.reader import SkippedRows
from suffice.sources.files.types import expected_value, type_word

__all__ = ["CsvColumns", "parse_block"]

PARSED_AT_ONCE = 1 << 21  # bytes of a block that one thread parses
NUMBERS = ("number", "whole number")
COLUMN = re.compile(r"column #(\d+)")


@dataclass
class CsvColumns:
    """The columns of a CSV file.

    Attributes
    ----------
    names : list of str
        All columns of the file, in order.
    wanted : list of str
        Columns to read, in the order of the result.
    types : dict of str to pyarrow.DataType
        Changes from int64 to float64 when a column of whole numbers turns out to have fractions.
    nulls : sequence of str
    formats : dict of str to CellFormat
        Of columns whose cells are not written in the plain form.
    given : CellFormat, optional
        Format that the user has set for numbers.
    written : sequence of str
        Columns to return, after the others, as they are written.
    zero_one : collection of str
        Columns in whose first rows only 0 and 1 occur.
    """

    names: list[str]
    wanted: list[str]
    types: dict[str, ArrowType]
    nulls: Sequence[str]
    formats: dict[str, CellFormat] = field(default_factory=dict)
    given: CellFormat | None = None
    written: Sequence[str] = ()
    zero_one: Collection[str] = ()

    def convert(self, name: str, texts: ArrowArray) -> tuple[ArrowArray, Mask]:
        """Convert the texts of a column, and find those that are invalid; the type of the column may change."""
        kind = self.types[name]
        form = self.formats.get(name)
        cells, wrong = convert_or_widen(texts, kind) if form is None else form.convert(texts)
        if form is None and self.given is not None and type_word(kind) in NUMBERS and wrong.any():
            as_given, wrong_as_given = self.given.convert(texts)
            if wrong_as_given.sum() < wrong.sum():
                self.formats[name], cells, wrong = self.given, as_given, wrong_as_given
        self.types[name] = cells.type
        return cells, wrong

    def parsed_types(self) -> dict[str, ArrowType]:
        """Types that Arrow parses the wanted columns as: text for those with a format."""
        import pyarrow as pa

        return {name: pa.string() if name in self.formats else self.types[name] for name in self.wanted}


def parse_block(block: ByteBlock, columns: CsvColumns, skipped: SkippedRows) -> tuple[ArrowTable, Codes | None]:
    """Return the rows of a block, and the record of each row if some records were skipped."""
    rows, kept = _parse_typed(block, columns, skipped)
    for name, cells in _written_cells(block, kept, columns):
        rows = rows.append_column(written(name), cells)
    return rows, kept


def _parse_typed(block: ByteBlock, columns: CsvColumns, skipped: SkippedRows) -> tuple[ArrowTable, Codes | None]:
    import pyarrow as pa

    if block.is_utf8() and not _may_be_hexadecimal(block, columns):
        try:
            # Arrow loses the LF of a quoted CR LF that is split between two of its pieces.
            in_pieces = not (block.has_line_breaks and block.buffer.find(b"\r", block.begin, block.end) >= 0)
            table = _convert_formats(_parse(block, block.view, columns, in_pieces), columns)
            if table is not None:
                return table, None
        except pa.ArrowInvalid:
            pass  # _parse_rows finds the bad rows
    return _parse_rows(block, columns, skipped)


def _may_be_hexadecimal(block: ByteBlock, columns: CsvColumns) -> bool:
    """Whether a whole number may be written as 0x1F, which Arrow would read."""
    import pyarrow as pa

    if not any(pa.types.is_integer(columns.types[name]) for name in columns.wanted):
        return False
    # A search for one letter is much faster than one for a zero and a letter.
    letters = [letter for letter in (b"x", b"X") if block.buffer.find(letter, block.begin, block.end) >= 0]
    return any(block.buffer.find(b"0" + letter, block.begin, block.end) >= 0 for letter in letters)


def _convert_formats(table: ArrowTable, columns: CsvColumns) -> ArrowTable | None:
    """Convert the columns that have a format; None if a cell is not written in it."""
    for at, name in enumerate(columns.wanted):
        if name in columns.formats:
            cells, wrong = columns.formats[name].convert(table.column(at).combine_chunks())
            if wrong.any():
                return None
            table = table.set_column(at, name, cells)
    return table


def _written_cells(block: ByteBlock, kept: Codes | None, columns: CsvColumns) -> Iterator[tuple[str, ArrowArray]]:
    """Yield the columns to return as they are written: texts, and null for an empty cell without quotes."""
    import pyarrow as pa

    if not columns.written:
        return
    data: bytes | memoryview = block.view
    if kept is not None:
        good = np.zeros(len(block.records.starts), dtype=bool)
        good[kept] = True
        data = block.select(good)
    texts = CsvColumns(columns.names, list(columns.written), dict.fromkeys(columns.written, pa.string()), ("",))
    in_pieces = not block.has_line_breaks
    table = _parse(block, data, texts, in_pieces, quoted_nulls=False)
    yield from zip(columns.written, table.columns, strict=True)


def _parse_rows(block: ByteBlock, columns: CsvColumns, skipped: SkippedRows) -> tuple[ArrowTable, Codes]:
    import pyarrow as pa

    bad = BadRows(block, skipped.known_types)
    bad.add_not_utf8()
    expected, fields = len(columns.names), block.records.fields

    def wrong_fields(row: int) -> InputError:
        location = block.location(row)
        sentence = f"{location} has {counted(int(fields[row]), 'field')}; expected {expected:,}."
        return InputError(sentence, file=location.file, line=location.line)

    bad.add(np.flatnonzero(fields != expected), wrong_fields)
    shaped = np.flatnonzero(bad.good)
    table = _parse_with_texts(block, block.select(bad.good), columns)
    for at, name in enumerate(columns.wanted):
        kind = columns.types[name]
        if table.num_rows == 0 or table.schema.field(at).type == kind:
            continue
        texts = table.column(at).combine_chunks()
        cells, wrong = columns.convert(name, texts)
        form = columns.formats.get(name)
        table = table.set_column(at, name, cells)
        if form is None or not form.thousands:
            _refuse_grouped(block, shaped, wrong, texts, name, kind)
        are_numbers = name in columns.zero_one and all_convertible(texts.filter(pa.array(wrong)), pa.float64())
        expected_cell = expected_value(kind) if form is None else form.expected
        plain = None if form is None or not wrong.any() else form.plain_kind(texts.filter(pa.array(wrong)))
        bad.add_cells(shaped, wrong, name, texts, expected_cell, "number" if are_numbers else plain or "category")
    kept = bad.report(skipped)
    return table.filter(pa.array(bad.good[shaped])), kept


def _refuse_grouped(block: ByteBlock, rows: Codes, wrong: Mask, texts: ArrowArray, name: str, kind: ArrowType) -> None:
    """Raise if a number has thousands separators that the column does not have: to skip it would drop large numbers."""
    import pyarrow as pa

    if not wrong.any() or not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        return
    suspects = np.flatnonzero(wrong)
    grouped = suspects[is_grouped(texts.take(pa.array(suspects)))]
    if len(grouped):
        text = texts[int(grouped[0])].as_py()
        raise block.location(int(rows[grouped[0]])).error(
            f"{short(text)} has thousands separators, which the first rows of the column do not have. Set ",
            Argument("thousands"),
            " and, if needed, ",
            Argument("decimal"),
            ".",
            column=name,
        )


def _parse_with_texts(block: ByteBlock, data: bytes, columns: CsvColumns) -> ArrowTable:
    """Parse records with the right number of fields; columns that have cells of another type are read as text."""
    import pyarrow as pa

    types = dict(columns.types)
    if _may_be_hexadecimal(block, columns):
        types |= {name: pa.string() for name in columns.wanted if pa.types.is_integer(types[name])}
    hinted = False
    while True:
        try:
            return _parse(block, data, replace(columns, types=types), in_pieces=False)
        except pa.ArrowInvalid as error:
            # Arrow names one column. Finding further ones the same way would parse the block once for each.
            hint = None if hinted else COLUMN.search(str(error))
            hinted = True
            suspects = [columns.names[int(hint[1])]] if hint else columns.wanted
            suspects = [name for name in suspects if types[name] != pa.string() and name not in columns.formats]
            if not suspects:
                raise block.location(0).error(f"Arrow cannot read the file from this line on ({error}).") from error
            types |= dict.fromkeys(suspects, pa.string())


def _parse(
    block: ByteBlock, data: bytes | memoryview, columns: CsvColumns, in_pieces: bool, quoted_nulls: bool = True
) -> ArrowTable:
    import pyarrow as pa
    import pyarrow.csv

    types = columns.parsed_types()
    if not len(data):
        return pa.schema(list(types.items())).empty_table()
    if not columns.wanted:  # Arrow would read all columns
        return pa.table({"": pa.nulls(len(block.records.starts))}).select([])
    return pyarrow.csv.read_csv(
        copy_to_arrow(data),
        pyarrow.csv.ReadOptions(column_names=columns.names, block_size=PARSED_AT_ONCE if in_pieces else len(data) + 1),
        pyarrow.csv.ParseOptions(
            delimiter=block.delimiter, quote_char=block.quote or False, newlines_in_values=block.has_line_breaks
        ),
        convert_options(columns.wanted, types, columns.nulls, quoted_nulls),
    )
