"""Rows of objects that offer an Arrow stream: Polars and pandas frames, DuckDB relations, PyArrow readers."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager

from suffice.exceptions import InputError, at_start, counted
from suffice.sources.engine_types import ArrowReader, ArrowSchema, NativeFrame
from suffice.sources.files.batch import RowNumbers
from suffice.sources.files.columnar import RequestedColumns, check_valid, columnar_layout
from suffice.sources.files.joining import BatchProgress
from suffice.sources.files.reader import FileLayout, ReadOptions, SkippedRows

__all__ = ["StreamRows"]

OF_ENGINE = f"{InputError.__module__}.{InputError.__qualname__}: "
"""What Arrow writes before the sentence of an error that an engine has raised within a stream."""


class StreamRows:
    """Rows of an object with ``__arrow_c_stream__``.

    They are read in the caller's thread, because the object belongs to the caller. A table offers a new stream each
    time; a reader does not. Readers are recognised by their class name, which by convention ends in Reader or Stream.
    """

    prefetchable = False
    written_as = "typed"
    documents = False
    total_bytes: int | None = None
    files: Sequence[str] = ()
    layout: FileLayout

    def __init__(self, data: NativeFrame, options: ReadOptions) -> None:
        self.name = ""
        self.repeatable = not type(data).__name__.endswith(("Reader", "Stream"))
        self._data, self._options = data, options
        self._described = getattr(data, "described", f"the {type(data).__name__}")
        self._n_rows = 0
        self._next: ArrowReader | None = self._new_reader()
        with self._errors():
            self.layout = columnar_layout(self._schema(self._next), options.types, self._described)

    def read(
        self, columns: Sequence[str], coded: Collection[str], skipped: SkippedRows, written: Sequence[str] = ()
    ) -> Iterator[BatchProgress]:
        """Yield the rows in order."""
        stream, self._next = self._next, None
        stream = self._new_reader() if stream is None else stream
        requested = RequestedColumns(self.layout, columns, self._options, coded, skipped, written)
        self._n_rows, batch_rows = 0, self._options.batch_rows
        with self._errors():
            for whole in stream:
                wanted = whole.select(list(dict.fromkeys([*columns, *written])))
                for start in range(0, whole.num_rows, batch_rows):
                    part, locations = wanted.slice(start, batch_rows), RowNumbers("", self._n_rows + start)
                    check_valid(part, locations)
                    yield requested.batch(part, self._described, locations), 0
                self._n_rows += whole.num_rows
        if not self._n_rows and not self.repeatable:
            raise InputError(f"{self._described} returned no rows. It may have been read before; create it again.")

    def _schema(self, reader: ArrowReader) -> ArrowSchema:
        """The schema, without the index columns of a pandas frame."""
        import pyarrow as pa

        schema = reader.schema
        if not hasattr(self._data, "reset_index"):
            return schema
        index = (schema.pandas_metadata or {}).get("index_columns", [])
        return pa.schema([field for field in schema if field.name not in index])

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """Turn errors of the object into an `InputError` that quotes them; no error names a file."""
        import pyarrow as pa

        try:
            yield
        except InputError as error:
            error.file = None if error.file == self._described else error.file
            raise
        except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError, MemoryError) as error:
            # Arrow quotes an exception of Python code with its traceback; the last line tells what happened.
            lines = str(error).strip().splitlines() or [type(error).__name__]
            reason = (lines[-1] if "Python exception" in lines[0] else lines[0]).rstrip(".")
            if reason == "KeyboardInterrupt":
                raise KeyboardInterrupt from error
            after = f"after {counted(self._n_rows, 'row')}"
            if reason.startswith(OF_ENGINE):
                raise InputError(f"{reason.removeprefix(OF_ENGINE)}, {after}.") from error
            raise InputError(f"{at_start(self._described)} raised an error {after}: {reason}.") from error

    def stop(self) -> None:
        """Do nothing: no other thread reads."""

    def close(self) -> None:
        """Do nothing: the stream is the user's."""

    def _new_reader(self) -> ArrowReader:
        import pyarrow as pa

        try:
            return pa.RecordBatchReader.from_stream(self._data)
        except (pa.ArrowException, TypeError, ValueError, RuntimeError, OverflowError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{self._described} gives no rows: it was read before, is a single column instead of a table, or "
                f"has a type that Arrow does not know ({error})."
            ) from error
