"""Rows from eager data frames: pandas, Polars, PyArrow tables and whatever else narwhals knows.

Each column is read when a family asks for it. An engine is never imported here: who hands us its frame has
imported it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError
from suffice.sources.columns import Column, ColumnTable, kind_of_values, not_a_number
from suffice.statistics import CodedColumn
from suffice.statistics.levels import Levels, coded_numbers, coded_values, is_missing, sorted_levels
from suffice.statistics.table import Kind

__all__ = ["FrameColumn", "as_frame", "column_names", "frame_of", "read_frame"]

Float = NDArray[np.float64]
Codes = NDArray[np.int64]


def as_frame(data: Any) -> nw.DataFrame[Any] | None:
    """A data frame as narwhals sees it; None for anything else."""
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


def read_frame(frame: nw.DataFrame[Any], names: Sequence[Any]) -> ColumnTable:
    """The columns of those names, in that order."""
    return ColumnTable(len(frame), [FrameColumn(frame.get_column(name)) for name in names])


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
        if dtype.is_numeric() or dtype.is_temporal():
            return "number"
        if isinstance(dtype, nw.Categorical | nw.Enum):
            return "category"
        if dtype == nw.String:
            return "text" if len(self.series) > self.series.null_count() else "empty"
        return kind_of_values(self.series.to_list())

    def numbers(self, name: object) -> Float:
        """The column as float64; a time as seconds."""
        series, dtype = self.series, self.series.dtype
        if dtype.is_temporal():
            return _seconds(series.to_numpy(), name)
        if dtype.is_numeric() or dtype == nw.Boolean:
            return np.asarray(series.cast(nw.Float64).to_numpy(), dtype=np.float64)
        out = np.empty(len(series))
        for row, value in enumerate(series.to_list()):
            if is_missing(value):
                out[row] = np.nan
            elif isinstance(value, bool | int | float | np.number | np.bool_):
                out[row] = value
            else:
                raise not_a_number(name, row, value)
        return out

    def coded(self) -> tuple[Levels, Codes]:
        """The column as codes of levels, by the engine's own dictionary where it has one."""
        series, dtype = self.series, self.series.dtype
        native = series.to_native()
        listed = isinstance(dtype, nw.Categorical | nw.Enum)
        if listed or dtype == nw.String:
            if series.implementation.is_pandas_like():
                return _of_pandas(native, listed=listed)
            if series.implementation.is_polars():
                return _of_polars(series, declared=_categories(dtype))
            if series.implementation.is_pyarrow():
                return _of_arrow(native)
        if (dtype.is_numeric() or dtype == nw.Boolean) and not series.null_count():
            values = series.to_numpy()
            if values.dtype.kind in "biuf":
                return coded_numbers(values)
        if dtype.is_numeric():
            return coded_numbers(self.numbers(""))
        return coded_values(series.to_list())


def _categories(dtype: Any) -> Sequence[Any]:
    """The levels that an enumeration lists."""
    return tuple(dtype.categories) if isinstance(dtype, nw.Enum) else ()


def _of_pandas(series: Any, *, listed: bool) -> tuple[Levels, Codes]:
    if listed:
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


def _seconds(values: NDArray[Any], name: object) -> Float:
    if values.dtype.kind not in "mM":
        raise InputError(f"Column {name!r} holds times of a kind that is not read; convert it to numbers.")
    since = values if values.dtype.kind == "m" else values - np.datetime64(0, "s")
    return np.where(np.isnat(values), np.nan, since / np.timedelta64(1, "s"))


# ---------------------------------------------------------------------- rows that go back


def frame_of(template: Any, columns: Sequence[Any]) -> Any:
    """Drawn columns as a frame of the kind, the names and the types of ``template``, a native frame of no rows.

    A column that is None is left out.
    """
    frame = nw.from_native(template, eager_only=True)
    data: dict[Any, Any] = {}
    for name, column in zip(frame.columns, columns, strict=True):
        if column is not None:
            data[name] = _values(frame.get_column(name), column)
    made = nw.from_dict(data, backend=frame.implementation)
    if frame.implementation.is_pandas_like():
        native = made.to_native()
        types = {name: _pandas_type(template[name].dtype, native[name]) for name in data}
        return native.astype(types)
    if frame.implementation.is_pyarrow():
        table = made.to_native()
        kinds = {name: template.schema.field(name).type for name in data}
        coded = [
            table[name].dictionary_encode() if hasattr(kinds[name], "index_type") else table[name] for name in data
        ]
        whole = [column.cast(kind) for column, kind in zip(coded, kinds.values(), strict=True)]
        return type(template).from_arrays(whole, names=list(data))
    types = {name: frame.schema[name] for name in data}
    known = {
        name: dtype
        for name, dtype in types.items()
        if not isinstance(dtype, nw.Enum) or not set(data[name]) - {None, *dtype.categories}
    }
    return made.with_columns(nw.col(name).cast(dtype) for name, dtype in known.items()).to_native()


def _values(like: nw.Series[Any], column: Any) -> Any:
    """A drawn column as values that the type of a frame's column takes."""
    if isinstance(column, CodedColumn):
        return column.values(len(column.codes))
    dtype = like.dtype
    if dtype.is_integer():
        return np.rint(column).astype(np.int64)
    if dtype == nw.Boolean:
        return column > 0.5
    if dtype.is_temporal():
        kind = "timedelta64[us]" if isinstance(dtype, nw.Duration) else "datetime64[us]"
        return np.rint(1e6 * column).astype(np.int64).astype(kind)
    return column


def _pandas_type(dtype: Any, drawn: Any) -> Any:
    """The type of a column, with categories that were learned later."""
    categories = getattr(dtype, "categories", None)
    if categories is None or not hasattr(dtype, "ordered"):
        return dtype
    known = list(categories)
    new = [value for value in dict.fromkeys(drawn.tolist()) if not is_missing(value) and value not in set(known)]
    return type(dtype)([*known, *new], ordered=dtype.ordered) if new else dtype
