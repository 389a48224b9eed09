"""Rows of Parquet files, in the memory of a few pages of each column."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

from suffice.exceptions import InputError
from suffice.sources.files.batch import Batch, RowNumbers
from suffice.sources.files.raw import Raw
from suffice.sources.files.reader import Layout, Reading
from suffice.sources.files.stored import StoredColumns, check_sound, stored_layout

__all__ = ["arrow_told", "peek_parquet", "read_parquet"]


def peek_parquet(raw: Raw, reading: Reading) -> tuple[Layout, bool]:
    """The columns of a file, and whether it has rows."""
    with _opened(raw) as (file, _):
        return stored_layout(file.schema_arrow, reading.types, raw.name), file.metadata.num_rows > 0


def read_parquet(raw: Raw, stored: StoredColumns, batch_rows: int) -> Iterator[Batch]:
    """The rows of a file in order."""
    with _opened(raw, stored.coded) as (file, threads):
        first, total = 0, file.metadata.num_rows
        columns = stored.among(file.schema_arrow.names, raw.name)
        for rows in file.iter_batches(batch_size=batch_rows, columns=columns, use_threads=threads):
            places = RowNumbers(raw.name, first)
            check_sound(rows, places)
            batch = stored.batch(rows, raw.name, places)
            first += rows.num_rows
            raw.done = 0 if raw.size is None else raw.size * first // total
            del rows
            yield batch
            del batch


@contextmanager
def _opened(raw: Raw, coded: Collection[str] = ()) -> Iterator[tuple[Any, bool]]:
    """The file, and whether Arrow's threads may read it: not what is Python's, see `suffice.sources.files.owned`."""
    import pyarrow.parquet as pq

    head = raw.head()[0]
    if head.startswith(b"PARE"):
        raise InputError(f"{raw.name} is an encrypted Parquet file. Decrypt it first.")
    if not head.startswith(b"PAR1"):
        raise InputError(f"{raw.name} is not a Parquet file: it {'is empty' if not head else 'begins otherwise'}.")
    # With pages read one after the other memory does not grow with row groups; buffering ahead holds whole ones.
    options = {"pre_buffer": False, "buffer_size": 1 << 20, "page_checksum_verification": True}
    with (
        raw.anywhere() as place,
        arrow_told(raw.name, "a Parquet file"),
        pq.ParquetFile(place, read_dictionary=list(coded), **options) as file,
    ):
        yield file, isinstance(place, str)


@contextmanager
def arrow_told(name: str, what: str) -> Iterator[None]:
    """What Arrow says of bytes that it cannot read, as a sentence that names the file."""
    import pyarrow as pa

    try:
        yield
    except InputError:
        raise
    except MemoryError as error:  # also what damaged lengths ask for
        raise InputError(
            f"{name} cannot be read as {what}: a batch of it asks for more memory than there is. It is damaged, or has "
            "to be written anew in smaller batches."
        ) from error
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
        raise InputError(f"{name} cannot be read as {what}: it is damaged, or was cut short ({reason}).") from error
