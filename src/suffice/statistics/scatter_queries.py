"""Scatter matrices computed by a query engine: class means and sums of products about them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence

import narwhals as nw
import numpy as np

from suffice.statistics.aggregation import Aggregation, Answer, by_class, number
from suffice.statistics.scatter import PooledScatter, Scatter

__all__ = ["lower_triangle", "scatter_by_class", "scatter_of_answer"]


def scatter_by_class(columns: Sequence[str]) -> Aggregation:
    """Request count and mean of each column by class, and sums of products about the class means, of complete rows."""
    whole = functools.reduce(operator.and_, (~number(name).is_null() for name in columns))
    return Aggregation(tuple(nw.when(whole).then(number(name)) for name in columns), ("count", "mean", "products"))


def scatter_of_answer(
    answer: Answer, columns: Sequence[str], kind: type[Scatter] | type[PooledScatter]
) -> Scatter | PooledScatter:
    """Return the statistic with a matrix for each class (`Scatter`) or one for all (`PooledScatter`)."""
    d = len(columns)
    axis, mean = by_class(answer, "mean", d, columns)
    _, low = by_class(answer, "mean_low", d, columns)
    _, weight = by_class(answer, "count", 1, columns)
    pairs = lower_triangle(d)
    _, products = by_class(answer, "products", len(pairs), columns)
    scatter = np.zeros((len(axis), d, d))
    for at, (i, j) in enumerate(pairs):
        scatter[:, i, j] = scatter[:, j, i] = products[:, at]
    if issubclass(kind, PooledScatter):
        scatter = scatter.sum(axis=0)
    return kind(axis, weight[:, 0], mean, low, scatter, np.zeros_like(scatter)).check(columns)


def lower_triangle(d: int) -> list[tuple[int, int]]:
    """The pairs of d values whose products are summed, in order."""
    return [(i, j) for i in range(d) for j in range(i + 1)]
