"""DuckDB relations: queries, tables and views, which are computed in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from suffice.sources.engine_tables import StreamedTable
from suffice.sources.engine_types import ArrowReader, ArrowTable, NativeFrame

__all__ = ["table_of"]

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
        self.native, self.names = native, list(native.columns)

    def select(self, names: Sequence[str]) -> Self:
        """The relation with these columns alone."""
        import duckdb

        return type(self)(self.native.select(*(duckdb.ColumnExpression(name) for name in names)))

    def head(self, n_rows: int | None) -> ArrowTable:
        """The first rows, or all."""
        return (self.native if n_rows is None else self.native.limit(n_rows)).to_arrow_table()

    def count(self) -> int:
        """The number of rows."""
        return int(self.native.count("*").fetchall()[0][0])

    def sample(self, n_rows: int, of_rows: int) -> ArrowTable:
        """A uniform sample."""
        query = f"SELECT * FROM rows USING SAMPLE reservoir({int(n_rows)} ROWS) REPEATABLE (0)"
        return self.native.query("rows", query).to_arrow_table()

    def stream(self) -> ArrowReader:
        """A new reader of all rows."""
        return self.native.to_arrow_reader(BATCH_ROWS)
