"""Missing cells of rows in batches, each row with the matrix of its missing columns.

Of a covariance Σ = Λ⁻¹, observed columns o and missing columns m need matrices of the missing columns alone:

    z_oᵀ Σ_oo⁻¹ z_o = zᵀΛz − (Λz)_mᵀ Λ_mm⁻¹ (Λz)_m,    log |Σ_oo| = log |Σ| + log |Λ_mm|

where z is zero in the missing columns.

This takes a row m³ operations, and all rows of a batch are processed at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from suffice.numerics.types import Codes, Float, Index, Mask

__all__ = ["RowBatch", "bordered", "row_batches"]

CHUNK = 1 << 20  # entries of the matrices of a batch
FEWEST = 64  # rows of a batch


class RowBatch(NamedTuple):
    """Rows with similar numbers of missing cells.

    Attributes
    ----------
    rows : array of shape (r,)
    missing : array of shape (r, m)
        Positions of the missing columns, filled up with d.
    pairs : array of shape (r, m, m)
        Positions of pairs of them in a flat matrix of d + 1 columns.
    """

    rows: Index
    missing: Codes
    pairs: Codes

    def inner(self, precision: Float) -> Float:
        """Λ_mm of each row (..., r, m, m), from matrices (..., d + 1, d + 1) that `bordered` returns."""
        out = precision.reshape(*precision.shape[:-2], -1)[..., self.pairs]
        at = np.arange(self.missing.shape[1])
        out[..., at, at] += self.missing == precision.shape[-1] - 1
        return np.asarray(out)

    def take(self, values: Float) -> Float:
        """The values (..., n, d + 1) of the missing columns (..., r, m)."""
        return np.asarray(values[..., self.rows[:, None], self.missing])


def bordered(values: Float, axes: int = 1) -> Float:
    """Values with zeros after the last entry of their last ``axes`` axes, for positions that are filled up."""
    return np.pad(values, [(0, 0)] * (values.ndim - axes) + [(0, 1)] * axes)


def row_batches(observed: Mask, copies: int = 1) -> Iterator[RowBatch]:
    """Batches of the rows of a mask (n, d) that have a missing cell.

    ``copies`` is the number of matrices of each row that are processed at once.

    >>> [batch.missing.tolist() for batch in row_batches(np.array([[True, False], [True, True], [False, False]]))]
    [[[1, 2], [0, 1]]]
    """
    d = observed.shape[1]
    count = (~observed).sum(axis=1)
    rows = np.argsort(count, kind="stable")
    rows = rows[count[rows] > 0]
    count = count[rows]
    low = 0
    while low < len(rows):
        wide = int(count[min(low + FEWEST, len(rows)) - 1])
        high = min(int(np.searchsorted(count, wide, side="right")), low + max(1, CHUNK // (copies * wide**2)))
        here = rows[low:high]
        lacking = ~observed[here]
        at = np.argsort(observed[here], axis=1, kind="stable")[:, : int(count[high - 1])]
        at = np.where(np.take_along_axis(lacking, at, axis=1), at, d)
        yield RowBatch(here, at, at[:, :, None] * (d + 1) + at[:, None, :])
        low = high
