"""Some columns of a matrix as a matrix."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.kernels import _core
from suffice.kernels.reading import Float

__all__ = ["take_columns"]


def take_columns(x: Float, columns: Sequence[int]) -> Float:
    """Copy columns of a matrix stored by rows, of any type; several times faster than ``x[:, columns]``.

    >>> take_columns(np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]), [2, 0])
    array([[3., 1.],
           [6., 4.]])
    """
    if x.dtype != np.float64 or x.dtype.isnative is False:
        return np.take(x, columns, axis=1)
    at = np.array(columns, dtype=np.int64)
    at = np.where(at < 0, at + x.shape[1], at)
    out = np.empty((len(x), len(at)))
    _core.take_columns(x, at, out)
    return out
