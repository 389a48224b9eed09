"""Rows to test laws on, in every form that a source may read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy import sparse

from suffice.families import Family
from suffice.families.capabilities import BlockRows
from suffice.model import Block
from suffice.numerics.types import Array, Codes, Float, Index, Mask, Matrix
from suffice.sources.columns import ColumnTable, ObjectColumn
from suffice.statistics import ClassAxis, Membership
from suffice.tables import Coded, MatrixTable, Table
from suffice.tables.levels import is_missing
from suffice.tables.table import as_table
from suffice.text.table import TextTable
from suffice.text.texts import Texts

__all__ = ["FORMS", "Form", "Rows", "are_texts", "example_rows", "plain_table"]

Form = Callable[[Array], Table]


def are_texts(x: object) -> bool:
    """Whether rows hold texts."""
    return isinstance(x, np.ndarray) and x.dtype.kind == "O"


def plain_table(x: Matrix) -> Table:
    """A matrix of numbers, or a column of texts, as a table."""
    return TextTable(Texts.of(x)) if are_texts(x) else as_table(x)


@dataclass(frozen=True)
class Rows:
    """Rows to test a family on, each with a class code and a weight.

    Parameters
    ----------
    x : array of shape (n, d), or a Coded batch
        An array of numbers, or one column of texts.
    codes : array of shape (n,)
        Class code of each row.
    weights : array of shape (n,)
        Weight of each row: whole numbers, so that a row can be repeated instead.
    labels : array of shape (K,)
        Sorted class labels; a code is a position on this axis.
    form : callable
        Function that converts x to the table that a source would read: a matrix, a sparse matrix, or columns of a
        frame; see `FORMS`.

    See Also
    --------
    suffice.testing.example_rows : Makes rows of a family.
    suffice.testing.FORMS : The forms in which rows are read.

    Examples
    --------
    The number of calls per hour in two classes, read as the columns of a frame:

    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> from suffice.testing import FORMS, Rows, check_split
    >>> x, labels = np.array([[3.0], [5.0], [0.0], [1.0]]), np.array(["busy", "quiet"])
    >>> rows = Rows(x, np.array([0, 0, 1, 1]), np.ones(4), labels, FORMS["frame"])
    >>> rows.table
    ColumnTable(n_rows=4, columns=[ObjectColumn(values=[3.0, 5.0, 0.0, 1.0])], names=None)
    >>> check_split(Poisson(), rows, np.random.default_rng(0))
    """

    x: BlockRows
    codes: Codes
    weights: Float
    labels: Array
    form: Form = plain_table

    def take(self, index: Index | Mask | slice) -> Rows:
        """Some of the rows."""
        x = self.x.take(index) if isinstance(self.x, Coded) else self.x[index]
        return replace(self, x=x, codes=self.codes[index], weights=self.weights[index])

    def batch(self, family: Family) -> BlockRows:
        """The rows as the family reads them."""
        if isinstance(self.x, Coded):
            return self.x
        return Block(family, slice(None), range(self.x.shape[1])).take(self.table)

    @cached_property
    def table(self) -> Table:
        """The table that a source would read."""
        return self.form(self.x)

    def members(self) -> Membership:
        """The membership of the rows."""
        return Membership(ClassAxis(self.labels), codes=self.codes, weights=self.weights)


def _sparse(x: Matrix) -> Table:
    """A sparse matrix; CSR for an odd number of rows, CSC for an even one."""
    if are_texts(x):
        return TextTable(Texts.of(tuple(x[:, 0])))  # texts have no sparse form
    kind = sparse.csr_array if len(x) % 2 else sparse.csc_array
    return MatrixTable(kind(np.asarray(x, dtype=np.float64)))


def _frame(x: Matrix) -> Table:
    """Columns of Python objects, with None for missing cells."""
    columns = [[None if is_missing(v) else v for v in column] for column in np.asarray(x).T.tolist()]
    return ColumnTable(len(x), [ObjectColumn(column) for column in columns])


FORMS: dict[str, Form] = {"dense": plain_table, "sparse": _sparse, "frame": _frame}
"""Functions that convert an array to the table that a source would read, by name; an argument of `example_rows`."""


def example_rows(
    family: Family,
    rng: np.random.Generator,
    n_rows: int = 60,
    n_columns: int = 3,
    n_classes: int = 3,
    form: Form = plain_table,
) -> Rows:
    """Make example rows of a family, in labelled classes of unequal size, with weights from 0 to 3.

    Parameters
    ----------
    family : Family
        The family, which makes the cells.
    rng : Generator
        Random generator.
    n_rows, n_columns, n_classes : int, default=60, 3 and 3
        Number of rows, columns and classes.
    form : callable
        How the rows are read, a value of `FORMS`; by default as a matrix, or as texts.

    Returns
    -------
    Rows
        The rows, with class codes and weights.

    See Also
    --------
    suffice.testing.check_family : Tests a family on such rows.
    suffice.families.Family : Its method ``example`` makes the cells.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.families import Poisson
    >>> from suffice.testing import example_rows
    >>> rows = example_rows(Poisson(), np.random.default_rng(0), n_rows=6)
    >>> rows.x
    array([[nan,  0.,  0.],
           [nan,  0.,  0.],
           [ 0.,  0.,  0.],
           [ 0.,  5.,  3.],
           [ 0.,  3.,  3.],
           [ 0.,  1.,  3.]])
    >>> rows.codes, rows.weights
    (array([1, 1, 1, 2, 2, 0]), array([1., 3., 2., 0., 3., 2.]))
    """
    share = rng.dirichlet(np.full(n_classes, 3.0))
    codes = rng.choice(n_classes, size=n_rows, p=share)
    labels = np.array([f"class {k}" for k in range(n_classes)])
    weights = rng.integers(0, 4, n_rows).astype(float)
    return Rows(family.example(rng, codes, n_columns), codes, weights, labels, form)
