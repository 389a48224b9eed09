"""The rows of a plot, read as the model reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.exceptions import ClassError, InputError, listed
from suffice.learning.fitted import Fitted
from suffice.learning.labelled_tables import LabelledTable, read_labelled
from suffice.model.columns import ModelColumn, used_column, used_columns
from suffice.numerics.types import Codes, Float
from suffice.sources.files import is_labelled_source
from suffice.statistics import Membership
from suffice.tables import Table
from suffice.tables.table import dense_numbers

__all__ = [
    "ShownRows",
    "check_known_labels",
    "column_names",
    "column_of",
    "numeric_columns",
    "read_rows",
    "read_table",
]

NUMERIC_KINDS = ("number", "time", "duration")


@dataclass(frozen=True, eq=False)
class ShownRows:
    """Rows, and perhaps their classes.

    Attributes
    ----------
    table : Table
    members : Membership, optional
        The class of each row on the axis of the model, and its weight.
    """

    table: Table
    members: Membership | None = None

    @property
    def codes(self) -> Codes:
        """The class of each row (n,); −1 if it is unknown."""
        codes = None if self.members is None else self.members.codes
        return np.full(len(self.table), -1, dtype=np.int64) if codes is None else codes

    @property
    def weights(self) -> Float:
        """The weight of each row (n,)."""
        given = None if self.members is None else self.members.weights
        return np.ones(len(self.table)) if given is None else given

    def numbers(self, position: int, name: object) -> Float:
        """One column as numbers (n,), with NaN in missing cells."""
        return dense_numbers(self.table, [position], [name])[:, 0]


def read_rows(fitted: Fitted, X: Any, y: Any = None, sample_weight: Any = None) -> ShownRows | None:
    """Rows as the model reads them, of a large file some; None if there are none.

    ``X`` and ``y`` are those of `fit`: arrays, frames or texts with labels, or a source and the name of its target.
    """
    if X is None:
        if y is not None:
            raise InputError("y is given without X. Give the rows as well, or neither.", argument="X")
        return None
    if y is None:
        if isinstance(X, str):
            raise InputError("X is the name of a file, so y must be the name of its column of labels.", argument="y")
        rows = ShownRows(fitted.reader.rows(X, fitted.layout))
    else:
        found = read_labelled(fitted, X, y, sample_weight)
        check_known_labels(found)
        rows = ShownRows(found.table, found.members)
    if not len(rows.table):
        raise InputError("X has no rows to show.", argument="X")
    return rows


def read_table(fitted: Fitted, X: Any, y: Any = None) -> Table:
    """The rows alone: of a source whose target ``y`` names, or in memory, where labels are not needed."""
    if is_labelled_source(X, y):
        return read_labelled(fitted, X, y).table
    return fitted.reader.rows(X, fitted.layout)


def check_known_labels(read: LabelledTable) -> None:
    """Raise `ClassError` if a label is not a class of the model."""
    if read.unknown:
        classes = listed(read.classes.labels.tolist())
        raise ClassError(f"y holds {listed(read.unknown)}, not among the classes {classes}.", argument="y")


def column_names(fitted: Fitted) -> list[object]:
    """The columns that the model uses, in the order of the rows."""
    return [place.name for place in used_columns(fitted.estimate, fitted.layout.schema)]


def column_of(fitted: Fitted, column: object) -> ModelColumn:
    """The place of a column in the model; raises `InputError` if the model does not use such a column."""
    return used_column(fitted.estimate, fitted.layout.schema, column)


def numeric_columns(fitted: Fitted) -> list[object]:
    """Columns of numbers, times or durations that the model reads as numbers."""
    return [
        place.name
        for place in used_columns(fitted.estimate, fitted.layout.schema)
        if place.kind in NUMERIC_KINDS
        and place.block.family.reads in ("numbers", "cells")
        and place.block.family.values != "truth"
    ]
