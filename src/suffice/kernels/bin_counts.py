"""Per-class counts of numbers in bins that depend on the set of numbers alone, not on their order."""

from __future__ import annotations

import numpy as np

from suffice.kernels import _core
from suffice.kernels.reading import Codes, Float, Numbers, readable

__all__ = ["bin_counts"]


def bin_counts(
    x: Numbers,
    n_classes: int,
    cuts: tuple[float, ...] = (),
    *,
    codes: Codes | None = None,
    soft: Float | None = None,
    weights: Float | None = None,
) -> tuple[Float, Codes, Codes, Codes]:
    """Count the rows of each class and bin, in one read of ``x``; NaN is not counted.

    The numbers from 2^e to 2^(e+1) of one sign have at most 128 bins, of the least width that allows this. With cuts,
    the positions of the numbers between them are counted.

    Returns
    -------
    count : array of shape (n_classes, C)
        Weight of each bin of all columns.
    bins, shift : array of int of shape (C,)
        The number in each bin that is nearest to zero, as the bits of its absolute value with the sign of the number,
        in ascending order; and the last bits that the numbers of a bin may differ in.
    sizes : array of int of shape (d,)
        Number of bins of each column.

    >>> x, codes = np.array([[2.0], [1.5], [2.0]]), np.array([0, 0, 1])
    >>> count, bins, shift, sizes = bin_counts(x, 2, codes=codes)
    >>> count, bins.view(np.float64), shift, sizes
    (array([[1., 1.],
           [0., 1.]]), array([1.5, 2. ]), array([0, 0]), array([2]))
    """
    rows = readable(x, bits=True)
    flat, *found = _core.bin_counts(rows, codes, soft, weights, n_classes, np.array(cuts, dtype=np.float64))
    bins, shift, sizes = (each.view(np.int64) for each in found)  # of the type that NumPy prints as int64
    return np.ascontiguousarray(flat.reshape(len(bins), n_classes).T), bins, shift, sizes
