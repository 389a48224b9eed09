"""A block of JSON lines as a table: parsed by Arrow at once, or line by line if Arrow rejects it."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from json.encoder import encode_basestring
from typing import TypeAlias, TypeGuard

import numpy as np

from suffice.exceptions import InputError, short
from suffice.numerics.types import Codes, Mask
from suffice.sources.engine_types import ArrowArray, ArrowTable, ArrowType
from suffice.sources.files.arrow_memory import copy_to_arrow
from suffice.sources.files.bad_rows import BadRows
from suffice.sources.files.batch import RowLocation, written
from suffice.sources.files.blocks import ByteBlock
from suffice.sources.files.cell_formats import CellFormat
from suffice.sources.files.conversion import convert_cells, convert_or_widen, with_nulls
from suffice.sources.files.reader import SkippedRows
from suffice.sources.files.types import expected_value, type_word

__all__ = [
    "JsonNulls",
    "JsonObject",
    "JsonValue",
    "LineError",
    "NumberText",
    "not_objects",
    "parse_block",
    "parse_object",
    "with_written_values",
]

PARSED_AT_ONCE = 1 << 21
VALUE = r'(?:"[^"\\]*(?:\\.[^"\\]*)*"|[^\]\[{}\s,"]+)'  # a text, a number, true, false or null
SURROGATE = re.compile("[\ud800-\udfff]")

JsonValue: TypeAlias = "str | bool | list[JsonValue] | dict[str, JsonValue] | None"
"""A value of JSON; numbers are `NumberText`."""
JsonObject: TypeAlias = "dict[str, JsonValue]"


@dataclass(frozen=True)
class JsonNulls:
    """Strings that stand for a missing cell: in text columns, and in columns of another type or with a format."""

    in_texts: Sequence[str] = ()
    elsewhere: Sequence[str] = ()


class LineError(Exception):
    """An invalid line, with the problem as a sentence without its location."""

    def __init__(self, problem: str, column: str | None = None) -> None:
        super().__init__(problem)
        self.problem, self.column = problem, column

    def at(self, location: RowLocation) -> InputError:
        """The error for a line at a location."""
        return location.error(self.problem, column=self.column)


class NumberText(str):
    """A JSON number as it is spelled."""

    __slots__ = ()


def parse_object(line: bytes) -> JsonObject | None:
    """Return the object on a line, or None for a blank line. Raises `LineError` if the line is invalid.

    As in Arrow, null is an object without keys.

    >>> parse_object(b'{"age": 4.0, "name": "Ann"}')
    {'age': '4.0', 'name': 'Ann'}
    """
    if not line.strip():
        return None
    try:
        value = DECODER.decode(line.decode("utf-8").strip())
    except json.JSONDecodeError as error:
        raise LineError(f"the line is not JSON ({error.msg}, at character {error.colno:,}).") from None
    except UnicodeDecodeError:
        raise LineError("the line is not UTF-8.") from None
    except RecursionError:
        raise LineError("lists or objects are nested too deeply.") from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise LineError(f"expected an object; the line holds {_describe(value)}.")
    for name, cell in value.items() if rb"\u" in line else ():
        if SURROGATE.search(name) or (isinstance(cell, str) and SURROGATE.search(cell)):
            raise LineError(f"{short(cell)} contains half of a UTF-16 surrogate pair.", name)
    return value


def _unique(pairs: list[tuple[str, JsonValue]]) -> JsonObject:
    unique = dict(pairs)
    if len(unique) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        repeated = next(name for name, count in counts.items() if count > 1)
        raise LineError(f"the object has the key {short(repeated)} more than once.")
    return unique


def not_objects(block: ByteBlock) -> Mask:
    """Find the lines that cannot hold an object or null, by their first byte.

    Parsing such lines would only say in other words that they are wrong. Lines that begin with a blank or with a
    character outside ASCII have to be parsed.
    """
    first = np.frombuffer(block.data, dtype=np.uint8)[block.records.starts]
    wrong: Mask = (first > ord(" ")) & (first < 0x7F) & (first != ord("{")) & (first != ord("n"))
    return wrong


DECODER = json.JSONDecoder(
    object_pairs_hook=_unique, parse_int=NumberText, parse_float=NumberText, parse_constant=NumberText
)


PLAIN_DECODER = json.JSONDecoder(parse_int=NumberText, parse_float=NumberText, parse_constant=NumberText, strict=False)
"""For lines that are known to be valid."""


def parse_block(
    block: ByteBlock,
    types: dict[str, ArrowType],
    skipped: SkippedRows,
    formats: Mapping[str, CellFormat] | None = None,
    nulls: JsonNulls = JsonNulls(),
) -> tuple[ArrowTable, Codes | None]:
    """Return the rows of a block, and the line of each row if some lines were skipped.

    If a column of whole numbers has fractions, its entry in ``types`` becomes float64. The texts of columns with a
    format are converted; their entries are string.
    """
    formats = formats or {}
    import pyarrow as pa

    times = any(pa.types.is_temporal(kind) for kind in types.values())  # their nulls may be times, too
    if block.is_utf8() and not (times and nulls.in_texts):
        starts, ends, _ = block.records
        longest = int((ends - starts).max())
        try:
            rows = _parse(block, types, max(PARSED_AT_ONCE, longest + 2))
            converted = _convert_texts_of(rows, formats, nulls)
            if rows.num_rows == len(starts) and converted is not None:  # exactly one object on each line
                return converted, None
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            pass  # _parse_lines finds the bad lines
    return _parse_lines(block, types, skipped, formats, nulls)


def _convert_texts_of(rows: ArrowTable, formats: Mapping[str, CellFormat], nulls: JsonNulls) -> ArrowTable | None:
    """Convert the columns that have a format, and find missing cells; None if a cell is not written in the format."""
    import pyarrow as pa

    for at, (name, kind) in enumerate(zip(rows.column_names, rows.schema.types, strict=True)):
        if name in formats:
            cells, wrong = formats[name].convert(with_nulls(rows[name].combine_chunks(), nulls.elsewhere))
            if wrong.any():
                return None
            rows = rows.set_column(at, name, cells)
        elif nulls.in_texts and kind == pa.string():
            rows = rows.set_column(at, name, with_nulls(rows[name].combine_chunks(), nulls.in_texts))
    return rows


def _parse(block: ByteBlock, types: dict[str, ArrowType], block_size: int) -> ArrowTable:
    import pyarrow as pa
    import pyarrow.json

    return pyarrow.json.read_json(
        copy_to_arrow(block.view),
        pyarrow.json.ReadOptions(block_size=block_size),
        pyarrow.json.ParseOptions(explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"),
    )


def _parse_lines(
    block: ByteBlock,
    types: dict[str, ArrowType],
    skipped: SkippedRows,
    formats: Mapping[str, CellFormat],
    nulls: JsonNulls,
) -> tuple[ArrowTable, Codes]:
    import pyarrow as pa

    bad = BadRows(block, skipped.known_types)
    bad.add_not_utf8()
    expected = dict(types)

    def error(row: int) -> InputError:
        try:
            _checked_object(block, row, expected, nulls)
        except LineError as error:
            return error.at(block.location(row))
        raise AssertionError("the line was wrong before")

    bad.add(np.flatnonzero(not_objects(block)), error)
    objects: list[JsonObject] = []
    wrong_lines: list[int] = []  # without their errors, of which only the first are shown
    for row in np.flatnonzero(bad.good).tolist():
        try:
            value = _checked_object(block, row, expected, nulls)
        except LineError:
            wrong_lines.append(row)
            continue
        if value is None:
            bad.good[row] = False
        else:
            objects.append(value)
    bad.add(np.array(wrong_lines, dtype=np.int64), error)
    rows = np.flatnonzero(bad.good)
    columns = []
    for name, kind in types.items():
        form = formats.get(name)
        missing = nulls.in_texts if form is None and kind == pa.string() else nulls.elsewhere
        texts = pa.array([_as_text(each.get(name), missing) for each in objects], pa.string())
        if form is not None:
            are_numbers = np.array([isinstance(each.get(name), NumberText) for each in objects], dtype=bool)
            cells, wrong = _convert_texts(texts, are_numbers, form)
        elif kind == pa.string():
            cells, wrong = texts, np.zeros(len(texts), dtype=bool)
        else:
            cells, wrong = convert_or_widen(texts, kind)
            types[name] = cells.type
        bad.add_cells(rows, wrong, name, texts, expected_value(kind) if form is None else form.expected)
        columns.append(cells)
    table = pa.table(columns, names=list(types)) if columns else _without_columns(len(objects))
    kept = bad.report(skipped)
    return table.filter(pa.array(bad.good[rows])), kept


def _convert_texts(texts: ArrowArray, are_numbers: Mask, form: CellFormat) -> tuple[ArrowArray, Mask]:
    """Convert texts in a format; numbers of JSON among them are plain."""
    import pyarrow as pa
    import pyarrow.compute as pc

    cells, wrong = form.convert(texts)
    if form.kind != "number" or not are_numbers.any():
        return cells, wrong
    plain, not_plain = convert_cells(texts, form.type)
    return pc.if_else(pa.array(are_numbers), plain, cells), np.where(are_numbers, not_plain, wrong)


def _checked_object(block: ByteBlock, row: int, types: dict[str, ArrowType], nulls: JsonNulls) -> JsonObject | None:
    """The object on a line, whose cells have these types; None for a blank line."""
    value = parse_object(block.data[block.records.starts[row] : block.records.ends[row]])
    if value is not None:
        for name, kind in types.items():
            cell = value.get(name)
            if not (_is_string(cell) and cell in nulls.elsewhere):
                _check_value(cell, name, kind)
    return value


# ---------------------------------------------------------------------- values as they are written


def with_written_values(rows: ArrowTable, block: ByteBlock, kept: Codes | None, names: Sequence[str]) -> ArrowTable:
    """Append columns of JSON texts: values as they are spelled, and null for a key that an object lacks."""
    if not names:
        return rows
    lines = _lines(block, kept)
    for name, cells in zip(names, _values_of_equal_lines(lines, names) or _values_by_line(lines, names), strict=True):
        rows = rows.append_column(written(name), cells)
    return rows


def _lines(block: ByteBlock, kept: Codes | None) -> ArrowArray:
    """The lines of a block, without a copy if none was skipped; a line may end with line breaks."""
    import pyarrow as pa

    starts, ends, _ = block.records
    offsets = np.append(starts, ends[-1:]).astype(np.int32)
    lines = pa.StringArray.from_buffers(len(starts), pa.py_buffer(offsets), pa.py_buffer(block.data))
    return lines if kept is None else lines.take(pa.array(kept))


def _values_of_equal_lines(lines: ArrowArray, names: Sequence[str]) -> list[ArrowArray] | None:
    """Values of the keys, if all lines have the same keys in the same order and no nested values; else None."""
    import pyarrow.compute as pc

    keys = list(PLAIN_DECODER.decode(lines[0].as_py()) or ()) if len(lines) else []
    if not set(names) <= set(keys):
        return None
    groups = {name: f"v{j}" for j, name in enumerate(names)}
    pairs = [
        rf"{re.escape(encode_basestring(key))}\s*:\s*({f'?P<{groups[key]}>' if key in groups else '?:'}{VALUE})"
        for key in keys
    ]
    found = pc.extract_regex(lines, r"^\s*\{\s*" + r"\s*,\s*".join(pairs) + r"\s*\}\s*$")
    return None if found.null_count else [found.field(groups[name]) for name in names]


def _values_by_line(lines: ArrowArray, names: Sequence[str]) -> list[ArrowArray]:
    import pyarrow as pa

    objects = [PLAIN_DECODER.decode(line.strip()) or {} for line in lines.to_pylist()]
    return [pa.array([json_text(each.get(name)) for each in objects], pa.string()) for name in names]


def json_text(value: JsonValue) -> str:
    """A value of `parse_object` as JSON.

    >>> json_text(parse_object(b'{"id": [1.50, "a", null]}'))
    '{"id": [1.50, "a", null]}'
    """
    if isinstance(value, NumberText):
        return str(value)
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, list):
        return f"[{', '.join(map(json_text, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{json_text(name)}: {json_text(each)}' for name, each in value.items())}}}"
    return "null" if value is None else "true" if value else "false"


def _without_columns(n_rows: int) -> ArrowTable:
    import pyarrow as pa

    return pa.table({"": pa.nulls(n_rows)}).select([])


def _check_value(value: JsonValue, name: str, kind: ArrowType) -> None:
    """Raise if a value cannot be a cell of a column of a type."""
    if value is None:
        return
    word = type_word(kind)
    if isinstance(value, list | dict):
        raise LineError(f"{_describe(value)} cannot be a cell.", name)
    classes: dict[str, type] = {"yes/no": bool, "number": str, "whole number": str, "time": str}
    if not isinstance(value, classes.get(word, object)) or (word == "time" and isinstance(value, NumberText)):
        shown = value if isinstance(value, NumberText) else short(value)
        raise LineError(f"{shown} is not {expected_value(kind)}.", name)


def _is_string(value: JsonValue) -> TypeGuard[str]:
    """Whether a value is written in quotes."""
    return isinstance(value, str) and not isinstance(value, NumberText)


def _as_text(value: JsonValue, nulls: Sequence[str]) -> str | None:
    if _is_string(value) and value in nulls:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    assert not isinstance(value, list | dict), "checked by _check_value"
    return value


def _describe(value: JsonValue) -> str:
    words: dict[type, str] = {list: "a list", dict: "an object", bool: "true or false", NumberText: "a number"}
    return words.get(type(value), "a text")
