"""A block of JSON lines as a table: by Arrow at once, and line by line where Arrow refuses it."""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import short
from suffice.sources.files.bad_rows import BadRows
from suffice.sources.files.blocks import Block
from suffice.sources.files.cells import widened
from suffice.sources.files.owned import owned
from suffice.sources.files.reader import Faults
from suffice.sources.files.types import is_a, stated

__all__ = ["LineError", "Number", "object_in", "table_of"]

PARSED_AT_ONCE = 1 << 21
SURROGATE = re.compile("[\ud800-\udfff]")


class LineError(Exception):
    """What is wrong with a line, as a sentence goes on after the place."""


class Number(str):
    """A number of JSON, as it is spelled."""

    __slots__ = ()


def object_in(line: bytes) -> dict[str, Any] | None:
    """The object on a line, or None of a blank line; what is wrong with the line is a `LineError`.

    Null is an object without keys, as Arrow has it.

    >>> object_in(b'{"age": 4.0, "name": "Ann"}')
    {'age': '4.0', 'name': 'Ann'}
    """
    if not line.strip():
        return None
    try:
        found = DECODER.decode(line.decode("utf-8").strip())
    except json.JSONDecodeError as error:
        raise LineError(f": this is not JSON ({error.msg}, at character {error.colno:,}).") from None
    except UnicodeDecodeError:
        raise LineError(": this is not UTF-8.") from None
    except RecursionError:
        raise LineError(": lists or objects are nested too deeply.") from None
    if found is None:
        return {}
    if not isinstance(found, dict):
        raise LineError(f" holds {_kind(found)}, where an object is due.")
    for name, value in found.items() if rb"\u" in line else ():
        if SURROGATE.search(name) or (isinstance(value, str) and SURROGATE.search(value)):
            raise LineError(f", column {short(name)}: {short(value)} holds half a character of UTF-16.")
    return found


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise LineError(f" has the key {short(next(name for name in names if names.count(name) > 1))} more than once.")
    return found


DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_int=Number, parse_float=Number, parse_constant=Number)


def table_of(block: Block, types: dict[str, Any], faults: Faults) -> tuple[Any, NDArray[np.int64] | None]:
    """The rows of a block, and of which lines they are if some were left out.

    A column of whole numbers that are none becomes one of numbers in ``types``.
    """
    import pyarrow as pa

    if block.is_utf8():
        starts, ends, _ = block.records
        longest = int((ends - starts).max())
        try:
            rows = _parsed(block, types, max(PARSED_AT_ONCE, longest + 2))
            if rows.num_rows == len(starts):  # an object on each line, and no more
                return rows, None
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):  # it is looked at line by line
            pass
    return _line_by_line(block, types, faults)


def _parsed(block: Block, types: dict[str, Any], at_once: int) -> Any:
    import pyarrow as pa
    import pyarrow.json

    return pyarrow.json.read_json(
        owned(block.view),
        pyarrow.json.ReadOptions(block_size=at_once),
        pyarrow.json.ParseOptions(explicit_schema=pa.schema(list(types.items())), unexpected_field_behavior="ignore"),
    )


def _line_by_line(block: Block, types: dict[str, Any], faults: Faults) -> tuple[Any, NDArray[np.int64]]:
    import pyarrow as pa

    bad = BadRows(block)
    bad.add_not_utf8()
    objects: list[dict[str, Any]] = []
    wrong: dict[int, str] = {}
    for row in np.flatnonzero(bad.good):
        try:
            found = object_in(block.data[block.records.starts[row] : block.records.ends[row]])
            if found is None:
                bad.good[row] = False
            else:
                for name, kind in types.items():
                    _check(found.get(name), name, kind)
                objects.append(found)
        except LineError as fault:
            wrong[int(row)] = str(fault)
    bad.add(np.array(list(wrong), dtype=np.int64), lambda row: f"{block.place(row)}{wrong[row]}")
    rows = np.flatnonzero(bad.good)
    columns = []
    for name, kind in types.items():
        texts = pa.array([_spelled(each.get(name)) for each in objects], pa.string())
        cells, none = (texts, np.zeros(len(texts), dtype=bool)) if kind == pa.string() else widened(texts, kind)
        types[name] = cells.type
        bad.add_cells(rows, none, name, texts, kind)
        columns.append(cells)
    table = pa.table(columns, names=list(types)) if columns else _no_columns(len(objects))
    kept = bad.report(faults)
    return table.filter(pa.array(bad.good[rows])), kept


def _no_columns(rows: int) -> Any:
    import pyarrow as pa

    return pa.table({"": pa.nulls(rows)}).select([])


def _check(value: Any, name: str, kind: Any) -> None:
    """Refuse a value that no cell of a column of that type is made of."""
    if value is None:
        return
    word = stated(kind)
    if isinstance(value, list | dict):
        raise LineError(f", column {short(name)}: {_kind(value)} is no cell.")
    due = {"yes/no": bool, "number": Number, "whole number": Number, "time": str}.get(word, object)
    if not isinstance(value, due) or (word == "time" and isinstance(value, Number)):
        shown = value if isinstance(value, Number) else short(value)
        raise LineError(f", column {short(name)}: {shown} is not {is_a(kind)}.")


def _spelled(value: str | bool | None) -> str | None:
    if isinstance(value, bool):
        return "true" if value else "false"
    return value


def _kind(value: Any) -> str:
    kinds = {list: "a list", dict: "an object", bool: "true or false", Number: "a number"}
    return kinds.get(type(value), "a text")
