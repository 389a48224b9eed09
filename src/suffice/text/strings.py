"""Strings of data-frame columns as Python objects.

Arrow and Polars do not check that strings are UTF-8. Converting invalid strings fails inside these libraries, in Polars
with a `BaseException`; here it is an `InputError` that names the rows.
"""

from __future__ import annotations

import sys
from typing import Any

import narwhals as nw

from suffice.exceptions import InputError
from suffice.kernels.text import Documents, NotUtf8Error

__all__ = ["check_frame_utf8", "check_utf8", "is_engine_error", "listed_cells"]

PANIC = "PanicException"  # the error of Polars, which has no public class


def check_utf8(native: Any, name: object = None) -> None:
    """Raise `InputError` unless all strings of a column of PyArrow, Polars or pandas are UTF-8.

    Any column but one of strings, or of dictionary-encoded strings, is accepted. Messages call the column ``name``.
    """
    column = _arrow_column(native)
    documents = None if column is None else Documents.of_arrow(column)
    if documents is None:
        return
    try:
        documents.check_utf8()
    except NotUtf8Error as error:
        raise InputError.in_row(*(error.problem or ()), rows=error.rows or (), column=name or None) from None


def check_frame_utf8(frame: object) -> None:
    """Raise `InputError` unless all strings of a frame are UTF-8, if it is a Polars frame."""
    polars = sys.modules.get("polars")
    if polars is not None and isinstance(frame, polars.DataFrame):
        for column in frame.get_columns():
            check_utf8(column, column.name)


def is_engine_error(error: BaseException) -> bool:
    """Whether an error comes from a conversion inside NumPy or a data-frame library; not an interruption."""
    return isinstance(error, Exception) or type(error).__name__ == PANIC


def _arrow_column(native: Any) -> Any:
    """A column that is stored as Arrow strings, without its dictionary if it has one; None for anything else."""
    polars, arrow, pandas = (sys.modules.get(name) for name in ("polars", "pyarrow", "pandas"))
    if polars is not None and isinstance(native, polars.Series):
        return native.cast(polars.String) if native.dtype == polars.Categorical else native
    if arrow is None:
        return None
    if pandas is not None and isinstance(native, pandas.Series):
        return native if getattr(native.dtype, "storage", None) == "pyarrow" else None
    if isinstance(native, arrow.Array):
        native = arrow.chunked_array([native])
    if not isinstance(native, arrow.ChunkedArray):
        return None
    return native.cast(native.type.value_type) if arrow.types.is_dictionary(native.type) else native


def _in_microseconds(series: nw.Series[Any]) -> list[Any]:
    """The cells as Python objects; Arrow's times and durations in nanoseconds lose what Python's do not have."""
    native, arrow = series.to_native(), sys.modules.get("pyarrow")
    if arrow is None or not isinstance(native, arrow.ChunkedArray) or getattr(native.type, "unit", "") != "ns":
        return series.to_list()
    if arrow.types.is_timestamp(native.type):
        return list(native.cast(arrow.timestamp("us", native.type.tz), safe=False).to_pylist())
    if arrow.types.is_duration(native.type):
        return list(native.cast(arrow.duration("us"), safe=False).to_pylist())
    return series.to_list()


def listed_cells(series: nw.Series[Any], whole: nw.Series[Any] | None = None) -> list[Any]:
    """The cells of a column as Python objects.

    Parameters
    ----------
    series : narwhals.Series
    whole : narwhals.Series, optional
        The column that the cells are from, if they are not a whole column; an error names its rows.
    """
    column = series if whole is None else whole
    try:
        check_utf8(series.to_native(), series.name)
        return _in_microseconds(series)
    except InputError:
        check_utf8(column.to_native(), column.name)
        raise
    except BaseException as error:
        if not is_engine_error(error):
            raise
        raise InputError(f"Column {column.name!r} cannot be read: {error}.", column=column.name) from None
