"""Types of the columns of a CSV, inferred from its first rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from suffice.exceptions import Argument
from suffice.sources.engine_types import ArrowArray, ArrowTable, ArrowType
from suffice.sources.files.bad_rows import BadRows
from suffice.sources.files.blocks import ByteBlock
from suffice.sources.files.cell_formats import FEW_CELLS, CellFormat
from suffice.sources.files.conversion import HEXADECIMAL, all_convertible, convert_cells, convert_options
from suffice.sources.files.reader import ReadOptions
from suffice.sources.files.recognition import Evidence, Recognised, recognise_all
from suffice.sources.files.types import reading_type

__all__ = ["InferredTypes", "infer_types"]

POINTS_BETWEEN_THREE = r"^\s*[+-]?[1-9][0-9]{0,2}(\.[0-9]{3})+\s*$"
LEADING_ZERO = r"^\s*[+-]?0[0-9]+\s*$"


@dataclass(frozen=True)
class InferredTypes:
    """Types of columns.

    Attributes
    ----------
    types : dict of str to pyarrow.DataType
    formats : dict of str to CellFormat
        Of columns whose cells are not written in the plain form.
    as_written : dict of str to pyarrow.DataType
        Types that the columns with a format have without it.
    remarks : dict of str to tuple
        How columns are read, for the user; ends of sentences.
    zero_one : set of str
        Columns of whole numbers in which only 0 and 1 occur.
    decimal_points : set of str
        Columns of plain numbers in which a point is certainly a decimal point, as in 6.43 but not in 1.234.
    empty : set of str
        Columns without values.
    row_numbers : bool
        Whether the first column holds different whole numbers, or there are no rows.
    """

    types: dict[str, ArrowType] = field(default_factory=dict)
    formats: dict[str, CellFormat] = field(default_factory=dict)
    as_written: dict[str, ArrowType] = field(default_factory=dict)
    remarks: dict[str, tuple[str | Argument, ...]] = field(default_factory=dict)
    zero_one: set[str] = field(default_factory=set)
    decimal_points: set[str] = field(default_factory=set)
    empty: set[str] = field(default_factory=set)
    row_numbers: bool = True


def infer_types(body: ByteBlock, names: list[str], options: ReadOptions) -> InferredTypes:
    """Infer column types from the rows of a block.

    The types are Arrow's, except that whole numbers with a leading zero and columns without values are text, and that
    texts may be recognised as numbers, dates or yes/no (`suffice.sources.files.recognition`). Records with another
    number of fields or invalid UTF-8 are not used.
    """
    import pyarrow as pa

    data = _well_formed(body, len(names))
    if not data:
        return InferredTypes(dict.fromkeys(names, pa.string()))
    typed = _parse(body, data, names, None, options.null_texts())
    types = {each.name: each.type for each in typed.schema}
    found = InferredTypes(types, row_numbers=_are_row_numbers(typed.column(0)))
    found.empty.update(name for name, kind in found.types.items() if pa.types.is_null(kind))
    given = None if options.date_format is None else CellFormat("time", date_format=options.date_format)
    checked = [name for name, kind in found.types.items() if _needs_texts(kind, options) or _may_be_dates(kind, given)]
    texts = _parse(body, data, names, checked, options.null_texts()) if checked else typed
    unknown: dict[str, ArrowArray] = {}
    have_texts = set(checked)
    for name, kind in found.types.items():
        if name in have_texts:
            cells = texts[name].combine_chunks()
            if given is not None and not given.convert(cells)[1].any():
                found.as_written[name], found.types[name] = reading_type(kind), pa.string()
                unknown[name] = cells.drop_null()
            elif not _needs_texts(kind, options):
                found.types[name] = reading_type(kind)
            elif not _settle(cells, kind, name, found):
                unknown[name] = cells.drop_null()
        elif pa.types.is_string(kind):
            unknown[name] = typed[name].combine_chunks().drop_null()
        else:
            found.types[name] = reading_type(kind)
    found.decimal_points.update(_decimal_points(body, data, names, typed, options))
    evidence = Evidence(body.delimiter, options.decimal, options.thousands, options.date_format)
    for name, recognised in recognise_all(unknown, evidence).items():
        _apply(recognised, unknown[name], name, found)
    return found


def _well_formed(body: ByteBlock, expected: int) -> bytes:
    """The records that have the expected number of fields and are valid UTF-8."""
    bad = BadRows(body)
    bad.add_not_utf8()
    return body.select(bad.good & (body.records.fields == expected))


def _parse(
    body: ByteBlock, data: bytes, names: list[str], as_text: list[str] | None, nulls: Sequence[str]
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


def _are_row_numbers(cells: ArrowArray) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    whole = pa.types.is_integer(cells.type) and not cells.null_count
    return bool(whole and pc.count_distinct(cells).as_py() == len(cells) and pc.min(cells).as_py() >= 0)


def _needs_texts(kind: ArrowType, options: ReadOptions) -> bool:
    """Whether the texts of a column decide on its type, although Arrow has inferred one."""
    import pyarrow as pa

    if pa.types.is_floating(kind):  # Arrow reads 1.234 as a fraction
        return options.decimal not in (None, ".") or options.thousands == "."
    return bool(pa.types.is_integer(kind) or pa.types.is_timestamp(kind))


def _may_be_dates(kind: ArrowType, given: CellFormat | None) -> bool:
    """Whether the cells of a column that Arrow does not read as text may have the form of dates that the user set."""
    import pyarrow as pa

    return given is not None and not (pa.types.is_string(kind) or pa.types.is_null(kind))


def _decimal_points(
    body: ByteBlock, data: bytes, names: list[str], typed: ArrowTable, options: ReadOptions
) -> list[str]:
    """The columns of fractions in which some point cannot be a thousands separator."""
    import pyarrow as pa
    import pyarrow.compute as pc

    fractions = [each.name for each in typed.schema if pa.types.is_floating(each.type)]
    first = {name: typed[name].drop_null().slice(0, FEW_CELLS) for name in fractions}
    clear = [name for name in fractions if pc.any(pc.not_equal(pc.round(first[name], 3), first[name])).as_py()]
    unclear = [name for name in fractions if name not in clear]  # three digits, or fewer, follow each point
    texts = _parse(body, data, names, unclear, options.null_texts()) if unclear else typed
    return clear + [name for name in unclear if not pc.all(_may_be_grouped(texts[name])).as_py()]


def _may_be_grouped(cells: ArrowArray) -> ArrowArray:
    import pyarrow.compute as pc

    return pc.or_(pc.match_substring_regex(cells, POINTS_BETWEEN_THREE), pc.invert(pc.match_substring(cells, ".")))


def _settle(cells: ArrowArray, kind: ArrowType, name: str, found: InferredTypes) -> bool:
    """Set the type of a column that Arrow infers as ``kind``; False if its texts must be recognised."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if pa.types.is_floating(kind):
        found.types[name] = pa.string()
        return False
    if pa.types.is_timestamp(kind):
        coarser = pa.timestamp("us", kind.tz)
        found.types[name] = coarser if kind.unit != "ns" or all_convertible(cells, coarser) else kind
        return True
    if pc.any(pc.match_substring_regex(cells, HEXADECIMAL)).as_py():
        found.types[name] = pa.string()
        return False
    _set_whole_numbers(cells, name, found)
    return True


def _set_whole_numbers(cells: ArrowArray, name: str, found: InferredTypes) -> None:
    """Set the type of a column of whole numbers."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found.types[name] = pa.int64()
    if pc.any(pc.match_substring_regex(cells, LEADING_ZERO)).as_py():
        found.types[name] = pa.string()
        found.remarks[name] = ("has numbers with leading zeros and is read as text.",)
    elif _are_zero_one(cells):
        found.zero_one.add(name)


def _are_zero_one(cells: ArrowArray) -> bool:
    """Whether a column has both 0 and 1 and no other value; a few cells do not tell."""
    import pyarrow.compute as pc

    first = set(pc.unique(cells.slice(0, FEW_CELLS)).to_pylist())  # rules most columns out
    if len(cells) - cells.null_count < FEW_CELLS or not first <= {"0", "1", None}:
        return False
    return set(pc.unique(cells.drop_null()).to_pylist()) == {"0", "1"}


def _apply(recognised: Recognised, cells: ArrowArray, name: str, found: InferredTypes) -> None:
    """Set the type of a column of texts."""
    import pyarrow as pa

    if recognised.remark:
        found.remarks[name] = recognised.remark
    if recognised.format is not None:
        found.formats[name] = recognised.format
        found.as_written.setdefault(name, pa.string())
        found.types[name] = recognised.format.type
    elif recognised.plain_numbers:
        numbers = cells.filter(~convert_cells(cells, pa.float64())[1])
        found.types[name] = pa.float64()
        if all_convertible(numbers, pa.int64()):
            _set_whole_numbers(numbers, name, found)
