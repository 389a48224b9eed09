"""What every statistic can do: merge, subtract, scale, and stand on a wider class axis.

A statistic is an immutable value with a labelled class axis. The public verbs here check their arguments
and bring both sides onto one axis; a statistic's own file gives the arithmetic on equal axes
(``_merged``, ``_subtracted``, ``_scaled``) and nothing else.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError, MergeError, listed
from suffice.statistics.classes import ClassAxis

__all__ = ["ByClass", "Statistic", "remaining_squares", "remaining_weight"]

Float = NDArray[np.float64]
ByClass = Annotated[NDArray[np.float64], "by class"]
"""The type of a statistic's field whose first axis is the class axis."""


@dataclass(frozen=True, eq=False)
class Statistic(ABC):
    """A value that summarises rows and adds.

    ``a.merge(b)`` is the statistic of the rows of both; it is associative and commutative up to
    rounding, and `zero` is its neutral element. ``subtract`` undoes it. ``scale`` multiplies every
    row's weight.
    """

    classes: ClassAxis

    def merge(self, other: Self) -> Self:
        """The statistic of the rows of both."""
        self._check_kind(other)
        axis = self.classes.union(other.classes)
        with np.errstate(over="ignore", invalid="ignore"):  # the owner of the result looks at it with `check`
            return self.on(axis)._merged(other.on(axis))

    def subtract(self, other: Self) -> Self:
        """The statistic of the rows of self without those of other."""
        self._check_kind(other)
        strange = self.classes.positions(other.classes.labels) < 0
        held = other.class_weights() > 0
        if (strange & held).any():
            unknown = other.classes.labels[strange & held].tolist()
            raise MergeError(f"Rows of class {listed(unknown)} cannot be taken out: there are none.")
        return self._subtracted(other.taking(np.flatnonzero(~strange)).on(self.classes))

    def scale(self, factor: float) -> Self:
        """The statistic of the same rows with every weight times ``factor``."""
        if not (np.isfinite(factor) and factor >= 0):
            raise InputError(f"A statistic is scaled by a finite number of at least 0, got {factor!r}.")
        return self._scaled(float(factor))

    def on(self, axis: ClassAxis) -> Self:
        """The same statistic on an axis that holds at least its own classes; the others are empty."""
        if axis == self.classes:
            return self
        at = axis.positions(self.classes.labels)
        if (at < 0).any():
            raise MergeError(f"Class {listed(self.classes.labels[at < 0].tolist())} is not on the axis.")
        wider = {}
        for name in self._by_class():
            values = getattr(self, name)
            wider[name] = np.zeros((len(axis), *values.shape[1:]))
            wider[name][at] = values
        return replace(self, classes=axis, **wider)

    def taking(self, at: NDArray[np.intp]) -> Self:
        """The statistic of some of the classes, without the others."""
        if len(at) == len(self.classes):
            return self
        kept: dict[str, Any] = {name: getattr(self, name)[at] for name in self._by_class()}
        return replace(self, classes=ClassAxis(self.classes.labels[at]), **kept)

    def relabelled(self, axis: ClassAxis) -> Self:
        """The same numbers with other labels of the classes."""
        return replace(self, classes=axis)

    def _by_class(self) -> list[str]:
        return [each.name for each in fields(self) if each.type in (ByClass, "ByClass")]

    def class_weights(self) -> Float:
        """Weight of each class (K,); the most of its columns where they differ."""
        weight = self.arrays()["weight"]
        return weight if weight.ndim == 1 else weight.max(axis=1, initial=0.0)

    def arrays(self) -> dict[str, Float]:
        """The numbers by name, for files and for showing."""
        named = {each.name: getattr(self, each.name) for each in fields(self)}
        return {name: value for name, value in named.items() if isinstance(value, np.ndarray)}

    def axes(self) -> tuple[object, ...]:
        """What the axes of the numbers are labelled with."""
        return (self.classes,)

    def check(self, columns: Sequence[object] | None = None) -> Self:
        """Raise if numbers over- or underflowed, naming the columns; the statistic itself otherwise."""
        return self

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.flags.writeable = False

    def rounding(self) -> dict[str, Float]:
        """The size of the numbers that each entry was summed from: differences far below it are rounding."""
        return {name: np.max(np.abs(array), axis=0, initial=0.0) for name, array in self.arrays().items()}

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """What must be equal for two of these to merge; the number of columns."""

    @abstractmethod
    def _merged(self, other: Self) -> Self: ...

    @abstractmethod
    def _subtracted(self, other: Self) -> Self: ...

    @abstractmethod
    def _scaled(self, factor: float) -> Self: ...

    def _check_kind(self, other: Self) -> None:
        if type(self) is not type(other):
            raise MergeError(f"{type(self).__name__} cannot be joined with {type(other).__name__}.")
        if self.shape != other.shape:
            raise MergeError(
                f"{type(self).__name__} of {self.shape[0]} columns cannot be joined with one of {other.shape[0]}."
            )


def remaining_weight(whole: Float, part: Float) -> Float:
    """``whole − part``, where no weight may become negative; what is left of rounding is zero."""
    left = whole - part
    negligible = 1e-12 * whole
    if np.any(left < -negligible):
        raise MergeError("More weight would be taken out than there is; these rows were not in the statistic.")
    return np.where(left <= negligible, 0.0, left)


def remaining_squares(whole: Float, left: Float) -> Float:
    """Sums of squares after a part was taken out; what is left of rounding, or below zero, is zero."""
    return np.where(left <= 64 * np.finfo(np.float64).eps * whole, 0.0, left)
