"""A simulated cluster: workers summarise partitions and merge summaries in groups; a driver merges the rest."""

import heapq
import math
from dataclasses import dataclass

import numpy as np

from scale_models import Cost

GROUP = 64  # summaries that one task merges
LEVELS = 2  # of such tasks


@dataclass(frozen=True)
class Cluster:
    """Assumptions about a cluster.

    Attributes
    ----------
    workers : int
        Cores that run tasks.
    launch : float
        Seconds of the driver for each task.
    overhead : float
        Seconds of a worker for each task.
    read, network : float
        Bytes per second that a worker reads from storage, and that one machine sends or receives.
    slow, factor : float
        Share of tasks that are slow (stragglers), and how many times as long these take. A straggler is started again
        on a free worker after 1.5 times the median (speculative execution), so it costs at most 2.5 times the median.
    spread : float
        Standard deviation of the logarithm of the time of a task.
    """

    workers: int
    launch: float
    overhead: float
    read: float = 0.5e9
    network: float = 1e9
    slow: float = 0.02
    factor: float = 8.0
    spread: float = 0.2


@dataclass(frozen=True)
class Run:
    """Seconds of the stages of a fit, and bytes that were sent."""

    summarise: float
    merge: float
    driver: float
    ideal: float
    volume: float

    @property
    def total(self) -> float:
        return self.summarise + self.merge + self.driver

    @property
    def efficiency(self) -> float:
        """Share of the time that the workers spend on rows."""
        return self.ideal / self.total


def simulated(cost: Cost, cluster: Cluster, rows: float, partitions: int, seed: int = 0) -> Run:
    """A fit of so many rows, stage by stage; a stage begins when the one before has ended, as on Spark."""
    rng = np.random.default_rng(seed)
    work = rows / partitions * max(cost.row_seconds, cost.row_bytes / cluster.read)
    fetch = cost.sent / cluster.network
    summarise = stage(rng, cluster, partitions, fetch + work)
    merge, volume, parts = 0.0, partitions * cost.summary, partitions
    for _ in range(LEVELS):
        together, parts = min(GROUP, parts), math.ceil(parts / GROUP)
        merge += stage(rng, cluster, parts, together * (cost.summary / cluster.network + cost.merge_seconds))
        volume += parts * cost.summary
    driver = parts * (cost.summary / cluster.network + cost.driver_seconds)
    return Run(summarise, merge, driver, partitions * work / cluster.workers, volume)


def stage(rng: np.random.Generator, cluster: Cluster, tasks: int, seconds: float) -> float:
    """The end of the last of equal tasks, which the driver launches one after another."""
    times = (cluster.overhead + seconds) * rng.lognormal(0.0, cluster.spread, tasks)
    slow = rng.random(tasks) < cluster.slow
    again = np.minimum(times * cluster.factor, 2.5 * np.median(times))
    times = np.where(slow, np.maximum(times, again), times)
    free = [0.0] * min(cluster.workers, tasks)
    last = 0.0
    for task, taken in enumerate(times):
        end = max(heapq.heappop(free), task * cluster.launch) + taken
        heapq.heappush(free, end)
        last = max(last, end)
    return last
