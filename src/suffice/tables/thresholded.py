"""Numbers that a threshold turns into zeros and ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.numerics.types import Array, Matrix
from suffice.tables.sparse_cells import is_sparse, same_cells

__all__ = ["ThresholdedMatrix", "thresholded"]


@dataclass(frozen=True, eq=False)
class ThresholdedMatrix:
    """A matrix whose values count as 1 above a threshold of at least 0 and as 0 elsewhere; x is not copied.

    >>> ThresholdedMatrix(np.array([[0.5, 2.0, np.nan]]), 1.0).plain()
    array([[ 0.,  1., nan]])
    """

    x: Matrix
    above: float

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        rows, columns = self.x.shape
        return rows, columns

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def plain(self) -> Matrix:
        """Return the matrix of zeros and ones, with NaN for missing cells."""
        if is_sparse(self.x):
            return same_cells(self.x, thresholded(self.x.data, self.above))
        return thresholded(self.x, self.above)


def thresholded(values: Array, above: float) -> Array:
    """Return 1 for each value above the threshold, 0 for other values, NaN for missing ones."""
    ones = (values > above).astype(values.dtype)
    missing = np.isnan(values)
    return np.where(missing, values, ones) if missing.any() else ones
