"""Operations of every statistic: merge, subtract, scale, extend the class axis, select columns.

A statistic is an immutable value with a labelled class axis. The public methods here check their arguments and bring
both sides onto one axis. A concrete statistic implements the arithmetic on equal axes (``_merged``, ``_subtracted``,
``_scaled``) and declares by the types of its fields which of their axes are classes and columns.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, NamedTuple, Self, get_args, get_type_hints

import numpy as np

from suffice.exceptions import InputError, MergeError, columns_at, listed
from suffice.numerics.number_range import FADED
from suffice.numerics.types import Float, Index, Mask, Selection
from suffice.statistics.classes import ClassAxis

__all__ = ["LOW", "ByClass", "ByColumn", "ByPair", "Pairs", "Statistic", "has_faded"]


class _Axes(NamedTuple):
    """Whether the first axis of a field is the class axis, and how many of the last axes are columns."""

    classes: bool
    columns: int


ByClass = Annotated[Float, _Axes(True, 0)]
"""Type of a field whose first axis is the class axis."""
ByColumn = Annotated[Float, _Axes(True, 1)]
"""Type of a field whose first axis is the class axis and whose last axis is the columns."""
ByPair = Annotated[Float, _Axes(True, 2)]
"""Type of a field whose first axis is the class axis and whose last two axes are the columns."""
Pairs = Annotated[Float, _Axes(False, 2)]
"""Type of a field (d, d) that all classes share."""
LOW: Any = None
"""Default of the low part of a sum: zero, for a sum stored in one double."""


@functools.cache
def _axes_of(kind: type[Statistic]) -> dict[str, _Axes]:
    """Return the axes of each field that declares them."""
    hints = get_type_hints(kind, include_extras=True)
    marks = ((each.name, part) for each in fields(kind) for part in get_args(hints[each.name]))
    return {name: part for name, part in marks if isinstance(part, _Axes)}


def has_faded(weight: Float) -> Mask:
    """Return where decay has left a weight that counts as zero."""
    return np.asarray((weight > 0) & (weight < FADED))


@functools.cache
def _fields_of(kind: type[Statistic]) -> tuple[str, ...]:
    """Return the names of the fields."""
    return tuple(each.name for each in fields(kind))


@dataclass(frozen=True, eq=False)
class Statistic(ABC):
    """Base class of all statistics: immutable summaries of rows that can be added.

    ``a.merge(b)`` returns the statistic of the rows of both. It is associative and commutative up to rounding, and
    ``zero`` is its neutral element. ``subtract`` undoes a merge, ``scale`` multiplies the weight of every row, and
    ``columns`` selects columns.

    Parameters
    ----------
    classes : ClassAxis
        The classes of the rows.

    See Also
    --------
    suffice.statistics.Moments : Mean and variance of each column.
    suffice.statistics.Scatter : Mean and covariance.
    suffice.statistics.Counts : Counts of levels.
    suffice.families.Family : Computes parameters from a statistic.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.statistics import ClassAxis, Membership, Sums
    >>> axis = ClassAxis.of(["a"])
    >>> first = Sums.summarize(np.array([[1.0], [2.0]]), Membership(axis, codes=np.array([0, 0])))
    >>> second = Sums.summarize(np.array([[4.0]]), Membership(axis, codes=np.array([0])))
    >>> both = first.merge(second)
    >>> both.weight, both.total.ravel(), both.subtract(second).total.ravel(), both.scale(0.5).total.ravel()
    (array([3.]), array([7.]), array([3.]), array([3.5]))
    """

    classes: ClassAxis

    def merge(self, other: Self) -> Self:
        """Return the statistic of the rows of both, for two statistics of the same type and columns."""
        self.check_joins(other)
        if self.classes is not other.classes:
            axis = self.classes.union(other.classes)
            if not (axis == self.classes and axis == other.classes):
                return self.on(axis).merge(other.on(axis))
        with np.errstate(over="ignore", invalid="ignore"):  # the caller calls `check` on the result
            return self._merged(other)

    def with_row(self, row: Float, code: int) -> Self | None:
        """Return the statistic with one more row of weight one, all of whose cells (d,) are numbers.

        The result equals that of `merge` and `check`. None if the statistic has no such shortcut, or if the row needs
        the checks of `summarize`.
        """
        return None

    def subtract(self, other: Self, columns: Sequence[object] | None = None) -> Self:
        """Return the statistic of the rows of self without the rows of other.

        Raises `MergeError` if the numbers show that those rows were not among the rows of self; the message names
        class, column and level. ``columns`` are the names of the columns.
        """
        self.check_joins(other)
        unknown = self.classes.positions(other.classes.labels) < 0
        held = other.class_weights() > 0
        if (unknown & held).any():
            labels = other.classes.labels[unknown & held].tolist()
            raise MergeError(f"Cannot remove rows of class {listed(labels)}: there are none.")
        other = other.taking(~unknown).on(self.classes)
        with np.errstate(over="ignore", invalid="ignore"):
            return self._subtracted(other, range(self.shape[0]) if columns is None else columns)

    def scale(self, factor: float) -> Self:
        """Return the statistic of the same rows with every weight multiplied by ``factor``."""
        if not (np.isfinite(factor) and factor >= 0):
            raise InputError(f"factor must be a finite number of at least 0; got {factor!r}.", argument="factor")
        return self._scaled(float(factor))

    # ------------------------------------------------------------------ axes

    def on(self, axis: ClassAxis) -> Self:
        """Return the statistic on an axis that has at least its own classes; the others are empty."""
        if axis == self.classes:
            return self
        at = axis.positions(self.classes.labels)
        if (at < 0).any():
            raise MergeError(f"Class {listed(self.classes.labels[at < 0].tolist())} is not on the axis.")
        parts = {name: part.on(axis) for name, part in self.inner().items()}
        arrays = self._by_class()
        for name, values in arrays.items():
            arrays[name] = np.zeros((len(axis), *values.shape[1:]))
            arrays[name][at] = values
        return self._replaced(parts, arrays, classes=axis)

    def taking(self, at: Selection) -> Self:
        """Return the statistic of some of the classes, by position or by a mask."""
        positions = np.sort(np.arange(len(self.classes))[at])
        if len(positions) == len(self.classes):
            return self
        parts = {name: part.taking(positions) for name, part in self.inner().items()}
        arrays = {name: values[positions] for name, values in self._by_class().items()}
        return self._replaced(parts, arrays, classes=ClassAxis(self.classes.labels[positions]))

    def relabelled(self, axis: ClassAxis) -> Self:
        """Return the same numbers with other class labels."""
        return self._replaced({name: part.relabelled(axis) for name, part in self.inner().items()}, {}, classes=axis)

    def emptied(self, where: Mask) -> Self:
        """Return the statistic with all numbers zero in the classes where a mask is true."""
        if not (where & (self.class_weights() > 0)).any():
            return self
        arrays = {name: values.copy() for name, values in self._by_class().items()}
        for values in arrays.values():
            values[where] = 0.0
        return self._replaced({name: part.emptied(where) for name, part in self.inner().items()}, arrays)

    def columns(self, at: Sequence[int] | Index) -> Self:
        """Return the statistic of some of the columns, in the given order.

        Parameters
        ----------
        at : sequence of int
            Distinct positions of columns.
        """
        positions = np.asarray(at, dtype=np.intp)
        d = self.shape[0]
        if len(np.unique(positions)) < len(positions) or not ((positions >= 0) & (positions < d)).all():
            raise InputError(f"Expected distinct positions of columns from 0 to {d - 1}; got {listed(list(at))}.")
        return self if np.array_equal(positions, np.arange(d)) else self._columns(positions)

    def _columns(self, at: Index) -> Self:
        arrays = self.arrays()
        taken = {}
        for name, axes in _axes_of(type(self)).items():
            values = arrays[name]
            for axis in range(-axes.columns, 0):
                values = np.take(values, at, axis=axis)
            taken[name] = np.ascontiguousarray(values)
        return self._replaced({name: part.columns(at) for name, part in self.inner().items()}, taken)

    @classmethod
    def concatenate_columns(cls, parts: Sequence[Self]) -> Self:
        """Return the statistic of all columns of several statistics, whose columns are independent."""
        axis = functools.reduce(ClassAxis.union, (part.classes for part in parts))
        wide = [part.on(axis) for part in parts]
        inner = [part.inner() for part in wide]
        joined = {
            name: type(part).concatenate_columns([each[name] for each in inner]) for name, part in inner[0].items()
        }
        arrays = [part.arrays() for part in wide]
        concatenated = {}
        for name, axes in _axes_of(cls).items():
            if axes.columns != 1:
                raise MergeError(f"Cannot combine columns: {cls.__name__} needs whole rows.")
            concatenated[name] = np.concatenate([each[name] for each in arrays], axis=-1)
        changes: dict[str, Any] = joined | concatenated
        return replace(wide[0], **changes)

    @classmethod
    def fields_by_class(cls) -> list[str]:
        """Return the names of the fields whose first axis is the class axis."""
        return [name for name, axes in _axes_of(cls).items() if axes.classes]

    def inner(self) -> dict[str, Statistic]:
        """Return the fields that are statistics themselves, of the same classes and columns."""
        return {name: value for name, value in self._values().items() if isinstance(value, Statistic)}

    def _by_class(self) -> dict[str, Float]:
        """Return the arrays whose first axis is the class axis."""
        arrays = self.arrays()
        return {name: arrays[name] for name in self.fields_by_class()}

    def _values(self) -> dict[str, object]:
        """Return the fields by name."""
        return {name: getattr(self, name) for name in _fields_of(type(self))}

    def _replaced(self, parts: Mapping[str, Statistic], arrays: Mapping[str, Float], **others: ClassAxis) -> Self:
        """Return a copy with other inner statistics, arrays and classes."""
        changes: dict[str, Any] = {**parts, **arrays, **others}
        return replace(self, **changes)

    def kinds(self) -> tuple[type[Statistic], ...]:
        """Return the type, and those of the fields that are statistics themselves."""
        return type(self), *(kind for part in self.inner().values() for kind in part.kinds())

    def adopting(self, part: Statistic) -> Statistic:
        """Return a statistic of this type for a model whose file holds only the inner statistic ``part``.

        By default ``part`` itself.
        """
        return part

    def axes(self) -> tuple[object, ...]:
        """Return the labels of the axes of the numbers."""
        return (self.classes,)

    # ------------------------------------------------------------------ contents

    def class_weights(self) -> Float:
        """Return the weight of each class (K,); the largest of its columns if they differ."""
        weight = self.arrays()["weight"]
        return weight if weight.ndim == 1 else weight.max(axis=1, initial=0.0)

    def arrays(self) -> dict[str, Float]:
        """Return the arrays by name."""
        names = _fields_of(type(self))
        return {name: value for name in names if isinstance(value := getattr(self, name), np.ndarray)}

    def check(self, columns: Sequence[object] | None = None) -> Self:
        """Return the statistic; raises `InputError` naming the columns if numbers overflowed or underflowed."""
        return self

    def faded(self) -> Self:
        """Return the statistic after `scale`, without rows and differences that have lost their weight.

        Numbers that leave the range of float64 would stay there: a weight that is never zero, a variance that can
        neither be used nor grow.
        """
        arrays = self._by_class()
        weight = arrays["weight"]
        gone = has_faded(weight)
        if not gone.any():
            return self
        k, *rest = weight.shape
        for name, values in arrays.items():
            between = (1,) * (values.ndim - weight.ndim)
            arrays[name] = np.where(gone.reshape(k, *between, *rest), 0.0, values)
        return self._replaced({}, arrays)

    def levelled(self, before: Self) -> Self:
        """Return the statistic without rounding errors in columns that became constant since ``before``."""
        return self

    def __post_init__(self) -> None:
        values = vars(self)  # at this point the fields alone
        for name, value in values.items():
            if value is None:  # the low part of a sum stored in one double
                value = values[name] = np.zeros_like(values[name.removesuffix("_low")])
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    @classmethod
    def _made(cls, **fields: object) -> Self:
        """Return a statistic of fields whose arrays are read-only, in less time than the constructor takes."""
        made = object.__new__(cls)
        made.__dict__.update(fields)
        return made

    def __getstate__(self) -> dict[str, object]:
        """Return the fields without cached properties."""
        return self._values()

    def rounding(self) -> dict[str, Float]:
        """Return the magnitude of the terms of each entry; much smaller differences are rounding errors."""
        return {name: np.max(np.abs(array), axis=0, initial=0.0) for name, array in self.arrays().items()}

    # ------------------------------------------------------------------ implemented by each statistic

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Number of columns first, and other sizes that must be equal for two statistics to merge."""

    @abstractmethod
    def _merged(self, other: Self) -> Self: ...

    @abstractmethod
    def _subtracted(self, other: Self, columns: Sequence[object]) -> Self: ...

    @abstractmethod
    def _scaled(self, factor: float) -> Self: ...

    def check_joins(self, other: Statistic) -> None:
        """Raise `MergeError` unless the other has the same type, number of columns and settings."""
        if type(self) is not type(other):
            raise MergeError(f"Cannot merge {type(self).__name__} with {type(other).__name__}.")
        if self.shape != other.shape:
            raise MergeError(
                f"Cannot merge {type(self).__name__} of {self.shape[0]} columns with one of {other.shape[0]} columns."
            )

    def describe_position(self, columns: Sequence[object]) -> Callable[..., str]:
        """Return a function that describes the position of a number: its class, and its column if it has one."""

        def place(k: int, j: int | None = None) -> str:
            where = f"class {self.classes.label(k)!r}"
            # A family may store several columns for each column of its block.
            return where if j is None else f"{where}, {columns_at(columns, [j % len(columns)])}"

        return place
