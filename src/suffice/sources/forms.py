"""The form in which rows came, and in which drawn rows go back: an array, a sparse matrix, a data frame."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from suffice.exceptions import InputError
from suffice.sources.frames import frame_of
from suffice.tables.sampled import sampled_matrix

__all__ = ["ArrayForm", "Form", "FrameForm", "SparseForm", "StoredFrameForm"]

Form = Callable[[list[Any]], Any]
"""Turns drawn columns into rows of the kind that was read."""
SPARSE = ("csr_array", "csr_matrix", "csc_array", "csc_matrix")
SIMPLE = (
    *(f"{sign}Int{bits}" for sign in ("", "U") for bits in (8, 16, 32, 64, 128)),
    *("Float32", "Float64", "Boolean", "String", "Binary", "Categorical", "Date", "Time", "Decimal", "Object"),
)  # types without arguments that narwhals has


@dataclass(frozen=True)
class ArrayForm:
    """An array of that type, if it holds the columns; a column that was left out is NaN."""

    dtype: np.dtype[Any]

    def __post_init__(self) -> None:
        if not isinstance(self.dtype, np.dtype):
            raise InputError(f"{self.dtype!r} is not the type of an array.")

    def __call__(self, columns: list[Any]) -> NDArray[Any]:
        """Drawn columns as rows."""
        x = sampled_matrix(columns)
        if x.dtype.kind == "O":
            texts = self.dtype.kind == "U" and all(isinstance(value, str) for value in x.flat)
            return x.astype(str) if texts else x
        return x.astype(object) if self.dtype.kind == "O" else _as_type(x, self.dtype)


@dataclass(frozen=True)
class SparseForm:
    """A sparse matrix of that kind and type; a column that was left out is zero."""

    kind: str
    dtype: np.dtype[Any]

    def __post_init__(self) -> None:
        if self.kind not in SPARSE or not isinstance(self.dtype, np.dtype):
            raise InputError(f"{self.kind!r} of {self.dtype!r} is no kind of sparse matrix.")

    def __call__(self, columns: list[Any]) -> Any:
        """Drawn columns as rows."""
        return getattr(sparse, self.kind)(_as_type(sampled_matrix(columns, fill=0.0), self.dtype))


@dataclass(frozen=True)
class FrameForm:
    """A frame of the kind, the names and the types of ``template``, a native frame of no rows."""

    template: Any

    def __call__(self, columns: list[Any]) -> Any:
        """Drawn columns as rows."""
        return frame_of(self.template, columns)

    def plain(self) -> StoredFrameForm:
        """The same in words, for a file."""
        frame = nw.from_native(self.template, eager_only=True)
        if frame.implementation.is_pandas_like():
            types = [_pandas_words(self.template.dtypes.iloc[j]) for j in range(len(frame.columns))]
            return StoredFrameForm("pandas", list(frame.columns), types)
        backend = "polars" if frame.implementation.is_polars() else "pyarrow"
        return StoredFrameForm(backend, list(frame.columns), [_words(dtype) for dtype in frame.schema.values()])


@dataclass(frozen=True)
class StoredFrameForm:
    """A frame in words: the library it is of, and the names and types of its columns.

    The library is imported when rows are drawn; where it is not installed, they come as an array.

    Parameters
    ----------
    backend : {"pandas", "polars", "pyarrow"}
    names : list
    types : list of tuples
        The name of a type, as the library (pandas) or narwhals (the others) calls it, and what it takes.

    Examples
    --------
    >>> form = StoredFrameForm("pandas", ["size", "kind"], [("float64",), ("category", ["a", "b"], False)])
    >>> form.template().dtypes.to_dict()["kind"].categories.to_list()
    ['a', 'b']
    """

    backend: str
    names: list[Any]
    types: list[tuple[Any, ...]]

    def __post_init__(self) -> None:
        if self.backend not in ("pandas", "polars", "pyarrow") or len(self.names) != len(self.types):
            raise InputError(f"There are {len(self.types)} types for {len(self.names)} columns of a {self.backend!r}.")

    def __call__(self, columns: list[Any]) -> Any:
        """Drawn columns as rows."""
        try:
            template = self.template()
        except ImportError:
            return sampled_matrix(columns)
        return frame_of(template, columns)

    def template(self) -> Any:
        """A native frame of no rows."""
        engine = importlib.import_module(self.backend)
        if self.backend == "pandas":
            parts = [engine.Series([], dtype=_pandas_type(engine, words)) for words in self.types]
            return engine.DataFrame(dict(zip(self.names, parts, strict=True)))
        schema = nw.Schema(dict(zip(self.names, map(_narwhals_type, self.types), strict=True)))
        if self.backend == "polars":
            return engine.DataFrame(schema=schema.to_polars())
        return schema.to_arrow().empty_table()


def _pandas_words(dtype: Any) -> tuple[Any, ...]:
    if hasattr(dtype, "categories") and hasattr(dtype, "ordered"):
        return "category", dtype.categories.tolist(), bool(dtype.ordered)
    return (str(dtype),)


def _pandas_type(pandas: Any, words: Sequence[Any]) -> Any:
    if words[0] == "category" and len(words) == 3:
        return pandas.CategoricalDtype(words[1], ordered=words[2])
    try:
        return pandas.api.types.pandas_dtype(words[0])
    except (TypeError, ValueError):
        return np.dtype(object)


def _words(dtype: Any) -> tuple[Any, ...]:
    if isinstance(dtype, nw.Datetime):
        return "Datetime", str(dtype.time_unit), None if dtype.time_zone is None else str(dtype.time_zone)
    if isinstance(dtype, nw.Duration):
        return "Duration", str(dtype.time_unit)
    if isinstance(dtype, nw.Enum):
        return "Enum", list(dtype.categories)
    name = type(dtype).__name__
    return (name,) if name in SIMPLE else ("String",)


def _narwhals_type(words: Sequence[Any]) -> Any:
    name, *arguments = words
    if name not in (*SIMPLE, "Datetime", "Duration", "Enum"):
        raise InputError(f"{name!r} is no type of a column.")
    return getattr(nw, name)(*arguments)


def _as_type(x: NDArray[np.float64], dtype: Any) -> NDArray[Any]:
    """Numbers as the type of the rows that were fitted, rounded where it is of whole numbers."""
    if dtype.kind == "f":
        return x.astype(dtype, copy=False)
    if dtype.kind not in "biu" or np.isnan(x).any() or (dtype.kind != "b" and not x.size):
        return x
    if dtype.kind == "b":
        return x > 0.5
    limits = np.iinfo(dtype)
    return np.clip(np.rint(x), max(limits.min, -(2.0**62)), min(limits.max, 2.0**62)).astype(dtype)
