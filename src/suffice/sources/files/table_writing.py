"""Arrow tables as files: CSV, JSON lines, Parquet and Arrow, written one batch after the other."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING, Protocol

from suffice.exceptions import Argument, InputError
from suffice.sources.engine_types import ArrowArray, ArrowSchema, ArrowTable, ArrowType

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

__all__ = ["JSON", "TableWriter", "is_json", "plain_text"]

JSON = {b"cells": b"json"}
LARGEST = sys.float_info.max


class WrittenFile(Protocol):
    """The part of a binary file that is used for writing."""

    def write(self, content: ReadableBuffer, /) -> object:
        """Write bytes."""


class TableWriter:
    """Writes Arrow tables with the same columns to a file, one after the other.

    Columns keep the types of the first table.

    Parameters
    ----------
    file : binary file
    kind : {"csv", "tsv", "jsonl", "parquet", "arrow"}
    stream : bool
        Whether Arrow is written in the stream format, which needs no random access to be read.
    """

    def __init__(self, file: WrittenFile, kind: str, *, stream: bool) -> None:
        self._file, self._kind, self._stream = file, kind, stream
        self._schema: ArrowSchema = None
        self._write: Callable[[ArrowTable], object]
        self._close: Callable[[], object] = lambda: None

    def write(self, table: ArrowTable) -> None:
        """Write the rows of a table after those of the last one."""
        self.take(table)()

    def take(self, table: ArrowTable) -> Callable[[], object]:
        """Write what precedes the first row, convert a table to the first types, and return a function to write it."""
        if self._schema is None:
            self._begin(table.schema)
        table = self._with_first_types(table)
        return lambda: self._write(table)

    def close(self) -> None:
        """Write what follows the last row in a file of this format."""
        self._close()

    def _with_first_types(self, table: ArrowTable) -> ArrowTable:
        import pyarrow as pa

        if table.schema.equals(self._schema):
            return table
        for name, new, first in zip(table.schema.names, table.schema.types, self._schema.types, strict=True):
            try:
                table[name].cast(first)
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
                raise InputError(
                    f"Column {name!r} has type {first} in the first rows and type {new} in later ones. Set its type "
                    "with ",
                    Argument("types", {name: "number"}),
                    " or ",
                    Argument("types", {name: "text"}),
                    ".",
                    column=name,
                ) from None
        return table.cast(self._schema)

    def _begin(self, schema: ArrowSchema) -> None:
        """Write what precedes the first row, and choose the functions that write rows and close the file."""
        self._schema = schema
        if self._kind in ("csv", "tsv"):
            delimiter = "\t" if self._kind == "tsv" else ","
            header = io.StringIO()
            csv.writer(header, delimiter=delimiter, lineterminator="\n").writerow(schema.names)
            self._file.write(header.getvalue().encode())
            self._write = lambda table: self._file.write(_csv(table, delimiter))
        elif self._kind == "jsonl":
            self._write = lambda table: self._file.write(_json_lines(table))
        elif self._kind == "parquet":
            schema = _with_plain_texts(schema.empty_table()).schema
            from pyarrow.parquet import ParquetWriter

            # Texts are mostly labels, which repeat; probabilities hardly ever do, and a dictionary would only cost.
            texts = [field.name for field in schema if str(field.type) in ("string", "large_string")]
            parquet = ParquetWriter(self._file, schema, use_dictionary=texts)
            self._write, self._close = (lambda table: parquet.write_table(_with_plain_texts(table))), parquet.close
        else:
            import pyarrow as pa

            schema = _with_plain_texts(schema.empty_table()).schema
            # The file format has its index at the end, which a reader of a pipe cannot seek to.
            make = pa.ipc.new_stream if self._stream else pa.ipc.new_file
            stream = make(self._file, schema)
            self._write, self._close = (lambda table: stream.write_table(_with_plain_texts(table))), stream.close


def _csv(table: ArrowTable, delimiter: str) -> ReadableBuffer:
    """Rows as CSV, with quotes around texts that need them. A missing cell is empty, an empty text is ``""``."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow.csv import WriteOptions, write_csv

    table = _with_plain_texts(table)
    special = f'["\\r\\n{delimiter}]|^$'
    columns = [column.cast(pa.large_string()) if _is_text(column.type) else column for column in table.columns]
    needed = [_is_text(c.type) and pc.any(pc.match_substring_regex(c, special)).as_py() for c in columns]
    if not any(needed):
        out = pa.BufferOutputStream()
        write_csv(table, out, WriteOptions(include_header=False, delimiter=delimiter, quoting_style="none"))
        written: ReadableBuffer = out.getvalue()
        return written
    texts = [
        _quoted(c, special) if quote else c.cast(pa.large_string()) for c, quote in zip(columns, needed, strict=True)
    ]
    lines = _joined(*(each.fill_null("") for each in texts), between=delimiter)
    ended = _joined(lines, "\n").combine_chunks()
    texts_of_all: ReadableBuffer = ended.buffers()[2] if len(ended) else b""  # the texts follow one another in memory
    return texts_of_all


def _is_text(kind: ArrowType) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _quoted(cells: ArrowArray, special: str) -> ArrowArray:
    """Texts with quotes around those that match a pattern."""
    import pyarrow.compute as pc

    within_quotes = _joined('"', pc.replace_substring(cells, '"', '""'), '"')
    return pc.if_else(pc.match_substring_regex(cells, special), within_quotes, cells)


def _joined(*texts: ArrowArray | str, between: str = "") -> ArrowArray:
    """Texts of each row, joined."""
    import pyarrow as pa
    import pyarrow.compute as pc

    parts = [pa.scalar(each, pa.large_string()) if isinstance(each, str) else each for each in (*texts, between)]
    return pc.binary_join_element_wise(*parts)


def _with_plain_texts(table: ArrowTable) -> ArrowTable:
    """The table with plain texts in columns whose cells are JSON."""
    for j, field in enumerate(table.schema):
        if is_json(field):
            table = table.set_column(j, field.name, plain_text(table.column(j)))
    return table


def _json_lines(table: ArrowTable) -> bytes:
    """Rows as one JSON object per line. NaN and infinity become null, times become text."""
    columns = [
        column.to_pylist() if is_json(field) else [_json_value(cell) for cell in column.to_pylist()]
        for field, column in zip(table.schema, table.columns, strict=True)
    ]
    keys = [f"{json.dumps(name, ensure_ascii=False)}: " for name in table.column_names]
    rows = zip(*columns, strict=True)
    lines = [f"{{{', '.join(map(str.__add__, keys, cells))}}}\n" for cells in rows]
    return "".join(lines).encode()


def _json_value(cell: object) -> str:
    if isinstance(cell, float):
        return float.__repr__(cell) if -LARGEST <= cell <= LARGEST else "null"
    if isinstance(cell, Decimal):
        return str(cell) if cell.is_finite() else "null"
    return json.dumps(cell, ensure_ascii=False, default=str)


def is_json(field: ArrowSchema) -> bool:
    """Whether the cells of a column are JSON."""
    return field.metadata is not None and JSON.items() <= field.metadata.items()


def plain_text(cells: ArrowArray) -> ArrowArray:
    r"""Cells that are JSON as plain texts: strings without quotes and escapes, other values as they are, null as null.

    >>> import pyarrow as pa
    >>> plain_text(pa.chunked_array([['"a\\nb"', "1.50", "null", "[1, 2]"]])).to_pylist()
    ['a\nb', '1.50', None, '[1, 2]']
    """
    import json

    import pyarrow as pa
    import pyarrow.compute as pc

    quoted = pc.starts_with(cells, '"')
    texts = pc.if_else(quoted, pc.utf8_slice_codeunits(cells, 1, -1), cells)
    texts = pc.if_else(pc.equal(cells, "null"), pa.scalar(None, cells.type), texts)
    escaped = pc.and_(quoted, pc.match_substring(cells, "\\"))
    if pc.any(escaped).as_py():
        decoded = pa.array([json.loads(each) for each in cells.filter(escaped).to_pylist()], cells.type)
        texts = pc.replace_with_mask(texts.combine_chunks(), escaped.combine_chunks(), decoded)
    return pa.chunked_array([texts]) if isinstance(texts, pa.Array) else texts
