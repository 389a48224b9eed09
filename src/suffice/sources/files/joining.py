"""Small batches joined to larger ones: a thousand files of ten rows each are read as a few batches."""

from __future__ import annotations

from collections.abc import Iterator

from suffice.sources.files.batch import Batch, JoinedPlaces

__all__ = ["Counted", "joined"]

Counted = tuple[Batch, int]
"""A batch, and how many bytes of the source were read when it was made."""
FEW = 8  # a batch of less than this part of the largest is small


def joined(batches: Iterator[Counted], batch_rows: int) -> Iterator[Counted]:
    """The same rows; batches without any are left out, and small ones that follow one another are joined."""
    waiting: list[Batch] = []
    rows = done = 0
    for batch, now in batches:
        if not len(batch):
            continue
        if waiting and (rows + len(batch) > batch_rows or batch.rows.schema.types != waiting[0].rows.schema.types):
            yield _one(waiting), done
            waiting, rows = [], 0
        waiting.append(batch)
        rows, done = rows + len(batch), now
        del batch
        if rows * FEW >= batch_rows:
            yield _one(waiting), done
            waiting, rows = [], 0
    if waiting:
        yield _one(waiting), done


def _one(parts: list[Batch]) -> Batch:
    import pyarrow as pa

    if len(parts) == 1:
        return parts[0]
    starts = [0]
    for part in parts[:-1]:
        starts.append(starts[-1] + len(part))
    names = parts[0].rows.schema.names
    arrays = [pa.concat_arrays([part.rows.column(j).chunk(0) for part in parts]) for j in range(len(names))]
    return Batch(pa.Table.from_arrays(arrays, names=names), JoinedPlaces(starts, [part.places for part in parts]))
