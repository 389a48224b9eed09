"""Encode arrays and long lists as numeric arrays, the only arrays that the file's layout has.

A list of strings becomes two arrays: the UTF-8 bytes of all strings, and the position where each string ends. A lone
surrogate is encoded in three bytes.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.types import Array, Codes

__all__ = ["LONG", "Json", "dtype_named", "numbers_of", "pack_array", "pack_texts", "unpack_array", "unpack_texts"]

Json: TypeAlias = Any
"""A value that JSON can hold. The type checker does not follow it: a file may hold anything, and loading checks it."""
DType: TypeAlias = np.dtype[Any]

LONG = 16  # a list of at least this many strings or numbers is stored as an array
MAX_PADDING = 1 << 24  # characters that an array of short strings may waste
DIRECT = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"}
DTYPE = re.compile(r"[|<=]?(?:[biuf]\d{1,2}|[US]\d{0,9}|[mM]8(?:\[\d{0,9}[a-zA-Z]{1,2}\])?|O|T)")


def dtype_named(name: object) -> DType:
    """Return the type with that name, if a file may hold it.

    >>> dtype_named("<f4"), dtype_named("T")
    (dtype('float32'), StringDType())
    """
    if not isinstance(name, str) or not DTYPE.fullmatch(name):
        raise ValueError(f"{name!r} is not an array type")
    return np.dtypes.StringDType() if name == "T" else np.dtype(name)


def dtype_name(dtype: DType) -> str | None:
    """Return the name of a type; None if a file cannot hold it."""
    if dtype.kind == "T":
        return "T" if dtype == np.dtypes.StringDType() else None
    name = dtype.newbyteorder("<").str
    supported = name[1:] in DIRECT if dtype.kind in "biuf" else DTYPE.fullmatch(name)
    return name if supported else None


def numbers_of(values: Sequence[Any]) -> Array | None:
    """Return a list of only integers or only floats as an array; None for any other list."""
    types = set(map(type, values))
    if types == {int}:
        fits = min(values) >= -(2**63) and max(values) < 2**63
        return np.array(values, dtype=np.int64) if fits else None
    return np.array(values, dtype=np.float64) if types == {float} else None


def pack_texts(texts: Sequence[str]) -> tuple[NDArray[np.uint8], Codes]:
    """Return the bytes of all strings, and the position where each ends.

    >>> pack_texts(["a", "é", ""])[1]
    array([1, 3, 3])
    """
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)))
    return np.frombuffer(b"".join(parts), dtype=np.uint8), ends


def unpack_texts(content: Array, ends: Array) -> list[str]:
    """Return the strings that `pack_texts` packed.

    >>> unpack_texts(*pack_texts(["a", "é", ""]))
    ['a', 'é', '']
    """
    if content.dtype != np.uint8 or ends.dtype != np.int64 or content.ndim != 1 or ends.ndim != 1:
        raise ValueError("strings must be stored as bytes and end positions")
    starts = np.concatenate([[0], ends])
    if (np.diff(starts) < 0).any() or int(starts[-1]) != len(content):
        raise ValueError("the end positions of strings do not match their bytes")
    whole, bounds = content.tobytes(), starts.tolist()
    return [whole[start:stop].decode("utf-8", "surrogatepass") for start, stop in pairwise(bounds)]


def pack_array(array: Array) -> tuple[dict[str, Json], Array | list[Any]] | None:
    """Return the JSON description of an array, and its numbers, strings or objects; None for an unsupported type.

    The order of the axes in memory is kept, because it determines how sums over the array are rounded.
    """
    name = dtype_name(array.dtype)
    if name is None:
        return None
    if array.dtype.kind in "UTO":
        return _pack_list(array, name)
    description: dict[str, Json] = {}
    if not array.flags.c_contiguous:
        axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
        if axes != list(range(array.ndim)):
            description["axes"] = axes
            array = array.transpose(axes)
    array = np.ascontiguousarray(array).reshape(array.shape)
    if name[1:] in DIRECT:
        return description, array.astype(name, copy=False)
    description["dtype"] = name
    if array.dtype.kind in "mM":
        return description, array.astype(name, copy=False).view(np.int64)
    return description, np.frombuffer(array.tobytes(), dtype=np.uint8).reshape(*array.shape, array.dtype.itemsize)


def _pack_list(array: Array, name: str) -> tuple[dict[str, Json], list[Any]]:
    values = array.ravel().tolist()
    if array.dtype.kind == "U":
        width, longest = array.dtype.itemsize // 4, max(map(len, values), default=0)
        name = f"<U{longest if _is_wasteful(width, longest, len(values)) else width}"
    return {"dtype": name, "shape": list(array.shape)}, values


def unpack_array(description: dict[str, Json], content: Array | list[Any]) -> Array:
    """Return the array that `pack_array` packed."""
    if isinstance(content, list):
        return _array_of_list(dtype_named(description["dtype"]), description["shape"], content)
    array: Array = np.asarray(content)
    if array.dtype.str[1:] not in DIRECT:
        raise ValueError(f"Suffice does not write arrays of {array.dtype}")
    if array.dtype == np.bool_ and (array.view(np.uint8) > 1).any():
        raise ValueError("a Boolean array holds bytes other than 0 and 1")
    if "dtype" in description:
        array = _as_dtype(array, dtype_named(description["dtype"]))
    if "axes" in description:
        axes = description["axes"]
        if sorted(axes) != list(range(array.ndim)):
            raise ValueError("the axes of an array do not match its shape")
        array = array.transpose(np.argsort(axes))
    return array


def _as_dtype(array: Array, dtype: DType) -> Array:
    """Return an array of int64 or bytes as the times, durations or byte strings that it stands for."""
    stored = np.int64 if dtype.kind in "mM" else np.uint8
    if dtype.kind not in "mMS" or array.dtype != stored or (dtype.kind == "S" and not array.ndim):
        raise ValueError(f"an array of {array.dtype} cannot be read as {dtype}")
    if dtype.kind != "S":
        return array.view(dtype)
    if array.shape[-1] != dtype.itemsize or not dtype.itemsize:
        raise ValueError("an array of byte strings does not have the length that its type states")
    return np.frombuffer(array.tobytes(), dtype=dtype).reshape(array.shape[:-1]).copy()


def _array_of_list(dtype: DType, shape: Json, values: list[Any]) -> Array:
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError("an array has no shape")
    if math.prod(shape) != len(values) or dtype.kind not in "UTO":
        raise ValueError(f"{len(values)} values do not make an array of shape {shape} and type {dtype}")
    if dtype.kind != "O" and not all(type(value) is str for value in values):
        raise ValueError("an array of strings holds other values")
    if dtype.kind == "U":
        width, longest = dtype.itemsize // 4, max(map(len, values), default=0)
        if longest > width or _is_wasteful(width, longest, len(values)):
            raise ValueError("the width of a string array does not match its strings")
    array = np.empty(len(values), dtype=dtype)
    array[:] = values
    return array.reshape(shape)


def _is_wasteful(width: int, longest: int, count: int) -> bool:
    return (width - max(longest, 1)) * max(count, 1) > MAX_PADDING
