"""Rows of eager data frames: pandas, Polars, PyArrow tables and other libraries that narwhals supports.

Each column is converted when a family reads it. No data-frame library is imported unless the caller passed one of its
frames.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from typing import Literal, TypeAlias

import narwhals as nw
import numpy as np

from suffice.exceptions import InputError
from suffice.numerics.types import Array, Codes, Float, Index, Mask
from suffice.sources.columns import Column, ObjectColumn, kind_of_values, numbers_of
from suffice.sources.engine_types import ArrowArray, ArrowType, ColumnType, NativeFrame, NativeSeries
from suffice.sources.series import Series, SeriesReader, is_pandas_category
from suffice.tables import CodedColumn
from suffice.tables.column_matrix import Part
from suffice.tables.levels import is_missing
from suffice.tables.table import Kind
from suffice.text.strings import listed_cells
from suffice.text.texts import Texts

__all__ = ["DrawnColumn", "Frame", "FrameColumn", "as_frame", "frame_of", "in_seconds"]

Frame: TypeAlias = nw.DataFrame[NativeFrame]
DrawnColumn: TypeAlias = Array | CodedColumn | None
"""A column that a model sampled: numbers or texts, or levels; None for an ignored column."""
DrawnValues: TypeAlias = Array | list[object]


LOADERS = {"dask": "compute", "duckdb": "to_arrow_table", "ibis": "to_pyarrow", "pyspark": "toArrow"}
"""The method of each library's lazy frames that loads their rows, where it is not ``collect``."""


def as_frame(data: object) -> Frame | None:
    """A data frame as a narwhals frame; None for anything else."""
    if type(data) is np.ndarray:
        return None
    if type(data).__name__ == "RecordBatch" and type(data).__module__.startswith("pyarrow"):
        data = sys.modules["pyarrow"].Table.from_batches([data])
    try:
        frame = nw.from_native(data, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            frame.columns  # noqa: B018  (narwhals checks the names here)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"The column names of the frame must be unique. {error}") from None
    if isinstance(frame, nw.LazyFrame):
        call = LOADERS.get(frame.implementation.name.lower(), "collect")
        raise InputError(f"X is a lazy frame. Call {call}() on it first.")
    return frame if isinstance(frame, nw.DataFrame) else None


class FrameColumn(Column):
    """A column of a data frame, or some rows of it."""

    def __init__(self, series: Series | SeriesReader, start: int = 0, stop: int | None = None) -> None:
        self._reader = series if isinstance(series, SeriesReader) else SeriesReader(series, series.dtype)
        self._start = start
        self._stop = len(self._reader.series) if stop is None else stop

    @cached_property
    def series(self) -> Series:
        """These rows as a narwhals series."""
        whole = self._reader.series
        return whole if self._stop - self._start == len(whole) else whole[self._start : self._stop]

    @cached_property
    def kind(self) -> Kind:  # type: ignore[override]
        """Kind of the column, by its type; for a column of objects, by its values."""
        dtype = self._reader.dtype
        if dtype == nw.Boolean:
            return "bool"
        if dtype.is_temporal():
            return "duration" if isinstance(dtype, nw.Duration | nw.Time) else "time"
        if dtype.is_numeric():
            return "number"
        if isinstance(dtype, nw.Categorical | nw.Enum):
            return "category"
        if dtype == nw.String:
            return "text" if len(self.series) > self.series.null_count() else "empty"
        return kind_of_values(self.listed())

    def part(self, name: object) -> Part:
        """The column as the kernels read it: not copied, or a function that copies a range of rows."""
        if self._reader.array is not None:
            return self._reader.array[self._start : self._stop]
        if self._reader.nullable is not None:
            return self._reader.nullable.rows(self._start, self._stop)
        if self.kind == "number" or self.kind == "bool":
            return lambda start, stop: self.rows(start, stop).numbers(name)
        return self.numbers(name)

    def numbers(self, name: object) -> Float:
        """The column as float64; times become seconds since 1970."""
        dtype = self._reader.dtype
        if dtype.is_numeric() or dtype == nw.Boolean:
            if self._reader.array is not None:
                return self._reader.array[self._start : self._stop].astype(np.float64, copy=False)
            if self._reader.nullable is not None:
                return self._reader.nullable.rows(self._start, self._stop).numbers()
            numbers = self.series.cast(nw.Float64)
            if not numbers.implementation.is_pandas_like():
                numbers = numbers.fill_null(np.nan)  # faster than exporting a column with nulls
            return np.asarray(numbers.to_numpy(), dtype=np.float64)
        if dtype.is_temporal():
            values = self.series.to_numpy()
            if values.dtype.kind in "mM":
                return in_seconds(values)
        return numbers_of(self.listed(), name)

    def coded(self) -> CodedColumn:
        """The column as codes of levels, taken from the engine's own dictionary if it has one."""
        whole = self._reader.coded
        partial = self._stop - self._start < len(self._reader.series)
        return whole.take(len(self._reader.series), slice(self._start, self._stop)) if partial else whole

    def documents(self, name: object) -> Texts:
        """The column as texts, not copied if the engine stores them so."""
        whole = self._reader.texts
        partial = self._stop - self._start < len(whole)
        return whole.rows(self._start, self._stop) if partial else whole

    def listed(self) -> Sequence[object]:
        """The cells as Python objects."""
        return listed_cells(self.series)

    def rows(self, start: int, stop: int) -> FrameColumn:
        """The cells of rows start..stop−1."""
        return FrameColumn(self._reader, self._start + start, self._start + stop)

    def take(self, index: Index) -> Column:
        """The cells of the rows at these positions."""
        try:
            return FrameColumn(self.series[index])
        except NotImplementedError:  # Arrow cannot select rows of string views and of run-end encoded columns
            cells = self.listed()
            return ObjectColumn([cells[i] for i in index])


def in_seconds(values: Array) -> Float:
    """Times as seconds since 1970, or durations in seconds, with NaN for missing ones."""
    since = values if values.dtype.kind == "m" else values - np.datetime64(0, "s")
    return np.where(np.isnat(values), np.nan, since / np.timedelta64(1, "s"))


# ---------------------------------------------------------------------- frames of drawn rows


def frame_of(template: NativeFrame, columns: Sequence[DrawnColumn]) -> NativeFrame:
    """Drawn columns as a frame with the library, names and types of ``template``, a native frame without rows.

    Columns that are None are omitted. If a type cannot hold the levels of a column, because some were learned later,
    the column gets another type.
    """
    frame = nw.from_native(template, eager_only=True)
    schema: dict[str, nw.dtypes.DType] = dict(frame.schema)
    chosen = {name: column for name, column in zip(frame.columns, columns, strict=True) if column is not None}
    if frame.implementation.is_pandas_like():
        schema = {name: _with_zone(kind, template.dtypes[name]) for name, kind in schema.items()}
    data = {name: _values(schema[name], column) for name, column in chosen.items()}
    # Types depend on all levels of the model, not on those that happened to be drawn.
    levels = {name: _levels(column) for name, column in chosen.items()}
    if frame.implementation.is_pandas_like():
        native = nw.from_dict(data, backend=frame.implementation).to_native()
        types = template.dtypes
        whole = {name: _as_pandas(native[name], types[name], levels[name]) for name in data}
        return type(template)(whole)[list(data)]
    fits = {name: _can_hold(schema[name], levels[name]) for name in data}
    data = {name: values if fits[name] else _uniform(values) for name, values in data.items()}
    drawn = nw.from_dict(data, backend=frame.implementation)
    if frame.implementation.is_pyarrow():
        table = drawn.to_native()
        fields = template.schema
        coded = {name: isinstance(schema[name], nw.Categorical) for name in data}
        arrays = [_as_arrow(table[name], fields.field(name).type, coded=coded[name]) for name in data]
        return type(template).from_arrays(arrays, names=list(data))
    return drawn.with_columns(nw.col(name).cast(schema[name]) for name in data if fits[name]).to_native()


def _with_zone(dtype: nw.dtypes.DType, native: ColumnType) -> nw.dtypes.DType:
    """The type of a column of pandas; narwhals does not know all names of time zones."""
    zone = getattr(native, "tz", None)
    return dtype if zone is None or dtype.is_temporal() else nw.Datetime(native.unit, "UTC")


def _values(dtype: nw.dtypes.DType, column: Array | CodedColumn) -> DrawnValues:
    """A drawn column as values that a frame column of this type accepts."""
    if isinstance(column, CodedColumn):
        return column.values(len(column.codes))
    missing = np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)
    if dtype.is_integer():
        limits = np.iinfo(str(dtype).lower())
        whole = _whole(column, missing, max(limits.min, -(2.0**62)), min(limits.max, 2.0**62))
        return _with_missing(whole, missing)
    if dtype == nw.Boolean:
        return _with_missing(column > 0.5, missing)
    if dtype.is_temporal():
        unit = _unit(dtype)
        steps = np.timedelta64(1, "s") / np.timedelta64(1, unit)
        whole = _whole(steps * column, missing, -(2.0**62), 2.0**62)
        whole[missing] = np.iinfo(np.int64).min  # NaT
        return whole.astype(f"{'timedelta' if isinstance(dtype, nw.Duration) else 'datetime'}64[{unit}]")
    return column


def _whole(column: Float, missing: Mask, least: float, most: float) -> Codes:
    """Numbers rounded to whole ones between limits; zero for missing ones."""
    return np.clip(np.rint(np.where(missing, 0.0, column)), least, most).astype(np.int64)


def _with_missing(values: Array, missing: Mask) -> DrawnValues:
    """Values with None for missing ones; an array if there are none."""
    if not missing.any():
        return values
    return [None if lacks else value for value, lacks in zip(values.tolist(), missing.tolist(), strict=True)]


def _unit(dtype: nw.dtypes.DType) -> Literal["D", "s", "ms", "us", "ns"]:
    """Unit in which a temporal type counts."""
    if isinstance(dtype, nw.Datetime | nw.Duration):
        return dtype.time_unit
    return "D" if isinstance(dtype, nw.Date) else "us"


def _levels(column: Array | CodedColumn) -> Sequence[object]:
    """Values that a type must hold: all levels of the model, or the texts that were drawn."""
    if isinstance(column, CodedColumn):
        return column.levels.values
    return list(dict.fromkeys(column)) if column.dtype.kind == "O" else ()


def _can_hold(dtype: nw.dtypes.DType, levels: Sequence[object]) -> bool:
    """Whether a type can hold all levels."""
    if isinstance(dtype, nw.Enum):
        return set(levels) <= set(dtype.categories)
    if dtype.is_integer():
        return all(isinstance(value, int) for value in levels)
    if isinstance(dtype, nw.String | nw.Categorical):
        return all(isinstance(value, str) for value in levels)
    return dtype != nw.Boolean or all(isinstance(value, bool) or value in (0, 1) for value in levels)


def _uniform(values: DrawnValues) -> DrawnValues:
    """Values of one type: unchanged if they already are, else as texts."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 or kinds <= {int, float}:
        return values
    return [None if value is None else str(value) for value in values]


def _as_arrow(array: ArrowArray, kind: ArrowType, *, coded: bool) -> ArrowArray:
    """A drawn column in the type of the fitted one, if that can hold it; ``coded`` types are dictionaries."""
    try:
        return array.cast(kind.value_type).dictionary_encode().cast(kind) if coded else array.cast(kind)
    except (TypeError, ValueError, NotImplementedError):  # base classes of Arrow's errors
        return array


def _as_pandas(drawn: NativeSeries, dtype: ColumnType, levels: Sequence[object]) -> NativeSeries:
    """A drawn column in the type of the fitted one, extended by categories that were learned later."""
    if getattr(dtype, "tz", None) is not None:
        return drawn.dt.tz_localize("UTC").astype(dtype)
    if is_pandas_category(dtype):
        known = set(dtype.categories)
        new = [value for value in levels if value not in known]
        dtype = type(dtype)([*dtype.categories, *new], ordered=dtype.ordered) if new else dtype
        return drawn.astype(dtype)
    if isinstance(dtype, np.dtype) and dtype.kind in "iub" and drawn.dtype != dtype:
        not_whole = any(not isinstance(value, int | np.integer) for value in levels)
        if not_whole or any(is_missing(value) for value in drawn.tolist()):
            return drawn
    try:
        return drawn.astype(dtype)
    except (TypeError, ValueError):
        return drawn
