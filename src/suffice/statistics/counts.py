"""Per-class counts of the levels of categorical columns: ``n_kjl = Σ w [x_j = l]``."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import MergeError, columns_at, listed
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.levels import Coded, CodedColumn, Levels
from suffice.statistics.remaining import remaining_weight
from suffice.statistics.sparse_sums import left_of
from suffice.statistics.statistic import ByClass, ByColumn, Statistic

__all__ = ["Counts", "class_counts"]

Float = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Counts(Statistic):
    """Per-class counts of levels, column after column.

    Attributes
    ----------
    count : array of shape (K, C)
        C is the number of levels of all columns together.
    missing : array of shape (K, d)
        Weight of the cells that were not there.
    levels : tuple of Levels
        One for each column. They unite in `merge`.

    Examples
    --------
    >>> from suffice.statistics.levels import coded_values
    >>> axis = ClassAxis.of(["ham", "spam"])
    >>> batch = Coded(3, (CodedColumn(*coded_values(["red", "blue", "red"])),))
    >>> counts = Counts.summarize(batch, Membership(axis, codes=np.array([0, 1, 1])))
    >>> counts.levels[0].values, counts.count
    (('blue', 'red'), array([[0., 1.],
           [1., 1.]]))
    """

    count: ByClass
    missing: ByColumn
    levels: tuple[Levels, ...]

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> Counts:
        """The statistic of no rows."""
        k = len(classes)
        return cls(classes, np.zeros((k, 0)), np.zeros((k, n_columns)), (Levels(()),) * n_columns)

    @classmethod
    def summarize(cls, x: Coded, members: Membership) -> Counts:
        """The statistic of a batch of rows."""
        k = len(members.classes)
        parts, missing, levels = [np.zeros((k, 0))], np.zeros((k, x.shape[1])), []
        for j, column in enumerate(x.columns):
            counted = _column_counts(column, members)
            parts.append(counted[:, :-1])
            missing[:, j] = counted[:, -1]
            levels.append(column.levels)
        return cls(members.classes, np.hstack(parts), missing, tuple(levels))._pruned()

    @classmethod
    def beside(cls, parts: Sequence[Counts]) -> Counts:
        """The statistic of several columns, from those of one or some each."""
        axis = functools.reduce(ClassAxis.union, (part.classes for part in parts))
        wide = [part.on(axis) for part in parts]
        levels = tuple(levels for part in wide for levels in part.levels)
        return cls(axis, np.hstack([part.count for part in wide]), np.hstack([part.missing for part in wide]), levels)

    def _columns(self, at: NDArray[np.intp]) -> Counts:
        count = np.hstack([np.zeros((len(self.classes), 0)), *(self.of_column(j) for j in at)])
        return Counts(self.classes, count, self.missing[:, at], tuple(self.levels[j] for j in at))

    def taking(self, at: Any) -> Counts:
        """The statistic of some of the classes, and of the levels that these have."""
        return super().taking(at)._pruned()

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of columns."""
        return (len(self.levels),)

    @cached_property
    def offsets(self) -> Codes:
        """Where each column's levels begin among all, and where the last end (d + 1,)."""
        return np.concatenate([[0], np.cumsum([len(each) for each in self.levels])]).astype(np.int64)

    def of_column(self, j: int) -> Float:
        """Counts of the levels of one column (K, L)."""
        return self.count[:, self.offsets[j] : self.offsets[j + 1]]

    def axes(self) -> tuple[object, ...]:
        """Classes, and the levels of each column."""
        return self.classes, self.levels

    def class_weights(self) -> Float:
        """Weight of each class (K,); the most of its columns where they differ."""
        if not self.levels:
            return np.zeros(len(self.classes))
        present = [self.of_column(j).sum(axis=1) + self.missing[:, j] for j in range(len(self.levels))]
        return np.asarray(np.max(present, axis=0))

    def _on_levels(self, levels: Sequence[Levels]) -> Counts:
        """The same counts on wider levels."""
        if all(mine is wider for mine, wider in zip(self.levels, levels, strict=True)):
            return self
        parts = [np.zeros((len(self.classes), 0))]
        for j, (mine, wider) in enumerate(zip(self.levels, levels, strict=True)):
            part = self.of_column(j)
            if mine.values != wider.values:
                wide = np.zeros((len(self.classes), len(wider)))
                wide[:, wider.positions(mine.values)] = part
                part = wide
            parts.append(part)
        return replace(self, count=np.hstack(parts), levels=tuple(levels))

    def _merged(self, other: Counts) -> Counts:
        levels = [a.union(b) for a, b in zip(self.levels, other.levels, strict=True)]
        a, b = self._on_levels(levels), other._on_levels(levels)
        return Counts(self.classes, a.count + b.count, self.missing + other.missing, tuple(levels))

    def _subtracted(self, other: Counts, columns: Sequence[object]) -> Counts:
        other = other._pruned()
        for j, (mine, theirs) in enumerate(zip(self.levels, other.levels, strict=True)):
            held = other.of_column(j).sum(axis=0) > 0
            strange = [value for value, has in zip(theirs.values, held, strict=True) if has and value not in mine.place]
            if strange:
                raise MergeError(
                    f"Rows with {listed(strange)} in {columns_at(columns, [j])} cannot be taken out: there are none. "
                    "Nothing was changed."
                )
        levels = [a.union(b) for a, b in zip(self.levels, other.levels, strict=True)]
        a, b = self._on_levels(levels), other._on_levels(levels)
        place = self._place(columns)

        def level(k: int, c: int) -> str:
            j = int(np.searchsorted(a.offsets, c, side="right")) - 1
            return f"{place(k, j)}, level {levels[j].values[c - a.offsets[j]]!r}"

        count = remaining_weight(a.count, b.count, level)
        missing = remaining_weight(self.missing, other.missing, lambda k, j: f"{place(k, j)}, among missing cells")
        return Counts(self.classes, count, missing, tuple(levels))._pruned()

    def _scaled(self, factor: float) -> Counts:
        return replace(self, count=self.count * factor, missing=self.missing * factor)._pruned()

    def _pruned(self) -> Counts:
        """Without the levels that no row has, unless they are declared: weight zero is absence."""
        held = self.count.sum(axis=0) > 0
        if held.all():
            return self
        keep = np.concatenate(
            [np.array([value in each.declared for value in each.values], dtype=bool) for each in self.levels]
        )
        keep |= held
        if keep.all():
            return self
        bounds = self.offsets
        levels = tuple(
            each if (here := keep[start:stop]).all() else each.taking(here)
            for each, start, stop in zip(self.levels, bounds[:-1], bounds[1:], strict=True)
        )
        return replace(self, count=self.count[:, keep], levels=levels)


def _column_counts(column: CodedColumn, members: Membership) -> Float:
    """Counts of each level (K, L + 1), the missing cells last."""
    size = len(column.levels) + 1
    if column.rows is None:
        return class_counts(column.codes, size, members)
    some = members.take(column.rows)
    out = class_counts(column.codes, size, some)
    out[:, column.rest] += left_of(members.class_weights(), some.class_weights())
    return out


def class_counts(codes: Codes, size: int, members: Membership) -> Float:
    """Weight of the rows of each class and code (K, size); code −1 counts as the last."""
    k = len(members.classes)
    codes = np.where(codes < 0, size - 1, codes) if len(codes) and codes.min() < 0 else codes
    if members.codes is not None:
        joint = members.codes * size + codes
        weights = members.weights
        if len(joint) and members.codes.min() < 0:
            here = members.codes >= 0
            joint, weights = joint[here], None if weights is None else weights[here]
        return np.bincount(joint, weights, minlength=k * size).astype(np.float64).reshape(k, size)
    assert members.soft is not None
    weights = members.soft if members.weights is None else members.soft * members.weights[:, None]
    out = np.zeros((k, size))
    for i in range(k):
        out[i] = np.bincount(codes, weights[:, i], minlength=size)
    return out
