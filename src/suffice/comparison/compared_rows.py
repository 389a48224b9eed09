"""The rows to compare models on, with their labels, in the form that each kind of model takes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from suffice.exceptions import ClassError, InputError, did_you_mean, listed, short
from suffice.numerics.types import Array, Float, Index
from suffice.sources.columns import Column, ColumnTable, ObjectColumn
from suffice.sources.frames import as_frame
from suffice.sources.labels import encode, read_labels
from suffice.sources.row_reader import RowLayout
from suffice.sources.tables import TableReader
from suffice.statistics import ClassAxis
from suffice.tables import MatrixTable, Table
from suffice.tables.levels import is_missing
from suffice.tables.table import Kind, Schema, is_sparse
from suffice.text.recognition import are_documents

__all__ = ["ColumnRoles", "ComparedRows", "Rows", "take"]

Rows: TypeAlias = Any
"""Rows as a user gives them: a data frame of any engine, an array, or a list."""

READER = TableReader("compare", "auto")

MAX_COUNT = 1000  # larger integers are measurements, years or identifiers rather than counts


@dataclass(frozen=True)
class ColumnRoles:
    """The positions of the columns of each role; columns without values have no role."""

    names: Sequence[object]
    numbers: list[int]
    counts: list[int]  # those of the numbers that are integers from 0 to 1000, and not only 0 and 1
    binary: list[int]  # those of the numbers that are only 0 and 1
    categories: list[int]
    documents: list[int]
    with_missing: list[int]  # those of the numbers that have missing cells


class ComparedRows:
    """Rows with their labels.

    Parameters
    ----------
    X : data frame, array, or list of str
    y : array-like of shape (n,)
    text : "auto" or collection of column names
        The columns that hold documents; ``"auto"`` selects columns of mostly distinct, long texts.
    """

    def __init__(self, X: Rows, y: Any, text: str | Collection[object] = "auto") -> None:
        if text != "auto" and isinstance(text, str):
            text = (text,)
        documents = _documents(X)
        self.is_list_of_documents = documents is not None
        table: Table
        if documents is not None:
            self.rows: Rows = documents
            table = ColumnTable(len(documents), [ObjectColumn(documents.tolist())], ["text"])
            layout = RowLayout(Schema(["text"], table.kinds))
            text, labels = ("text",), read_labels(y, len(documents), "compare")
        else:
            table, labels, layout = READER.training(X, y)
            self.rows = X if as_frame(X) is not None else _array(X)
        if isinstance(table, MatrixTable) and is_sparse(table.x):
            raise InputError("compare takes a data frame or a dense array, not a sparse matrix.", argument="X")
        self._table = table
        self.names: list[object] = list(table.names or range(len(table.kinds)))
        READER.explain_values(table, layout)
        self.classes: ClassAxis
        self.classes, self.codes = encode(labels)
        self.labels = labels
        if len(self.classes) < 2:
            raise ClassError(
                f"All labels are {short(self.classes.labels.tolist()[0])}; expected at least two classes.", argument="y"
            )
        self.roles = self._column_roles(text)

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def class_counts(self) -> dict[object, int]:
        """Number of rows of each class."""
        return dict(zip(self.classes.labels.tolist(), np.bincount(self.codes).tolist(), strict=True))

    # ------------------------------------------------------------------ columns

    def _column_roles(self, text: str | Collection[object]) -> ColumnRoles:
        unknown = [] if text == "auto" else [name for name in text if name not in self.names]
        if unknown:
            hint = did_you_mean(unknown[0], self.names)
            raise InputError(
                f"text names {listed(unknown)}, which is not a column.{hint} The columns are {listed(self.names)}.",
                argument="text",
                column=unknown[0],
            )
        by_role: dict[str, list[int]] = {role: [] for role in ("numbers", "categories", "documents", "empty")}
        for j, kind in enumerate(self._table.kinds):
            by_role[self._role(j, kind, text)].append(j)
        counts: list[int] = []
        binary: list[int] = []
        with_missing: list[int] = []
        for j in list(by_role["numbers"]):
            values = self.numbers(j)
            known = values[~np.isnan(values)]
            if not len(known):
                by_role["numbers"].remove(j)
                continue
            if len(known) < len(values):
                with_missing.append(j)
            # Booleans and times keep the meaning of their type; a constant column is uninformative.
            least, most = float(known.min()), float(known.max())
            if self._table.kinds[j] == "number" and 0 <= least < most <= MAX_COUNT and (known == np.rint(known)).all():
                (binary if most == 1 else counts).append(j)
        del by_role["empty"]
        if not any(by_role.values()):
            raise InputError("All columns are empty; expected at least one column with values.", argument="X")
        return ColumnRoles(self.names, counts=counts, binary=binary, with_missing=with_missing, **by_role)

    def _role(self, j: int, kind: Kind, text: str | Collection[object]) -> str:
        if text != "auto" and self.names[j] in text:
            return "documents"
        if kind == "empty":
            return kind
        if kind == "category":
            return "categories"
        if kind != "text":
            return "numbers"
        return "documents" if text == "auto" and are_documents(self._column(j).listed()) else "categories"

    def _column(self, j: int) -> Column:
        assert isinstance(self._table, ColumnTable)
        return self._table.columns[j]

    def numbers(self, j: int) -> Float:
        """Return a column as float64, with NaN for missing cells (n,)."""
        if isinstance(self._table, MatrixTable):
            return np.asarray(self._table.x[:, j], dtype=np.float64)
        return np.asarray(self._column(j).numbers(self.names[j]))

    def documents(self, j: int) -> Array:
        """Return a column of texts, with empty strings for missing cells (n,)."""
        return _objects(["" if is_missing(text) else str(text) for text in self._column(j).listed()])

    # ------------------------------------------------------------------ rows for models

    @cached_property
    def matrix(self) -> Float:
        """The columns of numbers (n, d)."""
        return np.column_stack([self.numbers(j) for j in self.roles.numbers])

    @cached_property
    def features(self) -> Array:
        """Numbers, then the codes of categories (−1 for a missing cell), then documents (n, d)."""
        roles, n = self.roles, len(self)
        parts: list[Array] = [self.numbers(j) for j in roles.numbers]
        parts += [self._column(j).coded().dense(n).astype(np.float64) for j in roles.categories]
        parts += [self.documents(j) for j in roles.documents]
        return np.column_stack(parts)


def take(rows: Rows, index: Index) -> Rows:
    """Return some of the rows, in the same form."""
    frame = as_frame(rows)
    return rows[index] if frame is None else frame[index].to_native()


def _documents(X: Rows) -> Array | None:
    """Return documents that were given as a plain list or array; None for anything else."""
    if isinstance(X, np.ndarray):
        return X.astype(object) if X.ndim == 1 and (X.dtype.kind in "UT" or _all_texts(X)) else None
    return _objects(X) if isinstance(X, list | tuple) and len(X) and _all_texts(X) else None


def _all_texts(values: Iterable[object]) -> bool:
    return all(isinstance(value, str) or value is None for value in values)


def _objects(values: Sequence[object]) -> Array:
    out = np.empty(len(values), dtype=object)
    out[:] = values
    return out


def _array(X: Rows) -> Rows:
    """Return rows that can be indexed; a list of rows becomes an array of objects."""
    return np.array(X, dtype=object) if isinstance(X, list | tuple) else X
