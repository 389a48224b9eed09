"""Patterns of missing cells: which columns a row has, and how many different patterns are kept.

Rows with missing cells are summarised by pattern. A table may have as many patterns as rows, so there is a bound on
their number. Beyond it, patterns become coarser: rows lose some of the cells that they have, and so share the pattern
of other rows. The rule is a list of levels, from the finest to the coarsest:

    level 0                   every pattern as it is
    group size g, holes h     patterns with more than h missing cells lose every cell of a group of g adjacent columns
                              in which a cell is missing; all patterns have lost those of groups of g/2

with g = 2, 4, 8, … and, for each g, h = d − 1, …, 1, 0. Patterns with many missing cells become coarser first: they are
the most numerous, and their rows have the least information. At the last level, only complete rows are left. The
pattern of a row at a level depends on nothing but the row, and each level is a function of the one before. The lowest
level at which all rows have few enough patterns is therefore a property of the set of rows, and does not depend on
their order or on how they were split into batches.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from suffice.numerics.types import Codes, Index, Mask

__all__ = ["coarsened", "distinct_patterns", "lowest_level", "most_cells", "n_levels"]

PAIRS = 1 << 21  # of columns in all cells, at most; each takes 16 bytes


def most_cells(n_columns: int) -> int:
    """Return how many pairs of a class and a pattern are kept, at most: 32 MiB of means and scatter matrices.

    >>> most_cells(4), most_cells(20), most_cells(100)
    (104857, 4993, 207)
    """
    return max(PAIRS // (n_columns * (n_columns + 1)), 8)


def n_levels(n_columns: int) -> int:
    """Return the number of the coarsest level."""
    return n_columns * max(int(np.ceil(np.log2(max(n_columns, 1)))), 1)


def coarsened(observed: Mask, level: int) -> Mask:
    """Return the cells (n, d) that rows keep at a level, of those that they have.

    >>> rows = np.array([[True, True, True, True, False, True], [False, True, True, True, True, False]])
    >>> coarsened(rows, 5).astype(int)
    array([[1, 1, 1, 1, 0, 1],
           [0, 0, 1, 1, 0, 0]])
    """
    if level == 0:
        return observed
    d = observed.shape[1]
    doublings, rank = divmod(level - 1, d)
    fine = _without_groups(observed, 2**doublings)
    crowded = (~fine).sum(axis=1) > d - 1 - rank
    out = fine.copy()
    out[crowded] = _without_groups(fine[crowded], 2 ** (doublings + 1))
    return out


def _without_groups(observed: Mask, size: int) -> Mask:
    """Return the cells of groups of adjacent columns in which no cell is missing."""
    if size == 1:
        return observed
    starts = np.arange(0, observed.shape[1], size)
    whole = np.logical_and.reduceat(observed, starts, axis=1)
    return np.asarray(np.repeat(whole, size, axis=1)[:, : observed.shape[1]])


def distinct_patterns(observed: Mask, codes: Codes) -> tuple[Index, Codes]:
    """Return the first row of each distinct pair of a pattern and a code, in order, and the pair of each row (n,).

    >>> distinct_patterns(np.array([[True, False], [False, True], [True, False]]), np.array([0, 0, 0]))
    (array([1, 0]), array([1, 0, 1]))
    """
    bits = np.packbits(observed, axis=1)
    words = np.zeros((len(bits), -(-bits.shape[1] // 8) * 8), dtype=np.uint8)
    words[:, : bits.shape[1]] = bits
    keys = words.view(">u8").astype(np.uint64)
    order = np.lexsort((codes, *keys.T[::-1]))
    keys, codes = keys[order], codes[order]
    new = np.ones(len(order), dtype=bool)
    new[1:] = (keys[1:] != keys[:-1]).any(axis=1) | (codes[1:] != codes[:-1])
    pair = np.empty(len(order), dtype=np.int64)
    pair[order] = np.cumsum(new) - 1
    return order[new], pair


def lowest_level(observed: Mask, codes: Codes, at_least: int, most: int) -> int:
    """Return the lowest level, from ``at_least`` on, at which the rows have few enough pairs of pattern and code."""

    def fits(level: int) -> bool:
        kept = coarsened(observed, level)
        some = kept.any(axis=1)
        return len(distinct_patterns(kept[some], codes[some])[0]) <= most

    return _first(fits, at_least, n_levels(observed.shape[1]))


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first number for which a condition holds that stays true; ``high`` if there is none before."""
    if low >= high or holds(low):
        return low
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
