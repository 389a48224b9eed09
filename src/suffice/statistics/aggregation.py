"""What a query engine would compute for a statistic: grouped aggregates, as narwhals expressions.

An `Aggregation` is one ``GROUP BY`` over the class and perhaps other columns. Its answer is small, whatever the
number of rows, and a statistic is read back from it. Discrete columns ask how often each value occurs, and are then
summarised as those few rows with their counts for weights; numbers ask for count, mean and variance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from suffice.statistics.classes import ClassAxis, Membership

__all__ = [
    "CLASS",
    "Aggregation",
    "Answer",
    "members_of",
    "moments_by_class",
    "number",
    "sums_by_class",
    "value_counts",
]

Float = NDArray[np.float64]
Answer = Mapping[str, Sequence[Any]]
"""The rows that a query gave, by column; ``CLASS`` is the class."""
CLASS = "class of the row"


@dataclass(frozen=True)
class Aggregation:
    """One grouped query.

    Parameters
    ----------
    by : tuple of str
        What rows are grouped by, beside the class.
    derived : dict
        Columns to compute first, row by row.
    values : dict
        What is asked of each group: a simple aggregate of a column, which every engine has.
    """

    by: tuple[str, ...]
    values: dict[str, nw.Expr]
    derived: dict[str, nw.Expr] = field(default_factory=dict)


def number(column: str) -> nw.Expr:
    """A column as float64, with NaN taken for missing."""
    x = nw.col(column).cast(nw.Float64)
    return nw.when(~x.is_nan()).then(x)


def value_counts(columns: Sequence[str]) -> Aggregation:
    """How often each combination of values occurs in each class."""
    return Aggregation(tuple(columns), {"weight": nw.len()})


def sums_by_class(expressions: Mapping[str, nw.Expr]) -> Aggregation:
    """How many values each expression has in each class, and their sum."""
    values = {}
    for name in expressions:
        values[f"count of {name}"] = nw.col(name).count()
        values[f"sum of {name}"] = nw.col(name).sum()
    return Aggregation((), values, dict(expressions))


def moments_by_class(expressions: Mapping[str, nw.Expr]) -> Aggregation:
    """How many values each expression has in each class, their mean, and their variance."""
    values = {}
    for name in expressions:
        values[f"count of {name}"] = nw.col(name).count()
        values[f"mean of {name}"] = nw.col(name).mean()
        values[f"variance of {name}"] = nw.col(name).var(ddof=0)
    return Aggregation((), values, dict(expressions))


def members_of(answer: Answer) -> Membership:
    """The groups of an answer as rows of their classes, weighted by how many rows each stands for if it says so."""
    labels = np.asarray(answer[CLASS])
    axis = ClassAxis.of(labels)
    weights = np.asarray(answer["weight"], dtype=np.float64) if "weight" in answer else None
    return Membership(axis, codes=axis.positions(labels), weights=weights)


def by_class(answer: Answer, names: Sequence[str]) -> tuple[ClassAxis, Float]:
    """Columns of an answer with one row for each class (K, len(names)); what is missing is zero."""
    members = members_of(answer)
    assert members.codes is not None
    table = np.zeros((len(members.classes), len(names)))
    for j, name in enumerate(names):
        values = [0.0 if value is None or value != value else value for value in answer[name]]
        table[members.codes, j] = values
    return members.classes, table
