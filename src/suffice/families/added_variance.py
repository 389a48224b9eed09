"""Gaussians whose variances have a share of the largest one added: what scikit-learn's ``GaussianNB`` is made of.

    variance_kj = m2_kj / n_kj + share · max_j variance of column j over all rows

The second term depends on the units of the columns, and so does every prediction; it is here to give scikit-learn's
numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import kernels
from suffice.exceptions import SingularCovarianceError, columns_at
from suffice.families.gaussian import Gaussian, GaussianParameters
from suffice.families.left_out import LEAST
from suffice.families.linear import row_blocks
from suffice.statistics import ClassAxis, Membership, Moments, RowMoments

__all__ = ["AddedVariance"]

Float = NDArray[np.float64]


@dataclass(frozen=True)
class AddedVariance(Gaussian):
    """Own variances, each with a share of the largest column's variance added."""

    share: float = 0.0

    def zero(self, classes: ClassAxis, n_columns: int) -> RowMoments:
        """The statistic of no rows."""
        return RowMoments.zero(classes, n_columns)

    def summarize(self, x: Any, members: Membership, columns: Sequence[object] | None = None) -> RowMoments:
        """Moments of each class and column, with weights and without."""
        return RowMoments.summarize(x, members, columns, missing=self.missing)

    def added(self, statistic: RowMoments) -> float:
        """What is added to every variance: a share of the largest among all rows, whatever their weights."""
        rows = statistic.rows.pooled()
        variance = np.divide(rows.m2, rows.weight, out=np.zeros_like(rows.m2), where=rows.weight > 0)
        return float(self.share * variance.max(initial=0.0))

    def estimate(self, statistic: Any, columns: Sequence[object] | None = None) -> GaussianParameters:
        """Means and variances of each class."""
        pooled = statistic.pooled()
        # A class that has rows but no cell in a column takes there what all rows have.
        lost = (statistic.weight == 0) & statistic.weight.any(axis=1, keepdims=True)
        mean, low, m2, weight = (
            np.where(lost, theirs, mine)
            for mine, theirs in (
                (statistic.mean, pooled.mean),
                (statistic.mean_low, pooled.mean_low),
                (statistic.m2, pooled.m2),
                (statistic.weight, pooled.weight),
            )
        )
        variance = m2 / np.where(weight > 0, weight, 1.0) + self.added(statistic)
        flat = (variance == 0) & (statistic.weight > 0) & (pooled.m2 > 0)
        if flat.any():
            k = int(np.flatnonzero(flat.any(axis=1))[0])
            names = range(statistic.shape[0]) if columns is None else columns
            raise SingularCovarianceError(
                f"In class {statistic.classes.label(k)!r} there is no variation in "
                f"{columns_at(names, np.flatnonzero(flat[k]))}, and var_smoothing=0 adds none. Set var_smoothing."
            )
        within = statistic.m2.sum(axis=0) / np.maximum(pooled.weight[0], np.finfo(float).tiny)
        return GaussianParameters.of(mean, low, variance, within, pooled.mean[0])

    def leave_one_out(
        self, statistic: Any, parameters: GaussianParameters, x: Any, members: Membership, columns: Sequence[object]
    ) -> Float | None:
        """log p(x | y) of each row given the others (n, K); NaN where a class has little variance without the row.

        A row has a part in what is added to all variances.
        """
        if (statistic.weight == 0).any():
            return None  # a class without a cell in a column takes those of all rows
        s, out = statistic, []
        for start, block in row_blocks(x):
            part = members.rows(start, start + len(block))
            assert part.codes is not None
            found, least = kernels.left_out(
                block,
                part.codes,
                part.weights,
                *(s.weight, s.mean, s.mean_low, s.m2),
                added=self.share * _largest_without(s.rows.pooled(), block),
                before=self.added(statistic),
            )
            found[~(least > LEAST)] = np.nan
            out.append(found)
        return np.asarray(np.vstack([np.zeros((0, len(s.weight))), *out]))


def _largest_without(rows: Moments, x: Float) -> Float:
    """The largest variance of a column without each row (n,), whatever its weight."""
    n, mean, m2 = rows.weight[0], rows.mean[0], rows.m2[0]
    rest = np.where(n > 1, n - 1, np.nan)
    most = m2 / rest  # no row leaves more
    lead = np.nanargmax(most)

    def left(j: Any) -> Float:
        away = x[:, j].astype(np.float64) - mean[j] - rows.mean_low[0, j]
        here = (m2[j] - n[j] / rest[j] * away**2) / rest[j]
        return np.asarray(np.where(np.isnan(away), m2[j] / n[j], np.maximum(here, 0.0)))

    largest = left(lead)
    for j in np.flatnonzero((most > largest.min()) & (np.arange(len(n)) != lead)):
        largest = np.maximum(largest, left(j))
    return np.asarray(largest)
