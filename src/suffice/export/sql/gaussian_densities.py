"""Log-densities of multivariate Gaussians and Student's t distributions as SQL, from whitened deviations."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from suffice.export.sql.engine import LARGEST
from suffice.export.sql.expressions import Name, Operand, added, divided, multiplied, subtracted, total
from suffice.export.sql.query import Query
from suffice.export.sql.searches import search
from suffice.families.formula import GaussianBlock
from suffice.numerics.gamma_function import log_rise
from suffice.numerics.types import Float

__all__ = ["centred_lines", "deviations", "lines", "log_density", "whitened"]

LOG_2PI = math.log(2 * math.pi)


def lines(form: GaussianBlock, whitening: Float, columns: Sequence[int]) -> tuple[Float, Float, Float]:
    """Slopes, distances of the means from the origin, and the origin, of a shared covariance on some columns."""
    at = list(columns)
    away = ((form.mean - form.origin) + form.mean_low)[:, at]
    return (away @ whitening) @ whitening.T, away, form.origin[at]


def centred_lines(slope: Float, away: Float, origin: Float, numbers: Sequence[Operand], query: Query) -> list[Operand]:
    """Σ_j slope_kj ((x_j − origin_j) − away_kj/2)."""
    from_origin: list[Operand] = [subtracted(x, each) for x, each in zip(numbers, origin.tolist(), strict=True)]
    if query.engine.raises:
        size = np.abs(slope)
        least = 1e-300 / np.where(size > 0, size, np.inf).min(axis=0)
        most = np.minimum(1e300 / np.maximum(size.max(axis=0), 1e-8), LARGEST)
        bounds = zip(from_origin, least.tolist(), most.tolist(), strict=True)
        from_origin = [query.engine.within(x, max(low, 1e-308), high) for x, low, high in bounds]
    centred = [query.named(x, "centred") for x in from_origin]
    return [
        total(
            multiplied(subtracted(x, middle / 2), steep)
            for x, steep, middle in zip(centred, slopes, middles, strict=True)
            if steep
        )
        for slopes, middles in zip(slope.tolist(), away.tolist(), strict=True)
    ]


def deviations(form: GaussianBlock, k: int, numbers: Sequence[Operand], unit: Float, query: Query) -> list[Operand]:
    """(x − mean) − mean_low of the columns of class k, in range of arithmetic; ``unit`` is their deviation."""
    out: list[Operand] = []
    for x, mean, low, size in zip(
        numbers, form.mean[k].tolist(), form.mean_low[k].tolist(), unit.tolist(), strict=True
    ):
        away = query.engine.within(subtracted(subtracted(x, mean), low), 1e-140 * size, min(1e150 * size, LARGEST))
        out.append(query.named(away, "away"))
    return out


def whitened(away: Sequence[Operand], whitening: Float, query: Query) -> Operand:
    """‖away · whitening‖²."""
    squares = []
    for column in whitening.T.tolist():
        z = total(multiplied(x, weight) for x, weight in zip(away, column, strict=True) if weight)
        squares.append(query.engine.squared(query.named(z, "white")))
    return total(squares)


def log_density(
    form: GaussianBlock, k: int, distance: Operand, log_det: Operand, rank: int | Name, query: Query
) -> Operand:
    """The log-density of class k at a distance, of as many columns as ``rank`` says, up to the number of all."""
    if form.freedom is None or form.spread is None:
        size = rank * LOG_2PI if isinstance(rank, int) else multiplied(rank, LOG_2PI)
        return multiplied(total([size, log_det, distance]), -0.5)
    freedom, spread = float(form.freedom[k]), float(form.spread[k])
    norms = [
        float(log_rise(freedom / 2, r / 2)) - 0.5 * r * math.log(math.pi * freedom * spread)
        for r in range(form.mean.shape[1] + 1)
    ]
    ratio = query.named(divided(distance, freedom * spread), "ratio")
    norm: Operand
    power: Operand
    if isinstance(rank, int):
        norm, power = norms[rank], 0.5 * (freedom + rank)
    else:
        norm = search(query.engine, rank, range(len(norms) - 1), norms)
        power = multiplied(added(rank, freedom), 0.5)
    tail = multiplied(power, query.engine.log1p(ratio))
    return subtracted(subtracted(norm, multiplied(log_det, 0.5)), tail)
