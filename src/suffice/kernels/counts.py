"""Value ranges of columns of categories, per-class counts of their levels, and row sums of table entries.

Column j has ``size_j + 2`` table cells: one for each of the numbers ``low_j..low_j+size_j-1``, one for all other
numbers, and one for missing numbers (NaN). The cells of all columns follow one another, ``Σ (size + 2)`` in all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.kernels import _core
from suffice.kernels.reading import Codes, Float, Numbers, readable, shape_of

__all__ = ["Ranges", "class_counts", "code_counts", "code_range", "padded_table", "table_sums", "value_ranges"]

Flags = NDArray[np.bool_]


class Ranges(NamedTuple):
    """Result of `value_ranges`; all arrays have shape (d,).

    A column without a value has ``low = ∞`` and ``high = −∞``. ``missing`` is True for columns with a NaN, ``whole``
    for columns whose other numbers are all integers or infinite.
    """

    low: Float
    high: Float
    missing: Flags
    whole: Flags


def value_ranges(x: Numbers) -> Ranges:
    """Smallest and largest number of each column, and whether it has missing or fractional numbers, in one read.

    >>> value_ranges(np.array([[1.0, 0.5], [np.nan, 4.0]]))
    Ranges(low=array([1. , 0.5]), high=array([1., 4.]), missing=array([ True, False]), whole=array([ True, False]))
    """
    n, d = shape_of(x)
    low, high = np.full(d, np.inf), np.full(d, -np.inf)
    missing, parts = np.zeros((2, d), dtype=np.uint8)
    if n and d:
        _core.value_ranges(readable(x), low, high, missing, parts)
    return Ranges(low, high, missing.astype(bool), parts == 0)


def code_range(codes: Codes) -> tuple[int, int]:
    """Smallest and largest code, in one read; (0, −1) for an empty array.

    >>> code_range(np.array([3, -1, 2]))
    (-1, 3)
    """
    return _core.code_range(np.ascontiguousarray(codes, dtype=np.int64))


def code_counts(codes: Codes, size: int) -> tuple[Codes, int]:
    """Count of each of the codes 0..size−1 (size,), and the largest code beyond them or −1.

    >>> code_counts(np.array([2, 0, 2, -1]), 3)
    (array([1, 0, 2]), -1)
    """
    total = np.zeros(size, dtype=np.int64)
    return total, _core.code_counts(np.ascontiguousarray(codes, dtype=np.int64), total)


def class_counts(
    x: Numbers,
    low: Codes,
    size: Codes,
    n_classes: int,
    *,
    codes: Codes | None = None,
    soft: Float | None = None,
    weights: Float | None = None,
) -> tuple[Float, Float]:
    """Weight of the rows of each class and table cell (n_classes, Σ (size + 2)), in two doubles, in one read of ``x``.

    >>> x, codes = np.array([[1], [2], [2]]), np.array([0, 0, 1])
    >>> class_counts(x, np.array([1]), np.array([2]), 2, codes=codes)[0]
    array([[1., 1., 0., 0.],
           [0., 1., 0., 0.]])
    """
    total, total_low = np.zeros((2, n_classes, int(size.sum()) + 2 * len(size)))
    if total.size and shape_of(x)[0]:
        _core.class_counts(readable(x), codes, soft, weights, low, size, total, total_low)
    return total, total_low


def padded_table(table: Float) -> Float:
    """A table (cells, n_classes) padded for `table_sums`: each row has 1, 2, 4, 8 or a multiple of 16 entries."""
    rows, n_classes = table.shape
    width = 1 << max(n_classes - 1, 0).bit_length() if n_classes <= 8 else -(-n_classes // 16) * 16
    out = np.zeros((rows, width))
    out[:, :n_classes] = table
    return out


def table_sums(x: Numbers, low: Codes, size: Codes, table: Float, n_classes: int) -> Float:
    """Sum over columns of the table entries at the cells of each row (n, n_classes).

    ``table`` comes from `padded_table`.

    >>> table = padded_table(np.array([[0.5, 1.0], [2.0, 4.0], [0.0, 0.0], [0.0, 9.0]]))
    >>> table_sums(np.array([[8.0], [7.0], [5.0], [np.nan]]), np.array([7]), np.array([2]), table, 2)
    array([[2. , 4. ],
           [0.5, 1. ],
           [0. , 0. ],
           [0. , 9. ]])
    """
    n, d = shape_of(x)
    if not (n and d and n_classes):
        return np.zeros((n, n_classes))
    out = np.empty((n, n_classes))
    _core.table_sums(readable(x), low, size, table, out)
    return out
