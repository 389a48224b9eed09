"""A batch of a source as an estimator learns it: its labels and weights read, and its bad rows said or left out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.learning.good_rows import of_good_rows, weights_of
from suffice.learning.labels import LabelReader, check_labels
from suffice.model import Model
from suffice.sources.files import Batch, Source
from suffice.statistics import Membership
from suffice.tables import Table

__all__ = ["BatchReader", "ReadBatch", "by_place"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ReadBatch:
    """Rows that were learned: as Arrow has them, as the estimator reads them, their classes, and their model."""

    rows: Any
    table: Table
    members: Membership
    model: Model


@contextmanager
def by_place(estimator: Any) -> Iterator[None]:
    """Nothing is said where columns that have names are read by a model that knows none, and takes them by place."""
    if estimator._schema is None or estimator._schema.named:
        yield
        return
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X has feature names")
        yield


class BatchReader:
    """Reads batches for an estimator.

    Parameters
    ----------
    estimator : Streaming
        Its columns become those of the first batch, unless it knows some.
    source : Source
        Where the batches come from; it is told of rows that are bad.
    labels : LabelReader
    columns : list of str
        To learn from.
    weights : str or None
        The column of row weights.
    """

    def __init__(
        self, estimator: Any, source: Source, labels: LabelReader, columns: list[str], weights: str | None
    ) -> None:
        self.estimator, self.source, self.labels = estimator, source, labels
        self.columns, self.weights = columns, weights

    def read(self, batch: Batch) -> ReadBatch | None:
        """What was learned of a batch; None if there is no row in it, or no good one; see `of_good_rows`."""
        return of_good_rows(batch, type(self.estimator).__name__, self.source.skip_or_raise, self._read)

    def _read(self, rows: Any) -> ReadBatch:
        codes, missing = self.labels.read(rows[self.labels.column])
        check_labels(self.labels.column, missing)
        weights = None if self.weights is None else weights_of(rows, self.weights)
        members = Membership(self.labels.axis, codes=codes, weights=weights)
        made = self.estimator
        first, known = made._schema is None, rows.select(self.columns)
        with by_place(made):
            table, _ = made._read_training(made._rows_of_source(known), codes, reset=first, min_rows=0)
        if first:
            made._schema = made._schema_of(table)
        try:
            model = made._summarize(table, members)
        except Exception:
            if first:
                made._schema = None
            raise
        self.labels.learned(codes)
        return ReadBatch(known, table, members, model)
