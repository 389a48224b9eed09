"""Sums of weights, rounded so that sums added in different orders compare equal."""

from __future__ import annotations

import numpy as np

from suffice.numerics.types import Float

__all__ = ["rounded_sums"]

BITS = 32  # more than a ranking needs, and far fewer than rounding errors affect


def rounded_sums(sums: Float) -> Float:
    """Round sums to nine digits, so that equal sums compare equal in whatever order their terms were added.

    Whole numbers are exact and are returned unchanged.

    >>> rounded_sums(np.array([0.1 + 0.2 + 0.3])) == rounded_sums(np.array([0.3 + 0.2 + 0.1]))
    array([ True])
    >>> rounded_sums(np.array([3.0, 2.0**53 - 1]))
    array([3.00000000e+00, 9.00719925e+15])
    """
    if (sums == np.floor(sums)).all():
        return sums
    mantissa, exponent = np.frexp(sums)
    return np.asarray(np.ldexp(np.rint(np.ldexp(mantissa, BITS)), exponent - BITS))
