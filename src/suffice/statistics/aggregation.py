"""Grouped aggregates that a query engine computes, as narwhals expressions, and from which a statistic is built.

An `Aggregation` is one ``GROUP BY`` over the class and optionally other columns. Its result is small, whatever the
number of rows. For discrete columns, the query counts each value; the distinct values are then summarised as rows
weighted by their counts. For numbers, it returns count, mean and variance. Computed columns are named by position, so
their names never collide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from suffice.exceptions import InputError
from suffice.numerics.types import Float
from suffice.statistics.classes import ClassAxis, Membership

__all__ = [
    "CLASS",
    "ROWS",
    "Aggregation",
    "Answer",
    "by_class",
    "check_least",
    "members_of",
    "moments_by_class",
    "number",
    "sums_by_class",
    "value",
    "value_counts",
]

Answer = Mapping[str, Sequence[Any]]
"""The result of a query: the values of each column."""
CLASS, ROWS = "(class)", "(rows)"


def value(j: int) -> str:
    """Return the name of the j-th computed column of a query."""
    return f"(value {j})"


@dataclass(frozen=True)
class Aggregation:
    """One grouped query.

    Parameters
    ----------
    stages : tuple of dict
        Columns to compute row by row, each stage from the table and the earlier stages. Expressions may use the mean of
        a class, ``nw.col(…).mean().over(CLASS)``.
    values : dict
        Aggregates of each group: simple aggregates of computed columns, which every engine supports.
    by : tuple of str
        Computed columns to group rows by, in addition to the class.
    """

    stages: tuple[dict[str, nw.Expr], ...]
    values: dict[str, nw.Expr]
    by: tuple[str, ...] = ()


def number(column: str) -> nw.Expr:
    """Return a column as float64, with null for NaN."""
    x = nw.col(column).cast(nw.Float64)
    return nw.when(~x.is_nan()).then(x)


def value_counts(expressions: Sequence[nw.Expr]) -> Aggregation:
    """Count each combination of values in each class."""
    named = {value(j): expression for j, expression in enumerate(expressions)}
    return Aggregation((named,), {ROWS: nw.len()}, tuple(named))


def sums_by_class(expressions: Sequence[nw.Expr]) -> Aggregation:
    """Request count, sum and minimum of each expression in each class."""
    return _each(expressions, ("count", "sum", "least"))


def moments_by_class(expressions: Sequence[nw.Expr]) -> Aggregation:
    """Request count, mean, variance and minimum of each expression in each class."""
    return _each(expressions, ("count", "mean", "variance", "least"))


_AGGREGATES: dict[str, Callable[[nw.Expr], nw.Expr]] = {
    "count": nw.Expr.count,
    "sum": nw.Expr.sum,
    "mean": nw.Expr.mean,
    "variance": lambda column: column.var(ddof=0),
    "least": nw.Expr.min,
}


def _each(expressions: Sequence[nw.Expr], names: Sequence[str]) -> Aggregation:
    values = {f"{name} {j}": _AGGREGATES[name](nw.col(value(j))) for j in range(len(expressions)) for name in names}
    return Aggregation(({value(j): each for j, each in enumerate(expressions)},), values)


def members_of(answer: Answer) -> Membership:
    """Return the classes of the groups of an answer, weighted by their numbers of rows if the answer has them."""
    labels = np.asarray(answer[CLASS])
    axis = ClassAxis.of(labels)
    weights = np.asarray(answer[ROWS], dtype=np.float64) if ROWS in answer else None
    return Membership(axis, codes=axis.positions(labels), weights=weights)


def by_class(answer: Answer, name: str, n: int, columns: Sequence[object]) -> tuple[ClassAxis, Float]:
    """Return the aggregate ``name`` of n computed columns by class (K, n); zero for groups without values."""
    members = members_of(answer)
    assert members.codes is not None
    table = np.zeros((len(members.classes), n))
    for j in range(n):
        numbers = [0.0 if each is None else each for each in answer[f"{name} {j}"]]
        empty = [not count for count in answer[f"count {j}"]]
        table[members.codes, j] = np.where(empty, 0.0, numbers)
    bad = np.flatnonzero(~np.isfinite(table).all(axis=0))
    if len(bad):
        column = columns[bad[0] % len(columns)]
        raise InputError(f"Column {column!r} holds values whose {name} is not finite.", column=column)
    return members.classes, table


def check_least(answer: Answer, columns: Sequence[object], what: str, *, zero: bool) -> None:
    """Raise `InputError` if a column has a negative value, or a zero unless ``zero`` is true."""
    for j, name in enumerate(columns):
        for least in answer[f"least {j}"]:
            if least is not None and (least < 0 or (least == 0 and not zero)):
                raise InputError(f"Column {name!r} holds {float(least):.6g}, but {what}.", column=name)
