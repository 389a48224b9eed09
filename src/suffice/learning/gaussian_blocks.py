"""Evidence for multivariate Gaussian blocks, from the scatter matrices of the classes.

A group A of m columns has, in each class k (own covariances) or in all classes together (a shared covariance), a
covariance with an inverse-Wishart prior that is worth one row with independent columns: m degrees of freedom and the
scatter Ψ = diag(variances). With the scatter S of ν degrees of freedom about the class means, its evidence is

    log p  =  m/2 log|Ψ| − (m + ν)/2 log|Ψ + S| + log Γ_m((m + ν)/2) − log Γ_m(m/2)

up to terms that are the same for all groupings. A group, also of one column, counts with the better of own and shared
covariances, so a merge gains by dependence alone. Ψ + S is never singular, so neither collinear columns nor classes
with few rows have infinite evidence. For many rows, the gain of a merge is that of Schwarz's criterion (BIC).

All determinants follow from one factorisation for each group, which grows with it: merging m_a and m_b of d columns
takes m_a m_b d operations for each matrix.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import numpy as np
import scipy

from suffice.numerics.types import Float

__all__ = ["GaussianEvidence"]


class GaussianEvidence:
    """The evidence of groups of Gaussian columns.

    Parameters
    ----------
    scatter : array of shape (K, d, d)
        Scatter matrix of each class, or with K = 1 that of all rows about their class means.
    degrees : array of shape (K,)
        Degrees of freedom of each matrix: rows less class means.

    Notes
    -----
    A matrix t is that of a class, or the last one, the sum over the classes. Columns must vary within a class.
    """

    def __init__(self, scatter: Float, degrees: Float) -> None:
        n_columns = scatter.shape[-1]
        pooled, whole = scatter.sum(axis=0), float(degrees.sum())
        variance = np.diagonal(pooled) / max(whole, 1.0)
        self._own = slice(0, len(scatter))
        stacked = np.concatenate([scatter, pooled[None]])
        self._degrees = np.append(degrees, whole)
        self._rises: dict[int, Float] = {}
        # One more row like all rows together keeps the variance of a class above zero.
        squares = np.diagonal(stacked, axis1=1, axis2=2)
        prior = (squares + variance) / (self._degrees[:, None] + 1)
        self._log_prior = np.log(prior)  # (T, d)
        root = np.sqrt(prior)
        stacked /= root[:, :, None]
        stacked /= root[:, None, :]
        stacked[:, np.arange(n_columns), np.arange(n_columns)] += 1
        self._matrix = stacked  # Ψ + S in units of Ψ (T, d, d)
        # Rows of L⁻¹(Ψ + S), where L Lᵀ is the block of a group (T, m, d), and log|L Lᵀ| (T,).
        diagonal = np.diagonal(stacked, axis1=1, axis2=2)
        self._columns: list[list[int]] = [[j] for j in range(n_columns)]
        self._factor = [stacked[:, j : j + 1] / np.sqrt(diagonal[:, j])[:, None, None] for j in range(n_columns)]
        self._log_det = [np.log(diagonal[:, j]) for j in range(n_columns)]
        self._explained = [(factor**2).sum(axis=1) for factor in self._factor]  # of the squares of each column (T, d)
        self._apart = [max(self._of_group([j], self._log_det[j])) for j in range(n_columns)]
        self._score = list(self._apart)

    def __len__(self) -> int:
        return len(self._columns)

    def _rise(self, size: int) -> Float:
        """log Γ_m((m + ν)/2) − log Γ_m(m/2) of m columns, for each matrix (T,)."""
        if size not in self._rises:
            after = scipy.special.multigammaln((size + self._degrees) / 2, size)
            self._rises[size] = np.asarray(after - scipy.special.multigammaln(size / 2, size))
        return self._rises[size]

    def _evidence(self, size: int, log_det: Float, log_prior: Float) -> Float:
        """Evidence of groups of ``size`` columns under each matrix, (..., T)."""
        v = self._degrees
        return np.asarray(self._rise(size) - 0.5 * ((size + v) * log_det + v * log_prior))

    def _of_group(self, columns: Sequence[int], log_det: Float) -> tuple[float, float]:
        """Evidence of a group with own covariances and with a shared one."""
        each = self._evidence(len(columns), log_det, self._log_prior[:, columns].sum(axis=1))
        return float(each[self._own].sum()), float(each[-1])

    def shares(self, columns: Sequence[int]) -> bool:
        """Whether a shared covariance has more evidence than own ones."""
        own, shared = self._of_group(columns, self._log_dets(columns))
        return shared >= own

    def gain(self, columns: Sequence[int]) -> float:
        """How much more evidence a group has than its columns apart."""
        both = self._of_group(columns, self._log_dets(columns))
        return max(both) - sum(self._apart[j] for j in columns)

    def _log_dets(self, columns: Sequence[int]) -> Float:
        """log|Ψ + S| of some columns in units of Ψ, for each matrix (T,)."""
        return np.asarray(np.linalg.slogdet(self._matrix[:, columns][:, :, columns])[1])

    def gains(self) -> Float:
        """The gain of each pair of columns (d, d)."""
        d = len(self._columns)
        out = np.full((d, d), -np.inf)
        for j in range(d - 1):
            out[j, j + 1 :] = out[j + 1 :, j] = self._gains_of(j, np.arange(j + 1, d)[:, None])
        return out

    def merge(self, a: int, b: int) -> Float:
        """Merge group b into group a, and return the gain of a with each other group (d,)."""
        if len(self._columns[a]) < len(self._columns[b]):
            first, second = b, a
        else:
            first, second = a, b
        old, new = self._factor[first], self._columns[second]
        rest = self._matrix[:, new] - old[:, :, new].transpose(0, 2, 1) @ old
        lower = np.linalg.cholesky(rest[:, :, new])
        added_rows = np.linalg.solve(lower, rest)
        self._factor[a] = np.concatenate([old, added_rows], axis=1)
        self._explained[a] = self._explained[first] + (added_rows**2).sum(axis=1)
        added = 2 * np.log(np.diagonal(lower, axis1=1, axis2=2)).sum(axis=1)
        self._log_det[a] = self._log_det[first] + added
        self._columns[a] = self._columns[first] + new
        self._columns[b], self._factor[b] = [], old[:, :0]
        self._score[a] = max(self._of_group(self._columns[a], self._log_det[a]))
        out = np.full(len(self._columns), -np.inf)
        others = sorted((j for j, columns in enumerate(self._columns) if columns and j != a), key=self._size)
        for _, same in groupby(others, key=self._size):
            at = list(same)
            out[at] = self._gains_of(a, np.array([self._columns[j] for j in at]), at)
        return out

    def _size(self, j: int) -> int:
        return len(self._columns[j])

    def _gains_of(self, a: int, columns: np.ndarray, at: Sequence[int] | None = None) -> Float:
        """Gain of group a with each of the groups of equal size whose columns are given (q, m)."""
        at = columns[:, 0].tolist() if at is None else at
        size = columns.shape[1]
        rest = self._matrix[:, columns[:, :, None], columns[:, None, :]]
        if size == 1:
            log_rest = np.log(rest[:, :, 0, 0] - self._explained[a][:, columns[:, 0]])
        else:
            across = np.moveaxis(self._factor[a][:, :, columns], 1, 2)  # (T, q, m_a, m)
            log_rest = np.linalg.slogdet(rest - np.swapaxes(across, 2, 3) @ across)[1]
        log_det = self._log_det[a] + log_rest.T  # (q, T)
        prior = self._log_prior[:, self._columns[a]].sum(axis=1) + self._log_prior[:, columns].sum(axis=2).T
        each = self._evidence(self._size(a) + size, log_det, prior)
        both = np.maximum(each[:, self._own].sum(axis=1), each[:, -1])
        return np.asarray(both - self._score[a] - np.array([self._score[j] for j in at]))
