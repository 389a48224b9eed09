"""Batches of a driver as batches of one size, so that the choices by the first batch do not depend on the driver."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from suffice.sources.engine_types import ArrowRows, ArrowType

__all__ = ["whole_batches"]


def whole_batches(batches: Iterator[ArrowRows], batch_rows: int) -> Iterator[ArrowRows]:
    """Yield the same rows in batches of ``batch_rows`` rows, or fewer where the type of a column changes.

    >>> import pyarrow as pa
    >>> cells = [[None, None], [1, 2, 3], ["a"]]
    >>> rows = [pa.RecordBatch.from_arrays([pa.array(each)], names=["x"]) for each in cells]
    >>> [each.column(0).to_pylist() for each in whole_batches(iter(rows), 4)]
    [[None, None, 1, 2], [3], ['a']]
    """
    waiting: list[ArrowRows] = []
    types: list[ArrowType] = []
    rows = 0
    for batch in batches:
        start = 0
        while start < batch.num_rows:
            joined = _joined_types(types, batch.schema.types) if waiting else batch.schema.types
            if joined is None:
                yield from _joined(waiting)
                waiting, rows, joined = [], 0, batch.schema.types
            part = batch.slice(start, batch_rows - rows)
            waiting, types, rows = [*waiting, part], joined, rows + part.num_rows
            start += part.num_rows
            if rows == batch_rows:
                yield from _joined(waiting)
                waiting, rows = [], 0
    if waiting:
        yield from _joined(waiting)


def _joined_types(some: Sequence[ArrowType], others: Sequence[ArrowType]) -> list[ArrowType] | None:
    """The types of columns of two batches, where only NULL has no type; None if others differ."""
    import pyarrow as pa

    pairs = list(zip(some, others, strict=True))
    if any(a != b and not pa.types.is_null(a) and not pa.types.is_null(b) for a, b in pairs):
        return None
    return [b if pa.types.is_null(a) else a for a, b in pairs]


def _joined(parts: Sequence[ArrowRows]) -> list[ArrowRows]:
    import pyarrow as pa

    if len(parts) == 1:
        return list(parts)
    tables = [pa.Table.from_batches([each]) for each in parts]
    joined = pa.concat_tables(tables, promote_options="default").combine_chunks()
    return list(joined.to_batches())  # one, unless its texts are too long for one
