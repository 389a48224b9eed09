"""Encode values of a closed set as JSON and named arrays, and decode them.

JSON's own values stand for themselves; every other value is an object with one key, its tag: ``{"tuple": [1, 2]}``,
``{"array": {...}}``, ``{"Moments": {...}}``. This module lists the tags, so that reading a file creates no other types
and runs no other code.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import fields
from typing import Any, Protocol, TypeAlias, TypeVar, runtime_checkable

import numpy as np

from suffice.families import Family, family_named, family_names
from suffice.model_file.arrays import LONG, Json, numbers_of, pack_array, pack_texts, unpack_array, unpack_texts
from suffice.model_file.container import Arrays
from suffice.model_file.scalars import codec_for, codec_tagged
from suffice.numerics.types import Array
from suffice.sources.forms import FrameForm
from suffice.statistics import ClassAxis, Statistic

__all__ = ["NotStorableError", "Value", "ValueReader", "ValueWriter", "field_values", "storable"]

Value: TypeAlias = Any
"""A decoded value, whose type is known only to the code that asked for it."""
Path = tuple[str | int, ...]
"""The keys and positions that lead to a value inside the document."""

MAX_DEPTH = 32  # nested values
GROUPS: dict[str, type] = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}

_STORABLE: dict[str, type] = {}
C = TypeVar("C", bound=type)


def storable(kind: C) -> C:
    """Register a dataclass whose objects a model file can hold, as a decorator of the class.

    Parameters
    ----------
    kind : dataclass
        Its fields must hold values that a file can hold.

    Returns
    -------
    dataclass
        The same class.

    See Also
    --------
    suffice.model_file.write_model : Writes a file.
    suffice.families.register : Registers a family.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @storable
    ... @dataclass(frozen=True)
    ... class Temperature:
    ...     value: float
    >>> ValueWriter().value(Temperature(0.5))
    {'Temperature': {'value': 0.5}}
    """
    known = _STORABLE.get(kind.__name__, kind)
    if (known.__module__, known.__qualname__) != (kind.__module__, kind.__qualname__):
        raise TypeError(f"There is another storable class {kind.__name__}, in {known.__module__}; rename one of them.")
    _STORABLE[kind.__name__] = kind
    return kind


@runtime_checkable
class _Series(Protocol):
    """A series of pandas or Polars, which are not imported here."""

    def to_numpy(self) -> Array: ...


class NotStorableError(Exception):
    """A file cannot hold a value; `suffice.model_file.record` turns this into a `ModelFileError`.

    Parameters
    ----------
    value : object
    path : tuple
        Where the value is.
    reason : str, optional
        What is wrong with it, if not its type.
    """

    def __init__(self, value: object, path: Path, reason: str = "") -> None:
        self.value, self.path, self.reason = value, path, reason
        super().__init__(f"{type(value).__name__} at {path}")


class ValueWriter:
    """Encodes values as JSON, and collects arrays under names that are their paths.

    Parameters
    ----------
    axis : ClassAxis, optional
        The class axis that statistics share; they refer to it instead of storing it again.
    """

    def __init__(self, axis: ClassAxis | None = None) -> None:
        self.arrays: Arrays = {}
        self._axis = axis

    def value(self, value: object, *path: str | int) -> Json:
        """Return the value as JSON."""
        if len(path) > MAX_DEPTH:
            raise NotStorableError(value, path, "is nested too deeply")
        if _is_json(value):
            return value
        codec = codec_for(value)
        if codec is not None:
            try:
                return {codec.tag: codec.pack(value)}
            except TypeError:
                raise NotStorableError(value, path) from None
        return self._compound(value, path)

    def _compound(self, value: object, path: Path) -> Json:
        kind = type(value)
        if isinstance(value, list | tuple | set | frozenset) and kind in GROUPS.values():
            # Sets have no order; the same set is written in the same one.
            values = sorted(value, key=_written_order) if isinstance(value, set | frozenset) else list(value)
            items = self._items(values, path)
            return items if kind is list and isinstance(items, list) else {kind.__name__: items}
        if isinstance(value, Mapping):
            pairs = enumerate(value.items())
            return {"dict": [[self.value(k, *path, i, "key"), self.value(v, *path, i, "value")] for i, (k, v) in pairs]}
        if isinstance(value, np.generic):
            return {"scalar": self._array(np.asarray(value), path, value)}
        if isinstance(value, np.ndarray) and kind is not np.ma.MaskedArray:
            return {"array": self._array(np.asarray(value), path, value)}
        if self._axis is not None and kind is ClassAxis and value == self._axis:
            return {"axis": "classes"}
        if _STORABLE.get(kind.__name__) is kind or isinstance(value, Statistic):
            return {kind.__name__: self._fields(value, path)}
        if isinstance(value, Family):
            return {"family": [value.name, self._family(value, path)]}
        if isinstance(value, FrameForm):
            return self.value(value.plain(), *path)
        if kind.__name__ == "Series" and isinstance(value, _Series):
            return self.value(np.asarray(value.to_numpy()), *path)
        raise NotStorableError(value, path)

    def _items(self, values: list[Value], path: Path) -> Json:
        if len(values) >= LONG:
            if set(map(type, values)) == {str}:
                return {"texts": self._texts(values, path)}
            numbers = numbers_of(values)
            if numbers is not None:
                return {"numbers": self._put(numbers, path)}
        return [self.value(each, *path, i) for i, each in enumerate(values)]

    def _fields(self, value: object, path: Path) -> dict[str, Json]:
        return {name: self.value(each, *path, name) for name, each in field_values(value).items()}

    def _family(self, family: Family, path: Path) -> dict[str, Json]:
        if family.name not in family_names() or _family_class(family.name) is not type(family):
            raise NotStorableError(family, path, "is a family that is not registered (suffice.families.register)")
        return self._fields(family, path)

    def _array(self, array: Array, path: Path, value: object) -> dict[str, Json]:
        packed = pack_array(array)
        if packed is None:
            raise NotStorableError(value, path)
        description, content = packed
        if isinstance(content, list):
            return description | {"values": self._items(content, path)}
        return description | {"at": self._put(content, path)}

    def _texts(self, texts: list[str], path: Path) -> str:
        content, ends = pack_texts(texts)
        self._put(ends, (*path, "ends"))
        return self._put(content, path)

    def _put(self, array: Array, path: Path) -> str:
        """Store an array, and return its name."""
        name = ".".join(map(str, path))
        assert name not in self.arrays
        self.arrays[name] = array
        return name


class ValueReader:
    """Decodes JSON and the arrays that belong to it; each array is used once.

    Attributes
    ----------
    arrays : dict
        The arrays that have not been used yet.
    axis : ClassAxis or None
        The class axis that statistics share; set it before reading them.
    """

    def __init__(self, arrays: Arrays) -> None:
        self.arrays = dict(arrays)
        self.axis: ClassAxis | None = None

    def finish(self) -> None:
        """Raise if nothing refers to one of the arrays."""
        if self.arrays:
            raise ValueError(f"nothing refers to its array {next(iter(self.arrays))!r}")

    def value(self, stored: Json, *also: type, depth: int = 0) -> Value:
        """Return the decoded value; ``also`` are types that are allowed in addition to the known ones."""
        if depth > MAX_DEPTH:
            raise ValueError("values are nested too deeply")
        if isinstance(stored, list):
            return [self.value(each, *also, depth=depth + 1) for each in stored]
        if not isinstance(stored, dict):
            return stored
        if len(stored) != 1:
            raise ValueError(f"a value has the tags {sorted(stored)[:5]}; expected one")
        ((tag, content),) = stored.items()
        return self._tagged(tag, content, also, depth)

    def _tagged(self, tag: str, content: Json, also: tuple[type, ...], depth: int) -> Value:
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
                raise ValueError("a single value is stored as an array")
            return array if tag == "array" else array[()]
        if tag == "axis":
            if self.axis is None:
                raise ValueError("the classes have not been read yet")
            return self.axis
        if tag == "family":
            name, settings = content
            return _family_class(name)(**self._fields(settings, also, depth))
        kinds = _STORABLE | {kind.__name__: kind for kind in also}
        if tag not in kinds:
            return codec_tagged(tag).unpack(content)
        values = self._fields(content, also, depth)
        if kinds[tag] is ClassAxis and not isinstance(values.get("labels"), np.ndarray):
            raise ValueError("classes are not an array of labels")
        return kinds[tag](**values)

    def _items(self, content: Json, also: tuple[type, ...], depth: int) -> list[Value]:
        if isinstance(content, dict):
            ((tag, name),) = content.items()
            if tag == "texts":
                return unpack_texts(self._take(name), self._take(f"{name}.ends"))
            numbers = self._take(name)
            if tag != "numbers" or numbers.ndim != 1:
                raise ValueError("a list holds neither strings nor numbers")
            return list(numbers.tolist())
        return [self.value(each, *also, depth=depth + 1) for each in content]

    def _fields(self, content: Json, also: tuple[type, ...], depth: int) -> dict[str, Value]:
        return {name: self.value(each, *also, depth=depth + 1) for name, each in content.items()}

    def _array(self, description: dict[str, Json], also: tuple[type, ...], depth: int) -> Array:
        if "values" in description:
            return unpack_array(description, self._items(description["values"], also, depth))
        return unpack_array(description, self._take(description["at"]))

    def _take(self, name: str) -> Array:
        if name not in self.arrays:
            raise ValueError(f"there is no array {name!r}, or it is used twice")
        return self.arrays.pop(name)


def field_values(value: Value) -> dict[str, Value]:
    """Return the fields of a dataclass object by name."""
    return {each.name: getattr(value, each.name) for each in fields(value)}


def _family_class(name: str) -> Callable[..., Family]:
    if name not in family_names():
        raise ValueError(
            f"it has the family {name!r}, which is not registered here; import the module that defines it first"
        )
    return type(family_named(name))


def _written_order(value: object) -> tuple[str, str]:
    return type(value).__name__, repr(value)


def _is_json(value: object) -> bool:
    """Whether JSON holds the value as it is."""
    if value is None or type(value) is bool:
        return True
    if isinstance(value, int) and type(value) is int:
        return abs(value) < 2**63
    if isinstance(value, float) and type(value) is float:
        return math.isfinite(value)
    return isinstance(value, str) and type(value) is str and _is_unicode(value)


def _is_unicode(text: str) -> bool:
    """Whether a string has no lone surrogates."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
