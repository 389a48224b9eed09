"""The types of the columns of a CSV, found in its first rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suffice.exceptions import short
from suffice.sources.files.bad_rows import BadRows
from suffice.sources.files.blocks import Block
from suffice.sources.files.cells import OBVIOUS, all_fit, converted, options
from suffice.sources.files.types import wide

__all__ = ["inferred"]

LEADING_ZERO = r"^\s*[+-]?0[0-9]+\s*$"
NOTED = 1000  # cells of a column of text that are looked at, since numbers among them are worth a note
MOSTLY = 0.9  # if so many of them are numbers


def inferred(body: Block, names: list[str], nulls: Sequence[str] | None) -> tuple[dict[str, Any], list[str], set[str]]:
    """Types of the columns by the rows of a block, what is worth a note of them, and which have no cell.

    They are those that Arrow infers; but numbers of which one has a leading zero are text, and so is a column without a
    cell. Rows of another number of fields, or that are not UTF-8, are not looked at.
    """
    import pyarrow as pa

    data = _well_formed(body, len(names))
    if not data:
        return dict.fromkeys(names, pa.string()), [], set()
    typed = _parsed(body, data, names, None, nulls)
    types: dict[str, Any] = {field.name: field.type for field in typed.schema}
    empty = {name for name, kind in types.items() if pa.types.is_null(kind)}
    spelled = [name for name, kind in types.items() if pa.types.is_integer(kind) or pa.types.is_timestamp(kind)]
    texts = _parsed(body, data, names, spelled, nulls) if spelled else typed
    notes: list[str] = []
    for name, kind in types.items():
        spelling = pa.types.is_integer(kind) or pa.types.is_timestamp(kind)
        types[name], note = _settled(kind, (texts if spelling else typed)[name].combine_chunks())
        if note:
            notes.append(f"Column {short(name)} {note}")
    return types, notes, empty


def _well_formed(body: Block, due: int) -> bytes:
    """The records that have so many fields and are UTF-8."""
    bad = BadRows(body)
    bad.add_not_utf8()
    return body.chosen(bad.good & (body.records.fields == due))


def _parsed(body: Block, data: bytes, names: list[str], as_text: list[str] | None, nulls: Sequence[str] | None) -> Any:
    """The rows with types that Arrow infers, or some columns as text."""
    import pyarrow as pa
    import pyarrow.csv

    return pyarrow.csv.read_csv(
        pa.BufferReader(data),
        pyarrow.csv.ReadOptions(column_names=names, block_size=len(data) + 1, use_threads=False),
        pyarrow.csv.ParseOptions(delimiter=body.delimiter, quote_char=body.quote or False, newlines_in_values=True),
        options(as_text, None if as_text is None else dict.fromkeys(as_text, pa.string()), nulls),
    )


def _settled(kind: Any, cells: Any) -> tuple[Any, str]:
    """What a column is read as that Arrow takes for ``kind``, and a note; the cells are texts if they are needed."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(kind) and pc.any(pc.match_substring_regex(cells, LEADING_ZERO)).as_py():
        return pa.string(), "has numbers with leading zeros and is read as text."
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        coarser = pa.timestamp("us", kind.tz)
        return (coarser if all_fit(cells, coarser) else kind), ""
    if pa.types.is_string(kind):
        some = cells.slice(0, NOTED).drop_null()
        numbers = pc.sum(pc.match_substring_regex(some, OBVIOUS["number"])).as_py() or 0
        if numbers < MOSTLY * len(some):
            return kind, ""
        wrong = converted(some, pa.float64())[1]
        if wrong.any():
            odd = short(some[int(wrong.argmax())].as_py())
            return kind, f"is read as text: {odd} is not a number, though most are."
    return wide(kind), ""
