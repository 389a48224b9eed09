"""Bins of columns: intervals of numbers between fixed cuts, or levels.

The bins of a column are chosen once, from the first rows, and then stay: counts of the same bins add. A number x is in
the bin of the cuts below it, ``cut_b−1 < x ≤ cut_b``. The last bin of every column holds the missing cells.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from suffice import kernels
from suffice.exceptions import InputError
from suffice.numerics.types import Codes, Float, Mask
from suffice.statistics.cuts import interval_names, valid_cuts
from suffice.tables.levels import Levels, is_missing
from suffice.tables.mixed_rows import MixedRows
from suffice.tables.special_levels import MISSING, OTHER

__all__ = ["BinnedRows", "Bins", "Cells", "SeenNumbers", "bin_offsets", "chosen_bins", "quantile_cuts"]

Cells = NDArray[np.int32]
"""Bins of rows and columns (n, d), numbered among the bins of all columns; −1 for a level without a bin."""

NUMBERS = ("number", "time", "duration")
COLUMNS_AT_ONCE = 32  # whose quantiles are computed together
BLOCK_CELLS = 1 << 22  # cells that are in memory at one time


@dataclass(frozen=True)
class Bins:
    """Bins of one column.

    Attributes
    ----------
    cuts : tuple of float, optional
        Upper ends of all intervals but the last, for a column of numbers.
    kept : tuple, optional
        Levels with a bin of their own, in order; all other levels share one more bin. None, without cuts, means that
        every level has its own bin, and later levels are added.
    ends : tuple, optional
        The least and the largest number that each interval has held; None for an interval without any. Bins are equal
        whatever they have held.
    whole : bool
        Whether all of these numbers are whole.
    """

    cuts: tuple[float, ...] | None = None
    kept: tuple[Hashable, ...] | None = None
    ends: tuple[tuple[float, float] | None, ...] | None = field(default=None, compare=False)
    whole: bool = field(default=False, compare=False)

    def size(self, levels: Levels) -> int:
        """Return the number of bins of a column with these levels, with that of missing cells."""
        if self.cuts is not None:
            return len(self.cuts) + 2
        return (len(levels) if self.kept is None else len(self.kept) + 1) + 1

    def names(self, levels: Levels) -> list[object]:
        """Return the names of the bins."""
        if self.cuts is not None:
            return [*interval_names(self.cuts), MISSING]
        if self.kept is not None:
            return [*self.kept, OTHER, MISSING]
        return [*levels.values, MISSING]

    def setting(self) -> tuple[float, ...] | Literal["levels"] | dict[str, list[Hashable]]:
        """Return the bins as a user gives them: cuts, "levels", or ``{"levels": [...]}`` for a list of levels."""
        if self.cuts is not None:
            return self.cuts
        return "levels" if self.kept is None else {"levels": list(self.kept)}

    @classmethod
    def of_setting(cls, given: object, column: object) -> Bins:
        """Return the bins that a user gives; raises `InputError` if they are not valid."""
        if isinstance(given, str) and given == "levels":
            return cls()
        if isinstance(given, dict) and set(given) == {"levels"}:
            return cls(kept=Levels.of(given["levels"]).values)
        cuts = valid_cuts(given)
        if cuts is None:
            raise InputError(
                f"The cuts of column {column!r} must be increasing numbers, 'levels', or {{'levels': [...]}} with the "
                f"levels to keep apart; got {given!r:.80}.",
                argument="cuts",
                column=column,
            )
        return cls(cuts=cuts)

    def holding(self, ends: tuple[tuple[float, float] | None, ...] | None, whole: bool) -> Bins:
        """Return the bins with other numbers that they have held."""
        return replace(self, ends=ends, whole=whole)

    def joined(self, other: Bins) -> Bins:
        """Return the same bins with the numbers that both have held."""
        if self.ends is None or other.ends is None:
            return self if other.ends is None else other
        return self.holding(tuple(map(_hull, self.ends, other.ends)), self.whole and other.whole)

    def flaw(self) -> str | None:
        """Return what is wrong with bins from a file; None if they are valid."""
        if self.cuts is not None:
            if not isinstance(self.cuts, tuple) or not all(type(cut) is float for cut in self.cuts):
                return "the cuts are not numbers"
            if self.kept is not None or valid_cuts(self.cuts) is None:
                return "the cuts are not increasing"
        elif self.kept is not None:
            if not isinstance(self.kept, tuple) or len(set(self.kept)) < len(self.kept):
                return "the levels to keep are not distinct"
            if any(map(is_missing, self.kept)):
                return "a level to keep is missing"
        if type(self.whole) is not bool or not (self.ends is None or self._has_valid_ends()):
            return "the numbers in the bins are not valid"
        return None

    def _has_valid_ends(self) -> bool:
        ends = self.ends
        if not isinstance(ends, tuple) or not isinstance(self.cuts, tuple) or len(ends) != len(self.cuts) + 1:
            return False
        held = [pair for pair in ends if pair is not None]
        return all(
            isinstance(pair, tuple)
            and len(pair) == 2
            and all(type(end) is float and np.isfinite(end) for end in pair)
            and pair[0] <= pair[1]
            for pair in held
        )


def _hull(a: tuple[float, float] | None, b: tuple[float, float] | None) -> tuple[float, float] | None:
    if a is None or b is None:
        return a if b is None else b
    return min(a[0], b[0]), max(a[1], b[1])


# ---------------------------------------------------------------------- choosing bins


def chosen_bins(
    x: MixedRows, weights: Float | None, n_bins: int, max_levels: int, given: Sequence[Bins | None]
) -> tuple[Bins, ...]:
    """Return the bins of each column: those given, or by the type and the values of the column.

    Numbers, times and durations are cut at quantiles; all other values are levels. If a column has more than
    ``max_levels`` levels, the most frequent ones are kept apart. A column without values has one bin for all values.

    Parameters
    ----------
    weights : array of shape (n,), optional
        Weight of each row; a row of weight zero is ignored.
    """
    out = list(given)
    numbers = [j for j, kind in enumerate(x.kinds) if given[j] is None and kind in NUMBERS]
    for start in range(0, len(numbers), COLUMNS_AT_ONCE):
        at = numbers[start : start + COLUMNS_AT_ONCE]
        for j, bins in zip(at, _of_numbers(x.numbers(at), weights, n_bins), strict=True):
            out[j] = bins
    kinds = x.kinds
    return tuple(
        _of_levels(x, j, kinds[j], weights, max_levels) if bins is None else bins for j, bins in enumerate(out)
    )


def _of_numbers(x: Float, weights: Float | None, n_bins: int) -> Iterator[Bins]:
    """Yield the bins of each column."""
    found = kernels.quantiles(x, n_bins) if weights is None else np.full((x.shape[1], n_bins), np.nan)
    for values, (*least, top) in zip(x.T, found, strict=True):
        if weights is None and np.isfinite(top) and not (0 in least and _has_subnormal(values)):
            yield Bins(cuts=_separating(values, np.array(least), top))
            continue
        there = ~np.isnan(values) if weights is None else ~np.isnan(values) & (weights > 0)
        own = None if weights is None else weights[there]
        yield Bins(cuts=quantile_cuts(values[there], n_bins, own)) if there.any() else Bins(kept=())


def _has_subnormal(values: Float) -> bool:
    return bool(((np.abs(values) < np.finfo(np.float64).tiny) & (values != 0)).any())


def _of_levels(x: MixedRows, j: int, kind: str, weights: Float | None, max_levels: int) -> Bins:
    if kind == "empty":
        return Bins(kept=())
    column = x.levels(j)
    n_levels = len(column.levels)
    if n_levels <= max_levels:
        return Bins()
    codes = column.dense(len(x))
    count = np.bincount(codes[codes >= 0], None if weights is None else weights[codes >= 0], minlength=n_levels)
    if (count > 0).sum() <= max_levels:
        return Bins()
    most = np.sort(np.argsort(-count, kind="stable")[:max_levels])
    return Bins(kept=tuple(column.levels.values[at] for at in most.tolist()))


def quantile_cuts(values: Float, n_bins: int, weights: Float | None = None) -> tuple[float, ...]:
    """Return cuts that divide numbers into at most ``n_bins`` bins of about equal weight.

    Cuts are values: the least whose share of the weight at or below it is 1/n_bins, 2/n_bins, …. A value that spans
    several bins, or is the largest, gets a bin of its own where the number of bins allows it.

    >>> quantile_cuts(np.arange(10.0), 5)
    (1.0, 3.0, 5.0, 7.0)
    >>> quantile_cuts(np.array([0.0, 1.0, 1.0, 1.0, 1.0, 1.0]), 5)
    (0.0,)
    >>> quantile_cuts(np.array([3.0, 3.0]), 5)
    (3.0,)
    """
    values = np.ascontiguousarray(values, dtype=np.float64)
    parts = np.arange(1, n_bins)
    if weights is None:
        at = -(-parts * len(values) // n_bins) - 1
        found = np.partition(values, at)[at]
    else:
        order = np.argsort(values, kind="stable")
        below = np.cumsum(weights[order])
        found = values[order][np.searchsorted(below * n_bins, parts * below[-1])]
    return _separating(values, found, float(values.max()))


def _separating(values: Float, quantiles: Float, top: float) -> tuple[float, ...]:
    """Return the cuts at quantiles of numbers with this maximum, and those that separate a value of several bins."""
    cuts, times = np.unique(quantiles, return_counts=True)
    apart = {float(values[values < v].max()) for v in cuts[(times > 1) | (cuts == top)] if (values < v).any()}
    chosen = {float(v) for v in cuts if v < top} | apart
    return tuple(sorted(chosen)) or (float(top),)


# ---------------------------------------------------------------------- reading rows


class BinnedRows:
    """Rows as cells: the numbers of their bins among the bins of all columns.

    Parameters
    ----------
    x : MixedRows
    bins : tuple of Bins
    levels : tuple of Levels, optional
        Levels of each column that have bins; other levels have none. By default those of the rows.
    """

    def __init__(self, x: MixedRows, bins: Sequence[Bins], levels: Sequence[Levels] | None = None) -> None:
        self.x, self.bins = x, bins
        self._numbers = [j for j, each in enumerate(bins) if each.cuts is not None]
        self._coded = {j: x.levels(j) for j, each in enumerate(bins) if each.cuts is None}
        self._codes = {j: column.dense(len(x)) for j, column in self._coded.items()}
        if levels is None:
            own = (self._coded[j].levels if each == Bins() else Levels(()) for j, each in enumerate(bins))
            levels = tuple(own)
        self.levels = tuple(levels)

    def __len__(self) -> int:
        return len(self.x)

    @cached_property
    def offsets(self) -> Codes:
        """First bin of each column, and the number of all bins (d + 1,)."""
        return bin_offsets(self.bins, self.levels)

    @cached_property
    def _bin_of_code(self) -> dict[int, Cells]:
        """Bin of each code of a column of levels; the last entries are for unknown levels (−2) and missing cells."""
        out = {}
        for j, column in self._coded.items():
            kept, first, last = self.bins[j].kept, self.offsets[j], self.offsets[j + 1] - 1
            known = self.levels[j] if kept is None else Levels(kept)
            at = known.positions(column.levels.values)
            other = -1 if kept is None else last - 1
            out[j] = np.append(np.where(at < 0, other, first + at), [-1, last]).astype(np.int32)
        return out

    def blocks(self) -> list[tuple[int, int]]:
        """Return the first and last row of each block of rows that is read at one time."""
        step = max(1, BLOCK_CELLS // max(1, len(self.bins)))
        return [(start, min(len(self), start + step)) for start in range(0, len(self), step)]

    def cells(self, start: int, stop: int, seen: SeenNumbers | None = None) -> Cells:
        """Return the cell of each row start..stop−1 and column, as int32; −1 for a level without a bin.

        ``seen`` takes note of the numbers.
        """
        out = np.empty((stop - start, len(self.bins)), dtype=np.int32)
        if self._numbers:
            numbers = self.x.rows(start, stop).numbers(self._numbers)
            at = np.array(self._numbers)
            cuts = [self.bins[j].cuts or () for j in self._numbers]
            kernels.interval_cells(numbers, cuts, self.offsets[at], at, out)
            if seen is not None:
                seen.add(numbers, out, at, start)
        for j, codes in self._codes.items():
            out[:, j] = self._bin_of_code[j][codes[start:stop]]
        return out


class SeenNumbers:
    """The least and the largest number in each cell, and whether all numbers of a column are whole.

    Parameters
    ----------
    rows : BinnedRows
    present : array of bool of shape (n,), optional
        Rows that count.
    """

    def __init__(self, rows: BinnedRows, present: Mask | None) -> None:
        self._rows, self._present = rows, present
        size = int(rows.offsets[-1])
        self._low, self._high = np.full(size, np.inf), np.full(size, -np.inf)
        self._whole = np.ones(len(rows.bins), dtype=bool)

    def add(self, numbers: Float, cells: Cells, at: Codes, start: int) -> None:
        """Take note of the numbers of the columns ``at`` (n, m) and their cells (n, d), in rows from ``start`` on."""
        present = None if self._present is None else self._present[start : start + len(numbers)]
        kernels.widen_cell_ends(numbers, cells, at, self._low, self._high, present=present)
        here = numbers if present is None else numbers[present]
        self._whole[at] &= kernels.value_ranges(here).whole

    def bins(self) -> tuple[Bins, ...]:
        """Return the bins with what they hold."""
        return tuple(each if each.cuts is None else self._of_column(j, each) for j, each in enumerate(self._rows.bins))

    def _of_column(self, j: int, bins: Bins) -> Bins:
        here = slice(
            int(self._rows.offsets[j]), int(self._rows.offsets[j + 1]) - 1
        )  # the last bin is for missing cells
        both = zip(self._low[here].tolist(), self._high[here].tolist(), strict=True)
        return bins.holding(tuple((a, b) if a <= b else None for a, b in both), bool(self._whole[j]))


def bin_offsets(bins: Sequence[Bins], levels: Sequence[Levels]) -> Codes:
    """Return the first bin of each column, and the number of all bins (d + 1,)."""
    sizes = [each.size(own) for each, own in zip(bins, levels, strict=True)]
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
