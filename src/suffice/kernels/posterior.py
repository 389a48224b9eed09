"""Bayes' rule on rows of log p(x, y)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from suffice.kernels import _core
from suffice.kernels.reading import Float

__all__ = ["add_to_rows", "decide", "log_evidence", "log_posterior", "posterior"]


def add_to_rows(offset: Float, rows: Float) -> None:
    """Add a number for each class (K,) to all rows (n, K), in place.

    >>> rows = np.zeros((2, 3))
    >>> add_to_rows(np.arange(3.0), rows)
    >>> rows
    array([[0., 1., 2.],
           [0., 1., 2.]])
    """
    _core.add_to_rows(offset, rows)


def posterior(joint: Float, out: Float) -> int:
    """Write p(y | x) of each row to ``out``, which may be ``joint`` itself.

    Returns the first row that has no answer, because an entry is no number or all are −∞; −1 if there is none.

    >>> rows = np.log([[0.1, 0.3], [0.2, 0.2]])
    >>> posterior(rows, rows), rows.round(12)
    (-1, array([[0.25, 0.75],
           [0.5 , 0.5 ]]))
    """
    return _core.posterior(joint, out)


def log_posterior(joint: Float, out: Float) -> int:
    """The same with log p(y | x)."""
    return _core.log_posterior(joint, out)


def log_evidence(joint: Float) -> tuple[Float, int]:
    """log p(x) of each row (n,), and the first row for which it is −∞ or not known."""
    out = np.empty(len(joint))
    return out, _core.log_evidence(joint, out)


def decide(joint: Float) -> tuple[NDArray[np.int64], int]:
    """The class of the largest entry of each row (n,), the first of equal ones; and the first row that has none."""
    out = np.empty(len(joint), dtype=np.int64)
    return out, _core.decide(joint, out)
