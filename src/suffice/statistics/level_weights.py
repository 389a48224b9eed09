"""`LevelWeights`: base class of counts of levels and of cells, whose weights scale and fade."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import replace
from typing import Any, Self

import numpy as np

from suffice.numerics.compensated import product
from suffice.numerics.types import Float
from suffice.statistics.statistic import Statistic, has_faded

__all__ = ["LevelWeights"]


class LevelWeights(Statistic):
    """Weights of levels or cells, and of missing ones, each stored in two doubles.

    Attributes
    ----------
    count, count_low : array of shape (K, C)
    missing, missing_low : array of shape (K, m)
    """

    count: Float
    count_low: Float
    missing: Float
    missing_low: Float

    @abstractmethod
    def without_empty(self) -> Self:
        """Return the statistic without levels of weight zero, except declared ones."""

    def faded(self) -> Self:
        """Return the statistic after `scale`, without levels that have lost their weight."""
        gone, lost = has_faded(self.count), has_faded(self.missing)
        if not (gone.any() or lost.any()):
            return self
        count, low = np.where(gone, 0.0, self.count), np.where(gone, 0.0, self.count_low)
        missing, missing_low = np.where(lost, 0.0, self.missing), np.where(lost, 0.0, self.missing_low)
        return self._with_weights(count, low, missing, missing_low)

    def _scaled(self, factor: float) -> Self:
        by = np.asarray(factor)
        return self._with_weights(
            *product(self.count, self.count_low, by), *product(self.missing, self.missing_low, by)
        )

    def _with_weights(self, count: Float, low: Float, missing: Float, missing_low: Float) -> Self:
        weights: dict[str, Any] = {"count": count, "count_low": low, "missing": missing, "missing_low": missing_low}
        return replace(self, **weights).without_empty()
