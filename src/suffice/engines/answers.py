"""Predictions for tables of engines: arrays for rows that come into this process, lazy tables for those elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np

from suffice.engines.answer_columns import PREFIX, answer_schema, opened
from suffice.engines.worker import SentModel, answer_partition
from suffice.exceptions import InputError, at_start, listed, short
from suffice.learning.fitted import Fitted
from suffice.numerics.types import Array
from suffice.sources.engine_tables import Answers, EngineTable, PartitionedTable, engine_table
from suffice.sources.engine_types import ArrowTable
from suffice.sources.files import Source
from suffice.sources.row_reader import check_columns, stand_in
from suffice.tables import Table

__all__ = ["answer_table", "check_scored_rows", "rows_to_predict"]


def answer_table(
    fitted: Fitted, X: object, method: str, answer: Callable[[Table], Array] | None = None, **options: object
) -> Any:
    """The answer to a prediction method for a table of an engine or a source; None if X is something else.

    If the rows are elsewhere, it is a lazy table of the engine, which has the columns of the answer beside its own.
    Otherwise it is an array, from ``answer`` for batches of rows; without this function, None.
    """
    table = _table_or_source(X)
    if table is None:
        return None
    if isinstance(table, PartitionedTable):
        return _mapped(fitted, table, method, options)
    if answer is None:
        return None
    parts = [answer(_table(fitted, rows)) for rows in _batches(fitted, table)]
    return np.concatenate(parts) if parts else answer(rows_to_predict(fitted, X))


def _mapped(fitted: Fitted, table: PartitionedTable, method: str, options: dict[str, object]) -> Any:
    for compared in (options.get("label"), options.get("against")):
        if compared is not None:
            fitted.classes.position(compared)  # an error here, and not when the table is computed
    schema, known = answer_schema(fitted, method), fitted.layout.feature_names
    if table.keeps_columns:
        clashes = [name for name in schema.names if name in table.names]
        if clashes:
            raise InputError(
                f"{at_start(table.described)} has {listed(clashes)} already, a column of the answer. Rename it.",
                column=clashes[0],
            )
    elif table.positional:
        of_columns = np.empty((1, len(table.names)))
        check_columns(stand_in(fitted.specification.estimator, fitted.layout), of_columns, first=False)
    columns = [name for name in table.names if known is None or name in known] or table.names
    if not table.positional:
        import pyarrow as pa

        opened(fitted, pa.table({name: pa.nulls(0) for name in table.names}))  # missing columns are an error here
    if not (table.keeps_columns or table.positional):
        table = table.select(columns)
    evaluate = partial(
        answer_partition, model=SentModel.of(fitted), method=method, options=options, positional=table.positional
    )
    return table.mapped(Answers(evaluate, schema, fitted.classes.labels, method in PREFIX, columns))


def rows_to_predict(fitted: Fitted, X: object) -> Table:
    """Rows to predict for as a table in this process: those of an engine or a source, or any other rows."""
    table = _table_or_source(X)
    if table is None:
        return fitted.reader.rows(X, fitted.layout)
    if isinstance(table, PartitionedTable):
        raise InputError(
            f"This method has no answer for {table.described}. predict, predict_proba, predict_log_proba, "
            "predict_joint_log_proba, score_samples and explain have one; for other methods, collect some of its rows.",
            page="docs/engines.md",
        )
    import pyarrow as pa

    rows = list(_batches(fitted, table))
    return _table(fitted, pa.concat_tables(rows).combine_chunks() if rows else opened(fitted, table).no_rows())


def check_scored_rows(X: object, y: object) -> None:
    """Raise `InputError` if the labels of rows cannot be compared with predictions in this process."""
    table = engine_table(X)
    report = "read the scores of held-out rows in the report of suffice.fit"
    if isinstance(table, PartitionedTable) and table.keeps_columns:
        raise InputError(
            f"score compares arrays in this process, but the predictions for {table.described} stay with its rows. "
            f"Call predict and compare the columns of its result, or {report}.",
            argument="X",
            page="docs/engines.md",
        )
    if isinstance(y, str):
        raise InputError(
            f"score needs an array or a list with the label of each row; got the name {short(y)}. Read this column, "
            f"or {report}.",
            argument="y",
            page="docs/engines.md",
        )


def _table_or_source(X: object) -> EngineTable | Source | None:
    return X if isinstance(X, Source) else engine_table(X)


def _batches(fitted: Fitted, table: EngineTable | Source) -> Iterator[ArrowTable]:
    """The columns that the model reads, batch by batch."""
    yield from opened(fitted, table).batches()


def _table(fitted: Fitted, rows: ArrowTable) -> Table:
    return fitted.reader.rows(fitted.reader.from_arrow(rows), fitted.layout)
