"""The density of one column: p(x | k) = f(x) R_k(x) / Z_k.

f is the density of all rows. It is linear between the centres of the bins, with tails f₀ (1 + t/τ)⁻⁴ beyond the first
and the last, so it is positive everywhere. log R_k is linear between the centres and constant in the tails. Heights and
masses are logarithms: a column may span hundreds of decades.

The density of a discrete column is that of its numbers with the gaps between them filled; its moments and samples are
those of the numbers themselves, with the probabilities p(bin | k) ∝ f_b R_kb of their bins.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from suffice.families.contract import read_only
from suffice.families.histogram.bins import CountedBins
from suffice.families.histogram.smoothing import Smoothed
from suffice.numerics.types import Codes, Float

__all__ = ["Curve"]

TAIL = 3.0  # the power of a tail's distribution function; its variance is finite
NODES, WEIGHTS = np.polynomial.legendre.leggauss(24)


@dataclass(frozen=True, eq=False)
class Curve:
    """p(x | y) of one column.

    Attributes
    ----------
    log_ratio : array of shape (K, B)
        log R of each class and bin.
    log_height : array of shape (B,)
        Log density of all rows at the centres, not normalised.
    scale : float
        Distance of the first and the last centre.
    log_norm : array of shape (K,)
        log Z.
    bins : CountedBins
    smoothed : Smoothed
    """

    log_ratio: Float
    log_height: Float
    scale: float
    log_norm: Float
    bins: CountedBins
    smoothed: Smoothed

    def __post_init__(self) -> None:
        read_only(self)

    @classmethod
    def of(cls, bins: CountedBins, smoothed: Smoothed) -> Curve:
        """The curve of a column with at least one number."""
        k, centre = len(bins.count), bins.centre
        if len(centre) == 1:  # a constant column has no effect
            return cls(np.zeros((k, 1)), np.zeros(1), 0.0, np.zeros(k), bins, smoothed)
        return cls.of_ratio(bins, smoothed, smoothed.log_ratio())

    @classmethod
    def of_ratio(cls, bins: CountedBins, smoothed: Smoothed, log_ratio: Float) -> Curve:
        """The curve of a column of two or more bins with these log R (K, B)."""
        scale = float(bins.centre[-1] - bins.centre[0])
        first, last = _reach(bins)
        log_height = np.log(bins.share) - np.log(np.concatenate([[2 * first], np.diff(bins.cut), [2 * last]]))
        raw = cls(log_ratio, log_height, scale, np.zeros(len(log_ratio)), bins, smoothed)
        log_norm = np.logaddexp.reduce(raw.log_masses(), axis=1)
        return cls(log_ratio, log_height, scale, log_norm, bins, smoothed)

    # ------------------------------------------------------------------ pieces: a tail, the segments, a tail

    @cached_property
    def tails(self) -> tuple[float, float]:
        """τ of both tails."""
        first, last = _reach(self.bins)
        return TAIL * first, TAIL * last

    def log_masses(self) -> Float:
        """Log mass of each class in each piece (K, B + 1)."""
        start, rise = self.log_ratio[:, :-1], np.diff(self.log_ratio)
        at_start = self.log_height[:-1] + rise + _log_moment(-rise)  # the part of the height at the start of a segment
        at_end = self.log_height[1:] + _log_moment(rise)
        inner = start + np.log(np.diff(self.bins.centre)) + np.logaddexp(at_start, at_end)
        outer = [
            self.log_ratio[:, i] + self.log_height[i] + np.log(tail / TAIL)
            for i, tail in zip((0, -1), self.tails, strict=True)
        ]
        return np.asarray(np.column_stack([outer[0], inner, outer[1]]) - self.log_norm[:, None])

    def masses(self) -> Float:
        """Mass of each class in each piece (K, B + 1)."""
        return np.exp(self.log_masses())

    # ------------------------------------------------------------------ density

    def between(self, values: Float) -> tuple[Codes, Float]:
        """The centre at or before each value, and the share of the way to the next (m,)."""
        centre = self.bins.centre
        at = np.clip(np.searchsorted(centre, values, side="right") - 1, 0, len(centre) - 2)
        return at, np.clip((values - centre[at]) / (centre[at + 1] - centre[at]), 0.0, 1.0)

    def log_density(self, values: Float) -> Float:
        """log p(x | k) of each value under each class (m, K); zero for a constant column."""
        if self.scale == 0:
            return np.zeros((len(values), len(self.log_ratio)))
        at, t = self.between(values)
        share = t[:, None]
        table = self.log_ratio.T - self.log_norm
        out = (1 - share) * table[at] + share * table[at + 1]
        common = _log_between(self.log_height[at], self.log_height[at + 1], t)
        centre = self.bins.centre
        for tail, away in zip(self.tails, (centre[0] - values, values - centre[-1]), strict=True):
            outside = away > 0
            common[outside] -= (TAIL + 1) * (np.log(tail + away[outside]) - np.log(tail))
        return np.asarray(out + common[:, None])

    # ------------------------------------------------------------------ leave-one-out

    def log_ratio_without(self, values: Float, codes: Codes, weights: Float) -> Float:
        """log R − log Z of each value from the counts without it (m, K); NaN if no other row is left.

        Bins, smoother and Z are those of all rows.
        """
        s, n = self.smoothed, float(self.smoothed.rows.sum())
        if self.scale == 0:
            return np.where((weights < n)[:, None], 0.0, np.full((len(values), len(s.rows)), np.nan))
        at, t = self.between(values)
        own, row = self.bins.positions(values), np.arange(len(values))
        left = n - weights
        rows = np.tile(s.rows, (len(values), 1))
        rows[row, codes] = np.maximum(rows[row, codes] - weights, 0.0)
        out = np.zeros((len(values), len(s.rows)))
        pooled = s.count.sum(axis=0)
        for knot, share in ((at, 1 - t), (at + 1, t)):
            removed = weights * s.smoother[own, knot]
            w = pooled[knot] - removed
            w = np.where(w <= 1e-12 * pooled[knot], 0.0, w) / np.where(left > 0, left, np.nan)
            count = s.count.T[knot]
            count[row, codes] = np.maximum(count[row, codes] - removed, 0.0)
            with np.errstate(divide="ignore", invalid="ignore"):
                logs = np.log(count + s.pseudo_rows * w[:, None]) - np.log(rows + s.pseudo_rows) - np.log(w)[:, None]
            # If no other row is near the centre, it says nothing about the class.
            out += share[:, None] * np.where((w == 0)[:, None], 0.0, logs)
        return np.asarray(out - self.log_norm)

    # ------------------------------------------------------------------ moments, samples

    def bin_shares(self) -> Float:
        """p(bin | k) of a discrete column (K, B)."""
        share = self.bins.count.sum(axis=0) * np.exp(self.log_ratio)
        return np.asarray(share / share.sum(axis=1, keepdims=True))

    def moments(self) -> tuple[Float, Float]:
        """Mean and variance of each class (K,)."""
        centre = self.bins.centre
        if self.scale == 0:
            return np.full(len(self.log_ratio), centre[0]), np.zeros(len(self.log_ratio))
        if len(self.bins.values):
            share = self.bin_shares()
            mean = centre[0] + share @ (centre - centre[0])
            with np.errstate(over="ignore"):  # a square may be infinite
                return mean, (share * ((centre - mean[:, None]) ** 2 + self.bins.variances())).sum(axis=1)
        t = (NODES + 1) / 2
        place = ((centre[:-1] - centre[0]) / self.scale)[:, None] + (np.diff(centre) / self.scale)[:, None] * t
        height = _log_between(self.log_height[:-1, None], self.log_height[1:, None], t)
        ratio = self.log_ratio[:, :-1, None] + np.diff(self.log_ratio)[:, :, None] * t - self.log_norm[:, None, None]
        mass = np.exp(ratio + (height + np.log(np.diff(centre))[:, None] + np.log(WEIGHTS / 2)))
        outer = self.masses()[:, [0, -1]]
        tail = np.array(self.tails) / self.scale
        # Beyond its end, a tail has the mean distance τ/2 and the mean square τ².
        first = (mass * place).sum(axis=(1, 2)) - outer[:, 0] * tail[0] / 2 + outer[:, 1] * (1 + tail[1] / 2)
        from_mean = ((place - first[:, None, None]) ** 2 * mass).sum(axis=(1, 2))
        for i, (end, sign) in enumerate(((0.0, -1.0), (1.0, 1.0))):
            gap = end - first
            from_mean += outer[:, i] * (gap**2 + sign * gap * tail[i] + tail[i] ** 2)
        with np.errstate(over="ignore"):  # a square may be infinite
            return centre[0] + self.scale * first, np.square(self.scale * np.sqrt(from_mean))

    def sample(self, codes: Codes, rng: np.random.Generator) -> Float:
        """One number drawn from p(x | y = code) for each code (m,)."""
        centre = self.bins.centre
        if self.scale == 0:
            return np.full(len(codes), centre[0])
        out = np.empty(len(codes))
        discrete = bool(len(self.bins.values))
        masses = self.bin_shares() if discrete else self.masses()
        for k in np.unique(codes):
            here = np.flatnonzero(codes == k)
            if discrete:
                at = rng.choice(masses.shape[1], size=len(here), p=masses[k])
                out[here] = self.bins.drawn(at, rng)
                continue
            piece = rng.choice(masses.shape[1], size=len(here), p=masses[k] / masses[k].sum())
            far = rng.random(len(here)) ** (-1 / TAIL) - 1
            drawn = np.where(piece == 0, centre[0] - self.tails[0] * far, centre[-1] + self.tails[1] * far)
            inner = np.flatnonzero((piece > 0) & (piece < len(centre)))
            at = piece[inner] - 1
            drawn[inner] = centre[at] + np.diff(centre)[at] * self._shares(int(k), at, rng)
            out[here] = drawn
        return out

    def _shares(self, k: int, at: Codes, rng: np.random.Generator) -> Float:
        """Share of the way from a centre to the next (m,), by rejection: the density is linear times exponential."""
        out = np.empty(len(at))
        left = np.arange(len(at))
        ratio = np.exp(self.log_ratio[k] - self.log_ratio[k].max())
        log_ratio = np.log(ratio)
        while len(left):
            a = at[left]
            t = rng.random(len(left))
            most = np.maximum(self.log_height[a], self.log_height[a + 1])
            height = (1 - t) * np.exp(self.log_height[a] - most) + t * np.exp(self.log_height[a + 1] - most)
            bound = np.maximum(ratio[a], ratio[a + 1])
            density = height * np.exp((1 - t) * log_ratio[a] + t * log_ratio[a + 1])
            accepted = rng.random(len(left)) * bound <= density
            out[left[accepted]] = t[accepted]
            left = left[~accepted]
        return out


def _log_moment(rise: Float) -> Float:
    """Compute log ∫ t exp(rise t) dt over 0..1."""
    small = np.abs(rise) < 1e-3
    safe = np.where(small, 1.0, rise)
    moment = np.where(small, 0.5 + rise / 3 + rise**2 / 8, (np.exp(safe) - np.expm1(safe) / safe) / safe)
    return np.log(moment)


def _log_between(first: Float, second: Float, t: Float) -> Float:
    """log((1 − t) exp(first) + t exp(second))."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.logaddexp(np.log1p(-t) + first, np.log(t) + second))


def _reach(bins: CountedBins) -> tuple[float, float]:
    """How far the first and the last bin extend beyond their centres; never zero, even between neighbouring floats."""
    centre, cut = bins.centre, bins.cut
    first, last = float(cut[0] - centre[0]), float(centre[-1] - cut[-1])
    return first if first > 0 else float(centre[1] - centre[0]), last
