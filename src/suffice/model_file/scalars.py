"""Single values that JSON does not have, each encoded as a tag and a JSON value."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any, NamedTuple
from uuid import UUID

import numpy as np

from suffice.exceptions import ModelFileError
from suffice.model_file.arrays import Json, dtype_name, dtype_named

__all__ = ["ScalarCodec", "codec_for", "codec_tagged"]


class ScalarCodec(NamedTuple):
    """How values of one type are written and read."""

    tag: str
    pack: Callable[[Any], Json]
    unpack: Callable[[Any], object]


def _pandas(name: str) -> Callable[..., object]:
    """Return a class of pandas."""
    try:
        pandas_class: Callable[..., object] = vars(importlib.import_module("pandas"))[name]
    except ImportError:
        raise ModelFileError(f"the model holds a pandas {name}, but pandas is not installed; install it") from None
    return pandas_class


def _interval(parts: Json) -> object:
    left, right, closed = parts
    return _pandas("Interval")(*(_unpacked_end(each) for each in (left, right)), closed=closed)


FOLD = "~"  # appended to the second of two equal times when clocks are set back (``fold=1``)


def _pack_time(value: datetime | time) -> str:
    return value.isoformat() + FOLD * value.fold


def _unpack_time(kind: type[datetime] | type[time], text: str) -> datetime | time:
    return kind.fromisoformat(text.removesuffix(FOLD)).replace(fold=int(text.endswith(FOLD)))


def _packed_end(value: object) -> Json:
    """Encode an end of an interval, a number or a time."""
    if isinstance(value, np.integer | np.floating):
        value = value.item()
    if isinstance(value, int | float) and type(value) in (int, float):
        return value if np.isfinite(value) else str(value)
    codec = codec_for(value)
    if codec is None:
        raise TypeError
    return {codec.tag: codec.pack(value)}


def _unpacked_end(stored: Json) -> object:
    if isinstance(stored, str):
        return float(stored)
    return codec_tagged(next(iter(stored))).unpack(next(iter(stored.values()))) if isinstance(stored, dict) else stored


_BY_TYPE: dict[type, ScalarCodec] = {
    bytes: ScalarCodec("bytes", bytes.hex, bytes.fromhex),
    int: ScalarCodec("int", hex, lambda text: int(text, 16)),  # too large for some JSON readers
    float: ScalarCodec("float", str, float),  # infinity or NaN
    str: ScalarCodec(  # with lone surrogates, two of which JSON would join
        "text",
        lambda text: text.encode("utf-8", "surrogatepass").hex(),
        lambda text: bytes.fromhex(text).decode("utf-8", "surrogatepass"),
    ),
    date: ScalarCodec("date", date.isoformat, date.fromisoformat),
    datetime: ScalarCodec("datetime", _pack_time, lambda text: _unpack_time(datetime, text)),
    time: ScalarCodec("time", _pack_time, lambda text: _unpack_time(time, text)),
    timedelta: ScalarCodec("timedelta", lambda d: [d.days, d.seconds, d.microseconds], lambda parts: timedelta(*parts)),
    Decimal: ScalarCodec("decimal", str, Decimal),
    UUID: ScalarCodec("uuid", str, UUID),
}
# Cells of a pandas column may have types of pandas. It is imported only to load a file that holds such values.
_BY_PANDAS_TYPE: dict[str, ScalarCodec] = {
    "Timestamp": ScalarCodec("timestamp", lambda t: t.isoformat(), lambda text: _pandas("Timestamp")(text)),
    "Timedelta": ScalarCodec("duration", lambda d: d.isoformat(), lambda text: _pandas("Timedelta")(text)),
    "Interval": ScalarCodec("interval", lambda i: [_packed_end(i.left), _packed_end(i.right), i.closed], _interval),
}
_DTYPE = ScalarCodec("dtype", dtype_name, dtype_named)
_BY_TAG = {each.tag: each for each in (*_BY_TYPE.values(), *_BY_PANDAS_TYPE.values(), _DTYPE)}


def codec_for(value: object) -> ScalarCodec | None:
    """Return the codec of a value's type; None if there is none.

    >>> codec_for(Decimal("1.50")).pack(Decimal("1.50"))
    '1.50'
    """
    kind = type(value)
    if kind in _BY_TYPE:
        return _BY_TYPE[kind]
    if isinstance(value, np.dtype):
        return _DTYPE if dtype_name(value) is not None else None
    return _BY_PANDAS_TYPE.get(kind.__name__) if kind.__module__.split(".")[0] == "pandas" else None


def codec_tagged(tag: str) -> ScalarCodec:
    """Return the codec with that tag."""
    if tag not in _BY_TAG:
        raise ValueError(f"values of the kind {tag!r} are not supported")
    return _BY_TAG[tag]
