"""Scatter of complete rows, and of rows with missing cells by the pattern of the cells that are present.

In this module, a *cell* is a pair of a class and a pattern. It has the weight, the mean and the scatter matrix of its
rows, with zeros in the columns that are missing. A Gaussian likelihood needs nothing else of the rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from suffice.exceptions import InputError, MergeError, columns_at
from suffice.numerics.number_range import SMALLEST_SQUARE, check_squares
from suffice.numerics.types import Array, Codes, Float, Index, Mask, Selection
from suffice.statistics.classes import ClassAxis, Membership, present_rows
from suffice.statistics.patterns import coarsened, distinct_patterns, lowest_level, most_cells
from suffice.statistics.scatter import PooledScatter, Scatter
from suffice.statistics.statistic import LOW, Statistic, has_faded

__all__ = ["PatternScatter"]


@dataclass(frozen=True, eq=False)
class PatternScatter(Statistic):
    """Scatter matrices of complete rows, and of rows with missing cells by their pattern.

    Attributes
    ----------
    complete : Scatter or PooledScatter
        The statistic of the complete rows.
    observed : array of uint8 of shape (C, d)
        1 in the columns that the rows of a cell have; never all, never none. Cells are sorted by pattern, then class.
    codes : array of int of shape (C,)
        Class of each cell.
    weight, weight_low : array of shape (C,)
        Weight of each cell, stored as the sum ``weight + weight_low``; never zero.
    mean, mean_low : array of shape (C, d)
        Mean, stored as the sum ``mean + mean_low``; zero in columns that are missing.
    scatter, scatter_low : array of shape (C, d, d)
        Scatter, stored as the sum ``scatter + scatter_low``; zero in columns that are missing.
    level : int
        How coarse the patterns are; see `suffice.statistics.patterns`.

    See Also
    --------
    suffice.statistics.Scatter : Complete rows, with a matrix for each class.
    suffice.statistics.PooledScatter : Complete rows, with one matrix for all classes.
    suffice.families.MultivariateGaussian : The family with this statistic for ``missing="em"``.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.statistics import ClassAxis, Membership, PatternScatter, Scatter
    >>> rows = np.array([[1.0, 0.0], [3.0, np.nan], [3.0, 4.0]])
    >>> members = Membership(ClassAxis.of(["a"]), codes=np.zeros(3, dtype=int))
    >>> patterns = PatternScatter.summarize(rows, members, Scatter)
    >>> patterns.complete.weight, patterns.observed.tolist(), patterns.weight
    (array([2.]), [[1, 0]], array([1.]))
    """

    complete: Scatter | PooledScatter
    observed: Array
    codes: Codes
    weight: Float
    mean: Float
    mean_low: Float
    scatter: Float
    scatter_low: Float
    level: int = 0
    _: KW_ONLY
    weight_low: Float = LOW

    @classmethod
    def of(cls, complete: Scatter | PooledScatter) -> PatternScatter:
        """Return the statistic of complete rows."""
        d = complete.shape[0]
        nothing = np.zeros((0, d), dtype=np.uint8), np.zeros(0, dtype=np.int64)
        means, scatters = np.zeros((2, 0, d)), np.zeros((2, 0, d, d))
        return cls(complete.classes, complete, *nothing, np.zeros(0), means[0], means[1], scatters[0], scatters[1])

    @classmethod
    def summarize(
        cls,
        x: Float,
        members: Membership,
        kind: type[Scatter] | type[PooledScatter],
        columns: Sequence[object] | None = None,
    ) -> PatternScatter:
        """Return the statistic of a batch of rows (n, d); ``kind`` is that of the complete rows.

        >>> rows = np.array([[0.0, 1.0], [2.0, np.nan], [4.0, np.nan], [np.nan, np.nan]])
        >>> one = Membership(ClassAxis.of(["a"]), codes=np.zeros(4, dtype=int))
        >>> found = PatternScatter.summarize(rows, one, Scatter)
        >>> found.observed.tolist(), found.weight, found.mean
        ([[1, 0]], array([2.]), array([[3., 0.]]))
        """
        holes = np.isnan(x)
        incomplete = np.asarray(holes.any(axis=1))
        complete = cls.of(kind.summarize(x, members.without(incomplete), columns))
        return complete.with_incomplete(x, members, holes, columns)

    def with_incomplete(
        self, x: Float, members: Membership, holes: Mask, columns: Sequence[object] | None = None
    ) -> PatternScatter:
        """Return a statistic of complete rows together with the rows of ``x`` that have some of their cells."""
        some = holes.any(axis=1) & ~holes.all(axis=1)
        present = present_rows(members.codes, members.weights)
        at = np.flatnonzero(some if present is None else some & present)
        if not len(at):
            return self
        rows, observed = np.asarray(x[at], dtype=np.float64), ~holes[at]
        taken = members.take(at)
        if taken.codes is not None:
            return self.with_rows(rows, observed, taken.codes, taken.weights, columns)
        # Each row belongs to each class with a weight.
        assert taken.soft is not None
        soft = taken.soft if taken.weights is None else taken.soft * taken.weights[:, None]
        out = self
        for k in range(len(members.classes)):
            here = np.flatnonzero(soft[:, k] > 0)
            if len(here):
                codes, weights = np.full(len(here), k), np.ascontiguousarray(soft[here, k])
                part = PatternScatter.of(self.complete.scale(0.0))
                out = out.merge(part.with_rows(rows[here], observed[here], codes, weights, columns))
        return out

    def with_rows(
        self, x: Float, observed: Mask, codes: Codes, weights: Float | None, columns: Sequence[object] | None
    ) -> PatternScatter:
        """Return the statistic with cells of rows that have some of their columns."""
        level = lowest_level(observed, codes, self.level, most_cells(x.shape[1]))
        kept = coarsened(observed, level)
        some = kept.any(axis=1)
        x, kept, codes = x[some], kept[some], codes[some]
        if not len(x):
            return replace(self, level=level)
        first, cell = distinct_patterns(kept, codes)
        # A value of the column in place of a missing one adds no range to it.
        fill = np.where(kept.any(axis=0), x[kept.argmax(axis=0), np.arange(x.shape[1])], 0.0)
        filled = np.where(kept, x, fill)
        axis = ClassAxis(np.arange(len(first)))
        # Rows of one cell lie together, as the sums read them.
        order = np.argsort(cell, kind="stable")
        members = Membership(axis, codes=cell[order], weights=None if weights is None else weights[some][order])
        found = Scatter.summarize(filled[order], members, columns)
        return self.with_cells(kept[first], codes[first], found, level)

    # ------------------------------------------------------------------ cells

    def with_cells(self, observed: Mask, codes: Codes, found: Scatter, level: int) -> Self:
        """Return the statistic with other cells, without those that have no weight."""
        kept = found.weight > 0
        pairs = observed[:, :, None] & observed[:, None, :]
        arrays: dict[str, Any] = {
            "weight": found.weight,
            "weight_low": found.weight_low,
            "mean": np.where(observed, found.mean, 0.0),
            "mean_low": np.where(observed, found.mean_low, 0.0),
            "scatter": np.where(pairs, found.scatter, 0.0),
            "scatter_low": np.where(pairs, found.scatter_low, 0.0),
        }
        if not kept.all():
            arrays = {name: array[kept] for name, array in arrays.items()}
        return replace(self, observed=observed[kept].astype(np.uint8), codes=codes[kept], level=level, **arrays)

    def cells(self, labels: Index | None = None) -> Scatter:
        """Return the cells as the classes of a `Scatter`, with increasing labels."""
        axis = ClassAxis(np.arange(len(self.codes)) if labels is None else labels)
        parts = self.mean, self.mean_low, self.scatter, self.scatter_low
        return Scatter(axis, self.weight, *parts, weight_low=self.weight_low)

    @cached_property
    def mask(self) -> Mask:
        """The columns that the rows of each cell have, as a mask (C, d)."""
        return np.asarray(self.observed > 0)

    def taking_cells(self, at: Selection) -> Self:
        """Return the statistic with some of its cells."""
        return self.with_cells(self.mask[at], self.codes[at], self.cells().taking(at), self.level)

    def at_level(self, level: int) -> Self:
        """Return the statistic with patterns of a coarser level."""
        if level == self.level:
            return self
        if not len(self.codes):
            return replace(self, level=level)
        kept = coarsened(self.mask, level)
        some = np.flatnonzero(kept.any(axis=1))
        finer = self.taking_cells(some)
        kept = kept[some]
        first, group = distinct_patterns(kept, finer.codes)
        pairs = kept[:, :, None] & kept[:, None, :]
        masked = replace(
            finer,
            mean=np.where(kept, finer.mean, 0.0),
            mean_low=np.where(kept, finer.mean_low, 0.0),
            scatter=np.where(pairs, finer.scatter, 0.0),
            scatter_low=np.where(pairs, finer.scatter_low, 0.0),
        )
        return self.with_cells(kept[first], finer.codes[first], masked.merged_groups(group, len(first)), level)

    def merged_groups(self, group: Codes, n_groups: int) -> Scatter:
        """Return the cells of each group merged, two by two."""
        axis = ClassAxis(np.arange(n_groups))
        cells = self.cells()
        while len(group) > n_groups:
            order = np.argsort(group, kind="stable")
            ordered = group[order]
            rank = np.arange(len(order)) - np.searchsorted(ordered, ordered)
            halves = [order[rank % 2 == side] for side in (0, 1)]
            left, right = (_selected(cells, half) for half in halves)
            partner = (np.cumsum(rank % 2 == 0) - 1)[rank % 2 == 1]
            cells, group = left.merge(right.relabelled(ClassAxis(partner))), ordered[rank % 2 == 0]
        return _selected(cells, np.argsort(group, kind="stable")).relabelled(axis)

    def aligned_cells(self, other: PatternScatter) -> tuple[Mask, Codes, Scatter, Scatter]:
        """Return the cells of both at one level: patterns, classes, and two statistics on one axis."""
        masks, codes = np.vstack([self.mask, other.mask]), np.concatenate([self.codes, other.codes])
        first, cell = distinct_patterns(masks, codes)
        axis = ClassAxis(np.arange(len(first)))
        n = len(self.codes)
        mine, theirs = self.cells(cell[:n]).on(axis), other.cells(cell[n:]).on(axis)
        return masks[first], codes[first], mine, theirs

    # ------------------------------------------------------------------ operations

    def _merged(self, other: Self) -> Self:
        complete = self.complete.merge(other.complete)  # type: ignore[arg-type]  # `check_joins` compared the types
        level = max(self.level, other.level)
        mine, theirs = self.at_level(level), other.at_level(level)
        if not len(theirs.codes):
            return replace(mine, complete=complete)
        if not len(mine.codes):
            return replace(theirs, complete=complete)
        masks, codes, a, b = mine.aligned_cells(theirs)
        out = replace(mine, complete=complete).with_cells(masks, codes, a.merge(b), level)
        return out.at_level(lowest_level(out.mask, out.codes, level, most_cells(self.shape[0])))

    def _subtracted(self, other: Self, columns: Sequence[object]) -> Self:
        complete = self.complete.subtract(other.complete, columns)  # type: ignore[arg-type]
        if other.level > self.level:
            raise MergeError(
                "Cannot remove these rows: they have more patterns of missing cells than the model, so they were not "
                "in it."
            )
        theirs = other.at_level(self.level)
        if not len(theirs.codes):
            return replace(self, complete=complete)
        masks, codes, a, b = self.aligned_cells(theirs)
        new = np.flatnonzero((a.weight == 0) & (b.weight > 0))
        if len(new):
            lacking = columns_at(columns, np.flatnonzero(~masks[new[0]]))
            raise MergeError(
                f"Cannot remove rows of class {self.classes.label(int(codes[new[0]]))!r} with missing cells in "
                f"{lacking}: there are none."
            )
        return replace(self, complete=complete).with_cells(masks, codes, a.subtract(b, columns), self.level)

    def _scaled(self, factor: float) -> Self:
        complete = self.complete.scale(factor)
        if factor == 0:
            return replace(self.taking_cells(np.empty(0, dtype=np.intp)), complete=complete, level=0)
        return replace(self, complete=complete).with_cells(
            self.mask, self.codes, self.cells().scale(factor), self.level
        )

    def with_row(self, row: Float, code: int) -> Self | None:
        """Return the statistic with one more row; None if it has a missing cell."""
        complete = self.complete.with_row(row, code)
        return None if complete is None else self._made(**{**self._values(), "complete": complete})

    # ------------------------------------------------------------------ axes

    def inner(self) -> dict[str, Statistic]:
        """Return the statistic of the complete rows."""
        return {"complete": self.complete}

    def on(self, axis: ClassAxis) -> Self:
        """Return the statistic on an axis that has at least its own classes; the others are empty."""
        wider = super().on(axis)
        if wider is self or not len(self.codes):
            return wider
        return wider.in_order(axis.positions(self.classes.labels)[self.codes])

    def taking(self, at: Selection) -> Self:
        """Return the statistic of some of the classes, by position or by a mask."""
        positions = np.sort(np.arange(len(self.classes))[at])
        fewer = super().taking(positions)
        if fewer is self or not len(self.codes):
            return fewer
        new = np.full(len(self.classes), -1)
        new[positions] = np.arange(len(positions))
        kept = np.flatnonzero(new[self.codes] >= 0)
        return replace(fewer.taking_cells(kept), codes=new[self.codes[kept]])

    def emptied(self, where: Mask) -> Self:
        """Return the statistic without rows in the classes where a mask is true."""
        complete = self.complete.emptied(where)
        gone = where[self.codes]
        if not gone.any():
            return self if complete is self.complete else replace(self, complete=complete)
        return replace(self, complete=complete).taking_cells(np.flatnonzero(~gone))

    def _columns(self, at: Index) -> Self:
        if len(at) < self.shape[0] and len(self.codes):
            raise InputError(
                "Cannot select some columns of rows with missing cells: their patterns were made for all columns. "
                "Select all columns, in any order."
            )
        if self.level > 0:
            raise InputError(
                "Cannot change the order of the columns: the rows have so many patterns of missing cells that some "
                "count with the cells of groups of adjacent columns only. Give the columns in the order of the model."
            )
        moved = replace(
            self,
            complete=self.complete.columns(at),
            observed=self.observed[:, at],
            mean=self.mean[:, at],
            mean_low=self.mean_low[:, at],
            scatter=self.scatter[:, at[:, None], at],
            scatter_low=self.scatter_low[:, at[:, None], at],
        )
        return moved.in_order(self.codes)

    def in_order(self, codes: Codes) -> Self:
        """Return the statistic with other classes of the cells, in order."""
        order, _ = distinct_patterns(self.mask, codes)
        return self.with_cells(self.mask[order], codes[order], _selected(self.cells(), order), self.level)

    def axes(self) -> tuple[object, ...]:
        """Return the classes, and pattern and class of each cell."""
        return self.classes, self.observed.tolist(), self.codes.tolist()

    # ------------------------------------------------------------------ contents

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of columns."""
        return self.complete.shape

    @property
    def is_complete(self) -> bool:
        """Whether no row has a missing cell."""
        return not len(self.codes)

    def check_joins(self, other: Statistic) -> None:
        """Raise `MergeError` unless the other has the same type and columns, and the same for complete rows."""
        super().check_joins(other)
        assert isinstance(other, PatternScatter)
        self.complete.check_joins(other.complete)

    def adopting(self, part: Statistic) -> Statistic:
        """Return the statistic whose complete rows have the statistic ``part``."""
        return PatternScatter.of(part) if isinstance(part, Scatter | PooledScatter) else part

    def class_weights(self) -> Float:
        """Return the weight of each class (K,)."""
        incomplete = np.bincount(self.codes, self.weight, minlength=len(self.classes))
        return np.asarray(self.complete.weight + incomplete)

    def cell_weights(self) -> Float:
        """Return the weight of the rows of each class that have a cell in each column (K, d)."""
        out = np.repeat(self.complete.weight[:, None], self.shape[0], axis=1)
        np.add.at(out, self.codes, self.weight[:, None] * self.observed)
        return out

    def arrays(self) -> dict[str, Float]:
        """Return the arrays by name, with those of the complete rows."""
        inner = {f"complete {name}": array for name, array in self.complete.arrays().items()}
        return super().arrays() | inner

    def rounding(self) -> dict[str, Float]:
        """Return the magnitude of the terms of each entry."""
        cells = self.cells().rounding()
        codes = {"observed": np.ones(self.shape), "codes": np.ones(())}
        return cells | codes | {f"complete {name}": size for name, size in self.complete.rounding().items()}

    def check(self, columns: Sequence[object] | None = None) -> Self:
        """Raise `InputError` if the squares of a column overflowed; squares that underflowed are set to zero."""
        complete = self.complete.check(columns)
        out = self if complete is self.complete else replace(self, complete=complete)
        squares = np.diagonal(self.scatter, axis1=1, axis2=2)
        if not np.isfinite(squares).all():
            check_squares(np.where(np.isfinite(squares), 0.0, np.inf), columns or range(self.shape[0]))
        tiny = (squares > 0) & (squares < SMALLEST_SQUARE)
        if not tiny.any():
            return out
        lost = tiny[:, :, None] | tiny[:, None, :]
        return replace(
            out, scatter=np.where(lost, 0.0, self.scatter), scatter_low=np.where(lost, 0.0, self.scatter_low)
        )

    def faded(self) -> Self:
        """Return the statistic after `scale`, without rows that have lost their weight."""
        complete = self.complete.faded()
        gone = has_faded(self.weight)
        if complete is self.complete and not gone.any():
            return self
        out = replace(self, complete=complete)
        return out.taking_cells(np.flatnonzero(~gone)) if gone.any() else out

    def levelled(self, before: Self) -> Self:
        """Return the statistic without rounding errors in columns that became constant."""
        return replace(self, complete=self.complete.levelled(before.complete))


def _selected(cells: Scatter, at: Index) -> Scatter:
    """Return some cells in any order, on an axis of their own."""
    arrays = {name: array[at] for name, array in cells.arrays().items()}
    return Scatter(ClassAxis(np.arange(len(at))), **arrays)
