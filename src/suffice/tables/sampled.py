"""Columns that a model drew, as an array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.numerics.types import Array
from suffice.tables.levels import CodedColumn

__all__ = ["as_matrix"]


def as_matrix(columns: Sequence[Any], left_out: float = np.nan) -> Array:
    """Drawn columns as one array (n, d): of numbers, or of objects where a level is not a number.

    Parameters
    ----------
    columns : sequence of array, CodedColumn or None
        None is a column that was left out.
    left_out : float
        What stands in its place.

    Examples
    --------
    >>> as_matrix([np.array([1.0, 2.0]), None])
    array([[ 1., nan],
           [ 2., nan]])
    """
    whole = [column.values(len(column.codes)) if isinstance(column, CodedColumn) else column for column in columns]
    n = max((len(column) for column in whole if column is not None), default=0)
    whole = [np.full(n, left_out) if column is None else column for column in whole]
    try:
        # None becomes NaN; a text does not become a number, even if it could.
        if not any(isinstance(value, str) for column in whole if _of_objects(column) for value in column):
            return np.column_stack([np.asarray(column, dtype=np.float64) for column in whole])
    except (TypeError, ValueError):
        pass
    out = np.empty((n, len(whole)), dtype=object)
    for j, column in enumerate(whole):
        out[:, j] = column
    return out


def _of_objects(column: Any) -> bool:
    return isinstance(column, list) or column.dtype.kind == "O"
