"""Log-loss of tempered posteriors, and its gradient."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice.kernels import _core
from suffice.kernels.reading import Codes, Float

__all__ = ["TemperedLoss", "tempered_loss"]


class TemperedLoss(NamedTuple):
    """A loss and its derivatives by the slope, by each offset (n_classes,) and by the logarithm of the share."""

    loss: float
    by_slope: float
    by_offset: Float
    by_log_share: float


def tempered_loss(
    z: Float, codes: Codes, weights: Float, slope: float, offset: Float, prior: Float | None = None, share: float = 0.0
) -> TemperedLoss:
    """``−Σ w log((1 − share) q + share · prior)``, with q the probability of the label by softmax(slope z + offset).

    Parameters
    ----------
    z : array of shape (n, n_classes)
        Finite scores.
    codes, weights : array of shape (n,)
        Label and weight of each row.
    prior : array of shape (n,), optional
        Probability of the label in outliers, whose scores are unrelated to their labels; their share is ``share``.

    >>> z, codes = np.array([[0.0, np.log(3.0)], [0.0, 0.0]]), np.array([1, 0])
    >>> found = tempered_loss(z, codes, np.ones(2), 1.0, np.zeros(2))
    >>> bool(np.isclose(found.loss, -np.log(3 / 4 * 1 / 2))), found.by_offset
    (True, array([-0.25,  0.25]))
    """
    out = np.empty(z.shape[1] + 3)
    prior = weights if prior is None else prior  # not read without a share
    _core.tempered_loss(np.ascontiguousarray(z), codes, weights, prior, slope, offset, share, out)
    return TemperedLoss(float(out[0]), float(out[1]), out[2:-1], float(out[-1]))
