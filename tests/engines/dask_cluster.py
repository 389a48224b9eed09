"""A cluster of Dask for tests: a scheduler and worker processes on the loopback interface, stopped at the end.

The other functions make partitions on the workers. They leave a note of each attempt in a folder, so that a test sees
which process made which partition, and when.
"""

import contextlib
import logging
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster

SECONDS_TO_WAIT = 60


@contextlib.contextmanager
def dask_cluster(n_workers: int = 2, folder: str | None = None) -> Iterator[Client]:
    """A client of a new cluster, whose workers are processes with one thread each; a lost one is replaced."""
    with (
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            worker_dashboard_address="127.0.0.1:0",
            scheduler_kwargs={"dashboard": False},
            silence_logs=logging.CRITICAL,
            local_directory=folder,
        ) as cluster,
        Client(cluster) as client,
    ):
        yield client


@contextlib.contextmanager
def dask_cluster_elsewhere() -> Iterator[Client]:
    """A client of a cluster whose scheduler is in another process, too, so that this one holds the client alone."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    tests = {"PYTHONPATH": str(Path(__file__).parents[1])}  # whose functions run there
    server = subprocess.Popen([sys.executable, __file__], env=os.environ | tests, **pipes)
    try:
        with Client(server.stdout.readline().strip()) as client:
            yield client
    finally:
        server.communicate(timeout=SECONDS_TO_WAIT)  # the end of its input stops it


def wait_until(condition) -> None:
    """Wait until a function returns something true."""
    give_up = time.monotonic() + SECONDS_TO_WAIT
    while not condition():
        assert time.monotonic() < give_up, "The condition did not come true in time."
        time.sleep(0.02)


# ---------------------------------------------------------------------- partitions and notes on their attempts


def pieces_of(frame: pd.DataFrame, ends: list[tuple[int, int]], folder: Path) -> dd.DataFrame:
    """A dataframe whose partitions are rows of a frame, which the workers read from a file."""
    path = Path(folder) / "rows.arrow"
    frame.to_feather(path)
    return dd.from_map(_piece, ends, path=str(path), meta=frame.iloc[:0])


def _piece(ends: tuple[int, int], path: str) -> pd.DataFrame:
    return _stored(path).iloc[slice(*ends)]


@lru_cache(maxsize=1)
def _stored(path: str) -> pd.DataFrame:
    return pd.read_feather(path)


def frame_of(frame: pd.DataFrame, part, folder: Path, n_parts: int, **options) -> dd.DataFrame:
    """A dataframe whose partitions are made by ``part(rows, number, folder)`` on the workers."""
    size = -(-len(frame) // n_parts)
    pieces = [frame.iloc[start : start + size] for start in range(0, len(frame), size)]
    return dd.from_map(part, pieces, range(len(pieces)), folder=str(folder), meta=frame.iloc[:0], **options)


def attempts(folder: Path, number: int | None = None) -> list[int]:
    """The processes that made partition ``number``, or any."""
    return [int(path.read_text()) for path in Path(folder).glob(f"part.{'*' if number is None else number}.*")]


def numbered_rows(part: int) -> pd.DataFrame:
    """A hundred and ten rows, which the number of the partition determines."""
    rng = np.random.default_rng(part)
    label = rng.integers(0, 3, 110)
    return pd.DataFrame({f"x{j}": rng.normal(label) for j in range(10)}).assign(label=label)


def noted_as(number: int, folder: str) -> Path:
    """Leave a note that this process makes a partition."""
    note = Path(folder) / f"new.{number}.{time.time_ns()}.{os.getpid()}"
    note.write_text(str(os.getpid()))
    return note.rename(note.with_name(note.name.replace("new", "part", 1)))


def noted(rows: pd.DataFrame, number: int, folder: str) -> pd.DataFrame:
    """The partition, after a note."""
    noted_as(number, folder)
    return rows


def failing_once(rows: pd.DataFrame, number: int, folder: str) -> pd.DataFrame:
    """The partition; the first attempt to make one other than the first fails."""
    noted(rows, number, folder)
    if number and len(attempts(folder, number)) == 1:
        raise OSError("The disk did not answer.")
    return rows


def hanging_once(rows: pd.DataFrame, number: int, folder: str) -> pd.DataFrame:
    """The partition; once, a process that made another one before waits for a file ``go``, or for its end.

    The first partition does not count, because it is also made for the first rows.
    """
    mine = os.getpid()
    before = [path for path in Path(folder).glob(f"part.*.{mine}") if path.name.split(".")[1] != "0"]
    note = noted_as(number, folder)
    if number and before:
        with contextlib.suppress(FileExistsError):
            os.link(note, Path(folder) / "hangs")
            wait_until((Path(folder) / "go").exists)
    return rows


def ending_the_process(rows: pd.DataFrame, number: int, folder: str) -> pd.DataFrame:
    """The first partition; another one ends the process."""
    if number:
        os._exit(1)
    return rows


def hanging_process(folder: Path) -> int | None:
    """The process that waits in `hanging_once`; None if none does yet."""
    path = Path(folder) / "hangs"
    return int(path.read_text()) if path.exists() else None


if __name__ == "__main__":
    with dask_cluster() as started:
        print(started.scheduler.address, flush=True)
        sys.stdin.read()
