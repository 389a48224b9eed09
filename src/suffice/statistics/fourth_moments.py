"""Scatter with the third and fourth moments that Ledoit and Wolf's shrinkage needs.

    scatter_ij = Σ w z_i z_j      cubic_ij = Σ w z_i² z_j      quartic_ij = Σ w z_i² z_j²

where z = x − mean of the class. The best amount of shrinkage depends on Σ ‖D z‖⁴ for column scales D
that are known only at the end; these three matrices hold it for every D, and they add: moving a group's
centre by s expands the products, and terms in Σ z vanish.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from suffice import kernels
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.compensated import add, difference, join_means, part_mean
from suffice.statistics.number_range import SMALLEST, check_squares
from suffice.statistics.scatter import Scatter, still_varies
from suffice.statistics.statistic import ByClass, remaining_weight

__all__ = ["FourthMoments"]

Float = NDArray[np.float64]

BLOCK_BYTES = 1 << 22  # of centred rows


@dataclass(frozen=True, eq=False)
class FourthMoments(Scatter):
    """Per-class scatter, with the products of the squares.

    Attributes
    ----------
    weight : array of shape (K,)
    mean, mean_low : array of shape (K, d)
    scatter, scatter_low, cubic, quartic : array of shape (K, d, d)
    """

    cubic: ByClass
    quartic: ByClass

    @classmethod
    def zero(cls, classes: ClassAxis, n_columns: int) -> FourthMoments:
        """The statistic of no rows."""
        k, d = len(classes), n_columns
        return cls(classes, np.zeros(k), *np.zeros((2, k, d)), *np.zeros((4, k, d, d)))

    @classmethod
    def summarize(cls, x: Float, members: Membership, columns: Sequence[object] | None = None) -> FourthMoments:
        """The statistic of a batch of rows (n, d)."""
        n, d = x.shape
        k = len(members.classes)
        soft = members.soft is not None
        step = max(256, 4 * k, BLOCK_BYTES // (8 * max(d, 1))) // (k if soft else 1) + 1
        whole = cls.zero(members.classes, d)
        for start in range(0, n, step):
            part = members.rows(start, start + step)
            blocks = kernels.CentredBlocks(k, d, min(step, n), soft=soft)
            rows = blocks.centre(x[start : start + step], part.codes, part.soft, part.weights)
            weights = _group_weights(part)
            products = np.zeros((4, k, d, d))
            for c in np.flatnonzero(np.diff(blocks.offsets)):
                group = slice(blocks.offsets[c], blocks.offsets[c + 1])
                root_z = rows[group]
                z = root_z / np.sqrt(weights[group, None])
                with np.errstate(over="ignore", invalid="ignore"):  # found out below
                    root_square = z * root_z
                    products[0, c] = root_z.T @ root_z
                    products[2, c] = root_square.T @ root_z
                    products[3, c] = root_square.T @ root_square
                np.fill_diagonal(products[0, c], blocks.squares[c])
                np.fill_diagonal(products[1, c], blocks.squares_low[c])
            block = cls(members.classes, blocks.weight, blocks.mean, blocks.mean_low, *products)
            with np.errstate(over="ignore", invalid="ignore"):
                whole = block if start == 0 else whole._merged(block)
        return whole.looking_again(x).check(columns)

    def check(self, columns: Sequence[object] | None = None) -> Self:
        """Raise if a column's squares or fourth powers over- or underflowed."""
        checked = super().check(columns)
        with np.errstate(over="ignore", invalid="ignore"):
            whole = checked.pooled()
        fourth, second = np.diagonal(whole.quartic[0]), np.diagonal(whole.scatter[0])
        # A fourth power vanishes long before a square does.
        fourth = np.where((second > 0) & (fourth == 0), SMALLEST, fourth)
        check_squares(fourth, range(self.shape[0]) if columns is None else columns)
        return checked

    def pooled(self) -> FourthMoments:
        """All classes as one, about the common mean, on an axis of one unnamed class."""
        grand = self.grand_mean()
        parts = _moved(self, grand.away)
        return FourthMoments(
            ClassAxis.of([0]),
            np.array([self.weight.sum()]),
            grand.mean[None],
            grand.low[None],
            *(part.sum(axis=0, keepdims=True) for part in parts),
        )

    def rounding(self) -> dict[str, Float]:
        """The size of the numbers that each entry was summed from; odd products cancel in their sum."""
        squares = np.diagonal(self.scatter, axis1=1, axis2=2)
        fourth = np.diagonal(self.quartic, axis1=1, axis2=2)
        cubic = np.sqrt(fourth)[:, :, None] * np.sqrt(squares)[:, None, :]
        return super().rounding() | {"cubic": cubic.max(axis=0, initial=0.0)}

    def _merged(self, other: FourthMoments) -> FourthMoments:  # type: ignore[override]
        mean, low, _, _ = join_means(
            self.weight[:, None], self.mean, self.mean_low, other.weight[:, None], other.mean, other.mean_low
        )
        mine, theirs = (_moved(each, _shift(each, mean, low)) for each in (self, other))
        scatter = add(mine[0], mine[1], theirs[0], theirs[1])
        rest = (a + b for a, b in zip(mine[2:], theirs[2:], strict=True))
        return FourthMoments(self.classes, self.weight + other.weight, mean, low, *scatter, *rest)

    def _subtracted(self, other: FourthMoments) -> FourthMoments:  # type: ignore[override]
        weight = remaining_weight(self.weight, other.weight)
        mean, low, _, _ = part_mean(
            self.weight[:, None],
            self.mean,
            self.mean_low,
            (self.weight - weight)[:, None],
            other.mean,
            other.mean_low,
        )
        whole, part = (_moved(each, _shift(each, mean, low)) for each in (self, other))
        scatter = add(whole[0], whole[1], -part[0], -part[1])
        rest = (a - b for a, b in zip(whole[2:], part[2:], strict=True))
        left = (weight[:, None, None] > 0) & still_varies(self.scatter, scatter[0])
        return FourthMoments(
            self.classes, weight, mean, low, *(np.where(left, each, 0.0) for each in (*scatter, *rest))
        )

    def _scaled(self, factor: float) -> FourthMoments:
        if factor == 0:
            return FourthMoments.zero(self.classes, self.shape[0])
        return FourthMoments(
            self.classes,
            self.weight * factor,
            self.mean,
            self.mean_low,
            *(part * factor for part in (self.scatter, self.scatter_low, self.cubic, self.quartic)),
        )


def _group_weights(part: Membership) -> Float:
    """Weight of each centred row, in the order in which the kernel groups them by class."""
    if part.codes is not None:
        weights = np.ones(len(part)) if part.weights is None else part.weights
        here = (part.codes >= 0) & (weights > 0)
        return np.asarray(weights[here][np.argsort(part.codes[here], kind="stable")])
    assert part.soft is not None
    soft = part.soft if part.weights is None else part.soft * part.weights[:, None]
    by_group = soft.T.ravel()
    return np.asarray(by_group[by_group > 0])


def _shift(m: FourthMoments, mean: Float, low: Float) -> Float:
    """How far each class mean lies from another point; zero for a class without rows."""
    return difference(m.mean, m.mean_low, mean, low) * (m.weight[:, None] > 0)


def _moved(m: FourthMoments, s: Float) -> tuple[Float, Float, Float, Float]:
    """The products about the point ``mean − s`` of each class, with s of shape (K, d)."""
    n = m.weight[:, None, None]
    s_i, s_j = s[:, :, None], s[:, None, :]
    variance = np.diagonal(m.scatter, axis1=1, axis2=2)
    v_i, v_j = variance[:, :, None], variance[:, None, :]
    scatter = add(m.scatter, m.scatter_low, n * s_i * s_j)
    cubic = m.cubic + s_j * v_i + 2 * s_i * m.scatter + n * s_i**2 * s_j
    quartic = (
        m.quartic
        + 2 * s_j * m.cubic
        + 2 * s_i * np.swapaxes(m.cubic, 1, 2)
        + s_j**2 * v_i
        + s_i**2 * v_j
        + 4 * s_i * s_j * m.scatter
        + n * s_i**2 * s_j**2
    )
    return *scatter, cubic, quartic
