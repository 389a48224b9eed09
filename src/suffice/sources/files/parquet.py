"""Rows of Parquet files, read in the memory of a few pages per column."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

from suffice.exceptions import InputError
from suffice.sources.engine_types import ArrowReader
from suffice.sources.files.batch import Batch, RowNumbers
from suffice.sources.files.columnar import RequestedColumns, check_valid, columnar_layout
from suffice.sources.files.raw_input import RawInput
from suffice.sources.files.reader import FileLayout, ReadOptions

__all__ = ["arrow_errors", "peek_parquet", "read_parquet"]


def peek_parquet(raw: RawInput, options: ReadOptions) -> tuple[FileLayout, bool]:
    """Return the columns of a file, and whether it has rows."""
    with _opened(raw) as (file, _):
        return columnar_layout(file.schema_arrow, options.types, raw.name), file.metadata.num_rows > 0


def read_parquet(raw: RawInput, requested: RequestedColumns, batch_rows: int) -> Iterator[Batch]:
    """Yield the rows of a file in order."""
    with _opened(raw, requested.coded) as (file, threads):
        first, total = 0, file.metadata.num_rows
        columns = requested.in_file(file.schema_arrow.names, raw.name)
        for rows in file.iter_batches(batch_size=batch_rows, columns=columns, use_threads=threads):
            locations = RowNumbers(raw.name, first)
            check_valid(rows, locations)
            batch = requested.batch(rows, raw.name, locations)
            first += rows.num_rows
            raw.done = 0 if raw.size is None else raw.size * first // total
            del rows
            yield batch
            del batch


@contextmanager
def _opened(raw: RawInput, coded: Collection[str] = ()) -> Iterator[tuple[ArrowReader, bool]]:
    """Open a file, and tell whether Arrow's threads may read it.

    They may not read a Python file; see `suffice.sources.files.arrow_memory`.
    """
    import pyarrow.parquet as pq

    head = raw.head()[0]
    if head.startswith(b"PARE"):
        raise InputError(f"{raw.name} is an encrypted Parquet file. Decrypt it first.", file=raw.name)
    if not head.startswith(b"PAR1"):
        problem = "it is empty" if not head else "it does not start with PAR1"
        raise InputError(f"{raw.name} is not a Parquet file: {problem}.", file=raw.name)
    with (
        raw.random_access() as place,
        arrow_errors(raw.name, "a Parquet file"),
        pq.ParquetFile(
            place,
            read_dictionary=list(coded),
            # Reading page by page keeps memory independent of the size of row groups; pre-buffering would hold whole
            # groups.
            pre_buffer=False,
            page_checksum_verification=True,
            # A copy of the input is mapped into memory, because a buffer grows to the length that a page claims. Other
            # programs may shorten other files, which ends a process that has mapped them.
            **({"memory_map": True} if raw.path is None and isinstance(place, str) else {"buffer_size": 1 << 20}),
        ) as file,
    ):
        yield file, isinstance(place, str)


@contextmanager
def arrow_errors(name: str, what: str) -> Iterator[None]:
    """Turn Arrow's errors about bytes that it cannot read into an `InputError` that names the file."""
    import pyarrow as pa

    try:
        yield
    except InputError:
        raise
    except MemoryError as error:  # damaged lengths also cause this
        raise InputError(
            f"{name} cannot be read as {what}: a batch needs more memory than is available. The file is damaged, or "
            "must be written with smaller batches.",
            file=name,
        ) from error
    except (pa.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".") if str(error).strip() else type(error).__name__
        raise InputError(
            f"{name} cannot be read as {what}: it is damaged or truncated ({reason}).", file=name
        ) from error
