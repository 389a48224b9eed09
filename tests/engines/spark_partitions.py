"""Functions that tests run on the workers of Spark, and what they need to watch them."""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
from pyspark import TaskContext

SECONDS, SECONDS_TO_WAIT = 240, 120
"""How long a task waits to be killed, and how long a test waits."""


def counted_partitions(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches as they are."""
    yield from batches


def sizes(rows):
    """The number of rows of a partition."""
    yield sum(1 for _ in rows)


def random_label(_):  # Spark reads annotations
    """A label that changes each time."""
    return random.choice("ab")


def waits(folder: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches; attempts at partition 1 wait after their first batch until the folder has a file ``go``."""
    noted = _noted(folder)
    for batch in batches:
        yield batch
        until = time.monotonic() + SECONDS
        while noted and not (Path(folder) / "go").exists():
            if time.monotonic() > until:
                raise TimeoutError("The task was not killed.")
            time.sleep(0.05)


def kills_itself(folder: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches; the Python process of the first attempt at partition 1 kills itself after its first batch."""
    first = _noted(folder) == 1
    for batch in batches:
        yield batch
        if first:
            os.kill(os.getpid(), signal.SIGKILL)


def fails_first(folder: str, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches; the first attempt at partition 1 fails after its first batch."""
    first = _noted(folder) == 1
    for batch in batches:
        yield batch
        if first:
            raise OSError("The disk is gone.")


def _noted(folder: str) -> int:
    """Note an attempt at a partition and its processes; the number of attempts if it is partition 1, else 0."""
    part = TaskContext.get().partitionId()
    note = Path(folder) / f"{time.time_ns()}-{part}"
    note.write_text(f"{os.getpid()} {_parent(os.getppid())}")
    note.rename(note.with_suffix(".attempt"))
    return len(attempts(folder)) if part == 1 else 0


def attempts(folder: str, part: int = 1) -> list[tuple[int, int]]:
    """The Python process and the executor of each attempt at a partition, in order."""
    notes = sorted(Path(folder).glob(f"*-{part}.attempt"))
    return [tuple(map(int, note.read_text().split())) for note in notes]


def _parent(process: int) -> int:
    """The parent of a process: the executor, which has started the daemon that forks Python workers."""
    return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1])


# ---------------------------------------------------------------------- in the tests


def wait_until(true: Callable[[], object]) -> None:
    """Wait for a condition."""
    until = time.monotonic() + SECONDS_TO_WAIT
    while not true():
        assert time.monotonic() < until
        time.sleep(0.05)


def is_running(process: int) -> bool:
    """Whether there is a process with this id."""
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    return True
