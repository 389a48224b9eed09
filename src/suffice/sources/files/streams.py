"""Rows of objects that offer an Arrow stream: Polars and pandas frames, DuckDB relations, PyArrow readers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Any

from suffice.exceptions import InputError
from suffice.sources.files.batch import RowNumbers
from suffice.sources.files.joining import Counted
from suffice.sources.files.parquet import arrow_told
from suffice.sources.files.reader import Faults, Reading
from suffice.sources.files.stored import StoredColumns, check_sound, stored_layout

__all__ = ["StreamRows"]


class StreamRows:
    """Rows of an object with ``__arrow_c_stream__``.

    They are read in the thread of who asks, since the object is the caller's. A table gives a stream again when it is
    asked again. A reader does not; by convention such a class is called so.
    """

    ahead = False
    total_bytes: int | None = None
    files: Sequence[str] = ()

    def __init__(self, data: Any, reading: Reading) -> None:
        self.name = ""
        self.repeatable = not type(data).__name__.endswith(("Reader", "Stream"))
        self._data, self._reading = data, reading
        self._kind = f"the {type(data).__name__}"
        self._next: Any = self._asked()
        self.layout = stored_layout(self._columns(), reading.types, self._kind)

    def read(self, columns: Sequence[str], coded: Collection[str], faults: Faults) -> Iterator[Counted]:
        """The rows in order."""
        stream, self._next = self._next, None
        stream = self._asked() if stream is None else stream
        stored = StoredColumns(self.layout, columns, self._reading.types, coded, faults)
        first, most = 0, self._reading.batch_rows
        with arrow_told(self._kind, "a stream of Arrow"):
            for whole in stream:
                wanted = whole.select(list(columns))
                for start in range(0, whole.num_rows, most):
                    part, places = wanted.slice(start, most), RowNumbers("", first + start)
                    check_sound(part, places)
                    yield stored.batch(part, self._kind, places), 0
                first += whole.num_rows
        if not first and not self.repeatable:
            raise InputError(f"{self._kind} gave no rows. Was it read before? Make it anew.")

    def _columns(self) -> Any:
        """The schema; of a pandas frame without its index, which is none of its columns."""
        import pyarrow as pa

        schema = self._next.schema
        if not hasattr(self._data, "reset_index"):
            return schema
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        return pa.schema([field for field in schema if field.name not in index])

    def stop(self) -> None:
        """Nothing: nobody else reads."""

    def _asked(self) -> Any:
        import pyarrow as pa

        try:
            return pa.RecordBatchReader.from_stream(self._data)
        except (pa.ArrowException, TypeError, ValueError, RuntimeError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{self._kind} gives no rows: it was read before, holds one column and not several, or holds what "
                f"Arrow does not know ({error})."
            ) from error
