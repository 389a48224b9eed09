"""Fits of rows in the memory of Dask's workers, which are processes with one core each."""

import contextlib
import importlib.util
from collections.abc import Iterator
from functools import partial
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from distributed import Client, LocalCluster, wait

import suffice
from cluster_rows import CLASSES, COLUMNS, PARTS, Fit, Way, core_of, drawn, own_moments, pin, timed
from suffice import NaiveBayes


def measured(rows: int, workers: int) -> list[Fit]:
    """A dataframe, arrays, and dask-ml if it is installed, in turns, on rows that are in memory."""
    with cluster(workers):
        frame = persisted(dd.from_map(frame_of, range(PARTS), rows=rows // PARTS, meta=frame_of(0, 1)))
        ways = [
            Way(
                "suffice.fit, dataframe",
                partial(suffice.fit, frame, "y", model="naive-bayes", validate=False),
                own_moments,
            )
        ]
        X = persisted(frame[COLUMNS].to_dask_array(lengths=[rows // PARTS] * PARTS))
        y = persisted(frame["y"].to_dask_array(lengths=[rows // PARTS] * PARTS))
        ways.append(Way("NaiveBayes().fit, arrays", partial(NaiveBayes().fit, X, y), own_moments))
        if importlib.util.find_spec("dask_ml") is not None:
            ways.insert(0, Way("dask-ml, GaussianNB", partial(theirs, X, y), their_moments))
        return timed(ways)


def in_one_process(rows: int) -> list[Fit]:
    """The same rows as a pandas frame, in one process with both cores."""
    frame = pd.concat([frame_of(part, rows // PARTS) for part in range(PARTS)], ignore_index=True)
    fit = partial(suffice.fit, frame, "y", model="naive-bayes", validate=False)
    return timed([Way("suffice.fit, pandas in one process", fit, own_moments)])


def frame_of(part: int, rows: int) -> pd.DataFrame:
    X, y = drawn(part, rows)
    return pd.DataFrame(X, columns=COLUMNS).assign(y=y)


def persisted(collection: Any) -> Any:
    """The collection, computed and kept by the workers."""
    kept = collection.persist()
    wait(kept)
    return kept


def theirs(X: da.Array, y: da.Array) -> Any:
    """dask-ml's model, with its lazy parameters computed."""
    from dask_ml.naive_bayes import GaussianNB

    model = GaussianNB(classes=np.arange(CLASSES)).fit(X, y)
    model.theta_, model.sigma_, model.class_prior_ = dask.compute(model.theta_, model.sigma_, model.class_prior_)
    return model


def their_moments(model: Any) -> tuple[np.ndarray, np.ndarray]:
    return np.asarray(model.theta_), np.asarray(model.sigma_)


@contextlib.contextmanager
def cluster(workers: int) -> Iterator[Client]:
    """Worker processes with one thread, each on a core of its own; the client is not bound to a core."""
    with (
        dask.config.set({"dataframe.convert-string": False, "distributed.worker.memory.spill": False}),
        LocalCluster(
            n_workers=workers,
            threads_per_worker=1,
            processes=True,
            memory_limit=0,
            dashboard_address=None,
            host="127.0.0.1",
        ) as found,
        Client(found) as client,
    ):
        for worker, pid in enumerate(client.run(process_id).values()):
            pin(pid, core_of(worker))
        yield client


def process_id() -> int:
    import os

    return os.getpid()
