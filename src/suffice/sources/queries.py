"""Aggregations over a data frame, eager or lazy: each runs as one grouped query in the frame's own engine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import narwhals as nw

from suffice.sources.engine_types import NativeFrame
from suffice.statistics.aggregation import CLASS, Aggregation, Answer

__all__ = ["answers"]

Frame: TypeAlias = nw.DataFrame[NativeFrame] | nw.LazyFrame[NativeFrame]


def answers(data: NativeFrame, target: str, aggregations: Sequence[Aggregation]) -> list[Answer]:
    """Results of the aggregations, grouped by the classes in the column ``target``."""
    frame: Frame = nw.from_native(data)
    frame = frame.with_columns(nw.col(target).alias(CLASS))
    return [_answer(frame, aggregation) for aggregation in aggregations]


def _answer(frame: Frame, aggregation: Aggregation) -> Answer:
    for stage in aggregation.stages:
        frame = frame.with_columns(*(expression.alias(name) for name, expression in stage.items()))
    computed = dict.fromkeys(name for stage in aggregation.stages for name in stage)
    groups = frame.select(CLASS, *computed).group_by(CLASS, *aggregation.by)
    result = groups.agg(*(expression.alias(name) for name, expression in aggregation.values.items()))
    collected = result.collect() if isinstance(result, nw.LazyFrame) else result
    return {name: collected.get_column(name).to_list() for name in collected.columns}
