"""A batch of rows with access by column. Sources produce tables, and the blocks of a model read their columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np

from suffice import kernels
from suffice.exceptions import InputError
from suffice.numerics.types import Array, Float, Index, Matrix, SparseMatrix
from suffice.tables.column_blocks import ColumnBlocks
from suffice.tables.family_scores import FamilyScores
from suffice.tables.levels import Coded, CodedColumn, coded_numbers
from suffice.tables.sparse_cells import is_sparse, some_rows
from suffice.tables.stored_columns import NumberRows
from suffice.tables.thresholded import ThresholdedMatrix

__all__ = ["ColumnSelection", "Kind", "MatrixTable", "Schema", "Table", "as_table", "dense_numbers", "is_sparse"]

Kind = Literal["number", "bool", "time", "duration", "category", "text", "empty"]
"""The type group of a column: numbers (whole or not), booleans, points in time, lengths of time, a declared category,
strings (which may be a category), or empty because all cells are missing."""
ColumnSelection = slice | list[int]
"""Columns of a table by position."""


@dataclass(frozen=True)
class Schema:
    """Names and kinds of the columns of a table."""

    names: Sequence[object]
    kinds: Sequence[Kind]
    named: bool = False  # whether columns have names and are matched by name
    scores: FamilyScores | None = None  # of the families that were chosen by the data
    found: ColumnBlocks | None = None  # blocks that were found in the data

    def __len__(self) -> int:
        return len(self.names)

    @property
    def times(self) -> list[object]:
        """Columns of points in time."""
        return [name for name, kind in zip(self.names, self.kinds, strict=True) if kind == "time"]


class Table(ABC):
    """Contract of tables: rows in memory whose columns can be read as numbers, codes of levels, or documents.

    See Also
    --------
    suffice.tables.MatrixTable : A table of one matrix of numbers.
    suffice.tables.Coded : Columns as codes of levels.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.tables import MatrixTable
    >>> table = MatrixTable(np.array([[1.0, 7.0], [2.0, 5.0]]))
    >>> table.numbers([1], ["size"]).ravel()
    array([7., 5.])
    """

    names: Sequence[object] | None = None  # of the columns, if they have names

    @abstractmethod
    def __len__(self) -> int: ...

    @property
    @abstractmethod
    def kinds(self) -> Sequence[Kind]:
        """Kind of each column."""

    @property
    def dtype(self) -> np.dtype[np.floating[Any]]:
        """Floating type of the numbers: float64, or the type of a matrix of floating-point numbers."""
        return np.dtype(np.float64)

    @property
    def cells_of_row(self) -> int:
        """Number of cells stored for a row."""
        return len(self.kinds)

    @property
    def divisible(self) -> bool:
        """Whether `rows` is cheap, because consecutive rows are stored together."""
        return True

    @abstractmethod
    def rows(self, start: int, stop: int) -> Table:
        """Return the rows start..stop−1."""

    @abstractmethod
    def take(self, index: Index) -> Table:
        """Return the rows at these positions."""

    def copied(self) -> Table:
        """Return a copy of all rows, which later changes of their source do not change."""
        return self.take(np.arange(len(self)))

    @abstractmethod
    def numbers(self, columns: ColumnSelection, names: Sequence[object], *, copy: bool | None = False) -> Matrix:
        """Return columns as a matrix of float64 or float32, dense or sparse (CSR or CSC), or as a `ColumnMatrix`.

        Separate columns become a `ColumnMatrix`, which reads them in place; with ``copy=True`` they become one array,
        with ``copy=None`` only if they have so few cells that copying them is faster.
        """

    @abstractmethod
    def categories(self, columns: ColumnSelection, names: Sequence[object]) -> Coded:
        """Return columns as codes of levels."""

    def listed(self, column: int, rows: Index) -> Sequence[object]:
        """Return the cells of a column in some rows as Python objects; by default as levels."""
        return self.take(rows).categories([column], [column]).columns[0].values(len(rows))

    def documents(self, columns: ColumnSelection, names: Sequence[object]) -> Any:
        """Return the one selected column as `suffice.text.texts.Texts`; raises `InputError` if it holds numbers."""
        raise InputError(
            f"Column {names[0]!r} holds numbers; expected text. Convert it to strings (None for a missing cell), or "
            "choose another family for it.",
            column=names[0],
        )


@dataclass(frozen=True, eq=False)
class MatrixTable(Table):
    """A table of one matrix of numbers, a NumPy array or a SciPy sparse matrix.

    See Also
    --------
    suffice.tables.Table : The contract of tables.
    suffice.tables.Coded : Columns as codes of levels.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.tables import MatrixTable
    >>> table = MatrixTable(np.array([[1.0, 7.0], [2.0, 5.0]]))
    >>> table.categories([1], ["size"]).columns[0].levels.values
    (5, 7)
    """

    x: Matrix
    kind: Kind = "number"
    exact: Array | None = None  # the same numbers in a type that distinguishes all of them, for categories
    above: float | None = None  # threshold: numbers above count as 1, others as 0
    most: Float | None = None  # upper bound of the numbers of each column (d,), if known

    @cached_property
    def ranges(self) -> kernels.Ranges:
        """Range of each column of a dense matrix."""
        return kernels.value_ranges(self.x)

    def __len__(self) -> int:
        return int(self.x.shape[0])

    @property
    def kinds(self) -> Sequence[Kind]:
        """One kind for all columns."""
        return [self.kind] * self.x.shape[1]

    @property
    def dtype(self) -> np.dtype[np.floating[Any]]:
        """Type of the matrix if it is a floating type; float64 otherwise."""
        dtype: np.dtype[np.floating[Any]] = self.x.dtype
        return dtype if dtype.kind == "f" else super().dtype

    @property
    def cells_of_row(self) -> int:
        """Number of columns; of a sparse matrix, the average number of cells stored for a row."""
        return int(self.x.nnz // max(len(self), 1) if is_sparse(self.x) else self.x.shape[1])

    @property
    def divisible(self) -> bool:
        """False for a sparse matrix stored by columns."""
        return not is_sparse(self.x) or self.x.format == "csr"

    def rows(self, start: int, stop: int) -> MatrixTable:
        """Return the rows start..stop−1."""
        exact = None if self.exact is None else self.exact[start:stop]
        x = some_rows(self._by_row, start, stop) if is_sparse(self.x) else self.x[start:stop]
        return replace(self, x=x, exact=exact)

    @cached_property
    def _by_row(self) -> SparseMatrix:
        by_row: SparseMatrix = self.x if self.x.format == "csr" else self.x.tocsr()
        return by_row

    def copied(self) -> MatrixTable:
        """Return a copy of all rows."""
        return replace(self, x=self.x.copy(), exact=None if self.exact is None else self.exact.copy())

    def take(self, index: Index) -> MatrixTable:
        """Return the rows at these positions; a view if they are consecutive."""
        if len(index) and index[-1] - index[0] + 1 == len(index) and (np.diff(index) == 1).all():
            return self.rows(int(index[0]), int(index[-1]) + 1)
        x = self._by_row[index] if is_sparse(self.x) else np.take(self.x, index, axis=0)
        return replace(self, x=x, exact=None if self.exact is None else self.exact[index])

    def numbers(self, columns: ColumnSelection, names: Sequence[object], *, copy: bool | None = False) -> Matrix:
        """Return columns, a view if they are consecutive; as `ThresholdedMatrix` if there is a threshold."""
        x = self.x if columns == slice(None) else _some_columns(self.x, columns)
        return x if self.above is None else ThresholdedMatrix(x, self.above)

    def copies(self, columns: ColumnSelection) -> bool:
        """Whether `numbers` of these columns is a copy: they are apart in the rows of a dense matrix."""
        return not (is_sparse(self.x) or isinstance(_consecutive(columns), slice))

    def categories(self, columns: ColumnSelection, names: Sequence[object]) -> Coded:
        """Return columns as codes of their numbers; cells that a sparse matrix does not store have the level 0."""
        x = self.numbers(columns, names)
        if self.exact is not None:
            x = self.exact if columns == slice(None) else self.exact[:, columns]
        if is_sparse(x):
            by_column = x.tocsc()
            return Coded(len(self), tuple(_sparse_column(by_column, j) for j in range(x.shape[1])))
        return NumberRows(x, self.__dict__.get("ranges") if x is self.x else None)

    def listed(self, column: int, rows: Index) -> Sequence[object]:
        """Return the cells of a column in some rows; points in time and lengths of time to the microsecond."""
        if is_sparse(self.x):
            cells = self._by_row[rows][:, [column]].toarray().ravel()
        else:
            cells = np.asarray((self.x if self.exact is None else self.exact)[rows, column])
        if self.kind not in ("time", "duration"):
            return list(cells.tolist())
        unit = "datetime64[us]" if self.kind == "time" else "timedelta64[us]"
        known = np.isfinite(cells)
        moments = np.rint(np.where(known, cells, 0.0) * 1e6).astype(np.int64).astype(unit)
        return [moment if here else None for moment, here in zip(moments.tolist(), known.tolist(), strict=True)]


def _some_columns(x: Matrix, columns: ColumnSelection) -> Matrix:
    columns = _consecutive(columns)
    if isinstance(columns, list) and isinstance(x, np.ndarray) and x.flags.c_contiguous:
        return np.take(x, columns, axis=1)  # several times faster than x[:, columns]
    return x[:, columns]


def _consecutive(columns: ColumnSelection) -> slice | list[int]:
    """A slice if the columns are consecutive, otherwise their positions."""
    if isinstance(columns, slice):
        return columns
    at = list(columns)
    return slice(at[0], at[-1] + 1) if at and at == list(range(at[0], at[-1] + 1)) else at


def _sparse_column(x: SparseMatrix, j: int) -> CodedColumn:
    here = slice(x.indptr[j], x.indptr[j + 1])
    levels, codes = coded_numbers(np.append(x.data[here], 0))
    rows = x.indices[here].astype(np.int64)
    if len(rows) < x.shape[0]:
        return CodedColumn(levels, codes[:-1], rows, int(codes[-1]))
    if not (codes[:-1] == codes[-1]).any():  # every cell is stored, and none is zero
        zero = codes[-1]
        levels = levels.taking(np.arange(len(levels)) != zero)
        codes = codes - (codes > zero)
    return CodedColumn(levels, codes[:-1], rows)


def as_table(x: Table | Matrix) -> Table:
    """Convert a matrix to a table; a table is returned unchanged."""
    return x if isinstance(x, Table) else MatrixTable(x)


def dense_numbers(table: Table, columns: list[int], names: Sequence[object]) -> Float:
    """Columns of a table as one array of float64 (n, d), with NaN in missing cells.

    >>> dense_numbers(MatrixTable(np.array([[1, 7], [2, 5]])), [1], ["size"])
    array([[7.],
           [5.]])
    """
    found = table.numbers(columns, names, copy=True)
    if isinstance(found, ThresholdedMatrix):
        found = found.plain()
    return np.array(found.toarray() if is_sparse(found) else found, dtype=np.float64)
