"""A model from aggregates that a query engine computes."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.engines.summary import Summary
from suffice.exceptions import InputError, SufficeError, at_start, counted
from suffice.learning.fitted import Fitted
from suffice.learning.labels import LabelReader
from suffice.learning.training_rows import LabelledBatch
from suffice.model import Block, Model
from suffice.numerics.types import Float
from suffice.sources.engine_tables import EngineTable
from suffice.sources.engine_types import ArrowTable
from suffice.sources.queries import MOST_CLASSES, MOST_PIVOTS, TOTAL, Query, position_names, totals
from suffice.statistics import ClassAxis, Membership, Sums
from suffice.statistics.aggregation import CLASS, ROWS, Answer

__all__ = ["is_short", "queried_model", "why_not_queried"]


def why_not_queried(prototype: Fitted, first: LabelledBatch, table: EngineTable, *, weighted: bool) -> str:
    """Why a query engine cannot compute the statistics of a model; empty if it can."""
    specification = prototype.specification
    if table.queried is None or first.arrow is None:
        return f"{table.engine} computes no aggregates of this table."
    if weighted and (specification.keeps_weightless_classes or specification.counts_weightless_rows):
        return f"{specification.estimator} counts rows of weight zero."
    if len(first.model.classes) > MOST_CLASSES:
        return f"the query for {counted(len(first.model.classes), 'class', 'classes')} would be too long."
    kinds = dict(zip(map(str, prototype.layout.names), prototype.layout.schema.kinds, strict=True))
    for block in prototype.blocks:
        names = list(map(str, block.names))
        try:
            block.family.aggregates(names)
        except SufficeError as error:
            return str(error)
        if len(names) * len(first.model.classes) > MOST_PIVOTS:
            return f"the query for {counted(len(names), 'column')} would be too long."
        for name in names:
            if kinds[name] not in ("number", "bool", "category", "text"):
                return f"column {name!r} holds {'no values in the first rows' if kinds[name] == 'empty' else 'times'}."
    return ""


def is_short(prototype: Fitted, table: EngineTable) -> bool:
    """Whether the query for the statistics of a model is so short that the engine is fast."""
    asked = [each for block in prototype.blocks for each in block.family.aggregates(list(map(str, block.names)))]
    sizes = [(len(each.values), "products" in each.measures) for each in asked]
    n_values = sum(n + n * (n + 1) // 2 if products else n for n, products in sizes)
    return table.most_values is None or n_values <= table.most_values


def queried_model(
    prototype: Fitted, columns: list[str], head: ArrowTable, table: EngineTable, target: str, weights: str | None
) -> Summary:
    """The summary of all rows, by aggregates that the engine computes; ``head`` has the first rows."""
    known = dict(zip(table.names, table.queried_names, strict=True))
    rows = Query.of(
        table.queried, [known[name] for name in columns], known[target], None if weights is None else known[weights]
    )
    some = Query.of(_with_doubles(head), columns, target, weights)
    position = dict(zip(columns, position_names(len(columns)), strict=True))
    answers = [
        rows.answers(block.family.aggregates([position[str(name)] for name in block.names]), some)
        for block in prototype.blocks
    ]
    groups = totals(answers[0][0]) if weights is None and answers else rows.classes()
    reader, weight = _classes(groups, head, target, weights)
    statistics = []
    for block, own in zip(prototype.blocks, answers, strict=True):
        for each in own:
            _check_same_rows(each, reader.axis, weight, table)
        statistics.append(_statistic(block, own).on(reader.axis))
    members = Membership(reader.axis, codes=np.arange(len(reader.axis)), weights=weight)
    model = Model(prototype.blocks, Sums.of_classes(members), tuple(statistics))
    return Summary(model, reader.axis, reader.counts, prototype.layout)


def _statistic(block: Block, answers: list[Answer]) -> Any:
    """The statistic of a block; an error names no row, because the rows of an answer are groups."""
    try:
        return block.family.from_aggregates(answers, list(map(str, block.names)))
    except InputError as error:
        if error.problem is None:
            raise
        raise InputError(f"Column {error.column!r} ", *error.problem, column=error.column) from error


def _with_doubles(rows: ArrowTable) -> ArrowTable:
    """The rows with integers as doubles, which need not be exact: they say where the means are."""
    import pyarrow as pa

    fields = [field.with_type(pa.float64()) if pa.types.is_integer(field.type) else field for field in rows.schema]
    return rows.cast(pa.schema(fields), safe=False)


def _check_same_rows(answer: Answer, axis: ClassAxis, weight: Float, table: EngineTable) -> None:
    """Raise `InputError` if a query has read other rows than the query for the classes."""
    positions = axis.positions(np.array(answer[CLASS]))
    found = np.zeros(len(axis))
    known = positions >= 0
    np.add.at(found, positions[known], np.array(answer[TOTAL], dtype=np.float64)[known])
    if not known.all() or not np.allclose(found, weight, rtol=1e-9, atol=0):
        raise InputError(
            f"{at_start(table.described)} has other rows each time it is computed. Keep its rows "
            "first, for example in a table.",
            page="docs/engines.md",
        )


def _classes(answer: Answer, head: ArrowTable, target: str, weights: str | None) -> tuple[LabelReader, Float]:
    """The classes with their numbers of rows, and their weights (K,)."""
    import pyarrow as pa

    rows = np.asarray(answer["rows"], dtype=np.int64)
    if weights is not None and sum(answer["valid"]) < rows.sum():
        bad = int(rows.sum()) - sum(answer["valid"])
        raise InputError(
            f"Column {weights!r} is missing, negative or infinite in {counted(bad, 'row')}. A weight is a finite "
            "number of at least 0.",
            column=weights,
        )
    kind = head.schema.field(target).type
    kind = kind.value_type if pa.types.is_dictionary(kind) else kind
    labels = pa.array(answer[CLASS], kind)
    if pa.types.is_decimal(kind):
        labels = labels.cast(pa.float64())  # as rows are read
    reader = LabelReader(target)
    codes, missing = reader.read(pa.chunked_array([labels]))
    if missing is not None:
        raise InputError(
            f"Column {target!r} has no label in {counted(int(rows[missing].sum()), 'row')}. Leave these rows out.",
            column=target,
        )
    reader.counts[codes] = rows
    weight = np.zeros(len(reader.axis))
    weight[codes] = answer[ROWS]
    return reader, weight
