"""A batch of rows, by column: what sources make and blocks take their columns from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from scipy import sparse

from suffice import kernels
from suffice.exceptions import InputError
from suffice.numerics.types import Codes, Float, Index, Mask
from suffice.tables.levels import Coded, CodedColumn, coded_numbers
from suffice.tables.sparse_cells import some_rows
from suffice.tables.stored_columns import NumberRows
from suffice.tables.thresholded import ThresholdedMatrix

__all__ = ["Columns", "Kind", "MatrixTable", "Schema", "Table", "as_table", "is_sparse", "present_rows"]

Kind = Literal["number", "bool", "time", "duration", "category", "text", "empty"]
"""What a column's type says of it: a number (whole or not), yes or no, a time or a length of it, a category by
declaration, a text that may be one, or nothing because all its cells are missing."""
Columns = slice | list[int]


@dataclass(frozen=True)
class Schema:
    """The columns of a table: their names, and what their types say of them."""

    names: Sequence[object]
    kinds: Sequence[Kind]
    named: bool = False  # whether columns have names, and are found by them

    def __len__(self) -> int:
        return len(self.names)


class Table(ABC):
    """A batch of rows. Each column can be read as numbers (NaN where missing), as codes of levels, or as documents."""

    names: Sequence[object] | None = None  # of its columns, if they have any

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def kinds(self) -> Sequence[Kind]:
        """What the type of each column says of it."""

    @property
    def cells_of_row(self) -> int:
        """How many cells a row has, as far as they are stored."""
        return len(self.kinds)

    @property
    def divisible(self) -> bool:
        """Whether rows that follow one another are found without looking at all."""
        return True

    @abstractmethod
    def rows(self, start: int, stop: int) -> Table:
        """The rows start..stop−1."""

    @abstractmethod
    def take(self, index: Index) -> Table:
        """The rows at those places."""

    @abstractmethod
    def numbers(self, columns: Columns, names: Sequence[object]) -> Any:
        """Those columns as a matrix of float64 or float32, dense or sparse (CSR or CSC); or as a `ColumnMatrix`."""

    @abstractmethod
    def categories(self, columns: Columns, names: Sequence[object]) -> Coded:
        """Those columns as codes of levels."""

    def documents(self, columns: Columns, names: Sequence[object]) -> Any:
        """The one column there is among those as texts, `suffice.text.texts.Texts`; raises where it holds none."""
        raise InputError(
            f"Column {names[0]!r} holds numbers, where text is due. Give it as a column of texts (str, with None where "
            "one is missing), or give the column another family."
        )


@dataclass(frozen=True, eq=False)
class MatrixTable(Table):
    """Rows that come as one matrix of numbers, a NumPy array or a SciPy sparse one.

    >>> table = MatrixTable(np.array([[1.0, 7.0], [2.0, 5.0]]))
    >>> table.categories([1], ["size"]).columns[0].levels.values
    (5, 7)
    """

    x: Any
    kind: Kind = "number"
    exact: Any = None  # the same numbers in a type that tells all of them apart, for categories
    above: float | None = None  # numbers above it are yes, others no
    most: Float | None = None  # no number of a column is larger, if that is known (d,)

    @cached_property
    def ranges(self) -> kernels.Ranges:
        """What the columns of a dense matrix hold."""
        return kernels.value_ranges(self.x)

    def __len__(self) -> int:
        return int(self.x.shape[0])

    @property
    def kinds(self) -> Sequence[Kind]:
        """One kind for all columns."""
        return [self.kind] * self.x.shape[1]

    @property
    def cells_of_row(self) -> int:
        """Number of columns, or of a sparse matrix what a row has on average."""
        return int(self.x.nnz // max(len(self), 1) if is_sparse(self.x) else self.x.shape[1])

    @property
    def divisible(self) -> bool:
        """Not where a sparse matrix is stored by columns."""
        return not is_sparse(self.x) or self.x.format == "csr"

    def rows(self, start: int, stop: int) -> MatrixTable:
        """The rows start..stop−1."""
        exact = None if self.exact is None else self.exact[start:stop]
        x = some_rows(self._by_row, start, stop) if is_sparse(self.x) else self.x[start:stop]
        return replace(self, x=x, exact=exact)

    @cached_property
    def _by_row(self) -> Any:
        return self.x if self.x.format == "csr" else self.x.tocsr()

    def take(self, index: Index) -> MatrixTable:
        """The rows at those places; a view where they follow one another."""
        if len(index) and index[-1] - index[0] + 1 == len(index) and (np.diff(index) == 1).all():
            return self.rows(int(index[0]), int(index[-1]) + 1)
        x = self._by_row[index] if is_sparse(self.x) else np.take(self.x, index, axis=0)
        return replace(self, x=x, exact=None if self.exact is None else self.exact[index])

    def numbers(self, columns: Columns, names: Sequence[object]) -> Any:
        """Those columns, a view where they are a slice; as `ThresholdedMatrix` if there is a threshold."""
        x = self.x if columns == slice(None) else self.x[:, columns]
        return x if self.above is None else ThresholdedMatrix(x, self.above)

    def categories(self, columns: Columns, names: Sequence[object]) -> Coded:
        """Those columns as codes of the numbers in them; what a sparse matrix does not store is the level 0."""
        x = self.numbers(columns, names)
        if self.exact is not None:
            x = self.exact if columns == slice(None) else self.exact[:, columns]
        if is_sparse(x):
            by_column = x.tocsc()
            return Coded(len(self), tuple(_sparse_column(by_column, j) for j in range(x.shape[1])))
        return NumberRows(x, self.__dict__.get("ranges") if x is self.x else None)


def _sparse_column(x: Any, j: int) -> CodedColumn:
    here = slice(x.indptr[j], x.indptr[j + 1])
    levels, codes = coded_numbers(np.append(x.data[here], 0))
    rows = x.indices[here].astype(np.int64)
    if len(rows) < x.shape[0]:
        return CodedColumn(levels, codes[:-1], rows, int(codes[-1]))
    if not (codes[:-1] == codes[-1]).any():  # no cell is zero after all
        zero = codes[-1]
        levels = levels.taking(np.arange(len(levels)) != zero)
        codes = codes - (codes > zero)
    return CodedColumn(levels, codes[:-1], rows)


def is_sparse(x: Any) -> bool:
    """Whether x is a SciPy sparse matrix or array."""
    return bool(sparse.issparse(x))


def as_table(x: Any) -> Table:
    """A matrix as a table; a table as it is."""
    return x if isinstance(x, Table) else MatrixTable(x)


def present_rows(codes: Codes | None, weights: Float | None) -> Mask | None:
    """Which rows count at all, None for all of them."""
    out = None if codes is None or codes.min(initial=0) >= 0 else codes >= 0
    if weights is not None and not (weights > 0).all():
        out = weights > 0 if out is None else out & (weights > 0)
    return out
