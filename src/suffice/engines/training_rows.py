"""Rows to learn from that a table of an engine holds, or any other rows that a user gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from suffice.engines.engine_rows import EngineRows
from suffice.exceptions import InputError
from suffice.learning import training_rows as learning
from suffice.learning.training_rows import LabelledSource, TrainingRows
from suffice.sources.engine_tables import EngineTable, PartitionedTable, check_names, engine_table
from suffice.sources.files import Source, open_source

__all__ = ["Pushdown", "labelled_table", "rows_of_table", "training_rows"]

Pushdown = bool | Literal["auto"]


def training_rows(X: object, y: object, sample_weight: object) -> TrainingRows:
    """The rows that a user gives: a table of an engine, a source of which ``y`` names the target, or rows in memory."""
    table = engine_table(X)
    if table is None:
        return learning.training_rows(X, y, sample_weight)
    return rows_of_table(*labelled_table(table, y, sample_weight))


def labelled_table(table: EngineTable, y: object, sample_weight: object) -> tuple[EngineTable, str, str | None]:
    """A table with labels and weights, and the names of their columns; a name stands for a column that it has."""
    if isinstance(y, str) and isinstance(sample_weight, str | None) and not table.positional:
        return table, y, sample_weight
    if isinstance(table, PartitionedTable):
        return table.with_labels(y, sample_weight)
    argument, given = ("y", y) if not isinstance(y, str) else ("sample_weight", sample_weight)
    raise InputError(
        f"The labels and weights of {table.described} are columns of it. Give their names, such as y='label', "
        f"or collect it first; got {type(given).__name__}.",
        argument=argument,
    )


def rows_of_table(
    table: EngineTable,
    target: str,
    weights: str | None,
    *,
    pushdown: Pushdown = "auto",
    progress: Callable[[Source], None] | None = None,
) -> LabelledSource:
    """Rows of a table of an engine.

    Parameters
    ----------
    table : EngineTable
    target : str
        The column of labels.
    weights : str, optional
        The column of row weights.
    pushdown : bool or "auto"
        Whether the engine computes aggregates. An engine in this process streams its rows instead, which is faster; an
        engine elsewhere computes aggregates if the model can be built from them.
    progress : callable, optional
        Called with the source after each batch of a stream.
    """
    check_pushdown(pushdown)
    check_names([name for name in (target, weights) if name is not None], table.names, table.described)
    streams = not isinstance(table, PartitionedTable)
    if streams and (pushdown is False or (pushdown == "auto" and not table.is_elsewhere)):
        rows = LabelledSource(open_source(table), target, weights, progress=progress)
        rows.how = f"The rows were streamed from {table.engine}."
        return rows
    return EngineRows(table, target, weights, pushdown=pushdown)


def check_pushdown(pushdown: object) -> None:
    """Raise `InputError` unless it says whether an engine computes aggregates."""
    if pushdown not in (True, False, "auto"):
        raise InputError(f"pushdown must be True, False or 'auto'; got {pushdown!r:.80}.", argument="pushdown")
