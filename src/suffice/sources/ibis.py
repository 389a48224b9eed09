"""Tables and queries of Ibis, in any of its engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Self

from suffice.sources.engine_tables import StreamedTable
from suffice.sources.engine_types import ArrowReader, ArrowTable, NativeFrame

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
        return (self.native if n_rows is None else self.native.limit(n_rows)).to_pyarrow()

    def count(self) -> int:
        """The number of rows."""
        return int(self.native.count().to_pyarrow().as_py())

    def sample(self, n_rows: int, of_rows: int) -> ArrowTable:
        """Each row with the same probability."""
        share = min(1.0, n_rows / max(of_rows, 1))
        return (self.native if share == 1 else self.native.sample(share, method="row")).to_pyarrow()

    def stream(self) -> ArrowReader:
        """A new reader of all rows."""
        return self.native.to_pyarrow_batches(chunk_size=BATCH_ROWS)
