"""Per-class counts of pairs of cells, and scores of averaged one-dependence estimators.

A cell is a number: the cells of all columns of a table are numbered one after another. Some columns are parents; each
of their cells has a row in the table of pairs: cell c of the p-th parent is in row ``c + shift[p]``.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from suffice.kernels import _core
from suffice.kernels.reading import Codes, Float, Numbers, readable

__all__ = ["add_pair_counts", "held_out_pair_scores", "interval_cells", "pair_scores", "widen_cell_ends"]

Cells = NDArray[np.int32]


def add_pair_counts(
    cells: Cells,
    parents: Codes,
    shift: Codes,
    pairs: Float,
    single: Float,
    *,
    codes: Codes | None = None,
    soft: Float | None = None,
    weights: Float | None = None,
) -> None:
    """Add the weight of each pair of a parent's cell and another cell, and of each cell.

    The pairs of two parents are counted in the rows of the first alone.

    Parameters
    ----------
    cells : array of int32 of shape (n, d)
    parents, shift : array of int of shape (P,)
        Sorted positions of the parents.
    pairs : array of shape (K, R, C)
    single : array of shape (K, C)

    >>> pairs, single = np.zeros((1, 2, 4)), np.zeros((1, 4))
    >>> cells = np.array([[0, 3], [1, 3]], dtype=np.int32)
    >>> add_pair_counts(cells, np.array([0]), np.array([0]), pairs, single, codes=np.array([0, 0]))
    >>> pairs[0], single
    (array([[1., 0., 0., 1.],
           [0., 1., 0., 1.]]), array([[1., 1., 0., 2.]]))
    """
    if len(cells) and cells.shape[1]:
        _core.pair_counts(cells, parents, shift, codes, soft, weights, pairs, single)


def interval_cells(x: Numbers, cuts: Sequence[Sequence[float]], first: Codes, columns: Codes, out: Cells) -> None:
    """Write the cells of numbers: ``first`` for those up to the first cut of a column, one more for each cut below.

    The cell of NaN follows that of numbers above all cuts.

    Parameters
    ----------
    x : matrix or columns of shape (n, m)
    cuts : sequence of m sequences
        Ascending cuts of each column.
    first, columns : array of int of shape (m,)
        First cell of each column, and the column of ``out`` to write to.
    out : array of int32 of shape (n, d)

    >>> out = np.zeros((3, 1), dtype=np.int32)
    >>> interval_cells(np.array([[0.5], [1.5], [np.nan]]), [(0.5, 1.0)], np.array([7]), np.array([0]), out)
    >>> out.ravel()
    array([ 7,  9, 10], dtype=int32)
    """
    sizes = np.array([len(each) for each in cuts])
    table = np.full((int(sizes.max(initial=0)), len(cuts)), np.inf)
    for j, each in enumerate(cuts):
        table[: len(each), j] = each
    if out.size and len(cuts):
        low = first.astype(np.int32)
        _core.interval_cells(readable(x), table, low, (low + sizes + 1).astype(np.int32), columns, out)


def widen_cell_ends(
    x: Numbers, cells: Cells, columns: Codes, low: Float, high: Float, *, present: NDArray[np.bool_] | None = None
) -> None:
    """Lower ``low`` and raise ``high`` (C,) to the numbers in each cell; NaN is ignored.

    Parameters
    ----------
    x : matrix or columns of shape (n, m)
    cells, columns : array of int32 of shape (n, d), of int of shape (m,)
        Cells of rows, and the column of ``cells`` for each column of ``x``; see `interval_cells`.
    present : array of bool of shape (n,), optional
        Rows that are read; all by default.

    >>> low, high = np.full(2, np.inf), np.full(2, -np.inf)
    >>> cells = np.array([[0], [1], [1]], dtype=np.int32)
    >>> widen_cell_ends(np.array([[0.5], [4.0], [3.0]]), cells, np.array([0]), low, high)
    >>> low, high
    (array([0.5, 3. ]), array([0.5, 4. ]))
    """
    if cells.size and len(columns):
        absent = None if present is None else (~present).view(np.uint8)
        _core.cell_ends(readable(x), cells, columns, absent, low, high)


def pair_scores(
    cells: Cells,
    parents: Codes,
    shift: Codes,
    pairs: Float,
    single: Float,
    pooled: Float,
    least: float,
    n_classes: int,
) -> Float:
    """log p(x | k) of each row (n, K): the logarithm of the mean over parents i of p(x_i | k) Π_j p(x_j | k, x_i).

    Parameters
    ----------
    cells : array of int32 of shape (n, d)
        A negative cell, and one whose ``pooled`` weight is zero, is not read.
    pairs, single : array of shape (⌈K/2⌉, R, 2 (C + 1)), (⌈K/2⌉, 2 (C + 1))
        p(x_j | k, x_i), and p(x_j | k), which is also the entry of a parent's cell with itself. The numbers of two
        classes alternate. The last cell, which is not read, has ones.
    pooled : array of shape (C,)
        Weight of each cell in all classes.
    least : float
        Lower bound of all probabilities.
    """
    out = np.zeros((len(cells), n_classes))
    if out.size:
        _core.pair_scores(cells, parents, shift, pairs, single, pooled, least, out)
    return out


def held_out_pair_scores(
    cells: Cells,
    parents: Codes,
    shift: Codes,
    pairs: Float,
    single: Float,
    weight: Float,
    pooled: Float,
    smoothing: float,
    marginal: float,
    own: Codes,
    own_weights: Float,
) -> Float:
    """Return `pair_scores` where each row is subtracted from the counts first (n, K).

    Parameters
    ----------
    pairs, single, weight : array of shape (K, R, C), (K, C), (K,)
        Counts; those of pairs of two parents are in the rows of both.
    smoothing, marginal : float
        Pseudo-rows of p(x_j | k, x_i), which have the marginal of the class, and of p(x_j | k), which are like all
        rows.
    own, own_weights : array of shape (n,)
        Class and weight of each row.
    """
    out = np.zeros((len(cells), len(weight)))
    if out.size:
        _core.held_out_pair_scores(
            cells, parents, shift, pairs, single, weight, pooled, smoothing, marginal, own, own_weights, out
        )
    return out
