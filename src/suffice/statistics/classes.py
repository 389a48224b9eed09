"""The class axis: which row of a statistic belongs to which label, and how two axes unite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from suffice import kernels
from suffice.exceptions import ClassError, InputError, listed
from suffice.numerics.types import Array, Codes, Float, Mask

__all__ = ["ClassAxis", "Membership"]


@dataclass(frozen=True, eq=False)
class ClassAxis:
    """Sorted, distinct class labels: numbers, strings or booleans.

    >>> axis = ClassAxis.of(["spam", "ham", "spam"])
    >>> axis.labels.tolist()
    ['ham', 'spam']
    >>> axis.union(ClassAxis.of(["news"])).labels.tolist()
    ['ham', 'news', 'spam']
    """

    labels: Array

    @classmethod
    def of(cls, labels: Sequence[Any] | Array) -> ClassAxis:
        """The axis of the distinct labels among ``labels``."""
        return cls(_sorted_labels(np.asarray(labels)))

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClassAxis):
            return NotImplemented
        if self is other:
            return True
        # True equals 1 in NumPy; as class labels they are different things.
        alike = self.labels.dtype == other.labels.dtype or _kind(self.labels) == _kind(other.labels)
        return alike and bool(np.array_equal(self.labels, other.labels))

    __hash__ = None  # type: ignore[assignment]

    def union(self, other: ClassAxis) -> ClassAxis:
        """The axis of the labels of both."""
        if self == other or len(other) == 0:
            return self
        if len(self) == 0:
            return other
        if self.holds(other):
            return self
        kinds = {_kind(self.labels), _kind(other.labels)}
        if len(kinds) > 1:
            raise ClassError(
                f"Class labels of different kinds cannot be sorted together: {listed(self.labels.tolist(), 3)} "
                f"and {listed(other.labels.tolist(), 3)}. Convert the labels to one type."
            )
        both = ClassAxis.of(np.concatenate([self.labels, other.labels]))
        if len(both) < len(set(self.labels.tolist()) | set(other.labels.tolist())):
            raise ClassError(
                f"Labels of type {self.labels.dtype} and {other.labels.dtype} cannot be united without taking some "
                "for equal that are not. Convert the labels to one type."
            )
        return both

    def holds(self, other: ClassAxis) -> bool:
        """Whether all labels of another axis, of the same type or a narrower one, are on this one."""
        mine, theirs = self.labels.dtype, other.labels.dtype
        narrower = mine.kind == theirs.kind and mine.kind in "biuU" and theirs.itemsize <= mine.itemsize
        return narrower and len(other) <= len(self) and bool((self.positions(other.labels) >= 0).all())

    def positions(self, labels: Array) -> Codes:
        """Position of each label on this axis; −1 for a label that is not on it."""
        if len(self) == 0 or len(labels) == 0:
            return np.full(len(labels), -1, dtype=np.int64)
        try:
            at = np.searchsorted(self.labels, labels)
        except TypeError:
            raise ClassError(
                f"Labels {listed(labels.tolist(), 3)} cannot be compared with the classes "
                f"{listed(self.labels.tolist(), 3)}. Give labels of the type the model was fitted with."
            ) from None
        at[at == len(self)] = 0
        return np.where(self.labels[at] == labels, at, -1)

    def label(self, k: int) -> Any:
        """The label at a position, as Python has it."""
        return self.labels[k : k + 1].tolist()[0]

    def position(self, label: Any) -> int:
        """Position of one label; a sentence if it is not on this axis."""
        at = int(self.positions(np.asarray([label]))[0]) if np.ndim(label) == 0 else -1
        if at < 0:
            raise ClassError(f"{label!r} is not a class of this model. Its classes are {listed(self.labels.tolist())}.")
        return at


def _kind(labels: Array) -> str:
    """Labels of one kind sort together: numbers, or texts, or anything else by its type."""
    if labels.dtype.kind in "iuf":
        return "number"
    if labels.dtype.kind in "UT" or all(isinstance(label, str) for label in labels.tolist()):
        return "text"
    return str(labels.dtype)


def _sorted_labels(labels: Array) -> Array:
    try:
        return np.unique(labels)
    except TypeError:
        raise ClassError(
            f"Class labels must be of one type, all numbers or all strings; got {listed(labels.tolist(), 4)}."
        ) from None


@dataclass(frozen=True)
class Membership:
    """Which class each row of a batch belongs to, and with what weight.

    Parameters
    ----------
    classes : ClassAxis
    codes : array of shape (n,), optional
        Hard membership: the position of each row's label on the axis; −1 leaves the row out.
    soft : array of shape (n, K), optional
        Soft membership: a weight for each row and class. A one-hot row is the same as a code.
    weights : array of shape (n,), optional
        Weight of each row. No weight means weight one; weight k is the row k times.

    Attributes
    ----------
    row_counts : array of shape (K,)
        How many rows have each class as their code.
    """

    classes: ClassAxis
    codes: Codes | None = None
    soft: Float | None = None
    weights: Float | None = None
    row_counts: Codes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if (self.codes is None) == (self.soft is None):
            raise TypeError("give either codes or soft, not both")
        if self.weights is not None and len(self.weights) != len(self):
            raise InputError(f"There are {len(self.weights)} weights for {len(self)} rows.")
        codes = np.empty(0, dtype=np.int64) if self.codes is None else self.codes
        counts, beyond = kernels.code_counts(codes, len(self.classes))
        if beyond >= 0:
            raise InputError(f"A code of {beyond} is not a position among {len(self.classes)} classes.")
        object.__setattr__(self, "row_counts", counts)
        if self.soft is not None and self.soft.shape[1:] != (len(self.classes),):
            raise InputError(f"soft has shape {self.soft.shape} for {len(self.classes)} classes.")

    def __len__(self) -> int:
        return len(self.codes) if self.codes is not None else len(self.soft)  # type: ignore[arg-type]

    def class_weights(self) -> Float:
        """Sum of weights of each class, (K,)."""
        if self.codes is not None and self.weights is None:
            return self.row_counts.astype(np.float64)
        if self.codes is not None and self.weights is not None:
            here = self.codes >= 0
            codes, weights = (self.codes, self.weights) if here.all() else (self.codes[here], self.weights[here])
            return np.bincount(codes, weights, minlength=len(self.classes)).astype(np.float64)
        assert self.soft is not None
        return self.soft.sum(axis=0) if self.weights is None else self.weights @ self.soft

    def without(self, some: Mask) -> Membership:
        """The membership in which some of the rows are left out."""
        if self.codes is not None:
            return Membership(self.classes, codes=np.where(some, -1, self.codes), weights=self.weights)
        weights = np.where(some, 0.0, 1.0 if self.weights is None else self.weights)
        return Membership(self.classes, soft=self.soft, weights=weights)

    def on(self, axis: ClassAxis) -> Membership:
        """The same rows, which have codes, on an axis that holds their classes."""
        assert self.codes is not None
        places = np.full(len(self.classes) + 1, -1, dtype=np.int64)  # the last is that of a code of −1
        places[:-1] = axis.positions(self.classes.labels)
        return Membership(axis, codes=places[self.codes], weights=self.weights)

    def rows(self, start: int, stop: int) -> Membership:
        """The membership of rows start..stop−1."""
        return self.take(slice(start, stop))

    def take(self, index: Any) -> Membership:
        """The membership of some of the rows."""
        return Membership(
            self.classes,
            codes=None if self.codes is None else self.codes[index],
            soft=None if self.soft is None else self.soft[index],
            weights=None if self.weights is None else self.weights[index],
        )
