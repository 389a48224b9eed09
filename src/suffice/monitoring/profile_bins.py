"""The bins of a profile: cuts at quantiles of the numbers of its rows, and at their least and largest number.

The two outer bins of a number have no row of the profile. A new row is in one of them if it lies outside the range.

log p(x) of a profile is computed by models without the row, and that of a new row by the whole model. If all columns
are discrete, many rows have the same log p(x) under the whole model, an *atom*, and nearby values without them. A cut
between these would count the same rows on one side in the profile, and on the other in a window. Hence no cut lies
nearer to an atom than the values of its rows do.

The whole model ranks the atoms by the rows that it has learned, so a frequent one counts as likely a little too often.
This is of no importance if the gain in log p(x) of learned rows, δ, is small next to the standard error of its mean.
Otherwise log p(x) has no bins within its range.
"""

from __future__ import annotations

import math

import numpy as np

from suffice.numerics.types import Float, Mask
from suffice.statistics.bins import quantile_cuts

__all__ = ["density_cuts", "number_cuts", "with_range"]

BINS = 24  # of a number, besides those outside its range
LEAST_ROWS, LEAST_SHARE = 3, 0.001  # of an atom
MARGIN = 1.5  # times the largest distance of a held-out value from its atom
ROUNDING = 1e-9  # of log p(x), relative
MOST_GAIN = 0.5  # standard errors of the mean
SLACK = 1e-12  # of the ends of a range, relative


def number_cuts(values: Float) -> tuple[float, ...]:
    """Cuts of finite numbers; none without numbers.

    A cut at a number that one row has lies halfway to the next number: at the number itself, a bin would always end
    with a row of the profile, but with any row of a window.

    >>> number_cuts(np.array([1.0, 2.0, 4.0]))[1:]
    (1.5, 3.0, 4.0)
    """
    if not len(values):
        return ()
    own, count = np.unique(values, return_counts=True)
    at = np.searchsorted(own, quantile_cuts(values, BINS))
    inner = at[at < len(own) - 1]
    halfway = own[inner] / 2 + own[inner + 1] / 2
    between = (count[inner] == 1) & (own[inner] <= halfway) & (halfway < own[inner + 1])
    cuts = np.where(between, halfway, own[inner])
    return with_range(tuple(cuts.tolist()), values, 0.0)


def with_range(cuts: tuple[float, ...], values: Float, slack: float) -> tuple[float, ...]:
    """Cuts with those below the least and above the largest number, which rounding alone does not pass."""
    low, high = float(values.min()), float(values.max())
    # A number this small next to zero is lost if the processor flushes subnormal numbers.
    below = low - max(slack, SLACK * abs(low), 1e-300)
    above = high + slack
    inner = [each for each in cuts if below < each < above]
    return tuple(each for each in (below, *inner, above) if math.isfinite(each))


def density_cuts(held_out: Float, whole: Float | None) -> tuple[float, ...]:
    """Cuts of log p(x), from its values by models without each row, and by the whole model; none without values.

    Two atoms of equal share, which rows that are held out lower by 0.01:

    >>> whole = np.repeat([-2.0, -1.0], 500)
    >>> [round(each, 3) for each in density_cuts(whole - np.tile([0.0, 0.01], 500), whole)]
    [-2.01, -1.985, -1.0]
    """
    whole = held_out if whole is None else whole
    usable = np.isfinite(held_out) & np.isfinite(whole)
    held_out, whole = held_out[usable], whole[usable]
    if not len(held_out):
        return ()
    rounding = ROUNDING * max(1.0, float(np.abs(whole).max()))
    both = np.concatenate([held_out, whole])
    low, high, share = _atoms(held_out, whole, rounding)
    gain, spread = float((whole - held_out).mean()), float(whole.std())
    if share > 0.5 and gain * math.sqrt(len(whole)) > MOST_GAIN * spread:
        return with_range((), both, rounding)
    cuts = np.unique(_outside(np.array(quantile_cuts(held_out, BINS)), low, high, held_out))
    rank = np.searchsorted(np.sort(held_out), cuts, side="right")
    separating = (rank > 0) & (rank < len(held_out)) & (np.diff(rank, prepend=0) > 0)
    return with_range(tuple(cuts[separating].tolist()), both, rounding)


def _atoms(held_out: Float, whole: Float, rounding: float) -> tuple[Float, Float, float]:
    """The ends of the intervals that hold atoms, ascending and apart, and the share of the rows in atoms."""
    order = np.argsort(whole, kind="stable")
    value, away = whole[order], np.abs(held_out - whole)[order]
    start = np.flatnonzero(np.diff(value, prepend=-np.inf) > rounding)
    size = np.diff(start, append=len(value))
    frequent: Mask = size >= max(LEAST_ROWS, LEAST_SHARE * len(value))
    reach = (MARGIN * np.maximum.reduceat(away, start) + rounding)[frequent]
    last = value[start + size - 1]
    low, high = value[start][frequent] - reach, last[frequent] + reach
    by = np.argsort(low, kind="stable")
    low, high = low[by], np.maximum.accumulate(high[by]) if len(high) else high
    apart = np.ones(len(low), dtype=bool)
    apart[1:] = low[1:] > high[:-1]
    ends = np.append(apart[1:], True) if len(low) else apart
    return low[apart], high[ends], float(size[frequent].sum() / len(value))


def _outside(cuts: Float, low: Float, high: Float, values: Float) -> Float:
    """Cuts moved to that end of the interval around them which is fewer values away."""
    if not len(low):
        return cuts
    at = np.searchsorted(low, cuts, side="right") - 1
    inside = (at >= 0) & (cuts < high[at])
    ordered = np.sort(values)
    below, here, above = (np.searchsorted(ordered, each, side="right") for each in (low[at], cuts, high[at]))
    return np.where(inside, np.where(here - below <= above - here, low[at], high[at]), cuts)
