"""Lines of JSON objects, read in blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

from suffice.exceptions import InputError, listed, short
from suffice.sources.files.batch import Batch
from suffice.sources.files.blocks import Block, batches_of, blocks
from suffice.sources.files.cells import all_fit
from suffice.sources.files.decoding import Text, head_of
from suffice.sources.files.json_rows import LineError, Number, object_in, table_of
from suffice.sources.files.reader import Faults, HeadTooShortError, Layout, Reading
from suffice.sources.files.types import asked_types

__all__ = ["peek_json_lines", "read_json_lines"]


def peek_json_lines(head: bytes, whole: bool, path: str, reading: Reading) -> Layout:
    r"""Names and types of the columns of JSON lines, found in the first of them.

    The columns are the keys of the first objects; keys that come up later are left out. A column that holds texts and
    something else is text. Texts that are all times are times. A list or an object is no cell: a column of nothing else
    cannot be read, and in any other it is a fault of its row.

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
    >>> peek_json_lines(b'{"age": 40}\n{"city": "Rome", "age": 40.5}\n', True, "data.jsonl", Reading()).types
    {'age': DataType(double), 'city': DataType(string)}
    """
    data, first_byte = head_of(head, whole, path, reading.encoding)
    end = len(data) if whole else max(data.rfind(b"\n"), data.rfind(b"\r")) + 1
    block = Block(path, data, 0, end, 1, first_byte, "", "", False)
    values: dict[str, list[Any]] = {}
    faults = Faults(skip=True)
    for row, (start, stop) in enumerate(zip(block.records.starts, block.records.ends, strict=True)):
        try:
            found = object_in(block.data[start:stop])
        except LineError as fault:
            faults.met(f"{block.place(row)}{fault}")
            continue
        for name, value in (found or {}).items():
            values.setdefault(name, []).append(value)
    if block.blank:
        raise HeadTooShortError(f"{path}: its first line does not end in the first {len(data):,} bytes.")
    if not values:
        why = faults.sentences[0] if faults.sentences else f"{path}: the first objects hold no key."
        raise InputError(f"{why} JSON lines have one object on each line.")
    if "" in values:
        raise InputError(f"{path} has a key that is empty. Give it a name.")
    types = {name: _type(cells) for name, cells in values.items()}
    nested = {
        name: f"Column {short(name)} of {path} holds lists or objects, which are no cells. Ignore it."
        for name, cells in values.items()
        if _scalars(cells) != cells and not any(each is not None for each in _scalars(cells))
    }
    empty = {name for name, cells in values.items() if all(each is None for each in cells)}
    return Layout(list(values), asked_types(reading.types, types, path), unreadable=nested, empty=empty)


def _scalars(values: list[Any]) -> list[Any]:
    return [each for each in values if not isinstance(each, list | dict)]


def _type(values: list[Any]) -> Any:
    """The type of a column with these cells: numbers, yes/no and times if all are, else text."""
    import pyarrow as pa

    given = [each for each in _scalars(values) if each is not None]
    if given and all(isinstance(each, bool) for each in given):
        return pa.bool_()
    if not given or not all(isinstance(each, str) for each in given):
        return pa.string()
    numbers = sum(isinstance(each, Number) for each in given)
    if numbers == len(given):
        return pa.int64() if all_fit(pa.array(given, pa.string()), pa.int64()) else pa.float64()
    if not numbers:
        for kind in (pa.timestamp("us"), pa.timestamp("us", "UTC")):
            if all_fit(pa.array(given), kind):
                return kind
    return pa.string()


def read_json_lines(
    file: BinaryIO, path: str, layout: Layout, columns: Sequence[str], reading: Reading, faults: Faults
) -> Iterator[Batch]:
    """The rows of JSON lines, in batches.

    A key that an object lacks is null, and one that the first lines have not is left out. Numbers and truth values in a
    column of text are the texts that they are spelled as. Blank lines are no rows.

    Parameters
    ----------
    file : binary file
        From its beginning.
    path : str
        For messages.
    layout : Layout
        Of the source: of its first file.
    columns : sequence of str
        Those to read.
    reading : Reading
    faults : Faults
        Takes what is wrong with rows.
    """
    nested = [name for name in columns if name in layout.unreadable]
    if nested:
        more = f" The same is true of {listed(nested[1:])}." if nested[1:] else ""
        raise InputError(layout.unreadable[nested[0]] + more)
    types = {name: layout.types[name] for name in columns}
    for block in blocks(Text(file, path, reading.encoding), path, "", "", faults):
        if not block.blank:
            rows, kept = table_of(block, types, faults)
            yield from batches_of(rows, block, kept, reading.batch_rows)
