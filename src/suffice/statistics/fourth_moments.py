"""Scatter with the third and fourth moments that Ledoit and Wolf's shrinkage needs.

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
from suffice.numerics.compensated import add, join_means, part_mean
from suffice.numerics.double_double import DoubleDouble
from suffice.numerics.number_range import FADED_SQUARE, SMALLEST, check_squares
from suffice.numerics.types import Float, Mask
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.exact_moments import class_moments
from suffice.statistics.scatter import Scatter, varying_pairs
from suffice.statistics.statistic import ByPair
from suffice.statistics.subtraction import subtract_weights
from suffice.statistics.weights import class_weights

__all__ = ["FourthMoments"]


BLOCK_BYTES = 1 << 22  # of centred rows in a block
EXACT_PRODUCTS = 1 << 23  # up to this number, products are summed in two doubles, within milliseconds


@dataclass(frozen=True, eq=False)
class FourthMoments(Scatter):
    """Per-class scatter, and the sums of products with squares.

    Attributes
    ----------
    weight : array of shape (K,)
    mean, mean_low : array of shape (K, d)
    scatter, scatter_low, cubic, cubic_low, quartic, quartic_low : array of shape (K, d, d)
        Each stored as the sum of two arrays, because a fourth power has few digits relative to its terms.
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
        soft = members.soft is not None
        step = max(256, 4 * k, BLOCK_BYTES // (8 * max(d, 1))) // (k if soft else 1) + 1
        whole = cls.zero(members.classes, d)
        for start in range(0, n, step):
            part = members.rows(start, start + step)
            blocks = kernels.CentredBlocks(k, d, min(step, n), soft=soft)
            rows = blocks.centre(x[start : start + step], part.codes, part.soft, part.weights)
            weights = _group_weights(part)
            products = np.zeros((6, k, d, d))
            for c in np.flatnonzero(np.diff(blocks.offsets)):
                group = slice(blocks.offsets[c], blocks.offsets[c + 1])
                root_z = rows[group]
                z = root_z / np.sqrt(weights[group, None])
                with np.errstate(over="ignore", invalid="ignore"):  # `check` below raises an error
                    root_square = z * root_z
                    products[0, c] = root_z.T @ root_z
                    products[2, c] = root_square.T @ root_z
                    products[4, c] = root_square.T @ root_square
                np.fill_diagonal(products[0, c], blocks.squares[c])
                np.fill_diagonal(products[1, c], blocks.squares_low[c])
            block = cls(members.classes, blocks.weight, blocks.mean, blocks.mean_low, *products)
            with np.errstate(over="ignore", invalid="ignore"):
                whole = block if start == 0 else whole.merge(block)
        return whole.marking_underflow(x).check(columns)

    @classmethod
    def _exactly(cls, x: Float, members: Membership) -> FourthMoments:
        """Return the statistic computed in two doubles; the products of (z, z²) contain all three matrices."""
        k, d = len(members.classes), x.shape[1]
        moments, _ = class_moments(x, members, missing=False)
        weight, weight_low = class_weights(members)
        parts = np.zeros((6, k, d, d))
        above = np.triu_indices(d, 1)
        for c in range(k):
            rows, weights = _rows_of(x, members, c)
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
            whole = checked.pooled()
        fourth, second = np.diagonal(whole.quartic[0]), np.diagonal(whole.scatter[0])
        # A fourth power underflows long before a square.
        fourth = np.where((second > 0) & (fourth == 0), SMALLEST, fourth)
        check_squares(fourth, range(self.shape[0]) if columns is None else columns)
        return checked

    def _faded_columns(self) -> Mask:
        fourth = np.diagonal(self.pooled().quartic[0])
        return super()._faded_columns() | ((fourth >= 0) & (fourth < FADED_SQUARE) & (self._total_squares() > 0))

    def pooled(self) -> FourthMoments:
        """Return the statistic of all classes as one, about the common mean, on an axis of one unnamed class."""
        grand = self.grand_mean()
        parts = _moved(self, DoubleDouble.of(grand.away))
        return FourthMoments(
            ClassAxis.of([0]),
            np.array([self.weight.sum()]),
            grand.mean[None],
            grand.low[None],
            *(each.sum(axis=0, keepdims=True) for part in parts for each in (part.high, part.low)),
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
        mine, theirs = (_moved(each, _shift(each, mean)) for each in (self, other))
        parts = (part for a, b in zip(mine, theirs, strict=True) for part in _both(a + b))
        weight, low = joint.weight[:, 0], joint.weight_low[:, 0]
        return FourthMoments(self.classes, weight, mean.high, mean.low, *parts, weight_low=low)

    def _subtracted(self, other: FourthMoments, columns: Sequence[object]) -> FourthMoments:  # type: ignore[override]
        weight, weight_low = subtract_weights(
            self.weight, self.weight_low, other.weight, other.weight_low, self.describe_position(columns)
        )
        joint = part_mean(self.group(), other.group(), weight[:, None], weight_low[:, None])
        mean = DoubleDouble(joint.mean, joint.mean_low)
        whole, part = (_moved(each, _shift(each, mean)) for each in (self, other))
        parts = [each for a, b in zip(whole, part, strict=True) for each in _both(a - b)]
        left = (weight[:, None, None] > 0) & varying_pairs(self, (parts[0], parts[1]), columns)
        kept = (np.where(left, each, 0.0) for each in parts)
        return FourthMoments(self.classes, weight, mean.high, mean.low, *kept, weight_low=weight_low)

    def _scaled(self, factor: float) -> FourthMoments:
        if factor == 0:
            return FourthMoments.zero(self.classes, self.shape[0])
        parts = (each for part in _products(self) for each in _both(part * factor))
        weight, low = _both(DoubleDouble(self.weight, self.weight_low) * factor)
        return FourthMoments(self.classes, weight, self.mean, self.mean_low, *parts, weight_low=low)


def _rows_of(x: Float, members: Membership, k: int) -> tuple[Float, Float]:
    """Return the rows of a class and their weights."""
    if members.codes is not None:
        weights = np.ones(len(members)) if members.weights is None else members.weights
        here = (members.codes == k) & (weights > 0)
    else:
        assert members.soft is not None
        weights = members.soft[:, k] if members.weights is None else members.soft[:, k] * members.weights
        here = weights > 0
    return np.asarray(x[here], dtype=np.float64), np.ascontiguousarray(weights[here])


def _group_weights(part: Membership) -> Float:
    """Return the weight of each centred row, in the order in which the kernel groups rows by class."""
    if part.codes is not None:
        weights = np.ones(len(part)) if part.weights is None else part.weights
        here = (part.codes >= 0) & (weights > 0)
        return np.asarray(weights[here][np.argsort(part.codes[here], kind="stable")])
    assert part.soft is not None
    soft = part.soft if part.weights is None else part.soft * part.weights[:, None]
    by_group = soft.T.ravel()
    return np.asarray(by_group[by_group > 0])


def _both(value: DoubleDouble) -> tuple[Float, Float]:
    return value.high, value.low


def _products(m: FourthMoments) -> tuple[DoubleDouble, DoubleDouble, DoubleDouble]:
    return (
        DoubleDouble(m.scatter, m.scatter_low),
        DoubleDouble(m.cubic, m.cubic_low),
        DoubleDouble(m.quartic, m.quartic_low),
    )


def _shift(m: FourthMoments, mean: DoubleDouble) -> DoubleDouble:
    """Return the offset of each class mean from another point; zero for a class without rows."""
    return (DoubleDouble(m.mean, m.mean_low) - mean) * np.where(m.weight[:, None] > 0, 1.0, 0.0)


def _moved(m: FourthMoments, s: DoubleDouble) -> tuple[DoubleDouble, DoubleDouble, DoubleDouble]:
    """Return the products about the point ``mean − s`` of each class, with s of shape (K, d)."""
    n = DoubleDouble(m.weight, m.weight_low)[:, None, None]
    scatter, cubic, quartic = _products(m)
    variance = scatter.diagonal()
    s_i, s_j, v_i, v_j = s[:, :, None], s[:, None, :], variance[:, :, None], variance[:, None, :]
    apart, square_i, square_j = s_i * s_j, s_i * s_i, s_j * s_j
    return (
        scatter + apart * n,
        cubic + s_j * v_i + s_i * scatter * 2.0 + square_i * s_j * n,
        quartic
        + s_j * cubic * 2.0
        + s_i * cubic.transposed() * 2.0
        + square_j * v_i
        + square_i * v_j
        + apart * scatter * 4.0
        + apart * apart * n,
    )
