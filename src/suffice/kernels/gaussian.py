"""Log-densities of Gaussians, with independent columns or with covariances."""

from __future__ import annotations

import numpy as np

from suffice.kernels import _core
from suffice.kernels.posterior import Finish
from suffice.kernels.reading import Codes, Float, Numbers, readable, shape_of

__all__ = [
    "diagonal_answers",
    "diagonal_log_likelihood",
    "full_answers",
    "full_log_likelihood",
    "left_out",
    "packed_triangle",
]


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
    finish = Finish.of("score", shape_of(x)[0], len(mean))
    diagonal_answers(x, mean, mean_low, scale, log_norm, missing=missing, finish=finish)
    return finish.out


def diagonal_answers(
    x: Numbers, mean: Float, mean_low: Float, scale: Float, log_norm: Float, *, missing: bool, finish: Finish
) -> int:
    """What ``finish`` asks of those scores; the first row without an answer, or −1."""
    rows = readable(x, bits=True)
    return _core.diagonal_log_likelihood(rows, mean, mean_low, scale, log_norm, missing, *finish.asked())


def full_log_likelihood(x: Numbers, mean: Float, mean_low: Float, packed: Float, norm: Float) -> Float:
    """Log-density of each row under each class of a Gaussian with covariances, (n, n_classes).

    ``norm_k − ½ ‖T_k (x − mean_k)‖²`` for lower triangular matrices T_k, each `packed_triangle`; (n_classes, size).

    >>> zero = np.zeros((1, 2))
    >>> packed = packed_triangle(np.array([[1.0, 0.0], [1.0, 1.0]]))[None]
    >>> full_log_likelihood(np.array([[1.0, 2.0]]), zero, zero, packed, np.zeros(1))
    array([[-5.]])
    """
    finish = Finish.of("score", shape_of(x)[0], len(mean))
    full_answers(x, mean, mean_low, packed, norm, finish=finish)
    return finish.out


def full_answers(x: Numbers, mean: Float, mean_low: Float, packed: Float, norm: Float, *, finish: Finish) -> int:
    """What ``finish`` asks of those scores; the first row without an answer, or −1."""
    return _core.full_log_likelihood(readable(x), mean, mean_low, packed, norm, *finish.asked())


def packed_triangle(lower: Float) -> Float:
    """A lower triangular matrix (d, d) as the kernel reads it: four rows at a time, by column up to the diagonal."""
    d = len(lower)
    fours = np.zeros((-(-d // 4) * 4, d))
    fours[:d] = lower
    return np.concatenate([fours[i : i + 4, : min(i + 4, d)].T.ravel() for i in range(0, d, 4)] or [np.zeros(0)])


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
    out = np.zeros((shape_of(x)[0], mean.shape[0])) if out is None else out
    least = np.empty(shape_of(x)[0])
    norm = -0.5 * np.log(2 * np.pi * full)
    with np.errstate(divide="ignore"):  # a class of one row has nothing left, and `least` says so
        stretch, per = weight / (weight - 1), 1 / (size - 1)
    inverse_m2 = np.divide(1.0, m2, out=np.zeros_like(m2), where=m2 > 0)
    arrays = weight, mean, mean_low, m2, variance, 1 / full, norm, stretch, per, inverse_m2
    _core.left_out(readable(x), codes, weights, added, *arrays, lost, others, out, least)
    return out, least
