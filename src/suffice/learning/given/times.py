"""Points in time and durations among given numbers: models read them as seconds."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import numpy as np

from suffice.numerics.types import Array
from suffice.sources.columns import seconds
from suffice.sources.frames import in_seconds
from suffice.tables.table import Kind

__all__ = ["time_kinds", "with_seconds"]


def with_seconds(values: Array) -> Array:
    """The values with points in time as seconds since 1970, and durations in seconds.

    >>> with_seconds(np.array([np.datetime64("1970-01-02")])), with_seconds(np.array([timedelta(minutes=1), 3.0]))
    (array([86400.]), array([60.0, 3.0], dtype=object))
    """
    if values.dtype.kind in "mM":
        return in_seconds(values)
    if values.dtype.kind != "O":
        return values
    return np.array([_second(value) for value in values.ravel()], dtype=object).reshape(values.shape)


def _second(value: Any) -> Any:
    if isinstance(value, np.datetime64 | np.timedelta64):
        return float(in_seconds(np.array([value]))[0])
    return seconds(value) if isinstance(value, date | timedelta) else value


def time_kinds(values: Any, n_columns: int) -> tuple[Kind | None, ...]:
    """The kind of each column whose numbers of the first class are times or durations; None for others.

    >>> time_kinds([[date(2024, 5, 1), 3.0], [date(2024, 6, 1), 4.0]], 2)
    ('time', None)
    """
    first = np.atleast_1d(np.asarray(values))[:1].reshape(-1)
    return tuple(_kind(first[j]) if j < len(first) else None for j in range(n_columns))


def _kind(value: object) -> Kind | None:
    if isinstance(value, date | np.datetime64):
        return "time"
    return "duration" if isinstance(value, timedelta | np.timedelta64) else None
