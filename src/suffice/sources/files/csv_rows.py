"""A block of a CSV as a table: by Arrow at once, and row by row where Arrow refuses it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.sources.files.bad_rows import BadRows
from suffice.sources.files.blocks import Block
from suffice.sources.files.cells import options, widened
from suffice.sources.files.csv_header import counted
from suffice.sources.files.owned import owned
from suffice.sources.files.reader import Faults

__all__ = ["Columns", "table_of"]

PARSED_AT_ONCE = 1 << 21  # of a block, so that all processors parse it
COLUMN = re.compile(r"column #(\d+)")


@dataclass
class Columns:
    """The columns of a file.

    Attributes
    ----------
    names : list of str
        All that the file has, in their order.
    wanted : list of str
        Those to read, in the order to give them in.
    types : dict of str to pyarrow.DataType
        A column of whole numbers that met others is one of numbers from there on.
    nulls : sequence of str or None
    """

    names: list[str]
    wanted: list[str]
    types: dict[str, Any]
    nulls: Sequence[str] | None


def table_of(block: Block, columns: Columns, faults: Faults) -> tuple[Any, NDArray[np.int64] | None]:
    """The rows of a block, and of which records they are if some were left out."""
    import pyarrow as pa

    if block.is_utf8():
        try:
            # Arrow loses the LF of a quoted CR LF that lies across two of its pieces.
            in_pieces = not (block.broken and block.held.find(b"\r", block.begin, block.end) >= 0)
            return _parsed(block, block.view, columns, in_pieces), None
        except pa.ArrowInvalid:  # it is looked at row by row
            pass
    return _row_by_row(block, columns, faults)


def _row_by_row(block: Block, columns: Columns, faults: Faults) -> tuple[Any, NDArray[np.int64]]:
    import pyarrow as pa

    bad = BadRows(block)
    bad.add_not_utf8()
    due, fields = len(columns.names), block.records.fields
    bad.add(
        np.flatnonzero(fields != due),
        lambda row: f"{block.place(row)}, has {counted(int(fields[row]))} where {due:,} are due.",
    )
    shaped = np.flatnonzero(bad.good)
    table = _with_texts(block, block.chosen(bad.good), columns)
    for at, name in enumerate(columns.wanted):
        kind = columns.types[name]
        if table.num_rows == 0 or table.schema.field(at).type == kind:
            continue
        texts = table.column(at).combine_chunks()
        cells, wrong = widened(texts, kind)
        columns.types[name] = cells.type
        table = table.set_column(at, name, cells)
        bad.add_cells(shaped, wrong, name, texts, kind)
    kept = bad.report(faults)
    return table.filter(pa.array(bad.good[shaped])), kept


def _with_texts(block: Block, data: bytes, columns: Columns) -> Any:
    """Rows of the right shape, in which columns with cells that are not of their type are text."""
    import pyarrow as pa

    types = dict(columns.types)
    hinted = False
    while True:
        try:
            return _parsed(block, data, Columns(columns.names, columns.wanted, types, columns.nulls), in_pieces=False)
        except pa.ArrowInvalid as error:
            # Arrow names one column. If there are more of them, to find each would take a look at the block for each.
            hint = None if hinted else COLUMN.search(str(error))
            hinted = True
            suspects = [columns.names[int(hint[1])]] if hint else columns.wanted
            suspects = [name for name in suspects if types[name] != pa.string()]
            if not suspects:
                raise InputError(f"{block.place(0)}: from here on, Arrow cannot read the file: {error}") from error
            types |= dict.fromkeys(suspects, pa.string())


def _parsed(block: Block, data: bytes | memoryview, columns: Columns, in_pieces: bool) -> Any:
    import pyarrow as pa
    import pyarrow.csv

    types = {name: columns.types[name] for name in columns.wanted}
    if not len(data):
        return pa.schema(list(types.items())).empty_table()
    if not columns.wanted:  # Arrow takes no names for all names
        return pa.table({"": pa.nulls(len(block.records.starts))}).select([])
    return pyarrow.csv.read_csv(
        owned(data),
        pyarrow.csv.ReadOptions(column_names=columns.names, block_size=PARSED_AT_ONCE if in_pieces else len(data) + 1),
        pyarrow.csv.ParseOptions(
            delimiter=block.delimiter, quote_char=block.quote or False, newlines_in_values=block.broken
        ),
        options(columns.wanted, types, columns.nulls),
    )
