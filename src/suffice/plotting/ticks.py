"""Ticks of axes: round numbers and points in time, and texts that tell them apart."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from suffice.formats import digits_of, number_text
from suffice.tables.times import time_text

__all__ = ["tick_texts", "ticks", "time_ticks"]

MONTHS = (1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 6000)  # between the ticks of an axis of times
SECONDS = (1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10_800, 21_600, 43_200, 86_400)  # less than four days
DAY, LATEST = 86_400, 250_000_000_000  # seconds
LONGEST = 9  # characters of a number beside a tick
TICK_DIGITS = 6


def ticks(low: float, high: float, n: int = 4) -> list[float]:
    """Round numbers between two ends.

    >>> ticks(0.3, 9.8)
    [2.0, 4.0, 6.0, 8.0]
    """
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return [low] if math.isfinite(low) else []
    step = 10.0 ** math.floor(math.log10(span / n))
    step *= next((factor for factor in (1, 2, 5, 10) if span / (factor * step) <= n + 1), 10)
    first, last = math.ceil(low / step), math.floor(high / step)
    return [round(i * step, 12) if abs(step) > 1e-9 else i * step for i in range(first, last + 1)]


def time_ticks(low: float, high: float) -> list[float]:
    """Seconds of one to four round points in time between two ends: full hours, midnights, or first days of months.

    >>> [time_text(value) for value in time_ticks(0, 3 * DAY)]
    ['1970-01-01', '1970-01-02', '1970-01-03', '1970-01-04']
    """
    days = (high - low) / DAY
    if not (math.isfinite(days) and abs(low) < LATEST and abs(high) < LATEST and days * DAY >= 4):
        return ticks(low, high, 2)
    if days < 4:
        step = next(step for step in SECONDS if (high - low) / step <= 4)
        return [float(value) for value in range(math.ceil(low / step) * step, math.floor(high) + 1, step)]
    if days < 90:
        return [value * DAY for value in ticks(low / DAY, high / DAY, 3) if value == round(value)]
    months = next((step for step in MONTHS if days <= 30.5 * 4 * step), MONTHS[-1])
    first = np.datetime64(int(low), "s").astype("datetime64[M]").astype(int)
    last = np.datetime64(int(high), "s").astype("datetime64[M]").astype(int)
    found = np.arange(-(-first // months) * months, last + 1, months)
    seconds = found.astype("datetime64[M]").astype("datetime64[s]").astype(np.int64)
    return [float(value) for value in seconds if low <= value <= high]


def tick_texts(values: Sequence[float], *, is_time: bool) -> tuple[list[str], str]:
    """The texts of ticks, and the number that is subtracted from all of them; empty if none is.

    >>> tick_texts([2.0, 4.0], is_time=False)
    (['2', '4'], '')
    >>> tick_texts([1e9 + 0.25, 1e9 + 0.5], is_time=False)
    (['0.25', '0.5'], '1,000,000,000')
    """
    if is_time:
        return [time_text(value) for value in values], ""
    digits = digits_of(list(values), TICK_DIGITS)
    texts = [f"{value:.{digits}g}" for value in values]
    if len(values) < 2 or max(map(len, texts)) <= LONGEST:
        return texts, ""
    unit = 10.0 ** math.ceil(math.log10(values[-1] - values[0]))
    base = round((values[0] + values[-1]) / 2 / unit) * unit
    if not (math.isfinite(base) and base):
        return texts, ""
    return [f"{value - base:.4g}" for value in values], number_text(base, digits_of([base, *values]))
