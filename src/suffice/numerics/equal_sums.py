"""Sums of weights that are equal but for rounding, made equal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["evened"]

Float = NDArray[np.float64]

DIGITS = 32  # binary ones: more than ranks need, and by far fewer than rounding leaves


def evened(sums: Float) -> Float:
    """Sums to nine digits, for comparison: in whatever order weights were added, equal sums are equal then.

    Whole numbers are exact, and stay as they are.

    >>> evened(np.array([0.1 + 0.2 + 0.3])) == evened(np.array([0.3 + 0.2 + 0.1]))
    array([ True])
    >>> evened(np.array([3.0, 2.0**53 - 1]))
    array([3.00000000e+00, 9.00719925e+15])
    """
    if (sums == np.floor(sums)).all():
        return sums
    part, exponent = np.frexp(sums)
    return np.asarray(np.ldexp(np.rint(np.ldexp(part, DIGITS)), exponent - DIGITS))
