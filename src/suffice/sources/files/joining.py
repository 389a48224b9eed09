"""Small batches joined into larger ones: a thousand files of ten rows each are read as a few batches."""

from __future__ import annotations

from collections.abc import Generator, Iterator

from suffice.sources.files.batch import Batch, JoinedLocations

__all__ = ["BatchProgress", "join_small_batches"]

BatchProgress = tuple[Batch, int]
"""A batch, and the number of bytes of the source that had been read when the batch was complete."""
SMALL = 8  # a batch with fewer than 1/8 of the allowed rows is small


def join_small_batches(batches: Iterator[BatchProgress], batch_rows: int) -> Generator[BatchProgress, None, None]:
    """Yield the same rows without empty batches, with consecutive small batches joined."""
    waiting: list[Batch] = []
    rows = done = 0
    for batch, now in batches:
        if not len(batch):
            continue
        if waiting and (rows + len(batch) > batch_rows or batch.rows.schema.types != waiting[0].rows.schema.types):
            yield _join(waiting), done
            waiting, rows = [], 0
        waiting.append(batch)
        rows, done = rows + len(batch), now
        del batch
        if rows * SMALL >= batch_rows:
            yield _join(waiting), done
            waiting, rows = [], 0
    if waiting:
        yield _join(waiting), done


def _join(parts: list[Batch]) -> Batch:
    import pyarrow as pa

    if len(parts) == 1:
        return parts[0]
    starts = [0]
    for part in parts[:-1]:
        starts.append(starts[-1] + len(part))
    names = parts[0].rows.schema.names
    arrays = [pa.concat_arrays([part.rows.column(j).chunk(0) for part in parts]) for j in range(len(names))]
    return Batch(pa.Table.from_arrays(arrays, names=names), JoinedLocations(starts, [part.locations for part in parts]))
