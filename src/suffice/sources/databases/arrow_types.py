"""Columns of Arrow results whose types a driver has made of its database's types."""

from __future__ import annotations

from collections.abc import Sequence

from suffice.exceptions import InputError
from suffice.sources.databases.results import ResultColumns, no_rows_error, unreadable_error
from suffice.sources.databases.uris import PAGE
from suffice.sources.engine_types import ArrowArray, ArrowRows, ArrowSchema, ArrowType
from suffice.sources.files.columnar import returned_type

__all__ = ["converted", "result_columns"]

# The day before PostgreSQL's first, in 4713 BC. Its driver turns infinite times into numbers before it, of both signs;
# DuckDB's are the largest and the smallest number.
NO_DAY = -2_440_589
UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
SECONDS_PER_DAY = 86_400
ADVICE = {
    "interval": 'EXTRACT(EPOCH FROM "{}")',
    "money": 'CAST("{}" AS numeric)',
}


def result_columns(schema: ArrowSchema, described: str) -> ResultColumns:
    """The columns of a result, with those that cannot be read."""
    if not len(schema):
        raise no_rows_error()
    unreadable = {}
    for each in schema:
        name = _database_type(each)
        extended = _is_extended(each) and name != "numeric"
        if extended or name == "money" or returned_type(each.type) is None:
            advice = ADVICE.get(name or "interval" * ("interval" in str(each.type)), 'CAST("{}" AS text)')
            unreadable[each.name] = unreadable_error(
                each.name, name or str(each.type), advice.format(each.name), described
            )
    return ResultColumns(_with_numbers(schema), unreadable)


def _database_type(column: ArrowSchema) -> str:
    """The type of a column in the database; empty if the driver does not tell."""
    facts = column.metadata or {}
    name = facts.get(b"ADBC:postgresql:typname") or facts.get(b"POSTGRESQL:type") or b""
    return str(name.decode()) or str(getattr(column.type, "type_name", ""))


def _is_extended(column: ArrowSchema) -> bool:
    """Whether the cells have another meaning than their Arrow type, also if PyArrow does not know the extension."""
    import pyarrow as pa

    return isinstance(column.type, pa.BaseExtensionType) or b"ARROW:extension:name" in (column.metadata or {})


def _with_numbers(schema: ArrowSchema) -> ArrowSchema:
    import pyarrow as pa

    return pa.schema([(each.name, pa.float64() if _is_numeric(each) else each.type) for each in schema])


def _is_numeric(column: ArrowSchema) -> bool:
    """Whether a column has exact numbers, which the driver of PostgreSQL returns as texts."""
    return _database_type(column) == "numeric" and not _is_number(column.type)


def _is_number(kind: ArrowType) -> bool:
    import pyarrow.types as at

    return bool(at.is_decimal(kind) or at.is_floating(kind) or at.is_integer(kind))


def converted(rows: ArrowRows, columns: Sequence[str], first: int, described: str) -> ArrowRows:
    """These columns of a batch of a result, with exact numbers as float64; ``first`` is the number of its first row."""
    import pyarrow as pa

    arrays = []
    for name in columns:
        array = rows.column(name)
        if _is_numeric(rows.schema.field(name)):
            array = (array.storage if isinstance(array, pa.ExtensionArray) else array).cast(pa.float64())
        _check_finite_times(array, name, first, described)
        arrays.append(array)
    return pa.RecordBatch.from_arrays(arrays, names=list(columns))


def _check_finite_times(array: ArrowArray, name: str, first: int, described: str) -> None:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as at

    kind = array.type
    if at.is_date32(kind):
        numbers, least, most = array.view(pa.int32()), NO_DAY, 2**31 - 1
    elif at.is_timestamp(kind):
        numbers, least, most = array.view(pa.int64()), NO_DAY * SECONDS_PER_DAY * UNITS[kind.unit], 2**63 - 1
        least = max(least, 1 - 2**63)
    else:
        return
    infinite = pc.or_(pc.less_equal(numbers, least), pc.equal(numbers, most))
    if pc.any(infinite).as_py():
        row = first + pc.index(infinite, True).as_py()
        raise InputError(
            f"{described}, row {row}, column {name!r} holds an infinite time. Leave such rows out, or replace the "
            f"value in the query, for example with NULLIF(\"{name}\", 'infinity').",
            column=name,
            page=PAGE,
        )
