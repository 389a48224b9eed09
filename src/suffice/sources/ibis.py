"""Tables and queries of Ibis, in any of its engines."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Self

from suffice.exceptions import InputError, SufficeError
from suffice.sources.engine_tables import StreamedTable
from suffice.sources.engine_types import ArrowReader, ArrowRows, ArrowTable, NativeFrame

__all__ = ["table_of"]

BATCH_ROWS = 1 << 17
IN_PROCESS = ("duckdb", "polars", "sqlite", "datafusion", "chdb")


def table_of(data: NativeFrame) -> IbisTable | None:
    """The table that an Ibis object is; None for other objects, such as columns."""
    import ibis

    return IbisTable(data) if isinstance(data, ibis.Table) else None


class IbisTable(StreamedTable):
    """A table or query of Ibis."""

    described = "the Ibis table"

    def __init__(self, native: NativeFrame) -> None:
        self.native, self.names = native, list(native.columns)
        backend = native.get_backend().name
        self.engine, self.is_elsewhere = f"Ibis on {backend}", backend not in IN_PROCESS

    def select(self, names: Sequence[str]) -> Self:
        """The table with these columns alone."""
        return type(self)(self.native.select(list(names)))

    def head(self, n_rows: int | None) -> ArrowTable:
        """The first rows, or all."""
        with self.errors():
            return (self.native if n_rows is None else self.native.limit(n_rows)).to_pyarrow()

    def count(self) -> int:
        """The number of rows."""
        with self.errors():
            return int(self.native.count().to_pyarrow().as_py())

    def sample(self, n_rows: int, of_rows: int) -> ArrowTable:
        """Each row with the same probability."""
        share = min(1.0, n_rows / max(of_rows, 1))
        with self.errors():
            return (self.native if share == 1 else self.native.sample(share, method="row")).to_pyarrow()

    def stream(self) -> ArrowReader:
        """A new reader of all rows."""
        import pyarrow as pa

        with self.errors():
            reader = self.native.to_pyarrow_batches(chunk_size=BATCH_ROWS)
        return pa.RecordBatchReader.from_batches(reader.schema, self._batches(reader))

    def _batches(self, reader: ArrowReader) -> Iterator[ArrowRows]:
        with self.errors():
            yield from reader

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turn an error of Ibis, or of the driver of a database, into an `InputError` that quotes its first line."""
        try:
            yield
        except (SufficeError, MemoryError):
            raise
        except Exception as error:
            lines = str(error).strip().splitlines() or [type(error).__name__]
            raise InputError(f"{self.engine} could not read the Ibis table: {lines[0].rstrip('.')}.") from error
