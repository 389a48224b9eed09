"""Per-class sums of count vectors and of the logarithms of their multinomial coefficients.

``t_k = Σ w x`` and ``c_k = Σ w log( (Σ_j x_j)! / Π_j x_j! )``. The evidence of a multinomial needs the second.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cache
from typing import Self

import numpy as np
import scipy

from suffice import kernels
from suffice.exceptions import InputError
from suffice.numerics.compensated import add, product
from suffice.numerics.types import Array, Float, Index, Matrix
from suffice.statistics.class_sums import class_sums
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.statistic import LOW, ByClass, ByColumn, Statistic, has_faded
from suffice.statistics.subtraction import is_rounding_error, subtract_weights
from suffice.statistics.weights import class_weights
from suffice.tables.sparse_cells import same_cells
from suffice.tables.table import is_sparse

__all__ = ["CountVectors", "log_coefficients", "log_factorial"]


@dataclass(frozen=True, eq=False)
class CountVectors(Statistic):
    """Per-class sums of count vectors, and of the logarithms of their multinomial coefficients.

    Attributes
    ----------
    weight, weight_low : array of shape (K,)
        Weight, stored as the sum ``weight + weight_low``.
    total : array of shape (K, d)
        Sum of each column.
    log_coefficient : array of shape (K,)
        Sum of the logarithms of the multinomial coefficients.

    See Also
    --------
    suffice.families.Multinomial : The family with this statistic.
    suffice.statistics.WordSums : Counts of the words of documents.
    suffice.statistics.Sums : Sums without the multinomial coefficients.

    Examples
    --------
    >>> axis = ClassAxis.of(["a"])
    >>> rows = np.array([[2.0, 0.0], [1.0, 1.0]])
    >>> vectors = CountVectors.summarize(rows, Membership(axis, codes=np.array([0, 0])))
    >>> vectors.total, np.exp(vectors.log_coefficient).round(12)
    (array([[3., 1.]]), array([2.]))
    """

    weight: ByClass
    total: ByColumn
    log_coefficient: ByClass
    _: KW_ONLY
    weight_low: ByClass = LOW

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> CountVectors:
        """Return the statistic of no rows."""
        k = len(classes)
        return cls(classes, np.zeros(k), np.zeros((k, n_columns)), np.zeros(k))

    @classmethod
    def summarize(cls, x: Matrix, members: Membership) -> CountVectors:
        """Return the statistic of a batch of rows (n, d)."""
        k = len(members.classes)
        total, _ = class_sums(x, members)
        with np.errstate(over="ignore", invalid="ignore"):  # excluded rows may hold any value
            coefficients = log_coefficients(x)
        each = kernels.class_sums(coefficients[:, None], k, **members.arrays)
        weight, low = class_weights(members)
        return cls(members.classes, weight, total, each[:, 0], weight_low=low)

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of columns."""
        return self.total.shape[1:]

    def _columns(self, at: Index) -> Self:
        if len(at) < self.shape[0]:
            raise InputError(
                f"Cannot select {len(at)} of {self.shape[0]} columns of CountVectors: its multinomial coefficients are "
                "those of whole rows. Select all columns, in any order."
            )
        return super()._columns(at)

    def _merged(self, other: CountVectors) -> CountVectors:
        weight, low = add(self.weight, self.weight_low, other.weight, other.weight_low)
        coefficient = self.log_coefficient + other.log_coefficient
        return CountVectors(self.classes, weight, self.total + other.total, coefficient, weight_low=low)

    def _subtracted(self, other: CountVectors, columns: Sequence[object]) -> CountVectors:
        weight, low = subtract_weights(
            self.weight, self.weight_low, other.weight, other.weight_low, self.describe_position(columns)
        )
        left = weight > 0
        coefficient = self.log_coefficient - other.log_coefficient
        coefficient = np.where(left & ~is_rounding_error(self.log_coefficient, coefficient), coefficient, 0.0)
        total = self.total - other.total
        total = np.where(left[:, None] & ~is_rounding_error(self.total, total), total, 0.0)
        return CountVectors(self.classes, weight, total, coefficient, weight_low=low)

    def faded(self) -> Self:
        """Return the statistic after `scale`, without counts that have lost their weight."""
        out, gone = super().faded(), has_faded(self.total)
        return replace(out, total=np.where(gone, 0.0, out.total)) if gone.any() else out

    def _scaled(self, factor: float) -> CountVectors:
        weight, low = product(self.weight, self.weight_low, np.asarray(factor))
        return CountVectors(self.classes, weight, self.total * factor, self.log_coefficient * factor, weight_low=low)


@cache
def _small_factorials() -> Float:
    """log 0!, log 1!, …: most counts are small, and a lookup is fast."""
    return np.asarray(scipy.special.gammaln(np.arange(1.0, 4097.0)))


def log_factorial(x: Array) -> Float:
    """Return log x! of each value; log Γ(x + 1) for values that are not counts.

    >>> np.exp(log_factorial(np.array([0.0, 3.0, 0.5]))).round(6)
    array([1.      , 6.      , 0.886227])
    """
    x = np.asarray(x, dtype=np.float64)
    known = _small_factorials()
    small = (x >= 0) & (x < len(known))
    at = np.where(small, x, 0.0).astype(np.intp) if not small.all() else x.astype(np.intp)
    out: Float = known.take(at)
    odd = ~small | (at != x)
    if odd.any():
        out[odd] = scipy.special.gammaln(x[odd] + 1)
    return out


def log_coefficients(x: Matrix) -> Float:
    """Return log (Σ_j x_j)! / Π_j x_j! of each row (n,)."""
    if is_sparse(x):
        lengths = np.asarray(x.sum(axis=1), dtype=np.float64).ravel()
        each = np.asarray(same_cells(x, log_factorial(x.data)).sum(axis=1)).ravel()
        return np.asarray(log_factorial(lengths) - each)
    out = np.empty(len(x))
    step = max(64, (1 << 17) // max(x.shape[1], 1))
    for start in range(0, len(x), step):
        part = np.asarray(x[start : start + step], dtype=np.float64)
        out[start : start + step] = log_factorial(part.sum(axis=1)) - log_factorial(part).sum(axis=1)
    return out
