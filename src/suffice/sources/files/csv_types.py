"""Types of the columns of a CSV, inferred from its first rows."""

from __future__ import annotations

from collections.abc import Sequence

from suffice.exceptions import short
from suffice.sources.engine_types import ArrowArray, ArrowTable, ArrowType
from suffice.sources.files.bad_rows import BadRows
from suffice.sources.files.blocks import ByteBlock
from suffice.sources.files.conversion import OBVIOUS, all_convertible, convert_cells, convert_options
from suffice.sources.files.types import reading_type

__all__ = ["infer_types"]

LEADING_ZERO = r"^\s*[+-]?0[0-9]+\s*$"
CHECKED_CELLS = 1000  # cells of a text column that are checked for numbers
MOSTLY = 0.9  # share of numbers among them that is worth a note


def infer_types(
    body: ByteBlock, names: list[str], nulls: Sequence[str] | None
) -> tuple[dict[str, ArrowType], list[str], set[str]]:
    """Infer column types from the rows of a block; also return notes for the user, and the columns without values.

    The types are Arrow's, except that whole numbers with a leading zero and columns without values are text. Records
    with another number of fields or invalid UTF-8 are not used.
    """
    import pyarrow as pa

    data = _well_formed(body, len(names))
    if not data:
        return dict.fromkeys(names, pa.string()), [], set()
    typed = _parse(body, data, names, None, nulls)
    types: dict[str, ArrowType] = {field.name: field.type for field in typed.schema}
    empty = {name for name, kind in types.items() if pa.types.is_null(kind)}
    by_text = [name for name, kind in types.items() if pa.types.is_integer(kind) or pa.types.is_timestamp(kind)]
    texts = _parse(body, data, names, by_text, nulls) if by_text else typed
    notes: list[str] = []
    for name, kind in types.items():
        needs_text = pa.types.is_integer(kind) or pa.types.is_timestamp(kind)
        types[name], note = _adjust((texts if needs_text else typed)[name].combine_chunks(), kind)
        if note:
            notes.append(f"Column {short(name)} {note}")
    return types, notes, empty


def _well_formed(body: ByteBlock, expected: int) -> bytes:
    """The records that have the expected number of fields and are valid UTF-8."""
    bad = BadRows(body)
    bad.add_not_utf8()
    return body.select(bad.good & (body.records.fields == expected))


def _parse(
    body: ByteBlock, data: bytes, names: list[str], as_text: list[str] | None, nulls: Sequence[str] | None
) -> ArrowTable:
    """Parse all columns with types that Arrow infers, or some columns as text."""
    import pyarrow as pa
    import pyarrow.csv

    return pyarrow.csv.read_csv(
        pa.BufferReader(data),
        pyarrow.csv.ReadOptions(column_names=names, block_size=len(data) + 1, use_threads=False),
        pyarrow.csv.ParseOptions(delimiter=body.delimiter, quote_char=body.quote or False, newlines_in_values=True),
        convert_options(as_text, None if as_text is None else dict.fromkeys(as_text, pa.string()), nulls),
    )


def _adjust(cells: ArrowArray, kind: ArrowType) -> tuple[ArrowType, str]:
    """Type for a column that Arrow infers as ``kind``, and a note; cells of integers and times are given as texts."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_integer(kind) and pc.any(pc.match_substring_regex(cells, LEADING_ZERO)).as_py():
        return pa.string(), "has numbers with leading zeros and is read as text."
    if pa.types.is_timestamp(kind) and kind.unit == "ns":
        coarser = pa.timestamp("us", kind.tz)
        return (coarser if all_convertible(cells, coarser) else kind), ""
    if pa.types.is_string(kind):
        some = cells.slice(0, CHECKED_CELLS).drop_null()
        numbers = pc.sum(pc.match_substring_regex(some, OBVIOUS["number"])).as_py() or 0
        if numbers < MOSTLY * len(some):
            return kind, ""
        wrong = convert_cells(some, pa.float64())[1]
        if wrong.any():
            example = short(some[int(wrong.argmax())].as_py())
            return kind, f"is read as text: most cells are numbers, but {example} is not a number."
    return reading_type(kind), ""
