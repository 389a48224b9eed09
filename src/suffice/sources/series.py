"""A column of an eager data frame as arrays, converted once for all its rows and without a copy where possible.

No data-frame library is imported unless the caller passed one of its frames.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import narwhals as nw
import numpy as np

from suffice import kernels
from suffice.numerics.types import Array
from suffice.sources.engine_types import ArrowArray, ColumnType, NativeSeries
from suffice.tables import CodedColumn
from suffice.tables.levels import Levels, coded_numbers, coded_values, level_positions
from suffice.tables.stored_columns import NumberColumn, StoredCodes
from suffice.text.strings import check_utf8, listed_cells
from suffice.text.texts import Texts

__all__ = ["Series", "SeriesReader", "is_pandas_category"]

Series: TypeAlias = nw.Series[NativeSeries]
# Types that the kernels read.
READABLE = tuple(map(np.dtype, ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")))
FIRST_ROWS = 4096  # contain most categories of a column
FEW = 32  # categories that are searched for one by one


@dataclass(frozen=True, eq=False)
class SeriesReader:
    """Conversions of a column of a frame, each computed when it is first needed and then kept.

    Attributes
    ----------
    series : narwhals.Series
    dtype : narwhals.DType
        Type of the column; kept because the engine takes a while to tell.
    """

    series: Series
    dtype: nw.dtypes.DType

    @cached_property
    def array(self) -> Array | None:
        """Numbers or booleans in their own type, not copied; None if the column has nulls or another layout."""
        series, dtype = self.series, self.dtype
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            return None
        native, engine = series.to_native(), series.implementation
        values: Array | None
        if engine.is_pandas_like():
            values = native.to_numpy() if isinstance(native.dtype, np.dtype) else None
        elif series.null_count():
            return None
        elif engine.is_polars():
            values = kernels.arrow_truths(native) if dtype == nw.Boolean else None
            values = native.to_numpy() if values is None and native.n_chunks() == 1 else values
        elif engine.is_pyarrow() and native.num_chunks == 1:
            values = native.chunk(0).to_numpy(zero_copy_only=False)
        else:
            return None
        return values if values is not None and values.dtype in READABLE else None

    @cached_property
    def nullable(self) -> kernels.ArrowColumn | None:
        """Numbers with a validity bitmap, not copied; None if the column has several chunks or another layout."""
        if self.series.implementation.is_pandas_like() or not self.dtype.is_numeric():
            return None
        return kernels.arrow_column(self.series.to_native())

    @cached_property
    def coded(self) -> CodedColumn:
        """The column as codes of levels, taken from the engine's own dictionary if it has one."""
        series, dtype = self.series, self.dtype
        if isinstance(dtype, nw.Categorical | nw.Enum) or dtype == nw.String:
            native, engine = series.to_native(), series.implementation
            if engine.is_pandas_like():
                return _from_pandas(native, in_place=engine.is_pandas())
            if engine.is_polars():
                return _from_polars(series)
            if engine.is_pyarrow():
                return _from_arrow(native, series.name)
        if dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean:
            if self.array is not None:
                return _from_numbers(self.array)
            present = ~np.asarray(series.is_null().to_numpy(), dtype=bool)
            values = np.asarray((series if present.all() else series.drop_nulls()).to_numpy())
            if values.dtype.kind in "biuf":
                codes = np.full(len(present), -1, dtype=np.int64)
                levels, codes[present] = coded_numbers(values)
                return CodedColumn(levels, codes)
        return CodedColumn(*coded_values(listed_cells(series)))

    @cached_property
    def texts(self) -> Texts:
        """The column as texts, not copied if the engine stores them so."""
        return Texts.of(self.series, name=self.series.name)


def is_pandas_category(dtype: ColumnType) -> bool:
    """Whether a type is a categorical type of pandas or of a library with the same interface."""
    return str(dtype) == "category"


def _from_numbers(values: Array) -> CodedColumn:
    if values.dtype == np.bool_:
        return StoredCodes(Levels((False, True)), values.view(np.uint8), np.array([0, 1, -1]))
    return NumberColumn(values)


def _from_dictionary(entries: Sequence[object], codes: Array, *, declared: bool = False) -> StoredCodes:
    """A column as codes of dictionary entries, which may be in any order and include missing ones."""
    levels, positions = level_positions(entries, declared=declared)
    return StoredCodes(levels, codes, positions)


def _from_pandas(series: NativeSeries, *, in_place: bool) -> CodedColumn:
    if is_pandas_category(series.dtype):
        # In pandas, the array of the column gives access to its codes without a copy.
        codes = np.asarray(series.array.codes if in_place else series.cat.codes)
        return _from_dictionary(series.cat.categories.tolist(), codes, declared=True)
    try:
        codes, entries = series.factorize()
        return _from_dictionary(list(entries), np.asarray(codes))
    except (UnicodeDecodeError, NotImplementedError, OverflowError):  # what pandas cannot convert
        return CodedColumn(*coded_values(listed_cells(nw.from_native(series, series_only=True))))


def _from_polars(series: Series) -> CodedColumn:
    dtype = series.dtype
    if isinstance(dtype, nw.Enum):
        return _from_dictionary(tuple(dtype.categories), _physical(series), declared=True)
    if isinstance(dtype, nw.Categorical):
        codes = _physical(series)
        entries = _categories(series, codes)
        if entries is not None:
            return _from_dictionary(entries, codes)
    texts = series.cast(nw.String)
    categories = listed_cells(texts.drop_nulls().unique().sort(), series)
    return _from_dictionary(categories, _physical(texts.cast(nw.Enum(categories))))


def _physical(series: Series) -> Array:
    """Codes by which Polars stores categories; −1 for nulls."""
    native = series.to_native().to_physical()
    if native.null_count():
        return np.asarray(nw.from_native(native, series_only=True).cast(nw.Int64).fill_null(-1).to_numpy())
    return np.asarray(native.to_numpy())


def _categories(series: Series, codes: Array) -> list[str | None] | None:
    """Category of each code of a Polars categorical, read from a row that has the code; None for unused codes.

    Polars does not expose the mapping. Returns None if there are so many codes, or so large ones, that this is slower
    than casting the column.
    """
    n_codes = int(codes.max()) + 1 if len(codes) else 0
    if n_codes > 2 * len(codes) + 1000:
        return None
    row = np.full(n_codes + 1, -1, dtype=np.int64)  # the last entry is for nulls
    first = codes[:FIRST_ROWS]
    row[first] = np.arange(len(first))
    unseen = np.flatnonzero(row[:-1] < 0).tolist()
    if len(unseen) > FEW:
        row[codes] = np.arange(len(codes))
    for code in unseen if len(unseen) <= FEW else ():
        at = int(np.argmax(codes == code))
        row[code] = at if codes[at] == code else -1
    row = row[:-1]
    texts = listed_cells(series[row[row >= 0].tolist()].cast(nw.String), series) if (row >= 0).any() else []
    categories: list[str | None] = [None] * n_codes
    for code, text in zip(np.flatnonzero(row >= 0).tolist(), texts, strict=True):
        categories[code] = text
    return categories


def _from_arrow(column: ArrowArray, name: object) -> CodedColumn:
    import pyarrow as pa  # the caller has imported it

    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    coded = whole if isinstance(whole, pa.DictionaryArray) else whole.dictionary_encode()
    indices = coded.indices
    if indices.null_count:
        indices = (indices.cast(pa.int64()) if pa.types.is_unsigned_integer(indices.type) else indices).fill_null(-1)
    try:
        entries = coded.dictionary.to_pylist()
    except UnicodeDecodeError:
        check_utf8(whole, name)
        raise
    return _from_dictionary(entries, indices.to_numpy(zero_copy_only=False))
