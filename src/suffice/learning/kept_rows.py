"""Keep a uniform sample of the rows of a stream, in the same pass that summarizes them.

The key of a row is a hash of its number, and the rows with the smallest keys are kept. The sample therefore does not
depend on how rows are divided into batches. If there are no more rows than the limit, all are kept, in order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.types import Codes
from suffice.statistics import ClassAxis, Membership

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["MOST_BYTES", "MOST_ROWS", "KeptRows"]

MOST_ROWS, MOST_BYTES = 100_000, 1 << 28
LARGEST_KEY = np.iinfo(np.uint64).max
CELL_BYTES = 8  # of a cell that is not a string
SLACK = 1.5  # lower the limit once this many times the rows to keep are stored


@dataclass(frozen=True, eq=False)
class _Piece:
    """Rows of a batch, with their keys."""

    keys: NDArray[np.uint64]
    rows: pa.Table
    members: Membership


class KeptRows:
    """The rows with the smallest keys, within limits on their number and size.

    Parameters
    ----------
    most : int
        Largest number of rows.
    most_bytes : int
        Largest size of all rows.

    Attributes
    ----------
    n_seen : int
        Number of rows added.

    Examples
    --------
    >>> import pyarrow as pa
    >>> kept = KeptRows(most=2)
    >>> axis = ClassAxis.of([0, 1])
    >>> for start in (0, 3, 6):
    ...     rows = pa.table({"x": np.arange(start, start + 3)})
    ...     kept.add(rows, Membership(axis, codes=np.array([0, 1, 0])))
    >>> kept.rows(axis)[0]["x"].to_pylist()
    [2, 4]
    """

    def __init__(self, most: int = MOST_ROWS, most_bytes: int = MOST_BYTES) -> None:
        self.most, self.most_bytes = most, most_bytes
        self.n_seen = 0
        self._limit = np.uint64(LARGEST_KEY)  # rows with larger keys will not be kept
        self._pieces: list[_Piece] = []  # may include rows above the limit, not dropped yet
        self._keys = np.empty(0, dtype=np.uint64)  # of all rows up to the limit, in any order
        self._sizes = np.empty(0, dtype=np.int64)
        self._stored = 0  # bytes of the pieces

    def add(self, rows: pa.Table, members: Membership) -> None:
        """Add the next batch of rows, and their classes."""
        keys = _keys(self.n_seen, len(members))
        self.n_seen += len(members)
        some = np.flatnonzero(keys <= self._limit)
        if not len(some):
            return
        part = rows if len(some) == len(keys) else rows.take(some)
        keys, sizes = keys[some], _sizes(part)
        self._pieces.append(_Piece(keys, part, members.take(some)))
        self._keys, self._sizes = np.append(self._keys, keys), np.append(self._sizes, sizes)
        self._stored += int(sizes.sum())
        if len(self._keys) > SLACK * self.most or self._stored > 2 * self.most_bytes:
            self._lower()

    def rows(self, axis: ClassAxis) -> tuple[pa.Table, Membership]:
        """Return the kept rows in order, with one chunk for each column, and their classes on an axis."""
        import pyarrow as pa

        self._lower()
        self._drop()
        members = [piece.members.on(axis) for piece in self._pieces]
        weights = None if members[0].weights is None else np.concatenate([each.weights for each in members])
        codes = np.concatenate([each.codes for each in members])
        rows = pa.concat_tables(
            _with_common_types([piece.rows for piece in self._pieces]), promote_options="permissive"
        )
        return rows.combine_chunks(), Membership(axis, codes=codes, weights=weights)

    def _lower(self) -> None:
        """Lower the limit to the largest key to keep."""
        if len(self._keys) > self.most:
            self._cut(np.partition(self._keys, self.most - 1)[self.most - 1])
        if int(self._sizes.sum()) > self.most_bytes:
            order = np.argsort(self._keys)
            fit = int(np.searchsorted(np.cumsum(self._sizes[order]), self.most_bytes, side="right"))
            self._cut(self._keys[order[max(fit, 1) - 1]])
        if self._stored > 2 * self.most_bytes:
            self._drop()

    def _cut(self, limit: np.uint64) -> None:
        below = self._keys <= limit
        self._limit, self._keys, self._sizes = limit, self._keys[below], self._sizes[below]

    def _drop(self) -> None:
        """Drop the rows above the limit."""
        self._pieces = [_below(piece, self._limit) for piece in self._pieces]
        self._stored = int(self._sizes.sum())


def _below(piece: _Piece, limit: np.uint64) -> _Piece:
    some = np.flatnonzero(piece.keys <= limit)
    if len(some) == len(piece.keys):
        return piece
    return _Piece(piece.keys[some], piece.rows.take(some), piece.members.take(some))


def _with_common_types(tables: list[pa.Table]) -> list[pa.Table]:
    """Return the tables with a common type for each column of numbers, times or durations.

    Arrow's own promotion refuses integers that float64 cannot represent and times of different zones.
    """
    import pyarrow as pa
    import pyarrow.types as at

    for j, name in enumerate(tables[0].column_names):
        kinds = {table.schema.field(j).type for table in tables}
        if len(kinds) == 1:
            continue
        common = None
        if all(at.is_integer(kind) or at.is_floating(kind) for kind in kinds):
            common = pa.float64()
        elif all(at.is_timestamp(kind) or at.is_date(kind) for kind in kinds):
            common = pa.timestamp("us")
        elif all(at.is_duration(kind) for kind in kinds):
            common = pa.duration("us")
        if common is not None:
            tables = [table.set_column(j, name, table.column(j).cast(common, safe=False)) for table in tables]
    return tables


def _keys(first: int, n: int) -> NDArray[np.uint64]:
    """Return the keys of n rows from their numbers: splitmix64, a bijection of 64-bit integers."""
    z = np.arange(first + 1, first + n + 1, dtype=np.uint64)
    z *= np.uint64(0x9E3779B97F4A7C15)
    shifted = np.empty_like(z)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1)):
        np.right_shift(z, np.uint64(shift), out=shifted)
        z ^= shifted
        if factor > 1:
            z *= np.uint64(factor)
    return z


def _sizes(rows: pa.Table) -> Codes:
    """Return the size of each row in bytes: 8 for each cell, and the length of each string."""
    import pyarrow as pa
    import pyarrow.compute as pc

    out = np.full(rows.num_rows, CELL_BYTES * rows.num_columns, dtype=np.int64)
    for column in rows.columns:
        column = column.cast(pa.large_string()) if pa.types.is_string_view(column.type) else column
        if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
            out += pc.binary_length(column).fill_null(0).to_numpy()
    return out
