"""Per-class counts of the levels of categorical columns: ``n_kjl = Σ w [x_j = l]``."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from suffice import kernels
from suffice.exceptions import MergeError, columns_at, listed
from suffice.numerics.compensated import add, product
from suffice.numerics.types import Codes, Float, Index
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.statistic import LOW, ByClass, ByColumn, Statistic
from suffice.statistics.subtraction import remaining_weight
from suffice.statistics.weights import class_weights, counted
from suffice.tables.levels import Coded, CodedColumn, Levels
from suffice.tables.stored_columns import (
    NumberColumn,
    NumberRows,
    bounds,
    coded_places,
    countable,
    stored_places,
)

__all__ = ["Counts", "class_counts", "scaled_counts"]

MOST_CELLS = 1 << 20  # of classes and numbers, counted before it is known which numbers occur


@dataclass(frozen=True, eq=False)
class Counts(Statistic):
    """Per-class counts of levels, column after column.

    Attributes
    ----------
    count, count_low : array of shape (K, C)
        C is the number of levels of all columns together. The count is the unevaluated sum of the two; and so is
        the next.
    missing, missing_low : array of shape (K, d)
        Weight of the cells that were not there.
    levels : tuple of Levels
        One for each column. They unite in `merge`.

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
        """The statistic of no rows."""
        k = len(classes)
        return cls(classes, np.zeros((k, 0)), np.zeros((k, n_columns)), (Levels(()),) * n_columns)

    @classmethod
    def summarize(cls, x: Coded, members: Membership) -> Counts:
        """The statistic of a batch of rows."""
        k = len(members.classes)
        found = _counted(x, members)
        parts = {}
        for at, end in enumerate(("", "_low")):
            some = [each[1][at] for each in found]
            parts[f"count{end}"] = np.hstack([np.zeros((k, 0)), *(each[:, :-1] for each in some)])
            parts[f"missing{end}"] = np.hstack([np.zeros((k, 0)), *(each[:, -1:] for each in some)])
        return cls(members.classes, levels=tuple(each[0] for each in found), **parts)._pruned()

    @classmethod
    def beside(cls, parts: Sequence[Counts]) -> Counts:
        """The statistic of several columns, from those of one or some each."""
        axis = functools.reduce(ClassAxis.union, (part.classes for part in parts))
        wide = [part.on(axis) for part in parts]
        levels = tuple(levels for part in wide for levels in part.levels)
        names = ("count", "missing", "count_low", "missing_low")
        return cls(axis, levels=levels, **{name: np.hstack([getattr(part, name) for part in wide]) for name in names})

    def _columns(self, at: Index) -> Counts:
        bounds = [np.arange(self.offsets[j], self.offsets[j + 1]) for j in at]
        places = np.concatenate([np.empty(0, dtype=np.int64), *bounds])
        parts = {name: getattr(self, name)[:, places] for name in ("count", "count_low")}
        parts |= {name: getattr(self, name)[:, at] for name in ("missing", "missing_low")}
        return Counts(self.classes, levels=tuple(self.levels[j] for j in at), **parts)

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
        starts = np.concatenate([[0], np.cumsum([len(each) for each in levels])]).astype(np.int64)
        pairs = zip(self.levels, levels, starts[:-1], strict=True)
        places = [start + wider.positions(mine.values) for mine, wider, start in pairs]
        at = np.concatenate([np.empty(0, dtype=np.int64), *places])
        count, low = np.zeros((2, len(self.classes), starts[-1]))
        count[:, at], low[:, at] = self.count, self.count_low
        return replace(self, count=count, count_low=low, levels=tuple(levels))

    def _merged(self, other: Counts) -> Counts:
        levels = [a.union(b) for a, b in zip(self.levels, other.levels, strict=True)]
        a, b = self._on_levels(levels), other._on_levels(levels)
        count, low = add(a.count, a.count_low, b.count, b.count_low)
        missing, missing_low = add(a.missing, a.missing_low, b.missing, b.missing_low)
        return Counts(self.classes, count, missing, tuple(levels), count_low=low, missing_low=missing_low)

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

        def hole(k: int, j: int) -> str:
            return f"{place(k, j)}, among missing cells"

        count, low = remaining_weight(a.count, a.count_low, b.count, b.count_low, level)
        missing, missing_low = remaining_weight(a.missing, a.missing_low, b.missing, b.missing_low, hole)
        left = Counts(self.classes, count, missing, tuple(levels), count_low=low, missing_low=missing_low)
        return left._pruned()

    def _scaled(self, factor: float) -> Counts:
        return replace(self, **scaled_counts(self, factor))._pruned()

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
        return replace(self, count=self.count[:, keep], count_low=self.count_low[:, keep], levels=levels)


def scaled_counts(counts: Any, factor: float) -> dict[str, Any]:
    """Counts of levels or cells, and missing ones, with every weight times ``factor``."""
    out: dict[str, Any] = {}
    for name in ("count", "missing"):
        parts = getattr(counts, name), getattr(counts, f"{name}_low")
        out[name], out[f"{name}_low"] = product(*parts, np.asarray(factor))
    return out


Counted = tuple[Levels, tuple[Float, Float]]
"""The levels of a column, and the counts of each (K, L + 1), the missing cells last, in two doubles."""


def _counted(x: Coded, members: Membership) -> list[Counted]:
    """The counts of each column. All that are dense are counted in one read."""
    if isinstance(x, NumberRows) and x.x.size and countable(x.ranges, x.n_rows).all():
        each = [bounds(x.ranges, j) for j in range(x.shape[1])]
        low, size = (np.array(part, dtype=np.int64) for part in zip(*each, strict=True))
        if _fits(size, members):
            parts = _split(x.x, low, size, members)
            return [_of_numbers(first, *part) for first, part in zip(low.tolist(), parts, strict=True)]
    places = stored_places(x.columns)
    for j, column in enumerate(x.columns):
        place = places[j]
        if isinstance(column, NumberColumn) and (place is None or not _fits(np.array([place.size]), members)):
            places[j] = coded_places(CodedColumn(column.levels, column.codes))
    dense = [place for place in places if place is not None]
    low, size = (np.array([getattr(each, name) for each in dense], dtype=np.int64) for name in ("low", "size"))
    some = iter(_split([each.stored for each in dense], low, size, members) if dense else ())
    found: list[Counted] = []
    for column, place in zip(x.columns, places, strict=True):
        if place is None:
            found.append((column.levels, _sparse_counts(column, members)))
        elif place.where is None:
            found.append(_of_numbers(place.low, *next(some)))
        else:
            found.append(_of_levels(column.levels, place.where, *next(some)))
    return found


def _fits(size: Codes, members: Membership) -> bool:
    """Whether a table of so many numbers, of which perhaps few occur, is small beside what a batch may take."""
    return int(size.sum()) * len(members.classes) <= MOST_CELLS


def _split(x: Any, low: Codes, size: Codes, members: Membership) -> Iterator[tuple[Float, Float]]:
    """Counts of each column's places (K, size + 2), in two doubles."""
    who: dict[str, Any] = {"codes": members.codes, "soft": members.soft, "weights": members.weights}
    high, rest = kernels.class_counts(x, low, size, len(members.classes), **who)
    ends = np.cumsum(size + 2).tolist()
    for start, stop in zip([0, *ends[:-1]], ends, strict=True):
        yield high[:, start:stop], rest[:, start:stop]


def _of_numbers(first: int, high: Float, low: Float) -> Counted:
    """Levels are the numbers that some row has."""
    present = np.flatnonzero(high[:, :-2].any(axis=0))
    kept = np.append(present, high.shape[1] - 1)
    return Levels(tuple((present + first).tolist())), (high[:, kept], low[:, kept])


def _of_levels(levels: Levels, where: Codes, high: Float, low: Float) -> Counted:
    """Counts of stored codes as those of the levels that they stand for; what is no level counts as missing."""
    to = np.concatenate([where, [-1, -1]])
    to[to < 0] = len(levels)
    out, out_low = np.zeros((2, len(high), len(levels) + 1))
    if len(np.unique(to[:-2])) == len(to) - 2:
        out[:, to[:-2]], out_low[:, to[:-2]] = high[:, :-2], low[:, :-2]
        extra = [len(to) - 2, len(to) - 1]
    else:
        extra = list(range(len(to)))  # two entries of a dictionary may be one level
    for i in extra:
        if high[:, i].any():
            out[:, to[i]], out_low[:, to[i]] = add(out[:, to[i]], out_low[:, to[i]], high[:, i], low[:, i])
    return levels, (out, out_low)


def _sparse_counts(column: CodedColumn, members: Membership) -> tuple[Float, Float]:
    """Counts of each level (K, L + 1), the missing cells last, of a column of which only some rows are stored."""
    size = len(column.levels) + 1
    stored = np.zeros(len(members), dtype=bool)
    stored[column.rows] = True
    high, low = class_counts(column.codes, size, members.take(column.rows))
    rest = class_weights(members.take(~stored))
    high[:, column.rest], low[:, column.rest] = add(high[:, column.rest], low[:, column.rest], *rest)
    return high, low


def class_counts(codes: Codes, size: int, members: Membership) -> tuple[Float, Float]:
    """Weight of the rows of each class and code (K, size), in two doubles; code −1 counts as the last."""
    k = len(members.classes)
    codes = np.where(codes < 0, size - 1, codes) if len(codes) and codes.min() < 0 else codes
    if members.codes is not None:
        joint = members.codes * size + codes
        weights = members.weights
        if len(joint) and members.codes.min() < 0:
            here = members.codes >= 0
            joint, weights = joint[here], None if weights is None else weights[here]
        high, low = counted(joint, weights, k * size)
        return high.reshape(k, size), low.reshape(k, size)
    assert members.soft is not None
    weights = members.soft if members.weights is None else members.soft * members.weights[:, None]
    high, low = np.zeros((2, k, size))
    for i in range(k):
        high[i], low[i] = counted(codes, np.ascontiguousarray(weights[:, i]), size)
    return high, low
