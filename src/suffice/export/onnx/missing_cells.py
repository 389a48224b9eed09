"""Scores of rows of a Gaussian block that lack some cells.

With ``z = (x − mean) W``, ‖z‖² is the distance of a complete row. Without the cells m, the distance of the others is
the smallest that any values of m give: that of z to the space of the rows W_m. These rows are removed one after
another, as in modified Gram–Schmidt, and log |Σ| grows by log |W_m W_mᵀ|, the squared volume that they span. No matrix
is inverted. A constant column has a row of zeros in W, so it has no effect.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.export.onnx.chunks import in_chunks, row_range
from suffice.export.onnx.densities import is_linear, log_densities
from suffice.export.onnx.graph import Graph, Value
from suffice.export.onnx.operations import (
    as_number,
    concatenated,
    is_nan,
    largest,
    log,
    reshaped,
    squeezed,
    summed,
    taken,
    tall,
    where,
)
from suffice.families.formula import GaussianBlock
from suffice.numerics.types import Float

__all__ = ["with_incomplete_rows"]


def with_incomplete_rows(x: Value, form: GaussianBlock, complete: Value) -> Value:
    """The scores of complete rows (n, K), with those of the incomplete rows of x (n, d) in their places."""
    graph, (n_classes, d) = x.graph, form.mean.shape
    counts = summed(as_number(is_nan(x), "whole"), 1)
    incomplete = squeezed(graph.op("NonZero", counts > np.array(0), kind="whole"), 0)
    zero = graph.constant(np.array([0]), "whole")
    most = largest(concatenated([counts, zero], 0), 0)
    numbers = most * np.array(len(form.whitening) * d) + np.array(n_classes * d)

    def score(start: Value, stop: Value) -> Value:
        return _scores(graph, taken(graph, x, row_range(incomplete, start, stop)), form, most)

    count = graph.op("Shape", incomplete, kind="whole")
    found = in_chunks(graph, count, numbers, n_classes, score)
    return graph.op("ScatterND", complete, tall(incomplete, 1), found, kind="number")


def _scores(graph: Graph, x: Value, form: GaussianBlock, most: Value) -> Value:
    """Scores of incomplete rows (c, K), of which each lacks ``most`` cells at most."""
    missing = is_nan(x)
    values, index = graph.several("TopK", as_number(missing), most, kinds=["number", "whole"], axis=1)
    at = where(values > 0.0, index, len(form.origin), "whole")  # beyond the last column: a row of zeros
    whitening = _stacked(form)
    padded = np.pad(whitening, ((0, 0), (0, 1), (0, 0)))
    z, log_volume = _outside(taken(graph, padded, at, axis=1), _white(x, missing, form, whitening), most)
    vary = (whitening != 0).any(axis=2).astype(np.float64)  # (1, d) or (K, d)
    known = where(missing, 0.0, 1.0) @ vary.T
    if is_linear(form):
        row, means = _split(z, len(form.mean))
        scores = summed(means * (row - means * 0.5), 2)
    else:
        distance = summed(z * z, 3)
        distance = _by_row(distance) if len(whitening) > 1 else squeezed(distance, 0)
        scores = log_densities(form, distance, _by_row(log_volume) + form.log_det, as_number(known, "whole"))
    return where(known > 0.0, scores, 0.0)


def _stacked(form: GaussianBlock) -> Float:
    """The whitenings, with columns of zeros if their ranks differ (1, d, r) or (K, d, r)."""
    rank = max(each.shape[1] for each in form.whitening)
    return np.stack([np.pad(each, ((0, 0), (0, rank - each.shape[1]))) for each in form.whitening])


def _by_row(x: Value) -> Value:
    """From (K, c, 1) to (c, K)."""
    return x.graph.op("Transpose", squeezed(x, 2), kind="number", perm=[1, 0])


def _split(z: Value, n_classes: int) -> tuple[Value, Value]:
    """The row (c, 1, r) and the class means (c, K, r), white."""
    inner = squeezed(z, 0)
    row = taken(z.graph, inner, np.array([0]), axis=1)
    return row, taken(z.graph, inner, np.arange(1, n_classes + 1), axis=1)


def _white(x: Value, missing: Value, form: GaussianBlock, whitening: Float) -> Value:
    """White rows less the class means, with 0 for missing cells: (K, c, 1, r), or (1, c, K, r) if Σ is shared.

    If the log-odds are linear, the row less the origin and the class means less the origin instead, (1, c, K + 1, r).
    """
    if len(whitening) > 1:
        away = (tall(x, 0) - form.mean[:, None]) - form.mean_low[:, None]
        return tall(where(tall(missing, 0), 0.0, away) @ whitening, 2)
    if is_linear(form):
        means = x.graph.constant((form.mean - form.origin + form.mean_low)[None], "number")
        row, absent = tall(where(missing, 0.0, x - form.origin), 1), tall(missing, 1)
        away = concatenated([row, where(absent, 0.0, means)], 1)
    else:
        away = where(tall(missing, 1), 0.0, (tall(x, 1) - form.mean) - form.mean_low)
    return tall(away @ whitening[0], 0)


def _outside(rows: Value, z: Value, count: Value) -> tuple[Value, Value]:
    """z (K, c, m, r) without its part in the space of the rows (K, c, q, r), and twice the log-volume (K, c, 1)."""
    graph = rows.graph
    flat = graph.op("Shape", rows, kind="whole", start=0, end=2)
    shape = concatenated([flat, graph.constant(np.array([1]), "whole")], 0)
    start = graph.op("Expand", graph.constant(0.0, "number"), shape, kind="number")

    def remove(_: Value, state: Sequence[Value]) -> list[Value]:
        rest, vectors, volume = state
        row, others = taken(graph, rest, np.array(0), axis=2), _without_first(rest)
        squares = summed(row * row, 2, keep=True)
        squares = where(squares > 0.0, squares, 1.0)
        column, unit = tall(row, 3), tall(row / squares, 2)
        return [others - (others @ column) * unit, vectors - (vectors @ column) * unit, volume + log(squares)]

    _, outside, volume = graph.loop(reshaped(count), [rows, z, start], remove)
    return outside, volume


def _without_first(rows: Value) -> Value:
    """All rows but the first (K, c, q − 1, r)."""
    limits = (rows.graph.constant(np.array([each]), "whole") for each in (1, np.iinfo(np.int64).max, 2))
    return rows.graph.op("Slice", rows, *limits, kind=rows.kind)
