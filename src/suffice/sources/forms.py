"""The form of the rows that a model was fitted to, in which drawn rows are returned: array, sparse matrix or frame."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import scipy

from suffice.exceptions import InputError
from suffice.numerics.types import Array, Float, Matrix
from suffice.sources.engine_types import ColumnType, NativeFrame
from suffice.sources.frames import DrawnColumn, frame_of
from suffice.sources.series import is_pandas_category
from suffice.tables.sampled import sampled_matrix

__all__ = ["ArrayForm", "Form", "FrameForm", "SparseForm", "StoredFrameForm"]

Form: TypeAlias = Callable[[list[DrawnColumn]], Matrix | NativeFrame]
"""Turns drawn columns into rows of the form that was read."""
TypeSpec: TypeAlias = tuple[Any, ...]
"""A column type as plain values: its name, followed by its arguments."""
SPARSE = ("csr_array", "csr_matrix", "csc_array", "csc_matrix")  # classes of ``scipy.sparse``
SIMPLE = (
    *(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64, 128)),
    *("Float32", "Float64", "Boolean", "String", "Binary", "Categorical", "Date", "Time", "Decimal", "Object"),
)  # narwhals types without arguments
NARWHALS_TYPES: dict[str, Callable[..., nw.dtypes.DType]] = {
    name: kind for name, kind in vars(nw).items() if isinstance(kind, type) and issubclass(kind, nw.dtypes.DType)
}


@dataclass(frozen=True)
class ArrayForm:
    """An array of a type, if the type can hold the columns; ignored columns are NaN."""

    dtype: np.dtype[Any]

    def __post_init__(self) -> None:
        if not isinstance(self.dtype, np.dtype):
            raise InputError(f"{self.dtype!r} is not a NumPy dtype.")
        object.__setattr__(self, "dtype", _at_most_float64(self.dtype))

    def __call__(self, columns: list[DrawnColumn]) -> Array:
        """Drawn columns as rows."""
        x = sampled_matrix(columns)
        if x.dtype.kind == "O":
            texts = self.dtype.kind == "U" and all(isinstance(value, str) for value in x.flat)
            return x.astype(str) if texts else x
        return x.astype(object) if self.dtype.kind == "O" else _as_type(x, self.dtype)


@dataclass(frozen=True)
class SparseForm:
    """A sparse matrix of a class and type; ignored columns are zero."""

    kind: str
    dtype: np.dtype[Any]

    def __post_init__(self) -> None:
        if self.kind not in SPARSE or not isinstance(self.dtype, np.dtype):
            raise InputError(f"{self.kind!r} of {self.dtype!r} is not a sparse matrix type.")
        object.__setattr__(self, "dtype", _at_most_float64(self.dtype))

    def __call__(self, columns: list[DrawnColumn]) -> Matrix:
        """Drawn columns as rows."""
        make: Callable[[Array], Matrix] = getattr(scipy.sparse, self.kind)
        return make(_as_type(sampled_matrix(columns, fill=0.0), self.dtype))


@dataclass(frozen=True)
class FrameForm:
    """A frame with the library, names and types of ``template``, a native frame without rows."""

    template: NativeFrame

    def __call__(self, columns: list[DrawnColumn]) -> Matrix | NativeFrame:
        """Drawn columns as rows."""
        return frame_of(self.template, columns)

    def plain(self) -> StoredFrameForm:
        """The same form as plain values, for a model file."""
        frame = nw.from_native(self.template, eager_only=True)
        if frame.implementation.is_pandas_like():
            types = [_pandas_spec(self.template.dtypes.iloc[j]) for j in range(len(frame.columns))]
            return StoredFrameForm("pandas", list(frame.columns), types)
        backend = "polars" if frame.implementation.is_polars() else "pyarrow"
        return StoredFrameForm(backend, list(frame.columns), [_narwhals_spec(dtype) for dtype in frame.schema.values()])


@dataclass(frozen=True)
class StoredFrameForm:
    """A frame form as plain values: its library, and the names and types of its columns.

    The library is imported when rows are drawn; if it is not installed, they are returned as an array.

    Parameters
    ----------
    backend : {"pandas", "polars", "pyarrow"}
    names : list
    types : list of tuples
        Name of each type, in pandas for pandas and in narwhals for the others, followed by its arguments.

    Examples
    --------
    >>> form = StoredFrameForm("pandas", ["size", "kind"], [("float64",), ("category", ["a", "b"], False)])
    >>> form.template().dtypes.to_dict()["kind"].categories.to_list()
    ['a', 'b']
    """

    backend: str
    names: list[Any]
    types: list[TypeSpec]

    def __post_init__(self) -> None:
        if self.backend not in ("pandas", "polars", "pyarrow") or len(self.names) != len(self.types):
            raise InputError(f"Got {len(self.types)} types for {len(self.names)} columns of a {self.backend!r} frame.")

    def __call__(self, columns: list[DrawnColumn]) -> Matrix | NativeFrame:
        """Drawn columns as rows."""
        try:
            template = self.template()
        except ImportError:
            return sampled_matrix(columns)
        return frame_of(template, columns)

    def template(self) -> NativeFrame:
        """A native frame without rows."""
        engine = importlib.import_module(self.backend)
        if self.backend == "pandas":
            parts = [engine.Series([], dtype=_pandas_type(engine, spec)) for spec in self.types]
            return engine.DataFrame(dict(zip(self.names, parts, strict=True)))
        schema = nw.Schema(dict(zip(self.names, map(_narwhals_type, self.types), strict=True)))
        if self.backend == "polars":
            return engine.DataFrame(schema=schema.to_polars())
        return schema.to_arrow().empty_table()


def _pandas_spec(dtype: ColumnType) -> TypeSpec:
    if is_pandas_category(dtype):
        return "category", dtype.categories.tolist(), bool(dtype.ordered)
    return (str(dtype),)


def _pandas_type(pandas: ModuleType, spec: TypeSpec) -> ColumnType:
    if spec[0] == "category" and len(spec) == 3:
        return pandas.CategoricalDtype(spec[1], ordered=spec[2])
    try:
        return pandas.api.types.pandas_dtype(spec[0])
    except (TypeError, ValueError):
        return np.dtype(object)


def _narwhals_spec(dtype: nw.dtypes.DType) -> TypeSpec:
    if isinstance(dtype, nw.Datetime):
        return "Datetime", str(dtype.time_unit), None if dtype.time_zone is None else str(dtype.time_zone)
    if isinstance(dtype, nw.Duration):
        return "Duration", str(dtype.time_unit)
    if isinstance(dtype, nw.Enum):
        return "Enum", list(dtype.categories)
    name = type(dtype).__name__
    return (name,) if name in SIMPLE else ("String",)


def _narwhals_type(spec: TypeSpec) -> nw.dtypes.DType:
    name, *arguments = spec
    if name not in (*SIMPLE, "Datetime", "Duration", "Enum"):
        raise InputError(f"{name!r} is not a column type.")
    return NARWHALS_TYPES[name](*arguments)


def _at_most_float64(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """The type, or float64 for one of extended precision: numbers are drawn in float64."""
    return np.dtype(np.float64) if dtype.kind == "f" and dtype.itemsize > 8 else dtype


def _as_type(x: Float, dtype: np.dtype[Any]) -> Array:
    """Numbers in the type of the fitted rows; rounded for integer types."""
    if dtype.kind == "f":
        return x.astype(dtype, copy=False)
    if dtype.kind not in "biu" or np.isnan(x).any() or (dtype.kind != "b" and not x.size):
        return x
    if dtype.kind == "b":
        return x > 0.5
    limits = np.iinfo(dtype)
    return np.clip(np.rint(x), max(limits.min, -(2.0**62)), min(limits.max, 2.0**62)).astype(dtype)
