"""Scores that are linear in x."""

from __future__ import annotations

import numpy as np

from suffice.kernels import _core
from suffice.kernels.posterior import OUTPUT_CODES, PosteriorRequest
from suffice.kernels.reading import Float, Numbers, readable, shape_of
from suffice.kernels.value_flags import ValueFlags

__all__ = ["linear_posterior", "linear_scores"]


def linear_scores(
    x: Numbers,
    coef: Float,
    offset: Float,
    *,
    origin: Float | None = None,
    zero: Float | None = None,
    threshold: float | None = None,
) -> tuple[Float, ValueFlags]:
    """``offset_k + Σ_j (x_j − origin_j) coef_kj`` for each row and class (n, n_classes), and flags about the values.

    Parameters
    ----------
    coef : array of shape (n_classes, d)
    offset : array of shape (n_classes,)
    origin : array of shape (d,), optional
    zero : array of shape (n_classes, d), optional
        Subtracted from the offset for each missing value (NaN), which then adds nothing else. Without ``zero``, a
        missing value makes the score NaN.
    threshold : float, optional
        Values above it become 1 and all others 0.

    Returns
    -------
    scores : array of shape (n, n_classes)
    flags : ValueFlags
        Whether there was a NaN, or an infinity that the threshold hides.

    Examples
    --------
    >>> linear_scores(np.array([[2.0, 3.0]]), np.array([[1.0, 2.0]]), np.array([0.5]), origin=np.ones(2))
    (array([[5.5]]), ValueFlags(negative=False, missing=False, infinite=False))
    """
    out = np.empty((shape_of(x)[0], len(coef)))
    score = OUTPUT_CODES["score"]
    flags, _ = _core.linear_scores(readable(x), coef, offset, origin, zero, threshold, score, None, out)
    return out, ValueFlags.of(flags)


def linear_posterior(
    x: Numbers,
    coef: Float,
    offset: Float,
    *,
    origin: Float | None = None,
    zero: Float | None = None,
    threshold: float | None = None,
    request: PosteriorRequest,
) -> tuple[ValueFlags, int]:
    """Write the output that ``request`` asks for, computed from `linear_scores`.

    Returns flags about the values, and the first row without a posterior or −1.
    """
    arguments = request.kernel_arguments()
    flags, invalid_row = _core.linear_scores(readable(x), coef, offset, origin, zero, threshold, *arguments)
    return ValueFlags.of(flags), invalid_row
