"""Lazy frames of Polars, which are computed in this process."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Self

from suffice.exceptions import InputError
from suffice.sources.engine_tables import StreamedTable
from suffice.sources.engine_types import ArrowReader, ArrowRows, ArrowTable, NativeFrame

__all__ = ["table_of"]

BATCH_ROWS = 1 << 17
ROW = "\0row"


def table_of(data: NativeFrame) -> PolarsTable | None:
    """The table that a lazy frame is; None for other objects, such as frames in memory."""
    import polars as pl

    return PolarsTable(data) if isinstance(data, pl.LazyFrame) else None


class PolarsTable(StreamedTable):
    """A lazy frame of Polars."""

    engine = "Polars"
    described = "the lazy frame"

    def __init__(self, native: NativeFrame) -> None:
        self.native = native
        with self.errors():
            self._schema = native.collect_schema()
        self.names = list(self._schema)

    def select(self, names: Sequence[str]) -> Self:
        """The frame with these columns alone."""
        return type(self)(self.native.select(list(names)))

    def head(self, n_rows: int | None) -> ArrowTable:
        """The first rows, or all."""
        with self.errors():
            return (self.native if n_rows is None else self.native.head(n_rows)).collect().to_arrow()

    def count(self) -> int:
        """The number of rows."""
        import polars as pl

        with self.errors():
            return int(self.native.select(pl.len()).collect(engine="streaming").item())

    def sample(self, n_rows: int, of_rows: int) -> ArrowTable:
        """The rows whose numbers have the smallest hashes."""
        import polars as pl

        share = min(1.0, n_rows / max(of_rows, 1))
        chosen = pl.col(ROW).hash(seed=0) <= pl.lit(int(share * (2**64 - 1)), dtype=pl.UInt64)
        with self.errors():
            return self.native.with_row_index(ROW).filter(chosen).drop(ROW).collect(engine="streaming").to_arrow()

    def stream(self) -> ArrowReader:
        """A new reader of all rows."""
        import polars as pl
        import pyarrow as pa

        schema = pl.DataFrame(schema=self._schema).to_arrow().schema
        return pa.RecordBatchReader.from_batches(schema, self._batches())

    def _batches(self) -> Iterator[ArrowRows]:
        with self.errors():
            for frame in self.native.collect_batches(chunk_size=BATCH_ROWS, maintain_order=True):
                yield from frame.to_arrow().to_batches()

    @contextlib.contextmanager
    def errors(self) -> Iterator[None]:
        """Turn an error of Polars into an `InputError` that quotes its first line."""
        import polars as pl

        try:
            yield
        except (pl.exceptions.PolarsError, OSError) as error:
            reason = str(error).strip().splitlines()[0].rstrip(".")
            raise InputError(f"Polars could not read the lazy frame: {reason}.") from error
