"""Points in time, which models read as seconds since 1970-01-01, as text."""

from __future__ import annotations

import numpy as np

__all__ = ["time_text"]

LATEST = 253_402_300_800  # seconds from 1970 to the year 10,000


def time_text(seconds: float) -> str:
    """Return a time to the second, or its date alone at midnight.

    >>> time_text(86_400.0), time_text(1.5e9)
    ('1970-01-02', '2017-07-14 02:40:00')
    """
    if not abs(seconds) < LATEST:
        return f"{seconds:.6g}"
    text = str(np.datetime64(round(float(seconds)), "s")).replace("T", " ")
    return text.removesuffix(" 00:00:00")
