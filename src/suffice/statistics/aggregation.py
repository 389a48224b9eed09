"""What a query engine would compute for a statistic: grouped aggregates, as narwhals expressions.

An `Aggregation` is one ``GROUP BY`` over the class and perhaps other columns. Its answer is small, whatever the
number of rows, and a statistic is read back from it. Discrete columns ask how often each value occurs, and are then
summarised as those few rows with their counts for weights; numbers ask for count, mean and variance. Everything that
is computed has a name by its place, so that no name of a column can collide with another.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
"""The rows that a query gave, by column."""
CLASS, ROWS = "(class)", "(rows)"


def value(j: int) -> str:
    """What the j-th thing is called in a query."""
    return f"(value {j})"


@dataclass(frozen=True)
class Aggregation:
    """One grouped query.

    Parameters
    ----------
    stages : tuple of dict
        Columns to compute row by row, each stage from the table and the stages before it. They may look at the mean of
        their class, ``nw.col(…).mean().over(CLASS)``.
    values : dict
        What is asked of each group: a simple aggregate of a computed column, which every engine has.
    by : tuple of str
        Computed columns that rows are grouped by, beside the class.
    """

    stages: tuple[dict[str, nw.Expr], ...]
    values: dict[str, nw.Expr]
    by: tuple[str, ...] = ()


def number(column: str) -> nw.Expr:
    """A column as float64, with NaN taken for missing."""
    x = nw.col(column).cast(nw.Float64)
    return nw.when(~x.is_nan()).then(x)


def value_counts(expressions: Sequence[nw.Expr]) -> Aggregation:
    """How often each combination of values occurs in each class."""
    named = {value(j): expression for j, expression in enumerate(expressions)}
    return Aggregation((named,), {ROWS: nw.len()}, tuple(named))


def sums_by_class(expressions: Sequence[nw.Expr]) -> Aggregation:
    """Of each expression the number of its values in each class, their sum, and the least of them."""
    return _each(expressions, {"count": "count", "sum": "sum", "least": "min"})


def moments_by_class(expressions: Sequence[nw.Expr]) -> Aggregation:
    """Of each expression the number of its values in each class, their mean and variance, and the least of them."""
    return _each(expressions, {"count": "count", "mean": "mean", "variance": "var", "least": "min"})


def _each(expressions: Sequence[nw.Expr], asked: Mapping[str, str]) -> Aggregation:
    values = {}
    for j in range(len(expressions)):
        for name, method in asked.items():
            options = {"ddof": 0} if method == "var" else {}
            values[f"{name} {j}"] = getattr(nw.col(value(j)), method)(**options)
    return Aggregation(({value(j): each for j, each in enumerate(expressions)},), values)


def members_of(answer: Answer) -> Membership:
    """The groups of an answer as rows of their classes, weighted by how many rows each stands for if it says so."""
    labels = np.asarray(answer[CLASS])
    axis = ClassAxis.of(labels)
    weights = np.asarray(answer[ROWS], dtype=np.float64) if ROWS in answer else None
    return Membership(axis, codes=axis.positions(labels), weights=weights)


def by_class(answer: Answer, name: str, n: int, columns: Sequence[object]) -> tuple[ClassAxis, Float]:
    """What an answer says under a name of each class and each of n things (K, n); of no rows it is zero."""
    members = members_of(answer)
    assert members.codes is not None
    table = np.zeros((len(members.classes), n))
    for j in range(n):
        found = [0.0 if each is None else each for each in answer[f"{name} {j}"]]
        empty = [not count for count in answer[f"count {j}"]]
        table[members.codes, j] = np.where(empty, 0.0, found)
    bad = np.flatnonzero(~np.isfinite(table).all(axis=0))
    if len(bad):
        raise InputError(f"Column {columns[bad[0] % len(columns)]!r} holds values of which there is no {name}.")
    return members.classes, table


def check_least(answer: Answer, columns: Sequence[object], what: str, *, zero: bool) -> None:
    """Raise if the least value of a column is below zero, or is zero where it may not be."""
    for j, name in enumerate(columns):
        for least in answer[f"least {j}"]:
            if least is not None and (least < 0 or (least == 0 and not zero)):
                raise InputError(f"Column {name!r} holds {float(least):.6g}, but {what}.")
