"""Rows from eager data frames: pandas, Polars, PyArrow tables and whatever else narwhals knows.

Each column is read when a family asks for it. An engine is never imported here: who hands us its frame has
imported it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.sources.columns import Column, kind_of_values, numbers_of
from suffice.sources.series import SeriesReading
from suffice.tables import CodedColumn
from suffice.tables.column_matrix import Part
from suffice.tables.levels import is_missing
from suffice.tables.table import Kind
from suffice.text.texts import Texts

__all__ = ["FrameColumn", "as_frame", "column_names", "frame_of", "in_seconds"]

Float = NDArray[np.float64]


def as_frame(data: Any) -> nw.DataFrame[Any] | None:
    """A data frame as narwhals sees it; None for anything else."""
    if type(data) is np.ndarray:
        return None
    if type(data).__name__ == "RecordBatch" and type(data).__module__.startswith("pyarrow"):
        data = sys.modules["pyarrow"].Table.from_batches([data])
    try:
        found = nw.from_native(data, pass_through=True)
        if isinstance(found, nw.DataFrame):
            found.columns  # noqa: B018  (narwhals looks at the names here)
    except nw.exceptions.DuplicateError as error:
        raise InputError(f"Each column of the frame needs a name of its own. {error}") from None
    if isinstance(found, nw.LazyFrame):
        raise InputError("X is a lazy frame, whose rows are not there yet. Call collect() on it first.")
    return found if isinstance(found, nw.DataFrame) else None


def column_names(frame: nw.DataFrame[Any]) -> list[Any]:
    """Names of the columns."""
    return list(frame.columns)


class FrameColumn(Column):
    """A column of a data frame, or some rows of one."""

    def __init__(self, series: nw.Series[Any] | SeriesReading, start: int = 0, stop: int | None = None) -> None:
        self._reading = series if isinstance(series, SeriesReading) else SeriesReading(series)
        self._start = start
        self._stop = len(self._reading.series) if stop is None else stop

    @cached_property
    def series(self) -> nw.Series[Any]:
        """These rows as their engine has them."""
        whole = self._reading.series
        return whole if self._stop - self._start == len(whole) else whole[self._start : self._stop]

    @cached_property
    def kind(self) -> Kind:  # type: ignore[override]
        """What the column's type says of it; of a column of objects, what its values are."""
        dtype = self._reading.dtype
        if dtype == nw.Boolean:
            return "bool"
        if dtype.is_temporal():
            return "duration" if isinstance(dtype, nw.Duration) else "time"
        if dtype.is_numeric():
            return "number"
        if isinstance(dtype, nw.Categorical | nw.Enum):
            return "category"
        if dtype == nw.String:
            return "text" if len(self.series) > self.series.null_count() else "empty"
        return kind_of_values(self.listed())

    def part(self, name: object) -> Part:
        """The column as the kernels read it: where it lies, or rows of it as copies when somebody asks for them."""
        if self._reading.array is not None:
            return self._reading.array[self._start : self._stop]
        if self._reading.holed is not None:
            return self._reading.holed.rows(self._start, self._stop)
        if self.kind == "number" or self.kind == "bool":
            return lambda start, stop: self.rows(start, stop).numbers(name)
        return self.numbers(name)

    def numbers(self, name: object) -> Float:
        """The column as float64; a time as seconds."""
        dtype = self._reading.dtype
        if self._reading.array is not None:
            return self._reading.array[self._start : self._stop].astype(np.float64, copy=False)
        if self._reading.holed is not None:
            return self._reading.holed.rows(self._start, self._stop).numbers()
        if dtype.is_numeric() or dtype == nw.Boolean:
            found = self.series.cast(nw.Float64)
            if not found.implementation.is_pandas_like():
                found = found.fill_null(np.nan)  # engines do that faster than they hand out what has holes
            return np.asarray(found.to_numpy(), dtype=np.float64)
        if dtype.is_temporal():
            values = self.series.to_numpy()
            if values.dtype.kind in "mM":
                return in_seconds(values)
        return numbers_of(self.listed(), name)

    def coded(self) -> CodedColumn:
        """The column as codes of levels, by the engine's own dictionary where it has one."""
        whole = self._reading.coded
        some = self._stop - self._start < len(self._reading.series)
        return whole.take(len(self._reading.series), slice(self._start, self._stop)) if some else whole

    def documents(self, name: object) -> Texts:
        """The column as texts, where its engine has them."""
        whole = self._reading.texts
        some = self._stop - self._start < len(whole)
        return whole.rows(self._start, self._stop) if some else whole

    def listed(self) -> Sequence[Any]:
        """The cells as Python has them."""
        return self.series.to_list()

    def rows(self, start: int, stop: int) -> FrameColumn:
        """The cells of rows start..stop−1."""
        return FrameColumn(self._reading, self._start + start, self._start + stop)

    def take(self, index: NDArray[np.intp]) -> FrameColumn:
        """The cells of the rows at those places."""
        return FrameColumn(self.series[index])


def in_seconds(values: NDArray[Any]) -> Float:
    """Times, or lengths of time, as seconds, with NaN where they are missing."""
    since = values if values.dtype.kind == "m" else values - np.datetime64(0, "s")
    return np.where(np.isnat(values), np.nan, since / np.timedelta64(1, "s"))


# ---------------------------------------------------------------------- rows that go back


def frame_of(template: Any, columns: Sequence[Any]) -> Any:
    """Drawn columns as a frame of the kind, the names and the types of ``template``, a native frame of no rows.

    A column that is None is left out; one whose values its type cannot hold, because they were learned later, has
    another type.
    """
    frame = nw.from_native(template, eager_only=True)
    schema = frame.schema
    chosen = {name: column for name, column in zip(frame.columns, columns, strict=True) if column is not None}
    data = {name: _values(schema[name], column) for name, column in chosen.items()}
    # Types follow from all levels of a model, not from those that happened to be drawn.
    levels = {name: _levels(column) for name, column in chosen.items()}
    if frame.implementation.is_pandas_like():
        native = nw.from_dict(data, backend=frame.implementation).to_native()
        types = template.dtypes
        whole = {name: _as_pandas(native[name], types[name], levels[name]) for name in data}
        return type(template)(whole)[list(data)]
    fits = {name: _fits(schema[name], levels[name]) for name in data}
    data = {name: values if fits[name] else _alike(values) for name, values in data.items()}
    made = nw.from_dict(data, backend=frame.implementation)
    if frame.implementation.is_pyarrow():
        table = made.to_native()
        fields = template.schema
        arrays = [_as_arrow(table[name], fields.field(name).type) for name in data]
        return type(template).from_arrays(arrays, names=list(data))
    return made.with_columns(nw.col(name).cast(schema[name]) for name in data if fits[name]).to_native()


def _values(dtype: Any, column: Any) -> Any:
    """A drawn column as values that the type of a frame's column takes."""
    if isinstance(column, CodedColumn):
        return column.values(len(column.codes))
    if dtype.is_integer():
        limits = np.iinfo(str(dtype).lower())
        return np.clip(np.rint(column), max(limits.min, -(2.0**62)), min(limits.max, 2.0**62)).astype(np.int64)
    if dtype == nw.Boolean:
        return column > 0.5
    if dtype.is_temporal():
        unit: Any = "D" if isinstance(dtype, nw.Date) else getattr(dtype, "time_unit", "us")
        steps = np.timedelta64(1, "s") / np.timedelta64(1, unit)
        whole = np.clip(np.rint(steps * column), -(2.0**62), 2.0**62).astype(np.int64)
        return whole.astype(f"{'timedelta' if isinstance(dtype, nw.Duration) else 'datetime'}64[{unit}]")
    return column


def _levels(column: Any) -> Sequence[Any]:
    """What a type must hold: all levels of a model, or the texts that were drawn."""
    if isinstance(column, CodedColumn):
        return column.levels.values
    return list(dict.fromkeys(column)) if column.dtype.kind == "O" else ()


def _fits(dtype: Any, known: Sequence[Any]) -> bool:
    """Whether a type holds all levels."""
    if isinstance(dtype, nw.Enum):
        return set(known) <= set(dtype.categories)
    if dtype.is_integer():
        return all(isinstance(value, int) for value in known)
    if isinstance(dtype, nw.String | nw.Categorical):
        return all(isinstance(value, str) for value in known)
    return dtype != nw.Boolean or all(isinstance(value, bool) or value in (0, 1) for value in known)


def _alike(values: Any) -> Any:
    """Values of one type: as they are if they are so, as texts if not."""
    kinds = {type(value) for value in values if value is not None}
    if len(kinds) < 2 or kinds <= {int, float}:
        return values
    return [None if value is None else str(value) for value in values]


def _as_arrow(array: Any, kind: Any) -> Any:
    """A drawn column in the type of the fitted one, if that holds it."""
    try:
        if hasattr(kind, "index_type"):
            return array.cast(kind.value_type).dictionary_encode().cast(kind)
        return array.cast(kind)
    except (TypeError, ValueError, NotImplementedError):  # Arrow's errors are among them
        return array


def _as_pandas(drawn: Any, dtype: Any, levels: Sequence[Any]) -> Any:
    """A drawn column in the type of the fitted one, with categories that were learned later."""
    if getattr(dtype, "tz", None) is not None:
        return drawn.dt.tz_localize("UTC").astype(dtype)
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        known = set(dtype.categories)
        new = [value for value in levels if value not in known]
        dtype = type(dtype)([*dtype.categories, *new], ordered=dtype.ordered) if new else dtype
        return drawn.astype(dtype)
    if isinstance(dtype, np.dtype) and dtype.kind in "iub" and drawn.dtype != dtype:
        odd = any(not isinstance(value, int | np.integer) for value in levels)
        if odd or any(is_missing(value) for value in drawn.tolist()):
            return drawn
    try:
        return drawn.astype(dtype)
    except (TypeError, ValueError):
        return drawn
