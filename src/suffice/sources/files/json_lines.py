"""JSON lines (one object on each line), read in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from suffice.exceptions import Argument, InputError, listed, short
from suffice.sources.engine_types import ArrowType
from suffice.sources.files.batch import Batch
from suffice.sources.files.blocks import ByteBlock, read_blocks, split_batches
from suffice.sources.files.cell_formats import CellFormat
from suffice.sources.files.conversion import all_convertible
from suffice.sources.files.decoding import Utf8Reader, decode_head
from suffice.sources.files.json_rows import (
    JsonNulls,
    JsonValue,
    LineError,
    NumberText,
    not_objects,
    parse_block,
    parse_object,
    with_written_values,
)
from suffice.sources.files.reader import FileLayout, HeadTooShortError, ReadOptions, SkippedRows
from suffice.sources.files.types import apply_requested

__all__ = ["peek_json_lines", "read_json_lines"]


def peek_json_lines(head: bytes, whole: bool, path: str, options: ReadOptions) -> FileLayout:
    r"""Find the names and types of the columns of JSON lines in the first lines.

    The columns are the keys of the first objects; keys that appear later are ignored. A column that holds texts and
    other values is text. Texts that are all times are times, and texts of ``nulls`` are missing cells. Lists and
    objects cannot be cells: a column of nothing else cannot be read, and in any other column they make the row bad.

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
    >>> peek_json_lines(b'{"age": 40}\n{"city": "Rome", "age": 40.5}\n', True, "data.jsonl", ReadOptions()).types
    {'age': DataType(double), 'city': DataType(string)}
    """
    import pyarrow as pa

    data, first_byte = decode_head(head, whole, path, options.encoding)
    end = len(data) if whole else max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    block = ByteBlock(path, data, 0, end, 1, first_byte, "", "", False)
    values: dict[str, list[JsonValue]] = {}
    nulls = options.set_nulls()
    first_error: InputError | None = None
    wrong, (starts, ends, _) = not_objects(block), block.records
    for row, start, stop in zip(range(len(starts)), starts.tolist(), ends.tolist(), strict=True):
        if first_error is not None and wrong[row]:
            continue
        try:
            found = parse_object(block.data[start:stop])
        except LineError as error:
            if first_error is None:
                first_error = error.at(block.location(row))
            continue
        for name, value in (found or {}).items():
            missing = isinstance(value, str) and not isinstance(value, NumberText) and value in nulls
            values.setdefault(name, []).append(None if missing else value)
    if block.blank:
        raise HeadTooShortError(f"{path}: the first line does not end within the first {len(data):,} bytes.", file=path)
    if not values:
        cause = first_error or InputError(f"{path}: the first objects have no keys.", file=path)
        raise cause.restated(*cause.sentence, " JSON lines have one object on each line.")
    if "" in values:
        raise InputError(f"{path} has an empty key. Give it a name.", file=path)
    types = {name: _infer_type(cells) for name, cells in values.items()}
    nested = {
        name: _nested_error(name, path)
        for name, cells in values.items()
        if _scalars(cells) != cells and not any(each is not None for each in _scalars(cells))
    }
    empty = {name for name, cells in values.items() if all(each is None for each in cells)}
    layout = FileLayout(list(values), apply_requested(options.types, types, path), unreadable=nested, empty=empty)
    for name, word in options.types.items():
        if word == "number" and types[name] == pa.string():  # numbers in quotes
            layout.formats[name], layout.as_written[name] = CellFormat("number"), types[name]
    return layout


def _nested_error(name: str, path: str) -> InputError:
    return InputError(
        f"Column {short(name)} of {path} holds lists or objects, which cannot be cells. Ignore the column with ",
        Argument("ignore", [name]),
        ".",
        column=name,
        file=path,
    )


def _scalars(values: list[JsonValue]) -> list[str | bool | None]:
    return [each for each in values if not isinstance(each, list | dict)]


def _infer_type(values: list[JsonValue]) -> ArrowType:
    """Type of a column with these cells: numbers, yes/no or times if all cells are, else text."""
    import pyarrow as pa

    given = [each for each in _scalars(values) if each is not None]
    if given and all(isinstance(each, bool) for each in given):
        return pa.bool_()
    if not given or not all(isinstance(each, str) for each in given):
        return pa.string()
    numbers = sum(isinstance(each, NumberText) for each in given)
    if numbers == len(given):
        return pa.int64() if all_convertible(pa.array(given, pa.string()), pa.int64()) else pa.float64()
    if not numbers:
        for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
            if all_convertible(pa.array(given), kind):
                return kind
    return pa.string()


def read_json_lines(
    file: BinaryIO,
    path: str,
    layout: FileLayout,
    columns: Sequence[str],
    options: ReadOptions,
    skipped: SkippedRows,
    written: Sequence[str] = (),
) -> Iterator[Batch]:
    """Read the rows of JSON lines in batches.

    A key that an object lacks is null, and a key that the first lines lack is ignored. Numbers and booleans in a text
    column become the texts that spell them. Texts of a column of numbers or with a format are converted. Blank lines
    are not rows.

    Parameters
    ----------
    file : binary file
        At its beginning.
    path : str
        For messages.
    layout : FileLayout
        Layout of the first file of the source.
    columns : sequence of str
        Columns to read.
    options : ReadOptions
    skipped : SkippedRows
        Receives the errors of bad rows.
    written : sequence of str
        Columns to return as JSON texts.
    """
    import pyarrow as pa

    nested = [name for name in columns if name in layout.unreadable]
    if nested:
        error = layout.unreadable[nested[0]]
        more = f" The same applies to {listed(nested[1:])}." if nested[1:] else ""
        raise error.restated(*error.sentence, more)
    types = {name: pa.string() if name in layout.formats else layout.types[name] for name in columns}
    formats = {name: form for name, form in layout.formats.items() if name in types}
    nulls = JsonNulls(options.set_nulls(layout.nulls), options.null_texts(layout.nulls))
    for block in read_blocks(Utf8Reader(file, path, options.encoding), path, "", "", skipped):
        if not block.blank:
            rows, kept = parse_block(block, types, skipped, formats, nulls)
            rows = with_written_values(rows, block, kept, written)
            yield from split_batches(rows, block, kept, options.batch_rows)
