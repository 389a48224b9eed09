"""Scores of one column from a table: constant in intervals, or linear between knots."""

from __future__ import annotations

import numpy as np

from suffice.kernels import _core
from suffice.kernels.reading import Float

__all__ = ["add_line_scores", "add_step_scores"]


def add_step_scores(values: Float, cuts: Float, table: Float, out: Float, weight: float = 1.0) -> None:
    """Add the scores of the interval of each value, ``cut_b−1 < x ≤ cut_b``; a missing value (NaN) adds nothing.

    Parameters
    ----------
    values : array of shape (n,)
    cuts : array of shape (B − 1,)
    table : array of shape (B, n_classes)
    out : array of shape (n, n_classes)

    >>> out = np.zeros((3, 1))
    >>> add_step_scores(np.array([5.0, 6.0, np.nan]), np.array([5.0]), np.array([[1.0], [2.0]]), out)
    >>> out[:, 0]
    array([1., 2., 0.])
    """
    _core.knot_scores(_column(values), cuts, np.ascontiguousarray(table), weight, False, out)


def add_line_scores(values: Float, knots: Float, table: Float, out: Float, weight: float = 1.0) -> None:
    """Add scores that are linear between at least two knots and constant beyond; a missing value (NaN) adds nothing.

    Parameters
    ----------
    values : array of shape (n,)
    knots : array of shape (B,)
    table : array of shape (B, n_classes)
    out : array of shape (n, n_classes)

    >>> out = np.zeros((3, 1))
    >>> add_line_scores(np.array([0.25, 9.0, np.nan]), np.array([0.0, 1.0]), np.array([[1.0], [2.0]]), out)
    >>> out[:, 0]
    array([1.25, 2.  , 0.  ])
    """
    _core.knot_scores(_column(values), knots, np.ascontiguousarray(table), weight, True, out)


def _column(values: Float) -> Float:
    return np.require(values, np.float64, ["C", "A"])
