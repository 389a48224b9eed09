"""Single values that JSON does not have, each as a tag and what JSON does have."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from suffice.exceptions import ModelFileError
from suffice.model_file.arrays import dtype_name, dtype_named

__all__ = ["Plain", "plain_named", "plain_of"]


class Plain(NamedTuple):
    """How values of one type are written and read."""

    tag: str
    pack: Callable[[Any], Any]
    unpack: Callable[[Any], Any]


def _pandas(name: str) -> Any:
    try:
        return getattr(importlib.import_module("pandas"), name)
    except ImportError:
        raise ModelFileError(f"The model holds a {name} of pandas, which is not installed. Install pandas.") from None


def _interval(parts: Any) -> Any:
    left, right, closed = parts
    return _pandas("Interval")(*(_read(each) for each in (left, right)), closed=closed)


SECOND = "~"  # behind a time that comes twice, when clocks are set back, and is the second of the two


def _moment(value: datetime | time) -> str:
    return value.isoformat() + SECOND * value.fold


def _moment_of(kind: Any, text: str) -> Any:
    return kind.fromisoformat(text.removesuffix(SECOND)).replace(fold=int(text.endswith(SECOND)))


def _written(value: Any) -> Any:
    """An end of an interval: a number or a time."""
    if isinstance(value, np.integer | np.floating):
        value = value.item()
    if type(value) in (int, float):
        return value if np.isfinite(value) else str(value)
    found = plain_of(value)
    if found is None:
        raise TypeError
    return {found.tag: found.pack(value)}


def _read(stored: Any) -> Any:
    if isinstance(stored, str):
        return float(stored)
    return plain_named(next(iter(stored))).unpack(next(iter(stored.values()))) if isinstance(stored, dict) else stored


_BY_TYPE: dict[type, Plain] = {
    bytes: Plain("bytes", bytes.hex, bytes.fromhex),
    int: Plain("int", hex, lambda text: int(text, 16)),  # beyond what JSON's readers agree on
    float: Plain("float", str, float),  # an infinity or NaN
    str: Plain(  # with half a surrogate pair, of which JSON would join two
        "text",
        lambda text: text.encode("utf-8", "surrogatepass").hex(),
        lambda text: bytes.fromhex(text).decode("utf-8", "surrogatepass"),
    ),
    date: Plain("date", date.isoformat, date.fromisoformat),
    datetime: Plain("datetime", _moment, lambda text: _moment_of(datetime, text)),
    time: Plain("time", _moment, lambda text: _moment_of(time, text)),
    timedelta: Plain("timedelta", lambda d: [d.days, d.seconds, d.microseconds], lambda parts: timedelta(*parts)),
    Decimal: Plain("decimal", str, Decimal),
    UUID: Plain("uuid", str, UUID),
}
# Cells of a pandas column may be of its own types; it is imported only where it was in use before.
_OF_PANDAS: dict[str, Plain] = {
    "Timestamp": Plain("timestamp", lambda t: t.isoformat(), lambda text: _pandas("Timestamp")(text)),
    "Timedelta": Plain("duration", lambda d: d.isoformat(), lambda text: _pandas("Timedelta")(text)),
    "Interval": Plain("interval", lambda i: [_written(i.left), _written(i.right), i.closed], _interval),
}
_DTYPE = Plain("dtype", dtype_name, dtype_named)
_BY_TAG = {each.tag: each for each in (*_BY_TYPE.values(), *_OF_PANDAS.values(), _DTYPE)}


def plain_of(value: object) -> Plain | None:
    """How a value is written; None if it is none of these.

    >>> plain_of(Decimal("1.50")).pack(Decimal("1.50"))
    '1.50'
    """
    kind = type(value)
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    if isinstance(value, np.dtype):
        return _DTYPE if dtype_name(value) is not None else None
    return _OF_PANDAS.get(kind.__name__) if kind.__module__.split(".")[0] == "pandas" else None


def plain_named(tag: str) -> Plain:
    """How a value of that tag is read."""
    if tag not in _BY_TAG:
        raise ValueError(f"there are no values of the kind {tag!r}")
    return _BY_TAG[tag]
