"""Per-class counts of pairs of bins: ``J_k(a, b) = Σ w [x_i in a] [x_j in b]`` for parents i and all columns j.

The bins of all columns are numbered one after another, C in all. The table of pairs has a row for each bin of a parent,
R in all, so a statistic of K classes holds K·C·(R + 1) numbers. The diagonal, J(a, a), is the count of bin a.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from suffice import kernels
from suffice.exceptions import InputError, MergeError, columns_at, listed
from suffice.numerics.types import Codes, Float, Index, Mask, Selection
from suffice.statistics.bins import BinnedRows, Bins, SeenNumbers, bin_offsets
from suffice.statistics.classes import ClassAxis, Membership, present_rows
from suffice.statistics.statistic import ByClass, Statistic, has_faded
from suffice.tables.levels import Levels

__all__ = ["MOST_ENTRIES", "PairCounts", "count_bins"]

MOST_ENTRIES = 1 << 28  # of all tables: 2 GiB
ROUNDING = 1e-10  # relative to a sum of weights that are not whole numbers


@dataclass(frozen=True, eq=False)
class PairCounts(Statistic):
    """Per-class counts of pairs of bins: a bin of a parent, and a bin of any column.

    Attributes
    ----------
    pairs : array of shape (K, R, C)
        Weight of each pair of a bin of a parent and a bin of a column.
    single : array of shape (K, C)
        Weight of each bin.
    weight : array of shape (K,)
        Weight of the rows.
    levels : tuple of Levels
        Levels of each column whose bins are its levels; `merge` takes their union. Empty for other columns.
    bins : tuple of Bins
        Bins of each column; empty before the first rows, if the bins are chosen by them.
    parents : tuple of int
        Sorted positions of the parents.
    n_columns : int
        Number of columns.

    See Also
    --------
    suffice.families.AveragedDependence : The family with this statistic.
    suffice.statistics.JointCounts : Counts of combinations of the levels of all columns.

    Notes
    -----
    If the first rows of a column have few levels, each level has its own bin, and levels of later rows are added, even
    if there are many. If rare levels were joined later, the counts would depend on the order of the batches, and a
    merge would not be the statistic of all rows. ``MOST_ENTRIES`` limits the size of the tables: a merge that exceeds
    it raises an error. Bins with a list of levels to keep (`Bins.kept`) do not grow.

    Examples
    --------
    Two rows of class 0 have the bins "a" and "x", whose pair is therefore counted twice:

    >>> from suffice import AveragedDependence
    >>> rows = [["a", "x"], ["a", "x"], ["b", "y"], ["b", "x"]]
    >>> counts = AveragedDependence().fit(rows, [0, 0, 1, 1]).fitted_.model.statistics[0]
    >>> [each.values for each in counts.levels], counts.pairs[0, 0]
    ([('a', 'b'), ('x', 'y')], array([2., 0., 0., 2., 0., 0.]))

    Each column has one more bin, for missing cells.
    """

    pairs: ByClass
    single: ByClass
    weight: ByClass
    levels: tuple[Levels, ...]
    bins: tuple[Bins, ...]
    parents: tuple[int, ...]
    n_columns: int

    @classmethod
    def zero(
        cls, classes: ClassAxis, n_columns: int, bins: tuple[Bins, ...] = (), parents: tuple[int, ...] = ()
    ) -> PairCounts:
        """Return the statistic of no rows; without bins, those of the first rows are taken."""
        return cls._empty(classes, n_columns, bins, (Levels(()),) * len(bins), parents)

    @classmethod
    def of_bins(
        cls, classes: ClassAxis, bins: tuple[Bins, ...], levels: tuple[Levels, ...], parents: tuple[int, ...]
    ) -> PairCounts:
        """Return the statistic of no rows with these bins and levels of each column."""
        return cls._empty(classes, len(bins), bins, levels, parents)

    def with_counts(self, pairs: Float, single: Float, weight: Float) -> PairCounts:
        """Return the same bins with other counts of pairs (K, R, C), of bins (K, C) and of classes (K,)."""
        return replace(self, pairs=pairs, single=single, weight=weight)

    @classmethod
    def _empty(
        cls,
        classes: ClassAxis,
        n_columns: int,
        bins: tuple[Bins, ...],
        levels: tuple[Levels, ...],
        parents: tuple[int, ...],
    ) -> PairCounts:
        offsets, k = bin_offsets(bins, levels), len(classes)
        rows, columns = sum(int(offsets[i + 1] - offsets[i]) for i in parents), int(offsets[-1])
        if k * (rows + 1) * columns > MOST_ENTRIES:
            widest = int(np.argmax(np.diff(offsets)))
            raise InputError(
                f"The counts of pairs would need {8 * k * (rows + 1) * columns / 2**30:.3g} GiB: {k} classes times "
                f"{rows + 1} times {columns} bins. {columns_at(range(n_columns), [widest])} has the most bins, "
                f"{int(offsets[widest + 1] - offsets[widest])}. Lower max_levels or max_parents, ignore columns, or "
                "give the levels to keep apart: cuts={column: {'levels': [...]}}.",
                argument="max_levels",
            )
        pairs, single = np.zeros((k, rows, columns)), np.zeros((k, columns))
        return cls(classes, pairs, single, np.zeros(k), levels, bins, parents, n_columns)

    @classmethod
    def summarize(
        cls, x: BinnedRows, members: Membership, parents: tuple[int, ...], *, keep_ends: bool = True
    ) -> PairCounts:
        """Return the statistic of a batch of rows; with ``keep_ends``, with the range of the numbers in each bin."""
        bins = tuple(x.bins)
        zero = cls._empty(members.classes, len(bins), bins, x.levels, parents)
        pairs, single = zero.pairs.copy(), zero.single.copy()
        seen = SeenNumbers(x, _present(members)) if keep_ends else None
        _count(x, members, zero.parents, zero.shift, pairs, single, seen)
        _complete(pairs, zero)
        bins = bins if seen is None else seen.bins()
        counted = replace(zero, pairs=pairs, single=single, weight=members.class_weights(), bins=bins)
        return counted.without_empty()

    # ------------------------------------------------------------------ layout

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of columns."""
        return (self.n_columns,)

    @cached_property
    def offsets(self) -> Codes:
        """First bin of each column, and the number of all bins (d + 1,)."""
        return bin_offsets(self.bins, self.levels)

    @cached_property
    def shift(self) -> Codes:
        """The number to add to a bin of each parent to get its row in the table of pairs (P,)."""
        sizes = np.diff(self.offsets)[list(self.parents)] if self.parents else np.zeros(0, dtype=np.int64)
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if len(sizes) else sizes
        return np.asarray(starts - self.offsets[list(self.parents)], dtype=np.int64)

    @cached_property
    def row_bins(self) -> Codes:
        """Bin of each row of the table of pairs (R,)."""
        ranges = [np.arange(self.offsets[i], self.offsets[i + 1]) for i in self.parents]
        return np.concatenate([np.empty(0, dtype=np.int64), *ranges])

    def of_column(self, j: int) -> Float:
        """Return the weights of the bins of one column (K, L)."""
        return self.single[:, self.offsets[j] : self.offsets[j + 1]]

    def axes(self) -> tuple[object, ...]:
        """Return the classes, the bins and levels of each column, and the parents."""
        return self.classes, self.bins, self.levels, self.parents

    def check_joins(self, other: Statistic) -> None:
        """Raise `MergeError` unless the other has the same columns, bins and parents."""
        super().check_joins(other)
        assert isinstance(other, PairCounts)
        if not self.bins or not other.bins:
            return
        differing = [j for j, (a, b) in enumerate(zip(self.bins, other.bins, strict=True)) if a != b]
        if differing:
            j = differing[0]
            raise MergeError(
                f"Counts of different bins cannot be added: column {j} of the block has "
                f"{_described(self.bins[j])} in one model and {_described(other.bins[j])} in the other. Fit both with "
                "the same cuts: cuts=first.cuts_, parents=first.parents_.",
                argument="cuts",
            )
        if self.parents != other.parents:
            raise MergeError(
                f"Counts of pairs with different parents cannot be added: columns {listed(self.parents)} in one model "
                f"and {listed(other.parents)} in the other. Fit both with the same parents: cuts=first.cuts_, "
                "parents=first.parents_.",
                argument="parents",
            )

    def _columns(self, at: Index) -> PairCounts:
        if not self.bins:
            return replace(self, n_columns=len(at))
        new = {int(old): i for i, old in enumerate(at)}
        parents = tuple(sorted(new[i] for i in self.parents if i in new))
        order = np.concatenate([np.arange(self.offsets[j], self.offsets[j + 1]) for j in at])
        row_of_bin = np.full(int(self.offsets[-1]), -1)
        row_of_bin[self.row_bins] = np.arange(len(self.row_bins))
        rows = [row_of_bin[np.arange(self.offsets[at[i]], self.offsets[at[i] + 1])] for i in parents]
        taken = np.concatenate([np.empty(0, dtype=np.int64), *rows])
        return replace(
            self,
            pairs=np.ascontiguousarray(self.pairs[:, taken][:, :, order]),
            single=np.ascontiguousarray(self.single[:, order]),
            levels=tuple(self.levels[j] for j in at),
            bins=tuple(self.bins[j] for j in at),
            parents=parents,
            n_columns=len(at),
        )

    def on_levels(self, levels: tuple[Levels, ...]) -> PairCounts:
        """Return the same counts on wider levels."""
        if all(a is b or a == b for a, b in zip(self.levels, levels, strict=True)):
            return self
        wide = self._empty(self.classes, self.n_columns, self.bins, levels, self.parents)
        at = np.concatenate([_positions(wide, j, mine) for j, mine in enumerate(self.levels)])
        row = np.full(int(wide.offsets[-1]), -1)
        row[wide.row_bins] = np.arange(len(wide.row_bins))
        pairs, single = wide.pairs.copy(), wide.single.copy()
        single[:, at] = self.single
        pairs[np.ix_(np.arange(len(pairs)), row[at[self.row_bins]], at)] = self.pairs
        return replace(wide, pairs=pairs, single=single, weight=self.weight)

    def without_empty(self) -> PairCounts:
        """Return the statistic without levels of weight zero, except declared ones."""
        keep = np.ones(int(self.offsets[-1]), dtype=bool)
        held = self.single.sum(axis=0) > 0
        levels = list(self.levels)
        for j, (bins, each) in enumerate(zip(self.bins, self.levels, strict=True)):
            if bins == Bins() and len(each):
                here = slice(int(self.offsets[j]), int(self.offsets[j + 1]) - 1)
                stays = held[here] | np.array([value in each.declared for value in each.values])
                keep[here] = stays
                levels[j] = each if stays.all() else each.taking(stays)
        if keep.all():
            return self
        return replace(
            self,
            pairs=np.ascontiguousarray(self.pairs[:, keep[self.row_bins]][:, :, keep]),
            single=np.ascontiguousarray(self.single[:, keep]),
            levels=tuple(levels),
        )

    def taking(self, at: Selection) -> PairCounts:
        """Return the statistic of some of the classes and of the levels that occur in them."""
        return super().taking(at).without_empty()

    def emptied(self, where: Mask) -> PairCounts:
        """Return the statistic with all numbers zero in the classes where a mask is true."""
        return super().emptied(where).without_empty()

    # ------------------------------------------------------------------ arithmetic

    def _united(self, other: PairCounts) -> tuple[PairCounts, PairCounts]:
        """Return both on the levels of both."""
        if not self.bins or not other.bins:
            laid_out = other if other.bins else self
            blank = self._empty(self.classes, self.n_columns, laid_out.bins, laid_out.levels, laid_out.parents)
            return (blank, other) if other.bins else (self, blank)
        levels = tuple(a.union(b) for a, b in zip(self.levels, other.levels, strict=True))
        return self.on_levels(levels), other.on_levels(levels)

    def _merged(self, other: PairCounts) -> PairCounts:
        a, b = self._united(other)
        bins = tuple(mine.joined(theirs) for mine, theirs in zip(a.bins, b.bins, strict=True))
        return replace(a, bins=bins, pairs=a.pairs + b.pairs, single=a.single + b.single, weight=a.weight + b.weight)

    def _subtracted(self, other: PairCounts, columns: Sequence[object]) -> PairCounts:
        a, b = self._united(other.without_empty())
        place = self.describe_position(columns)

        def cell(k: int, c: int) -> str:
            j = int(np.searchsorted(a.offsets, c, side="right")) - 1
            return f"{place(k, j)}, {a.bins[j].names(a.levels[j])[c - a.offsets[j]]}"

        weight = _difference(a.weight, b.weight, place)
        single = _difference(a.single, b.single, cell)
        pairs = _difference(a.pairs, b.pairs, lambda k, r, c: f"{cell(k, int(a.row_bins[r]))} with {cell(k, c)}")
        return replace(a, pairs=pairs, single=single, weight=weight).without_empty()

    def _scaled(self, factor: float) -> PairCounts:
        scaled = replace(self, pairs=self.pairs * factor, single=self.single * factor, weight=self.weight * factor)
        return scaled.without_empty()

    def faded(self) -> PairCounts:
        """Return the statistic after `scale`, without bins that have lost their weight."""
        gone = {name: has_faded(values) for name, values in self._by_class().items()}
        if not any(mask.any() for mask in gone.values()):
            return self
        arrays = {name: np.where(gone[name], 0.0, values) for name, values in self._by_class().items()}
        return self._replaced({}, arrays).without_empty()

    def check(self, columns: Sequence[object] | None = None) -> PairCounts:
        """Return the statistic; raises `InputError` if a sum of weights overflowed."""
        if not np.isfinite(self.weight).all():
            raise InputError("The sum of the weights overflows float64. Use smaller weights.")
        return self

    # ------------------------------------------------------------------ files

    def flaw(self) -> str | None:
        """Return what is wrong with a statistic from a file; None if it could come from rows."""
        if not all(isinstance(each, Bins) for each in self.bins):
            return "the bins are not cuts or levels"
        if len(self.bins) not in (0, self.n_columns) or len(self.levels) != len(self.bins):
            return "the bins belong to other columns"
        flaw = next((each for each in (bins.flaw() for bins in self.bins) if each is not None), None)
        if flaw is not None:
            return flaw
        if any(len(each) for each, bins in zip(self.levels, self.bins, strict=True) if bins != Bins()):
            return "a column with given bins has levels"
        known = all(type(i) is int and 0 <= i < len(self.bins) for i in self.parents)
        if not known or list(self.parents) != sorted(set(self.parents)):
            return "the parents are not columns"
        if self.single.shape[1:] != (self.offsets[-1],) or self.pairs.shape[1:] != (
            len(self.row_bins),
            self.offsets[-1],
        ):
            return "the counts do not match the bins"
        if not self.bins:
            return "rows were counted without bins" if self.weight.any() else None
        sums = np.add.reduceat(self.single, self.offsets[:-1], axis=1)
        whole = np.add.reduceat(self.pairs, self.offsets[:-1], axis=2)
        rows = np.broadcast_to(self.single[:, self.row_bins, None], whole.shape)
        if not (_is_close(sums, self.weight[:, None]) and _is_close(whole, rows)):
            return "the counts of the bins do not sum to the rows"
        return None


def _positions(wide: PairCounts, j: int, levels: Levels) -> Codes:
    """Return the bins of column j of a statistic in which the column has more levels than the given ones."""
    first, last = int(wide.offsets[j]), int(wide.offsets[j + 1])
    if wide.bins[j] != Bins():
        return np.arange(first, last)
    return np.append(first + wide.levels[j].positions(levels.values), last - 1)


def _is_close(sums: Float, weight: Float) -> bool:
    return bool((np.abs(sums - weight) <= 1e-6 * np.abs(weight) + 1e-280).all())


def _described(bins: Bins) -> str:
    if bins.cuts is not None:
        return f"the cuts {listed([float(f'{cut:.6g}') for cut in bins.cuts], 6)}"
    return "a bin for each level" if bins.kept is None else f"bins for {len(bins.kept)} levels"


def _difference(whole: Float, part: Float, place: object) -> Float:
    """Return ``whole − part``; differences within rounding are zero. Raises `MergeError` if one is negative."""
    left = whole - part
    exact = (whole == np.floor(whole)) & (part == np.floor(part)) & (whole < 2.0**53)
    negligible = np.where(exact, 0.0, ROUNDING * whole)
    wrong = ~(left >= -negligible)
    if wrong.any():
        at = tuple(int(i) for i in np.argwhere(wrong)[0])
        raise MergeError(
            f"Cannot remove a weight of {part[at]:.6g} from {place(*at)}, which has {whole[at]:.6g}. "  # type: ignore[operator]
            "Some of these rows were not in the model, or had other weights. Nothing was changed."
        )
    return np.where(left <= negligible, 0.0, left)


# ---------------------------------------------------------------------- counting


def count_bins(x: BinnedRows, members: Membership) -> Float:
    """Return the weight of each bin in each class (K, C)."""
    single = np.zeros((members.n_classes, int(x.offsets[-1])))
    none = np.empty(0, dtype=np.int64)
    _count(x, members, (), none, np.zeros((members.n_classes, 0, single.shape[1])), single)
    return single


def _present(members: Membership) -> Mask | None:
    """Return the rows that have a weight in some class; None for all."""
    here = present_rows(members.codes, members.weights)
    if members.soft is None:
        return here
    held = np.asarray((members.soft > 0).any(axis=1))
    return held if here is None else here & held


def _count(
    x: BinnedRows,
    members: Membership,
    parents: tuple[int, ...],
    shift: Codes,
    pairs: Float,
    single: Float,
    seen: SeenNumbers | None = None,
) -> None:
    """Add the counts of all rows, block by block."""
    at = np.array(parents, dtype=np.int64)
    for start, stop in x.blocks():
        part = members if stop - start == len(members) else members.rows(start, stop)
        arrays = {name: None if each is None else np.ascontiguousarray(each) for name, each in part.arrays.items()}
        kernels.add_pair_counts(x.cells(start, stop, seen), at, shift, pairs, single, **arrays)


def _complete(pairs: Float, layout: PairCounts) -> None:
    """Copy the pairs of two parents, which are counted in the rows of the first, to the rows of the second."""
    columns = np.repeat(np.arange(len(layout.bins)), np.diff(layout.offsets))[layout.row_bins]
    below = columns[:, None] > columns[None]
    square = pairs[:, :, layout.row_bins]
    pairs[:, :, layout.row_bins] = np.where(below, square.transpose(0, 2, 1), square)
