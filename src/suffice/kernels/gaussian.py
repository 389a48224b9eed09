"""Log-densities of Gaussians with independent columns or with full covariances."""

from __future__ import annotations

import numpy as np

from suffice.kernels import _core
from suffice.kernels.posterior import OUTPUT_CODES, PosteriorRequest
from suffice.kernels.reading import Codes, Float, Numbers, readable, shape_of

__all__ = [
    "diagonal_log_likelihood",
    "diagonal_posterior",
    "full_log_likelihood",
    "full_posterior",
    "held_out_log_likelihood",
    "packed_triangle",
]


def diagonal_log_likelihood(
    x: Numbers, mean: Float, mean_low: Float, scale: Float, log_norm: Float, *, missing: bool = False
) -> Float:
    """Log-density of each row under each class of a Gaussian with independent columns, (n, n_classes).

    ``Σ_j log_norm_kj − ½ ((x_j − mean_kj) scale_kj)²``. With ``missing=True`` the sum skips NaN cells.

    >>> one = np.ones((1, 2))
    >>> diagonal_log_likelihood(np.array([[0.0, 3.0]]), one, 0 * one, one, 0 * one)
    array([[-2.5]])
    """
    out = np.empty((shape_of(x)[0], len(mean)))
    rows = readable(x, bits=True)
    _core.diagonal_log_likelihood(rows, mean, mean_low, scale, log_norm, missing, OUTPUT_CODES["score"], None, out)
    return out


def diagonal_posterior(
    x: Numbers, mean: Float, mean_low: Float, scale: Float, log_norm: Float, *, missing: bool, request: PosteriorRequest
) -> int:
    """Write the output that ``request`` asks for, computed from `diagonal_log_likelihood`.

    Returns the first row without a posterior, or −1.
    """
    rows, arguments = readable(x, bits=True), request.kernel_arguments()
    return _core.diagonal_log_likelihood(rows, mean, mean_low, scale, log_norm, missing, *arguments)


def full_log_likelihood(x: Numbers, mean: Float, mean_low: Float, packed: Float, norm: Float) -> Float:
    """Log-density of each row under each class of a Gaussian with full covariances, (n, n_classes).

    ``norm_k − ½ ‖T_k (x − mean_k)‖²`` for lower triangular matrices T_k. ``packed`` (n_classes, size) holds the
    `packed_triangle` of each.

    >>> zero = np.zeros((1, 2))
    >>> packed = packed_triangle(np.array([[1.0, 0.0], [1.0, 1.0]]))[None]
    >>> full_log_likelihood(np.array([[1.0, 2.0]]), zero, zero, packed, np.zeros(1))
    array([[-5.]])
    """
    request = PosteriorRequest.of("score", shape_of(x)[0], len(mean))
    full_posterior(x, mean, mean_low, packed, norm, request=request)
    return request.out


def full_posterior(
    x: Numbers, mean: Float, mean_low: Float, packed: Float, norm: Float, *, request: PosteriorRequest
) -> int:
    """Write the output that ``request`` asks for, computed from `full_log_likelihood`.

    Returns the first row without a posterior, or −1.
    """
    return _core.full_log_likelihood(readable(x), mean, mean_low, packed, norm, *request.kernel_arguments())


def packed_triangle(lower: Float) -> Float:
    """A lower triangular matrix (d, d) in the kernel's layout: four rows at a time, by column up to the diagonal."""
    d = len(lower)
    fours = np.zeros((-(-d // 4) * 4, d))
    fours[:d] = lower
    return np.concatenate([fours[i : i + 4, : min(i + 4, d)].T.ravel() for i in range(0, d, 4)] or [np.zeros(0)])


def held_out_log_likelihood(
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

    Removing a cell x of weight w from a class leaves the sum of squares ``m2 − w n/(n − w) (x − mean)²`` over the
    weight ``n − w − lost``, about a mean that is ``n/(n − w)`` times as far from x. NaN is a missing cell.

    Parameters
    ----------
    codes : array of int of shape (n,)
        The class of each row.
    weight, mean, mean_low, m2 : array of shape (n_classes, d)
        Moments of all rows.
    lost : float
        Subtracted from the weight in the divisor of a variance.
    added : array of shape (n,), optional
        Added to every variance when the row is held out.
    before : float
        Added to the variances of the full model.
    others : bool
        Whether to evaluate the other classes too, since a row affects them through ``added``. If not, only the row's
        own class is written to ``out``.

    Returns
    -------
    out : array of shape (n, n_classes)
    least : array of shape (n,)
        The smallest remaining share of a sum of squares over all cells. Where it is near or below zero, the result is
        rounding error, and the model must be refitted without the row.
    """
    size = weight - lost
    variance = np.divide(m2, size, out=np.zeros_like(m2), where=size > 0)
    full = np.where(variance + before > 0, variance + before, 1.0)
    out = np.zeros((shape_of(x)[0], mean.shape[0])) if out is None else out
    least = np.empty(shape_of(x)[0])
    norm = -0.5 * np.log(2 * np.pi * full)
    with np.errstate(divide="ignore"):  # a class of one row is empty without it; `least` shows that
        stretch, per = weight / (weight - 1), 1 / (size - 1)
    inverse_m2 = np.divide(1.0, m2, out=np.zeros_like(m2), where=m2 > 0)
    arrays = weight, mean, mean_low, m2, variance, 1 / full, norm, stretch, per, inverse_m2
    _core.held_out_log_likelihood(readable(x), codes, weights, added, *arrays, lost, others, out, least)
    return out, least
