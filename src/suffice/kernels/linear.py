"""Scores that are linear in x."""

from __future__ import annotations

import numpy as np  # noqa: F401 (the examples use it)

from suffice.kernels import _core
from suffice.kernels.posterior import Finish
from suffice.kernels.reading import Float, Numbers, readable, shape_of
from suffice.kernels.value_flags import ValueFlags

__all__ = ["linear_answers", "linear_scores"]


def linear_scores(
    x: Numbers,
    coef: Float,
    offset: Float,
    *,
    origin: Float | None = None,
    zero: Float | None = None,
    threshold: float | None = None,
) -> tuple[Float, ValueFlags]:
    """``offset_k + Σ_j (x_j − origin_j) coef_kj`` of each row and class (n, n_classes), and what was met.

    Parameters
    ----------
    coef : array of shape (n_classes, d)
    offset : array of shape (n_classes,)
    origin : array of shape (d,), optional
    zero : array of shape (n_classes, d), optional
        What a missing value (NaN) takes from the offset, instead of adding anything. Without it the score is NaN.
    threshold : float, optional
        Values above it are 1, others 0.

    Returns
    -------
    scores : array of shape (n, n_classes)
    met : ValueFlags
        Whether there was a NaN, or an infinity that a threshold has hidden.

    Examples
    --------
    >>> linear_scores(np.array([[2.0, 3.0]]), np.array([[1.0, 2.0]]), np.array([0.5]), origin=np.ones(2))
    (array([[5.5]]), ValueFlags(negative=False, missing=False, infinite=False))
    """
    finish = Finish.of("score", shape_of(x)[0], len(coef))
    met, _ = linear_answers(x, coef, offset, origin=origin, zero=zero, threshold=threshold, finish=finish)
    return finish.out, met


def linear_answers(
    x: Numbers,
    coef: Float,
    offset: Float,
    *,
    origin: Float | None = None,
    zero: Float | None = None,
    threshold: float | None = None,
    finish: Finish,
) -> tuple[ValueFlags, int]:
    """What ``finish`` asks of `linear_scores`; what was met, and the first row without an answer, or −1."""
    met, lost = _core.linear_scores(readable(x), coef, offset, origin, zero, threshold, *finish.asked())
    return ValueFlags.of(met), lost
