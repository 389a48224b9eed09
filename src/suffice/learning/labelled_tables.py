"""Labelled rows that a fitted model is shown with or tested on: arrays and frames, or a source in batches."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace

import numpy as np

from suffice.exceptions import ClassError, InputError, counted, listed
from suffice.learning.fitted import Fitted
from suffice.learning.kept_rows import KeptRows
from suffice.learning.prediction import joint
from suffice.learning.training_rows import (
    Expected,
    LabelledRows,
    LabelledSource,
    columns_by_position,
    summarize_batch,
    training_rows,
)
from suffice.model import Model
from suffice.numerics.types import Codes
from suffice.sources.row_reader import RowLayout
from suffice.statistics import ClassAxis, Membership
from suffice.tables import Table

__all__ = ["LabelledTable", "are_training_rows", "read_labelled"]

COMPARED = 64  # rows whose scores tell whether two models are the same
SAME = 1e-7  # relative difference of scores


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """Rows with their classes on the axis of a model; code −1 for a label that is not a class.

    Attributes
    ----------
    table : Table
    members : Membership
    n_rows : int
        Rows that were read; a source keeps a sample of many.
    unknown : tuple
        Labels that are not classes of the model.
    notes : tuple of str
        What was limited.
    """

    table: Table
    members: Membership
    n_rows: int
    unknown: tuple[object, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class _RowsOnly(Expected):
    """Rows are read as for learning, and not summarised."""

    def summarize(self, table: Table, members: Membership, layout: RowLayout) -> Model:
        """The model of no rows."""
        return Model.zero(self.blocks(layout), members.classes)


def read_labelled(fitted: Fitted, X: object, y: object, sample_weight: object = None) -> LabelledTable:
    """Read rows, labels and weights with the columns of a fitted model.

    Parameters
    ----------
    X : array-like of shape (n, d), or a source
    y : array-like of shape (n,), or str
        Labels, or the name of the target column of a source.
    sample_weight : array-like of shape (n,), or str, optional
    """
    rows = training_rows(X, y, sample_weight)
    expected = _RowsOnly(fitted.specification, fitted=replace(fitted, target=None))
    notes: list[str] = []
    if isinstance(rows, LabelledRows):
        table, members, _ = rows.read(expected)
        n_rows = len(members)
    else:
        assert isinstance(rows, LabelledSource)
        table, members, n_rows, notes = _source_rows(fitted, rows, expected)
    if not len(members):
        raise InputError("X has no rows.", argument="X")
    members, unknown = _on_classes(members, fitted.classes)
    return LabelledTable(table, members, n_rows, tuple(unknown), tuple(notes))


def are_training_rows(fitted: Fitted, table: Table, members: Membership) -> bool:
    """Whether these are the rows that the model has learned: both have the same statistics, hence the same scores."""
    if fitted.without_rows or not np.allclose(members.class_weights(), fitted.model.weights.weight, rtol=1e-9):
        return False
    some = table.take(np.unique(np.linspace(0, len(table) - 1, COMPARED).astype(np.intp)))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = summarize_batch(fitted.reader, fitted.blocks, fitted.layout, table, members)
            mine, theirs = joint(fitted, some), joint(fitted.with_model(model.on(fitted.classes)), some)
        except ValueError:  # rows without which there would be no model
            return False
    finite = np.isfinite(mine)
    return np.array_equal(finite, np.isfinite(theirs)) and np.allclose(mine[finite], theirs[finite], SAME, SAME)


def _source_rows(fitted: Fitted, rows: LabelledSource, expected: Expected) -> tuple[Table, Membership, int, list[str]]:
    """A uniform sample of the rows of a source, and how many there were."""
    rows.keep = KeptRows()
    for _ in rows.batches(expected):
        pass
    if not rows.n_rows:
        raise InputError(f"{rows.name} has no rows.", file=_file(rows))
    kept, members = rows.keep.rows(rows.labels.axis)
    reader = fitted.reader
    with columns_by_position(fitted.layout):
        table, _, _ = reader.training(reader.from_arrow(kept), np.asarray(members.codes), fitted.layout, 0)
    notes = []
    if len(members) < rows.n_rows:
        notes.append(f"A random sample of {counted(len(members), 'row')} of {rows.n_rows:,} was used.")
    if rows.source.skipped:
        notes.append(f"{counted(rows.source.skipped, 'bad row')} of {rows.name} were skipped.")
    return table, members, rows.n_rows, notes


def _file(rows: LabelledSource) -> str | None:
    return rows.source.name if isinstance(rows.source.name, str | os.PathLike) else None


def _on_classes(members: Membership, classes: ClassAxis) -> tuple[Membership, list[object]]:
    """The membership on the axis of the model, and the labels that are not on it."""
    if members.classes is classes:
        return members, []
    assert members.codes is not None
    position = np.append(_positions(classes, members.classes), -1)
    used = np.unique(members.codes[members.codes >= 0])
    unknown = members.classes.labels[used[position[used] < 0]].tolist()
    if unknown and len(unknown) == len(used):
        raise ClassError(
            f"No label is a class of the model: y holds {listed(unknown)}; the classes are "
            f"{listed(classes.labels.tolist())}.",
            argument="y",
        )
    return Membership(classes, codes=position[members.codes], weights=members.weights), unknown


def _positions(classes: ClassAxis, found: ClassAxis) -> Codes:
    """Positions of labels among the classes of a model; −1 for others.

    A label also matches a class that is spelled the same, since a file may be read as numbers where the model has
    strings.
    """
    place: dict[object, int] = {label: k for k, label in enumerate(classes.labels.tolist())}
    by_spelling = {str(label): k for label, k in place.items()}
    labels = found.labels.tolist()
    return np.array([place.get(label, by_spelling.get(str(label), -1)) for label in labels], dtype=np.int64)
