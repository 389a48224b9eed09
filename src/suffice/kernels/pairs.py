"""Per-class counts of pairs of cells, and scores of averaged one-dependence estimators.

A cell is a number: the cells of all columns of a table are numbered one after another. Some columns are parents; each
of their cells has a row in the table of pairs: cell c of the p-th parent is in row ``c + shift[p]``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.kernels import _core
from suffice.kernels.reading import Codes, Float

__all__ = ["add_pair_counts", "pair_scores"]

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


def pair_scores(
    cells: Cells,
    parents: Codes,
    shift: Codes,
    pairs: Float,
    single: Float,
    weight: Float,
    pooled: Float,
    smoothing: float,
    marginal: float,
    *,
    own: Codes | None = None,
    own_weights: Float | None = None,
) -> Float:
    """log p(x | k) of each row (n, K): the logarithm of the mean over parents i of p(x_i | k) Π_j p(x_j | k, x_i).

    Parameters
    ----------
    cells : array of int32 of shape (n, d)
        A negative cell, and one whose ``pooled`` weight is zero, is not read.
    pairs, single, weight : array of shape (K, R, C), (K, C), (K,)
        Counts; those of pairs of two parents are in the rows of both.
    pooled : array of shape (C,)
        Weight of each cell in all classes.
    smoothing, marginal : float
        Pseudo-rows of p(x_j | k, x_i), which have the marginal of the class, and of p(x_j | k), which are like all
        rows.
    own, own_weights : array of shape (n,), optional
        Class and weight of each row, if the row is to be subtracted from the counts first.
    """
    out = np.zeros((len(cells), len(weight)))
    if out.size:
        _core.pair_scores(
            cells, parents, shift, pairs, single, weight, pooled, smoothing, marginal, own, own_weights, out
        )
    return out
