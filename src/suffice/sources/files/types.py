"""What columns are read as: the words of a user, and Arrow's types."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from suffice.exceptions import InputError, listed, short

__all__ = ["ASKED", "asked_types", "is_a", "stated", "united", "wide"]

ASKED = ("number", "text", "yes/no", "time")


def stated(kind: Any) -> str:
    """An Arrow type in one word.

    >>> import pyarrow as pa
    >>> stated(pa.int32()), stated(pa.float64()), stated(pa.date32()), stated(pa.dictionary(pa.int8(), pa.string()))
    ('whole number', 'number', 'time', 'category')
    """
    import pyarrow.types as known

    if known.is_boolean(kind):
        return "yes/no"
    if known.is_integer(kind):
        return "whole number"
    if known.is_floating(kind) or known.is_decimal(kind):
        return "number"
    if known.is_duration(kind):
        return "duration"
    if known.is_temporal(kind):
        return "time"
    if known.is_dictionary(kind):
        return "category"
    if known.is_list(kind):
        return "list"
    return "object" if known.is_struct(kind) else "text"


def is_a(kind: Any) -> str:
    """What a cell of that type has to be, as a message says it.

    >>> import pyarrow as pa
    >>> is_a(pa.int64()), is_a(pa.timestamp("us"))
    ('a number', 'a time')
    """
    words = {"whole number": "a number", "number": "a number", "yes/no": "yes or no", "time": "a time"}
    return words.get(stated(kind), "text")


def wide(kind: Any) -> Any:
    """The type that a column is read as whose first cells have that type: one that later cells fit into as well.

    Dates are times, and times are kept in microseconds; a column without a cell is text.

    >>> import pyarrow as pa
    >>> wide(pa.timestamp("s")), wide(pa.date32()), wide(pa.null())
    (TimestampType(timestamp[us]), TimestampType(timestamp[us]), DataType(string))
    """
    import pyarrow as pa

    if pa.types.is_date(kind):
        return pa.timestamp("us")
    if pa.types.is_timestamp(kind) and kind.unit == "s":
        return pa.timestamp("us", kind.tz)
    return pa.string() if pa.types.is_null(kind) else kind


def united(kind: Any, other: Any) -> Any:
    """The type of a column that in one file looks like the one, and in another like the other.

    >>> import pyarrow as pa
    >>> united(pa.int64(), pa.float64()), united(pa.int64(), pa.bool_())
    (DataType(double), DataType(string))
    """
    import pyarrow as pa

    if kind == other:
        return kind
    if {stated(kind), stated(other)} <= {"number", "whole number"}:
        return pa.float64()
    if pa.types.is_timestamp(kind) and pa.types.is_timestamp(other) and kind.tz == other.tz:
        return pa.timestamp("ns", kind.tz)  # one of them has cells that fit into nothing coarser
    return pa.string()


def asked_types(types: Mapping[str, str], found: dict[str, Any], path: str) -> dict[str, Any]:
    """The types of columns, where those that a user asked for are what was asked for.

    Parameters
    ----------
    types : mapping of str to {"number", "text", "yes/no", "time"}
    found : dict of str to pyarrow.DataType
        What the first cells look like.
    path : str
        For messages.
    """
    import pyarrow as pa

    meant = {"number": pa.float64(), "text": pa.string(), "yes/no": pa.bool_(), "time": pa.timestamp("us")}
    known = dict(found)
    for name, word in types.items():
        if word not in meant:
            raise InputError(f"Types are {listed(ASKED)}, not {short(word)}, which was given for column {short(name)}.")
        if name not in found:
            raise InputError(
                f"A type is given for column {short(name)}, and {path} has none of that name. "
                f"It has {listed(list(found))}."
            )
        if word != "time" or not pa.types.is_temporal(found[name]):
            known[name] = meant[word]
    return known
