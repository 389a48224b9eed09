"""`EngineRows`: rows of a table that are summarised where they are."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from suffice.engines.partition_models import merged_partitions
from suffice.engines.queried_model import is_short, queried_model, why_not_queried
from suffice.engines.summary import Failure, Summary, labelled
from suffice.exceptions import InputError, SufficeError
from suffice.families import Family
from suffice.learning.fitted import Fitted
from suffice.learning.kept_rows import KeptRows
from suffice.learning.labels import LabelReader
from suffice.learning.training_rows import Expected, LabelledBatch, LabelledSource
from suffice.model import Model
from suffice.sources.engine_tables import SAMPLE_SEED, EngineTable, PartitionedTable
from suffice.sources.engine_types import ArrowTable
from suffice.sources.files import open_source
from suffice.sources.files.opening import BATCH_ROWS

__all__ = ["EngineRows"]

HEAD_ROWS, HEAD_CELLS = 10_000, 10_000_000
SAMPLE_CELLS = 1 << 25


class EngineRows(LabelledSource):
    """Rows of a table of an engine, which are summarised where they are.

    The first rows determine how columns are read. If something is chosen or scored by rows, a uniform sample is read
    as well; if it holds all rows, nothing else is needed. Otherwise, the engine computes aggregates, or models of the
    partitions are merged, or the rows are streamed.

    Parameters
    ----------
    table : EngineTable
    target : str
    weights : str, optional
    pushdown : bool or "auto"
        Whether the engine must, must not, or may compute aggregates.
    """

    def __init__(self, table: EngineTable, target: str, weights: object = None, *, pushdown: object = "auto") -> None:
        self.table, self.pushdown = table, pushdown
        self._head = table.head(_rows_within(HEAD_ROWS, HEAD_CELLS, table)).combine_chunks()
        self._uniform = 0
        super().__init__(open_source(self._head), target, weights)

    @property
    def name(self) -> str:
        """The table in messages."""
        return self.table.described

    @property
    def named_target(self) -> str | None:
        """The target, unless the labels were given apart from the table."""
        return None if self.table.has_labels_apart else self.target

    def keep_rows(self, some: int, uniform: int) -> None:
        """Keep the first rows, or a ``uniform`` sample if it is not 0."""
        self._uniform = uniform
        super().keep_rows(0 if uniform else some, uniform)

    def batches(self, expected: Expected) -> Iterator[LabelledBatch]:
        """One batch with the statistics of all rows; its table has the first rows or the sample."""
        if self.named_target is None and expected.fitted is not None:
            expected = replace(expected, fitted=replace(expected.fitted, target=None))
        head, keep = self._head, None if self._uniform else self.keep
        with self._located(partial(self._read_by_partition, expected)):
            first = self._read(head, replace(expected, check=None, all_rows=False), keep)
        if first is None:
            return
        if self._uniform or (expected.fitted is None and _chooses(first)):
            table = self.table.select(self._columns_read(first))
            most = max(self._uniform, BATCH_ROWS if _chooses(first) else 0)
            n_rows, most = table.count(), _rows_within(most, SAMPLE_CELLS, table)
            whole = n_rows <= most
            rows = (table.head(None) if whole else table.sample(most, n_rows)).combine_chunks()
            self.source = open_source(rows)
            if self.keep is not None:
                self.keep = KeptRows(self.keep.most)  # the first rows are among these
            if whole and self.pushdown is not True:
                self.how = f"All rows were read from {self.table.engine}."
                with self._located(partial(self._merged, first, table, expected)):
                    yield from self._here(rows, expected)
                return
            head = rows
            if len(rows) > most:
                chosen = np.random.default_rng(SAMPLE_SEED).choice(len(rows), most, replace=False)
                head = rows.take(np.sort(chosen))
            with self._located(partial(self._merged, first, table, expected)):
                first = self._read(head, replace(expected, check=None, all_rows=False), self.keep)
            assert first is not None
        prototype = self._prototype(expected, first)
        summary = self._summary(prototype, expected, first, head)
        self.labels = LabelReader(self.target, summary.axis)
        self.labels.counts = summary.counts
        self.n_rows = summary.n_rows
        if expected.check is not None:
            expected.check(self.n_rows, summary.axis, first.layout.n_columns)
        yield replace(first, model=summary.model, layout=summary.layout)

    def _read(self, rows: ArrowTable, expected: Expected, keep: KeptRows | None) -> LabelledBatch | None:
        """Rows in this process as one batch; None if there are none."""
        read = labelled(rows, self.target, self.weights, positional=self.table.positional)
        first: LabelledBatch | None = None
        for batch in read.batches(expected):
            if keep is not None:
                keep.add(self._features(batch, rows), batch.members)
            first = batch if first is None else replace(first, layout=batch.layout)
        return first

    def _here(self, rows: ArrowTable, expected: Expected) -> Iterator[LabelledBatch]:
        """Learn from all rows in this process."""
        read = labelled(rows, self.target, self.weights, positional=self.table.positional)
        for batch in read.batches(replace(expected, all_rows=True)):
            if self.keep is not None:
                self.keep.add(self._features(batch, rows), batch.members)
            self.n_rows += len(batch.members)
            counted = Summary.of_batch(batch)
            self.labels = LabelReader(self.target, counted.axis)
            self.labels.counts = counted.counts
            yield batch

    @property
    def _own(self) -> list[str]:
        return [self.target, *([] if self.weights is None else [self.weights])]

    def _features(self, batch: LabelledBatch, rows: ArrowTable) -> ArrowTable:
        """The columns to learn from of a batch of rows; those of an array are all in one batch."""
        return rows.drop_columns(self._own) if batch.arrow is None else batch.arrow

    def _columns_read(self, first: LabelledBatch) -> list[str]:
        """The columns of the model, the labels and the weights."""
        if self.table.positional or first.arrow is None:
            return self.table.names
        return [*first.arrow.column_names, *self._own]

    def _prototype(self, expected: Expected, first: LabelledBatch) -> Fitted:
        """A model of no rows, with the columns and choices of the first rows."""
        fitted = expected.fitted
        if fitted is None:
            blocks = first.model.settle(first.model.blocks)
            return Fitted(expected.specification, first.layout, Model.zero(blocks, first.model.classes))
        axis = fitted.classes if expected.classes is None else expected.classes
        return replace(fitted, model=Model.zero(fitted.blocks, axis), layout=first.layout)

    def _summary(self, prototype: Fitted, expected: Expected, first: LabelledBatch, head: ArrowTable) -> Summary:
        table = self.table.select(self._columns_read(first))
        why_not = why_not_queried(prototype, first, table, weighted=self.weights is not None)
        if self.pushdown is True and why_not:
            raise InputError(f"{self.table.engine} cannot compute the statistics: {why_not}", argument="pushdown")
        if not why_not and (self.pushdown is True or (self.pushdown == "auto" and is_short(prototype, table))):
            self.how = f"{self.table.engine} computed aggregates."
            with table.errors():
                return queried_model(prototype, list(first.arrow.column_names), head, table, self.target, self.weights)
        if isinstance(table, PartitionedTable):
            summary = self._merged(first, table, expected)
            self.how = f"Models of the partitions were merged by {self.table.engine}."
            return summary
        self.how = f"The rows were streamed from {self.table.engine}."
        rows = LabelledSource(open_source(table), self.target, self.weights)
        return Summary.of_rows(rows, replace(expected, fitted=prototype, check=None))

    def _merged(self, first: LabelledBatch, table: EngineTable, expected: Expected) -> Summary:
        """The models of the partitions, which are made as ``first`` was."""
        assert isinstance(table, PartitionedTable)
        prototype = self._prototype(expected, first)
        return merged_partitions(prototype, table, self.target, self.weights, removes=expected.removes)

    # ------------------------------------------------------------------ places of errors

    @contextlib.contextmanager
    def _located(self, locate: Callable[[], object]) -> Iterator[None]:
        """Raise an error about rows that were read here as ``locate`` raises it, which names their partition."""
        try:
            yield
        except InputError as error:
            if error.rows is not None and isinstance(self.table, PartitionedTable):
                try:
                    locate()
                except SufficeError as located:
                    if located.partition is not None:
                        raise located from error
            raise

    def _read_by_partition(self, expected: Expected) -> None:
        """Read the first rows again, and raise the error of the first partition that has one."""
        assert isinstance(self.table, PartitionedTable)
        for part, rows in self.table.head_by_partition(_rows_within(HEAD_ROWS, HEAD_CELLS, self.table)):
            try:
                self._read(rows, replace(expected, check=None, all_rows=False), None)
            except ValueError as error:
                raise Failure.of(error, part) from error


def _rows_within(n_rows: int, n_cells: int, table: EngineTable) -> int:
    """The number of rows, reduced for a wide table."""
    return max(1, min(n_rows, n_cells // len(table.names)))


def _chooses(first: LabelledBatch) -> bool:
    """Whether families, blocks or cuts were chosen by the first rows."""
    schema = first.layout.schema
    settles = any(type(block.family).settled is not Family.settled for block in first.model.blocks)
    return settles or schema.scores is not None or schema.found is not None
