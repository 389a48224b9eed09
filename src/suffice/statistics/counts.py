"""Per-class counts of the levels of categorical columns: ``n_kjl = Σ w [x_j = l]``."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property

import numpy as np

from suffice import kernels
from suffice.exceptions import MergeError, columns_at, listed
from suffice.numerics.compensated import add
from suffice.numerics.types import Codes, Float, Index, Matrix, Selection
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.level_weights import LevelWeights
from suffice.statistics.statistic import LOW, ByClass, ByColumn
from suffice.statistics.subtraction import subtract_weights
from suffice.statistics.weights import class_weights, weighted_counts
from suffice.tables.levels import Coded, CodedColumn, Levels
from suffice.tables.stored_columns import (
    NumberColumn,
    NumberRows,
    code_range,
    code_ranges,
    countable,
    value_bounds,
)

__all__ = ["Counts", "class_counts"]

MOST_CELLS = 1 << 20  # classes times numbers in a range, most of which may not occur


@dataclass(frozen=True, eq=False)
class Counts(LevelWeights):
    """Per-class counts of the levels of columns.

    Attributes
    ----------
    count, count_low : array of shape (K, C)
        Weight of each level, stored as the sum ``count + count_low``. C is the total number of levels of all columns.
    missing, missing_low : array of shape (K, d)
        Weight of the missing cells, stored as the sum ``missing + missing_low``.
    levels : tuple of Levels
        Levels of each column. `merge` takes their union.

    See Also
    --------
    suffice.families.Categorical : The family with this statistic.
    suffice.statistics.JointCounts : Counts of combinations of levels of several columns.
    suffice.tables.Levels : The levels of a column.

    Examples
    --------
    >>> from suffice.tables.levels import coded_values
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
    _: KW_ONLY
    count_low: ByClass = LOW
    missing_low: ByColumn = LOW

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> Counts:
        """Return the statistic of no rows."""
        k = len(classes)
        return cls(classes, np.zeros((k, 0)), np.zeros((k, n_columns)), (Levels(()),) * n_columns)

    @classmethod
    def summarize(cls, x: Coded, members: Membership) -> Counts:
        """Return the statistic of a batch of rows."""
        none = np.zeros((members.n_classes, 0))
        all_levels, count, missing, count_low, missing_low = [], [none], [none], [none], [none]
        for levels, (high, low) in _column_counts(x, members):
            all_levels.append(levels)
            count.append(high[:, :-1])
            missing.append(high[:, -1:])
            count_low.append(low[:, :-1])
            missing_low.append(low[:, -1:])
        return cls(
            members.classes,
            np.hstack(count),
            np.hstack(missing),
            tuple(all_levels),
            count_low=np.hstack(count_low),
            missing_low=np.hstack(missing_low),
        ).without_empty()

    @classmethod
    def concatenate_columns(cls, parts: Sequence[Counts]) -> Counts:
        """Return the statistic of all columns of several statistics."""
        axis = functools.reduce(ClassAxis.union, (part.classes for part in parts))
        wide = [part.on(axis) for part in parts]
        levels = tuple(levels for part in wide for levels in part.levels)
        arrays = [part.arrays() for part in wide]
        return cls(axis, levels=levels, **{name: np.hstack([each[name] for each in arrays]) for name in arrays[0]})

    def _columns(self, at: Index) -> Counts:
        ranges = [np.arange(self.offsets[j], self.offsets[j + 1]) for j in at]
        positions = np.concatenate([np.empty(0, dtype=np.int64), *ranges])
        return Counts(
            self.classes,
            self.count[:, positions],
            self.missing[:, at],
            tuple(self.levels[j] for j in at),
            count_low=self.count_low[:, positions],
            missing_low=self.missing_low[:, at],
        )

    def taking(self, at: Selection) -> Counts:
        """Return the statistic of some of the classes and of the levels that occur in them."""
        return super().taking(at).without_empty()

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of columns."""
        return (len(self.levels),)

    @cached_property
    def offsets(self) -> Codes:
        """Start of the levels of each column among all levels, and the end of the last (d + 1,)."""
        return np.concatenate([[0], np.cumsum([len(each.values) for each in self.levels])]).astype(np.int64)

    def of_column(self, j: int) -> Float:
        """Return the counts of the levels of one column (K, L)."""
        return self.count[:, self.offsets[j] : self.offsets[j + 1]]

    def axes(self) -> tuple[object, ...]:
        """Return the classes and the levels of each column."""
        return self.classes, self.levels

    def class_weights(self) -> Float:
        """Return the weight of each class (K,); the largest of its columns if they differ."""
        if not self.levels:
            return np.zeros(len(self.classes))
        present = [self.of_column(j).sum(axis=1) + self.missing[:, j] for j in range(len(self.levels))]
        return np.asarray(np.max(present, axis=0))

    def on_levels(self, levels: Sequence[Levels]) -> Counts:
        """Return the same counts on wider levels."""
        if all(mine is wider for mine, wider in zip(self.levels, levels, strict=True)):
            return self
        starts = np.concatenate([[0], np.cumsum([len(each) for each in levels])]).astype(np.int64)
        pairs = zip(self.levels, levels, starts[:-1], strict=True)
        positions = [start + wider.positions(mine.values) for mine, wider, start in pairs]
        at = np.concatenate([np.empty(0, dtype=np.int64), *positions])
        count, low = np.zeros((2, len(self.classes), starts[-1]))
        count[:, at], low[:, at] = self.count, self.count_low
        return replace(self, count=count, count_low=low, levels=tuple(levels))

    def _merged(self, other: Counts) -> Counts:
        levels = [a.union(b) for a, b in zip(self.levels, other.levels, strict=True)]
        a, b = self.on_levels(levels), other.on_levels(levels)
        count, low = add(a.count, a.count_low, b.count, b.count_low)
        missing, missing_low = add(a.missing, a.missing_low, b.missing, b.missing_low)
        return Counts(self.classes, count, missing, tuple(levels), count_low=low, missing_low=missing_low)

    def _subtracted(self, other: Counts, columns: Sequence[object]) -> Counts:
        other = other.without_empty()
        for j, (mine, theirs) in enumerate(zip(self.levels, other.levels, strict=True)):
            held = other.of_column(j).sum(axis=0) > 0
            unknown = [value for value, has in zip(theirs.values, held, strict=True) if has and value not in mine.place]
            if unknown:
                raise MergeError(
                    f"Cannot remove rows with {listed(unknown)} in {columns_at(columns, [j])}: there are none. "
                    "Nothing was changed.",
                    column=columns[j],
                )
        levels = [a.union(b) for a, b in zip(self.levels, other.levels, strict=True)]
        a, b = self.on_levels(levels), other.on_levels(levels)
        place = self.describe_position(columns)

        def level(k: int, c: int) -> str:
            j = int(np.searchsorted(a.offsets, c, side="right")) - 1
            return f"{place(k, j)}, level {levels[j].values[c - a.offsets[j]]!r}"

        def missing_cells(k: int, j: int) -> str:
            return f"{place(k, j)}, missing cells"

        count, low = subtract_weights(a.count, a.count_low, b.count, b.count_low, level)
        missing, missing_low = subtract_weights(a.missing, a.missing_low, b.missing, b.missing_low, missing_cells)
        left = Counts(self.classes, count, missing, tuple(levels), count_low=low, missing_low=missing_low)
        return left.without_empty()

    def without_empty(self) -> Counts:
        """Return the statistic without levels of weight zero, except declared ones."""
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
        return replace(self, count=self.count[:, keep], count_low=self.count_low[:, keep], levels=levels)


ColumnCounts = tuple[Levels, tuple[Float, Float]]
"""The levels of a column, and the counts of each (K, L + 1), the missing cells last, in two doubles."""


def _column_counts(x: Coded, members: Membership) -> list[ColumnCounts]:
    """Return the counts of each column; one pass counts all dense columns."""
    if isinstance(x, NumberRows) and x.x.size and countable(x.ranges, x.n_rows).all():
        each = [value_bounds(x.ranges, j) for j in range(x.shape[1])]
        low, size = (np.array(part, dtype=np.int64) for part in zip(*each, strict=True))
        if _fits(size, members):
            parts = _split(x.x, low, size, members)
            return [_of_numbers(first, *part) for first, part in zip(low.tolist(), parts, strict=True)]
    ranges = code_ranges(x.columns)
    for j, column in enumerate(x.columns):
        span = ranges[j]
        if isinstance(column, NumberColumn) and (span is None or not _fits(np.array([span.size]), members)):
            ranges[j] = code_range(CodedColumn(column.levels, column.codes))
    dense = [span for span in ranges if span is not None]
    low = np.array([span.low for span in dense], dtype=np.int64)
    size = np.array([span.size for span in dense], dtype=np.int64)
    some = iter(_split([span.stored for span in dense], low, size, members) if dense else ())
    counted: list[ColumnCounts] = []
    for column, span in zip(x.columns, ranges, strict=True):
        if span is None:
            counted.append((column.levels, _sparse_counts(column, members)))
        elif span.where is None:
            counted.append(_of_numbers(span.low, *next(some)))
        else:
            counted.append(_of_levels(column.levels, span.where, *next(some)))
    return counted


def _fits(size: Codes, members: Membership) -> bool:
    """Whether a table for this range of numbers fits into the memory of a batch, even if few of them occur."""
    return int(size.sum()) * len(members.classes) <= MOST_CELLS


def _split(x: Matrix, low: Codes, size: Codes, members: Membership) -> list[tuple[Float, Float]]:
    """Return the counts of the range of each column (K, size + 2), in two doubles."""
    high, rest = kernels.class_counts(x, low, size, members.n_classes, **members.arrays)
    ends = np.cumsum(size + 2)[:-1]
    return list(zip(np.split(high, ends, axis=1), np.split(rest, ends, axis=1), strict=True))


def _of_numbers(first: int, high: Float, low: Float) -> ColumnCounts:
    """Return the counts of a column of numbers; its levels are the numbers that occur."""
    present = np.flatnonzero(high[:, :-2].any(axis=0))
    kept = np.append(present, high.shape[1] - 1)
    return Levels(tuple((present + first).tolist())), (high[:, kept], low[:, kept])


def _of_levels(levels: Levels, where: Codes, high: Float, low: Float) -> ColumnCounts:
    """Return the counts of levels from the counts of stored codes; codes without a level count as missing."""
    n_levels = len(levels.values)
    to = np.concatenate([where, [-1, -1]])
    to[to < 0] = n_levels
    out, out_low = np.zeros((2, len(high), n_levels + 1))
    if len(np.unique(to[:-2])) == len(to) - 2:
        out[:, to[:-2]], out_low[:, to[:-2]] = high[:, :-2], low[:, :-2]
        extra = [len(to) - 2, len(to) - 1]
    else:
        extra = list(range(len(to)))  # two dictionary entries may stand for one level
    for i in extra:
        if high[:, i].any():
            out[:, to[i]], out_low[:, to[i]] = add(out[:, to[i]], out_low[:, to[i]], high[:, i], low[:, i])
    return levels, (out, out_low)


def _sparse_counts(column: CodedColumn, members: Membership) -> tuple[Float, Float]:
    """Return the counts of each level of a sparse column (K, L + 1), the missing cells last."""
    size = len(column.levels) + 1
    assert column.rows is not None
    stored = np.zeros(len(members), dtype=bool)
    stored[column.rows] = True
    high, low = class_counts(column.codes, size, members.take(column.rows))
    rest = class_weights(members.take(~stored))
    high[:, column.rest], low[:, column.rest] = add(high[:, column.rest], low[:, column.rest], *rest)
    return high, low


def class_counts(codes: Codes, size: int, members: Membership) -> tuple[Float, Float]:
    """Return the weight of the rows of each class and code (K, size), in two doubles; code −1 counts as the last."""
    k = len(members.classes)
    codes = np.where(codes < 0, size - 1, codes) if len(codes) and codes.min() < 0 else codes
    if members.codes is not None:
        joint = members.codes * size + codes
        weights = members.weights
        if len(joint) and members.codes.min() < 0:
            here = members.codes >= 0
            joint, weights = joint[here], None if weights is None else weights[here]
        high, low = weighted_counts(joint, weights, k * size)
        return high.reshape(k, size), low.reshape(k, size)
    assert members.soft is not None
    weights = members.soft if members.weights is None else members.soft * members.weights[:, None]
    high, low = np.zeros((2, k, size))
    for i in range(k):
        high[i], low[i] = weighted_counts(codes, np.ascontiguousarray(weights[:, i]), size)
    return high, low
