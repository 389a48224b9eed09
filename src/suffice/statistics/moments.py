"""Per-class mean and centred sum of squares of each column: ``m2_kj = Σ w (x_j − mean_kj)²``.

Merging uses Chan's formula ``m2 = m2_a + m2_b + n_a n_b/(n_a + n_b) δ²``, never Σx², which cancels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np

from suffice import kernels
from suffice.exceptions import InputError
from suffice.numerics.compensated import Group, add, part_mean, product, two_sum
from suffice.numerics.number_range import FADED_SQUARE, SMALLEST_SQUARE, check_squares, constant_value
from suffice.numerics.types import Float, Matrix, SparseMatrix
from suffice.statistics.aggregation import Answer, by_class
from suffice.statistics.class_sums import class_sums_of_cells
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.exact_moments import EXACT_CELLS, class_moments
from suffice.statistics.statistic import LOW, ByColumn, Statistic
from suffice.statistics.subtraction import CONSTANT, subtract_part, subtract_weights, varying_columns
from suffice.tables.column_matrix import ColumnMatrix
from suffice.tables.sparse_cells import cell_columns, cell_rows, same_cells
from suffice.tables.table import is_sparse

__all__ = ["Moments"]

ONE_CLASS = ClassAxis(np.array([0]))


@dataclass(frozen=True, eq=False)
class Moments(Statistic):
    """Per-class mean and centred sum of squares of each column.

    Attributes
    ----------
    weight, weight_low : array of shape (K, d)
        Sum of the weights of the cells that are not missing, stored as the sum ``weight + weight_low``.
    mean, mean_low : array of shape (K, d)
        Mean, stored as the sum ``mean + mean_low``.
    m2, m2_low : array of shape (K, d)
        Centred sum of squares, stored as the sum ``m2 + m2_low``, so that removing rows keeps all its digits.

    See Also
    --------
    suffice.families.Gaussian : The family with this statistic.
    suffice.statistics.Scatter : Mean and scatter matrix of dependent columns.
    suffice.statistics.RowMoments : Moments of weighted rows and of the same rows without weights.

    Examples
    --------
    >>> axis = ClassAxis.of(["a", "b"])
    >>> rows = np.array([[1.0], [2.0], [6.0], [np.nan]])
    >>> moments = Moments.summarize(rows, Membership(axis, codes=np.array([0, 1, 1, 1])))
    >>> moments.weight.ravel(), moments.mean.ravel(), moments.m2.ravel()
    (array([1., 2.]), array([1., 4.]), array([0., 8.]))
    """

    weight: ByColumn
    mean: ByColumn
    mean_low: ByColumn
    m2: ByColumn
    m2_low: ByColumn
    _: KW_ONLY
    weight_low: ByColumn = LOW

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> Moments:
        """Return the statistic of no rows."""
        return cls(classes, *(np.zeros((len(classes), n_columns)) for _ in range(5)))

    @classmethod
    def summarize(
        cls, x: Matrix, members: Membership, columns: Sequence[object] | None = None, *, missing: bool = True
    ) -> Moments:
        """Return the statistic of a batch of rows (n, d); NaN is a missing cell unless ``missing`` is false."""
        if is_sparse(x):
            if x.shape[0] * x.shape[1] > EXACT_CELLS:
                with np.errstate(over="ignore", invalid="ignore"):
                    return cls._of_sparse(x, members, missing=missing).check(columns)
            x = x.toarray().astype(np.float64, copy=False)
        if isinstance(x, ColumnMatrix) and not x.is_stored and not _is_read_in_place(x, members):
            total = cls.zero(members.classes, x.shape[1])
            for start, part in x.blocks():
                some = members.rows(start, start + len(part))
                total = total.merge(cls.summarize(part.copied(), some, columns, missing=missing))
            return total.check(columns)
        moments, low = class_moments(x, members, missing=missing)
        return cls(members.classes, *moments, weight_low=low).check(columns)

    @classmethod
    def _of_sparse(cls, x: SparseMatrix, members: Membership, *, missing: bool) -> Moments:
        """Merge the moments of the stored cells with those of the zeros that are not stored."""
        holes = np.isnan(x.data)
        if holes.any() and not missing:
            raise InputError("X holds NaN, but this model does not support missing values.")
        stored = same_cells(x, (~holes).astype(np.float64))
        data = np.where(holes, 0.0, x.data).astype(np.float64)
        size = class_sums_of_cells(stored, members)
        safe = np.where(size > 0, size, 1.0)
        lost = class_sums_of_cells(same_cells(x, holes.astype(np.float64)), members) if holes.any() else 0.0
        zeros = subtract_part(np.broadcast_to(members.class_weights()[:, None], size.shape), size + lost)
        mean, low, m2 = class_sums_of_cells(same_cells(x, data), members) / safe, *np.zeros((2, *size.shape))
        if members.codes is not None:
            # A second pass over the stored cells centres them on the mean of their class and column.
            rows, columns = cell_rows(x), cell_columns(x)
            away = np.where(holes, 0.0, data - mean[np.maximum(members.codes[rows], 0), columns])
            low = class_sums_of_cells(same_cells(x, away), members) / safe
            m2 = class_sums_of_cells(same_cells(x, away**2), members)
        else:
            for k in range(len(members.classes)):
                away = np.where(holes, 0.0, data - mean[k, cell_columns(x)])
                low[k] = class_sums_of_cells(same_cells(x, away), members)[k] / safe[k]
                m2[k] = class_sums_of_cells(same_cells(x, away**2), members)[k]
        m2 = np.maximum(m2 - size * low**2, 0.0)
        nothing = np.zeros_like(mean)
        return cls(members.classes, size, *two_sum(mean, low), m2, nothing).merge(
            cls(members.classes, zeros, nothing, nothing, nothing, nothing)
        )

    @classmethod
    def of_answer(cls, answer: Answer, names: Sequence[str]) -> Moments:
        """Return the statistic from counts, means and variances computed by a query engine; see `moments_by_class`."""
        axis, count = by_class(answer, "count", len(names), names)
        _, mean = by_class(answer, "mean", len(names), names)
        _, low = by_class(answer, "mean_low", len(names), names)
        _, variance = by_class(answer, "variance", len(names), names)
        return cls(axis, count, mean, low, count * variance, np.zeros_like(mean))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of columns."""
        return self.mean.shape[1:]

    def check(self, columns: Sequence[object] | None = None) -> Moments:
        """Raise `InputError` if the squares of a column overflowed or underflowed.

        In a class that varies far less than all rows together, the squares are set to zero.
        """
        pooled, in_range = self._pool
        if in_range:
            return self
        check_squares(pooled[3], range(self.shape[0]) if columns is None else columns)
        tiny = (self.m2 > 0) & (self.m2 < SMALLEST_SQUARE)
        if not tiny.any():
            return self
        return replace(self, m2=np.where(tiny, 0.0, self.m2), m2_low=np.where(tiny, 0.0, self.m2_low))

    def rounding(self) -> dict[str, Float]:
        """Return the magnitude of the terms of each entry; deviations cancel in their sum."""
        sizes = super().rounding()
        spread = np.sqrt(self.m2 / np.where(self.weight > 0, self.weight, 1.0)).max(axis=0, initial=0.0)
        return sizes | {"mean": sizes["mean"] + spread}

    def pooled(self) -> Moments:
        """Return the moments of all classes as one, about the common mean, on an axis of one unnamed class."""
        return self._pooled

    @cached_property
    def _pooled(self) -> Moments:
        weight, mean, low, m2 = self._pool[0][:, None]
        return Moments(ONE_CLASS, weight, mean, low, m2, np.zeros_like(m2))

    @cached_property
    def _pool(self) -> tuple[Float, bool]:
        """Weight, mean, its low part and m2 of all rows (4, d), and whether all squares are in range."""
        return kernels.pool_moments(self.weight, self.mean, self.mean_low, self.m2)

    def _group(self) -> Group:
        return Group(self.weight, self.weight_low, self.mean, self.mean_low)

    def _merged(self, other: Moments) -> Moments:
        weight, weight_low, *parts = kernels.join_moments(self._parts(), other._parts())
        return Moments(self.classes, weight, *parts, weight_low=weight_low)

    def with_row(self, row: Float, code: int) -> Moments | None:
        """Return the statistic with one more row; see `Statistic.with_row`."""
        joined = kernels.join_row(self._parts(), row, code) if type(self) is Moments else None
        if joined is None:
            return None
        parts, pooled = joined
        parts.setflags(write=False)
        weight, weight_low, mean, mean_low, m2, m2_low = parts
        return Moments._made(
            classes=self.classes,
            weight=weight,
            mean=mean,
            mean_low=mean_low,
            m2=m2,
            m2_low=m2_low,
            weight_low=weight_low,
            _pool=(pooled, True),
        )

    def _parts(self) -> tuple[Float, Float, Float, Float, Float, Float]:
        return self.weight, self.weight_low, self.mean, self.mean_low, self.m2, self.m2_low

    def _subtracted(self, other: Moments, columns: Sequence[object]) -> Moments:
        place = self.describe_position(columns)
        left = subtract_weights(self.weight, self.weight_low, other.weight, other.weight_low, place)
        joint = part_mean(self._group(), other._group(), *left)
        m2 = add(self.m2, self.m2_low, -other.m2, -other.m2_low)
        m2 = add(*m2, *(-part for part in joint.squares()))
        varies = varying_columns(self.m2, *m2, self.mean, self.weight, place) & (joint.weight > 0)
        squares = (np.where(varies, part, 0.0) for part in m2)
        moments = Moments(self.classes, joint.weight, joint.mean, joint.mean_low, *squares, weight_low=joint.weight_low)
        return moments.levelled(self)

    def levelled(self, before: Moments) -> Moments:
        """Set the class means of columns that have become constant to their common mean; they differ by rounding."""
        pooled = self.pooled()
        still = (pooled.m2 > 0) & (pooled.m2 <= CONSTANT * before.pooled().m2)
        if not still.any():
            return self
        parts = (self.mean, pooled.mean), (self.mean_low, pooled.mean_low), (self.m2, 0.0), (self.m2_low, 0.0)
        mean, low, m2, m2_low = (np.where(still, common, mine) for mine, common in parts)
        return replace(self, mean=mean, mean_low=low, m2=m2, m2_low=m2_low)

    def faded(self) -> Self:
        """Return the statistic after `scale`; a column whose differences have faded is constant."""
        out = super().faded()
        pooled = out.pooled()
        still = (pooled.m2 > 0) & (pooled.m2 < FADED_SQUARE)
        if not still.any():
            return out
        mean = np.where(still & (out.weight > 0), constant_value(pooled.weight, pooled.mean), out.mean)
        low, m2, m2_low = (np.where(still, 0.0, part) for part in (out.mean_low, out.m2, out.m2_low))
        return replace(out, mean=mean, mean_low=low, m2=m2, m2_low=m2_low)

    def _scaled(self, factor: float) -> Moments:
        if factor == 0:
            return Moments.zero(self.classes, self.shape[0])
        m2 = product(self.m2, self.m2_low, np.asarray(factor))
        weight, low = product(self.weight, self.weight_low, np.asarray(factor))
        return Moments(self.classes, weight, self.mean, self.mean_low, *m2, weight_low=low)


def _is_read_in_place(x: ColumnMatrix, members: Membership) -> bool:
    """Whether one pass over columns with validity bitmaps is enough; weights and small tables need a second one."""
    plain = members.weights is None and members.soft is None
    return plain and x.lying is not None and x.shape[0] * x.shape[1] > EXACT_CELLS
