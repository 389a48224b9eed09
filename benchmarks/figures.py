"""One job's figures: seconds of both sides, what was moved and multiplied in them, and the memory it took."""

import math
import warnings
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import data
from jobs import TEXT, Job, Scale, Side
from timing import Patience, alternate, megabytes, peak_beyond

SPARE = 64  # MB that a fit may use beyond its model, and a prediction beyond its output
CHEAP = 40  # seconds; the memory of the other side is measured only below


@dataclass(frozen=True)
class Figure:
    """Measurements of one method of one job. Memory is in MB, without input and output."""

    table: str
    name: str
    verb: str
    rows: int
    beside: str
    seconds: float
    seconds_beside: float | None
    demanded: float | None
    bytes: float
    flops: float
    memory: float
    memory_beside: float | None
    memory_allowed: float
    agreement: float | None

    @property
    def ratio(self) -> float | None:
        """Time of the other side as a multiple of ours."""
        return None if self.seconds_beside is None else self.seconds_beside / self.seconds

    @property
    def met(self) -> bool | None:
        """Whether the ratio reaches the required one; None if none is required."""
        return None if self.demanded is None or self.ratio is None else self.ratio >= self.demanded

    @property
    def lean(self) -> bool:
        """Whether memory is within its limit or could not be measured."""
        return math.isnan(self.memory) or self.memory <= self.memory_allowed


def measure(job: Job, scale: Scale, patience: Patience) -> list[Figure]:
    """Run a job: fit both sides, then predict with both."""
    sides = job.sides(scale)
    ours = sides[0]
    figures = []
    agreement = None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for side in sides:
            side.run("fit")
        if len(sides) > 1 and len(job.verbs) > 1:
            agreement = _agreement(job, *sides)
        for verb in job.verbs:
            seconds = alternate([partial(side.run, verb) for side in sides], patience)
            output = 0 if verb == "fit" else data.size(ours.run(verb))
            memory = [
                _memory(side, verb, output) if s < CHEAP else None for side, s in zip(sides, seconds, strict=True)
            ]
            n, d = data.shape(ours.X if verb == "fit" else ours.question)
            allowed = SPARE + (megabytes(ours.model) if verb == "fit" else 0.0)
            if job.table == TEXT and memory[-1] is not None:
                allowed = memory[-1]  # a vocabulary takes more memory while it is built
            flops = job.flops.get("fit" if verb == "fit" else "predict")
            figures.append(
                Figure(
                    table=job.table,
                    name=job.name,
                    verb=verb,
                    rows=n,
                    beside=job.beside,
                    seconds=seconds[0],
                    seconds_beside=seconds[1] if len(sides) > 1 else None,
                    demanded=job.demands.get(verb),
                    bytes=data.size(ours.X if verb == "fit" else ours.question) + output,
                    flops=flops(n, d, len(ours.model.classes_)) if flops else 0.0,
                    memory=math.nan if memory[0] is None else memory[0],
                    memory_beside=memory[1] if len(sides) > 1 else None,
                    memory_allowed=allowed,
                    agreement=agreement,
                )
            )
    return figures


def _memory(side: Side, verb: str, output: int) -> float:
    kept: list[Any] = []  # keep the output until memory is measured
    taken = peak_beyond(lambda: kept.append(side.run(verb)))
    return taken - output / 2**20


def _agreement(job: Job, ours: Side, other: Side) -> float:
    """Fraction of rows with equal labels; for transformers, whether the matrices are equal."""
    if not hasattr(ours.model, "predict"):
        a, b = ours.run("transform"), other.run("transform")
        share = float(a.shape == b.shape and (a != b).nnz == 0)
    else:
        share = float((np.asarray(ours.run("predict")) == np.asarray(other.run("predict"))).mean())
    if job.same and share < 1:
        raise AssertionError(f"{job.name}: labels differ from those of {job.beside} in {1 - share:.2%} of the rows.")
    return share
