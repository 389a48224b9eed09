"""The shape of numbers that were rounded, such as ages in years.

A rounded number x stands for a cell from x − g/2 to x + g/2, where g is the gap between neighbouring numbers. The
parameters of a shape with the distribution function F are those that maximise the likelihood of the cells,

    Σ_x n_x log (F(x + g/2) − F(x − g/2))

by Fisher scoring. If the cells are narrow, a random point between F(x − g/2) and F(x + g/2) takes the place of F(x).
Otherwise the numbers of rows in the cells are compared with the expected ones by G and Pearson's χ².
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from suffice.diagnostics.contingency import EXPECTED, cell_terms, joined_neighbours, table_p_value
from suffice.numerics.types import Codes, Float

__all__ = ["RoundedNumbers", "rounding_gap"]

EPSILON, ROUNDING_UNITS = float(np.finfo(np.float64).eps), 64  # rounding errors of sums and products of a few numbers
SAME = 1e-9  # share of the mean gap between numbers; smaller gaps are rounding errors
LEAST = 1e-300
STEP = 1e-5  # of a parameter, for a derivative
MOST_STEPS, LONGEST_STEP, CLOSE = 30, 1.0, 1e-7
STEEPEST = 1e100  # slope of the log-probability of a cell that is almost impossible
WIDE = 0.2  # probability of a cell; narrower cells leave A² almost as it is without rounding

Distribution = Callable[[Float, Float], Float]
"""F(x) of numbers and parameters."""


def rounding_gap(x: Float) -> float:
    """The least gap between numbers that were rounded; 0 if no two numbers are equal, or if there are two values only.

    Numbers that differ by no more than rounding errors, such as 0.3 and 0.1 + 0.2, are equal.

    >>> rounding_gap(np.array([1.0, 3.0, 1.0, 6.0])), rounding_gap(np.array([1.0, 3.0, 1.5]))
    (2.0, 0.0)
    >>> round(rounding_gap(np.array([0.1 + 0.2, 0.3, 0.6, 0.9])), 3)
    0.3
    """
    values = np.unique(x)
    gaps = np.diff(values)
    same = max(ROUNDING_UNITS * EPSILON * float(np.abs(values).max()), SAME * float(np.ptp(values)) / len(values))
    gaps = gaps[gaps > same]
    return 0.0 if len(gaps) == len(x) - 1 or len(gaps) < 2 else float(gaps.min())


@dataclass(frozen=True, eq=False)
class RoundedNumbers:
    """Numbers of one class by cells.

    Attributes
    ----------
    lower, upper : array of shape (m,)
        Ends of the cells that hold numbers, in order.
    count : array of shape (m,)
    cell : array of int of shape (n,)
        The cell of each number.
    """

    lower: Float
    upper: Float
    count: Float
    cell: Codes

    @classmethod
    def of(cls, x: Float, gap: float) -> RoundedNumbers:
        """Numbers with a gap between neighbours."""
        first = x.min()
        place, cell = np.unique(np.rint((x - first) / gap), return_inverse=True)
        middle = first + gap * place
        return cls(middle - gap / 2, middle + gap / 2, np.bincount(cell).astype(np.float64), cell)

    def fitted(self, distribution: Distribution, start: Float) -> Float:
        """Parameters of the largest likelihood."""
        return _most_likely(distribution, start, self.lower, self.upper, self.count)

    def are_wide(self, distribution: Distribution, parameters: Float) -> bool:
        """Whether a cell holds much of the distribution."""
        return bool(_mass(distribution, parameters, self.lower, self.upper).max() > WIDE)

    def transformed(self, distribution: Distribution, parameters: Float, rng: np.random.Generator) -> Float:
        """A random point between the values of F at the ends of the cell of each number (n,)."""
        low = distribution(self.lower, parameters)
        mass = _mass(distribution, parameters, self.lower, self.upper)
        return np.asarray(low[self.cell] + rng.random(len(self.cell)) * mass[self.cell])

    def table_p_value(self, distribution: Distribution, parameters: Float) -> float:
        """The p-value of the numbers of rows in cells, which are joined until each expects five; NaN for few cells."""
        edges = np.concatenate([[-np.inf], self.lower, [self.upper[-1], np.inf]])  # no number is in the first and last
        expected = self.count.sum() * _mass(distribution, parameters, edges[:-1], edges[1:])
        group = joined_neighbours(expected, EXPECTED)
        df = int(group[-1]) - len(parameters)
        if df < 1:
            return float("nan")
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        edges = np.append(edges[starts], np.inf)
        count = np.bincount(group[1:-1], self.count, int(group[-1]) + 1).astype(np.float64)
        parameters = _most_likely(distribution, parameters, edges[:-1], edges[1:], count)
        expected = count.sum() * _mass(distribution, parameters, edges[:-1], edges[1:])
        ratio, pearson = (float(each.sum()) for each in cell_terms(count, expected))
        return float(table_p_value(ratio, pearson, df))


def _mass(distribution: Distribution, parameters: Float, lower: Float, upper: Float) -> Float:
    return np.maximum(distribution(upper, parameters) - distribution(lower, parameters), LEAST)


def _most_likely(distribution: Distribution, start: Float, lower: Float, upper: Float, count: Float) -> Float:
    """Parameters that maximise the likelihood of cells, by steps of Fisher scoring that are halved if they are long."""
    parameters, score = start, _log_likelihood(distribution, start, lower, upper, count)
    for _ in range(MOST_STEPS):
        mass = _mass(distribution, parameters, lower, upper)
        moved = parameters + STEP * np.eye(len(parameters))
        slopes = np.stack([(_mass(distribution, each, lower, upper) - mass) / (STEP * mass) for each in moved])
        slopes = np.clip(slopes, -STEEPEST, STEEPEST)
        information = (slopes * count) @ slopes.T
        step = np.linalg.lstsq(information, slopes @ count, rcond=None)[0]
        step *= min(1.0, LONGEST_STEP / max(float(np.abs(step).max()), CLOSE))
        while np.abs(step).max() > CLOSE:
            better = _log_likelihood(distribution, parameters + step, lower, upper, count)
            if better >= score:
                break
            step = step / 2
        if np.abs(step).max() <= CLOSE:
            return parameters
        parameters, score = parameters + step, better
    return parameters


def _log_likelihood(distribution: Distribution, parameters: Float, lower: Float, upper: Float, count: Float) -> float:
    return float(count @ np.log(_mass(distribution, parameters, lower, upper)))
