"""Rows to try laws on, in the forms that rows come in."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from suffice.families import Family
from suffice.model import Block
from suffice.numerics.types import Array, Codes, Float, Matrix
from suffice.sources.columns import ColumnTable, ObjectColumn
from suffice.statistics import ClassAxis, Membership
from suffice.tables import Coded, MatrixTable, Table
from suffice.tables.levels import is_missing
from suffice.tables.table import as_table
from suffice.text.table import TextTable
from suffice.text.texts import Texts

__all__ = ["FORMS", "Form", "Rows", "are_texts", "example_rows", "plain_table"]

Form = Callable[[Any], Table]


def are_texts(x: Matrix) -> bool:
    """Whether rows are of texts."""
    return isinstance(x, np.ndarray) and x.dtype.kind == "O"


def plain_table(x: Matrix) -> Table:
    """A matrix of numbers, or a column of texts, as a table."""
    return TextTable(Texts.of(x)) if are_texts(x) else as_table(x)


@dataclass(frozen=True)
class Rows:
    """Rows with a class code and a weight each.

    Parameters
    ----------
    x : array of shape (n, d), or a Coded batch
        An array of numbers, or of one column of texts.
    codes : array of shape (n,)
    weights : array of shape (n,)
        Whole numbers, so that a row can be repeated as often.
    labels : array of shape (K,)
        Sorted class labels; a code is a position among them.
    form : callable
        Turns x into what a source would read: a matrix, a sparse one, a frame's columns. See `FORMS`.
    """

    x: Matrix
    codes: Codes
    weights: Float
    labels: Array
    form: Form = plain_table

    def take(self, index: Any) -> Rows:
        """Some of the rows."""
        x = self.x.take(index) if isinstance(self.x, Coded) else self.x[index]
        return replace(self, x=x, codes=self.codes[index], weights=self.weights[index])

    def batch(self, family: Family) -> Any:
        """The rows as the family reads them."""
        if isinstance(self.x, Coded):
            return self.x
        return Block(family, slice(None), range(self.x.shape[1])).take(self.form(self.x))

    def members(self) -> Membership:
        """The membership of the rows."""
        return Membership(ClassAxis(self.labels), codes=self.codes, weights=self.weights)


def _sparse(x: Matrix) -> Table:
    """A sparse matrix, in which only what is not zero is stored; rows and columns take turns at being first."""
    if are_texts(x):
        return TextTable(Texts.of(tuple(x[:, 0])))  # of texts there is no such matrix
    kind = sparse.csr_array if len(x) % 2 else sparse.csc_array
    return MatrixTable(kind(np.asarray(x, dtype=np.float64)))


def _frame(x: Matrix) -> Table:
    """Columns of Python objects, with None for what is missing."""
    columns = [[None if is_missing(v) else v for v in column] for column in np.asarray(x).T.tolist()]
    return ColumnTable(len(x), [ObjectColumn(column) for column in columns])


FORMS: dict[str, Form] = {"dense": plain_table, "sparse": _sparse, "frame": _frame}


def example_rows(
    family: Family,
    rng: np.random.Generator,
    n_rows: int = 60,
    n_columns: int = 3,
    n_classes: int = 3,
    form: Form = plain_table,
) -> Rows:
    """Rows that a family can be fitted to, in labelled classes of unequal size, with weights 0 to 3."""
    share = rng.dirichlet(np.full(n_classes, 3.0))
    codes = rng.choice(n_classes, size=n_rows, p=share)
    labels = np.array([f"class {k}" for k in range(n_classes)])
    weights = rng.integers(0, 4, n_rows).astype(float)
    return Rows(family.example(rng, codes, n_columns), codes, weights, labels, form)
