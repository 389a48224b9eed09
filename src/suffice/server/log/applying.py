"""Apply changes to a fitted model: the same functions for changes that arrive and for those that the log repeats.

Reading a table takes longer than adding a row to the statistics. Rows of many changes are therefore read at one time,
and each change is applied to its rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from suffice.exceptions import ClassError, InputError, SufficeError, listed, without_warnings
from suffice.learning import fitting, updating
from suffice.learning.fitted import Fitted
from suffice.learning.labels import text_labels
from suffice.learning.training_rows import FEW_ROWS, Expected, LabelledRows, columns_by_position
from suffice.numerics.types import Array
from suffice.server.log.changes import Kind, prior_of_text
from suffice.server.rows.row_plans import frame_of
from suffice.sources.labels import encode
from suffice.sources.row_reader import RowLayout
from suffice.statistics import ClassAxis, Membership
from suffice.tables import MatrixTable, Table

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["applied", "check_known_classes", "check_remains", "refusal", "with_prior"]


@dataclass(frozen=True, eq=False)
class RowsRead(LabelledRows):
    """Rows that were read before; X is a `Table`."""

    layout: RowLayout | None = None

    def read(self, expected: Expected) -> tuple[Table, Membership, RowLayout]:
        """The rows, the class and weight of each, and the layout of the columns."""
        assert isinstance(self.X, Table)
        assert isinstance(self.y, np.ndarray)
        assert self.layout is not None
        texts = None if len(self.y) <= FEW_ROWS else text_labels(self.y)
        members = self._members(expected, self.y if texts is None else texts)
        if expected.check is not None:
            expected.check(len(members), members.classes, self.layout.n_columns)
        return self.X, members, self.layout


def applied(fitted: Fitted, kind: Kind, tables: Sequence[pa.Table], *, weighted: bool) -> Iterator[Fitted]:
    """Learn or unlearn tables of labelled rows with one schema: the fitted model after each of them.

    Parameters
    ----------
    fitted : Fitted
    kind : {"learn", "unlearn"}
    tables : sequence of pyarrow.Table
        From `suffice.server.log.changes.labelled_rows`.
    weighted : bool
        Whether the last column has weights.
    """
    import pyarrow as pa

    joined = pa.concat_tables(tables).combine_chunks()
    with without_warnings():
        table, labels = _read(fitted, joined, weighted=weighted)
    weights = joined.column(joined.num_columns - 1).to_numpy() if weighted else None
    stop = 0
    for each in tables:
        start, stop = stop, stop + each.num_rows
        whole = len(tables) == 1
        rows = RowsRead(
            table if whole else table.rows(start, stop),
            labels if whole else _alone(labels[start:stop]),
            None if weights is None else weights[start:stop],
            fitted.layout,
        )
        with without_warnings():
            if kind == "learn":
                fitted = fitting.update(fitted, fitted.specification, rows)
            else:
                fitted = updating.remove(fitted, rows)
        yield fitted


def with_prior(fitted: Fitted, prior: str) -> Fitted:
    """Change the prior to that of a JSON text."""
    with without_warnings():
        return updating.with_prior(fitted, prior_of_text(prior))


def _read(fitted: Fitted, joined: pa.Table, *, weighted: bool) -> tuple[Table, Array]:
    """The rows and their labels as the library reads them."""
    reader, layout = fitted.reader, fitted.layout
    rows = joined.select(range(joined.num_columns - 1 - weighted))
    named = layout.schema.named and layout.feature_names is None
    X = frame_of(rows, layout) if named else reader.from_arrow(rows)
    with columns_by_position(layout):
        table, labels, _ = reader.training(X, labels_of(fitted.classes, joined, weighted=weighted), layout, 1)
    return _by_row(table, rows.schema), labels


def _alone(labels: Array) -> Array:
    """Some of the labels, of the type that these need."""
    return labels if labels.dtype.kind in "mM" else np.array(labels.tolist())


def labels_of(known: ClassAxis, table: pa.Table, *, weighted: bool) -> Array:
    """The labels of labelled rows; points in time and durations have the precision of the classes if they fit."""
    import pyarrow as pa

    column = table.column(table.num_columns - 1 - weighted)
    if not pa.types.is_temporal(column.type):
        labels = np.array(column.to_pylist())
        of_time = known.labels.dtype.kind in "mM" and labels.dtype.kind == "i"  # nanoseconds
        return labels.astype(known.labels.dtype) if of_time else labels
    kind = "M8[D]" if pa.types.is_date(column.type) else "m8[us]" if pa.types.is_duration(column.type) else "M8[us]"
    labels = np.array(column.to_pylist(), dtype=kind)
    same = labels.astype(known.labels.dtype) if labels.dtype.kind == known.labels.dtype.kind else labels
    return same if np.array_equal(same, labels) else labels


def _by_row(table: Table, schema: pa.Schema) -> Table:
    """Columns of numbers as one matrix, row by row, to which single rows are added fastest; other tables unchanged."""
    import pyarrow as pa

    if isinstance(table, MatrixTable):
        return replace(table, x=np.ascontiguousarray(table.x)) if isinstance(table.x, np.ndarray) else table
    if not all(kind == "number" for kind in table.kinds) or not all(each == pa.float64() for each in schema.types):
        return table
    names = range(len(table.kinds)) if table.names is None else table.names
    return MatrixTable(np.ascontiguousarray(table.numbers(list(range(len(names))), names, copy=True)))


def check_known_classes(known: ClassAxis, table: pa.Table, *, weighted: bool) -> None:
    """Raise `ClassError` if a label of labelled rows is not among the known classes."""
    labels = labels_of(known, table, weighted=weighted)
    if labels.dtype.kind != "O" and len(labels) <= FEW_ROWS and known.known_positions(labels) is not None:
        return
    try:
        axis = encode(labels)[0]
    except (TypeError, ValueError):  # labels that are missing, or no labels, are refused when the rows are read
        return
    others = fitting.unknown_labels(known, axis)
    if others:
        position = {label: i for i, label in reversed(list(enumerate(labels.tolist())))}
        rows = sorted(position[label] for label in others)
        raise ClassError(
            f"Row {rows[0]} has the label {listed(others)}, which is not a class of the model. Its classes are "
            f"{listed(known.labels.tolist())}. A server that was started with new classes allowed learns it.",
            rows=rows,
        )


def check_remains(fitted: Fitted) -> None:
    """Raise `InputError` if a model from which rows were removed has no rows, or no parameters."""
    if not fitted.model.weights.weight.any():
        raise InputError("These are all the rows of the model. Nothing would remain, so nothing was unlearned.")
    try:
        with without_warnings():
            fitted.estimate  # noqa: B018 - is computed and kept for predictions
    except (SufficeError, ArithmeticError, ValueError) as error:
        raise InputError(
            f"Without these rows the model could not predict any more, so nothing was unlearned: {error}"
        ) from error


def refusal(kind: Kind, error: Exception) -> Exception:
    """The error of a change that cannot be applied, as a client gets it: a mistake in its values, or of the server."""
    if isinstance(error, SufficeError) or not isinstance(error, TypeError | ValueError | OverflowError):
        return error
    return InputError(f"The rows cannot be {kind}ed: {error}") if kind != "prior" else InputError(str(error))
