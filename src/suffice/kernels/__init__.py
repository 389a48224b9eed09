"""Passes over memory, in C++.

Each function takes rows as float64 or float32 with any strides, and releases the interpreter lock. Those that
summarise or evaluate return new float64 arrays; `outer` and `accumulate` add to arrays they are given, and
`CentredBlocks` uses one buffer again for each block. The result does not depend on the number of threads
(``OMP_NUM_THREADS`` and threadpoolctl are obeyed), nor on the instruction set that was picked for the processor.
Those called exact keep two doubles of everything, and are for rows that are few.

Membership is given in one of two ways: ``codes`` (n,) with the class of each row, where a code outside
``0..n_classes-1`` leaves the row out; or ``soft`` (n, n_classes) with a weight for each row and class.
``weights`` (n,) multiplies either; a row of weight zero is not read.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from suffice.kernels import _core

__all__ = [
    "CentredBlocks",
    "Moments",
    "accumulate",
    "class_moments",
    "class_sums",
    "diagonal_log_likelihood",
    "exact_moments",
    "exact_scatter",
    "instruction_set",
    "left_out",
    "outer",
]

Float = NDArray[np.float64]
Numbers = NDArray[np.float64] | NDArray[np.float32]
Codes = NDArray[np.int64]


def instruction_set() -> str:
    """Name of the instruction set in use: ``baseline``, ``avx2`` or ``avx512``."""
    return _core.instruction_set()


def _readable(x: Numbers) -> Numbers:
    """Rows as the kernels can read them; a copy only where an element is not aligned or is byte-swapped."""
    whole_steps = all(step % x.itemsize == 0 for step in x.strides)
    if whole_steps and x.flags.aligned and x.dtype.isnative:
        return x
    return x.astype(np.float32, order="C") if x.itemsize == 4 else x.astype(np.float64, order="C")


def class_sums(
    x: Numbers,
    n_classes: int,
    *,
    codes: Codes | None = None,
    soft: Float | None = None,
    weights: Float | None = None,
) -> Float:
    """Per-class weighted column sums, (n_classes, d).

    >>> class_sums(np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), 2, codes=np.array([0, 1, 1]))
    array([[ 1.,  2.],
           [ 8., 10.]])
    """
    total = np.zeros((n_classes, x.shape[1]))
    _core.class_sums(_readable(x), codes, soft, weights, total)
    return total


class Moments(NamedTuple):
    """What `class_moments` returns; (n_classes, d) each.

    The mean is the unevaluated sum ``mean + mean_low``: a mean of 1e8 with a spread of 1 keeps all its
    digits. The centred sum of squares is ``m2 + m2_low``. Where values differ but their squared differences
    underflow, ``m2`` is the smallest positive number instead of zero.
    """

    weight: Float
    mean: Float
    mean_low: Float
    m2: Float
    m2_low: Float


def class_moments(
    x: Numbers,
    n_classes: int,
    *,
    codes: Codes | None = None,
    soft: Float | None = None,
    weights: Float | None = None,
    missing: bool = False,
) -> Moments:
    """Per-class weight, mean and centred sum of squares of each column, in one read of ``x``.

    With ``missing=True`` a NaN is a cell that is not there, and ``weight`` counts cells.

    >>> m = class_moments(np.array([[1.0], [2.0], [6.0]]), 2, codes=np.array([0, 1, 1]))
    >>> m.mean.ravel(), m.m2.ravel()
    (array([1., 4.]), array([0., 8.]))
    """
    out = Moments(*(np.zeros((n_classes, x.shape[1])) for _ in range(5)))
    _core.class_moments(_readable(x), codes, soft, weights, missing, *out)
    return out


class CentredBlocks:
    """Centres blocks of rows on their class means, while it keeps the running means of the whole pass.

    `centre` writes, group after group, ``sqrt(w) (x - block mean of the class)`` and one row that joins
    the block to what came before it, ``sqrt(n_a n_b / (n_a + n_b)) (mean_b - mean_a)``: the outer
    products of group k sum to what the block adds to the scatter matrix of class k. ``squares``
    and ``squares_low`` (n_classes, n_columns) are the diagonals of those matrices, summed with more
    digits than BLAS keeps.

    Parameters
    ----------
    n_classes, n_columns : int
    n_rows : int
        The most rows that one block may have.
    soft : bool
        Whether membership is soft, so that each row may appear once for each class.
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
        """Centred rows of the block, until the next one; group k is rows ``offsets[k]:offsets[k + 1]``."""
        _core.centre_block(
            _readable(x),
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


def outer(weight: Float, weight_low: Float, z: Float, z_low: Float, total: Float, total_low: Float) -> None:
    """Add the lower triangles of w zzᵀ of each row to ``total + total_low`` in place, everything in two doubles.

    ``total`` (n, d, d) has a matrix for each row of z, or one (1, d, d) for their sum.

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

    ``total`` (n_classes, d, d) has a matrix for each class, or one (1, d, d) for all of them.
    """
    _core.exact_scatter(_readable(x), codes, soft, weights, mean, mean_low, total, total_low)


def exact_moments(
    x: Numbers,
    mean: Float,
    mean_low: Float,
    *,
    codes: Codes | None = None,
    soft: Float | None = None,
    weights: Float | None = None,
    missing: bool = False,
) -> tuple[Float, Float, Float, Float]:
    """Σ w (x − c) and Σ w (x − c)² of each class and column about ``c = mean + mean_low``, in two doubles each.

    >>> at = np.array([[1.0]])
    >>> total, _, square, low = exact_moments(np.array([[2.0], [1e9]]), at, 0 * at, codes=np.array([0, 0]))
    >>> total.item(), int(square.item()) + int(low.item()) == 1 + (10**9 - 1) ** 2
    (1000000000.0, True)
    """
    out = tuple(np.zeros((4, *mean.shape)))
    _core.exact_moments(_readable(x), codes, soft, weights, missing, mean, mean_low, *out)
    return out[0], out[1], out[2], out[3]


def accumulate(part: Float, total: Float, total_low: Float) -> None:
    """``total + total_low += part`` for matrices, in place and without losing digits."""
    _core.accumulate(part, total, total_low)


def diagonal_log_likelihood(
    x: Numbers, mean: Float, mean_low: Float, scale: Float, log_norm: Float, *, missing: bool = False
) -> Float:
    """Log-density of each row under each class of a Gaussian with independent columns, (n, n_classes).

    ``Σ_j log_norm_kj − ½ ((x_j − mean_kj) scale_kj)²``; with ``missing=True`` the sum is over the cells
    that are not NaN.

    >>> one = np.ones((1, 2))
    >>> diagonal_log_likelihood(np.array([[0.0, 3.0]]), one, 0 * one, one, 0 * one)
    array([[-2.5]])
    """
    out = np.empty((x.shape[0], mean.shape[0]))
    _core.diagonal_log_likelihood(_readable(x), mean, mean_low, scale, log_norm, missing, out)
    return out


def left_out(
    x: Numbers,
    codes: Codes,
    weights: Float | None,
    weight: Float,
    mean: Float,
    mean_low: Float,
    m2: Float,
    *,
    lost: float = 0.0,
    added: Float | None = None,
    before: float = 0.0,
    others: bool = False,
    out: Float | None = None,
) -> tuple[Float, Float]:
    """Log-density of each row under Gaussians with independent columns that were fitted without it (n, n_classes).

    A class that loses a cell x of weight w keeps ``m2 − w n/(n − w) (x − mean)²`` over the weight
    ``n − w − lost``, about the mean that is ``n/(n − w)`` times as far from x. NaN is a missing cell.

    Parameters
    ----------
    codes : array of int of shape (n,)
        The class of each row.
    weight, mean, mean_low, m2 : array of shape (n_classes, d)
        Moments of all rows.
    lost : float
        What is taken from the weight in the divisor of a variance.
    added : array of shape (n,), optional
        What is added to every variance once a row is left out; ``before`` is what was added to those of all rows.
    others : bool
        Whether the other classes are evaluated too, which a row has a part in by what is added. If not, only its own
        class is written to ``out``.

    Returns
    -------
    out : array of shape (n, n_classes)
    least : array of shape (n,)
        The smallest share of a sum of squares that is left in any cell. Where it is near zero, or below, the result
        is rounding, and the row has to be left out by hand.
    """
    size = weight - lost
    variance = np.divide(m2, size, out=np.zeros_like(m2), where=size > 0)
    full = np.where(variance + before > 0, variance + before, 1.0)
    out = np.zeros((x.shape[0], mean.shape[0])) if out is None else out
    least = np.empty(x.shape[0])
    norm = -0.5 * np.log(2 * np.pi * full)
    with np.errstate(divide="ignore"):  # a class of one row has nothing left, and `least` says so
        stretch, per = weight / (weight - 1), 1 / (size - 1)
    inverse_m2 = np.divide(1.0, m2, out=np.zeros_like(m2), where=m2 > 0)
    arrays = weight, mean, mean_low, m2, variance, 1 / full, norm, stretch, per, inverse_m2
    _core.left_out(_readable(x), codes, weights, added, *arrays, lost, others, out, least)
    return out, least
