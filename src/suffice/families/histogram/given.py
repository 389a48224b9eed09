"""Curves of a histogram with given parameters.

The density of a class is a curve through the centres of bins, and a density of all rows that is smoothed apart from the
classes. Counts that would be smoothed to given curves need not exist, so the family holds the curves themselves.
"""

from __future__ import annotations

import numpy as np

from suffice.exceptions import InputError, counted
from suffice.families.given import TOLERANCE, GivenTable, LevelValues, check_sums
from suffice.families.histogram.bins import CountedBins
from suffice.families.histogram.curve import Curve
from suffice.families.histogram.smoothing import Smoothed
from suffice.numerics.types import Float
from suffice.statistics.cuts import intervals

__all__ = ["CURVE_NAMES", "CurveNumbers", "curve_numbers", "curve_of", "curve_problem", "curve_table"]

CURVE_NAMES = ("centre", "cut", "share", "value", "weight of value", "log ratio")

CurveNumbers = tuple[tuple[float, ...], ...]
"""Centres, cuts and shares of the bins, distinct numbers and their weights, and log R of each class."""


def curve_table(curve: Curve) -> dict[str, Float | LevelValues]:
    """The parameters of a curve; those that the classes share are repeated for each class."""
    bins, k = curve.bins, len(curve.log_ratio)
    shared = {"centre": bins.centre, "cut": bins.cut, "share": bins.share}
    if len(bins.values):
        shared |= {"value": bins.values, "weight of value": bins.value_weight}
    out = {name: _by_position(np.repeat(values[:, None], k, axis=1)) for name, values in shared.items()}
    return {**out, "log ratio": _by_position(curve.log_ratio.T)}


def curve_numbers(table: GivenTable) -> CurveNumbers:
    """The numbers of a given curve, or of a histogram with cuts and probabilities between them."""
    if "centre" not in table.parameters:
        return _between_cuts(table)
    parts = [
        table.levels(name, signed=True).values[:, 0] if name in table.parameters else np.empty(0)
        for name in CURVE_NAMES[:-1]
    ]
    ratio = table.levels("log ratio", signed=True).values.T
    numbers = tuple(tuple(part.tolist()) for part in (*parts, *ratio))
    problem = curve_problem(numbers)
    if problem:
        raise InputError(f"Column {table.name!r}: {problem}.", column=table.name)
    return numbers


def curve_problem(numbers: object) -> str:
    """Why these are not the numbers of a curve; empty if they are."""
    if not (isinstance(numbers, tuple) and len(numbers) >= 6 and all(isinstance(part, tuple) for part in numbers)):
        return "a curve needs centres, cuts, shares, values, weights of values, and log ratios of each class"
    try:
        parts = [np.array(part, dtype=np.float64) for part in numbers]
    except (TypeError, ValueError, OverflowError):
        return "a curve must have numbers only"
    if not all(part.ndim == 1 and np.isfinite(part).all() for part in parts):
        return "all numbers of a curve must be finite"
    centre, cut, share, value, weight, *ratio = parts
    between = len(centre) == len(cut) + 1 and bool(((centre[:-1] <= cut) & (cut <= centre[1:])).all())
    if not between or not (np.diff(centre) > 0).all() or not (np.diff(cut) > 0).all():
        return "the centres and cuts of a curve must increase, with one cut between every two centres"
    if not all(len(part) == len(centre) for part in (share, *ratio)):
        return "a curve needs a share, and a log ratio of each class, for each of its centres"
    if not (share > 0).all() or not abs(share.sum() - 1) <= TOLERANCE:
        return "the shares of a curve must be above 0 and sum to 1"
    if len(value) != len(weight) or not (np.diff(value) > 0).all() or not (weight > 0).all():
        return "the values of a curve must increase, and have weights above 0"
    if len(value) and not np.isin(np.arange(len(centre)), intervals(cut, value)).all():
        return "each bin of a discrete curve must hold one of its values"
    return ""


def _between_cuts(table: GivenTable) -> CurveNumbers:
    """The curve of a histogram that people draw: cuts, and the probability of each bin."""
    chances, cuts = table.levels().values, table.levels("cut", signed=True).values[:, 0]
    check_sums(table, "probabilities", chances.sum(axis=0))
    if len(chances) != len(cuts) + 1 or not (np.diff(cuts) > 0).all():
        raise InputError(
            f"Column {table.name!r} has {counted(len(cuts), 'cut')} and {counted(len(chances), 'bin')}; expected "
            "increasing cuts, and one bin more.",
            column=table.name,
        )
    if (chances <= 0).any():
        raise InputError(
            f"Column {table.name!r}: each bin of a histogram needs a probability above 0 in every class, because its "
            "density is a continuous curve. The family 'binned' allows zeros.",
            column=table.name,
        )
    size = float(np.abs(cuts[0])) or 1.0
    first, last = (cuts[1] - cuts[0], cuts[-1] - cuts[-2]) if len(cuts) > 1 else (size, size)
    centre = np.concatenate([[cuts[0] - first / 2], cuts[:-1] + np.diff(cuts) / 2, [cuts[-1] + last / 2]])
    share = chances.mean(axis=1)
    ratio = np.log(chances / share[:, None]).T
    none = np.empty(0)
    return tuple(tuple(part.tolist()) for part in (centre, cuts, share, none, none, *ratio))


def curve_of(numbers: CurveNumbers) -> Curve:
    """The curve of these numbers."""
    centre, cut, share, values, weights, *ratio = (np.array(each, dtype=np.float64) for each in numbers)
    log_ratio = np.array(ratio)
    count = np.tile(share / len(ratio), (len(ratio), 1))
    bins = CountedBins(count, centre, cut, values, weights)
    no_smoother = np.empty((0, 0))  # it would serve to leave rows out, and there are none
    smoothed = Smoothed(no_smoother, count, count.sum(axis=1), 0.0, "given")
    return Curve.of(bins, smoothed) if len(centre) == 1 else Curve.of_ratio(bins, smoothed, log_ratio)


def _by_position(values: Float) -> LevelValues:
    return LevelValues(range(1, len(values) + 1), values)
