"""What can be done with the good rows of a batch; the bad ones are an error that says where they are, or left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError, MergeError, SufficeError
from suffice.sources.files import Batch, RowLocations

__all__ = ["of_good_rows", "weights_of"]

T = TypeVar("T")
Index = NDArray[np.intp]


def of_good_rows(
    batch: Batch, reader: str, skip_or_raise: Callable[[SufficeError, int], None], use: Callable[[Any], T]
) -> T | None:
    """What ``use`` makes of the rows of a batch; None if there is no row in it, or no good one.

    What is wrong with a row is an error that names its place, or the row is left out and counted. All rows that are
    wrong in the same way are left out at once.

    Parameters
    ----------
    reader : str
        Who reads the rows, for messages.
    skip_or_raise : callable
        Takes the error about bad rows and their number; counts the rows as skipped, or raises the error.
    use : callable
        Takes an Arrow table of good rows.
    """
    rows, locations = batch.rows, batch.locations
    left: Index | None = None  # positions in the batch of the rows that are still used
    while len(rows):
        try:
            return use(rows)
        except ValueError as error:
            located = _located(error, reader, locations, left)
            if located is None:
                raise
            if located.rows is None:
                raise located from error
            skip_or_raise(located, len(located.rows))
            good = np.setdiff1d(np.arange(len(rows)), located.rows)
            left = good if left is None else left[good]
            rows = rows.take(good)
    return None


def _located(error: ValueError, reader: str, locations: RowLocations, left: Index | None) -> SufficeError | None:
    """The error with the place of its first row in the source; None for an error that concerns no rows."""
    if isinstance(error, MergeError):
        return None
    if not isinstance(error, SufficeError):
        # scikit-learn's sentences go on with advice about other estimators.
        return InputError(str(error).split("\n")[0])
    if error.rows is None:
        return None
    row = int(error.rows[0])
    location = locations.of(row if left is None else int(left[row]))
    located = error.located(str(location), file=location.file, line=location.line)
    more: list[str] = []
    if "contains NaN" in str(error):
        more.append(f" {reader} takes no missing values; fill them in, or use NaiveBayes, which accepts them.")
    if len(error.rows) > 1:
        more.append(f" ({len(error.rows):,} rows of this batch have this problem.)")
    return type(located)(
        *located.sentence,
        *more,
        rows=located.rows,
        column=located.column,
        argument=located.argument,
        file=located.file,
        line=located.line,
    )


def weights_of(rows: Any, name: str) -> NDArray[np.float64]:
    """A column of row weights; what is none is an error that knows its rows."""
    import pyarrow as pa

    column = rows[name]
    if not (pa.types.is_integer(column.type) or pa.types.is_floating(column.type)):
        raise InputError(
            f"Column {name!r} holds values of the type {column.type}, and weights are numbers. Name a column of "
            "numbers."
        )
    found: NDArray[np.float64] = column.cast(pa.float64(), safe=False).to_numpy()
    bad = np.flatnonzero(~(np.isfinite(found) & (found >= 0)))
    if len(bad):
        value = column[int(bad[0])].as_py()
        problem = "is missing" if value is None else f"holds {value!r}"
        raise InputError.in_row(f"{problem}; a weight is a finite number of at least 0.", rows=bad, column=name)
    return found
