"""Rows from eager data frames: pandas, Polars, PyArrow tables and whatever else narwhals knows.

Each column is read when a family asks for it. An engine is never imported here: who hands us its frame has
imported it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.sources.columns import Column, kind_of_values, numbers_of
from suffice.statistics import CodedColumn
from suffice.statistics.levels import Levels, coded_numbers, coded_values, is_missing, sorted_levels
from suffice.statistics.table import Kind

__all__ = ["FrameColumn", "as_frame", "column_names", "frame_of", "in_seconds"]

Float = NDArray[np.float64]
Codes = NDArray[np.int64]


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


@dataclass(frozen=True, eq=False)
class FrameColumn(Column):
    """A column of a data frame."""

    series: nw.Series[Any]

    @cached_property
    def kind(self) -> Kind:  # type: ignore[override]
        """What the column's type says of it; of a column of objects, what its values are."""
        dtype = self.series.dtype
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

    def numbers(self, name: object) -> Float:
        """The column as float64; a time as seconds."""
        series, dtype = self.series, self.series.dtype
        if dtype.is_numeric() or dtype == nw.Boolean:
            return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
        if dtype.is_temporal():
            values = series.to_numpy()
            if values.dtype.kind in "mM":
                return in_seconds(values)
        return numbers_of(self.listed(), name)

    def coded(self) -> tuple[Levels, Codes]:
        """The column as codes of levels, by the engine's own dictionary where it has one."""
        series, dtype = self.series, self.series.dtype
        native = series.to_native()
        listed = isinstance(dtype, nw.Categorical | nw.Enum)
        if listed or dtype == nw.String:
            if series.implementation.is_pandas_like():
                return _of_pandas(native)
            if series.implementation.is_polars():
                return _of_polars(series, declared=_categories(dtype))
            if series.implementation.is_pyarrow():
                return _of_arrow(native)
        if dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean:
            there = np.asarray(series.is_null().to_numpy(), dtype=bool) ^ True
            values = np.asarray(series.drop_nulls().to_numpy()) if not there.all() else np.asarray(series.to_numpy())
            if values.dtype.kind in "biuf":
                codes = np.full(len(there), -1, dtype=np.int64)
                levels, codes[there] = coded_numbers(values)
                return levels, codes
        return coded_values(self.listed())

    def listed(self) -> Sequence[Any]:
        """The cells as Python has them."""
        return self.series.to_list()

    def rows(self, start: int, stop: int) -> FrameColumn:
        """The cells of rows start..stop−1."""
        return FrameColumn(self.series[start:stop])

    def take(self, index: NDArray[np.intp]) -> FrameColumn:
        """The cells of the rows at those places."""
        return FrameColumn(self.series[index])


def _categories(dtype: Any) -> Sequence[Any]:
    """The levels that an enumeration lists."""
    return tuple(dtype.categories) if isinstance(dtype, nw.Enum) else ()


def _of_pandas(series: Any) -> tuple[Levels, Codes]:
    if hasattr(series.dtype, "categories"):
        codes = np.asarray(series.cat.codes, dtype=np.int64)
        return sorted_levels(series.cat.categories.tolist(), codes, declared=True)
    codes, met = series.factorize()
    return sorted_levels(list(met), np.asarray(codes, dtype=np.int64))


def _of_polars(series: nw.Series[Any], declared: Sequence[Any]) -> tuple[Levels, Codes]:
    texts = series.cast(nw.String)
    met = list(declared) or texts.drop_nulls().unique().sort().to_list()
    # What a category stands for is the engine's secret; of an enumeration it is the place.
    codes = texts.cast(nw.Enum(met)).to_native().to_physical().cast(int).fill_null(-1).to_numpy()
    return sorted_levels(met, np.asarray(codes, dtype=np.int64), declared=bool(declared))


def _of_arrow(array: Any) -> tuple[Levels, Codes]:
    whole = array.combine_chunks() if hasattr(array, "combine_chunks") else array
    whole = whole.combine_chunks() if hasattr(whole, "combine_chunks") else whole
    coded = whole if hasattr(whole, "dictionary") else whole.dictionary_encode()
    codes = coded.indices.to_numpy(zero_copy_only=False)
    codes = np.where(np.isnan(codes), -1, codes) if codes.dtype.kind == "f" else codes
    return sorted_levels(coded.dictionary.to_pylist(), codes.astype(np.int64))


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
    return column.levels.values if isinstance(column, CodedColumn) else ()


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
