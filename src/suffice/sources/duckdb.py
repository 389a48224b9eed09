"""DuckDB relations: queries, tables and views, which are computed in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Self

from suffice.exceptions import InputError
from suffice.sources.engine_tables import StreamedTable
from suffice.sources.engine_types import ArrowReader, ArrowRows, ArrowTable, NativeFrame

__all__ = ["interrupts", "table_of"]

BATCH_ROWS = 1 << 17


def table_of(data: NativeFrame) -> DuckDBTable | None:
    """The table that a DuckDB object is; None for other objects, such as connections."""
    import duckdb

    return DuckDBTable(data) if isinstance(data, duckdb.DuckDBPyRelation) else None


class DuckDBTable(StreamedTable):
    """A relation of DuckDB."""

    engine = "DuckDB"
    described = "the DuckDB relation"

    def __init__(self, native: NativeFrame) -> None:
        with self.errors():
            self.native, self.names = native, list(native.columns)
        twice = next((name for name in self.names if self.names.count(name) > 1), None)
        if twice is not None:
            raise InputError(
                f"The DuckDB relation has more than one column {twice!r:.80}. Rename them with AS.", column=twice
            )

    def select(self, names: Sequence[str]) -> Self:
        """The relation with these columns alone."""
        import duckdb

        return type(self)(self.native.select(*(duckdb.ColumnExpression(name) for name in names)))

    def head(self, n_rows: int | None) -> ArrowTable:
        """The first rows, or all."""
        with self.errors():
            return (self.native if n_rows is None else self.native.limit(n_rows)).to_arrow_table()

    def count(self) -> int:
        """The number of rows."""
        with self.errors():
            return int(self.native.count("*").fetchall()[0][0])

    def sample(self, n_rows: int, of_rows: int) -> ArrowTable:
        """A uniform sample."""
        query = f"SELECT * FROM rows USING SAMPLE reservoir({int(n_rows)} ROWS) REPEATABLE (0)"
        with self.errors():
            return self.native.query("rows", query).to_arrow_table()

    def stream(self) -> ArrowReader:
        """A new reader of all rows."""
        import pyarrow as pa

        with self.errors():
            reader = self.native.to_arrow_reader(BATCH_ROWS)
        return pa.RecordBatchReader.from_batches(reader.schema, self._batches(reader))

    def _batches(self, reader: ArrowReader) -> Iterator[ArrowRows]:
        with self.errors():
            yield from reader

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turn an error of DuckDB into an `InputError` that quotes it, and an interrupted query into Ctrl-C."""
        import duckdb
        import pyarrow as pa

        try:
            yield
        except (duckdb.Error, pa.ArrowException, OSError, RuntimeError) as error:
            if interrupts(error):
                raise KeyboardInterrupt from error
            reason = str(error).strip().splitlines()[0].rstrip(".")
            raise InputError(f"DuckDB could not read the DuckDB relation: {reason}.") from error


def interrupts(error: Exception) -> bool:
    """Whether an error of DuckDB says that Ctrl-C interrupted a query; Arrow quotes it while rows are read."""
    import duckdb

    reason = str(error).strip().partition("\n")[0]
    return isinstance(error, duckdb.InterruptException) or "Query interrupted" in reason or "INTERRUPT" in reason[:40]
