"""Numbers that are read as yes or no."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import issparse

from suffice.tables.sparse_cells import same_cells

__all__ = ["ThresholdedMatrix"]


@dataclass(frozen=True, eq=False)
class ThresholdedMatrix:
    """A matrix whose values are yes if they are above a threshold of at least 0; no copy of it is made for that.

    >>> ThresholdedMatrix(np.array([[0.5, 2.0, np.nan]]), 1.0).plain()
    array([[ 0.,  1., nan]])
    """

    x: Any
    above: float

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        rows, columns = self.x.shape
        return rows, columns

    def __len__(self) -> int:
        return int(self.x.shape[0])

    def plain(self) -> Any:
        """The matrix of zeros and ones, with NaN where a value is missing."""
        if issparse(self.x):
            return same_cells(self.x, yes_or_no(self.x.data, self.above))
        return yes_or_no(self.x, self.above)


def yes_or_no(values: Any, above: float) -> Any:
    """1 where a value is above the threshold, 0 where not, NaN where it is missing."""
    answers = (values > above).astype(values.dtype)
    missing = np.isnan(values)
    return np.where(missing, values, answers) if missing.any() else answers
