"""Quantiles of columns."""

from __future__ import annotations

import numpy as np

from suffice.kernels import _core
from suffice.kernels.reading import Float, Numbers, readable, shape_of

__all__ = ["quantiles"]


def quantiles(x: Numbers, n_parts: int) -> Float:
    """Return n_parts − 1 quantiles of each column and its largest number (d, n_parts); NaN is ignored.

    The i-th quantile is the least number whose share of the numbers at or below it is i/n_parts. Numbers nearer to zero
    than 2^-1022 are zero. A column without numbers has NaN.

    >>> quantiles(np.array([[4.0], [1.0], [3.0], [np.nan], [2.0]]), 2)
    array([[2., 4.]])
    """
    out = np.full((shape_of(x)[1], n_parts), np.nan)
    if out.size:
        _core.quantiles(readable(x, bits=True), out)
    return out
