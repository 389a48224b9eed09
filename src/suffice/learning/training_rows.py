"""Labelled rows to learn from: in memory, which is one batch, or a source that is read batch by batch.

Each batch becomes a `Model`; `suffice.learning.fitting` merges the models in a tree.
"""

from __future__ import annotations

import glob
import os
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from suffice.exceptions import InputError, short
from suffice.learning.fitted import Fitted
from suffice.learning.good_rows import of_good_rows, weights_of
from suffice.learning.kept_rows import KeptRows
from suffice.learning.labels import MAIL_LABELS, LabelReader, check_labels, labels_of_mails, text_labels
from suffice.learning.specification import Specification
from suffice.model import Block, Model
from suffice.model.alignment import same_layout
from suffice.numerics.types import Array, Codes
from suffice.sources.arrays import plain_rows
from suffice.sources.engine_types import ArrowTable
from suffice.sources.files import Batch, Source, is_labelled_source, open_source
from suffice.sources.files.paths import find_paths
from suffice.sources.labels import encode, plain_labels, read_weights
from suffice.sources.row_reader import RowLayout, RowReader
from suffice.statistics import ClassAxis, Membership
from suffice.tables import Table
from suffice.tables.table import is_sparse

__all__ = [
    "Expected",
    "LabelledBatch",
    "LabelledRows",
    "LabelledSource",
    "TrainingRows",
    "check_paths",
    "read_as_known",
    "seen_classes",
    "summarize_batch",
    "table_of_kept",
    "training_rows",
]


FEW_ROWS = 256  # whose labels are looked up one by one


@dataclass(frozen=True, eq=False)
class Expected:
    """Facts that are known before the first row is read.

    Attributes
    ----------
    specification : Specification
    fitted : Fitted, optional
        What was learned before, with this specification; its columns are expected.
    classes : ClassAxis, optional
        Classes that are known before the first row.
    fixed : bool
        Whether no other classes may come.
    min_rows : int
        Rows that must be there at least.
    removes : bool
        Whether the rows are to be removed.
    all_rows : bool
        Whether the first batch has all rows of a fit.
    first : tuple of Block, optional
        Blocks with what the first batch has fixed, if nothing was learned before it.
    check : callable, optional
        Takes the number of rows, their classes and the number of columns; raises before anything is summarised if all
        rows are there at once.
    """

    specification: Specification
    fitted: Fitted | None = None
    classes: ClassAxis | None = None
    fixed: bool = False
    min_rows: int = 0
    removes: bool = False
    all_rows: bool = False
    first: tuple[Block, ...] | None = None
    check: Callable[[int, ClassAxis, int], None] | None = None

    @property
    def layout(self) -> RowLayout | None:
        """Columns that are expected."""
        return None if self.fitted is None else self.fitted.layout

    def blocks(self, layout: RowLayout) -> tuple[Block, ...]:
        """The blocks of a batch."""
        if self.fitted is not None:
            return self.fitted.blocks
        blocks = self.specification.blocks_of(layout.schema)
        return self.first if self.first is not None and same_layout(self.first, blocks) else blocks

    def columns(self, source: Source, others: Sequence[str]) -> list[str]:
        """The columns of a source to read; ``others`` are all but the target and the weights."""
        return self.specification.reader.source_columns(source, list(others), self.layout)

    def rows(self, rows: ArrowTable, columns: Sequence[str]) -> ArrowTable:
        """These columns of a batch, in the order that the model expects."""
        return rows.select(list(columns))

    def chosen_layout(self, table: Table, members: Membership, layout: RowLayout) -> RowLayout:
        """The layout of the first batch with the families that its rows choose; a known layout is unchanged."""
        if self.fitted is not None:
            return layout
        return self.specification.chosen_layout(layout, table, members, all_rows=self.all_rows)

    def summarize(self, table: Table, members: Membership, layout: RowLayout) -> Model:
        """Statistics of a batch, which must be compatible with what was learned before."""
        model = summarize_batch(self.specification.reader, self.blocks(layout), layout, table, members)
        if self.fitted is not None:
            self.specification.check_batch(self.fitted, model, table)
        return model


@dataclass(frozen=True, eq=False)
class LabelledBatch:
    """A batch that was read.

    Attributes
    ----------
    table : Table
    members : Membership
        The class and weight of each row.
    model : Model
        Its statistics.
    layout : RowLayout
        The expected columns, or those of the first batch.
    arrow : pyarrow.Table, optional
        The rows as the source has them.
    """

    table: Table
    members: Membership
    model: Model
    layout: RowLayout
    arrow: ArrowTable = None


class TrainingRows(ABC):
    """Labelled rows to learn from.

    Attributes
    ----------
    at_once : bool
        Whether all rows come in one batch.
    """

    at_once: ClassVar[bool] = False

    @abstractmethod
    def batches(self, expected: Expected) -> Iterator[LabelledBatch]:
        """Read and summarise the rows, batch by batch."""

    @property
    def label_origin(self) -> str:
        """A sentence on where labels come from, for errors about them; empty if the user gave them."""
        return ""

    def present(self, model: Model, known: ClassAxis | None, *, weightless: bool) -> Model:
        """The model without classes that have no rows, or, unless ``weightless``, no weight; known classes stay."""
        return model


def training_rows(X: object, y: object, sample_weight: object) -> TrainingRows:
    """The rows that a user gives: a source of which ``y`` names the target, or arrays and frames."""
    check_paths(X, y)
    if is_labelled_source(X, y):
        return LabelledSource(open_source(X), str(y), sample_weight)
    if isinstance(X, str | os.PathLike) and os.path.exists(X):
        raise InputError(
            f"X is the file {short(str(X))}, so y must be the name of its column of labels, such as y='label'; got "
            f"{type(y).__name__}.",
            argument="y",
        )
    return LabelledRows(X, y, sample_weight)


def check_paths(X: object, y: object) -> None:
    """Raise `InputError` if y names a column and X is a list of texts that are not paths, which happens to one label.

    >>> check_paths(["nowhere.csv"], "label")
    Traceback (most recent call last):
    ...
    suffice.exceptions.InputError: There is no file 'nowhere.csv'. A text as y names the column of labels in the files \
X. If X is a list of texts, give a list of labels: y=['label'].
    """
    if not isinstance(y, str) or not isinstance(X, list | tuple):
        return
    if X and all(isinstance(each, str) and not _is_there(each) for each in X):
        raise InputError(
            f"There is no file {short(X[0])}. A text as y names the column of labels in the files X. If X is a list "
            f"of texts, give a list of labels: y=[{short(y)}].",
            argument="y",
        )


def _is_there(path: str) -> bool:
    """Whether there is a file, folder or match of a glob; also true for a URL, whose error says what to do."""
    if path == "-" or "://" in path or os.path.lexists(os.path.expanduser(path)):
        return True
    try:
        return glob.has_magic(path) and bool(find_paths(path))
    except InputError:
        return False


def summarize_batch(
    reader: RowReader, blocks: Sequence[Block], layout: RowLayout, table: Table, members: Membership
) -> Model:
    """Statistics of a batch; an error about a value names its cell."""
    try:
        return Model.summarize(blocks, table, members)
    except InputError as error:
        reader.explain_training_values(table, layout)
        if error.rows is None and error.column in layout.names:
            _explain_overflow(table, layout, error)
        raise


def _explain_overflow(table: Table, layout: RowLayout, error: InputError) -> None:
    """Raise an error that names the rows in which the column of an error holds numbers whose squares overflow."""
    name = error.column
    j = list(layout.names).index(name)
    if table.kinds[j] != "number":
        return
    x = table.numbers([j], [name], copy=None)
    if is_sparse(x):
        return
    numbers = np.asarray(x, dtype=np.float64)[:, 0]
    largest = np.finfo(np.float64).max
    rows = np.flatnonzero(np.abs(numbers) >= np.sqrt(largest / len(numbers)))
    if len(rows):
        number = float(numbers[rows[0]])
        reason = "whose square overflows"
        if abs(number) < np.sqrt(largest):
            reason = "which is too large: the squares of the column overflow when they are added"
        raise InputError.in_row(
            f"holds {number:g}, {reason} in float64. Correct the cell, or rescale the column, for example to unit "
            "variance.",
            rows=rows,
            column=name,
        ) from error


def seen_classes(members: Membership) -> Membership:
    """The same rows on an axis without the classes whose rows all have weight zero."""
    seen = members.class_weights() > 0
    if seen.all():
        return members
    assert members.codes is not None
    position = np.where(seen, np.cumsum(seen) - 1, -1)
    return Membership(ClassAxis(members.classes.labels[seen]), codes=position[members.codes], weights=members.weights)


# ---------------------------------------------------------------------- rows in memory


@dataclass(frozen=True, eq=False)
class LabelledRows(TrainingRows):
    """Rows in memory with their labels and weights: one batch."""

    at_once: ClassVar[bool] = True
    X: object
    y: object
    sample_weight: object = None

    def read(self, expected: Expected) -> tuple[Table, Membership, RowLayout]:
        """The rows, the class and weight of each, and the layout of the columns."""
        y = plain_labels(self.y)
        few = type(y) is np.ndarray and y.dtype.kind in "biuU" and y.size <= FEW_ROWS
        texts = None if few else text_labels(y)  # their codes are labels that need no further checks
        table, labels, layout = expected.specification.reader.training(
            plain_rows(self.X), y if texts is None else texts[1], expected.layout, expected.min_rows
        )
        members = self._members(expected, labels if texts is None else texts)
        if expected.check is not None:
            expected.check(len(members), members.classes, layout.n_columns)
        return table, members, expected.chosen_layout(table, members, layout)

    def _members(self, expected: Expected, labels: Array | tuple[ClassAxis, Codes]) -> Membership:
        """The class and weight of each row, on the axis of the expected classes if it has all of them.

        Then no statistic has to be moved from axis to axis.
        """
        known, n_rows = expected.classes, len(labels[1] if isinstance(labels, tuple) else labels)
        weights = read_weights(self.sample_weight, n_rows, may_be_zero=expected.min_rows == 0)
        if weights is None and known is not None and not isinstance(labels, tuple) and 0 < n_rows <= FEW_ROWS:
            codes = known.known_positions(labels)
            if codes is not None:
                return Membership(known, codes=codes)
        axis, codes = labels if isinstance(labels, tuple) else _coded(labels)
        if expected.fixed and known is not None:
            axis, codes = known, _fixed_codes(known, axis, codes)
        members = Membership(axis, codes=codes, weights=weights)
        if weights is not None and (expected.removes or not expected.specification.keeps_weightless_classes):
            members = seen_classes(members)
        if known is not None and not expected.fixed and known.holds(members.classes):
            members = members.on(known)
        return members

    def batches(self, expected: Expected) -> Iterator[LabelledBatch]:
        """The one batch there is."""
        table, members, layout = self.read(expected)
        yield LabelledBatch(table, members, expected.summarize(table, members, layout), layout)


def _coded(labels: Array) -> tuple[ClassAxis, Codes]:
    return encode(labels) if len(labels) else (ClassAxis.of([]), np.empty(0, dtype=np.int64))


def _fixed_codes(axis: ClassAxis, found: ClassAxis, codes: Codes) -> Codes:
    """The positions on the axis of fixed classes of labels that are given by their own axis."""
    positions = axis.positions(found.labels)
    if positions.min(initial=0) < 0:
        unknown = found.labels[positions < 0]
        raise ValueError(f"The target label(s) {unknown} in y do not exist in the initial classes {axis.labels}")
    return positions[codes]


# ---------------------------------------------------------------------- sources


class LabelledSource(TrainingRows):
    """Rows of a source, read in batches; a bad row is an error with its place, or it is skipped and counted.

    Parameters
    ----------
    source : Source
    target : str
        The column of labels.
    weights : str, optional
        The column of row weights.
    progress : callable, optional
        Called with the source after each batch.
    """

    def __init__(
        self,
        source: Source,
        target: str,
        weights: object = None,
        *,
        progress: Callable[[Source], None] | None = None,
    ) -> None:
        self.source, self.target, self.progress = source, target, progress
        self.how = ""  # a sentence for the report
        self.keep: KeptRows | None = None
        self.kept_rows: tuple[ArrowTable, Membership] | None = None
        source.check_column(target)
        source.read_as_written(target)
        if weights is not None:
            if not isinstance(weights, str):
                raise InputError(
                    "The rows of a source come in batches, so their weights are one of its columns: give its name.",
                    argument="sample_weight",
                )
            source.check_column(weights)
            source.read_numbers([weights])
            if weights == target:
                raise InputError(f"Column {target!r} cannot be both the target and the weights.", column=target)
        self.weights = weights
        self.labels = LabelReader(target, of_mails=self._of_mails)
        self.n_rows = 0

    @property
    def name(self) -> str:
        """Name of the source in messages."""
        return self.source.name or "the source"

    @property
    def named_target(self) -> str | None:
        """The target, if the user has named it."""
        return self.target

    def keep_rows(self, some: int, uniform: int) -> None:
        """Keep rows while they are read: ``some`` to look for mistakes, and a ``uniform`` sample if it is not 0."""
        most = max(some, uniform)
        self.keep = KeptRows(most) if most else None

    @property
    def _of_mails(self) -> bool:
        return labels_of_mails(self.source, self.target)

    @property
    def label_origin(self) -> str:
        """Where the labels of mails come from."""
        return f" {MAIL_LABELS}" if self._of_mails else ""

    def batches(self, expected: Expected) -> Iterator[LabelledBatch]:
        """The batches that have a good row."""
        known_target = None if expected.fitted is None else expected.fitted.target
        if known_target not in (None, self.target):
            raise InputError(
                f"The model's target is {known_target!r:.80}; got the target {self.target!r:.80}. If this column has "
                f"the same labels, rename it to {known_target!r:.80}; else fit a new model.",
                argument="target",
                column=self.target,
            )
        self.labels = LabelReader(self.target, expected.classes, of_mails=self._of_mails)
        others = [name for name in self.source.names if name not in (self.target, self.weights)]
        columns = expected.columns(self.source, others)
        read_as_known(self.source, columns, expected.specification.reader, expected.layout)
        read = list(dict.fromkeys([*columns, self.target, *([] if self.weights is None else [self.weights])]))
        reader = _BatchReader(self, expected, columns)
        with closing(self.source.batches(read, coded=[self.target])) as batches:
            for batch in batches:
                labelled = reader.read(batch)
                if labelled is not None:
                    self.n_rows += len(labelled.members)
                    if self.keep is not None:
                        self.keep.add(labelled.arrow, labelled.members)
                    yield labelled
                if self.progress is not None:
                    self.progress(self.source)
        problems = self.source.problems
        if not self.n_rows and problems:
            first = problems[0]
            raise first.restated(f"No row of {self.name} can be used. The first problem: ", *first.sentence)

    def present(self, model: Model, known: ClassAxis | None, *, weightless: bool) -> Model:
        """The model without classes that have no rows, or, unless ``weightless``, no weight; known classes stay."""
        axis = model.classes
        held = self.labels.counts[self.labels.axis.positions(axis.labels)] > 0
        if not weightless:
            held &= model.weights.weight > 0
        if known is not None:
            held |= known.positions(axis.labels) >= 0
        return model if held.all() else model.taking(held)

    def kept(self, fitted: Fitted) -> tuple[Table, Membership] | None:
        """The rows that were kept, and their classes on the axis of a fitted model."""
        if self.keep is None:
            return None
        rows, members = self.kept_rows = self.keep.rows(fitted.classes)
        return table_of_kept(fitted, rows, members), members


def table_of_kept(fitted: Fitted, rows: ArrowTable, members: Membership) -> Table:
    """Rows of a source that were kept, as the model reads them."""
    reader = fitted.reader
    with columns_by_position(fitted.layout):
        table, _, _ = reader.training(reader.from_arrow(rows), np.asarray(members.codes), fitted.layout, 0)
    return table


@contextmanager
def columns_by_position(layout: RowLayout | None) -> Iterator[None]:
    """Suppress scikit-learn's feature-name warning where a model without names reads columns by position."""
    if layout is None or layout.schema.named:
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X has feature names")
        yield


class _BatchReader:
    """Reads the batches of a source; the first batch sets the layout unless one is expected."""

    def __init__(self, rows: LabelledSource, expected: Expected, columns: list[str]) -> None:
        self.rows, self.expected, self.columns = rows, expected, columns
        self.layout = expected.layout

    def read(self, batch: Batch) -> LabelledBatch | None:
        """The batch without its bad rows; None if it has no good row."""
        source = self.rows.source
        return of_good_rows(batch, source.skip_or_raise, self._read)

    def _read(self, rows: ArrowTable) -> LabelledBatch:
        labels, weights = self.rows.labels, self.rows.weights
        codes, missing = labels.read(rows[labels.column])
        check_labels(labels.column, missing, as_text=self.rows.source.is_text)
        members = Membership(labels.axis, codes=codes, weights=None if weights is None else weights_of(rows, weights))
        known, reader = self.expected.rows(rows, self.columns), self.expected.specification.reader
        with columns_by_position(self.layout):
            table, _, layout = reader.training(reader.from_arrow(known), codes, self.layout, 0)
        if self.layout is None:
            source = self.rows.source
            formats = {name: form for name, form in source.formats.items() if name in self.columns}
            layout = replace(layout, formats=formats, nulls=source.nulls)
            layout = self.expected.chosen_layout(table, members, layout)
        elif self.rows.source.adds_nulls and layout.nulls != self.rows.source.nulls:
            layout = replace(layout, nulls=self.rows.source.nulls)
        model = self.expected.summarize(table, members, layout)
        if self.expected.first is None and model.weights.weight.any():
            self.expected = replace(self.expected, first=model.settle(model.blocks))
        self.layout = _with_known_kinds(layout, table)
        if self.expected.check is not None:
            self.expected.check(len(members), labels.axis, layout.n_columns)
        labels.learned(codes)
        return LabelledBatch(table, members, model, self.layout, known)


def read_as_known(source: Source, columns: Sequence[str], reader: RowReader, layout: RowLayout | None) -> None:
    """Make a source read columns as numbers and in the formats that a model knows, if it knows them."""
    source.read_numbers(reader.number_columns(list(columns), layout))
    if layout is not None:
        formats = {name: form for name, form in layout.formats.items() if name in columns}
        source.read_as({} if source.is_text else _types_of_texts(columns, layout), formats, layout.nulls)


def _types_of_texts(columns: Sequence[str], layout: RowLayout) -> dict[str, str]:
    """The columns that a model knows as numbers or times, which a file with types may hold as texts."""
    known = columns if layout.feature_names is None else layout.feature_names
    kinds = zip(map(str, known), layout.schema.kinds, strict=False)
    return {name: kind for name, kind in kinds if kind in ("number", "time") and name in columns}


def _with_known_kinds(layout: RowLayout, table: Table) -> RowLayout:
    """The layout with the kinds of columns that were empty so far, as soon as they are known."""
    kinds = layout.schema.kinds
    if "empty" not in kinds:
        return layout
    later = [now if kind == "empty" else kind for kind, now in zip(kinds, table.kinds, strict=True)]
    return replace(layout, schema=replace(layout.schema, kinds=later))
