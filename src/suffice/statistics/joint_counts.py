"""Per-class counts of combinations of levels: ``n_kc = Σ w [x = c]`` for each combination c that occurs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace

import numpy as np

from suffice.exceptions import InputError, MergeError, columns_at, listed
from suffice.numerics.compensated import add
from suffice.numerics.types import Codes, Float, Index, Selection
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.counts import class_counts
from suffice.statistics.level_weights import LevelWeights
from suffice.statistics.statistic import LOW, ByClass
from suffice.statistics.subtraction import subtract_weights
from suffice.tables.levels import Coded, Levels

__all__ = ["JointCounts", "distinct_cells"]


@dataclass(frozen=True, eq=False)
class JointCounts(LevelWeights):
    """Per-class counts of combinations of levels, the cells of a joint table; empty cells are not stored.

    Attributes
    ----------
    count, count_low : array of shape (K, C)
        Weight of each cell, stored as the sum ``count + count_low``.
    missing, missing_low : array of shape (K, 1)
        Weight of the rows with missing values, which belong to no cell; stored as the sum ``missing + missing_low``.
    levels : tuple of Levels
        Levels of each column.
    cells : array of int of shape (C, d)
        Codes of the levels of each cell, in lexicographic order.

    See Also
    --------
    suffice.families.JointTable : The family with this statistic.
    suffice.statistics.Counts : Counts of the levels of each column alone.
    suffice.statistics.PairCounts : Counts of pairs of bins of two columns.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.statistics import ClassAxis, JointCounts, Membership
    >>> from suffice.tables import Coded, CodedColumn
    >>> from suffice.tables.levels import coded_values
    >>> batch = Coded(3, tuple(CodedColumn(*coded_values(column)) for column in (["a", "a", "b"], ["x", "x", "y"])))
    >>> counts = JointCounts.summarize(batch, Membership(ClassAxis.of(["k"]), codes=np.zeros(3, dtype=int)))
    >>> counts.cells.tolist(), counts.count
    ([[0, 0], [1, 1]], array([[2., 1.]]))
    """

    count: ByClass
    missing: ByClass
    levels: tuple[Levels, ...]
    cells: Codes
    _: KW_ONLY
    count_low: ByClass = LOW
    missing_low: ByClass = LOW

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> JointCounts:
        """Return the statistic of no rows."""
        k = len(classes)
        nothing = np.zeros((0, n_columns), dtype=np.int64)
        return cls(classes, np.zeros((k, 0)), np.zeros((k, 1)), (Levels(()),) * n_columns, nothing)

    @classmethod
    def summarize(cls, x: Coded, members: Membership) -> JointCounts:
        """Return the statistic of a batch of rows."""
        codes = x.matrix()
        whole = (codes >= 0).all(axis=1)
        levels = tuple(column.levels for column in x.columns)
        cells, positions = distinct_cells(codes[whole], levels)
        where = np.full(len(codes), -1, dtype=np.int64)
        where[whole] = positions
        high, low = class_counts(where, len(cells) + 1, members)
        lows = {"count_low": low[:, :-1], "missing_low": low[:, -1:]}
        return cls(members.classes, high[:, :-1], high[:, -1:], levels, cells, **lows).without_empty()

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of columns."""
        return (len(self.levels),)

    def axes(self) -> tuple[object, ...]:
        """Return the classes, the levels of each column, and the stored cells."""
        return self.classes, self.levels, self.cells.tolist()

    def class_weights(self) -> Float:
        """Return the weight of each class (K,)."""
        weights: Float = self.count.sum(axis=1) + self.missing[:, 0]
        return weights

    def _merged(self, other: JointCounts) -> JointCounts:
        levels, mine, theirs = self._united(other)
        cells, positions = distinct_cells(np.vstack([mine, theirs]), levels)
        ours = _spread(self, positions[: len(mine)], len(cells))
        count, low = add(*ours, *_spread(other, positions[len(mine) :], len(cells)))
        missing, missing_low = add(self.missing, self.missing_low, other.missing, other.missing_low)
        return JointCounts(self.classes, count, missing, levels, cells, count_low=low, missing_low=missing_low)

    def _columns(self, at: Index) -> JointCounts:
        if len(at) < len(self.levels) and self.missing.any():
            raise InputError(
                "Cannot select some columns of a joint table with missing values: a row with a missing value is "
                "counted in no cell. Select all columns, in any order."
            )
        levels = tuple(self.levels[j] for j in at)
        cells, positions = distinct_cells(self.cells[:, at], levels)
        count, low = np.zeros((2, len(self.classes), len(cells)))
        for i, j in enumerate(positions.tolist()):
            count[:, j], low[:, j] = add(count[:, j], low[:, j], self.count[:, i], self.count_low[:, i])
        return replace(self, count=count, count_low=low, levels=levels, cells=cells)

    def taking(self, at: Selection) -> JointCounts:
        """Return the statistic of some of the classes and of the cells that occur in them."""
        return super().taking(at).without_empty()

    def _subtracted(self, other: JointCounts, columns: Sequence[object]) -> JointCounts:
        other = other.without_empty()
        levels, mine, theirs = self._united(other)
        cells, positions = distinct_cells(np.vstack([mine, theirs]), levels)
        names = columns_at(columns, range(len(levels)))

        def combination(c: int) -> str:
            return listed([each.values[code] for each, code in zip(levels, cells[c], strict=True)])

        if len(cells) > len(mine):
            new = int(np.setdiff1d(positions[len(mine) :], positions[: len(mine)])[0])
            raise MergeError(
                f"Cannot remove rows with {combination(new)} in {names}: there are none. Nothing was changed."
            )
        where = self.describe_position(columns)
        count, low = subtract_weights(
            *_spread(self, positions[: len(mine)], len(cells)),
            *_spread(other, positions[len(mine) :], len(cells)),
            lambda k, c: f"{where(k)}, {names}, {combination(c)}",
        )
        missing, missing_low = subtract_weights(
            self.missing,
            self.missing_low,
            other.missing,
            other.missing_low,
            lambda k, _: f"{where(k)}, rows with a missing value in {names}",
        )
        left = JointCounts(self.classes, count, missing, levels, cells, count_low=low, missing_low=missing_low)
        return left.without_empty()

    def _united(self, other: JointCounts) -> tuple[tuple[Levels, ...], Codes, Codes]:
        """Return the levels of both, and the cells of each as codes of those levels."""
        levels = tuple(a.union(b) for a, b in zip(self.levels, other.levels, strict=True))
        return levels, _recoded(self.cells, self.levels, levels), _recoded(other.cells, other.levels, levels)

    def without_empty(self) -> JointCounts:
        """Return the statistic without empty cells and without levels that occur in no cell, except declared ones."""
        held = self.count.sum(axis=0) > 0
        cells = self.cells[held]
        levels = []
        for j, each in enumerate(self.levels):
            keep = np.array([value in each.declared for value in each.values], dtype=bool)
            keep[cells[:, j]] = True
            levels.append(each if keep.all() else each.taking(keep))
        if held.all() and all(a is b for a, b in zip(levels, self.levels, strict=True)):
            return self
        cells = _recoded(cells, self.levels, levels)
        count, low = self.count[:, held], self.count_low[:, held]
        return replace(self, count=count, count_low=low, levels=tuple(levels), cells=cells)


def distinct_cells(codes: Codes, levels: Sequence[Levels]) -> tuple[Codes, Codes]:
    """Return the distinct rows of codes (C, d) in lexicographic order, and the position of each row among them (n,).

    >>> distinct_cells(np.array([[1, 0], [0, 2], [1, 0]]), [Levels(("a", "b")), Levels(("a", "b", "c"))])
    (array([[0, 2],
           [1, 0]]), array([1, 0, 1]))
    """
    sizes = [max(len(each), 1) for each in levels]
    if math.prod(sizes) < 2**62:
        # One integer for each row; integers sort like rows.
        key = np.zeros(len(codes), dtype=np.int64)
        for j, size in enumerate(sizes):
            key = key * size + codes[:, j]
        rest, positions = np.unique(key, return_inverse=True)
        cells = np.empty((len(rest), len(sizes)), dtype=np.int64)
        for j in reversed(range(len(sizes))):
            rest, cells[:, j] = np.divmod(rest, sizes[j])
        return cells, positions.ravel()
    cells, positions = np.unique(codes, axis=0, return_inverse=True)
    return cells.reshape(-1, len(sizes)), positions.ravel()


def _spread(counts: JointCounts, positions: Codes, size: int) -> tuple[Float, Float]:
    """Return the counts among more cells (K, size), in two doubles."""
    high, low = np.zeros((2, len(counts.classes), size))
    high[:, positions], low[:, positions] = counts.count, counts.count_low
    return high, low


def _recoded(cells: Codes, old: tuple[Levels, ...], new: tuple[Levels, ...] | list[Levels]) -> Codes:
    """Return cells as codes of wider levels. Levels are sorted, so cells stay in order."""
    out = np.empty_like(cells)
    for j, (mine, theirs) in enumerate(zip(old, new, strict=True)):
        out[:, j] = theirs.positions(mine.values)[cells[:, j]]
    return out
