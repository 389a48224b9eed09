"""Leave-one-out scores of independent Gaussians whose classes all change without the row.

A shared variance and a prior made of all rows change without a row of any class. With n and S the weight and the sum
of squares of the rows behind a variance, and u the distance of a cell from their mean, removing a row of weight w
leaves the sum of squares ``S − w n/(n − w) u²`` and the weight n − w.
"""

from __future__ import annotations

import numpy as np

from suffice.families.linear import row_blocks
from suffice.numerics.types import Float, Matrix
from suffice.statistics import Membership, Moments

__all__ = ["leave_one_out_prior", "leave_one_out_shared"]


class _RowBlock:
    """A block of rows, and the moments of their own classes without each of them."""

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
        self.lost = self.w * self.stretch * self.away**2
        self.rest, self.kept = rest, m2 - self.lost
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(m2 > 0, self.kept / m2, 1.0)
        # Share of a sum of squares, or −1 if no row remains.
        self.remaining = np.where(self.missing, 1.0, np.where(np.isnan(rest), -1.0, share))

    def summed(self, cells: Float) -> Float:
        """Sum over the columns that are not missing."""
        return np.asarray(np.where(self.missing, 0.0, cells).sum(axis=1) if self.missing.any() else cells.sum(axis=1))


def leave_one_out_shared(statistic: Moments, x: Matrix, members: Membership, used_up: float) -> tuple[Float, Float]:
    """log p(x | y) of each row given all other rows (n, K) with a shared variance, up to a term that classes share.

    Also the least share of a sum of squares that remains without the row (n,). ``used_up`` is what each class subtracts
    from the divisor.
    """
    k = len(statistic.classes)
    total, size = statistic.m2.sum(axis=0), statistic.weight.sum(axis=0) - k * used_up
    out, remaining = np.empty((len(x), k)), np.empty(len(x))
    for start, block in row_blocks(x):
        here = slice(start, start + len(block))
        rows = _RowBlock(statistic, block, members.take(here))
        kept = total - rows.lost
        inverse = np.where(rows.missing, 0.0, (size - rows.w) / kept)
        weighted = rows.away * inverse
        squares = np.einsum("ij,ij->i", rows.away, weighted)
        stretched = np.einsum("ij,ij->i", rows.away * rows.stretch**2, weighted)
        part = out[here]
        for c in np.unique(rows.codes):
            # The distance from another class is u plus the distance of the means: two matrix products for each class.
            mine = np.flatnonzero(rows.codes == c)
            apart = (statistic.mean[c] - statistic.mean) + (statistic.mean_low[c] - statistic.mean_low)
            distance = squares[mine, None] + 2 * weighted[mine] @ apart.T + inverse[mine] @ (apart**2).T
            distance[:, c] = stretched[mine]
            part[mine] = -0.5 * distance
        share = np.where(rows.missing, 1.0, kept / total)
        remaining[here] = np.where(rows.remaining < 0, rows.remaining, share).min(axis=1, initial=1.0)
    return out, remaining


def leave_one_out_prior(
    statistic: Moments, x: Matrix, members: Membership, smoothing: float, *, by_column: bool = False
) -> tuple[Float, Float]:
    """log p(x | y) of each row given all other rows (n, K), with own variances and pseudo-rows like all rows together.

    Also the least share of a sum of squares that remains without the row (n,). With ``by_column``, both are those of
    each cell: (n, K, d) and (n, d).
    """
    pooled, k = statistic.pooled(), len(statistic.classes)
    whole, middle, middle_low, squares = (each[0] for each in (pooled.weight, pooled.mean, pooled.mean_low, pooled.m2))
    of_cells = x.shape[1:] if by_column else ()
    out, remaining = np.empty((len(x), k, *of_cells)), np.empty((len(x), *of_cells))
    for start, block in row_blocks(x):
        here = slice(start, start + len(block))
        rows = _RowBlock(statistic, block, members.take(here))
        # All rows but one: their mean, relative to the mean of all rows, and their sum of squares.
        away = (rows.x - middle) - middle_low
        rest = whole - rows.w
        shift = -rows.w / rest * away
        kept = squares - rows.w * whole / rest * away**2
        prior = smoothing * kept / rest
        for i in range(k):
            mine = (rows.codes == i)[:, None]
            n = np.where(mine, rows.rest, statistic.weight[i])
            own = (statistic.mean[i] - middle) + (statistic.mean_low[i] - middle_low)
            # The mean of the row's own class moves away from the row.
            centre = own - shift - np.where(mine, rows.w / rows.rest * rows.away, 0.0)
            m2 = np.where(mine, rows.kept, statistic.m2[i]) + prior + n * smoothing / (n + smoothing) * centre**2
            variance = m2 / (n + smoothing)
            distance = (away - shift) - centre * (n / (n + smoothing))
            cells = np.log(variance) + distance**2 / variance
            out[here, i] = -0.5 * (np.where(rows.missing, 0.0, cells) if by_column else rows.summed(cells))
        share = np.where(rows.missing, 1.0, kept / squares)
        share = np.where(rows.remaining < 0, rows.remaining, share)
        remaining[here] = share if by_column else share.min(axis=1, initial=1.0)
    return out, remaining
