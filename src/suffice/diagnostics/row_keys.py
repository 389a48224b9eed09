"""Keys of rows and columns that depend on their content alone.

Random numbers of the checks are seeded by keys, and rows are read in the order of their keys. So the result of a
diagnosis depends neither on the order of the rows nor on that of the columns.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from suffice.numerics.types import Codes, Float

__all__ = ["content_keys", "sequence_keys"]

Keys = NDArray[np.uint64]
ODD = np.uint64(0x9E3779B97F4A7C15)


def content_keys(values: Float, codes: Codes, levels: Mapping[int, tuple[object, ...]]) -> tuple[Keys, Keys]:
    """Keys of rows (n,) and of columns (d,); rows of a class with equal cells have equal keys.

    The order of the columns has no effect, so rows may also share a key if columns hold the same cells in other rows.

    Parameters
    ----------
    values : array of shape (n, d)
        Numbers, or codes of levels; NaN for a missing cell.
    codes : array of int of shape (n,)
        Class of each row.
    levels : mapping of int to tuple
        Levels of the columns that have codes, by position.
    """
    rows = _mixed(codes.astype(np.uint64))
    columns = np.empty(values.shape[1], dtype=np.uint64)
    for j in range(values.shape[1]):
        cells = _bits(values[:, j], levels.get(j))
        columns[j] = _mixed((cells * ODD).sum(keepdims=True) + np.uint64(j in levels))[0]
        rows += _mixed(cells ^ columns[j])
    return rows, columns


def sequence_keys(values: Float, codes: Codes) -> Keys:
    """Keys of rows (n,) that are equal for rows of a class with equal cells, and different for others.

    >>> len(np.unique(sequence_keys(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]]), np.array([0, 0, 0]))))
    2
    """
    keys = _mixed(codes.astype(np.uint64))
    for j in range(values.shape[1]):
        keys = _mixed(keys ^ _mixed(_bits(values[:, j], None)))
    return keys


def _bits(x: Float, levels: tuple[object, ...] | None) -> Keys:
    """Cells as integers; a level has the integer of its name, whatever its code."""
    if levels is not None:
        names = [int.from_bytes(blake2b(repr(each).encode(), digest_size=8).digest()) for each in levels]
        known = np.array([*names, 0], dtype=np.uint64)
        return known[np.where(np.isnan(x), len(levels), x).astype(np.intp)]
    return np.where(np.isnan(x), np.nan, x + 0.0).view(np.uint64)  # one zero, one NaN


def _mixed(bits: Keys) -> Keys:
    """Integers whose bits all depend on all bits (the finaliser of SplitMix64)."""
    out = bits + ODD
    out = (out ^ (out >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    out = (out ^ (out >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(out ^ (out >> np.uint64(31)))
