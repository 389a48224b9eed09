"""Values of a closed set as JSON and named arrays, and back.

JSON's own values stand for themselves; everything else is an object of one key, its tag: ``{"tuple": [1, 2]}``,
``{"array": {...}}``, ``{"Moments": {...}}``. What a tag may name is listed here, so that reading a file makes no value
of any other type and runs no code but theirs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from suffice.families import family_named, family_names
from suffice.model_file.arrays import LONG, numbers_of, pack_array, pack_texts, unpack_array, unpack_texts
from suffice.model_file.container import Arrays
from suffice.model_file.plain_values import plain_named, plain_of
from suffice.sources.forms import FrameForm
from suffice.statistics import ClassAxis, Statistic

__all__ = ["NotStorableError", "Reader", "Writer", "storable"]

DEEPEST = 32  # values inside values
GROUPS: dict[str, type] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}

_STORABLE: dict[str, type[Any]] = {}
C = TypeVar("C", bound=type[Any])


def storable(kind: C) -> C:
    """Class decorator: objects of this dataclass, whose fields hold values that a file can hold, are such a value.

    >>> from dataclasses import dataclass
    >>> @storable
    ... @dataclass(frozen=True)
    ... class Temperature:
    ...     value: float
    >>> Writer().value(Temperature(0.5))
    {'Temperature': {'value': 0.5}}
    """
    known = _STORABLE.get(kind.__name__, kind)
    if (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
        raise TypeError(f"There is another storable class {kind.__name__}, in {known.__module__}; rename one of them.")
    _STORABLE[kind.__name__] = kind
    return kind


class NotStorableError(Exception):
    """A value that a file cannot hold, and where it is; `suffice.model_file.record` makes a sentence of it."""

    def __init__(self, value: object, trail: tuple[str | int, ...], why: str = "") -> None:
        self.value, self.trail, self.why = value, trail, why
        super().__init__(f"{type(value).__name__} at {trail}")


class Writer:
    """Turns values into JSON, and puts arrays aside under names that say where they belong."""

    def __init__(self, axis: ClassAxis | None = None) -> None:
        self.arrays: Arrays = {}
        self._axis = axis  # which statistics share

    def value(self, value: Any, *trail: str | int) -> Any:
        """The value as JSON."""
        if len(trail) > DEEPEST:
            raise NotStorableError(value, trail, "is nested too deeply")
        kind = type(value)
        if value is None or kind is bool or (kind is int and abs(value) < 2**63):
            return value
        if (kind is float and math.isfinite(value)) or (kind is str and _is_unicode(value)):
            return value
        plain = plain_of(value)
        if plain is not None:
            try:
                return {plain.tag: plain.pack(value)}
            except TypeError:
                raise NotStorableError(value, trail) from None
        return self._compound(value, trail)

    def _compound(self, value: Any, trail: tuple[str | int, ...]) -> Any:
        kind = type(value)
        for tag, group in GROUPS.items():
            if kind is group:
                items = self._items(list(value), trail)
                return items if tag == "list" and isinstance(items, list) else {tag: items}
        if isinstance(value, Mapping):
            pairs = enumerate(value.items())
            return {
                "dict": [[self.value(k, *trail, i, "key"), self.value(v, *trail, i, "value")] for i, (k, v) in pairs]
            }
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value), trail, value)}
        if isinstance(value, np.ndarray) and kind is not np.ma.MaskedArray:
            return {"array": self._array(np.asarray(value), trail, value)}
        if self._axis is not None and kind is ClassAxis and value == self._axis:
            return {"axis": "classes"}
        if _STORABLE.get(kind.__name__) is kind or isinstance(value, Statistic):
            return {kind.__name__: self._fields(value, trail)}
        if isinstance(getattr(value, "name", None), str) and hasattr(value, "summarize"):
            return {"family": [value.name, self._family(value, trail)]}
        if isinstance(value, FrameForm):
            return self.value(value.plain(), *trail)
        if kind.__name__ == "Series" and callable(getattr(value, "to_numpy", None)):
            return self.value(np.asarray(value.to_numpy()), *trail)
        raise NotStorableError(value, trail)

    def _items(self, values: list[Any], trail: tuple[str | int, ...]) -> Any:
        if len(values) >= LONG:
            if set(map(type, values)) == {str}:
                return {"texts": self._texts(values, trail)}
            numbers = numbers_of(values)
            if numbers is not None:
                return {"numbers": self._put(numbers, trail)}
        return [self.value(each, *trail, i) for i, each in enumerate(values)]

    def _fields(self, value: Any, trail: tuple[str | int, ...]) -> dict[str, Any]:
        return {each.name: self.value(getattr(value, each.name), *trail, each.name) for each in fields(value)}

    def _family(self, family: Any, trail: tuple[str | int, ...]) -> dict[str, Any]:
        if family.name not in family_names() or _family_class(family.name) is not type(family):
            raise NotStorableError(family, trail, "is a family that is not registered (suffice.families.register)")
        return self._fields(family, trail)

    def _array(self, array: NDArray[Any], trail: tuple[str | int, ...], value: object) -> dict[str, Any]:
        packed = pack_array(array)
        if packed is None:
            raise NotStorableError(value, trail)
        about, content = packed
        if isinstance(content, list):
            return about | {"values": self._items(content, trail)}
        return about | {"at": self._put(content, trail)}

    def _texts(self, texts: list[str], trail: tuple[str | int, ...]) -> str:
        content, ends = pack_texts(texts)
        self._put(ends, (*trail, "ends"))
        return self._put(content, trail)

    def _put(self, array: NDArray[Any], trail: tuple[str | int, ...]) -> str:
        name = ".".join(map(str, trail))
        assert name not in self.arrays
        self.arrays[name] = array
        return name


class Reader:
    """Makes values of JSON and the arrays beside it; each array is used once."""

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = dict(arrays)
        self.axis: ClassAxis | None = None

    def value(self, stored: Any, *also: type, depth: int = 0) -> Any:
        """The value; ``also`` are types that it may have beside the known ones."""
        if depth > DEEPEST:
            raise ValueError("values are nested too deeply")
        if isinstance(stored, list):
            return [self.value(each, *also, depth=depth + 1) for each in stored]
        if not isinstance(stored, dict):
            return stored
        if len(stored) != 1:
            raise ValueError(f"a value has the tags {sorted(stored)[:5]}")
        ((tag, content),) = stored.items()
        if tag in GROUPS:
            return GROUPS[tag](self._items(content, also, depth))
        if tag == "dict":
            return {
                self.value(key, *also, depth=depth + 1): self.value(value, *also, depth=depth + 1)
                for key, value in content
            }
        if tag in ("array", "scalar"):
            array = self._array(content, also, depth)
            if tag == "scalar" and array.ndim:
                raise ValueError("a single value is an array")
            return array if tag == "array" else array[()]
        if tag == "axis":
            if self.axis is None:
                raise ValueError("there are no classes yet")
            return self.axis
        if tag == "family":
            name, settings = content
            return _family_class(name)(**self._fields(settings, also, depth))
        kinds = _STORABLE | {kind.__name__: kind for kind in also}
        return kinds[tag](**self._fields(content, also, depth)) if tag in kinds else plain_named(tag).unpack(content)

    def _items(self, content: Any, also: tuple[type, ...], depth: int) -> list[Any]:
        if isinstance(content, dict):
            ((tag, name),) = content.items()
            if tag == "texts":
                return unpack_texts(self._take(name), self._take(f"{name}.ends"))
            numbers = self._take(name)
            if tag != "numbers" or numbers.ndim != 1:
                raise ValueError("a list is neither of texts nor of numbers")
            return list(numbers.tolist())
        return [self.value(each, *also, depth=depth + 1) for each in content]

    def _fields(self, content: Any, also: tuple[type, ...], depth: int) -> dict[str, Any]:
        return {name: self.value(each, *also, depth=depth + 1) for name, each in content.items()}

    def _array(self, about: dict[str, Any], also: tuple[type, ...], depth: int) -> NDArray[Any]:
        if "values" in about:
            return unpack_array(about, self._items(about["values"], also, depth))
        return unpack_array(about, self._take(about["at"]))

    def _take(self, name: str) -> NDArray[Any]:
        if name not in self.arrays:
            raise ValueError(f"there is no array {name!r}, or it is used twice")
        return self.arrays.pop(name)


def _family_class(name: str) -> type[Any]:
    if name not in family_names():
        raise ValueError(
            f"it has the family {name!r}, which is not registered here; import the module that defines it first"
        )
    return type(family_named(name))


def _is_unicode(text: str) -> bool:
    """Whether a text has no half of a surrogate pair."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
