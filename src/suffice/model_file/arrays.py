"""Arrays and long lists as arrays of numbers, which is all that the file's layout knows.

Texts are the bytes of all of them, UTF-8 where also half a surrogate pair has its three bytes, and where each ends.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LONG", "dtype_named", "numbers_of", "pack_array", "pack_texts", "unpack_array", "unpack_texts"]

LONG = 16  # a list of so many texts or numbers is an array
WIDE = 1 << 24  # characters that an array of short texts may waste
DIRECT = {"b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8"}
DTYPE = re.compile(r"[|<=]?(?:[biuf]\d{1,2}|[US]\d{0,9}|[mM]8(?:\[\d{0,9}[a-zA-Z]{1,2}\])?|O|T)")


def dtype_named(name: Any) -> np.dtype[Any]:
    """The type of that name, among the plain ones.

    >>> dtype_named("<f4"), dtype_named("T")
    (dtype('float32'), StringDType())
    """
    if not isinstance(name, str) or not DTYPE.fullmatch(name):
        raise ValueError(f"{name!r} is no type of an array")
    return np.dtypes.StringDType() if name == "T" else np.dtype(name)


def dtype_name(dtype: np.dtype[Any]) -> str | None:
    """The name of a plain type; None for one that a file does not hold."""
    if dtype.kind == "T":
        return "T" if dtype == np.dtypes.StringDType() else None
    name = dtype.newbyteorder("<").str
    plain = name[1:] in DIRECT if dtype.kind in "biuf" else DTYPE.fullmatch(name)
    return name if plain else None


def numbers_of(values: Sequence[Any]) -> NDArray[Any] | None:
    """A list of whole numbers, or of floats, as an array; None for any other."""
    kinds = set(map(type, values))
    if kinds == {int}:
        fits = min(values) >= -(2**63) and max(values) < 2**63
        return np.array(values, dtype=np.int64) if fits else None
    return np.array(values, dtype=np.float64) if kinds == {float} else None


def pack_texts(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """The bytes of all texts, and where each ends.

    >>> pack_texts(["a", "é", ""])[1]
    array([1, 3, 3])
    """
    parts = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum(np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)))
    return np.frombuffer(b"".join(parts), dtype=np.uint8), ends


def unpack_texts(content: NDArray[Any], ends: NDArray[Any]) -> list[str]:
    """The texts.

    >>> unpack_texts(*pack_texts(["a", "é", ""]))
    ['a', 'é', '']
    """
    if content.dtype != np.uint8 or ends.dtype != np.int64 or content.ndim != 1 or ends.ndim != 1:
        raise ValueError("texts must be bytes and their ends")
    starts = np.concatenate([[0], ends])
    if (np.diff(starts) < 0).any() or int(starts[-1]) != len(content):
        raise ValueError("texts do not end where they should")
    whole, bounds = content.tobytes(), starts.tolist()
    return [whole[start:stop].decode("utf-8", "surrogatepass") for start, stop in pairwise(bounds)]


def pack_array(array: NDArray[Any]) -> tuple[dict[str, Any], NDArray[Any] | list[Any]] | None:
    """What JSON says of an array, and the numbers or texts or objects in it; None for a type that a file cannot hold.

    The order of the axes in memory is kept, so that sums over the array are rounded as they were.
    """
    name = dtype_name(array.dtype)
    if name is None:
        return None
    if array.dtype.kind in "UTO":
        values = array.ravel().tolist()
        about: dict[str, Any] = {"dtype": name, "shape": list(array.shape)}
        if array.dtype.kind == "U":
            wide, longest = array.dtype.itemsize // 4, max(map(len, values), default=0)
            about["dtype"] = f"<U{longest if _wastes(wide, longest, len(values)) else wide}"
        return about, values
    about = {}
    if not array.flags.c_contiguous:
        axes = sorted(range(array.ndim), key=lambda axis: -abs(array.strides[axis]))
        if axes != list(range(array.ndim)):
            about["axes"] = axes
            array = array.transpose(axes)
    array = np.ascontiguousarray(array).reshape(array.shape)
    if name[1:] in DIRECT:
        return about, array.astype(name, copy=False)
    about["dtype"] = name
    if array.dtype.kind in "mM":
        return about, array.astype(name, copy=False).view(np.int64)
    return about, np.frombuffer(array.tobytes(), dtype=np.uint8).reshape(*array.shape, array.dtype.itemsize)


def unpack_array(about: dict[str, Any], content: Any) -> NDArray[Any]:
    """The array."""
    if isinstance(content, list):
        return _array_of_list(dtype_named(about["dtype"]), about["shape"], content)
    array: NDArray[Any] = np.asarray(content)
    if array.dtype.str[1:] not in DIRECT:
        raise ValueError(f"an array of {array.dtype} is none that Suffice writes")
    if array.dtype == np.bool_ and (array.view(np.uint8) > 1).any():
        raise ValueError("an array of truth values holds other bytes than 0 and 1")
    if "dtype" in about:
        dtype = dtype_named(about["dtype"])
        stored = np.int64 if dtype.kind in "mM" else np.uint8
        if dtype.kind not in "mMS" or array.dtype != stored or (dtype.kind == "S" and not array.ndim):
            raise ValueError(f"an array of {array.dtype} cannot be one of {dtype}")
        if dtype.kind == "S":
            if array.shape[-1] != dtype.itemsize or not dtype.itemsize:
                raise ValueError("an array of bytes has parts of another length")
            array = np.frombuffer(array.tobytes(), dtype=dtype).reshape(array.shape[:-1]).copy()
        else:
            array = array.view(dtype)
    if "axes" in about:
        axes = about["axes"]
        if sorted(axes) != list(range(array.ndim)):
            raise ValueError("the axes of an array are not those it has")
        array = array.transpose(np.argsort(axes))
    return array


def _array_of_list(dtype: np.dtype[Any], shape: Any, values: list[Any]) -> NDArray[Any]:
    if not isinstance(shape, list) or not all(type(size) is int and size >= 0 for size in shape):
        raise ValueError("an array has no shape")
    if math.prod(shape) != len(values) or dtype.kind not in "UTO":
        raise ValueError(f"{len(values)} values do not make an array of shape {shape} and type {dtype}")
    if dtype.kind != "O" and not all(type(value) is str for value in values):
        raise ValueError("an array of texts holds something else")
    if dtype.kind == "U":
        wide, longest = dtype.itemsize // 4, max(map(len, values), default=0)
        if longest > wide or _wastes(wide, longest, len(values)):
            raise ValueError("an array of texts has another width than its texts")
    array = np.empty(len(values), dtype=dtype)
    array[:] = values
    return array.reshape(shape)


def _wastes(wide: int, longest: int, count: int) -> bool:
    return (wide - max(longest, 1)) * max(count, 1) > WIDE
