"""The shape of each column of numbers given the class.

Skewness and excess kurtosis are those of the rows less the mean of their class, in units of its standard deviation.
The p-values of the classes (see `suffice.diagnostics.shape_tests`) are combined by Fisher's method:
−2 Σ_k log p_k has a χ² distribution with 2K degrees of freedom.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.diagnostics.columns import LEAST_ROWS, CheckedRows, binary_exponent
from suffice.diagnostics.rounded_numbers import rounding_gap
from suffice.diagnostics.shape_tests import COUNTS, TESTS, shape_p_value
from suffice.numerics.types import Float
from suffice.statistics.classes import evenly_spaced

__all__ = ["ShapeTest", "shape_tests"]

MOST_ROWS = 10_000  # of a class


@dataclass(frozen=True)
class ShapeTest:
    """The shape of one column.

    Attributes
    ----------
    column : int
        Position among the checked columns.
    skewness, kurtosis : float
        Within the classes; 0 for a normal distribution.
    p_value : float
        Before any correction; NaN if the family has no fixed shape, or there are too few rows.
    """

    column: int
    skewness: float
    kurtosis: float
    p_value: float


def shape_tests(rows: CheckedRows, seed: int) -> list[ShapeTest]:
    """Tests of all columns of numbers."""
    found = [_shape_test(rows, j, seed) for j, column in enumerate(rows.columns) if not column.discrete]
    return [each for each in found if each is not None]


def _shape_test(rows: CheckedRows, j: int, seed: int) -> ShapeTest | None:
    """The test of one column; None if it varies in no class."""
    from scipy.special import chdtrc

    family, rng = rows.columns[j].family, rows.rng(seed, j)
    x, present = rows.values[:, j], ~rows.missing[:, j]
    gap = rounding_gap(x[present]) if family in TESTS and family not in COUNTS and present.any() else 0.0
    logs, parts, weights = [], [], []
    for _, here in rows.by_class:
        here = here[present[here]]
        own = x[here]
        if len(own) < LEAST_ROWS or not own.max() > own.min():
            continue
        exponent = 0 if family in COUNTS else binary_exponent(own)
        own = np.ldexp(own, -exponent)
        parts.append(_standard(own, rows.weights[here]))
        weights.append(rows.weights[here])
        if family in TESTS:
            some = own[evenly_spaced(np.arange(len(own)), MOST_ROWS)]
            p = shape_p_value(family, some, rng, float(np.ldexp(gap, -exponent)))
            logs += [] if np.isnan(p) else [np.log(max(p, 1e-300))]
    if not parts:
        return None
    z, w = np.concatenate(parts), np.concatenate(weights)
    skewness, kurtosis = (float(np.average(z**power, weights=w)) for power in (3, 4))
    p_value = float(chdtrc(2 * len(logs), -2 * sum(logs))) if logs else float("nan")
    return ShapeTest(j, skewness, kurtosis - 3, p_value)


def _standard(x: Float, weights: Float) -> Float:
    """Numbers less their mean, in standard deviations."""
    centred = x - np.average(x, weights=weights)
    scale = np.sqrt(np.average(centred**2, weights=weights))
    return np.asarray(centred / scale if scale > 0 else centred)
