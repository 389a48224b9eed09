"""Aggregates that a query engine computes by class, and from which a statistic is built.

An `Aggregation` says what a family needs; `suffice.sources.queries` turns it into a query, whose result is small. For
discrete columns, the query counts each value; the distinct values are then summarised as rows weighted by their counts.
For numbers, it returns count, mean, and squares or products about the class means. All names in a query are made from
positions, so they never collide with those of columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

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
    "Measure",
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
Measure = Literal["count", "sum", "mean", "variance", "least", "products"]
CLASS, ROWS = "class_of_row", "n_rows"


def value(j: int) -> str:
    """Return the name of the j-th computed column of a query."""
    return f"value_{j}"


@dataclass(frozen=True)
class Aggregation:
    """One grouped query.

    Parameters
    ----------
    values : tuple of narwhals expressions
        Values to compute for each row.
    measures : tuple of str
        What to compute of each value in each class. "variance" is the mean square about the class mean; "products" are
        the sums of products of two values about their class means. If there are none, the rows with equal values are
        counted.
    """

    values: tuple[nw.Expr, ...]
    measures: tuple[Measure, ...] = ()


def number(column: str) -> nw.Expr:
    """Return a column as float64, with null for NaN."""
    x = nw.col(column).cast(nw.Float64)
    return nw.when(~x.is_nan()).then(x)


def value_counts(expressions: Sequence[nw.Expr]) -> Aggregation:
    """Count each combination of values in each class."""
    return Aggregation(tuple(expressions))


def sums_by_class(expressions: Sequence[nw.Expr]) -> Aggregation:
    """Request count, sum and minimum of each expression in each class."""
    return Aggregation(tuple(expressions), ("count", "sum", "least"))


def moments_by_class(expressions: Sequence[nw.Expr], *, least: bool = False) -> Aggregation:
    """Request count, mean and variance of each expression in each class, and the minimum if ``least``."""
    return Aggregation(tuple(expressions), ("count", "mean", "variance", *(("least",) if least else ())))


def members_of(answer: Answer) -> Membership:
    """Return the classes of the groups of an answer, weighted by their numbers of rows if the answer has them."""
    labels = np.asarray(answer[CLASS])
    axis = ClassAxis.of(labels)
    weights = np.asarray(answer[ROWS], dtype=np.float64) if ROWS in answer else None
    return Membership(axis, codes=axis.positions(labels), weights=weights)


def by_class(answer: Answer, name: str, n: int, columns: Sequence[object]) -> tuple[ClassAxis, Float]:
    """Return the measure ``name`` of n values by class (K, n); zero for groups without values."""
    members = members_of(answer)
    assert members.codes is not None
    table = np.zeros((len(members.classes), n))
    for j in range(n):
        numbers = [0.0 if each is None else each for each in answer[f"{name} {j}"]]
        empty = [not count for count in answer.get(f"count {j}", answer["count 0"])]  # products have one count
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
