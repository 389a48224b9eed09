"""Fits of a cached DataFrame of Spark, on executors with one core each."""

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from functools import partial

import numpy as np
import psutil
from pyspark import SparkContext
from pyspark.ml.classification import NaiveBayes as SparkNaiveBayes
from pyspark.ml.feature import VectorAssembler
from pyspark.sql import DataFrame, SparkSession, functions

import suffice
from cluster_rows import CLASSES, COLUMNS, PARTS, Fit, Way, core_of, mean_and_deviation, own_moments, pin, timed

BYTES_PER_ROW = 1000  # of all executors: twice what is cached, and what Spark keeps free
LEAST_MB = 2048
SECONDS = 60  # to start and to stop


def measured(rows: int, workers: int) -> list[Fit]:
    """MLlib and both ways of `suffice.fit`, in turns, on rows that are cached in memory."""
    with session(rows, workers) as spark:
        frame = cached(spark, rows)
        table = frame.select(*COLUMNS, "y")
        fit = partial(suffice.fit, table, "y", model="naive-bayes", validate=False)
        return timed(
            [
                Way("MLlib, NaiveBayes(modelType='gaussian')", partial(mllib(), frame), their_moments),
                Way("suffice.fit, aggregates in SQL", partial(fit, pushdown=True), own_moments),
                Way("suffice.fit, models of partitions", partial(fit, pushdown=False), own_moments),
            ]
        )


def mllib():
    return SparkNaiveBayes(modelType="gaussian", labelCol="y", featuresCol="features").fit


def their_moments(model) -> tuple[np.ndarray, np.ndarray]:
    return model.theta.toArray(), model.sigma.toArray()


def cached(spark: SparkSession, rows: int) -> DataFrame:
    """Rows in the memory of the executors: columns, the label, and the columns once more as a vector for MLlib."""
    drawn = spark.range(rows, numPartitions=PARTS).select(functions.floor(functions.rand(0) * CLASSES).alias("y"))
    columns = []
    for j, name in enumerate(COLUMNS):
        mean, deviation = mean_and_deviation(j, functions.col("y"))
        columns.append((functions.randn(j + 1) * deviation + mean).alias(name))
    numbers = drawn.select("y", *columns)
    frame = VectorAssembler(inputCols=COLUMNS, outputCol="features").transform(numbers).cache()
    frame.count()
    (stored,) = spark.sparkContext._jsc.sc().getRDDStorageInfo()
    assert stored.numCachedPartitions() == PARTS, "Some partitions are not cached."
    assert not stored.diskSize(), "Some partitions are cached on disk: the executors have too little memory."
    print(f"  cached: {stored.memSize() / 1e6:,.0f} MB", flush=True)
    return frame


@contextlib.contextmanager
def session(rows: int, workers: int) -> Iterator[SparkSession]:
    """A cluster whose executors are processes, each on a core of its own; the driver is not bound to a core."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    memory = max(LEAST_MB, rows * BYTES_PER_ROW // 2**20) // workers
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.memory": "2g",
        "spark.executor.memory": f"{memory}m",
        "spark.sql.shuffle.partitions": "8",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.log.level": "ERROR",
    }
    builder = SparkSession.builder.master(f"local-cluster[{workers},1,{memory}]").appName("clusters")
    for name, value in settings.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    try:
        pin_executors(workers)
        yield spark
    finally:
        gateway = SparkContext._gateway
        spark.stop()
        gateway.shutdown()
        gateway.proc.stdin.close()  # the JVM ends when its input does
        gateway.proc.wait(SECONDS)


def pin_executors(workers: int) -> None:
    """Give each executor a core, before it has started a Python worker."""
    give_up = time.monotonic() + SECONDS
    while len(found := executors()) < workers and time.monotonic() < give_up:
        time.sleep(0.2)
    assert len(found) == workers, f"There are {len(found)} executors; expected {workers}."
    for worker, process in enumerate(found):
        pin(process.pid, core_of(worker))


def executors() -> list[psutil.Process]:
    """The processes of the executors, which the driver has started."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it has ended since
            if any("CoarseGrainedExecutorBackend" in part for part in process.cmdline()):
                found.append(process)
    return found
