"""Leave-one-out scores of multivariate Gaussians with a normal-inverse-Wishart prior.

The s pseudo-rows of the prior look like all rows together, so without a row x of weight w they change, too. With n rows
of mean m and scatter T, and class k of n_k rows with the scatter S_k about its mean, the posterior scatter is

    A_k = S_k + s/n T + κ_k δ_k δ_kᵀ,    δ_k = mean_k − m,    κ_k = n_k s / (n_k + s)

Without the row, n is smaller by w, S_k and T lose multiples of uuᵀ and ttᵀ, where u = x − mean_k and t = x − m, and δ_k
moves along t and u = t − δ_k. All of it happens in the plane of t and δ_k. The matrix ``B_k = S_k + s/(n−w) T`` is the
same for all rows of one weight, so it is factored once, and each row costs a 2×2 system: for ``A = B + V C Vᵀ``

    |A| = |B| |I + C G|,    vᵀA⁻¹v = vᵀB⁻¹v − gᵀ(I + C G)⁻¹C g,    G = VᵀB⁻¹V,    g = VᵀB⁻¹v

A shared covariance sums over the classes, and has a third direction, ``q = Σ κ_k δ_k``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from suffice.families.covariance import Whitening, whiten
from suffice.families.linear import centred_blocks
from suffice.families.multivariate_gaussian.wishart import as_one_class, log_student_density
from suffice.numerics.types import Codes, Float
from suffice.statistics import Membership, PooledScatter, Scatter

__all__ = ["conjugate_leave_one_out"]

LEAST_VOLUME = 1e-4  # share of the volume that must remain without the row; below it, digits are lost
MOST_WEIGHTS = 8  # different row weights; each needs its own factors


def conjugate_leave_one_out(
    statistic: Scatter | PooledScatter,
    smoothing: float,
    estimation: Literal["map", "bayes"],
    x: Float,
    members: Membership,
    *,
    shared: bool,
) -> Float | None:
    """Compute log p(x | y) of each row given all other rows (n, K); NaN in rows that leave too little behind.

    None if the covariance of all rows is singular, or the rows have many different weights.
    """
    assert members.codes is not None
    codes = members.codes
    w = np.ones(len(codes)) if members.weights is None else members.weights
    weights = np.unique(w)
    if len(weights) > MOST_WEIGHTS:
        return None
    out = np.full((len(x), len(statistic.weight)), np.nan)
    for weight in weights:
        rows = np.flatnonzero((w == weight) & (statistic.weight[codes] - weight > 1e-9 * statistic.weight[codes]))
        model = _WithoutWeight.of(statistic, smoothing, float(weight), shared=shared)
        if model is None:
            return None
        for block, t in centred_blocks(x[rows], model.mean, model.mean_low):
            here = rows[block]
            out[here] = (
                model.shared_scores(t, codes[here], estimation)
                if shared
                else model.own_scores(t, codes[here], estimation)
            )
    out[np.isnan(out).any(axis=1)] = np.nan
    return out


@dataclass(frozen=True, eq=False)
class _WithoutWeight:
    """The posterior without a row of weight ``lost``, before it is known which row.

    ``apart`` are the class means relative to the mean of all rows (K, d); ``factors`` whiten B, one for all classes or
    one for each.
    """

    lost: float
    smoothing: float
    weight: Float
    mean: Float
    mean_low: Float
    apart: Float
    factors: list[Whitening]

    @classmethod
    def of(
        cls, statistic: Scatter | PooledScatter, smoothing: float, lost: float, *, shared: bool
    ) -> _WithoutWeight | None:
        every, weight = as_one_class(statistic), statistic.weight
        left = float(weight.sum()) - lost
        if left <= 0:
            return None
        mean, low = every.mean[0], every.mean_low[0]
        apart = (statistic.mean - mean) + (statistic.mean_low - low)
        prior, prior_low = smoothing / left * every.scatter[0], smoothing / left * every.scatter_low[0]
        if shared:
            own, own_low = statistic.within()
            between = (_pull(weight, smoothing)[:, None] * apart).T @ apart
            factors = [whiten(own + len(weight) * prior + between, own_low + len(weight) * prior_low)]
        else:
            assert isinstance(statistic, Scatter)
            parts = zip(statistic.scatter, statistic.scatter_low, strict=True)
            factors = [whiten(own + prior, own_low + prior_low) for own, own_low in parts]
        if any(len(each.dependent) for each in factors):
            return None
        return cls(lost, smoothing, weight, mean, low, apart, factors)

    # ------------------------------------------------------------------ numbers of each row and class (n, K)

    def _left(self, codes: Codes) -> Float:
        """Weight of each class without the row."""
        left = np.tile(self.weight, (len(codes), 1))
        left[np.arange(len(codes)), codes] -= self.lost
        return left

    def _move(self, codes: Codes) -> tuple[Float, Float]:
        """The class means relative to the mean of all rows, both without the row: parts of t and of δ_k."""
        left = float(self.weight.sum()) - self.lost
        own = np.arange(len(codes)), codes
        back = self.lost / (self.weight[codes] - self.lost)
        of_t = np.full((len(codes), len(self.weight)), self.lost / left)
        of_apart = np.ones_like(of_t)
        of_t[own] -= back
        of_apart[own] += back
        return of_t, of_apart

    def _from_mean(self, codes: Codes) -> tuple[Float, Float]:
        """The row relative to the posterior mean of each class: parts of t and of δ_k."""
        left = self._left(codes)
        share = left / (left + self.smoothing)
        of_t, of_apart = self._move(codes)
        total = float(self.weight.sum()) - self.lost
        return 1 + self.lost / total - share * of_t, -share * of_apart

    def _lost_squares(self, codes: Codes) -> tuple[float, Float]:
        """Factors of ttᵀ in the prior of a class, and of uuᵀ in the scatter of the row's class (n,)."""
        total, n = float(self.weight.sum()), self.weight[codes]
        left = total - self.lost
        return self.smoothing / left * total * self.lost / left, n * self.lost / (n - self.lost)

    # ------------------------------------------------------------------ scores

    def own_scores(self, t: Float, codes: Codes, estimation: str) -> Float:
        """Scores with a covariance for each class (n, K)."""
        out = np.empty((len(t), len(self.weight)))
        left = self._left(codes)
        (of_t, of_apart), (v_t, v_apart) = self._move(codes), self._from_mean(codes)
        of_prior, of_row = self._lost_squares(codes)
        for k, factor in enumerate(self.factors):
            white, apart = t @ factor.matrix, self.apart[k] @ factor.matrix
            gram = _gram(white, np.broadcast_to(apart, white.shape))
            moved = np.stack([of_t[:, k], of_apart[:, k]], axis=1)
            change = _pull(left[:, k], self.smoothing)[:, None, None] * _outer(moved)
            change[:, 0, 0] -= of_prior
            change -= np.where(codes == k, of_row, 0.0)[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
            v = np.stack([v_t[:, k], v_apart[:, k]], axis=1)
            volume, square = _updated(gram, change, v)
            size = left[:, k] + self.smoothing
            out[:, k] = _log_density(factor, volume, square, size, size, estimation)
        return out

    def shared_scores(self, t: Float, codes: Codes, estimation: str) -> Float:
        """Scores with one covariance for all classes (n, K)."""
        factor, n_classes, rows = self.factors[0], len(self.weight), np.arange(len(t))
        left = self._left(codes)
        (of_t, of_apart), (v_t, v_apart) = self._move(codes), self._from_mean(codes)
        of_prior, of_row = self._lost_squares(codes)
        pull = _pull(self.weight, self.smoothing)
        white, apart = t @ factor.matrix, self.apart @ factor.matrix
        own = pull[codes]
        # In the directions t, δ of the row's class, and q.
        gram = _gram(white, apart[codes], np.broadcast_to(pull @ apart, white.shape))
        along = self.lost / (float(self.weight.sum()) - self.lost)
        change = np.zeros((len(t), 3, 3))
        change[:, 0, 0] = along**2 * (pull.sum() - own) - n_classes * of_prior
        change[:, 0, 1] = change[:, 1, 0] = -along * own
        change[:, 0, 2] = change[:, 2, 0] = along
        change[:, 1, 1] = -own
        moved = np.stack([of_t[rows, codes], of_apart[rows, codes]], axis=1)
        change[:, :2, :2] += _pull(left[rows, codes], self.smoothing)[:, None, None] * _outer(moved)
        change[:, :2, :2] -= of_row[:, None, None] * np.array([[1.0, -1.0], [-1.0, 1.0]])
        out = np.empty((len(t), n_classes))
        whole = left.sum(axis=1) + n_classes * self.smoothing
        for k in range(n_classes):
            # v = v_t t + v_apart δ_k has inner products with the three directions.
            size = left[:, k] + self.smoothing
            v = v_t[:, k, None] * white + v_apart[:, k, None] * apart[k]
            inner = np.stack(
                [
                    np.einsum("ij,ij->i", v, white),
                    np.einsum("ij,ij->i", v, apart[codes]),
                    v @ (pull @ apart),
                ],
                axis=1,
            )
            volume, square = _updated_square(gram, change, inner, np.einsum("ij,ij->i", v, v))
            out[:, k] = _log_density(factor, volume, square, whole, size, estimation)
        return out


def _pull(weight: Float, smoothing: float) -> Float:
    """κ = n s / (n + s): the weight of the distance between a class and the prior."""
    return np.asarray(weight * smoothing / (weight + smoothing))


def _gram(*directions: Float) -> Float:
    """Inner products of the directions of each row (n, r, r), for directions (n, d)."""
    return np.stack([np.stack([np.einsum("ij,ij->i", a, b) for b in directions], -1) for a in directions], -2)


def _outer(v: Float) -> Float:
    return np.asarray(v[:, :, None] * v[:, None, :])


def _updated(gram: Float, change: Float, v: Float) -> tuple[Float, Float]:
    """``log |A| − log |B|`` and vᵀA⁻¹v of each row, for v in the directions of the update."""
    inner = np.einsum("nij,nj->ni", gram, v)
    return _updated_square(gram, change, inner, np.einsum("ni,ni->n", inner, v))


def _updated_square(gram: Float, change: Float, inner: Float, square: Float) -> tuple[Float, Float]:
    system = np.eye(gram.shape[1]) + change @ gram
    volume = np.linalg.det(system)
    good = volume > LEAST_VOLUME
    system[~good] = np.eye(gram.shape[1])
    solved = np.linalg.solve(system, np.einsum("nij,nj->ni", change, inner)[:, :, None])[:, :, 0]
    return np.log(np.where(good, volume, np.nan)), square - np.einsum("ni,ni->n", inner, solved)


def _log_density(
    factor: Whitening, volume: Float, square: Float, divisor: Float, size: Float, estimation: str
) -> Float:
    """log p(x) of a Gaussian, or of its predictive t, with the covariance A / divisor."""
    d = len(factor.matrix)
    log_det = factor.log_det + volume - d * np.log(divisor)
    distance = divisor * square
    if estimation == "map":
        return np.asarray(-0.5 * (d * np.log(2 * np.pi) + log_det + distance))
    return log_student_density(distance, log_det, d, divisor, 1 + 1 / size)
