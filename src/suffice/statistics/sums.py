"""Per-class weight and column sums: ``n_k = Σ w`` and ``t_k = Σ w x``.

With no columns it is the statistic of the class prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np

from suffice.exceptions import InputError
from suffice.numerics.compensated import add, product
from suffice.numerics.types import Float, Matrix
from suffice.statistics.class_sums import class_sums
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.statistic import LOW, ByClass, ByColumn, Statistic
from suffice.statistics.subtraction import is_rounding_error, subtract_weights
from suffice.statistics.weights import class_weights
from suffice.tables.table import is_sparse

__all__ = ["Sums"]


@dataclass(frozen=True, eq=False)
class Sums(Statistic):
    """Per-class weight and column sums.

    Attributes
    ----------
    weight, weight_low : array of shape (K,)
        Weight, stored as the sum ``weight + weight_low``.
    total : array of shape (K, d)
        Sum of each column.

    See Also
    --------
    suffice.statistics.CellSums : Sums of columns with missing cells, and of functions of the cells.
    suffice.statistics.CountVectors : Sums with the multinomial coefficients.

    Examples
    --------
    >>> axis = ClassAxis.of(["a", "b"])
    >>> rows = np.array([[1.0], [2.0], [4.0]])
    >>> sums = Sums.summarize(rows, Membership(axis, codes=np.array([0, 1, 1])))
    >>> sums.weight, sums.total.ravel()
    (array([1., 2.]), array([1., 6.]))
    """

    weight: ByClass
    total: ByColumn
    _: KW_ONLY
    weight_low: ByClass = LOW

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> Sums:
        """Return the statistic of no rows."""
        return cls(classes, np.zeros(len(classes)), np.zeros((len(classes), n_columns)))

    @classmethod
    def summarize(cls, x: Matrix, members: Membership, *, frequencies: bool = False) -> Sums:
        """Return the statistic of a batch of rows (n, d).

        Raises `InputError` if ``frequencies`` is true and any value is negative, missing or infinite.
        """
        weight, low = class_weights(members)
        total, flags = class_sums(x, members)
        if frequencies and any(flags):
            raise InputError("Frequencies must be finite numbers of at least 0; some values are not.")
        if flags.missing and is_sparse(x):  # a sum with a missing cell is NaN, as in a dense matrix
            total[class_sums(x, members, missing=True)[0] > 0] = np.nan
        return cls(members.classes, weight, total, weight_low=low)

    @classmethod
    def of_classes(cls, members: Membership) -> Sums:
        """Return the statistic without columns: the class weights alone."""
        weight, low = class_weights(members)
        return cls(members.classes, weight, np.zeros((members.n_classes, 0)), weight_low=low)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of columns."""
        return self.total.shape[1:]

    def with_row(self, row: Float, code: int) -> Sums:
        """Return the statistic with one more row; see `Statistic.with_row`."""
        weight, low, total = self.weight.copy(), self.weight_low.copy(), self.total
        weight[code], low[code] = add(float(weight[code]), float(low[code]), 1.0)  # type: ignore[arg-type]
        if len(row):
            total = total.copy()
            total[code] += row
        for array in (weight, low, total):
            array.setflags(write=False)
        return Sums._made(classes=self.classes, weight=weight, total=total, weight_low=low)

    def _merged(self, other: Sums) -> Sums:
        weight, low = add(self.weight, self.weight_low, other.weight, other.weight_low)
        return Sums(self.classes, weight, self.total + other.total, weight_low=low)

    def _subtracted(self, other: Sums, columns: Sequence[object]) -> Sums:
        weight, low = subtract_weights(
            self.weight, self.weight_low, other.weight, other.weight_low, self.describe_position(columns)
        )
        total = self.total - other.total
        total = np.where((weight[:, None] > 0) & ~is_rounding_error(self.total, total), total, 0.0)
        return Sums(self.classes, weight, total, weight_low=low)

    def _scaled(self, factor: float) -> Sums:
        weight, low = product(self.weight, self.weight_low, np.asarray(factor))
        return Sums(self.classes, weight, self.total * factor, weight_low=low)
