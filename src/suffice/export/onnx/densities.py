"""Log-densities of Gaussians and Student's t distributions from distances to the means."""

from __future__ import annotations

import math

import numpy as np

from suffice.export.onnx.graph import Operand, Value
from suffice.export.onnx.operations import as_number, log1p, taken
from suffice.families.formula import GaussianBlock
from suffice.numerics.gamma_function import log_rise

__all__ = ["is_linear", "log_densities"]

LOG_2PI = math.log(2 * math.pi)


def is_linear(form: GaussianBlock) -> bool:
    """Whether the log-odds are linear: Gaussians with one covariance."""
    return len(form.whitening) == 1 and form.freedom is None


def log_densities(form: GaussianBlock, distance: Value, log_det: Operand, rank: Value) -> Value:
    """Log-densities (n, K) from the squares of the distances (n, K).

    ``log_det`` is that of the covariance of the known columns, and ``rank`` its rank; both may be the same for all
    rows or classes.
    """
    if form.freedom is None or form.spread is None:
        return (distance + log_det + as_number(rank) * LOG_2PI) * -0.5
    n_classes, scale = len(form.mean), form.freedom * form.spread
    every = np.arange(len(form.origin) + 1)[:, None]
    norm = log_rise(form.freedom / 2, every / 2) - 0.5 * every * np.log(np.pi * scale)
    at = rank * np.array(n_classes) + np.arange(n_classes)
    of_rank = taken(distance.graph, norm.ravel(), at)
    power = (as_number(rank) + form.freedom) * 0.5
    return of_rank - distance.graph.constant(log_det, "number") * 0.5 - power * log1p(distance / scale)
