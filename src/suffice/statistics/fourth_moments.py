"""Scatter matrices with the third and fourth moments that the shrinkage of Ledoit and Wolf needs.

    scatter_ij = Σ w z_i z_j      cubic_ij = Σ w z_i² z_j      quartic_ij = Σ w z_i² z_j²

where z = x − mean of the class. The best amount of shrinkage depends on Σ ‖D z‖⁴ for column scales D that are known
only at the end. These three matrices give it for every D, and they add: moving the centre of a group by s expands the
products, and terms in Σ z vanish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from suffice import kernels
from suffice.numerics.compensated import add, join_means, part_mean, product
from suffice.numerics.double_double import DoubleDouble
from suffice.numerics.number_range import FADED_SQUARE, SMALLEST, check_squares
from suffice.numerics.types import Float, Index, Mask
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.exact_moments import class_moments
from suffice.statistics.scatter import Scatter, varying_pairs
from suffice.statistics.scatter_sums import completed, lower_products
from suffice.statistics.statistic import ByPair
from suffice.statistics.subtraction import subtract_weights
from suffice.statistics.weights import class_weights

__all__ = ["FourthMoments"]


BLOCK_BYTES = 1 << 24  # of centred rows in a block, at most
EXACT_PRODUCTS = 1 << 23  # up to this number, products are summed in two doubles, within milliseconds


@dataclass(frozen=True, eq=False)
class FourthMoments(Scatter):
    """Per-class scatter matrices, and sums of products of squares.

    Attributes
    ----------
    weight : array of shape (K,)
        Weight of the rows.
    mean, mean_low : array of shape (K, d)
        Mean, stored as the sum ``mean + mean_low``.
    scatter, scatter_low, cubic, cubic_low, quartic, quartic_low : array of shape (K, d, d)
        Sums of products of deviations, of squares and deviations, and of squares. Each is stored as the sum of two
        arrays, because a fourth power has few digits relative to its terms.

    See Also
    --------
    suffice.statistics.Scatter : Second moments only.
    suffice.discriminant_analysis.LinearDiscriminantAnalysis : Needs these moments for ``shrinkage="auto"``.

    Examples
    --------
    >>> import numpy as np
    >>> from suffice.statistics import ClassAxis, FourthMoments, Membership
    >>> members = Membership(ClassAxis.of(["a"]), codes=np.array([0, 0]))
    >>> moments = FourthMoments.summarize(np.array([[1.0, 0.0], [3.0, 4.0]]), members)
    >>> moments.scatter[0].tolist(), moments.quartic[0].tolist()
    ([[2.0, 4.0], [4.0, 8.0]], [[2.0, 8.0], [8.0, 32.0]])
    """

    cubic: ByPair
    cubic_low: ByPair
    quartic: ByPair
    quartic_low: ByPair

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> FourthMoments:
        """Return the statistic of no rows."""
        k, d = len(classes), n_columns
        return cls(classes, np.zeros(k), *np.zeros((2, k, d)), *np.zeros((6, k, d, d)))

    @classmethod
    def summarize(cls, x: Float, members: Membership, columns: Sequence[object] | None = None) -> FourthMoments:
        """Return the statistic of a batch of rows (n, d)."""
        n, d = x.shape
        k = len(members.classes)
        if n * d**2 * (1 if members.soft is None else k) <= EXACT_PRODUCTS:
            return cls._exactly(x, members).marking_underflow(x).check(columns)
        base = Scatter.summarize(x, members, columns)
        products = np.zeros((4, k, d, d))
        with np.errstate(over="ignore", invalid="ignore"):  # `check` raises an error
            for c in range(k):
                _add_products(x, *_rows_of(members, c), base.mean[c], base.mean_low[c], products[:, c])
            completed(products[2], products[3], None)
        whole = cls(
            members.classes,
            base.weight,
            base.mean,
            base.mean_low,
            base.scatter,
            base.scatter_low,
            *products,
            weight_low=base.weight_low,
        )
        return whole.check(columns)

    @classmethod
    def _exactly(cls, x: Float, members: Membership) -> FourthMoments:
        """Return the statistic computed in two doubles; the products of (z, z²) contain all three matrices."""
        k, d = len(members.classes), x.shape[1]
        moments, _ = class_moments(x, members, missing=False)
        weight, weight_low = class_weights(members)
        parts = np.zeros((6, k, d, d))
        above = np.triu_indices(d, 1)
        for c in range(k):
            here, weights = _rows_of(members, c)
            rows = np.asarray(x[here], dtype=np.float64)
            mean, low = (np.broadcast_to(part[c], rows.shape) for part in (moments.mean, moments.mean_low))
            total, total_low = np.zeros((2, 1, 2 * d, 2 * d))
            with np.errstate(over="ignore", invalid="ignore"):  # `check` raises an error
                z = DoubleDouble(rows, np.zeros_like(rows)) - DoubleDouble(mean, low)
                square = z * z
                high, low = (np.hstack(pair) for pair in ((z.high, square.high), (z.low, square.low)))
                kernels.outer(weights, np.zeros_like(weights), high, low, total, total_low)
                whole = add(total[0], total_low[0], np.zeros_like(total[0]))
            for at, part in enumerate(whole):
                for matrix in (part[:d, :d], part[d:, d:]):
                    matrix[above] = matrix.T[above]
                parts[at, c], parts[2 + at, c], parts[4 + at, c] = part[:d, :d], part[d:, :d], part[d:, d:]
        return cls(members.classes, weight, moments.mean, moments.mean_low, *parts, weight_low=weight_low)

    def check(self, columns: Sequence[object] | None = None) -> Self:
        """Raise `InputError` if squares or fourth powers of a column overflowed or underflowed."""
        checked = super().check(columns)
        with np.errstate(over="ignore", invalid="ignore"):
            second, fourth = _squares_of_all_rows(checked)
        # A fourth power underflows long before a square.
        fourth = np.where((second > 0) & (fourth == 0), SMALLEST, fourth)
        check_squares(fourth, range(self.shape[0]) if columns is None else columns)
        return checked

    def _faded_columns(self) -> Mask:
        squares, fourth = _squares_of_all_rows(self)
        return super()._faded_columns() | ((fourth >= 0) & (fourth < FADED_SQUARE) & (squares > 0))

    def pooled(self) -> FourthMoments:
        """Return the statistic of all classes as one, about the common mean, on an axis of one unnamed class."""
        grand = self.grand_mean()
        return FourthMoments(
            ClassAxis.of([0]),
            np.array([self.weight.sum()]),
            grand.mean[None],
            grand.low[None],
            *_moved([(self, DoubleDouble.of(grand.away), 1.0)], matrices=1),
        )

    def rounding(self) -> dict[str, Float]:
        """Return the magnitude of the terms of each entry; odd products cancel in their sum."""
        squares = np.diagonal(self.scatter, axis1=1, axis2=2)
        fourth = np.diagonal(self.quartic, axis1=1, axis2=2)
        cubic = np.sqrt(fourth)[:, :, None] * np.sqrt(squares)[:, None, :]
        return super().rounding() | {"cubic": cubic.max(axis=0, initial=0.0)}

    def _merged(self, other: FourthMoments) -> FourthMoments:  # type: ignore[override]
        joint = join_means(self.group(), other.group())
        mean = DoubleDouble(joint.mean, joint.mean_low)
        parts = _moved([(each, _shift(each, mean), 1.0) for each in (self, other)], len(self.classes))
        weight, low = joint.weight[:, 0], joint.weight_low[:, 0]
        return FourthMoments(self.classes, weight, mean.high, mean.low, *parts, weight_low=low)

    def _subtracted(self, other: FourthMoments, columns: Sequence[object]) -> FourthMoments:  # type: ignore[override]
        weight, weight_low = subtract_weights(
            self.weight, self.weight_low, other.weight, other.weight_low, self.describe_position(columns)
        )
        joint = part_mean(self.group(), other.group(), weight[:, None], weight_low[:, None])
        mean = DoubleDouble(joint.mean, joint.mean_low)
        signed = ((self, 1.0), (other, -1.0))
        parts = _moved([(each, _shift(each, mean), sign) for each, sign in signed], len(self.classes))
        left = (weight[:, None, None] > 0) & varying_pairs(self, (parts[0], parts[1]), columns)
        kept = (np.where(left, each, 0.0) for each in parts)
        return FourthMoments(self.classes, weight, mean.high, mean.low, *kept, weight_low=weight_low)

    def _scaled(self, factor: float) -> FourthMoments:
        if factor == 0:
            return FourthMoments.zero(self.classes, self.shape[0])
        pairs = (self.scatter, self.scatter_low), (self.cubic, self.cubic_low), (self.quartic, self.quartic_low)
        parts = (part for pair in pairs for part in product(*pair, np.asarray(factor)))
        weight, low = product(self.weight, self.weight_low, np.asarray(factor))
        return FourthMoments(self.classes, weight, self.mean, self.mean_low, *parts, weight_low=low)


def _rows_of(members: Membership, k: int) -> tuple[Index, Float]:
    """Return the positions of the rows of a class, and their weights."""
    if members.codes is not None:
        weights = np.ones(len(members)) if members.weights is None else members.weights
        here = np.flatnonzero((members.codes == k) & (weights > 0))
    else:
        assert members.soft is not None
        weights = members.soft[:, k] if members.weights is None else members.soft[:, k] * members.weights
        here = np.flatnonzero(weights > 0)
    return here, weights[here]


def _add_products(x: Float, here: Index, weights: Float, mean: Float, mean_low: Float, out: Float) -> None:
    """Add the cubic products of some rows about a mean, and the lower triangle of the quartic ones, to ``out``.

    ``out`` (4, d, d) has the two sums in two doubles. BLAS multiplies short blocks of rows, because it sums within a
    block without compensation.
    """
    d = x.shape[1]
    step = max(256, min(max(1024, 2 * d), BLOCK_BYTES // (8 * max(d, 1))))
    cubic, quartic = np.empty((d, d)), np.zeros((d, d))
    for start in range(0, len(here), step):
        block = slice(start, start + step)
        z = np.asarray(x[here[block]], dtype=np.float64)
        z -= mean
        z -= mean_low
        square = z * z
        square *= np.sqrt(weights[block, None])
        z *= np.sqrt(weights[block, None])
        kernels.accumulate(np.matmul(square.T, z, out=cubic), out[0], out[1])
        kernels.accumulate(lower_products(square, quartic), out[2], out[3])


def _squares_of_all_rows(m: FourthMoments) -> tuple[Float, Float]:
    """Return Σ w z² and Σ w z⁴ of each column about the mean of all rows (d,)."""
    s, n = m.grand_mean().away, m.weight[:, None]
    second, third, fourth = (np.diagonal(part, axis1=1, axis2=2) for part in (m.scatter, m.cubic, m.quartic))
    moved = fourth + 4 * s * third + 6 * s**2 * second + s**4 * n
    return (second + s**2 * n).sum(axis=0), moved.sum(axis=0)


def _shift(m: FourthMoments, mean: DoubleDouble) -> DoubleDouble:
    """Return the offset of each class mean from another point; zero for a class without rows."""
    return (DoubleDouble(m.mean, m.mean_low) - mean) * np.where(m.weight[:, None] > 0, 1.0, 0.0)


def _moved(groups: Sequence[tuple[FourthMoments, DoubleDouble, float]], matrices: int) -> Float:
    """Return the sum of the products of groups of rows about a point of each class, times a sign.

    A group is a statistic, the offset of its class means from that point (K, d), and the sign. The result (6, n, d, d)
    has the three products in two doubles, for each class or for all classes together.
    """
    d = groups[0][0].shape[0]
    out = np.zeros((6, matrices, d, d))
    with np.errstate(over="ignore", invalid="ignore"):
        for m, shift, sign in groups:
            products = m.scatter, m.scatter_low, m.cubic, m.cubic_low, m.quartic, m.quartic_low
            kernels.add_moved(m.weight, m.weight_low, shift.high, shift.low, products, out, sign=sign)
    return out
