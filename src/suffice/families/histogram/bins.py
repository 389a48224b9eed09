"""Quantile bins of one column, from the counts of its finest bins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.numerics.types import Codes, Float
from suffice.statistics import BinCounts
from suffice.statistics.cuts import intervals

__all__ = ["CountedBins", "bins_between", "cell_ends", "quantile_bins"]


@dataclass(frozen=True, eq=False)
class CountedBins:
    """Bins of one column, and their counts.

    Attributes
    ----------
    count : array of shape (K, B)
        Weight of each class in each bin; no bin is empty in all classes.
    centre : array of shape (B,)
        A number inside each bin, ascending.
    cut : array of shape (B − 1,)
        Numbers between the bins: a number equal to a cut belongs to the lower bin.
    values, value_weight : array of shape (V,)
        The distinct numbers of a discrete column, each of which occurs twice on average at least, and their weights;
        empty for any other column.
    """

    count: Float
    centre: Float
    cut: Float
    values: Float
    value_weight: Float

    @property
    def share(self) -> Float:
        """Share of each bin in all rows (B,)."""
        return np.asarray(self.count.sum(axis=0) / self.count.sum())

    def positions(self, values: Float) -> Codes:
        """The bin of each value."""
        return intervals(self.cut, values)

    def drawn(self, at: Codes, rng: np.random.Generator) -> Float:
        """A number of each of these bins of a discrete column."""
        out, inside = np.empty(len(at)), self.positions(self.values)
        for b in np.unique(at).tolist():
            here, own = np.flatnonzero(at == b), np.flatnonzero(inside == b)
            weight = self.value_weight[own]
            out[here] = self.values[rng.choice(own, len(here), p=weight / weight.sum())]
        return out

    def variances(self) -> Float:
        """Variance of the numbers of each bin of a discrete column (B,)."""
        at = self.positions(self.values)
        squares = np.bincount(at, self.value_weight * (self.values - self.centre[at]) ** 2, minlength=len(self.centre))
        return np.asarray(squares / self.count.sum(axis=0))


def cell_ends(statistic: BinCounts, j: int) -> tuple[Float, Float]:
    """Least and largest number of each bin of the statistic; between given cuts, both are the middle of the two.

    The outer bins of given cuts, which have no end, have their middle half a neighbouring bin beyond the cut.
    """
    low, high = statistic.ends(j)
    if not statistic.cuts:
        return low, high
    cuts = np.array(statistic.cuts)
    size = np.abs(cuts[0]) if cuts[0] else 1.0
    first, last = (cuts[1] - cuts[0], cuts[-1] - cuts[-2]) if len(cuts) > 1 else (size, size)
    middle = np.concatenate([[cuts[0] - first / 2], cuts[:-1] + np.diff(cuts) / 2, [cuts[-1] + last / 2]])
    middle = middle[low.astype(np.int64)]
    return middle, middle


def quantile_bins(statistic: BinCounts, j: int, most: int, *, frequent_apart: bool = False) -> CountedBins:
    """At most ``most`` bins of about equal weight over all classes; equal numbers are in one bin.

    If frequent numbers are to be ``apart``, a number with more than the weight of a bin is a bin of its own, and there
    may be twice as many bins.
    """
    count, (low, high) = statistic.of_column(j), cell_ends(statistic, j)
    weight = count.sum(axis=0)
    if len(weight) > most:
        frequent = (weight * most >= weight.sum()) & frequent_apart
        rare = np.where(frequent, 0.0, weight)
        left = most - int(frequent.sum())  # rare numbers share the bins that frequent ones leave
        slot = np.floor(left * (np.cumsum(rare) - rare / 2) / max(float(rare.sum()), np.finfo(np.float64).tiny))
        new = (slot[1:] != slot[:-1]) | frequent[1:] | frequent[:-1]
        starts = np.flatnonzero(np.append(True, new))
    else:
        starts = np.arange(len(weight))
    return _grouped(statistic, j, count, low, high, starts)


def bins_between(statistic: BinCounts, j: int, cut: Float) -> Float:
    """Counts of each class between cuts (K, len(cut) + 1)."""
    low, high = cell_ends(statistic, j)
    at = intervals(cut, low + (high - low) / 2)
    out = np.zeros((len(statistic.classes), len(cut) + 1))
    np.add.at(out.T, at, statistic.of_column(j).T)
    return out


def _grouped(statistic: BinCounts, j: int, count: Float, low: Float, high: Float, starts: Codes) -> CountedBins:
    """Bins of consecutive cells; ``starts`` are the first cells of the bins."""
    if not len(low):
        return CountedBins(count, low, low, low, low)
    ends = np.append(starts[1:], len(low)) - 1
    weight = count.sum(axis=0)
    # The centre is the mean of its numbers, relative to the first, so that a bin of one number is exact.
    inner = (low - low[np.repeat(starts, ends - starts + 1)]) + (high - low) / 2
    share = np.add.reduceat(weight * inner, starts) / np.add.reduceat(weight, starts)
    centre = np.clip(low[starts] + share, low[starts], high[ends])
    if statistic.cuts:
        cuts = np.array(statistic.cuts)
        place = statistic.ends(j)[0].astype(np.int64)
        cut = cuts[place[starts[1:]] - 1]
    else:
        before, after = high[ends[:-1]], low[starts[1:]]
        cut = np.minimum(before + (after - before) / 2, np.nextafter(after, -np.inf))
    discrete = not statistic.cuts and bool((low == high).all()) and weight.sum() >= 2 * len(weight)
    seen = (low, weight) if discrete else (low[:0], weight[:0])
    return CountedBins(np.add.reduceat(count, starts, axis=1), centre, cut, *seen)
