"""A batch of a source as an estimator learns it: its labels and weights read, and its bad rows said or left out."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError, MergeError, SufficeError, at_rows, rows_at_fault
from suffice.model import Model
from suffice.sources.files import Batch, Places, Source
from suffice.statistics import Membership, Table
from suffice.streaming.labels import LabelReader

__all__ = ["BatchReader", "ReadBatch", "by_place"]

Float = NDArray[np.float64]
Index = NDArray[np.intp]
ROW = re.compile(r"(?:^Column (.+?), |(?<!['\"])\b)[Rr]ow (\d+)\b")  # as messages name a row, after its column or not


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
        self.first_fault = ""

    def read(self, batch: Batch) -> ReadBatch | None:
        """What was learned of a batch; None if there is no row in it, or no good one.

        What is wrong with a row is an error that names its place, or the row is left out and counted. All rows that
        are wrong in the same way are left out at once.
        """
        rows, places = batch.rows, batch.places
        left: Index | None = None  # the rows of the batch that are good so far
        while len(rows):
            try:
                return self._read(rows)
            except Exception as error:
                bad = rows_at_fault(error) if isinstance(error, ValueError) else None
                sentence = self._told(error, places, left)
                if bad is None:
                    if sentence is None:
                        raise
                    raise type(error)(sentence) if isinstance(error, SufficeError) else InputError(sentence) from error
                self.first_fault = self.first_fault or str(sentence)
                self.source.met(str(sentence), len(bad))
                good = np.setdiff1d(np.arange(len(rows)), bad)
                left = good if left is None else left[good]
                rows = rows.take(good)
        return None

    def _read(self, rows: Any) -> ReadBatch:
        codes, missing = self.labels.read(rows[self.labels.column])
        if missing is not None:
            lost = np.flatnonzero(missing)
            raise at_rows(InputError(f"Column {self.labels.column!r}, row {lost[0]} holds no label."), lost)
        members = Membership(self.labels.axis, codes=codes, weights=self._weights(rows))
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

    def _weights(self, rows: Any) -> Float | None:
        if self.weights is None:
            return None
        import pyarrow as pa

        column = rows[self.weights]
        if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
            raise InputError(
                f"Column {self.weights!r} holds values of the type {column.type}, and weights are numbers. Name a "
                "column of numbers."
            )
        found: Float = column.cast(pa.float64(), safe=False).to_numpy()
        bad = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
        if len(bad):
            value = column[int(bad[0])].as_py()
            said = "holds no weight" if value is None else f"holds {value!r}, which is no weight"
            error = InputError(
                f"Column {self.weights!r}, row {bad[0]} {said}; a weight is a finite number of at least 0."
            )
            raise at_rows(error, bad)
        return found

    def _told(self, error: Exception, places: Places, left: Index | None) -> str | None:
        """The sentence of an error about rows, with their place in the source; None if it is about none."""
        if not isinstance(error, ValueError) or isinstance(error, MergeError):
            return None
        # scikit-learn's sentences go on with advice about other estimators.
        ours = isinstance(error, SufficeError)
        text = str(error) if ours else str(error).split("\n")[0]
        rows, said = rows_at_fault(error), ROW.search(text)
        if rows is None and said is None:
            return None if ours else text
        rows = [int(said[2])] if rows is None and said is not None else rows
        row = int(rows[0])
        place = places.of(row if left is None else int(left[row]))
        if said is None or int(said[2]) != row:
            named = f"{place}: {text}"
        elif said[1]:  # the column comes first
            named = f"{place}, column {said[1]}{text[said.end() :]}"
        else:
            named = f"{text[: said.start()]}{place}{text[said.end() :]}"
        if "contains NaN" in text:
            named += (
                f" {type(self.estimator).__name__} takes no missing values; fill them in, or use NaiveBayes, which "
                "reads rows with holes."
            )
        return named if len(rows) == 1 else f"{named} ({len(rows):,} rows of these are at fault.)"
