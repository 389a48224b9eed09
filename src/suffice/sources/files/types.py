"""Column types: the words that users write, and Arrow's types."""

from __future__ import annotations

from collections.abc import Mapping

from suffice.exceptions import InputError, listed, short
from suffice.sources.engine_types import ArrowType

__all__ = ["REQUESTABLE", "apply_requested", "common_type", "expected_value", "reading_type", "type_word"]

REQUESTABLE = ("number", "text", "category", "yes/no", "time")


def type_word(kind: ArrowType) -> str:
    """An Arrow type in one word.

    >>> import pyarrow as pa
    >>> [type_word(each) for each in (pa.int32(), pa.float64(), pa.date32(), pa.dictionary(pa.int8(), pa.string()))]
    ['whole number', 'number', 'time', 'category']
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


def expected_value(kind: ArrowType) -> str:
    """Describe the valid cells of a type, for messages.

    >>> import pyarrow as pa
    >>> expected_value(pa.int64()), expected_value(pa.timestamp("us"))
    ('a number', 'a date/time')
    """
    words = {"whole number": "a number", "number": "a number", "yes/no": "yes or no", "time": "a date/time"}
    return words.get(type_word(kind), "text")


def reading_type(kind: ArrowType) -> ArrowType:
    """Type that a column is read as if its first cells have type ``kind``; later cells should fit as well.

    Dates become times, times have microseconds, and a column without values is text.

    >>> import pyarrow as pa
    >>> reading_type(pa.timestamp("s")), reading_type(pa.date32()), reading_type(pa.null())
    (TimestampType(timestamp[us]), TimestampType(timestamp[us]), DataType(string))
    """
    import pyarrow as pa

    if pa.types.is_date(kind):
        return pa.timestamp("us")
    if pa.types.is_timestamp(kind) and kind.unit == "s":
        return pa.timestamp("us", kind.tz)
    return pa.string() if pa.types.is_null(kind) else kind


def common_type(kind: ArrowType, other: ArrowType) -> ArrowType:
    """Type of a column that has one type in one file and another type in another file.

    >>> import pyarrow as pa
    >>> common_type(pa.int64(), pa.float64()), common_type(pa.int64(), pa.bool_())
    (DataType(double), DataType(string))
    """
    import pyarrow as pa

    if kind == other:
        return kind
    if {type_word(kind), type_word(other)} <= {"number", "whole number"}:
        return pa.float64()
    if pa.types.is_timestamp(kind) and pa.types.is_timestamp(other) and kind.tz == other.tz:
        return pa.timestamp("ns", kind.tz)  # nanoseconds were chosen because some cells need them
    return pa.string()


def apply_requested(requested: Mapping[str, str], inferred: Mapping[str, ArrowType], path: str) -> dict[str, ArrowType]:
    """Return the types of the columns, with the requested types in place of the inferred ones.

    Parameters
    ----------
    requested : mapping of str to {"number", "text", "category", "yes/no", "time"}
        "category" and "text" are both read as text.
    inferred : mapping of str to pyarrow.DataType
        Types of the first cells.
    path : str
        For messages.
    """
    import pyarrow as pa

    targets = {
        "number": pa.float64(),
        "text": pa.string(),
        "category": pa.string(),
        "yes/no": pa.bool_(),
        "time": pa.timestamp("us"),
    }
    types = dict(inferred)
    for name, word in requested.items():
        if word not in targets:
            raise InputError(
                f"The type of column {short(name)} must be one of {listed(REQUESTABLE)}; got {short(word)}.",
                argument="types",
                column=name,
            )
        if name not in inferred:
            raise InputError(
                f"types names column {short(name)}, but {path} has no such column. It has {listed(list(inferred))}.",
                argument="types",
                column=name,
                file=path,
            )
        if word != "time" or not pa.types.is_temporal(inferred[name]):
            types[name] = targets[word]
    return types
