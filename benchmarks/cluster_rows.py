"""Rows, timing and results that the benchmarks of clusters share."""

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import psutil

from timing import Patience, alternate

COLUMNS = [f"x{j}" for j in range(20)]
CLASSES = 3
PARTS = 16
ROUNDS = 4


@dataclass(frozen=True)
class Fit:
    """A way to fit the same rows: its best time in seconds, and the means and variances (K, d) of its model."""

    name: str
    seconds: float
    means: np.ndarray
    variances: np.ndarray


@dataclass(frozen=True)
class Way:
    """A function that fits, and the function that returns the means and variances of what it returned."""

    name: str
    fit: Callable[[], Any]
    moments: Callable[[Any], tuple[np.ndarray, np.ndarray]]


def own_moments(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Means and variances of the rows in a `suffice.NaiveBayes` of Gaussian columns, without the pseudo-rows."""
    (moments,) = model.fitted_.model.statistics
    return moments.mean, moments.m2 / moments.weight


def timed(ways: list[Way]) -> list[Fit]:
    """Time all ways in turns, after one warm-up call each."""
    seconds = alternate([way.fit for way in ways], Patience(ROUNDS - 1, 0, long=np.inf))
    return [Fit(way.name, best, *way.moments(way.fit())) for way, best in zip(ways, seconds, strict=True)]


def mean_and_deviation(j: int, codes: Any) -> tuple[Any, int]:
    """The mean and the standard deviation of column j, for classes with these codes."""
    return 0.3 * (j % 3) * codes, 1 + j % 4


def drawn(part: int, rows: int) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a partition and their labels."""
    rng = np.random.default_rng(part)
    y = rng.integers(0, CLASSES, rows)
    X = rng.standard_normal((rows, len(COLUMNS)))
    for j in range(len(COLUMNS)):
        mean, deviation = mean_and_deviation(j, y)
        X[:, j] = X[:, j] * deviation + mean
    return X, y


def pin(pid: int, core: int) -> None:
    """Let all threads of a process, and those that they start, use one core."""
    for thread in psutil.Process(pid).threads():
        os.sched_setaffinity(thread.id, {core})


def core_of(worker: int) -> int:
    """The core of a worker."""
    cores = sorted(os.sched_getaffinity(0))
    return cores[worker % len(cores)]
