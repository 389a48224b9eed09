"""Cuts that divide the numbers of a column into intervals: cut_b−1 < x ≤ cut_b.

A number equal to a cut is in the lower interval, as in ``pandas.cut``.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise

import numpy as np

from suffice.formats import digits_of
from suffice.numerics.types import Codes, Float
from suffice.tables.times import time_text

__all__ = ["LARGEST", "interval_names", "intervals", "valid_cuts"]

LARGEST = 2.0**1020  # differences of larger numbers may overflow


def valid_cuts(given: object, most: float = np.inf) -> tuple[float, ...] | None:
    """Return cuts as a tuple; None unless they are increasing finite numbers, ``most`` of them at most.

    >>> valid_cuts([18, 65]), valid_cuts([65, 18]), valid_cuts("18")
    ((18.0, 65.0), None, None)
    """
    if isinstance(given, str | bytes):
        return None
    try:
        cuts = tuple(float(cut) for cut in given)  # type: ignore[attr-defined]
    except (TypeError, ValueError, OverflowError):
        return None
    in_range = all(abs(cut) < LARGEST for cut in cuts)
    return cuts if in_range and len(cuts) <= most and all(a < b for a, b in pairwise(cuts)) else None


def intervals(cuts: Float, values: Float) -> Codes:
    """Return the interval of each number, counted from 0.

    >>> intervals(np.array([18.0, 65.0]), np.array([17.0, 18.0, 19.0, 66.0]))
    array([0, 0, 1, 2])
    """
    return np.searchsorted(cuts, values, side="left")


def interval_names(cuts: Iterable[float], *, times: bool = False) -> list[str]:
    """Return the names of the intervals; with ``times``, cuts are seconds since 1970.

    >>> interval_names((18.0, 65.0))
    ['≤ 18', '18 to 65', '> 65']
    >>> interval_names((1e9 + 0.25, 1e9 + 0.5))
    ['≤ 1000000000.25', '1000000000.25 to 1000000000.5', '> 1000000000.5']
    """
    cuts = list(cuts)
    digits = digits_of(cuts, least=6)
    shown = [time_text(cut) if times else f"{cut:.{digits}g}" for cut in cuts]
    if not shown:
        return ["(any)"]
    return [f"≤ {shown[0]}", *(f"{a} to {b}" for a, b in pairwise(shown)), f"> {shown[-1]}"]
