"""Independent Gaussians without one of their rows, where every class changes with the row.

A variance that classes share, and a prior that is made of all rows, lose a part of each row whatever its class. With
n and S the weight and sum of squares of the rows that a variance is made of, and u the distance of a cell from their
mean, a row of weight w leaves ``S − w n/(n − w) u²`` of the weight n − w.
"""

from __future__ import annotations

import numpy as np

from suffice.families.linear import row_blocks
from suffice.numerics.types import Float, Matrix
from suffice.statistics import Membership, Moments

__all__ = ["left_out_of_prior", "left_out_of_shared"]


class _Rows:
    """A block of rows, and what their own classes are without each of them."""

    def __init__(self, statistic: Moments, block: Float, members: Membership) -> None:
        assert members.codes is not None
        s, self.codes = statistic, members.codes
        self.missing = np.isnan(block)
        self.x = np.where(self.missing, 0.0, block) if self.missing.any() else block
        self.w = np.ones((len(block), 1)) if members.weights is None else members.weights[:, None]
        n, m2 = s.weight[self.codes], s.m2[self.codes]
        rest = np.where(n - self.w > 1e-9 * n, n - self.w, np.nan)
        self.stretch = n / rest
        self.away = (self.x - s.mean[self.codes]) - s.mean_low[self.codes]
        self.gone = self.w * self.stretch * self.away**2
        self.rest, self.kept = rest, m2 - self.gone
        with np.errstate(divide="ignore", invalid="ignore"):
            left = np.where(m2 > 0, self.kept / m2, 1.0)
        self.least = np.where(self.missing, 1.0, np.where(np.isnan(rest), -1.0, left)).min(axis=1, initial=1.0)

    def summed(self, cells: Float) -> Float:
        """The sum over the columns that are there."""
        return np.asarray(np.where(self.missing, 0.0, cells).sum(axis=1) if self.missing.any() else cells.sum(axis=1))


def left_out_of_shared(statistic: Moments, x: Matrix, members: Membership, lost: float) -> tuple[Float, Float]:
    """log p(x | y) of each row given the others, of a shared variance (n, K), up to a term that the classes share.

    Also the least share of a sum of squares that the row leaves (n,). ``lost`` is what a class takes from the divisor.
    """
    k = len(statistic.classes)
    total, size = statistic.m2.sum(axis=0), statistic.weight.sum(axis=0) - k * lost
    out, least = np.empty((len(x), k)), np.empty(len(x))
    for start, block in row_blocks(x):
        here = slice(start, start + len(block))
        rows = _Rows(statistic, block, members.take(here))
        left = total - rows.gone
        inverse = np.where(rows.missing, 0.0, (size - rows.w) / left)
        weighted = rows.away * inverse
        squares = np.einsum("ij,ij->i", rows.away, weighted)
        stretched = np.einsum("ij,ij->i", rows.away * rows.stretch**2, weighted)
        part = out[here]
        for c in np.unique(rows.codes):
            # The distance from another class is u and that of the means: two products of matrices for rows of a class.
            mine = np.flatnonzero(rows.codes == c)
            apart = (statistic.mean[c] - statistic.mean) + (statistic.mean_low[c] - statistic.mean_low)
            found = squares[mine, None] + 2 * weighted[mine] @ apart.T + inverse[mine] @ (apart**2).T
            found[:, c] = stretched[mine]
            part[mine] = -0.5 * found
        share = np.where(rows.missing, 1.0, left / total).min(axis=1, initial=1.0)
        least[here] = np.where(rows.least < 0, rows.least, share)
    return out, least


def left_out_of_prior(statistic: Moments, x: Matrix, members: Membership, smoothing: float) -> tuple[Float, Float]:
    """log p(x | y) of each row given the others (n, K), of own variances with a prior of rows like all rows together.

    Also the least share of a sum of squares that the row leaves (n,).
    """
    pooled, k = statistic.pooled(), len(statistic.classes)
    whole, middle, middle_low, squares = (each[0] for each in (pooled.weight, pooled.mean, pooled.mean_low, pooled.m2))
    out, least = np.empty((len(x), k)), np.empty(len(x))
    for start, block in row_blocks(x):
        here = slice(start, start + len(block))
        rows = _Rows(statistic, block, members.take(here))
        # All rows without each: their mean, as its distance from the mean of all, and their sum of squares.
        away = (rows.x - middle) - middle_low
        rest = whole - rows.w
        shift = -rows.w / rest * away
        left = squares - rows.w * whole / rest * away**2
        prior = smoothing * left / rest
        for i in range(k):
            mine = (rows.codes == i)[:, None]
            n = np.where(mine, rows.rest, statistic.weight[i])
            own = (statistic.mean[i] - middle) + (statistic.mean_low[i] - middle_low)
            # Of its own class, the mean moves away from the row that is left out.
            centre = own - shift - np.where(mine, rows.w / rows.rest * rows.away, 0.0)
            m2 = np.where(mine, rows.kept, statistic.m2[i]) + prior + n * smoothing / (n + smoothing) * centre**2
            variance = m2 / (n + smoothing)
            distance = (away - shift) - centre * (n / (n + smoothing))
            out[here, i] = -0.5 * rows.summed(np.log(variance) + distance**2 / variance)
        share = np.where(rows.missing, 1.0, left / squares).min(axis=1, initial=1.0)
        least[here] = np.where(rows.least < 0, rows.least, share)
    return out, least
