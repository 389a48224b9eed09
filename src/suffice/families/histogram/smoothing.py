"""Smoothed ratios of a class to all rows, bin by bin, and the choice of how much to smooth.

    R_kb = (Σ_a N_ka S_ab + m w_b) / ((n_k + m) w_b),    w_b = Σ_ka N_ka S_ab / n

N are the counts of class k in bin a, S is a smoother whose rows sum to one, w the smoothed share of all rows, and m the
number of pseudo-rows that look like all rows together.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import scipy

from suffice.numerics.types import Float

__all__ = ["Smoothed", "chosen_smoothing"]

WIDTHS = (0.8, 0.4, 0.2, 0.1)  # of a Gaussian kernel, in normal scores
GROUPS = (3, 5, 10, 20)
PSEUDO_ROWS = (32.0, 8.0, 2.0, 0.5)
SAME = 1e-9  # log-losses that differ by less, relative to their size, are equal: the smoothest wins


@dataclass(frozen=True, eq=False)
class Smoothed:
    """Smoothed counts of one column.

    Attributes
    ----------
    smoother : array of shape (B, B)
    count : array of shape (K, B)
        Smoothed counts, N S.
    rows : array of shape (K,)
        Weight of each class.
    pseudo_rows : float
    name : str
        The smoother in words.
    """

    smoother: Float
    count: Float
    rows: Float
    pseudo_rows: float
    name: str

    def log_ratio(self) -> Float:
        """Logarithm of R (K, B)."""
        w = self.count.sum(axis=0) / self.rows.sum()
        m = self.pseudo_rows
        return np.asarray(np.log(self.count + m * w) - np.log(self.rows[:, None] + m) - np.log(w))


def chosen_smoothing(count: Float, width: float | None, pseudo_rows: float | None) -> Smoothed:
    """The smoother and the pseudo-rows with the least leave-one-out log-loss of this column alone.

    Parameters
    ----------
    count : array of shape (K, B)
        No bin is empty in all classes.
    width, pseudo_rows : float, optional
        Fixed settings.
    """
    weight = count.sum(axis=0)
    names, smoothers = _smoothers((weight / weight.sum()).tobytes(), width)
    m = np.array(PSEUDO_ROWS if pseudo_rows is None else (pseudo_rows,))
    smoothed = count @ smoothers  # (T, K, B)
    at, which = 0, 0
    if len(smoothers) * len(m) > 1:
        loss = _log_losses(count, smoothed, np.diagonal(smoothers, axis1=1, axis2=2), m)
        at, which = divmod(int(np.argmax(loss <= loss.min() * (1 + SAME))), len(m))
    return Smoothed(smoothers[at], smoothed[at], count.sum(axis=1), float(m[which]), names[at])


@lru_cache(maxsize=8)
def _smoothers(shares: bytes, width: float | None) -> tuple[list[str], Float]:
    """Candidates for S (T, B, B), from the smoothest to the identity, and their names.

    They depend on nothing but the shares of the bins, which are equal in all columns without equal numbers.
    """
    share = np.frombuffer(shares)
    middle = np.cumsum(share) - share / 2
    score = scipy.special.ndtri(np.clip(middle, 1e-12, 1 - 1e-12))
    identity = np.eye(len(share))
    widths = WIDTHS if width is None else ((width,) if width > 0 else ())
    names, out = [f"kernel {h:g}" for h in widths], [_kernel(score, share, h) for h in widths]
    if width is None:
        for g in GROUPS:
            if g < len(share):
                group = np.minimum((g * middle).astype(np.int64), g - 1)
                same = np.where(group[:, None] == group, share, 0.0)
                names.append(f"{g} groups")
                out.append(same / same.sum(axis=1, keepdims=True))
    if width is None or width == 0:
        names.append("none")
        out.append(identity)
    found = np.stack(out)
    found.setflags(write=False)
    return names, found


def _kernel(score: Float, share: Float, width: float) -> Float:
    weights = np.exp(-0.5 * ((score[:, None] - score) / width) ** 2) * share
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _log_losses(count: Float, smoothed: Float, own: Float, m: Float) -> Float:
    """Sum of −log p(class | bin) over all rows, each from the other rows (T, M).

    Parameters
    ----------
    count : array of shape (K, B)
    smoothed : array of shape (T, K, B)
    own : array of shape (T, B)
        Share of a row that a smoother leaves in its bin.
    m : array of shape (M,)
    """
    rows = count.sum(axis=1)
    total = rows.sum()
    counted = np.where(rows[:, None] > 1, count, 0.0)  # the only row of a class has no other row to learn from
    if total <= 1 or not counted.any():
        return np.zeros((len(smoothed), len(m)))
    smoothed, m = smoothed[:, None], m[:, None, None]  # (T, 1, K, B), (M, 1, 1)
    own = own[:, None, None]
    pooled = smoothed.sum(axis=2, keepdims=True)
    share = np.maximum(pooled - own, 0.0) / (total - 1)
    r = rows[:, None]
    joint = r * (smoothed + m * share) / (r + m)  # (T, M, K, B)
    left = np.maximum(r - 1, 0.0)
    without = left * (np.maximum(smoothed - own, 0.0) + m * share) / (left + m)
    evidence = joint.sum(axis=2, keepdims=True) - joint + without
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(without) - np.log(evidence)
    # Without the row its bin is empty, and the row has the class shares.
    empty = evidence <= 0
    logs = np.where(empty, np.log(np.maximum(left, 1e-300) / (total - 1)), logs)
    return np.asarray(-np.where(counted > 0, counted * np.where(counted > 0, logs, 0.0), 0.0).sum(axis=(2, 3)))
