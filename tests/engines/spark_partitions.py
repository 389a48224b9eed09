"""Functions that tests run on the workers of Spark."""

import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext

SECONDS = 60
"""How long a task waits to be killed."""


def counted_partitions(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches as they are."""
    yield from batches


def sizes(rows):
    """The number of rows of a partition."""
    yield sum(1 for _ in rows)


def random_label(_: object) -> str:
    """A label that changes each time."""
    return random.choice("ab")


def waits_to_be_killed(folder: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches; the first attempt at partition 1 waits after its first batch until its process ends."""
    first = _noted(folder)
    for batch in batches:
        yield batch
        if first:
            time.sleep(SECONDS)
            raise TimeoutError("The task was not killed.")


def kills_itself(folder: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches; the Python process of the first attempt at partition 1 kills itself after its first batch."""
    first = _noted(folder)
    for batch in batches:
        yield batch
        if first:
            os.kill(os.getpid(), signal.SIGKILL)


def fails_first(folder: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches; the first attempt at partition 1 fails after its first batch."""
    first = _noted(folder)
    for batch in batches:
        yield batch
        if first:
            raise OSError("The disk is gone.")


def _noted(folder: str) -> bool:
    """Note the attempt and its processes in the folder; whether it is the first one at partition 1."""
    context = TaskContext.get()
    part, attempt = context.partitionId(), context.attemptNumber()
    if part != 1:
        return False
    note = Path(folder) / f"{time.time_ns()}"
    note.write_text(f"{attempt} {os.getpid()} {_parent(os.getppid())}")
    note.rename(note.with_suffix(".attempt"))
    return attempt == 0


def _parent(process: int) -> int:
    """The parent of a process: the executor, which has started the daemon that forks Python workers."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])
