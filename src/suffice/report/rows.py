"""The rows of a report: read as the model reads them, with their labels, and whether the model has learned them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from suffice.exceptions import ClassError, InputError, listed
from suffice.learning.fitted import Fitted
from suffice.learning.labelled_tables import are_training_rows, read_labelled
from suffice.numerics.types import Array, Codes, Float
from suffice.sources.arrays import plain_rows
from suffice.sources.files import is_labelled_source
from suffice.sources.labels import check_not_missing, encode, plain_labels, read_weights
from suffice.statistics import Membership
from suffice.tables import Table

__all__ = ["HeldOut", "Provided", "ReportRows", "read_rows"]

ROUNDING = 1e-9  # relative to the weight of a class
HeldOut = bool | Literal["auto"]


@dataclass(frozen=True)
class Provided:
    """Where the rows of a report came from.

    Attributes
    ----------
    name : str
        Name of the source; empty for rows in memory.
    skipped : int
        Number of rows that could not be read.
    of_rows : int or None
        Number of rows of the source, if the report has a sample of them.
    class_weight : array of shape (K,), optional
        Weight of all rows of each class of the model, if the report has a sample of them.
    codes : array of int of shape (n,), optional
        Labels as positions among ``labels``, if they were read with the rows.
    labels : tuple
        The classes of the model, and then other labels.
    """

    name: str = ""
    skipped: int = 0
    of_rows: int | None = None
    class_weight: Float | None = None
    codes: Codes | None = None
    labels: tuple[object, ...] = ()


@dataclass(frozen=True, eq=False)
class ReportRows:
    """Rows of a report.

    Attributes
    ----------
    table : Table
        The rows as the model reads them.
    codes : array of int of shape (n,), or None
        Positions of the labels among the classes of the model, or beyond them among ``labels``; None without labels.
    labels : list
        The classes of the model, and other labels.
    n_classes : int
        Number of classes of the model.
    weights : array of shape (n,), or None
    are_new : bool
        Whether the model has not learned these rows.
    provided : Provided
    """

    table: Table
    codes: Codes | None
    labels: list[object]
    n_classes: int
    weights: Float | None
    are_new: bool
    provided: Provided

    def __len__(self) -> int:
        return len(self.table)

    @property
    def unknown(self) -> list[object]:
        """Labels that are not classes of the model."""
        return self.labels[self.n_classes :]


def read_rows(fitted: Fitted, X: Any, y: Any, sample_weight: Any, held_out: HeldOut, provided: Provided) -> ReportRows:
    """Read rows and labels; ``held_out`` says whether the model has learned them, so that they are held out."""
    if held_out is True:
        fitted.check_has_rows("held_out=True")
    if is_labelled_source(X, y):
        return _read_source(fitted, X, y, sample_weight, held_out)
    classes = fitted.classes.labels.tolist()
    table = fitted.reader.rows(plain_rows(X), fitted.layout)
    if not len(table):
        raise InputError("X has no rows. Give rows, or make a report of the model alone.", argument="X")
    weights = read_weights(sample_weight, len(table))
    if y is None and provided.codes is None:
        return ReportRows(table, None, classes, len(classes), weights, True, provided)
    if provided.codes is None:
        codes, labels = _codes(fitted, y, len(table))
    else:
        codes, labels = provided.codes, list(provided.labels)
    if (codes >= len(classes)).all():
        raise ClassError(
            f"No label in y is a class of the model: y holds {listed(labels[len(classes) :], 4)}; the classes are "
            f"{listed(classes)}.",
            argument="y",
        )
    learned = _are_learned(fitted, table, codes, weights, provided) if held_out == "auto" else held_out
    return ReportRows(table, codes, labels, len(classes), weights, not learned, provided)


def _read_source(fitted: Fitted, X: Any, y: Any, sample_weight: Any, held_out: HeldOut) -> ReportRows:
    """Rows of a source whose column ``y`` has the labels; a uniform sample of many. Other labels count as one."""
    found = read_labelled(fitted, X, y, sample_weight)
    codes, classes, weights = found.members.codes, fitted.classes.labels.tolist(), found.members.weights
    assert codes is not None
    others = codes < 0
    labels = [*classes, "(other labels)"] if others.any() else classes
    codes = np.where(others, len(classes), codes)
    provided = Provided(str(X) if isinstance(X, str | os.PathLike) else "", of_rows=found.n_rows)
    learned = _are_learned(fitted, found.table, codes, weights, provided) if held_out == "auto" else held_out
    return ReportRows(found.table, codes, labels, len(classes), weights, not learned, provided)


def _codes(fitted: Fitted, y: Any, n_rows: int) -> tuple[Codes, list[object]]:
    """Positions of labels among the classes of a model and, beyond them, other labels; and all labels."""
    given: Array = np.asarray(plain_labels(check_not_missing(y)))
    if given.shape != (n_rows,):
        raise InputError(f"y must hold one label for each of the {n_rows} rows; got shape {given.shape}.", argument="y")
    axis, codes = encode(given)
    at = fitted.classes.positions(axis.labels)
    others = np.flatnonzero(at < 0)
    at[others] = len(fitted.classes) + np.arange(len(others))
    return at[codes], [*fitted.classes.labels.tolist(), *axis.labels[others].tolist()]


def _are_learned(fitted: Fitted, table: Table, codes: Codes, weights: Float | None, provided: Provided) -> bool:
    """Whether the model has learned these rows; of a sample, whether all rows have the weight of the model."""
    known = fitted.model.weights.weight
    if fitted.without_rows or (codes >= len(known)).any():
        return False
    if provided.of_rows is None or provided.of_rows <= len(codes):
        return are_training_rows(fitted, table, Membership(fitted.classes, codes=codes, weights=weights))
    if provided.class_weight is None:
        return bool(np.isclose(provided.of_rows, known.sum(), rtol=ROUNDING))
    return bool(np.allclose(provided.class_weight, known, rtol=ROUNDING, atol=0.0))
