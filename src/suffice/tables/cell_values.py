"""Cells of a table as Python values, as text, and as JSON has them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import date
from typing import Any

import numpy as np

from suffice.tables.levels import is_missing

__all__ = ["json_value", "plain_value", "value_text"]


def plain_value(value: object) -> object:
    """Return a cell as a Python value: None if it is missing, NumPy's scalars as Python's.

    >>> plain_value(np.float64("nan")), plain_value(np.int8(3)), plain_value(np.datetime64("2024-05-01"))
    (None, 3, datetime.date(2024, 5, 1))
    """
    if is_missing(value):
        return None
    if isinstance(value, np.datetime64 | np.timedelta64):
        in_nanoseconds = np.datetime_data(value.dtype)[0] in ("ns", "ps", "fs", "as")
        value = value.astype(f"{value.dtype.kind}8[us]") if in_nanoseconds else value
    return value.item() if isinstance(value, np.generic) else value


def value_text(value: object) -> str:
    """Return a value as text: nothing for None, numbers to six digits, dates without a time at midnight.

    >>> value_text(0.1234567), value_text(date(2024, 5, 1)), value_text((2.0, "red")), value_text(None)
    ('0.123457', '2024-05-01', '2, red', '')
    """
    if value is None:
        return ""
    if isinstance(value, float | np.floating):
        return f"{value:.6g}"
    if isinstance(value, tuple):
        return ", ".join(map(value_text, value))
    text = str(value)
    return text.removesuffix(" 00:00:00") if isinstance(value, date) else text


def json_value(value: Any) -> Any:
    """A value in types of JSON: arrays and tuples are lists, numbers that are not finite are None, others are texts.

    >>> json_value({"a": (1, float("nan")), 2: np.arange(2)})
    {'a': [1, None], '2': [0, 1]}
    """
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {str(key): json_value(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [json_value(each) for each in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value if value is None or isinstance(value, bool | int | str) else str(value)
