"""Rows and labels of a window: in memory, or a source that is read batch by batch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from suffice.exceptions import InputError
from suffice.learning.fitted import Fitted
from suffice.learning.good_rows import of_good_rows, weights_of
from suffice.learning.training_rows import read_as_known
from suffice.monitoring.summarizing import Labels
from suffice.numerics.types import Array, Float
from suffice.sources.arrays import plain_rows
from suffice.sources.engine_tables import PartitionedTable, engine_table
from suffice.sources.engine_types import ArrowTable
from suffice.sources.files import is_source, open_source
from suffice.sources.labels import check_label_count, plain_labels, read_weights
from suffice.tables import Table
from suffice.tables.levels import is_missing

__all__ = ["ReadRows", "read_batches"]


class ReadRows(NamedTuple):
    """Rows of a window as a table, with labels and weights if they have any."""

    table: Table
    labels: Labels | None
    weights: Float | None


def read_batches(fitted: Fitted, X: object, y: object, sample_weight: object) -> Iterator[ReadRows]:
    """The rows of a window, batch by batch; rows in memory are one batch.

    Parameters
    ----------
    X : array-like of shape (n, d), or a table as the model reads it, or a source, or the path of a file
    y : array-like of shape (n,), or str, optional
        Labels, or the column of a source with the labels; a label may be missing.
    sample_weight : array-like of shape (n,), or str, optional
    """
    engine = engine_table(X)
    if isinstance(engine, PartitionedTable):
        raise InputError(
            f"A window has no rows of {engine.described}, which are elsewhere. Collect them, or write them to files.",
            argument="X",
        )
    in_memory = hasattr(X, "shape") or not is_source(X)
    if engine is not None or isinstance(y, str) or not in_memory:
        yield from _of_source(fitted, X if engine is None else engine, y, sample_weight)
        return
    if getattr(X, "shape", (1,))[0] == 0:
        return
    table = X if isinstance(X, Table) else fitted.reader.rows(plain_rows(X), fitted.layout)
    weights = read_weights(sample_weight, len(table), may_be_zero=True)
    yield ReadRows(table, None if y is None else labels_of(fitted, y, len(table)), weights)


def _of_source(fitted: Fitted, X: object, y: object, sample_weight: object) -> Iterator[ReadRows]:
    source = open_source(X)
    for argument, column in (("y", y), ("sample_weight", sample_weight)):
        if column is not None and not isinstance(column, str):
            raise InputError(
                f"{argument} is the name of a column if X is a source; got {type(column).__name__}.", argument=argument
            )
    target, own = (None if each is None else str(each) for each in (y, sample_weight))
    for column in (target, own):
        if column is not None:
            source.check_column(column)
    if own is not None:
        source.read_numbers([own])
    reader, layout = fitted.reader, fitted.layout
    besides = list(dict.fromkeys([target, own, *([fitted.target] if target is None else [])]))
    columns = reader.prediction_columns(source, besides, (), layout, fitted.optional_columns)
    read_as_known(source, columns, reader, layout)
    found: list[ReadRows] = []

    def add(rows: ArrowTable) -> None:
        known = reader.with_absent_columns(rows, columns, layout)
        table = reader.rows(reader.from_arrow(known), layout)
        labels = None if target is None else labels_of(fitted, rows[target].to_pylist(), rows.num_rows)
        found.append(ReadRows(table, labels, None if own is None else weights_of(rows, own)))

    wanted = [each for each in dict.fromkeys([*columns, target, own]) if each is not None]
    for batch in source.batches(wanted):
        of_good_rows(batch, source.skip_or_raise, add)
        yield from found
        found.clear()


def labels_of(fitted: Fitted, y: object, n_rows: int) -> Labels | None:
    """Labels as positions among the classes, −1 for others and for missing labels; None if all are missing."""
    values: Array = np.asarray(plain_labels(y))
    if values.ndim == 2 and values.shape[1] == 1:
        values = values.ravel()
    if values.ndim != 1:
        raise InputError(f"y must be one-dimensional; got the shape {values.shape}.", argument="y")
    check_label_count(n_rows, len(values))
    labels = fitted.classes.labels
    if values.dtype.kind == labels.dtype.kind and values.dtype.kind in "iubU":
        return Labels(fitted.classes.positions(values), values)
    classes = labels.tolist()
    place: dict[object, int] = {str(label): k for k, label in enumerate(classes)}
    place |= {label: k for k, label in enumerate(classes)}
    distinct: dict[object, int] = {}
    codes = np.empty(len(values), dtype=np.int64)
    for i, value in enumerate(values.tolist()):
        if value not in distinct:
            distinct[value] = -2 if is_missing(value) else place.get(value, place.get(str(value), -1))
        codes[i] = distinct[value]
    if (codes == -2).all():
        return None
    return Labels(codes, values)
