"""What can be done with the good rows of a batch; the bad ones are an error that says where they are, or left out."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError, MergeError, SufficeError, at_rows, rows_at_fault
from suffice.sources.files import Batch, Places

__all__ = ["of_good_rows", "weights_of"]

T = TypeVar("T")
Index = NDArray[np.intp]
ROW = re.compile(r"(?:^Column (.+?), |(?<!['\"])\b)[Rr]ow (\d+)\b")  # as messages name a row, after its column or not


def of_good_rows(batch: Batch, reader: str, met: Callable[[str, int], None], use: Callable[[Any], T]) -> T | None:
    """What ``use`` makes of the rows of a batch; None if there is no row in it, or no good one.

    What is wrong with a row is an error that names its place, or the row is left out and counted. All rows that are
    wrong in the same way are left out at once.

    Parameters
    ----------
    reader : str
        Who reads the rows, for messages.
    met : callable
        Takes the sentence about bad rows and their number; it raises, or they are left out.
    use : callable
        Takes an Arrow table of good rows.
    """
    rows, places = batch.rows, batch.places
    left: Index | None = None  # the rows of the batch that are good so far
    while len(rows):
        try:
            return use(rows)
        except Exception as error:
            bad = rows_at_fault(error) if isinstance(error, ValueError) else None
            sentence = _told(error, reader, places, left)
            if bad is None:
                if sentence is None:
                    raise
                raise type(error)(sentence) if isinstance(error, SufficeError) else InputError(sentence) from error
            met(str(sentence), len(bad))
            good = np.setdiff1d(np.arange(len(rows)), bad)
            left = good if left is None else left[good]
            rows = rows.take(good)
    return None


def _told(error: Exception, reader: str, places: Places, left: Index | None) -> str | None:
    """The sentence of an error about rows, with their place in the source; None if it is about none."""
    if not isinstance(error, ValueError) or isinstance(error, MergeError):
        return None
    # scikit-learn's sentences go on with advice about other estimators.
    ours = isinstance(error, SufficeError)
    text = str(error) if ours else str(error).split("\n")[0]
    rows, said = rows_at_fault(error), ROW.search(text)
    if rows is None and said is None:
        return None if ours else text
    rows = [int(said[2])] if rows is None and said is not None else rows
    row = int(rows[0])
    place = places.of(row if left is None else int(left[row]))
    if said is None or int(said[2]) != row:
        named = f"{place}: {text}"
    elif said[1]:  # the column comes first
        named = f"{place}, column {said[1]}{text[said.end() :]}"
    else:
        named = f"{text[: said.start()]}{place}{text[said.end() :]}"
    if "contains NaN" in text:
        named += f" {reader} takes no missing values; fill them in, or use NaiveBayes, which reads rows with holes."
    return named if len(rows) == 1 else f"{named} ({len(rows):,} rows of these are at fault.)"


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
        said = "holds no weight" if value is None else f"holds {value!r}, which is no weight"
        error = InputError(f"Column {name!r}, row {bad[0]} {said}; a weight is a finite number of at least 0.")
        raise at_rows(error, bad)
    return found
