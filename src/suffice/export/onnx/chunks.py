"""Rows that are scored a part at a time, so intermediate results stay small."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from suffice.export.onnx.graph import Graph, Value
from suffice.export.onnx.operations import concatenated, reshaped

__all__ = ["in_chunks", "row_range"]

AT_ONCE = 1 << 21  # numbers in memory at one time


def in_chunks(graph: Graph, count: Value, numbers: Value, width: int, score: Callable[[Value, Value], Value]) -> Value:
    """Scores of ``count`` rows (count, width), of which so many are made at a time that memory is bounded.

    Parameters
    ----------
    count, numbers : Value
        Number of rows, and of numbers that a row needs at one time, of shape (1,).
    score : callable
        Takes the first row of a chunk and the row after its last, of shape (1,), and returns the scores of its rows.
    """
    step = graph.op("Max", AT_ONCE / numbers, graph.constant(np.array([1]), "whole"), kind="whole")
    trips = reshaped((count + (step - 1)) / step)

    def body(trip: Value, state: Sequence[Value]) -> list[Value]:
        (before,) = state
        start = reshaped(trip, 1) * step
        stop = graph.op("Min", start + step, count, kind="whole")
        return [concatenated([before, score(start, stop)], 0)]

    (out,) = graph.loop(trips, [graph.constant(np.zeros((0, width)), "number")], body)
    return out


def row_range(x: Value, start: Value, stop: Value) -> Value:
    """The rows from ``start`` to before ``stop``, of shape (1,)."""
    return x.graph.op("Slice", x, start, stop, x.graph.constant(np.array([0]), "whole"), kind=x.kind)
