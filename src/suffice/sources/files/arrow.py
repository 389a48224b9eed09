"""Rows of Arrow files (Feather, IPC): the file format, of which any batch can be read, and the stream format."""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from suffice.exceptions import InputError
from suffice.sources.files.batch import Batch, RowNumbers
from suffice.sources.files.parquet import arrow_told
from suffice.sources.files.raw import Raw
from suffice.sources.files.reader import Layout, Reading
from suffice.sources.files.stored import StoredColumns, stored_layout

__all__ = ["peek_arrow", "read_arrow"]

FILE = b"ARROW1"
WHAT = "an Arrow file"


def peek_arrow(raw: Raw, reading: Reading) -> tuple[Layout, bool]:
    """The columns of a file, and whether it may have rows."""
    head = _head(raw)
    if not head.startswith(FILE):
        return stored_layout(_stream_schema(head, raw), reading.types, raw.name), True
    with raw.anywhere() as place, arrow_told(raw.name, WHAT), _mapped(place) as (file, _):
        return stored_layout(file.schema, reading.types, raw.name), file.num_record_batches > 0


def read_arrow(raw: Raw, stored: StoredColumns, batch_rows: int) -> Iterator[Batch]:
    """The rows of a file in order."""
    first = 0
    pieces = _file_pieces if _head(raw).startswith(FILE) else _stream_pieces
    for rows in pieces(raw, stored, batch_rows):
        batch = stored.batch(rows, raw.name, RowNumbers(raw.name, first))
        first += rows.num_rows
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


def _file_pieces(raw: Raw, stored: StoredColumns, most: int) -> Iterator[Any]:
    """Rows of at most so many at a time, copied out of the file.

    A file may be a single batch of all rows, so it is mapped, not read. The copy leaves nothing of the map in what is
    given out: a file that another program cuts short is met here, where its size is looked at before each copy, and
    pages of the map that were read can be let go.
    """
    import pyarrow as pa

    with raw.anywhere() as place, arrow_told(raw.name, WHAT), _mapped(place) as (file, held):
        for i in range(file.num_record_batches):
            held.check(raw.name)
            whole = file.get_batch(i)
            wanted = whole.select(stored.among(whole.schema.names, raw.name))
            for start in range(0, whole.num_rows, most):
                held.check(raw.name)
                part = wanted.slice(start, most)
                arrays = [pa.concat_arrays([array]) for array in part.columns]
                raw.done = (
                    0
                    if raw.size is None
                    else int(raw.size * (i + (start + part.num_rows) / whole.num_rows) / file.num_record_batches)
                )
                held.let_go()
                yield pa.RecordBatch.from_arrays(arrays, names=part.schema.names)
                del part, arrays
            del whole, wanted


class _Held:
    """A file in memory, of which only what is in use is kept there."""

    def __init__(self, file: Any) -> None:
        self.file = file
        self.size = os.fstat(file.fileno()).st_size
        self.map = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if self.size else b""

    def check(self, name: str) -> None:
        """Raise if the file is shorter than it was: reading beyond its end would end the process."""
        if os.fstat(self.file.fileno()).st_size < self.size:
            raise InputError(f"{name} changed while it was read: it is shorter now.")

    def let_go(self) -> None:
        """Give the pages that were read back; they come again when they are asked for."""
        if isinstance(self.map, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            self.map.madvise(mmap.MADV_DONTNEED)


@contextmanager
def _mapped(place: Any) -> Iterator[tuple[Any, _Held]]:
    """A reader of a file, given by its path or as an open one, and the file in memory."""
    import pyarrow as pa

    if isinstance(place, str):
        with open(place, "rb") as file, _mapped(file) as opened:
            yield opened
        return
    try:
        held = _Held(place)
    except (AttributeError, OSError, ValueError):  # no file of the system
        yield pa.ipc.open_file(pa.PythonFile(place, "r"), options=_options()), _Unheld()
        return
    yield pa.ipc.open_file(pa.py_buffer(held.map), options=_options()), held


class _Unheld(_Held):
    """A file that is not of the system, and is read batch by batch."""

    def __init__(self) -> None:
        self.map = b""

    def check(self, name: str) -> None:
        """Nothing."""


# ---------------------------------------------------------------------- the stream format


def _stream_schema(head: bytes, raw: Raw) -> Any:
    import pyarrow as pa

    try:
        return pa.ipc.open_stream(pa.BufferReader(head)).schema  # it comes first
    except (pa.ArrowException, OSError):
        with raw.opened() as file, arrow_told(raw.name, "a stream of Arrow"):
            return pa.ipc.open_stream(file).schema


def _stream_pieces(raw: Raw, stored: StoredColumns, most: int) -> Iterator[Any]:
    import pyarrow as pa

    with raw.opened() as file, arrow_told(raw.name, "a stream of Arrow"):
        for whole in pa.ipc.open_stream(file, options=_options()):
            wanted = whole.select(stored.among(whole.schema.names, raw.name))
            for start in range(0, whole.num_rows, most):
                yield wanted.slice(start, most)
