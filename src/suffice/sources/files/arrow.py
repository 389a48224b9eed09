"""Rows of Arrow files (Feather, IPC): the file format with random access, and the stream format."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import BinaryIO

from suffice.exceptions import InputError
from suffice.sources.engine_types import ArrowFile, ArrowReader, ArrowRows, ArrowSchema
from suffice.sources.files.batch import Batch, RowNumbers
from suffice.sources.files.columnar import RequestedColumns, check_valid, columnar_layout
from suffice.sources.files.parquet import arrow_errors
from suffice.sources.files.raw_input import RawInput
from suffice.sources.files.reader import FileLayout, ReadOptions

__all__ = ["peek_arrow", "read_arrow"]

FILE_MAGIC = b"ARROW1"
FILE, STREAM = "an Arrow file", "an Arrow stream"
HUGE = 1 << 27  # mean bytes per batch beyond which a file is memory-mapped


def peek_arrow(raw: RawInput, options: ReadOptions) -> tuple[FileLayout, bool]:
    """Return the columns of a file, and whether it may have rows."""
    head = _head(raw)
    if not head.startswith(FILE_MAGIC):
        with arrow_errors(raw.name, STREAM):
            return columnar_layout(_stream_schema(head, raw), options.types, raw.name), True
    with raw.random_access() as place, arrow_errors(raw.name, FILE), _opened(place) as (file, _):
        return columnar_layout(file.schema, options.types, raw.name), file.num_record_batches > 0


def read_arrow(raw: RawInput, requested: RequestedColumns, batch_rows: int) -> Iterator[Batch]:
    """Yield the rows of a file in order."""
    pieces = _file_pieces if _head(raw).startswith(FILE_MAGIC) else _stream_pieces
    for rows, locations in pieces(raw, requested, batch_rows):
        batch = requested.batch(rows, raw.name, locations)
        del rows
        yield batch
        del batch


def _head(raw: RawInput) -> bytes:
    head = raw.head()[0]
    if head.startswith(b"FEA1"):
        raise InputError(
            f"{raw.name} is a Feather file of version 1. Convert it to version 2 or to Parquet.", file=raw.name
        )
    if not head.startswith((FILE_MAGIC, b"\xff\xff\xff\xff")):
        problem = "it is empty" if not head else "its first bytes are not those of Arrow"
        raise InputError(f"{raw.name} is not an Arrow file: {problem}.", file=raw.name)
    return head


def _options() -> ArrowFile:
    import pyarrow as pa

    # Arrow's threads may not read memory that Python owns: see `suffice.sources.files.arrow_memory`.
    return pa.ipc.IpcReadOptions(use_threads=False)


# ---------------------------------------------------------------------- the file format


def _file_pieces(raw: RawInput, requested: RequestedColumns, batch_rows: int) -> Iterator[tuple[ArrowRows, RowNumbers]]:
    """Yield at most ``batch_rows`` rows at a time, copied so that no batch of the file stays in memory."""
    import pyarrow as pa

    first = 0
    with raw.random_access() as place, arrow_errors(raw.name, FILE), _opened(place) as (file, release_pages):
        for i in range(file.num_record_batches):
            whole = file.get_batch(i)
            wanted = whole.select(requested.in_file(whole.schema.names, raw.name))
            for start in range(0, whole.num_rows, batch_rows):
                part, locations = wanted.slice(start, batch_rows), RowNumbers(raw.name, first + start)
                check_valid(part, locations)
                arrays = [pa.concat_arrays([array]) for array in part.columns]
                if raw.size is not None:
                    raw.done = int(raw.size * (i + (start + part.num_rows) / whole.num_rows) / file.num_record_batches)
                release_pages()
                yield pa.RecordBatch.from_arrays(arrays, names=part.schema.names), locations
                del part, arrays
            first += whole.num_rows
            del whole, wanted


@contextmanager
def _opened(place: str | BinaryIO) -> Iterator[tuple[ArrowReader, Callable[[], None]]]:
    """Open a file, given by its path or as an open file; also yield a function to call after rows were copied.

    Batches are read, not memory-mapped, because truncation of a mapped file by another program kills the process. A
    file of huge batches, such as one batch of all rows, is mapped nevertheless, because a batch may not fit in memory;
    the function then releases the pages that were read.
    """
    import pyarrow as pa

    if not isinstance(place, str):
        yield pa.ipc.open_file(pa.PythonFile(place, "r"), options=_options()), lambda: None
        return
    with pa.OSFile(place) as read:
        file = pa.ipc.open_file(read, options=_options())
        if read.size() <= HUGE * file.num_record_batches:
            yield file, lambda: None
            return
    with open(place, "rb") as plain:
        mapped = mmap.mmap(plain.fileno(), 0, access=mmap.ACCESS_READ)
    dont_need = getattr(mmap, "MADV_DONTNEED", None)  # not on every platform
    file = pa.ipc.open_file(pa.py_buffer(mapped), options=_options())
    yield file, lambda: None if dont_need is None else mapped.madvise(dont_need)


# ---------------------------------------------------------------------- the stream format


def _stream_schema(head: bytes, raw: RawInput) -> ArrowSchema:
    import pyarrow as pa

    try:
        return pa.ipc.open_stream(pa.BufferReader(head)).schema  # the first message of a stream
    except (pa.ArrowException, OSError):
        with raw.opened() as file:
            return pa.ipc.open_stream(file).schema


def _stream_pieces(
    raw: RawInput, requested: RequestedColumns, batch_rows: int
) -> Iterator[tuple[ArrowRows, RowNumbers]]:
    import pyarrow as pa

    first = 0
    with raw.opened() as file, arrow_errors(raw.name, STREAM):
        for whole in pa.ipc.open_stream(file, options=_options()):
            wanted = whole.select(requested.in_file(whole.schema.names, raw.name))
            for start in range(0, whole.num_rows, batch_rows):
                part, locations = wanted.slice(start, batch_rows), RowNumbers(raw.name, first + start)
                check_valid(part, locations)
                yield part, locations
            first += whole.num_rows
