"""Evidence for joint tables of discrete columns, from the counts of pairs of columns.

A column, or a group of columns whose combinations of levels are its levels, has probabilities with a Dirichlet prior of
one pseudo-row for each of its L levels. With counts n_kl, its evidence in all classes is

    log p  =  Σ_k (Σ_l log Γ(1 + n_kl) − log Γ(L + n_k) + log Γ(L))

Two groups are compared on the rows where neither has a missing cell.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy

from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Codes, Float
from suffice.statistics import Membership

__all__ = ["MOST_LEVELS", "TableEvidence"]

MOST_LEVELS = 256  # of a column, and of a joint table
ROWS_AT_ONCE = 4096


class TableEvidence:
    """The evidence of groups of discrete columns.

    Parameters
    ----------
    columns : sequence of arrays of int of shape (n,)
        Codes of the levels of each column; −1 for a missing cell.
    sizes : sequence of int
        Number of levels of each column.
    members : Membership
        The class and weight of each row.
    """

    def __init__(self, columns: Sequence[Codes], sizes: Sequence[int], members: Membership) -> None:
        assert members.codes is not None
        self._codes = list(columns)
        self._sizes = list(sizes)
        self._classes, self._n_classes = members.codes, len(members.classes)
        self._weights = members.weights
        self._linked: list[set[int]] = []

    def __len__(self) -> int:
        return len(self._sizes)

    def gains(self) -> Float:
        """The gain of each pair of columns (d, d)."""
        d, sizes = len(self._sizes), np.array(self._sizes)
        bounds = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        out = np.zeros((d, d))
        pairs = np.multiply.outer(sizes, sizes)
        for k in range(self._n_classes):
            counts = self._pair_counts(np.flatnonzero(self._classes == k), bounds)
            beside = np.add.reduceat(counts, bounds, axis=1)  # of each level, in rows where column j is known (C, d)
            both = np.add.reduceat(beside, bounds, axis=0)
            one = np.add.reduceat(scipy.special.gammaln(1 + beside), bounds, axis=0) - log_rise(sizes[:, None], both)
            joint = np.add.reduceat(np.add.reduceat(scipy.special.gammaln(1 + counts), bounds, axis=0), bounds, axis=1)
            out += joint - log_rise(pairs, both) - one - one.T
        out[(pairs > MOST_LEVELS) | np.eye(d, dtype=bool)] = -np.inf
        self._linked = [set(np.flatnonzero(row > 0).tolist()) for row in out]
        return out

    def _pair_counts(self, rows: np.ndarray, bounds: Codes) -> Float:
        """Weight of the rows that have two levels, for all pairs of levels of all columns (C, C)."""
        total = int(bounds[-1]) + self._sizes[-1]
        out = np.zeros((total, total))
        for start in range(0, len(rows), ROWS_AT_ONCE):
            some = rows[start : start + ROWS_AT_ONCE]
            codes = np.column_stack([column[some] for column in self._codes])
            ones = np.zeros((len(some), total + 1))  # the last column takes missing cells
            ones[np.arange(len(some))[:, None], np.where(codes >= 0, bounds + codes, total)] = 1
            ones = ones[:, :-1]
            out += ones.T @ (ones if self._weights is None else ones * self._weights[some][:, None])
        return out

    def merge(self, a: int, b: int) -> Float:
        """Merge group b into group a, and return the gain of a with each other group (d,).

        Only groups that gain with a or with b are compared; others stay apart.
        """
        self._codes[a], self._sizes[a] = self._joint(a, b), self._sizes[a] * self._sizes[b]
        candidates = (self._linked[a] | self._linked[b]) - {a, b}
        out = np.full(len(self._sizes), -np.inf)
        for c in candidates:
            if self._sizes[a] * self._sizes[c] <= MOST_LEVELS:
                out[c] = self.gain([a, c])
        self._linked[a] = candidates
        for c, linked in enumerate(self._linked):
            linked.discard(b)
            if c in candidates:
                linked.add(a)
        return out

    def _joint(self, a: int, b: int) -> Codes:
        first, second = self._codes[a], self._codes[b]
        return np.where((first >= 0) & (second >= 0), first * self._sizes[b] + second, -1)

    def gain(self, at: Sequence[int]) -> float:
        """How much more evidence one table of these groups has than the groups apart."""
        sizes = [self._sizes[j] for j in at]
        known = np.logical_and.reduce([self._codes[j] >= 0 for j in at])
        joint = np.ravel_multi_index([np.where(known, self._codes[j], 0) for j in at], sizes)
        place = np.where(known, self._classes * int(np.prod(sizes)) + joint, -1)[known]
        weights = None if self._weights is None else self._weights[known]
        flat: Float = np.bincount(place, weights, self._n_classes * int(np.prod(sizes))).astype(np.float64, copy=False)
        counts = flat.reshape(-1, *sizes)
        total = _evidence(counts.reshape(self._n_classes, -1))
        for i in range(len(at)):
            others = tuple(axis for axis in range(1, len(at) + 1) if axis != i + 1)
            total -= _evidence(counts.sum(axis=others))
        return total


def _evidence(counts: Float) -> float:
    """Evidence of the counts of levels in each class (K, L)."""
    return float(scipy.special.gammaln(1 + counts).sum() - log_rise(counts.shape[1], counts.sum(axis=1)).sum())
