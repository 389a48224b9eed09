"""Rows with missing cells by pattern, in units of their columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from suffice.families.covariance import rank_tolerance
from suffice.numerics.types import Codes, Float, Mask
from suffice.statistics import PatternScatter

__all__ = ["Batch", "ObservedRows", "Units"]

SMALL_BATCH = 64  # patterns
CHUNK = 1 << 20  # entries of the matrices of patterns that are processed together


@dataclass(frozen=True, eq=False)
class Units:
    """Mean and standard deviation within the classes of the cells that each column has (d,)."""

    origin: Float
    scale: Float

    @classmethod
    def of(cls, statistic: PatternScatter) -> Units:
        """The units of the columns of a statistic."""
        n, mean, squares = _available(statistic, np.zeros(statistic.shape))
        total = np.maximum(n.sum(axis=0), np.finfo(np.float64).tiny)
        origin = (n * mean).sum(axis=0) / total
        # Once more, about a point among the values.
        n, mean, squares = _available(statistic, origin)
        origin = origin + (n * mean).sum(axis=0) / total
        scale = np.sqrt(squares.sum(axis=0) / total)
        return cls(origin, np.where(scale > 0, scale, 1.0))


def _available(statistic: PatternScatter, origin: Float) -> tuple[Float, Float, Float]:
    """Weight, mean and squares about the class mean of the cells that each class has in each column (K, d).

    The squares of complete rows in a pooled statistic are all in the first class.
    """
    s, complete, d = statistic, statistic.complete, statistic.shape[0]
    k = len(s.classes)
    has = s.observed > 0
    weights = np.vstack([np.repeat(complete.weight[:, None], d, axis=1), np.where(has, s.weight[:, None], 0.0)])
    means = np.vstack([complete.mean - origin + complete.mean_low, np.where(has, s.mean - origin + s.mean_low, 0.0)])
    own = complete.arrays()["scatter"]
    squares = np.zeros((k, d))
    squares[: 1 if own.ndim == 2 else k] = np.diagonal(own, axis1=-2, axis2=-1)
    squares = np.vstack([squares, np.diagonal(s.scatter, axis1=1, axis2=2)])
    codes = np.concatenate([np.arange(k), s.codes])
    n, sums, out = np.zeros((3, k, d))
    np.add.at(n, codes, weights)
    np.add.at(sums, codes, weights * means)
    mean = np.divide(sums, n, out=np.zeros_like(sums), where=n > 0)
    np.add.at(out, codes, squares + weights * (means - mean[codes]) ** 2)
    return n, mean, out


class Batch(NamedTuple):
    """Patterns ``low`` to ``high`` − 1.

    Attributes
    ----------
    missing : array of shape (P, m)
        Positions of the missing columns, filled up with d.
    pairs : array of shape (P, m, m)
        Positions of pairs of them in a matrix of d + 1 columns.
    filled : array of shape (P, m)
        1 where a position is filled up.
    cells, own : arrays of int
        Pairs of a pattern and a class, and the pattern of each, counted from ``low``.
    scattered : array of int
        Patterns with rows that differ, counted from ``low``.
    """

    low: int
    high: int
    missing: Codes
    pairs: Codes
    filled: Float
    cells: Codes
    own: Codes
    scattered: Codes


@dataclass(frozen=True, eq=False)
class ObservedRows:
    """Rows of classes with one covariance, in standard units.

    Attributes
    ----------
    weight, mean, scatter : arrays of shape (K,), (K, d) and (d, d)
        Of the complete rows.
    observed : array of bool of shape (P, d)
        Patterns with few missing columns come first.
    pattern_weight, pattern_scatter : arrays of shape (P,) and (P, d, d)
        Of the rows of each pattern, about the means of their cells.
    pattern, code, cell_weight, cell_mean : arrays of length C
        Pattern, class, weight and mean of each pair of both.
    start_mean, start_variance : arrays of shape (K, d) and (d,)
        Of the cells that there are.
    prior_variance : array of shape (d,)
        Variance of the cells of all classes: one, or zero in a constant column.
    """

    weight: Float
    mean: Float
    scatter: Float
    observed: Mask
    pattern_weight: Float
    pattern_scatter: Float
    pattern: Codes
    code: Codes
    cell_weight: Float
    cell_mean: Float
    start_mean: Float
    start_variance: Float
    prior_variance: Float

    @classmethod
    def of(cls, statistic: PatternScatter, units: Units, classes: Codes) -> ObservedRows:
        """The rows of some classes."""
        s, complete, d = statistic, statistic.complete, statistic.shape[0]
        position = np.full(len(s.classes), -1)
        position[classes] = np.arange(len(classes))
        here = np.flatnonzero(position[s.codes] >= 0)
        unit = units.scale[:, None] * units.scale
        mean = np.where(complete.weight[:, None] > 0, complete.mean - units.origin + complete.mean_low, 0.0)
        own = complete.arrays()["scatter"]
        scatter = own if own.ndim == 2 else own[classes].sum(axis=0)
        patterns, pattern = np.unique(s.observed[here], axis=0, return_inverse=True)
        observed = patterns.reshape(-1, d) > 0
        order = np.argsort((~observed).sum(axis=1), kind="stable")
        observed, pattern = observed[order], np.argsort(order)[pattern.ravel()]
        cell_mean = np.where(s.observed[here] > 0, s.mean[here] - units.origin + s.mean_low[here], 0.0) / units.scale
        weights, scatters = np.zeros(len(observed)), np.zeros((len(observed), d, d))
        np.add.at(weights, pattern, s.weight[here])
        np.add.at(scatters, pattern, s.scatter[here] / unit)
        n, start, squares = _available(s, units.origin)
        # A pooled statistic has all squares in the first class, which is one of the classes then.
        total = n[classes].sum(axis=0)
        variance = squares[classes].sum(axis=0) / np.where(total > 0, total, 1.0) / units.scale**2
        variance = np.where(variance > rank_tolerance(d) ** 2, variance, 0.0)
        return cls(
            complete.weight[classes],
            mean[classes] / units.scale,
            scatter / unit,
            observed,
            weights,
            scatters,
            pattern,
            position[s.codes[here]],
            s.weight[here],
            cell_mean,
            start[classes] / units.scale,
            np.where(total > 0, variance, 1.0),
            np.where(squares.sum(axis=0) > 0, 1.0, 0.0),
        )

    @cached_property
    def batches(self) -> list[Batch]:
        """Patterns with similar numbers of missing columns, in order."""
        lacking = ~self.observed
        count = lacking.sum(axis=1)
        order = np.argsort(self.observed, axis=1, kind="stable")
        positions = np.where(np.take_along_axis(lacking, order, axis=1), order, self.observed.shape[1])
        out, low = [], 0
        while low < len(count):
            # Small batches are not worth their own steps.
            wide = count[min(low + SMALL_BATCH, len(count)) - 1]
            high = min(int(np.searchsorted(count, wide, side="right")), low + max(1, CHUNK // int(wide) ** 2))
            out.append(self._batch(low, high, positions[low:high, : count[high - 1]]))
            low = high
        return out

    def _batch(self, low: int, high: int, at: Codes) -> Batch:
        size = self.observed.shape[1] + 1
        cells = self.cells_of(low, high)
        some = np.flatnonzero(self.scattered[low:high])
        pairs = at[:, :, None] * size + at[:, None, :]
        return Batch(low, high, at, pairs, (at == size - 1).astype(np.float64), cells, self.pattern[cells] - low, some)

    def class_sums(self, values: Float) -> Float:
        """Sums of the values (C, d) of pairs of pattern and class, weighted, by class (K, d)."""
        out = np.zeros((len(self.weight), values.shape[1]))
        if len(values):
            order, starts, present = self._by_class
            out[present] = np.add.reduceat((self.cell_weight[:, None] * values)[order], starts, axis=0)
        return out

    @cached_property
    def _by_class(self) -> tuple[Codes, Codes, Codes]:
        order = np.argsort(self.code, kind="stable")
        present, starts = np.unique(self.code[order], return_index=True)
        return order, starts, present

    @cached_property
    def scattered(self) -> Mask:
        """Mask of the patterns with rows that differ (P,)."""
        return np.asarray(self.pattern_scatter.any(axis=(1, 2)))

    @cached_property
    def total_scatter(self) -> Float:
        """Scatter of all patterns (d, d)."""
        return np.asarray(self.pattern_scatter.sum(axis=0))

    @cached_property
    def _by_pattern(self) -> tuple[Codes, Codes]:
        order = np.argsort(self.pattern, kind="stable")
        return order, self.pattern[order]

    def cells_of(self, low: int, high: int) -> Codes:
        """Positions of the pairs of pattern and class whose pattern is low..high−1."""
        order, ordered = self._by_pattern
        return order[np.searchsorted(ordered, low) : np.searchsorted(ordered, high)]

    @cached_property
    def have_no_maximum(self) -> bool:
        """Whether there are few rows, and the likelihood of a covariance grows without bound.

        It does if a set S of columns has at least one row, and too few for a regular covariance: Σ_SS may approach a
        singular matrix in a direction that only rows with all of these columns notice.
        """
        k, d = self.mean.shape
        if self.class_weight.sum() > 5 * (d + k):
            return False
        varies = self.start_variance > 0
        sets = np.vstack([np.ones((1, d), dtype=bool), self.observed])
        weights = np.zeros((len(sets), k))
        weights[0] = self.weight
        np.add.at(weights, (self.pattern + 1, self.code), self.cell_weight)
        has = sets[:, varies].astype(np.float64)
        contained = has @ (1 - has).T == 0  # (set, set that has all of its columns)
        found = contained @ weights
        n = found.sum(axis=1)
        return bool(((n > 0) & (n - (found > 0).sum(axis=1) < has.sum(axis=1))).any())

    @cached_property
    def class_weight(self) -> Float:
        """Weight of all rows of each class (K,)."""
        return np.asarray(self.weight + np.bincount(self.code, self.cell_weight, minlength=len(self.weight)))
