"""Scatter matrices computed by a query engine: class means and sums of products about them."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence

import narwhals as nw
import numpy as np

from suffice.statistics.aggregation import CLASS, Aggregation, Answer, by_class, number, value
from suffice.statistics.scatter import PooledScatter, Scatter

__all__ = ["scatter_by_class", "scatter_of_answer"]


def scatter_by_class(columns: Sequence[str]) -> Aggregation:
    """Request count and mean of each column by class, and sums of products about the class means, of complete rows."""
    d = len(columns)
    whole = functools.reduce(operator.and_, (~number(name).is_null() for name in columns))
    rows: dict[str, nw.Expr] = {value(j): nw.when(whole).then(number(name)) for j, name in enumerate(columns)}
    centred = {f"(away {j})": nw.col(value(j)) - nw.col(value(j)).mean().over(CLASS) for j in range(d)}
    products = {
        value(d + at): nw.col(f"(away {i})") * nw.col(f"(away {j})") for at, (i, j) in enumerate(_lower_triangle(d))
    }
    asked: dict[str, nw.Expr] = {}
    for j in range(d + len(products)):
        column = nw.col(value(j))
        asked |= {f"count {j}": column.count(), f"sum {j}": column.sum(), f"mean {j}": column.mean()}
    return Aggregation((rows, centred, products), asked)


def scatter_of_answer(
    answer: Answer, columns: Sequence[str], kind: type[Scatter] | type[PooledScatter]
) -> Scatter | PooledScatter:
    """Return the statistic with a matrix for each class (`Scatter`) or one for all (`PooledScatter`)."""
    d = len(columns)
    axis, mean = by_class(answer, "mean", d, columns)
    _, weight = by_class(answer, "count", 1, columns)
    _, sums = by_class(answer, "sum", d + d * (d + 1) // 2, columns)
    scatter = np.zeros((len(axis), d, d))
    for at, (i, j) in enumerate(_lower_triangle(d)):
        scatter[:, i, j] = scatter[:, j, i] = sums[:, d + at]
    if issubclass(kind, PooledScatter):
        scatter = scatter.sum(axis=0)
    return kind(axis, weight[:, 0], mean, np.zeros_like(mean), scatter, np.zeros_like(scatter)).check(columns)


def _lower_triangle(d: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(d) for j in range(i + 1)]
