"""Find groups of dependent columns: merge the two groups that gain the most evidence, until no merge gains enough.

Of many independent columns, some pairs gain evidence by chance. A merge must therefore gain the logarithm of the number
of pairs of columns, log d(d − 1)/2: a priori, all pairs together are as probable as none. The groups maximise

    log p(rows | groups) − (d − number of groups) · log d(d − 1)/2

step by step.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Float

__all__ = ["Evidence", "merged_groups"]

ROUNDING = 1e-9  # relative difference of gains that counts as a tie


class Evidence(Protocol):
    """How much evidence groups of columns gain when they are merged. Group j starts as column j."""

    def __len__(self) -> int:
        """Number of columns."""

    def gains(self) -> Float:
        """The gain of each pair of columns (d, d); −inf for pairs that cannot be merged, and on the diagonal."""

    def merge(self, a: int, b: int) -> Float:
        """Merge group b into group a, and return the gain of a with each other group (d,); −inf for a itself and b."""


@single_threaded_blas(len)
def merged_groups(evidence: Evidence) -> list[list[int]]:
    """The groups of at least two columns, as sorted positions.

    Each step takes the pair with the largest gain, and of equal ones the first. A step changes the gains of one group,
    so the best partner of each of the others is kept.
    """
    if len(evidence) < 2:
        return []
    gains = evidence.gains()
    groups = [[j] for j in range(len(gains))]
    partner, best = gains.argmax(axis=1), gains.max(axis=1)
    enough = np.log(len(gains) * (len(gains) - 1) / 2)
    while (top := best.max()) > enough:
        least = top - ROUNDING * top
        a = int(np.argmax(best >= least))
        b = int(np.argmax(gains[a] >= least))
        groups[a], groups[b] = sorted(groups[a] + groups[b]), []
        gains[b], gains[:, b] = -np.inf, -np.inf
        gains[a] = gains[:, a] = row = evidence.merge(a, b)
        partner[b], best[b] = -1, -np.inf
        stale = np.union1d(np.flatnonzero((partner == a) | (partner == b) | (row > best)), a)
        partner[stale], best[stale] = gains[stale].argmax(axis=1), gains[stale].max(axis=1)
    return [group for group in groups if len(group) > 1]
