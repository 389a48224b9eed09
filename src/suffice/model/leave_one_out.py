"""Each row under the model of all the others, in closed form."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import bayes
from suffice.model.estimate import Estimate
from suffice.model.model import Model
from suffice.statistics import Membership
from suffice.tables.column_matrix import ColumnMatrix

__all__ = ["joint_in_closed_form", "left_out_prior"]

Float = NDArray[np.float64]


def joint_in_closed_form(model: Model, estimate: Estimate, x: Any, members: Membership, prior: bayes.Prior) -> Float:
    """log p(x, y) of each row given all the others (n, K), up to a term that the classes share.

    ``members`` says with what class and weight each row is in the model; no weight is zero. NaN in the rows for which
    a family has no closed form.
    """
    out = left_out_prior(model.weights.weight, estimate.prior, members, fixed=not _is_data(prior))
    for block, statistic, parameters in zip(model.blocks, model.statistics, estimate.parameters, strict=True):
        rows = block.take(x)
        rows = np.asarray(rows) if isinstance(rows, ColumnMatrix) else rows
        part = block.family.leave_one_out(statistic, parameters, rows, members, block.names)
        out += np.nan if part is None else part
    return out


def left_out_prior(weight: Float, prior: Float, members: Membership, *, fixed: bool) -> Float:
    """log p(y) given all rows but one (n, K), up to a term that the classes share; NaN where no row is left of a class.

    >>> from suffice.statistics import ClassAxis
    >>> two = Membership(ClassAxis.of(["a", "b"]), codes=np.array([0, 1]))
    >>> np.exp(left_out_prior(np.array([3.0, 2.0]), np.array([0.6, 0.4]), two, fixed=False))
    array([[2., 2.],
           [3., 1.]])
    """
    assert members.codes is not None
    row = np.arange(len(members)), members.codes
    w = np.ones(len(members)) if members.weights is None else members.weights
    out = np.tile(bayes.log_prior(prior if fixed else weight), (len(members), 1))
    left = weight[members.codes] - w
    if not fixed:
        with np.errstate(divide="ignore", invalid="ignore"):
            out[row] = np.log(left)
    out[left <= 1e-9 * weight[members.codes]] = np.nan
    return out


def _is_data(prior: bayes.Prior) -> bool:
    return isinstance(prior, str) and prior == "data"
