"""The shape of each column of numbers given the class, and the family that fits held-out rows best.

Skewness and excess kurtosis are those of the rows less the mean of their class, in units of its standard deviation.
The p-values of the classes (see `suffice.diagnostics.shape_tests`) are combined by Fisher's method:
−2 Σ_k log p_k has a χ² distribution with 2K degrees of freedom. Families are compared by the log-likelihood of each
half of the rows under parameters of the other half.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from suffice.diagnostics.columns import LEAST_ROWS, CheckedRows
from suffice.diagnostics.shape_tests import COUNTS, TESTS, jittered, shape_p_value
from suffice.exceptions import SufficeError
from suffice.learning.best_families import CANDIDATES
from suffice.learning.family_choice import family_of
from suffice.model import Block
from suffice.numerics.types import Codes, Float
from suffice.statistics import Membership
from suffice.statistics.classes import evenly_spaced
from suffice.tables import MatrixTable

__all__ = ["BetterFamily", "ShapeTest", "better_family", "shape_tests"]

MOST_ROWS = 10_000  # of a class
OTHERS = ("exponential", "geometric")  # candidates besides those of families="best"
ERRORS = 2.0  # standard errors by which another family must be better


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


@dataclass(frozen=True)
class BetterFamily:
    """The family with the largest held-out likelihood of a column, and its gain over that of the model in nats."""

    name: str
    nats: float
    error: float


def shape_tests(rows: CheckedRows, seed: int) -> list[ShapeTest]:
    """Tests of all columns of numbers."""
    from scipy.special import chdtrc

    found = []
    for j, column in enumerate(rows.columns):
        if column.discrete:
            continue
        rng = np.random.default_rng([seed, j])
        logs, parts, weights = [], [], []
        for _, here in rows.by_class:
            here = here[~rows.missing[here, j]]
            x = rows.values[here, j]
            if len(x) < LEAST_ROWS or not x.max() > x.min():
                continue
            mean = np.average(x, weights=rows.weights[here])
            scale = np.sqrt(np.average((x - mean) ** 2, weights=rows.weights[here]))
            parts.append((x - mean) / scale if scale > 0 else x - mean)
            weights.append(rows.weights[here])
            if column.family in TESTS:
                some = x[evenly_spaced(np.arange(len(x)), MOST_ROWS)]
                p = shape_p_value(column.family, some if column.family in COUNTS else jittered(some, rng), rng)
                logs += [] if np.isnan(p) else [np.log(max(p, 1e-300))]
        if parts:
            z, w = np.concatenate(parts), np.concatenate(weights)
            p_value = float(chdtrc(2 * len(logs), -2 * sum(logs))) if logs else float("nan")
            square = z * z
            skewness, kurtosis = float(np.average(square * z, weights=w)), float(np.average(square * square, weights=w))
            found.append(ShapeTest(j, skewness, kurtosis - 3, p_value))
    return found


def better_family(rows: CheckedRows, j: int, settings: Mapping[str, object], seed: int) -> BetterFamily | None:
    """The family that fits a column better than its own, by the likelihood of held-out rows; None if no other does."""
    rng = np.random.default_rng([seed, j])
    own = rows.columns[j].family
    own = "gaussian" if own == "multivariate_gaussian" else own
    here = np.concatenate([evenly_spaced(here, MOST_ROWS) for _, here in rows.by_class])
    here = here[~rows.missing[here, j]]
    if len(here) < LEAST_ROWS:
        return None
    members = Membership(rows.classes, codes=rows.codes[here], weights=rows.weights[here])
    halves = rng.permutation(len(here)) % 2
    x = rows.values[here, j]
    smooth = jittered(x, rng)
    scores = {}
    for name in dict.fromkeys((own, *CANDIDATES, *OTHERS)):
        known = _held_out(name, x if name in COUNTS else smooth, members, halves, settings)
        if known is not None:
            scores[name] = known
    if own not in scores:
        return None
    share = rows.weights[here] / rows.weights[here].sum()
    best = max(scores, key=lambda name: float(share @ scores[name]))
    gain = scores[best] - scores[own]
    nats = float(share @ gain)
    error = float(np.sqrt(share**2 @ (gain - nats) ** 2))
    return BetterFamily(best, nats, error) if best != own and nats > ERRORS * error else None


def _held_out(name: str, x: Float, members: Membership, halves: Codes, settings: Mapping[str, object]) -> Float | None:
    """Log-likelihood of each number under parameters of the other half (n,); None outside the family's domain."""
    block = Block(family_of(name, settings), [0], ["column"])
    family, out = block.family, np.empty(len(x))
    try:
        for half in (0, 1):
            train, test = np.flatnonzero(halves != half), np.flatnonzero(halves == half)
            rows = block.take(MatrixTable(x[train, None]))
            family.check(rows, block.names)
            parameters = family.estimate(family.summarize(rows, members.take(train), block.names), block.names)
            with np.errstate(all="ignore"):
                scores = family.log_likelihood(parameters, block.take(MatrixTable(x[test, None])))
            assert members.codes is not None
            out[test] = scores[np.arange(len(test)), members.codes[test]]
    except SufficeError:
        return None
    return np.maximum(out, -700.0) if np.isfinite(out).any() else None
