"""Per-class mean and scatter matrix: ``S_k = Σ w (x − mean_k)(x − mean_k)ᵀ``.

`Scatter` has a matrix (d, d) for each class; `PooledScatter` has their sum, which is all that a shared covariance
needs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from suffice import kernels
from suffice.exceptions import MergeError, columns_at
from suffice.numerics.compensated import Group, Joint, add, part_mean, product
from suffice.numerics.number_range import FADED_SQUARE, SMALLEST, SMALLEST_SQUARE, check_squares, constant_value
from suffice.numerics.types import Codes, Float, Mask, Selection
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.folds import of_folds
from suffice.statistics.scatter_sums import (
    completed,
    exact_scatter,
    is_small,
    outer_products,
    scatter_in_one_pass,
    summed,
)
from suffice.statistics.statistic import LOW, ByClass, ByColumn, ByPair, Pairs, Statistic
from suffice.statistics.subtraction import CONSTANT, subtract_weights, varying_columns
from suffice.statistics.weights import class_weights

__all__ = ["PooledScatter", "Scatter", "varying_pairs"]


class GrandMean(NamedTuple):
    """Mean of all rows, ``mean + low`` (d,), and the offset ``away`` of each class mean from it (K, d)."""

    mean: Float
    low: Float
    away: Float


class _Grand(NamedTuple):
    """Grand mean, whether squares overflowed or underflowed, and whether a column hardly varies in any matrix."""

    mean: GrandMean
    out_of_range: bool
    flat: bool


@dataclass(frozen=True, eq=False)
class _ClassMeans(Statistic):
    """Weight and mean of each class, which both layouts share."""

    weight: ByClass
    mean: ByColumn
    mean_low: ByColumn
    _: KW_ONLY
    weight_low: ByClass = LOW

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of columns."""
        return self.mean.shape[1:]

    def group(self) -> Group:
        """Return weight and mean in the form that `join_means` takes."""
        return Group(self.weight[:, None], self.weight_low[:, None], self.mean, self.mean_low)

    def rounding(self) -> dict[str, Float]:
        """Return the magnitude of the terms of each entry; deviations cancel in their sums."""
        sizes = super().rounding()
        root = np.sqrt(np.abs(np.diagonal(self.arrays()["scatter"], axis1=-2, axis2=-1))).reshape(-1, *self.shape)
        products = (root[:, :, None] * root[:, None, :]).max(axis=0, initial=0.0)
        spread = root.max(axis=0, initial=0.0) / np.sqrt(max(float(self.weight.sum()), 1.0))
        return sizes | {"mean": sizes["mean"] + spread, "scatter": products}

    def check(self, columns: Sequence[object] | None = None) -> Self:
        """Raise `InputError` if the squares of a column overflowed or underflowed.

        In a class that varies far less than all rows together, the products are set to zero.
        """
        if not self._grand.out_of_range:
            return self
        scatter = self.arrays()["scatter"]
        squares = np.diagonal(scatter, axis1=-2, axis2=-1)
        with np.errstate(over="ignore", invalid="ignore"):
            away = self.grand_mean().away
            apart = self.weight[:, None] * away**2
            apart = np.where((apart == 0) & (away != 0) & (self.weight[:, None] > 0), SMALLEST, apart)
            total = squares.reshape(-1, *self.shape).sum(axis=0) + apart.sum(axis=0)
        check_squares(total, range(self.shape[0]) if columns is None else columns)
        tiny = (squares > 0) & (squares < SMALLEST_SQUARE)
        if not tiny.any():
            return self
        return self._replaced({}, self._products_without(tiny[..., :, None] | tiny[..., None, :]))

    def marking_underflow(self, x: Float) -> Self:
        """Mark squares that underflowed in the products; a second pass distinguishes them from a constant column."""
        if len(x) < 2 or not self._grand.flat:
            return self
        scatter = self.arrays()["scatter"]
        squares = np.diagonal(scatter, axis1=-2, axis2=-1)
        still = np.flatnonzero((squares < SMALLEST_SQUARE).reshape(-1, *self.shape).all(axis=0))
        if not len(still):
            return self
        some = x[:, still]
        whole = np.where(np.isnan(some).any(axis=1), -1, 0)
        again = kernels.class_moments(some, 1, codes=whole)
        lost = still[(again.m2[0] > 0) & (again.m2[0] < SMALLEST_SQUARE)]
        marked = scatter.copy()
        marked[..., lost, lost] = SMALLEST
        return self._replaced({}, {"scatter": marked}) if len(lost) else self

    def levelled(self, before: _ClassMeans) -> Self:
        """Set the class means of columns that have become constant to their common mean; they differ by rounding."""
        mine, theirs = self._total_squares(), before._total_squares()
        still = (mine > 0) & (mine <= CONSTANT * theirs)
        if not still.any():
            return self
        grand = self.grand_mean()
        mean, low = np.where(still, grand.mean, self.mean), np.where(still, grand.low, self.mean_low)
        return replace(self, mean=mean, mean_low=low)

    def faded(self) -> Self:
        """Return the statistic after `scale`; a column whose differences have faded is constant."""
        left = super().faded()
        if left is not self:
            return left.faded()
        still = self._faded_columns()
        if not still.any():
            return self
        value = constant_value(float(self.weight.sum()), self.grand_mean().mean)
        mean = np.where(still & (self.weight[:, None] > 0), value, self.mean)
        means = {"mean": mean, "mean_low": np.where(still, 0.0, self.mean_low)}
        return self._replaced({}, means | self._products_without(still[:, None] | still[None, :]))

    def _products_without(self, where: Mask) -> dict[str, Float]:
        """Return all sums of products, with zeros where a mask (..., d, d) is true."""
        products = {name: array for name, array in self.arrays().items() if not name.startswith(("weight", "mean"))}
        return {name: np.where(where, 0.0, array) for name, array in products.items()}

    def _faded_columns(self) -> Mask:
        """Return which columns vary so little that their squares would leave the range of float64 (d,)."""
        squares = self._total_squares()
        return (squares > 0) & (squares < FADED_SQUARE)

    def _total_squares(self) -> Float:
        """Return the sum of squares of each column about the mean of all rows (d,)."""
        squares = np.diagonal(self.arrays()["scatter"], axis1=-2, axis2=-1).reshape(-1, *self.shape).sum(axis=0)
        return np.asarray(squares + self.weight @ self.grand_mean().away ** 2)

    def grand_mean(self) -> GrandMean:
        """Return the mean of all rows and the offset of each class mean from it."""
        return self._grand.mean

    @cached_property
    def _grand(self) -> _Grand:
        scatter = self.arrays()["scatter"]
        scatter = scatter if scatter.ndim == 3 else scatter[None]
        mean, away, out_of_range, flat = kernels.grand_mean(self.weight, self.mean, self.mean_low, scatter)
        for array in (mean, away):
            array.setflags(write=False)
        return _Grand(GrandMean(mean[0], mean[1], away), out_of_range, flat)

    def _joined(self, other: _ClassMeans) -> dict[str, Float]:
        """Return the fields of the merged statistic."""
        weight, mean, *scatter = kernels.join_scatter(self._parts(), other._parts())
        if self.arrays()["scatter"].ndim == 2:
            scatter = [part[0] for part in scatter]
        names = "weight", "weight_low", "mean", "mean_low", "scatter", "scatter_low"
        return dict(zip(names, (*weight, *mean, *scatter), strict=True))

    def with_row(self, row: Float, code: int) -> Self | None:
        """Return the statistic with one more row; see `Statistic.with_row`."""
        kind = type(self)
        joined = kernels.join_row_scatter(self._parts(), row, code) if kind in (Scatter, PooledScatter) else None
        if joined is None:
            return None
        weight, mean, scatter, low, grand, away, flat = joined
        if kind is PooledScatter:
            scatter, low = scatter[0], low[0]
        for array in (weight, mean, scatter, low, grand, away):
            array.setflags(write=False)
        return self._made(
            classes=self.classes,
            weight=weight[0],
            mean=mean[0],
            mean_low=mean[1],
            scatter=scatter,
            scatter_low=low,
            weight_low=weight[1],
            _grand=_Grand(GrandMean(grand[0], grand[1], away), out_of_range=False, flat=flat),
        )

    def _parts(self) -> tuple[Float, Float, Float, Float, Float, Float]:
        fields = vars(self)
        scatter = (fields["scatter"], fields["scatter_low"])
        high, low = scatter if scatter[0].ndim == 3 else (part[None] for part in scatter)
        return self.weight, self.weight_low, self.mean, self.mean_low, high, low


@dataclass(frozen=True, eq=False)
class Scatter(_ClassMeans):
    """Per-class mean and scatter matrix.

    Attributes
    ----------
    weight, weight_low : array of shape (K,)
        Weight, stored as the sum ``weight + weight_low``.
    mean, mean_low : array of shape (K, d)
        Mean, stored as the sum ``mean + mean_low``.
    scatter, scatter_low : array of shape (K, d, d)
        Scatter, stored as the sum ``scatter + scatter_low``.

    See Also
    --------
    suffice.statistics.PooledScatter : Has one matrix for all classes.
    suffice.statistics.Moments : Mean and variance of independent columns.
    suffice.statistics.PatternScatter : Scatter of rows with missing cells.
    suffice.families.MultivariateGaussian : The family with this statistic.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.statistics import ClassAxis, Membership, Scatter
    >>> members = Membership(ClassAxis.of(["a"]), codes=np.array([0, 0]))
    >>> scatter = Scatter.summarize(np.array([[1.0, 0.0], [3.0, 4.0]]), members)
    >>> scatter.mean.tolist(), scatter.scatter[0].tolist()
    ([[2.0, 2.0]], [[2.0, 4.0], [4.0, 8.0]])
    """

    scatter: ByPair
    scatter_low: ByPair

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> Scatter:
        """Return the statistic of no rows."""
        k, d = len(classes), n_columns
        return cls(classes, np.zeros(k), *np.zeros((2, k, d)), *np.zeros((2, k, d, d)))

    @classmethod
    def summarize(cls, x: Float, members: Membership, columns: Sequence[object] | None = None) -> Scatter:
        """Return the statistic of a batch of rows (n, d).

        >>> rows = np.array([[0.0, 0.0], [2.0, 4.0]])
        >>> one = Membership(ClassAxis.of(["a"]), codes=np.array([0, 0]))
        >>> Scatter.summarize(rows, one).scatter[0]
        array([[2., 4.],
               [4., 8.]])
        """
        k = len(members.classes)
        if is_small(x, members):
            *parts, low = exact_scatter(x, members, matrices=k)
            return cls(members.classes, *parts, weight_low=low).marking_underflow(x).check(columns)
        done = scatter_in_one_pass(x, members, np.arange(k))
        scatter, low = completed(done.total, done.total_low, (done.squares, done.squares_low))
        weight, weight_low = class_weights(members)
        statistic = cls(members.classes, weight, done.mean, done.mean_low, scatter, low, weight_low=weight_low)
        return statistic.marking_underflow(x).check(columns)

    def within(self) -> tuple[Float, Float]:
        """Return the scatter about the class means, summed over the classes (d, d), in two doubles."""
        return summed(self.scatter, self.scatter_low)

    def _merged(self, other: Scatter) -> Scatter:
        return Scatter(self.classes, **self._joined(other))

    def _subtracted(self, other: Scatter, columns: Sequence[object]) -> Scatter:
        joint = _part(self, other, columns)
        scatter = add(self.scatter, self.scatter_low, -other.scatter, -other.scatter_low)
        scatter = add(*scatter, *(-part for part in outer_products(joint, len(self.classes))))
        left = (joint.weight[:, :, None] > 0) & varying_pairs(self, scatter, columns)
        parts = (np.where(left, part, 0.0) for part in scatter)
        return Scatter(self.classes, *_means(joint), *parts, weight_low=joint.weight_low[:, 0]).levelled(self)

    def _scaled(self, factor: float) -> Scatter:
        if factor == 0:
            return Scatter.zero(self.classes, self.shape[0])
        scatter = product(self.scatter, self.scatter_low, np.asarray(factor))
        weight, low = product(self.weight, self.weight_low, np.asarray(factor))
        return Scatter(self.classes, weight, self.mean, self.mean_low, *scatter, weight_low=low)


@dataclass(frozen=True, eq=False)
class PooledScatter(_ClassMeans):
    """Mean of each class, and one scatter matrix about the class means for all classes.

    Attributes
    ----------
    weight, weight_low : array of shape (K,)
        Weight, stored as the sum ``weight + weight_low``.
    mean, mean_low : array of shape (K, d)
        Mean, stored as the sum ``mean + mean_low``.
    scatter, scatter_low : array of shape (d, d)
        Scatter, stored as the sum ``scatter + scatter_low``.

    See Also
    --------
    suffice.statistics.Scatter : Has a matrix for each class.
    suffice.families.MultivariateGaussian : The family with this statistic for a shared covariance.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.statistics import ClassAxis, Membership, PooledScatter
    >>> rows = np.array([[1.0, 0.0], [3.0, 4.0], [9.0, 5.0], [9.0, 7.0]])
    >>> pooled = PooledScatter.summarize(rows, Membership(ClassAxis.of(["a", "b"]), codes=np.array([0, 0, 1, 1])))
    >>> pooled.mean.tolist(), pooled.scatter.tolist()
    ([[2.0, 2.0], [9.0, 6.0]], [[2.0, 4.0], [4.0, 10.0]])
    """

    scatter: Pairs
    scatter_low: Pairs

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> PooledScatter:
        """Return the statistic of no rows."""
        k, d = len(classes), n_columns
        return cls(classes, np.zeros(k), *np.zeros((2, k, d)), *np.zeros((2, d, d)))

    @classmethod
    def of(cls, own: Scatter) -> PooledScatter:
        """Return the statistic of the same rows from their scatter in each class."""
        return cls(own.classes, own.weight, own.mean, own.mean_low, *own.within(), weight_low=own.weight_low)

    @classmethod
    def summarize(cls, x: Float, members: Membership, columns: Sequence[object] | None = None) -> PooledScatter:
        """Return the statistic of a batch of rows (n, d)."""
        if is_small(x, members):
            weight, mean, mean_low, scatter, low, weight_low = exact_scatter(x, members, matrices=1)
            statistic = cls(members.classes, weight, mean, mean_low, scatter[0], low[0], weight_low=weight_low)
            return statistic.marking_underflow(x).check(columns)
        done = scatter_in_one_pass(x, members, np.zeros(len(members.classes), dtype=np.int64))
        scatter, low = completed(done.total[0], done.total_low[0], summed(done.squares, done.squares_low))
        weight, weight_low = class_weights(members)
        statistic = cls(members.classes, weight, done.mean, done.mean_low, scatter, low, weight_low=weight_low)
        return statistic.marking_underflow(x).check(columns)

    @classmethod
    def summarize_folds(
        cls, x: Float, members: Membership, folds: Codes, n_folds: int, columns: Sequence[object]
    ) -> list[PooledScatter]:
        """Return the statistic of each fold of the rows, in one pass; a fold of −1 excludes a row."""
        if is_small(x, members):
            rows_of_fold = [np.flatnonzero(folds == f) for f in range(n_folds)]
            return [cls.summarize(x[rows], members.take(rows), columns) for rows in rows_of_fold]
        k = len(members.classes)
        done = scatter_in_one_pass(x, of_folds(members, folds, n_folds), np.repeat(np.arange(n_folds), k))
        out = []
        for f in range(n_folds):
            here = slice(f * k, (f + 1) * k)
            whole = completed(done.total[f], done.total_low[f], summed(done.squares[here], done.squares_low[here]))
            fold = cls(members.classes, done.weight[here], done.mean[here], done.mean_low[here], *whole)
            flat = (np.diagonal(fold.scatter) < SMALLEST_SQUARE).any()
            out.append((fold.marking_underflow(x[folds == f]) if flat else fold).check(columns))
        return out

    def within(self) -> tuple[Float, Float]:
        """Return the scatter about the class means, summed over the classes (d, d), in two doubles."""
        return self.scatter, self.scatter_low

    def taking(self, at: Selection) -> Self:
        """Return the statistic of some of the classes; the others must be empty."""
        kept = super().taking(at)
        if kept.weight.sum() < self.weight.sum():
            raise MergeError(
                "Cannot drop classes with rows from a shared scatter matrix: their contribution is not stored "
                "separately. Remove their rows first."
            )
        return kept

    def _merged(self, other: PooledScatter) -> PooledScatter:
        return PooledScatter(self.classes, **self._joined(other))

    def _subtracted(self, other: PooledScatter, columns: Sequence[object]) -> PooledScatter:
        joint = _part(self, other, columns)
        scatter = add(self.scatter, self.scatter_low, -other.scatter, -other.scatter_low)
        scatter = add(*scatter, *(-part[0] for part in outer_products(joint, 1)))
        left = bool(joint.weight.any()) & varying_pairs(self, scatter, columns)
        parts = (np.where(left, part, 0.0) for part in scatter)
        return PooledScatter(self.classes, *_means(joint), *parts, weight_low=joint.weight_low[:, 0]).levelled(self)

    def _scaled(self, factor: float) -> PooledScatter:
        if factor == 0:
            return PooledScatter.zero(self.classes, self.shape[0])
        scatter = product(self.scatter, self.scatter_low, np.asarray(factor))
        weight, low = product(self.weight, self.weight_low, np.asarray(factor))
        return PooledScatter(self.classes, weight, self.mean, self.mean_low, *scatter, weight_low=low)


def varying_pairs(whole: Scatter | PooledScatter, left: tuple[Float, Float], columns: Sequence[object]) -> Mask:
    """Return where both columns of an entry (..., d, d) vary after a subtraction; elsewhere it is a rounding error."""
    before, after, after_low = (np.diagonal(each, axis1=-2, axis2=-1) for each in (whole.scatter, *left))
    mean, weight = whole.mean, whole.weight[:, None]
    if before.ndim == 2:
        varies = varying_columns(before, after, after_low, mean, weight, whole.describe_position(columns))
    else:
        size, largest = weight.sum(), np.abs(mean).max(axis=0, initial=0.0)
        varies = varying_columns(
            before, after, after_low, largest, size, lambda j: f"all classes, {columns_at(columns, [j])}"
        )
    return np.asarray(varies[..., :, None] & varies[..., None, :])


def _part(whole: _ClassMeans, part: _ClassMeans, columns: Sequence[object]) -> Joint:
    left, low = subtract_weights(
        whole.weight, whole.weight_low, part.weight, part.weight_low, whole.describe_position(columns)
    )
    return part_mean(whole.group(), part.group(), left[:, None], low[:, None])


def _means(joint: Joint) -> tuple[Float, Float, Float]:
    return joint.weight[:, 0], joint.mean, joint.mean_low
