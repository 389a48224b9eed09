"""A column of an eager data frame as arrays: read once for all its rows, without a copy where its engine allows that.

An engine is never imported here: who hands us its frame has imported it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from suffice import kernels
from suffice.tables import CodedColumn
from suffice.tables.levels import Levels, coded_numbers, coded_values, level_positions
from suffice.tables.stored_columns import NumberColumn, StoredCodes
from suffice.text.texts import Texts

__all__ = ["SeriesReading"]

Codes = NDArray[np.int64]
# What the kernels read.
READABLE = tuple(map(np.dtype, ("f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?")))
FIRST_ROWS = 4096  # in which most categories of a column are met
FEW = 32  # categories that are looked for one by one


class SeriesReading:
    """What is read of a column of a frame, when somebody asks for it, and kept for those who ask again."""

    def __init__(self, series: nw.Series[Any]) -> None:
        self.series = series

    @cached_property
    def dtype(self) -> Any:
        """The column's type; asking its engine takes its time."""
        return self.series.dtype

    @cached_property
    def array(self) -> NDArray[Any] | None:
        """Numbers or truth values where the engine has them, in their own type; None if cells may be missing there."""
        series, dtype = self.series, self.dtype
        if not (dtype.is_numeric() or dtype == nw.Boolean):
            return None
        native, kind = series.to_native(), series.implementation
        if kind.is_pandas_like():
            found = native.to_numpy() if isinstance(native.dtype, np.dtype) else None
        elif series.null_count():
            return None
        elif kind.is_polars():
            found = kernels.arrow_truths(native) if dtype == nw.Boolean else None
            found = native.to_numpy() if found is None and native.n_chunks() == 1 else found
        elif kind.is_pyarrow() and getattr(native, "num_chunks", 0) == 1:
            found = native.chunk(0).to_numpy(zero_copy_only=False)
        else:
            return None
        return found if found is not None and found.dtype in READABLE else None

    @cached_property
    def holed(self) -> kernels.ArrowColumn | None:
        """Numbers where the engine has them, with a bit for each; None if they lie in pieces, or it has other ways."""
        if self.series.implementation.is_pandas_like() or not self.dtype.is_numeric():
            return None
        return kernels.arrow_column(self.series.to_native())

    @cached_property
    def coded(self) -> CodedColumn:
        """The column as codes of levels, by the engine's own dictionary where it has one."""
        series, dtype = self.series, self.dtype
        if isinstance(dtype, nw.Categorical | nw.Enum) or dtype == nw.String:
            native, kind = series.to_native(), series.implementation
            if kind.is_pandas_like():
                return _of_pandas(native)
            if kind.is_polars():
                return _of_polars(series)
            if kind.is_pyarrow():
                return _of_arrow(native)
        if dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean:
            if self.array is not None:
                return _of_numbers(self.array)
            there = np.asarray(series.is_null().to_numpy(), dtype=bool) ^ True
            values = np.asarray(series.drop_nulls().to_numpy()) if not there.all() else np.asarray(series.to_numpy())
            if values.dtype.kind in "biuf":
                codes = np.full(len(there), -1, dtype=np.int64)
                levels, codes[there] = coded_numbers(values)
                return CodedColumn(levels, codes)
        return CodedColumn(*coded_values(series.to_list()))

    @cached_property
    def texts(self) -> Texts:
        """The column as texts, where the engine has them."""
        return Texts.of(self.series, name=self.series.name)


def _of_numbers(values: NDArray[Any]) -> CodedColumn:
    if values.dtype == np.bool_:
        return StoredCodes(Levels((False, True)), values.view(np.uint8), np.array([0, 1, -1]))
    return NumberColumn(values)


def _stored(met: Sequence[Any], codes: NDArray[Any], *, declared: bool = False) -> StoredCodes:
    """A column as codes of the entries of a dictionary, in any order and with missing ones among them."""
    levels, where = level_positions(met, declared=declared)
    return StoredCodes(levels, codes, where)


def _of_pandas(series: Any) -> CodedColumn:
    if hasattr(series.dtype, "categories"):
        return _stored(series.cat.categories.tolist(), _pandas_codes(series), declared=True)
    codes, met = series.factorize()
    return _stored(list(met), np.asarray(codes))


def _pandas_codes(series: Any) -> NDArray[Any]:
    """The numbers by which pandas keeps categories, where they lie; others that are like it give them their own way."""
    array = getattr(series, "array", None)
    return np.asarray(series.cat.codes if array is None or not hasattr(array, "codes") else array.codes)


def _of_polars(series: nw.Series[Any]) -> CodedColumn:
    dtype = series.dtype
    if isinstance(dtype, nw.Enum):
        return _stored(tuple(dtype.categories), _physical(series), declared=True)
    if isinstance(dtype, nw.Categorical):
        codes = _physical(series)
        met = _met(series, codes)
        if met is not None:
            return _stored(met, codes)
    texts = series.cast(nw.String)
    listed = texts.drop_nulls().unique().sort().to_list()
    return _stored(listed, _physical(texts.cast(nw.Enum(listed))))


def _physical(series: nw.Series[Any]) -> NDArray[Any]:
    """The numbers by which Polars keeps categories, −1 where there is none."""
    native = series.to_native().to_physical()
    if native.null_count():
        return np.asarray(nw.from_native(native, series_only=True).cast(nw.Int64).fill_null(-1).to_numpy())
    return np.asarray(native.to_numpy())


def _met(series: nw.Series[Any], codes: NDArray[Any]) -> list[Any] | None:
    """What each number of a categorical stands for: the engine's secret, but any row that has it tells.

    None where there are so many, or so large ones, that asking is no gain.
    """
    most = int(codes.max()) + 1 if len(codes) else 0
    if most > 2 * len(codes) + 1000:
        return None
    row = np.full(most + 1, -1, dtype=np.int64)  # the last is of those that are missing
    first = codes[:FIRST_ROWS]
    row[first] = np.arange(len(first))
    lost = np.flatnonzero(row[:-1] < 0).tolist()
    if len(lost) > FEW:
        row[codes] = np.arange(len(codes))
    for code in lost if len(lost) <= FEW else ():
        at = int(np.argmax(codes == code))
        row[code] = at if codes[at] == code else -1
    row = row[:-1]
    texts = series[row[row >= 0].tolist()].cast(nw.String).to_list() if (row >= 0).any() else []
    met: list[Any] = [None] * most
    for code, text in zip(np.flatnonzero(row >= 0).tolist(), texts, strict=True):
        met[code] = text
    return met


def _of_arrow(array: Any) -> CodedColumn:
    whole = array.combine_chunks() if hasattr(array, "combine_chunks") else array
    whole = whole.combine_chunks() if hasattr(whole, "combine_chunks") else whole
    coded = whole if hasattr(whole, "dictionary") else whole.dictionary_encode()
    indices = coded.indices if not coded.indices.null_count else coded.indices.fill_null(-1)
    return _stored(coded.dictionary.to_pylist(), indices.to_numpy(zero_copy_only=False))
