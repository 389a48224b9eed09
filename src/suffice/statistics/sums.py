"""Per-class weight and column sums: ``n_k = Σ w`` and ``t_k = Σ w x``.

With no columns it is the statistic of the class prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import kernels
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.remaining import nothing_left, remaining_weight
from suffice.statistics.sparse_sums import class_sums_of_cells
from suffice.statistics.statistic import ByClass, ByColumn, Statistic
from suffice.statistics.table import is_sparse

__all__ = ["Sums"]

Float = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sums(Statistic):
    """Per-class sums.

    Attributes
    ----------
    weight : array of shape (K,)
    total : array of shape (K, d)

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

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> Sums:
        """The statistic of no rows."""
        return cls(classes, np.zeros(len(classes)), np.zeros((len(classes), n_columns)))

    @classmethod
    def summarize(cls, x: Any, members: Membership) -> Sums:
        """The statistic of a batch of rows (n, d)."""
        if is_sparse(x):
            return cls(members.classes, members.class_weights(), class_sums_of_cells(x, members))
        total = kernels.class_sums(
            x, len(members.classes), codes=members.codes, soft=members.soft, weights=members.weights
        )
        return cls(members.classes, members.class_weights(), total)

    @classmethod
    def of_classes(cls, members: Membership) -> Sums:
        """The class weights alone."""
        return cls(members.classes, members.class_weights(), np.zeros((len(members.classes), 0)))

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of columns."""
        return self.total.shape[1:]

    def _merged(self, other: Sums) -> Sums:
        return Sums(self.classes, self.weight + other.weight, self.total + other.total)

    def _subtracted(self, other: Sums, columns: Sequence[object]) -> Sums:
        weight = remaining_weight(self.weight, other.weight, self._place(columns))
        total = self.total - other.total
        total = np.where((weight[:, None] > 0) & ~nothing_left(self.total, total), total, 0.0)
        return Sums(self.classes, weight, total)

    def _scaled(self, factor: float) -> Sums:
        return Sums(self.classes, self.weight * factor, self.total * factor)
