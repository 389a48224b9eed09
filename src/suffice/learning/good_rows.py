"""Use the good rows of a batch: a bad row is an error with its place in the source, or it is skipped and counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from suffice.exceptions import InputError, MergeError, SufficeError
from suffice.numerics.types import Float, Index
from suffice.sources.engine_types import ArrowTable
from suffice.sources.files import Batch, RowLocations

__all__ = ["of_good_rows", "weights_of"]

T = TypeVar("T")


def of_good_rows(
    batch: Batch, skip_or_raise: Callable[[SufficeError, int, bool], None], use: Callable[[ArrowTable], T]
) -> T | None:
    """The result of ``use`` for the rows of a batch; None if the batch has no good row.

    An error of ``use`` that knows its rows becomes an error with their place in the source, or those rows are skipped
    and counted. All rows with the same problem are skipped at once.

    Parameters
    ----------
    skip_or_raise : callable
        Takes the error, the number of bad rows, and whether these are all rows of the batch; it raises, or the rows
        are skipped.
    use : callable
        Takes an Arrow table of rows.
    """
    rows, locations = batch.rows, batch.locations
    used: Index | None = None  # positions in the batch of the rows that are still used
    while len(rows):
        try:
            return use(rows)
        except ValueError as error:
            located = _located(error, locations, used, len(batch))
            if located is None:
                raise
            if located.rows is None:
                raise located from error
            skip_or_raise(located, len(located.rows), len(located.rows) == len(batch) > 1)
            good = np.setdiff1d(np.arange(len(rows)), located.rows)
            used = good if used is None else used[good]
            rows = rows.take(good)
    return None


def _located(error: ValueError, locations: RowLocations, used: Index | None, n_rows: int) -> SufficeError | None:
    """The error with the place of its first row in the source; None for an error that names no rows."""
    if isinstance(error, MergeError):
        return None
    if not isinstance(error, SufficeError):
        # scikit-learn's sentences go on with advice about other estimators.
        return InputError(str(error).split("\n")[0])
    if error.rows is None:
        return None
    row = int(error.rows[0])
    location = locations.of(row if used is None else int(used[row]))
    located = error.located(str(location), file=location.file, line=location.line)
    if len(error.rows) == 1:
        return located
    if len(error.rows) == n_rows:
        more = f" All {n_rows:,} rows of this batch have this problem."
    else:
        more = f" ({len(error.rows):,} rows of this batch have this problem.)"
    return located.restated(*located.sentence, more)


def weights_of(rows: ArrowTable, name: str) -> Float:
    """A column of row weights. Raises `InputError` with the invalid rows."""
    import pyarrow as pa

    column = rows[name]
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise InputError(
            f"Column {name!r} holds values of type {column.type}, but weights must be numbers. Choose another column.",
            column=name,
        )
    found: Float = column.cast(pa.float64(), safe=False).to_numpy()
    bad = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
    if len(bad):
        value = column[int(bad[0])].as_py()
        problem = "is missing" if value is None else f"holds {value!r}"
        raise InputError.in_row(f"{problem}; a weight is a finite number of at least 0.", rows=bad, column=name)
    return found
