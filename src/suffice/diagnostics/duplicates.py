"""Columns that repeat another column: equal, exact linear functions of each other, or the same levels renamed.

Two columns with few different values may be equal by chance. The p-value is the probability that a random order of the
rows within each class makes them equal:

    p = c · Π_k (Π_a n_ka!) / n_k!

for n_ka rows of class k with the value a. There are c = 1 ways to be equal, 2 to be a linear function, and L! to have
the same L levels under other names.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from suffice.diagnostics.columns import CheckedRows, binary_exponent, in_units, varying
from suffice.diagnostics.row_keys import sequence_keys
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Codes, Index

__all__ = ["Duplicate", "duplicate_columns", "duplicate_rows"]

LINEAR = 1e-9  # largest deviation from a straight line, in standard deviations
NEAR = 1e-9  # 1 − |r| of columns that may be linear functions of each other
EPSILON, ROUNDING_UNITS = float(np.finfo(np.float64).eps), 4
MOST_ROUNDING = 1e-3  # standard deviations; columns with larger rounding errors are not compared


@dataclass(frozen=True)
class Duplicate:
    """A column that repeats an earlier one.

    Attributes
    ----------
    first, second : int
        Positions among the checked columns.
    relation : str
        The second column as a formula of the first.
    p_value : float
        Probability by chance, before any correction.
    """

    first: int
    second: int
    relation: str
    p_value: float


@single_threaded_blas(lambda rows: rows.values.size)
def duplicate_columns(rows: CheckedRows) -> list[Duplicate]:
    """Each column that repeats an earlier one, with the first such column."""
    discrete = np.array([column.discrete for column in rows.columns], dtype=bool)
    varies = varying(rows.values)
    found = _repeated_levels(rows, np.flatnonzero(discrete & varies))
    found += _linear_functions(rows, np.flatnonzero(~discrete & varies))
    return sorted(found, key=lambda each: (each.second, each.first))


def _repeated_levels(rows: CheckedRows, at: Index) -> list[Duplicate]:
    """Discrete columns with the same partition of the rows."""
    from scipy.special import gammaln

    found: list[Duplicate] = []
    known: dict[tuple[bytes, bytes], int] = {}
    for j in at.tolist():
        codes = np.where(rows.missing[:, j], -1.0, rows.values[:, j])
        _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
        renamed = np.argsort(np.argsort(first))[inverse]  # levels in the order of their first rows
        key = renamed.astype(np.int32).tobytes(), rows.missing[:, j].tobytes()
        if key not in known:
            known[key] = j
            continue
        i = known[key]
        equal = rows.levels.get(i) == rows.levels.get(j)
        equal &= np.array_equal(rows.values[:, i], rows.values[:, j], equal_nan=True)
        relation = "equal" if equal else "the same levels under other names"
        ways = 0.0 if equal else float(gammaln(renamed.max() + 2))
        found.append(Duplicate(i, j, relation, _chance(renamed, rows.codes, ways)))
    return found


def _chance(levels: Codes, codes: Codes, log_ways: float) -> float:
    """Probability that random orders within the classes repeat a column in one of so many ways."""
    from scipy.special import gammaln

    n_levels = int(levels.max()) + 1
    _, cells = np.unique(codes * n_levels + levels, return_counts=True)  # most of K·L cells may be empty
    log = gammaln(cells + 1).sum() - gammaln(np.bincount(codes) + 1).sum() + log_ways
    return float(np.exp(min(log, 0.0)))


def _linear_functions(rows: CheckedRows, at: Index) -> list[Duplicate]:
    """Columns of numbers that are a linear function of an earlier one and have the same missing cells."""
    if len(at) < 2:
        return []
    x, missing = in_units(rows.values[:, at]), rows.missing[:, at]
    count = np.maximum((~missing).sum(axis=0), 1)
    mean = np.where(missing, 0.0, x).sum(axis=0) / count
    centred = np.where(missing, 0.0, x - mean)
    scale = np.sqrt((centred**2).sum(axis=0))
    standard = np.where(scale > 0, centred / np.where(scale > 0, scale, 1.0), 0.0)
    # A number is known up to a share of its size; that is much of its deviation if the mean is large.
    rounding = ROUNDING_UNITS * EPSILON * np.fmax.reduce(np.abs(x), axis=0) / np.maximum(scale / np.sqrt(count), 1e-300)
    near = np.abs(standard.T @ standard) > 1 - max(NEAR, float(rounding.max()))
    found, taken = [], set()
    for i, j in zip(*np.nonzero(np.triu(near, 1)), strict=True):
        if j in taken or not np.array_equal(missing[:, i], missing[:, j]):
            continue
        sign = 1.0 if standard[:, i] @ standard[:, j] > 0 else -1.0
        limit = max(LINEAR, float(rounding[i] + rounding[j]))
        if limit > MOST_ROUNDING or np.abs(standard[:, j] - sign * standard[:, i]).max() * np.sqrt(count[i]) > limit:
            continue
        taken.add(j)
        _, levels = np.unique(x[:, i], return_inverse=True, equal_nan=True)
        relation = _relation(rows, int(at[i]), int(at[j]), sign * scale[j] / scale[i], limit)
        found.append(Duplicate(int(at[i]), int(at[j]), relation, _chance(levels, rows.codes, np.log(2.0))))
    return found


def _relation(rows: CheckedRows, i: int, j: int, slope: float, limit: float) -> str:
    """The second column as a formula of the first; ``slope`` is that of columns in their own units."""
    if np.array_equal(rows.values[:, i], rows.values[:, j], equal_nan=True):
        return "equal"
    both = rows.values[:, [i, j]]
    units = np.ldexp(1.0, binary_exponent(both))
    slope = slope * units[1] / units[0]
    middle = np.nanmean(both / units, axis=0) * units
    size = np.nanmax(np.abs(both[:, 1]))
    return _line(float(slope), float(middle[1] - slope * middle[0]), float(size), limit)


def _line(slope: float, offset: float, size: float, limit: float) -> str:
    """A linear function in words; ``limit`` is the rounding error of the slope, and, times ``size``, of the offset."""
    if abs(offset) <= limit * max(size, abs(slope)):
        return "equal" if abs(slope - 1) <= limit else f"{slope:.6g} times the first"
    return f"{slope:.6g} times the first {'+' if offset > 0 else '−'} {abs(offset):.6g}"


def duplicate_rows(rows: CheckedRows) -> int:
    """Number of rows that are equal to another row of the same class in all checked columns."""
    return len(rows.codes) - len(np.unique(sequence_keys(rows.values, rows.codes)))
