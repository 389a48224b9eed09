"""Scores of each row under the model of all other rows, in closed form."""

from __future__ import annotations

import numpy as np

from suffice import bayes
from suffice.model.estimate import Estimate
from suffice.model.model import Model
from suffice.numerics.types import Float, Matrix
from suffice.statistics import Membership
from suffice.tables import Table
from suffice.tables.column_matrix import ColumnMatrix

__all__ = ["leave_one_out_joint", "leave_one_out_log_prior"]


def leave_one_out_joint(
    model: Model, estimate: Estimate, x: Table | Matrix, members: Membership, prior: bayes.Prior
) -> Float:
    """log p(x, y) of each row given all other rows (n, K), up to a term that all classes share.

    ``members`` gives the class and the weight that each row has in the model; no weight is zero. Rows for which a
    family has no closed form are NaN.
    """
    fixed = not (isinstance(prior, str) and prior == "data")
    out = leave_one_out_log_prior(model.weights.weight, estimate.prior, members, fixed=fixed)
    for block, statistic, parameters in zip(model.blocks, model.statistics, estimate.parameters, strict=True):
        rows = block.take(x)
        rows = np.asarray(rows) if isinstance(rows, ColumnMatrix) else rows
        part = block.family.leave_one_out(statistic, parameters, rows, members, block.names)
        out += np.nan if part is None else part
    return out


def leave_one_out_log_prior(weight: Float, prior: Float, members: Membership, *, fixed: bool) -> Float:
    """log p(y) given all rows but one (n, K), up to a term that all classes share.

    ``fixed`` means that the prior does not depend on the rows. A row is NaN if its class has no other rows.

    >>> from suffice.statistics import ClassAxis
    >>> two = Membership(ClassAxis.of(["a", "b"]), codes=np.array([0, 1]))
    >>> np.exp(leave_one_out_log_prior(np.array([3.0, 2.0]), np.array([0.6, 0.4]), two, fixed=False))
    array([[2., 2.],
           [3., 1.]])
    """
    assert members.codes is not None
    row = np.arange(len(members)), members.codes
    w = np.ones(len(members)) if members.weights is None else members.weights
    out = np.tile(bayes.log_prior(prior if fixed else weight), (len(members), 1))
    rest = weight[members.codes] - w
    if not fixed:
        with np.errstate(divide="ignore", invalid="ignore"):
            out[row] = np.log(rest)
    out[rest <= 1e-9 * weight[members.codes]] = np.nan
    return out
