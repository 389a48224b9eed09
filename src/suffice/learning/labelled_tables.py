"""Rows for plots, reports and tests of a fitted model: arrays and frames, or a source in batches."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from suffice.exceptions import ClassError, InputError, counted, listed
from suffice.learning.fitted import Fitted
from suffice.learning.good_rows import of_good_rows, weights_of
from suffice.learning.kept_rows import KeptRows
from suffice.learning.prediction import joint
from suffice.learning.training_rows import (
    Expected,
    LabelledBatch,
    LabelledRows,
    LabelledSource,
    TrainingRows,
    read_as_known,
    summarize_batch,
    table_of_kept,
    training_rows,
)
from suffice.model import Model
from suffice.model.merge_tree import MergeTree
from suffice.numerics.types import Codes, Float
from suffice.sources.engine_types import ArrowTable
from suffice.sources.files import Source, open_source
from suffice.sources.row_reader import RowLayout
from suffice.statistics import ClassAxis, Membership
from suffice.statistics.classes import evenly_spaced, present_rows
from suffice.tables import Table

__all__ = ["LabelledTable", "UnlabelledTable", "are_training_rows", "read_labelled", "read_unlabelled"]

COMPARED = 64  # rows whose scores tell whether two models are the same
SAME = 1e-7  # relative difference of scores


@dataclass(frozen=True, eq=False)
class LabelledTable:
    """Rows with their labels.

    Attributes
    ----------
    table : Table
    codes : array of int of shape (n,)
        The class of each row, as a position among the classes of the model and, beyond them, among ``unknown``.
    weights : array of shape (n,), or None
    classes : ClassAxis
        The classes of the model.
    n_rows : int
        Number of rows, of which ``table`` has a sample if it has fewer. Rows of weight zero are left out.
    unknown : tuple
        Labels that are not classes of the model.
    name : str
        Name of the source; empty for rows in memory.
    skipped : int
        Bad rows of the source that were skipped.
    model : Model, optional
        Statistics of all rows of a source, on the classes of the model.
    absent : tuple of str
        Columns that the source lacks; their cells are missing.
    """

    table: Table
    codes: Codes
    weights: Float | None
    classes: ClassAxis
    n_rows: int
    unknown: tuple[object, ...] = ()
    name: str = ""
    skipped: int = 0
    model: Model | None = None
    absent: tuple[str, ...] = ()

    @property
    def members(self) -> Membership:
        """The class of each row on the axis of the model, −1 for an unknown label; and its weight."""
        codes = np.where(self.codes < len(self.classes), self.codes, -1) if self.unknown else self.codes
        return Membership(self.classes, codes=codes, weights=self.weights)

    @property
    def notes(self) -> tuple[str, ...]:
        """Sentences about limits that were applied, such as a sample."""
        notes = []
        if len(self.codes) < self.n_rows:
            notes.append(f"A random sample of {counted(len(self.codes), 'row')} of {self.n_rows:,} was used.")
        if self.skipped:
            verb = "was" if self.skipped == 1 else "were"
            notes.append(f"{counted(self.skipped, 'bad row')} of {self.name} {verb} skipped.")
        return tuple(notes)


@dataclass(frozen=True, eq=False)
class _RowsOnly(Expected):
    """Rows are read as for learning, and not summarised.

    If ``scored``, the model must be able to score each row. If ``lenient``, a source may lack columns.
    """

    scored: bool = False
    lenient: bool = False

    def columns(self, source: Source, others: Sequence[str]) -> list[str]:
        """The columns of a source to read; ``others`` are all but the target and the weights."""
        if not self.lenient or self.fitted is None:
            return super().columns(source, others)
        besides = [name for name in source.names if name not in others]
        fitted = self.fitted
        return fitted.reader.prediction_columns(source, besides, (), fitted.layout, fitted.optional_columns)

    def rows(self, rows: ArrowTable, columns: Sequence[str]) -> ArrowTable:
        """These columns of a batch, and missing cells in columns that the source lacks."""
        if not self.lenient or self.fitted is None:
            return super().rows(rows, columns)
        return self.fitted.reader.with_absent_columns(rows, columns, self.fitted.layout)

    def summarize(self, table: Table, members: Membership, layout: RowLayout) -> Model:
        """The model of no rows."""
        if self.scored:
            assert self.fitted is not None
            joint(self.fitted, table)
        return Model.zero(self.blocks(layout), members.classes)


def read_labelled(
    fitted: Fitted,
    X: object,
    y: object,
    sample_weight: object = None,
    *,
    scored: bool = False,
    lenient: bool = False,
) -> LabelledTable:
    """Read rows, labels and weights with the columns of a fitted model.

    Parameters
    ----------
    X : array-like of shape (n, d), or a source
    y : array-like of shape (n,), or str
        Labels, or the name of the target column of a source.
    sample_weight : array-like of shape (n,), or str, optional
    scored : bool
        Whether the rows are to be scored by the model. Then a row of a source that the model cannot score is an error
        with its place, or is skipped; and of a sample the statistics of all rows are kept for `are_training_rows`.
    lenient : bool
        Whether a source may lack columns whose cells may be missing.
    """
    rows = training_rows(X, y, sample_weight)
    expected = _RowsOnly(fitted.specification, fitted=replace(fitted, target=None), scored=scored, lenient=lenient)
    if isinstance(rows, LabelledRows):
        table, members, _ = rows.read(expected)
        is_sample, n_rows, name, skipped, model = False, 0, "", 0, None
    else:
        assert isinstance(rows, LabelledSource)
        table, members, model = _source_rows(fitted, rows, expected)
        n_rows, name, skipped = rows.n_rows, rows.source.name, rows.source.skipped
        is_sample = len(members) < n_rows
    if not len(members):
        raise InputError("X has no rows.", argument="X")
    if members.weights is not None and not members.weights.any():
        raise InputError("The rows have no weight above zero.", argument="sample_weight")
    table, members = _present(fitted, table, members)
    codes, unknown = _codes(members, fitted.classes)
    if (codes >= len(fitted.classes)).all():
        raise ClassError(
            f"No label is a class of the model: y holds {listed(unknown)}; the classes are "
            f"{listed(fitted.classes.labels.tolist())}.",
            argument="y",
        )
    n_rows = n_rows if is_sample else len(codes)
    absent = _absent(fitted, rows, expected)
    return LabelledTable(table, codes, members.weights, fitted.classes, n_rows, unknown, name, skipped, model, absent)


class UnlabelledTable(NamedTuple):
    """Rows without labels and their weights, a sample if ``n_rows`` are more; the name and skipped rows of a source."""

    table: Table
    weights: Float | None
    n_rows: int
    name: str
    skipped: int


def read_unlabelled(fitted: Fitted, X: object, sample_weight: object = None) -> UnlabelledTable:
    """Read rows of a source that the model can score, without labels; a uniform sample of many.

    Parameters
    ----------
    X : a source
    sample_weight : str, optional
        The column of row weights.
    """
    source, weights = open_source(X), None if sample_weight is None else str(sample_weight)
    if weights is not None:
        source.check_column(weights)
        source.read_numbers([weights])
    reader, layout = fitted.reader, fitted.layout
    columns = reader.prediction_columns(source, [weights], (), layout, fitted.optional_columns)
    read_as_known(source, columns, reader, layout)
    kept, axis = KeptRows(), ClassAxis.of([0])

    def add(rows: ArrowTable) -> None:
        known = reader.with_absent_columns(rows, columns, layout)
        joint(fitted, reader.rows(reader.from_arrow(known), layout))  # a row that cannot be scored is a bad row
        own = None if weights is None else weights_of(rows, weights)
        kept.add(known, Membership(axis, codes=np.zeros(rows.num_rows, np.int64), weights=own))

    for batch in source.batches(list(dict.fromkeys([*columns, *([] if weights is None else [weights])]))):
        of_good_rows(batch, source.skip_or_raise, add)
    if not kept.n_seen:
        raise InputError(f"{source.name or 'The source'} has no rows.")
    rows, members = kept.rows(axis)
    table = reader.rows(reader.from_arrow(rows), layout)
    return UnlabelledTable(table, members.weights, kept.n_seen, source.name, source.skipped)


def _absent(fitted: Fitted, rows: TrainingRows, expected: _RowsOnly) -> tuple[str, ...]:
    """The columns of the model that a source lacks."""
    if not (expected.lenient and isinstance(rows, LabelledSource)):
        return ()
    others = [name for name in rows.source.names if name not in (rows.target, rows.weights)]
    return tuple(fitted.reader.absent_columns(expected.columns(rows.source, others), fitted.layout))


def are_training_rows(fitted: Fitted, read: LabelledTable) -> bool:
    """Whether these are the rows that the model has learned: both have the same statistics, hence the same scores."""
    if fitted.without_rows or read.unknown:
        return False
    model = _statistics(fitted, read.table, read.members) if read.model is None else read.model
    if model is None or not np.allclose(model.weights.weight, fitted.model.weights.weight, rtol=1e-9):
        return False
    some = read.table.take(evenly_spaced(np.arange(len(read.table)), COMPARED))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            mine, theirs = joint(fitted, some), joint(fitted.with_model(model), some)
        except ValueError:  # statistics that have no estimate
            return False
    finite = np.isfinite(mine)
    return np.array_equal(finite, np.isfinite(theirs)) and np.allclose(mine[finite], theirs[finite], SAME, SAME)


def _statistics(fitted: Fitted, table: Table, members: Membership) -> Model | None:
    """Statistics of rows in the blocks of a model; None if the model could not have learned them."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return summarize_batch(fitted.reader, fitted.blocks, fitted.layout, table, members)
        except ValueError:
            return None


def _source_rows(fitted: Fitted, rows: LabelledSource, expected: _RowsOnly) -> tuple[Table, Membership, Model | None]:
    """A uniform sample of the rows of a source, and the statistics of all rows if the model can have learned them."""
    rows.keep = KeptRows()
    tree: MergeTree[Model] = MergeTree(Model.merge)
    learnable = expected.scored and not fitted.without_rows
    for batch in rows.batches(expected):
        if learnable:
            model = _batch_statistics(fitted, batch)
            learnable = model is not None
            if model is not None:
                tree.add(model)
    if not rows.n_rows:
        raise InputError(f"{rows.name} has no rows.", file=_file(rows))
    kept, members = rows.keep.rows(rows.labels.axis)
    return table_of_kept(fitted, kept, members), members, tree.total() if learnable else None


def _batch_statistics(fitted: Fitted, batch: LabelledBatch) -> Model | None:
    """Statistics of a batch on the classes of the model; None if the model could not have learned it."""
    table, members = _present(fitted, batch.table, batch.members)
    codes, unknown = _codes(members, fitted.classes)
    if unknown:
        return None
    return _statistics(fitted, table, Membership(fitted.classes, codes=codes, weights=members.weights))


def _present(fitted: Fitted, table: Table, members: Membership) -> tuple[Table, Membership]:
    """The rows that have a weight; all rows if the model counts those of weight zero, but not those without a class."""
    assert members.codes is not None
    weights = None if fitted.specification.counts_weightless_rows else members.weights
    here = present_rows(members.codes, weights)
    if here is None:
        return table, members
    return table.take(np.flatnonzero(here)), members.take(np.flatnonzero(here))


def _file(rows: LabelledSource) -> str | None:
    return rows.source.name if isinstance(rows.source.name, str | os.PathLike) else None


def _codes(members: Membership, classes: ClassAxis) -> tuple[Codes, tuple[object, ...]]:
    """Codes of rows among the classes of the model and, beyond them, other labels; and the other labels."""
    codes = members.codes
    assert codes is not None
    if members.classes is classes:
        return codes, ()
    position, used = _positions(classes, members.classes), np.unique(codes)
    others = used[position[used] < 0]
    position[others] = len(classes) + np.arange(len(others))
    return position[codes], tuple(members.classes.labels[others].tolist())


def _positions(classes: ClassAxis, found: ClassAxis) -> Codes:
    """Positions of labels among the classes of a model; −1 for others.

    A label also matches a class that is spelled the same, since a file may be read as numbers where the model has
    strings.
    """
    place: dict[object, int] = {label: k for k, label in enumerate(classes.labels.tolist())}
    by_spelling = {str(label): k for label, k in place.items()}
    labels = found.labels.tolist()
    return np.array([place.get(label, by_spelling.get(str(label), -1)) for label in labels], dtype=np.int64)
