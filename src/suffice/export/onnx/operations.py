"""Operators of ONNX as functions of values, and the functions of float64 that ONNX lacks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.export.onnx.graph import ELEMENT, Graph, Kind, Operand, Value
from suffice.numerics.types import Array, Float

__all__ = [
    "absolute",
    "as_number",
    "between",
    "concatenated",
    "count_below",
    "excess",
    "exp",
    "floor",
    "is_nan",
    "kept",
    "largest",
    "log",
    "log1p",
    "log_rise",
    "log_sum_exp",
    "logical_any",
    "n_rows",
    "normalized",
    "reshaped",
    "select",
    "squeezed",
    "sum_of_squares",
    "summed",
    "taken",
    "tall",
    "where",
]

# ---------------------------------------------------------------------- elements


def exp(x: Value) -> Value:
    """The exponential function."""
    return x.graph.op("Exp", x, kind="number")


def log(x: Value) -> Value:
    """The natural logarithm; −∞ at 0."""
    return x.graph.op("Log", x, kind="number")


def absolute(x: Value) -> Value:
    """The absolute value."""
    return x.graph.op("Abs", x, kind=x.kind)


def floor(x: Value) -> Value:
    """The largest whole number that is not above x."""
    return x.graph.op("Floor", x, kind="number")


def is_nan(x: Value) -> Value:
    """Where x is NaN."""
    return x.graph.op("IsNaN", x, kind="mask")


def where(mask: Value, yes: Operand, no: Operand, kind: Kind = "number") -> Value:
    """``yes`` where the mask is true, ``no`` elsewhere."""
    graph = mask.graph
    return graph.op("Where", mask, graph.constant(yes, kind), graph.constant(no, kind), kind=kind)


def as_number(x: Value, kind: Kind = "number") -> Value:
    """The same values as numbers of another kind; true is 1."""
    return x if x.kind == kind else x.graph.op("Cast", x, kind=kind, to=ELEMENT[kind])


# ---------------------------------------------------------------------- shapes


def n_rows(x: Value) -> Value:
    """The number of rows, of shape (1,)."""
    return x.graph.op("Shape", x, kind="whole", start=0, end=1)


def reshaped(x: Value, *shape: int) -> Value:
    """The same values in another shape; −1 is what is left, and 0 leaves a length as it is."""
    return x.graph.op("Reshape", x, x.graph.constant(np.array(shape), "whole"), kind=x.kind)


def tall(x: Value, axis: int) -> Value:
    """A new axis of length 1."""
    return x.graph.op("Unsqueeze", x, x.graph.constant(np.array([axis]), "whole"), kind=x.kind)


def squeezed(x: Value, axis: int) -> Value:
    """Without an axis of length 1."""
    return x.graph.op("Squeeze", x, x.graph.constant(np.array([axis]), "whole"), kind=x.kind)


def concatenated(values: Sequence[Value], axis: int) -> Value:
    """Values one after another."""
    if len(values) == 1:
        return values[0]
    return values[0].graph.op("Concat", *values, kind=values[0].kind, axis=axis)


def taken(graph: Graph, table: Value | Array, index: Value | Array, *, axis: int = 0, kind: Kind = "number") -> Value:
    """The entries of a table at positions along an axis."""
    return graph.op("Gather", graph.constant(table, kind), graph.constant(index, "whole"), kind=kind, axis=axis)


def select(x: Value, columns: Sequence[int], width: int) -> Value:
    """Some columns of a matrix, which has ``width`` of them."""
    if list(columns) == list(range(width)):
        return x
    return taken(x.graph, x, np.array(columns), axis=1, kind=x.kind)


# ---------------------------------------------------------------------- sums


def summed(x: Value, axis: int, *, keep: bool = False) -> Value:
    """The sum along an axis."""
    axes = x.graph.constant(np.array([axis]), "whole")
    return x.graph.op("ReduceSum", x, axes, kind=x.kind, keepdims=int(keep))


def sum_of_squares(x: Value, axis: int) -> Value:
    """The sum of the squares along an axis."""
    axes = x.graph.constant(np.array([axis]), "whole")
    return x.graph.op("ReduceSumSquare", x, axes, kind=x.kind, keepdims=0)


def largest(x: Value, axis: int) -> Value:
    """The maximum along an axis, which stays with length 1."""
    return x.graph.op("ReduceMax", x, x.graph.constant(np.array([axis]), "whole"), kind=x.kind, keepdims=1)


def logical_any(mask: Value, axis: int) -> Value:
    """Whether a mask is true anywhere along an axis, which stays with length 1."""
    return summed(as_number(mask, "whole"), axis, keep=True) > 0


def log_sum_exp(x: Value, axis: int) -> Value:
    """log Σ exp along an axis, which stays with length 1; some value is finite."""
    most = largest(x, axis)
    return most + log(summed(exp(x - most), axis, keep=True))


def normalized(x: Value, axis: int) -> Value:
    """x less `log_sum_exp`: logarithms of numbers whose sum along an axis is 1."""
    away = x - largest(x, axis)
    return away - log(summed(exp(away), axis, keep=True))


def kept(mask: Value, x: Value) -> Value:
    """x where the mask is true, and 0 elsewhere."""
    return where(mask, x, 0.0)


# ---------------------------------------------------------------------- search


def count_below(x: Value, cuts: Sequence[Float], *, including: bool) -> Value:
    """The number of sorted cuts of each column that are below x (n, d), or up to x; 0 for NaN.

    A binary search, whose steps are nodes.
    """
    steps = max(len(each) for each in cuts).bit_length()
    width = (1 << steps) - 1
    padded = np.full((len(cuts), width), np.nan)  # below or equal to nothing
    for row, each in zip(padded, cuts, strict=True):
        row[: len(each)] = each
    start = np.arange(len(cuts)) * width
    found = x.graph.constant(np.zeros((1, len(cuts))), "whole") + as_number(is_nan(x), "whole") * 0
    for step in (1 << i for i in reversed(range(steps))):
        probe = taken(x.graph, padded.ravel(), found + (start + (step - 1)))
        found = found + as_number(probe <= x if including else probe < x, "whole") * np.array(step)
    return found


def between(x: Value, knots: Sequence[Float]) -> tuple[Value, Value, Value]:
    """Where x (n, d) is between the sorted knots of each column.

    The places of the knot before and of the knot after in the knots of all columns, one column after the other, and the
    share of the way from the first to the second, from 0 to 1.
    """
    graph, starts = x.graph, np.cumsum([0, *(len(each) for each in knots[:-1])])
    before = count_below(x, [each[1:-1] for each in knots], including=True) + starts
    after = before + np.array([min(1, len(each) - 1) for each in knots])
    every = np.concatenate(knots)
    low, high = taken(graph, every, before), taken(graph, every, after)
    share = (x - low) / where(high > low, high - low, 1.0)
    return before, after, where(share < 0.0, 0.0, where(share > 1.0, 1.0, share))


# ---------------------------------------------------------------------- functions

STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
LARGE = 8.0  # from which on the series gives log Γ to all digits


def log1p(x: Value) -> Value:
    """log(1 + x), accurate near 0."""
    shifted = x + 1.0
    same = shifted.equals(1.0)
    return where(same, x, log(shifted) * x / where(same, 1.0, shifted - 1.0))


def excess(x: Value) -> Value:
    """x − log(1 + x) near 0."""
    series: Value | float = 1 / 10
    for n in range(9, 1, -1):
        series = 1 / n - x * series
    assert isinstance(series, Value)
    return x * x * series


def log_rise(a: Value | Float, x: Value, about: Value | Float) -> Value:
    """log Γ(a + x)/Γ(a) − x (log(about + x) − 1) for a ≥ 0, x ≥ 0 and about > 0; −∞ for a = 0 and x > 0.

    The subtracted term is that of Stirling's formula. If it is the same for all classes, their differences keep their
    digits where the terms themselves are large.
    """
    known = None if isinstance(a, Value) else a
    given = x.graph.constant(a, "number")
    is_zero = given.equals(0.0)
    positive = where(is_zero, 1.0, given)
    below = positive < LARGE
    start = positive + where(below, LARGE, 0.0)
    end = start + x
    away = _correction(1.0 / end) - _correction(1.0 / start)  # exactly 0 at x = 0
    out = (start - 0.5) * log1p(x / start) + x * log(end / (about + x)) + away
    if known is None or (known < LARGE).any():
        product = x / positive + 1.0
        for i in range(1, int(LARGE)):
            product = product * (x / (positive + float(i)) + 1.0)
        out = out - where(below, log(product), 0.0)
    return out if known is not None and (known > 0).all() else where((x > 0.0) & is_zero, -np.inf, out)


def _correction(z: Value) -> Value:
    """The correction to Stirling's formula, 1/12 z − 1/360 z³ + …, for z = 1/a."""
    squared = z * z
    out: Value | float = STIRLING[-1]
    for coefficient in reversed(STIRLING[:-1]):
        out = squared * out + coefficient
    assert isinstance(out, Value)
    return z * out
