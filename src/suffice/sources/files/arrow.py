"""Rows of Arrow files (Feather, IPC): the file format, of which any batch can be read, and the stream format."""

from __future__ import annotations

import mmap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from suffice.exceptions import InputError
from suffice.sources.files.batch import Batch, RowNumbers
from suffice.sources.files.parquet import arrow_told
from suffice.sources.files.raw import Raw
from suffice.sources.files.reader import Layout, Reading
from suffice.sources.files.stored import StoredColumns, check_sound, stored_layout

__all__ = ["peek_arrow", "read_arrow"]

FILE = b"ARROW1"
WHAT, STREAM = "an Arrow file", "a stream of Arrow"
HUGE = 1 << 27  # bytes of a batch, on average, beyond which a file is mapped


def peek_arrow(raw: Raw, reading: Reading) -> tuple[Layout, bool]:
    """The columns of a file, and whether it may have rows."""
    head = _head(raw)
    if not head.startswith(FILE):
        with arrow_told(raw.name, STREAM):
            return stored_layout(_stream_schema(head, raw), reading.types, raw.name), True
    with raw.anywhere() as place, arrow_told(raw.name, WHAT), _opened(place) as (file, _):
        return stored_layout(file.schema, reading.types, raw.name), file.num_record_batches > 0


def read_arrow(raw: Raw, stored: StoredColumns, batch_rows: int) -> Iterator[Batch]:
    """The rows of a file in order."""
    pieces = _file_pieces if _head(raw).startswith(FILE) else _stream_pieces
    for rows, places in pieces(raw, stored, batch_rows):
        batch = stored.batch(rows, raw.name, places)
        del rows
        yield batch
        del batch


def _head(raw: Raw) -> bytes:
    head = raw.head()[0]
    if head.startswith(b"FEA1"):
        raise InputError(f"{raw.name} is a Feather file of version 1. Write it anew in version 2, or as Parquet.")
    if not head.startswith((FILE, b"\xff\xff\xff\xff")):
        raise InputError(f"{raw.name} is not an Arrow file: it {'is empty' if not head else 'begins otherwise'}.")
    return head


def _options() -> Any:
    import pyarrow as pa

    # The bytes are Python's, and so nothing for Arrow's threads: see `suffice.sources.files.owned`.
    return pa.ipc.IpcReadOptions(use_threads=False)


# ---------------------------------------------------------------------- the file format


def _file_pieces(raw: Raw, stored: StoredColumns, most: int) -> Iterator[tuple[Any, RowNumbers]]:
    """Rows of at most so many at a time, which keep nothing of the batch of the file that they are of."""
    import pyarrow as pa

    first = 0
    with raw.anywhere() as place, arrow_told(raw.name, WHAT), _opened(place) as (file, let_go):
        for i in range(file.num_record_batches):
            whole = file.get_batch(i)
            wanted = whole.select(stored.among(whole.schema.names, raw.name))
            for start in range(0, whole.num_rows, most):
                part, places = wanted.slice(start, most), RowNumbers(raw.name, first + start)
                check_sound(part, places)
                arrays = [pa.concat_arrays([array]) for array in part.columns]
                if raw.size is not None:
                    raw.done = int(raw.size * (i + (start + part.num_rows) / whole.num_rows) / file.num_record_batches)
                let_go()
                yield pa.RecordBatch.from_arrays(arrays, names=part.schema.names), places
                del part, arrays
            first += whole.num_rows
            del whole, wanted


@contextmanager
def _opened(place: Any) -> Iterator[tuple[Any, Callable[[], None]]]:
    """A reader of a file, given by its path or as an open one; and what to call once rows were copied from it.

    Batches are read, not mapped: a mapped file that another program cuts short ends this process, without a word. A
    file of huge batches, such as one of all rows, is mapped all the same, since memory may not hold one of them; pages
    that were read are let go.
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
    forget = getattr(mmap, "MADV_DONTNEED", None)
    file = pa.ipc.open_file(pa.py_buffer(mapped), options=_options())
    yield file, lambda: None if forget is None else mapped.madvise(forget)


# ---------------------------------------------------------------------- the stream format


def _stream_schema(head: bytes, raw: Raw) -> Any:
    import pyarrow as pa

    try:
        return pa.ipc.open_stream(pa.BufferReader(head)).schema  # it comes first
    except (pa.ArrowException, OSError):
        with raw.opened() as file:
            return pa.ipc.open_stream(file).schema


def _stream_pieces(raw: Raw, stored: StoredColumns, most: int) -> Iterator[tuple[Any, RowNumbers]]:
    import pyarrow as pa

    first = 0
    with raw.opened() as file, arrow_told(raw.name, STREAM):
        for whole in pa.ipc.open_stream(file, options=_options()):
            wanted = whole.select(stored.among(whole.schema.names, raw.name))
            for start in range(0, whole.num_rows, most):
                part, places = wanted.slice(start, most), RowNumbers(raw.name, first + start)
                check_sound(part, places)
                yield part, places
            first += whole.num_rows
