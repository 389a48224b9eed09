"""Rows of numbers whose columns are separate arrays, as in a data frame.

The kernels read the columns in place. Code that needs a matrix converts the rows that it uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import overload

import numpy as np
from numpy.typing import DTypeLike

from suffice.kernels import ArrowColumn
from suffice.numerics.types import Array, Selection

__all__ = ["ColumnMatrix", "Part"]

Part = Array | ArrowColumn | Callable[[int, int], Array]
"""A column: an array of any real type, numbers with a validity bitmap, or a function that returns a copy of the rows
from a start to a stop position.
"""
BLOCK_CELLS = 1 << 21  # cells that `blocks` yields together if columns must be copied


class ColumnMatrix:
    """A matrix (n, d) of numbers stored column by column; NaN is a missing cell.

    >>> x = ColumnMatrix(2, [np.array([1, 2], dtype=np.int8), np.array([0.5, np.nan])])
    >>> x.shape, np.asarray(x)
    ((2, 2), array([[1. , 0.5],
           [2. , nan]]))
    """

    dtype = np.dtype(np.float64)
    ndim = 2

    def __init__(self, n_rows: int, parts: Sequence[Part], start: int = 0) -> None:
        self.shape = n_rows, len(parts)
        self._parts = parts
        self._start = start  # position of the first row among all rows that the functions return

    @property
    def is_stored(self) -> bool:
        """Whether every column is an array, so that nothing must be copied."""
        return all(isinstance(part, np.ndarray) for part in self._parts)

    @property
    def lying(self) -> list[Array | ArrowColumn] | None:
        """The stored columns, arrays or numbers with a validity bitmap; None if a column must be copied."""
        lying = [part for part in self._parts if isinstance(part, np.ndarray | ArrowColumn)]
        return lying if len(lying) == len(self._parts) else None

    @cached_property
    def columns(self) -> list[Array]:
        """The columns as arrays, as the kernels read them."""
        stop, holed = self._start + self.shape[0], sum(isinstance(part, ArrowColumn) for part in self._parts)
        room = iter(np.empty((holed, self.shape[0])))  # one allocation: fresh memory costs more than the copy
        copied = (part.numbers(next(room)) if isinstance(part, ArrowColumn) else part for part in self._parts)
        return [part(self._start, stop) if callable(part) else part for part in copied]

    def __len__(self) -> int:
        return self.shape[0]

    def copied(self) -> ColumnMatrix:
        """Return the matrix with every column as an array."""
        return ColumnMatrix(len(self), self.columns)

    def rows(self, start: int, stop: int) -> ColumnMatrix:
        """Return the rows start..stop−1."""
        stop = min(stop, self.shape[0])
        parts = [_rows_of(part, start, stop) for part in self._parts]
        return ColumnMatrix(stop - start, parts, self._start + start)

    def blocks(self) -> Iterator[tuple[int, ColumnMatrix]]:
        """Yield the rows with the position of the first; in blocks if columns must be copied."""
        step = len(self) if self.is_stored else -(-BLOCK_CELLS // max(self.shape[1], 1))
        for start in range(0, len(self), max(step, 1)):
            yield start, self.rows(start, start + step)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        out = np.empty(self.shape[::-1], dtype=np.float64 if dtype is None else dtype)
        for j, column in enumerate(self.columns):
            out[j] = column
        return out.T

    @overload
    def __getitem__(self, index: Selection) -> Array: ...

    @overload
    def __getitem__(self, index: tuple[Selection, int]) -> Array: ...

    @overload
    def __getitem__(self, index: tuple[Selection, Selection]) -> Array | ColumnMatrix: ...

    def __getitem__(self, index: Selection | tuple[Selection, Selection | int]) -> Array | ColumnMatrix:
        """Return rows as an array; with a second index, one column as an array or some columns."""
        if isinstance(index, slice):
            start, stop, step = index.indices(len(self))
            return np.asarray(self.rows(start, max(start, stop))) if step == 1 else np.asarray(self)[index]
        if not isinstance(index, tuple):
            some = np.arange(len(self))[index]
            chosen = [column[some].astype(np.float64) for column in self.columns]
            return np.column_stack(chosen) if chosen else np.empty((len(some), 0))
        rows, columns = index
        if isinstance(columns, int | np.integer):
            return self.columns[columns][rows].astype(np.float64, copy=False)
        if isinstance(rows, slice) and rows == slice(None) and not isinstance(columns, slice):
            return ColumnMatrix(len(self), [self._parts[j] for j in columns], self._start)
        return np.asarray(self)[index]


def _rows_of(part: Part, start: int, stop: int) -> Part:
    """Return rows start..stop−1 of a column; a function is unchanged, because it takes positions among all rows."""
    if isinstance(part, ArrowColumn):
        return part.rows(start, stop)
    return part if callable(part) else part[start:stop]
