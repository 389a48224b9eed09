"""The class axis, which labels the rows of a statistic, and the classes of a batch of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypedDict

import numpy as np

from suffice import kernels
from suffice.exceptions import ClassError, InputError, did_you_mean, listed
from suffice.numerics.types import Array, Codes, Float, Index, Mask, Selection

__all__ = ["ClassAxis", "Membership", "MembershipArrays", "evenly_spaced", "present_rows"]


@dataclass(frozen=True, eq=False)
class ClassAxis:
    """The class axis: sorted, distinct class labels, which are numbers, strings or booleans.

    Parameters
    ----------
    labels : array of shape (K,)
        Sorted, distinct labels. `ClassAxis.of` sorts labels and removes duplicates.

    See Also
    --------
    suffice.statistics.Membership : The class of each row.
    suffice.ClassError : The error for labels that are not classes.

    Examples
    --------
    >>> from suffice.statistics import ClassAxis
    >>> axis = ClassAxis.of(["spam", "ham", "spam"])
    >>> axis.labels.tolist()
    ['ham', 'spam']
    >>> axis.union(ClassAxis.of(["news"])).labels.tolist()
    ['ham', 'news', 'spam']
    """

    labels: Array

    @classmethod
    def of(cls, labels: Sequence[object] | Array) -> ClassAxis:
        """Return the axis of the distinct labels among ``labels``."""
        return cls(_sorted_labels(np.asarray(labels)))

    def __len__(self) -> int:
        return len(self.labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ClassAxis):
            return NotImplemented
        if self is other:
            return True
        # NumPy compares True and 1 as equal, but they are different class labels.
        comparable = self.labels.dtype == other.labels.dtype or _kind(self.labels) == _kind(other.labels)
        return comparable and bool(np.array_equal(self.labels, other.labels))

    __hash__ = None  # type: ignore[assignment]

    def union(self, other: ClassAxis) -> ClassAxis:
        """Return the axis of the labels of both."""
        if self is other or self == other or len(other) == 0:
            return self
        if len(self) == 0:
            return other
        if self.holds(other):
            return self
        kinds = {_kind(self.labels), _kind(other.labels)}
        if len(kinds) > 1:
            raise ClassError(
                f"Cannot merge class labels of different types: {listed(self.labels.tolist(), 3)} "
                f"and {listed(other.labels.tolist(), 3)}. Convert the labels to one type."
            )
        both = ClassAxis.of(np.concatenate([self.labels, other.labels]))
        if len(both) < len(set(self.labels.tolist()) | set(other.labels.tolist())):
            raise ClassError(
                f"Cannot merge class labels of type {self.labels.dtype} and {other.labels.dtype}: some different "
                "labels would become equal. Convert the labels to one type."
            )
        return both

    def holds(self, other: ClassAxis) -> bool:
        """Tell whether this axis has all labels of another axis of the same or a narrower type."""
        return len(other) <= len(self) and self.known_positions(other.labels) is not None

    def known_positions(self, labels: Array) -> Codes | None:
        """Return `positions` of labels of the same or a narrower type; None if a label is not on this axis."""
        mine, theirs = self.labels.dtype, labels.dtype
        if mine.kind != theirs.kind or mine.kind not in "biuU" or theirs.itemsize > mine.itemsize:
            return None
        if len(labels) == 1:
            at = self._position.get(labels.item())
            return None if at is None else np.array([at])
        positions = self.positions(labels)
        return positions if positions.min(initial=0) >= 0 else None

    @cached_property
    def _position(self) -> dict[object, int]:
        return {label: k for k, label in enumerate(self.labels.tolist())}

    def positions(self, labels: Array) -> Codes:
        """Return the position of each label on this axis; −1 for a label that is not on it."""
        k = len(self.labels)
        if k == 0 or len(labels) == 0:
            return np.full(len(labels), -1, dtype=np.int64)
        try:
            at = np.searchsorted(self.labels, labels)
        except TypeError:
            raise ClassError(
                f"Cannot compare labels {listed(labels.tolist(), 3)} with the classes "
                f"{listed(self.labels.tolist(), 3)}. Pass labels of the type that the model was fitted with."
            ) from None
        at[at == k] = 0
        return np.where(self.labels[at] == labels, at, -1)

    def label(self, k: int) -> object:
        """Return the label at a position as a Python object."""
        label: object = self.labels[k : k + 1].tolist()[0]
        return label

    def position(self, label: object) -> int:
        """Return the position of one label; raises `ClassError` if it is not on this axis."""
        values = np.asarray([label])
        at = int(self.positions(values)[0]) if values.ndim == 1 else -1
        if at < 0:
            known = self.labels.tolist()
            hint = did_you_mean(label, known)
            raise ClassError(f"{label!r:.80} is not a class of this model.{hint} Its classes are {listed(known)}.")
        return at


def _kind(labels: Array) -> str:
    """Return the kind of labels: number, text, or the type of other labels. Labels of one kind sort together."""
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


class MembershipArrays(TypedDict):
    """The arrays of a `Membership`, as keyword arguments of the kernels."""

    codes: Codes | None
    soft: Float | None
    weights: Float | None


@dataclass(frozen=True)
class Membership:
    """Membership: the class of each row of a batch, and the weight of the row.

    Parameters
    ----------
    classes : ClassAxis
        The classes.
    codes : array of shape (n,), optional
        Hard membership: the position of each row's label on the axis; −1 excludes the row.
    soft : array of shape (n, K), optional
        Soft membership: a weight for each row and class. A one-hot row is the same as a code.
    weights : array of shape (n,), optional
        Weight of each row; one by default. A row of weight k counts as k rows.

    Attributes
    ----------
    row_counts : array of shape (K,)
        Number of rows with each code.

    See Also
    --------
    suffice.statistics.ClassAxis : The classes.
    suffice.statistics.Statistic : Summaries of rows by class.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.statistics import ClassAxis, Membership, Sums
    >>> axis = ClassAxis.of(["ham", "spam"])
    >>> Membership(axis, codes=np.array([0, 1, 1])).row_counts
    array([1, 2])

    A row may belong partly to several classes:

    >>> unsure = Membership(axis, soft=np.array([[0.9, 0.1], [0.2, 0.8]]))
    >>> Sums.summarize(np.array([[1.0], [1.0]]), unsure).weight.round(12)
    array([1.1, 0.9])
    """

    classes: ClassAxis
    codes: Codes | None = None
    soft: Float | None = None
    weights: Float | None = None
    row_counts: Codes = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if (self.codes is None) == (self.soft is None):
            raise TypeError("pass either codes or soft, not both")
        if self.weights is not None and len(self.weights) != len(self):
            raise InputError(f"Got {len(self.weights)} weights for {len(self)} rows.")
        codes = np.empty(0, dtype=np.int64) if self.codes is None else self.codes
        k = len(self.classes.labels)
        counts, beyond = kernels.code_counts(codes, k)
        if beyond >= 0:
            raise InputError(f"Code {beyond} is out of range for {k} classes.")
        object.__setattr__(self, "row_counts", counts)
        if self.soft is not None and self.soft.shape[1:] != (k,):
            raise InputError(
                f"soft has shape {self.soft.shape}; expected {(len(self), k)} for {k} classes.", argument="soft"
            )

    def __len__(self) -> int:
        return len(self.codes) if self.codes is not None else len(self.soft)  # type: ignore[arg-type]

    @cached_property
    def n_classes(self) -> int:
        """Number of classes on the axis."""
        return len(self.classes.labels)

    @property
    def arrays(self) -> MembershipArrays:
        """Codes or soft membership, and weights, as keyword arguments of the kernels."""
        return {"codes": self.codes, "soft": self.soft, "weights": self.weights}

    def class_weights(self) -> Float:
        """Return the sum of weights of each class (K,)."""
        if self.codes is not None and self.weights is None:
            return self.row_counts.astype(np.float64)
        if self.codes is not None and self.weights is not None:
            here = self.codes >= 0
            codes, weights = (self.codes, self.weights) if here.all() else (self.codes[here], self.weights[here])
            return np.bincount(codes, weights, minlength=len(self.classes)).astype(np.float64)
        assert self.soft is not None
        return self.soft.sum(axis=0) if self.weights is None else self.weights @ self.soft

    def without(self, excluded: Mask) -> Membership:
        """Return the membership without some of the rows."""
        if self.codes is not None:
            return Membership(self.classes, codes=np.where(excluded, -1, self.codes), weights=self.weights)
        weights = np.where(excluded, 0.0, 1.0 if self.weights is None else self.weights)
        return Membership(self.classes, soft=self.soft, weights=weights)

    def on(self, axis: ClassAxis) -> Membership:
        """Return the same hard membership on an axis that has all its classes."""
        assert self.codes is not None
        positions = np.full(len(self.classes) + 1, -1, dtype=np.int64)  # code −1 indexes the last entry
        positions[:-1] = axis.positions(self.classes.labels)
        return Membership(axis, codes=positions[self.codes], weights=self.weights)

    def rows(self, start: int, stop: int) -> Membership:
        """Return the membership of rows start..stop−1."""
        return self.take(slice(start, stop))

    def take(self, index: Selection) -> Membership:
        """Return the membership of the selected rows."""
        return Membership(
            self.classes,
            codes=None if self.codes is None else self.codes[index],
            soft=None if self.soft is None else self.soft[index],
            weights=None if self.weights is None else self.weights[index],
        )


def present_rows(codes: Codes | None, weights: Float | None) -> Mask | None:
    """Return which rows have a class and a positive weight; None if all do."""
    out = None if codes is None or codes.min(initial=0) >= 0 else codes >= 0
    if weights is not None and not (weights > 0).all():
        out = weights > 0 if out is None else out & (weights > 0)
    return out


def evenly_spaced(rows: Index, most: int) -> Index:
    """Return at most so many of the rows, evenly spaced.

    >>> evenly_spaced(np.arange(10), 4)
    array([0, 3, 6, 9])
    """
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(np.intp)]
