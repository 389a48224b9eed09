"""Columns sampled from a model, as one array."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from suffice.numerics.types import Array
from suffice.tables.levels import CodedColumn

__all__ = ["sampled_matrix"]


def sampled_matrix(columns: Sequence[Array | CodedColumn | None], fill: float = np.nan) -> Array:
    """Return sampled columns as one array (n, d): of numbers, or of objects if a level is not a number.

    Parameters
    ----------
    columns : sequence of array, CodedColumn or None
        None is a column that the model ignores.
    fill : float
        Value of all cells of an ignored column.

    Examples
    --------
    >>> sampled_matrix([np.array([1.0, 2.0]), None])
    array([[ 1., nan],
           [ 2., nan]])
    """
    known = [column.values(len(column.codes)) if isinstance(column, CodedColumn) else column for column in columns]
    n = max((len(column) for column in known if column is not None), default=0)
    whole = [np.full(n, fill) if column is None else column for column in known]
    try:
        # None becomes NaN; a string does not become a number, even if it could.
        if not any(isinstance(value, str) for column in whole if _holds_objects(column) for value in column):
            return np.column_stack([np.asarray(column, dtype=np.float64) for column in whole])
    except (TypeError, ValueError):
        pass
    out = np.empty((n, len(whole)), dtype=object)
    for j, column in enumerate(whole):
        out[:, j] = column
    return out


def _holds_objects(column: Array | list[Hashable]) -> bool:
    return isinstance(column, list) or column.dtype.kind == "O"
