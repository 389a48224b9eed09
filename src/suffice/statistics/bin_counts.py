"""Per-class counts of numbers in bins that depend on the set of numbers alone, not on their order.

Each octave of a column, the numbers from 2^e to 2^(e+1) of one sign, has bins of one width, a power of two. At first
every number is a bin of its own. An octave with more than C occupied bins doubles their width until they are at most C.
C is 128, or half of it, a quarter and so on, so that the octaves of a column need at most 1,024 bins together. More
rows never reduce the number of occupied bins, so the bins of a union follow from the bins of its parts: batches, merges
and orders of the same rows give the same statistic.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from suffice import kernels
from suffice.exceptions import MergeError, columns_at
from suffice.numerics.types import Codes, Float, Index, Mask, Matrix, Selection
from suffice.statistics.classes import ClassAxis, Membership, MembershipArrays
from suffice.statistics.statistic import ByClass, Statistic, has_faded
from suffice.statistics.subtraction import subtract_weights
from suffice.tables.table import is_sparse

__all__ = ["MOST_BINS", "BinCounts"]

MOST_BINS = 1024  # of one column
CAPS = 2 ** np.arange(7, -1, -1)  # the most bins of an octave: 128, 64, …, 1
MANTISSA = 52  # bits of a float64 below its exponent
INFINITE = 2047 << MANTISSA  # the bits of infinity


@dataclass(frozen=True, eq=False)
class BinCounts(Statistic):
    """Per-class counts of numbers in bins, column after column. Missing cells are not counted.

    A column has at most 1,024 bins, unless its numbers fill more octaves than that (of 4,093 in float64): about 8 KB
    for each class and column.

    Attributes
    ----------
    count : array of shape (K, C)
        Weight of each bin. C is the number of occupied bins of all columns.
    bins : array of int of shape (C,)
        The number in each bin that is nearest to zero: the bits of its absolute value, with the sign of the number.
        These integers have the order of the numbers.
    shift : array of int of shape (C,)
        Number of last bits in which the numbers of a bin may differ; 0 for a bin of a single number.
    sizes : array of int of shape (d,)
        Number of bins of each column.
    cuts : tuple of float
        Given cuts, if the counted numbers are intervals between them: 0 up to the first cut, 1 above it.

    See Also
    --------
    suffice.families.Histogram : Estimates a density from these counts.
    suffice.families.Binned : Uses the bins as levels.
    suffice.statistics.Moments : Mean and variance of columns.

    Examples
    --------
    >>> axis = ClassAxis.of(["a", "b"])
    >>> rows = np.array([[1.5], [3.0], [1.5]])
    >>> counts = BinCounts.summarize(rows, Membership(axis, codes=np.array([0, 1, 1])))
    >>> counts.count, counts.ends(0)
    (array([[1., 0.],
           [1., 1.]]), (array([1.5, 3. ]), array([1.5, 3. ])))
    """

    count: ByClass
    bins: Codes
    shift: Codes
    sizes: Codes
    cuts: tuple[float, ...] = ()

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int, cuts: tuple[float, ...] = ()) -> BinCounts:
        """Return the statistic of no rows."""
        none = np.empty(0, dtype=np.int64)
        return cls(classes, np.zeros((len(classes), 0)), none, none.copy(), np.zeros(n_columns, dtype=np.int64), cuts)

    @classmethod
    def summarize(cls, x: Matrix, members: Membership, cuts: tuple[float, ...] = ()) -> BinCounts:
        """Return the statistic of a batch of rows (n, d)."""
        if is_sparse(x):
            by_column = x.tocsc()
            dense = (by_column[:, [j]].toarray() for j in range(x.shape[1]))
            parts = [cls.summarize(each, members, cuts) for each in dense]
            return cls.concatenate_columns(parts) if parts else cls.zero(members.classes, 0, cuts)
        count, bins, shift, sizes = kernels.bin_counts(x, members.n_classes, cuts, **_contiguous(members))
        column = np.repeat(np.arange(len(sizes)), sizes)
        return cls(members.classes, *_joined(count, column, bins, shift, len(sizes)), cuts)

    # ------------------------------------------------------------------ columns

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of columns, and the cuts."""
        return (len(self.sizes), *self.cuts)  # type: ignore[arg-type]  # compared only

    def column_weights(self) -> Float:
        """Return the weight of the numbers of each class and column (K, d)."""
        sums = np.concatenate([np.zeros((len(self.count), 1)), np.cumsum(self.count, axis=1)], axis=1)
        return np.asarray(np.diff(sums[:, self.offsets], axis=1))

    @cached_property
    def offsets(self) -> Codes:
        """Start of the bins of each column among all bins, and the end of the last (d + 1,)."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.int64)

    @cached_property
    def column(self) -> Codes:
        """Column of each bin (C,)."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def of_column(self, j: int) -> Float:
        """Return the counts of the bins of one column (K, B)."""
        return self.count[:, self.offsets[j] : self.offsets[j + 1]]

    def ends(self, j: int) -> tuple[Float, Float]:
        """Return the least and the largest number that each bin of one column can hold (B,)."""
        here = slice(self.offsets[j], self.offsets[j + 1])
        key, shift = self.bins[here], self.shift[here]
        far = np.sign(key) * (np.abs(key) | ((1 << shift) - 1))
        return _numbers(np.minimum(key, far)), _numbers(np.maximum(key, far))

    def _columns(self, at: Index) -> BinCounts:
        ranges = [np.arange(self.offsets[j], self.offsets[j + 1]) for j in at]
        positions = np.concatenate([np.empty(0, dtype=np.int64), *ranges])
        return self._with_bins(self.count[:, positions], self.bins[positions], self.shift[positions], self.sizes[at])

    @classmethod
    def concatenate_columns(cls, parts: Sequence[BinCounts]) -> BinCounts:
        """Return the statistic of all columns of several statistics."""
        axis = functools.reduce(ClassAxis.union, (part.classes for part in parts))
        arrays = [part.on(axis).arrays() for part in parts]
        joined = {name: np.concatenate([each[name] for each in arrays], axis=-1) for name in arrays[0]}
        return cls(axis, **joined, cuts=parts[0].cuts)

    def has_valid_bins(self) -> bool:
        """Whether each bin has a count, and the bins of each column are ascending; a file may hold anything."""
        if ((self.sizes < 0) | (self.sizes > len(self.bins))).any():
            return False
        if not len(self.bins) == len(self.shift) == self.count.shape[1] == self.sizes.sum():
            return False
        if not ((self.shift >= 0) & (self.shift <= MANTISSA)).all():
            return False
        if ((self.bins >= INFINITE) | (self.bins <= -INFINITE)).any():
            return False
        if self.cuts and not np.isin(_numbers(self.bins), np.arange(len(self.cuts) + 1)).all():
            return False
        same = self.column[1:] == self.column[:-1]
        ascending = self.bins[1:] > self.bins[:-1]  # a difference may overflow
        return bool((ascending | ~same).all() and (_truncated(self.bins, self.shift) == self.bins).all())

    # ------------------------------------------------------------------ the contract of a statistic

    def axes(self) -> tuple[object, ...]:
        """Return the classes and the bins of each column."""
        return self.classes, self.bins.tolist(), self.shift.tolist(), self.sizes.tolist()

    def class_weights(self) -> Float:
        """Return the weight of each class (K,); the largest of its columns if they differ."""
        total = np.zeros((len(self.classes), max(len(self.sizes), 1)))
        np.add.at(total.T, self.column, self.count.T)
        return np.asarray(total.max(axis=1))

    def taking(self, at: Selection) -> BinCounts:
        """Return the statistic of some of the classes and of the bins that are occupied in them."""
        return super().taking(at).without_empty()

    def emptied(self, where: Mask) -> BinCounts:
        """Return the statistic without the rows of the classes where a mask is true."""
        return super().emptied(where).without_empty()

    def without_empty(self) -> BinCounts:
        """Return the statistic without bins of weight zero."""
        held = (self.count > 0).any(axis=0)
        if held.all():
            return self
        sizes = np.bincount(self.column[held], minlength=len(self.sizes))
        return self._with_bins(self.count[:, held], self.bins[held], self.shift[held], sizes)

    def faded(self) -> BinCounts:
        """Return the statistic after `scale`, without bins that have lost their weight."""
        gone = has_faded(self.count)
        return replace(self, count=np.where(gone, 0.0, self.count)).without_empty() if gone.any() else self

    def check_joins(self, other: Statistic) -> None:
        """Raise `MergeError` unless the other has the same number of columns and the same cuts."""
        if isinstance(other, BinCounts) and self.cuts != other.cuts:
            mine, theirs = (_cuts_text(each.cuts) for each in (self, other))
            raise MergeError(
                f"Cannot merge counts in different bins: the first model has {mine}, the second {theirs}. Fit both "
                "models with the same cuts, or with cuts that are computed from all rows (cuts='quantile')."
            )
        super().check_joins(other)

    def _merged(self, other: BinCounts) -> BinCounts:
        if all(np.array_equal(getattr(self, name), getattr(other, name)) for name in ("bins", "shift", "sizes")):
            return replace(self, count=self.count + other.count)
        column = np.concatenate([self.column, other.column])
        key, shift = np.concatenate([self.bins, other.bins]), np.concatenate([self.shift, other.shift])
        order = np.lexsort((key, column))
        count = np.concatenate([self.count, other.count], axis=1)[:, order]
        return self._with_bins(*_joined(count, column[order], key[order], shift[order], len(self.sizes)))

    def _subtracted(self, other: BinCounts, columns: Sequence[object]) -> BinCounts:
        other = other.without_empty()
        part = np.zeros_like(self.count)
        for j in range(len(self.sizes)):
            mine, theirs = (slice(each.offsets[j], each.offsets[j + 1]) for each in (self, other))
            at, known = _positions(self.bins[mine], self.shift[mine], other.bins[theirs])
            if len(at) and self.sizes[j]:
                known &= np.take(self.shift[mine], at, mode="clip") >= other.shift[theirs]
            if not known.all():
                value = float(_numbers(other.bins[theirs][~known])[0])
                what = f"in bin {value:.0f} of the cuts" if self.cuts else f"near {value:.6g}"
                raise MergeError(
                    f"Cannot remove rows with values {what} in {columns_at(columns, [j])}: there are none. "
                    "Nothing was changed.",
                    column=columns[j],
                )
            np.add.at(part.T, mine.start + at, other.count[:, theirs].T)
        place = self.describe_position(columns)

        def describe(k: int, c: int) -> str:
            j = int(self.column[c])
            return f"{place(k, j)}, values near {self.ends(j)[0][c - self.offsets[j]]:.6g}"

        low = np.zeros_like(part)
        count, _ = subtract_weights(self.count, low, part, low, describe)
        return replace(self, count=count).without_empty()

    def _scaled(self, factor: float) -> BinCounts:
        return replace(self, count=self.count * factor).without_empty()

    def _with_bins(self, count: Float, bins: Codes, shift: Codes, sizes: Codes) -> BinCounts:
        return BinCounts(self.classes, count, bins, shift, sizes, self.cuts)


def _cuts_text(cuts: tuple[float, ...]) -> str:
    shown = ", ".join(f"{cut:.6g}" for cut in cuts[:5])
    return f"the cuts {shown}{', …' if len(cuts) > 5 else ''}" if cuts else "no given cuts"


# ---------------------------------------------------------------------- numbers as integers of the same order


def _numbers(keys: Codes) -> Float:
    """Return the numbers that keys stand for."""
    return np.where(keys < 0, -1.0, 1.0) * np.abs(keys).view(np.float64)


def _truncated(key: Codes, shift: Codes) -> Codes:
    """Return the bin of each key: the key without its last bits."""
    return np.asarray(np.sign(key) * (np.abs(key) >> shift << shift))


def _contiguous(members: Membership) -> MembershipArrays:
    codes, soft, weights = members.codes, members.soft, members.weights
    return {
        "codes": None if codes is None else np.ascontiguousarray(codes, dtype=np.int64),
        "soft": None if soft is None else np.ascontiguousarray(soft, dtype=np.float64),
        "weights": None if weights is None else np.ascontiguousarray(weights, dtype=np.float64),
    }


def _positions(bins: Codes, shift: Codes, keys: Codes) -> tuple[Codes, Mask]:
    """Return the position of each key among the sorted bins of a column, and whether there is such a bin."""
    if not len(bins):
        return np.zeros(len(keys), dtype=np.int64), np.zeros(len(keys), dtype=bool)
    far = np.sign(bins) * (np.abs(bins) | ((1 << shift) - 1))
    at = np.maximum(np.searchsorted(np.minimum(bins, far), keys, side="right") - 1, 0)
    return at, keys <= np.maximum(bins, far)[at]


# ---------------------------------------------------------------------- the width of the bins


def _joined(count: Float, column: Codes, key: Codes, shift: Codes, n_columns: int) -> tuple[Float, Codes, Codes, Codes]:
    """Return counts, bins, shifts and sizes of entries that are sorted by column and key."""
    if not len(key):
        return count, key, shift, np.zeros(n_columns, dtype=np.int64)
    wide = _widths(column, key, shift, n_columns)
    bins = _truncated(key, wide)
    first = np.append(True, (bins[1:] != bins[:-1]) | (column[1:] != column[:-1]))
    starts = np.flatnonzero(first)
    joined = count if first.all() or not len(count) else np.add.reduceat(count, starts, axis=1)
    return joined, bins[starts], wide[starts], np.bincount(column[starts], minlength=n_columns)


def _widths(column: Codes, key: Codes, shift: Codes, n_columns: int) -> Codes:
    """Return the shift of each entry: that of its octave, the least with which the octave has at most C bins."""
    octave = np.sign(key) * (np.abs(key) >> MANTISSA)
    new = np.append(True, (octave[1:] != octave[:-1]) | (column[1:] != column[:-1]))
    starts = np.flatnonzero(new)
    group = np.cumsum(new) - 1
    least = np.maximum.reduceat(shift, starts)
    magnitude = np.abs(_truncated(key, least[group]))
    # Neighbours are in different bins as long as the shift does not exceed the highest bit in which they differ.
    _, highest = np.frexp((magnitude[1:] ^ magnitude[:-1]).astype(np.float64))
    apart = np.flatnonzero(~new[1:] & (highest > 0))
    table = np.bincount(
        group[apart] * (MANTISSA + 1) + highest[apart] - 1, minlength=len(starts) * (MANTISSA + 1)
    ).reshape(len(starts), MANTISSA + 1)
    occupied = 1 + np.cumsum(table[:, ::-1], axis=1)[:, ::-1]  # bins of each octave at each shift
    # An octave that was coarsened had more numbers than it may have bins, now and after every merge.
    needed = np.where(least > 0, CAPS[:, None], np.minimum(occupied[:, 0], CAPS[:, None]))
    total = np.stack([np.bincount(column[starts], row, minlength=n_columns) for row in needed])
    fits = total <= MOST_BINS
    fits[-1] = True
    cap = CAPS[fits.argmax(axis=0)][column[starts]]
    return np.asarray(np.maximum(least, (occupied > cap[:, None]).sum(axis=1))[group])
