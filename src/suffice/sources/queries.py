"""Running aggregations: each is one grouped query over a data frame, eager or lazy, in whatever engine holds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from suffice.statistics.aggregation import CLASS, Aggregation, Answer, number

__all__ = ["answers", "means"]


def answers(data: Any, target: str, aggregations: Sequence[Aggregation]) -> list[Answer]:
    """What the engine says to each aggregation, by classes of the column ``target``."""
    frame = nw.from_native(data)
    return [_answer(frame, target, each) for each in aggregations]


def _answer(frame: Any, target: str, aggregation: Aggregation) -> Answer:
    wanted = [
        nw.col(target).alias(CLASS),
        *(nw.col(name) for name in aggregation.by if name not in aggregation.derived),
    ]
    wanted += [expression.alias(name) for name, expression in aggregation.derived.items()]
    found = frame.select(*wanted).group_by(CLASS, *aggregation.by)
    found = found.agg(*(expression.alias(name) for name, expression in aggregation.values.items()))
    found = found.collect() if isinstance(found, nw.LazyFrame) else found
    return {name: found.get_column(name).to_list() for name in found.columns}


def means(data: Any, columns: Sequence[str]) -> list[float]:
    """The mean of each column over all rows: a point among the data, for sums of products about it."""
    frame = nw.from_native(data).select(*(number(name).alias(name) for name in columns))
    found = frame.select(*(nw.col(name).mean() for name in columns))
    found = found.collect() if isinstance(found, nw.LazyFrame) else found
    return [float(found.get_column(name).to_list()[0] or 0.0) for name in columns]
