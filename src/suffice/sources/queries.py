"""Running aggregations: each is one grouped query over a data frame, eager or lazy, in whatever engine holds it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw

from suffice.statistics.aggregation import CLASS, Aggregation, Answer

__all__ = ["answers"]


def answers(data: Any, target: str, aggregations: Sequence[Aggregation]) -> list[Answer]:
    """What the engine says to each aggregation, by classes of the column ``target``."""
    frame = nw.from_native(data).with_columns(nw.col(target).alias(CLASS))
    return [_answer(frame, each) for each in aggregations]


def _answer(frame: Any, aggregation: Aggregation) -> Answer:
    for stage in aggregation.stages:
        frame = frame.with_columns(*(expression.alias(name) for name, expression in stage.items()))
    computed = dict.fromkeys(name for stage in aggregation.stages for name in stage)
    found = frame.select(CLASS, *computed).group_by(CLASS, *aggregation.by)
    found = found.agg(*(expression.alias(name) for name, expression in aggregation.values.items()))
    found = found.collect() if isinstance(found, nw.LazyFrame) else found
    return {name: found.get_column(name).to_list() for name in found.columns}
