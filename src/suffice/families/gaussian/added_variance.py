"""Gaussians with a share of the largest variance added to every variance, as in scikit-learn's ``GaussianNB``.

    variance_kj = m2_kj / n_kj + share · max_j variance of column j over all rows

The second term depends on the units of the columns, and so does every prediction. It reproduces scikit-learn's numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice import kernels
from suffice.exceptions import SingularCovarianceError, columns_at
from suffice.families.capabilities import FamilyStatistic
from suffice.families.gaussian import Gaussian, GaussianParameters
from suffice.families.leave_one_out import LEAST_REMAINING
from suffice.families.linear import row_blocks
from suffice.numerics.types import Float, Matrix
from suffice.statistics import ClassAxis, Membership, Moments, RowMoments
from suffice.tables.table import is_sparse

__all__ = ["AddedVariance"]


NEGLIGIBLE = 1e-12  # of a log-density


@dataclass(frozen=True)
class AddedVariance(Gaussian):
    """Own variances, each increased by a share of the largest variance of a column."""

    share: float = 0.0

    def zero(self, classes: ClassAxis, n_columns: int) -> RowMoments:
        """Return the statistic of no rows."""
        return RowMoments.zero(classes, n_columns)

    def summarize(self, x: Matrix, members: Membership, columns: Sequence[object] | None = None) -> RowMoments:
        """Moments of each class and column, weighted and unweighted."""
        return RowMoments.summarize(x, members, columns, missing=self.missing)

    def with_row(self, statistic: Moments, row: Float, code: int) -> Moments | None:
        """The statistic with one more row."""
        return statistic.with_row(row, code)

    def added(self, statistic: RowMoments) -> float:
        """Amount added to every variance: a share of the largest variance of a column over all unweighted rows."""
        rows = statistic.rows.pooled()
        variance = np.divide(rows.m2, rows.weight, out=np.zeros_like(rows.m2), where=rows.weight > 0)
        return float(self.share * variance.max(initial=0.0))

    def estimate(self, statistic: FamilyStatistic, columns: Sequence[object] | None = None) -> GaussianParameters:
        """Means and variances of each class."""
        pooled = statistic.pooled()
        mean, low, m2, weight = statistic.mean, statistic.mean_low, statistic.m2, statistic.weight
        if not weight.all():
            # A class that has rows, but no values in a column, gets the moments of all rows there.
            empty = (weight == 0) & weight.any(axis=1, keepdims=True)
            pairs = (mean, pooled.mean), (low, pooled.mean_low), (m2, pooled.m2), (weight, pooled.weight)
            mean, low, m2, weight = (np.where(empty, theirs, mine) for mine, theirs in pairs)
            weight = np.where(weight > 0, weight, 1.0)
        variance = m2 / weight + self.added(statistic)
        flat = (variance == 0) & (statistic.weight > 0) & (pooled.m2 > 0)
        if flat.any():
            k = int(np.flatnonzero(flat.any(axis=1))[0])
            names = range(statistic.shape[0]) if columns is None else columns
            raise SingularCovarianceError(
                f"In class {statistic.classes.label(k)!r} there is no variation in "
                f"{columns_at(names, np.flatnonzero(flat[k]))}, and var_smoothing=0 adds none. Increase it.",
                argument="var_smoothing",
            )
        within = statistic.m2.sum(axis=0) / np.maximum(pooled.weight[0], np.finfo(float).tiny)
        return GaussianParameters.of(mean, low, variance, within, pooled.mean[0])

    def leave_one_out(
        self,
        statistic: FamilyStatistic,
        parameters: GaussianParameters,
        x: Matrix,
        members: Membership,
        columns: Sequence[object],
    ) -> Float | None:
        """Compute log p(x | y) of each row given all other rows (n, K); NaN if little variance remains without it.

        Every row contributes to the amount that is added to all variances.
        """
        if (statistic.weight == 0).any():
            return None  # a class without values in a column has the moments of all rows
        before, pooled, out = self.added(statistic), statistic.rows.pooled(), []
        moments = statistic.weight, statistic.mean, statistic.mean_low, statistic.m2
        for start, block in row_blocks(x) if is_sparse(x) else ((0, x),):
            part = members.rows(start, start + len(block))
            assert part.codes is not None
            scores = self.log_likelihood(parameters, block)
            added = self.share * _largest_without(pooled, block)
            # Change of the variances without a row, as a share of the least variance, and the effect of its square.
            step = float(np.abs(added - before).max(initial=0.0)) / parameters.variance.min()
            farthest = 2 * float((parameters.log_norm.sum(axis=1) - scores.min(axis=0, initial=0.0)).max())
            little = step**2 * (max(farthest, 0.0) + block.shape[1]) < NEGLIGIBLE
            if little:
                scores -= (added - before)[:, None] * self._slope(parameters, block)
            _, remaining = kernels.held_out_log_likelihood(
                block, part.codes, part.weights, *moments, added=added, before=before, others=not little, out=scores
            )
            scores[~(remaining > LEAST_REMAINING)] = np.nan
            out.append(scores)
        return np.asarray(np.vstack([np.zeros((0, len(statistic.weight))), *out]))

    def _slope(self, parameters: GaussianParameters, x: Float) -> Float:
        """Minus the derivative of log p(x | y) by the added variance (n, K): ``½ Σ_j 1/σ² − (x − μ)²/σ⁴``."""
        p, inverse = parameters, 1 / parameters.variance
        return kernels.diagonal_log_likelihood(x, p.mean, p.mean_low, inverse, inverse / 2, missing=True)


def _largest_without(rows: Moments, x: Float) -> Float:
    """The largest variance of a column without each row (n,), unweighted."""
    n, mean, m2 = rows.weight[0], rows.mean[0], rows.m2[0]
    rest = np.where(n > 1, n - 1, np.nan)
    bound = m2 / rest  # the variance without a row is at most this
    leading = np.nanargmax(bound)

    def variance_without(j: int | np.intp) -> Float:
        away = x[:, j].astype(np.float64) - mean[j] - rows.mean_low[0, j]
        here = (m2[j] - n[j] / rest[j] * away**2) / rest[j]
        return np.asarray(np.where(np.isnan(away), m2[j] / n[j], np.maximum(here, 0.0)))

    largest = variance_without(leading)
    for j in np.flatnonzero((bound > largest.min()) & (np.arange(len(n)) != leading)):
        largest = np.maximum(largest, variance_without(j))
    return np.asarray(largest)
