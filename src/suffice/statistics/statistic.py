"""What every statistic can do: merge, subtract, scale, stand on a wider class axis, and give some of its columns.

A statistic is an immutable value with a labelled class axis. The public verbs here check their arguments
and bring both sides onto one axis; a statistic's own file gives the arithmetic on equal axes
(``_merged``, ``_subtracted``, ``_scaled``) and says by the types of its fields which of their axes are classes
and columns.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, NamedTuple, Self, get_args, get_type_hints

import numpy as np

from suffice.exceptions import InputError, MergeError, columns_at, listed
from suffice.numerics.types import Float, Index, Mask
from suffice.statistics.classes import ClassAxis

__all__ = ["LOW", "ByClass", "ByColumn", "ByPair", "Pairs", "Statistic"]


class _Axes(NamedTuple):
    """Whether the first axis of a field is the class axis, and how many of the last are columns."""

    classes: bool
    columns: int


ByClass = Annotated[Float, _Axes(True, 0)]
"""The type of a statistic's field whose first axis is the class axis."""
ByColumn = Annotated[Float, _Axes(True, 1)]
"""The same, and the last axis is that of the columns."""
ByPair = Annotated[Float, _Axes(True, 2)]
"""The same, and the last two axes are those of the columns."""
Pairs = Annotated[Float, _Axes(False, 2)]
"""The type of a field (d, d) that all classes share."""
LOW: Any = None
"""The default of the low part of a sum: zero, of a sum that is known to one double."""


@functools.cache
def _axes_of(kind: type[Statistic]) -> dict[str, _Axes]:
    """The axes of each field that has any."""
    hints = get_type_hints(kind, include_extras=True)
    marks = ((each.name, part) for each in fields(kind) for part in get_args(hints[each.name]))
    return {name: part for name, part in marks if isinstance(part, _Axes)}


@functools.cache
def _fields_of(kind: type[Statistic]) -> tuple[str, ...]:
    """Names of the fields."""
    return tuple(each.name for each in fields(kind))


@dataclass(frozen=True, eq=False)
class Statistic(ABC):
    """A value that summarises rows and adds.

    ``a.merge(b)`` is the statistic of the rows of both; it is associative and commutative up to
    rounding, and `zero` is its neutral element. ``subtract`` undoes it. ``scale`` multiplies every
    row's weight. ``columns`` is the statistic of some of the columns.
    """

    classes: ClassAxis

    def merge(self, other: Self) -> Self:
        """The statistic of the rows of both."""
        self.check_joins(other)
        axis = self.classes.union(other.classes)
        with np.errstate(over="ignore", invalid="ignore"):  # the owner of the result looks at it with `check`
            return self.on(axis)._merged(other.on(axis))

    def subtract(self, other: Self, columns: Sequence[object] | None = None) -> Self:
        """The statistic of the rows of self without those of other.

        Where it shows that those rows were not among the rows of self, a `MergeError` names class, column and
        level; ``columns`` are the names.
        """
        self.check_joins(other)
        strange = self.classes.positions(other.classes.labels) < 0
        held = other.class_weights() > 0
        if (strange & held).any():
            unknown = other.classes.labels[strange & held].tolist()
            raise MergeError(f"Rows of class {listed(unknown)} cannot be taken out: there are none.")
        other = other.taking(~strange).on(self.classes)
        with np.errstate(over="ignore", invalid="ignore"):
            return self._subtracted(other, range(self.shape[0]) if columns is None else columns)

    def scale(self, factor: float) -> Self:
        """The statistic of the same rows with every weight times ``factor``."""
        if not (np.isfinite(factor) and factor >= 0):
            raise InputError(f"A statistic is scaled by a finite number of at least 0, got {factor!r}.")
        return self._scaled(float(factor))

    # ------------------------------------------------------------------ axes

    def on(self, axis: ClassAxis) -> Self:
        """The same statistic on an axis that holds at least its own classes; the others are empty."""
        if axis == self.classes:
            return self
        at = axis.positions(self.classes.labels)
        if (at < 0).any():
            raise MergeError(f"Class {listed(self.classes.labels[at < 0].tolist())} is not on the axis.")
        wider: dict[str, Any] = {name: part.on(axis) for name, part in self._inner().items()}
        for name, axes in _axes_of(type(self)).items():
            if axes.classes:
                values = getattr(self, name)
                wider[name] = np.zeros((len(axis), *values.shape[1:]))
                wider[name][at] = values
        return replace(self, classes=axis, **wider)

    def taking(self, at: Any) -> Self:
        """The statistic of some of the classes, by position or where a mask is true; the others are dropped."""
        places = np.sort(np.arange(len(self.classes))[at])
        if len(places) == len(self.classes):
            return self
        kept: dict[str, Any] = {name: part.taking(places) for name, part in self._inner().items()}
        kept |= {name: getattr(self, name)[places] for name, axes in _axes_of(type(self)).items() if axes.classes}
        return replace(self, classes=ClassAxis(self.classes.labels[places]), **kept)

    def relabelled(self, axis: ClassAxis) -> Self:
        """The same numbers with other labels of the classes."""
        inner: dict[str, Any] = {name: part.relabelled(axis) for name, part in self._inner().items()}
        return replace(self, classes=axis, **inner)

    def emptied(self, where: Mask) -> Self:
        """The statistic with nothing in the classes where a mask is true, which have no rows."""
        if not (where & (self.class_weights() > 0)).any():
            return self
        left: dict[str, Any] = {name: part.emptied(where) for name, part in self._inner().items()}
        for name, axes in _axes_of(type(self)).items():
            if axes.classes:
                left[name] = getattr(self, name).copy()
                left[name][where] = 0.0
        return replace(self, **left)

    def columns(self, at: Sequence[int] | Index) -> Self:
        """The statistic of some of the columns, in the order given.

        Parameters
        ----------
        at : sequence of int
            Positions of columns, none of them twice.
        """
        places = np.asarray(at, dtype=np.intp)
        d = self.shape[0]
        if len(np.unique(places)) < len(places) or not ((places >= 0) & (places < d)).all():
            raise InputError(f"Columns are taken by positions from 0 to {d - 1}, none twice; got {listed(list(at))}.")
        return self if np.array_equal(places, np.arange(d)) else self._columns(places)

    def _columns(self, at: Index) -> Self:
        taken: dict[str, Any] = {name: part.columns(at) for name, part in self._inner().items()}
        for name, axes in _axes_of(type(self)).items():
            values = getattr(self, name)
            for axis in range(-axes.columns, 0):
                values = np.take(values, at, axis=axis)
            taken[name] = np.ascontiguousarray(values)
        return replace(self, **taken)

    @classmethod
    def beside(cls, parts: Sequence[Self]) -> Self:
        """The statistic of several columns, from those of one or some each, where columns are independent."""
        axis = functools.reduce(ClassAxis.union, (part.classes for part in parts))
        wide = [part.on(axis) for part in parts]
        joined: dict[str, Any] = {
            name: type(part).beside([getattr(each, name) for each in wide]) for name, part in wide[0]._inner().items()
        }
        for name, axes in _axes_of(cls).items():
            if axes.columns != 1:
                raise MergeError(f"A {cls.__name__} of several columns is of whole rows, and not made from columns.")
            joined[name] = np.concatenate([getattr(each, name) for each in wide], axis=-1)
        return replace(wide[0], **joined)

    @classmethod
    def fields_by_class(cls) -> list[str]:
        """Names of the fields whose first axis is the class axis."""
        return [name for name, axes in _axes_of(cls).items() if axes.classes]

    def _inner(self) -> dict[str, Statistic]:
        """Fields that are statistics themselves, of the same classes and columns."""
        named = ((name, getattr(self, name)) for name in _fields_of(type(self)))
        return {name: value for name, value in named if isinstance(value, Statistic)}

    def axes(self) -> tuple[object, ...]:
        """What the axes of the numbers are labelled with."""
        return (self.classes,)

    # ------------------------------------------------------------------ what it holds

    def class_weights(self) -> Float:
        """Weight of each class (K,); the most of its columns where they differ."""
        weight = self.arrays()["weight"]
        return weight if weight.ndim == 1 else weight.max(axis=1, initial=0.0)

    def arrays(self) -> dict[str, Float]:
        """The numbers by name, for files and for showing."""
        named = ((name, getattr(self, name)) for name in _fields_of(type(self)))
        return {name: value for name, value in named if isinstance(value, np.ndarray)}

    def check(self, columns: Sequence[object] | None = None) -> Self:
        """Raise if numbers over- or underflowed, naming the columns; the statistic itself otherwise."""
        return self

    def __post_init__(self) -> None:
        for name in _fields_of(type(self)):
            value = getattr(self, name)
            if value is None:  # the low part of a sum that is known to one double
                value = np.zeros_like(getattr(self, name.removesuffix("_low")))
                object.__setattr__(self, name, value)
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone, without what was made of them."""
        return {name: getattr(self, name) for name in _fields_of(type(self))}

    def rounding(self) -> dict[str, Float]:
        """The size of the numbers that each entry was summed from: differences far below it are rounding."""
        return {name: np.max(np.abs(array), axis=0, initial=0.0) for name, array in self.arrays().items()}

    # ------------------------------------------------------------------ what a statistic's own file gives

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """What must be equal for two of these to merge; the number of columns."""

    @abstractmethod
    def _merged(self, other: Self) -> Self: ...

    @abstractmethod
    def _subtracted(self, other: Self, columns: Sequence[object]) -> Self: ...

    @abstractmethod
    def _scaled(self, factor: float) -> Self: ...

    def check_joins(self, other: Statistic) -> None:
        """Raise unless the other is of the same kind, columns and reading, so that the two may merge."""
        if type(self) is not type(other):
            raise MergeError(f"{type(self).__name__} cannot be joined with {type(other).__name__}.")
        if self.shape != other.shape:
            raise MergeError(
                f"{type(self).__name__} of {self.shape[0]} columns cannot be joined with one of {other.shape[0]}."
            )

    def _place(self, columns: Sequence[object]) -> Callable[..., str]:
        """A function that names the place of a number: its class, and its column if it has one."""

        def place(k: int, j: int | None = None) -> str:
            where = f"class {self.classes.label(k)!r}"
            # A family may keep several columns of its own for each of a block.
            return where if j is None else f"{where}, {columns_at(columns, [j % len(columns)])}"

        return place
