"""The rows of a report: read as the model reads them, with their labels, and whether the model has learned them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from suffice.exceptions import InputError
from suffice.learning.fitted import Fitted
from suffice.learning.labelled_tables import LabelledTable, read_labelled, read_unlabelled
from suffice.learning.row_predictions import HeldOutSetting, is_held_out
from suffice.numerics.types import Codes, Float
from suffice.sources.arrays import plain_rows
from suffice.sources.files import Source
from suffice.sources.labels import read_weights
from suffice.tables import Table

__all__ = ["Provided", "ReportRows", "read_rows"]


@dataclass(frozen=True)
class Provided:
    """The origin of the rows of a report.

    Attributes
    ----------
    name : str
        Name of the source; empty for rows in memory.
    skipped : int
        Number of rows that could not be read.
    of_rows : int or None
        Number of rows of the source, if the report has a sample of them.
    """

    name: str = ""
    skipped: int = 0
    of_rows: int | None = None


@dataclass(frozen=True, eq=False)
class ReportRows:
    """Rows of a report.

    Attributes
    ----------
    table : Table
        The rows as the model reads them.
    weights : array of shape (n,), or None
    labelled : LabelledTable, optional
        The rows with their labels, if they have any.
    are_new : bool
        Whether the model has not learned these rows.
    provided : Provided
    """

    table: Table
    weights: Float | None
    labelled: LabelledTable | None
    are_new: bool
    provided: Provided

    def __len__(self) -> int:
        return len(self.table)

    @property
    def codes(self) -> Codes | None:
        """Labels as positions among the classes of the model and, beyond them, other labels; None without labels."""
        return None if self.labelled is None else self.labelled.codes


def read_rows(fitted: Fitted, X: Any, y: Any, sample_weight: Any, held_out: HeldOutSetting) -> ReportRows:
    """Read rows and labels; ``held_out`` says whether the model has learned them, so that they are held out.

    ``X`` and ``y`` are those of `fit`, a source and the name of its target among them; or ``y`` is None, and ``X`` has
    rows or is a file.
    """
    if y is None:
        if isinstance(X, str | os.PathLike | Source):
            found = read_unlabelled(fitted, X, sample_weight)
            return ReportRows(found.table, found.weights, None, True, Provided(found.name, found.skipped, found.n_rows))
        table = fitted.reader.rows(plain_rows(X), fitted.layout)
        if not len(table):
            raise InputError("X has no rows. Give rows, or make a report of the model alone.", argument="X")
        return ReportRows(table, read_weights(sample_weight, len(table)), None, True, Provided())
    read = read_labelled(fitted, X, y, sample_weight, scored=True, lenient=True)
    provided = Provided(read.name, read.skipped, read.n_rows)
    return ReportRows(read.table, read.weights, read, not is_held_out(fitted, read, held_out), provided)
