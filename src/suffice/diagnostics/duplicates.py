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

from suffice.diagnostics.columns import CheckedRows
from suffice.numerics.single_threaded_blas import single_threaded_blas
from suffice.numerics.types import Codes, Float, Index

__all__ = ["Duplicate", "duplicate_columns", "duplicate_rows"]

LINEAR = 1e-9  # largest deviation from a straight line, in standard deviations


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
    varies = _varies(rows.values)
    found = _repeated_levels(rows, np.flatnonzero(discrete & varies))
    found += _linear_functions(rows, np.flatnonzero(~discrete & varies))
    return sorted(found, key=lambda each: (each.second, each.first))


def _varies(x: Float) -> Codes:
    if not len(x):
        return np.zeros(x.shape[1], dtype=bool)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.fmax.reduce(x, axis=0) > np.fmin.reduce(x, axis=0))


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
    x, missing = rows.values[:, at], rows.missing[:, at]
    count = np.maximum((~missing).sum(axis=0), 1)
    mean = np.where(missing, 0.0, x).sum(axis=0) / count
    centred = np.where(missing, 0.0, x - mean)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        scale = np.sqrt((centred**2).sum(axis=0))
        standard = np.where(np.isfinite(scale) & (scale > 0), centred / scale, 0.0)
    near = np.abs(standard.T @ standard) > 1 - 1e-9
    found, taken = [], set()
    for i, j in zip(*np.nonzero(np.triu(near, 1)), strict=True):
        if j in taken or not np.array_equal(missing[:, i], missing[:, j]):
            continue
        sign = 1.0 if standard[:, i] @ standard[:, j] > 0 else -1.0
        if np.abs(standard[:, j] - sign * standard[:, i]).max() * np.sqrt(count[i]) > LINEAR:
            continue
        taken.add(j)
        _, levels = np.unique(x[:, i], return_inverse=True, equal_nan=True)
        slope = sign * scale[j] / scale[i]
        relation = _line(float(slope), float(mean[j] - slope * mean[i]), float(scale[j] / np.sqrt(count[j])))
        found.append(Duplicate(int(at[i]), int(at[j]), relation, _chance(levels, rows.codes, np.log(2.0))))
    return found


def _line(slope: float, offset: float, scale: float) -> str:
    """A linear function in words."""
    if abs(offset) <= LINEAR * max(scale, abs(slope)):
        return "equal" if abs(slope - 1) <= LINEAR else f"{slope:.6g} times the first"
    return f"{slope:.6g} times the first {'+' if offset > 0 else '−'} {abs(offset):.6g}"


def duplicate_rows(rows: CheckedRows) -> int:
    """Number of rows that are equal to an earlier row of the same class in all checked columns."""
    mixed = rows.codes.astype(np.uint64) + np.uint64(1)
    for column in np.ascontiguousarray(rows.values.T + 0.0):
        bits = np.where(np.isnan(column), np.nan, column).view(np.uint64)
        mixed = (mixed ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    return len(mixed) - len(np.unique(mixed))
