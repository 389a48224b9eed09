"""Passes that build scatter matrices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from suffice.kernels import _core
from suffice.kernels.reading import Codes, Float, Numbers, readable, shape_of

__all__ = ["CentredBlocks", "ScatterSums", "accumulate", "add_moved", "exact_scatter", "outer", "scatter_pass"]


class CentredBlocks:
    """Centres blocks of rows on their class means and keeps the running class means of the whole pass.

    `centre` writes, class by class, the rows ``sqrt(w) (x - block mean of the class)`` and one row that joins the block
    to the blocks before it, ``sqrt(n_a n_b / (n_a + n_b)) (mean_b - mean_a)``. The outer products of group k sum to the
    block's contribution to the scatter matrix of class k. ``squares`` and ``squares_low`` (n_classes, n_columns) are
    the diagonals of those matrices, summed with more digits than BLAS keeps.

    Parameters
    ----------
    n_classes, n_columns : int
    n_rows : int
        Largest number of rows of a block.
    soft : bool
        Whether membership is soft, in which case a row may appear once for each class.
    """

    def __init__(self, n_classes: int, n_columns: int, n_rows: int, *, soft: bool = False) -> None:
        self.weight = np.zeros(n_classes)
        self.mean = np.zeros((n_classes, n_columns))
        self.mean_low = np.zeros((n_classes, n_columns))
        self.squares = np.zeros((n_classes, n_columns))
        self.squares_low = np.zeros((n_classes, n_columns))
        self.offsets = np.zeros(n_classes + 1, dtype=np.int64)
        self._rows = np.empty((n_rows * (n_classes if soft else 1) + n_classes, n_columns))

    def centre(self, x: Numbers, codes: Codes | None, soft: Float | None, weights: Float | None) -> Float:
        """Centred rows of the block, valid until the next call; group k is rows ``offsets[k]:offsets[k + 1]``."""
        _core.centre_block(
            readable(x),
            codes,
            soft,
            weights,
            self.weight,
            self.mean,
            self.mean_low,
            self.squares,
            self.squares_low,
            self.offsets,
            self._rows,
        )
        return self._rows[: self.offsets[-1]]


class ScatterSums(NamedTuple):
    """Result of `scatter_pass`: weights (n_classes,), means and sums of squares (n_classes, d), matrices (m, d, d).

    Each quantity is an unevaluated sum such as ``mean + mean_low``. Only the lower triangles of the matrices are set.
    """

    weight: Float
    mean: Float
    mean_low: Float
    squares: Float
    squares_low: Float
    total: Float
    total_low: Float


def scatter_pass(x: Numbers, codes: Codes, weights: Float | None, matrix_of: Codes) -> ScatterSums:
    """Class means, and sums of ``w (x − mean)(x − mean)ᵀ`` over the classes of each matrix, in one read.

    Parameters
    ----------
    matrix_of : array of int of shape (n_classes,)
        Index of the matrix that each class adds to.

    Examples
    --------
    >>> rows = np.array([[0.0, 0.0], [2.0, 4.0], [9.0, 9.0]])
    >>> sums = scatter_pass(rows, np.array([0, 0, 1]), None, np.array([0, 0]))
    >>> sums.mean, sums.total[0]
    (array([[1., 2.],
           [9., 9.]]), array([[2., 0.],
           [4., 8.]]))
    """
    k, d = len(matrix_of), shape_of(x)[1]
    sums = (np.zeros((k, d)) for _ in range(4))
    total = (np.zeros((int(matrix_of.max(initial=0)) + 1, d, d)) for _ in range(2))
    out = ScatterSums(np.zeros(k), *sums, *total)
    _core.scatter_pass(readable(x), codes, weights, matrix_of, *out)
    return out


def outer(weight: Float, weight_low: Float, z: Float, z_low: Float, total: Float, total_low: Float) -> None:
    """Add the lower triangle of w zzᵀ for each row z to ``total + total_low`` in place, everything in two doubles.

    ``total`` has one matrix for each row of z (n, d, d), or one for their sum (1, d, d).

    >>> total, low = np.zeros((2, 1, 1, 1))
    >>> outer(np.ones(1), np.zeros(1), np.array([[1.0 + 2.0**-30]]), np.zeros((1, 1)), total, low)
    >>> total.item() == 1 + 2.0**-29, low.item() == 2.0**-60
    (True, True)
    """
    _core.outer(weight, weight_low, z, z_low, total, total_low)


def exact_scatter(
    x: Numbers,
    mean: Float,
    mean_low: Float,
    total: Float,
    total_low: Float,
    *,
    codes: Codes | None = None,
    soft: Float | None = None,
    weights: Float | None = None,
) -> None:
    """Add the lower triangles of Σ w (x − mean)(x − mean)ᵀ to ``total + total_low`` in place.

    ``total`` has one matrix for each class (n_classes, d, d), or one for all classes (1, d, d).
    """
    _core.exact_scatter(readable(x), codes, soft, weights, mean, mean_low, total, total_low)


def accumulate(part: Float, total: Float, total_low: Float) -> None:
    """Compute ``total + total_low += part`` for matrices, in place and without losing digits."""
    _core.accumulate(part, total, total_low)


def add_moved(
    weight: Float,
    weight_low: Float,
    shift: Float,
    shift_low: Float,
    products: Sequence[Float],
    out: Float,
    *,
    sign: float = 1.0,
) -> None:
    """Add ``sign`` times the sums of w z_i z_j, w z_i² z_j and w z_i² z_j² about another point to ``out``, in place.

    Parameters
    ----------
    shift, shift_low : array of shape (n_classes, d)
        Offset of each class mean from that point.
    products : six arrays of shape (n_classes, d, d)
        The three sums about the class means, each in two doubles.
    out : array of shape (6, n, d, d)
        The sums for each class (n = n_classes), or for all classes (n = 1).

    Examples
    --------
    >>> second, fourth, none = np.array([[[2.0]]]), np.array([[[2.0]]]), np.zeros((1, 1, 1))  # of −1 and 1
    >>> out = np.zeros((6, 1, 1, 1))
    >>> products = [second, none, none, none, fourth, none]
    >>> add_moved(np.full(1, 2.0), np.zeros(1), np.ones((1, 1)), np.zeros((1, 1)), products, out)
    >>> out[::2].ravel()  # of 0 and 2
    array([ 4.,  8., 16.])
    """
    arrays = weight, weight_low, shift, shift_low, *products
    _core.add_moved(out, sign, *(np.ascontiguousarray(each, dtype=np.float64) for each in arrays))
