"""The family that fits a column best, by the log-likelihood of each half of the rows under parameters of the other.

Families are fitted to the rows as they are, and only those that take all of the rows are compared. A count has a
probability, a number that was not rounded a density. So that they can be compared, rounded numbers are cells (see
`suffice.diagnostics.rounded_numbers`), those of whole numbers from x − ½ to x + ½, and the probability of a cell is the
integral of the density.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from suffice.diagnostics.columns import LEAST_ROWS, CheckedRows
from suffice.diagnostics.rounded_numbers import rounding_gap
from suffice.diagnostics.shapes import MOST_ROWS
from suffice.exceptions import SufficeError
from suffice.families import Family
from suffice.families.capabilities import Parameters
from suffice.learning.best_families import CANDIDATES
from suffice.learning.family_choice import family_of
from suffice.model import Block
from suffice.numerics.types import Codes, Float
from suffice.statistics import Membership
from suffice.statistics.classes import evenly_spaced
from suffice.tables import MatrixTable

__all__ = ["BetterFamily", "better_family"]

OTHERS = ("exponential", "geometric")  # candidates besides those of families="best"
ERRORS = 2.0  # standard errors by which another family must be better
POINTS = (np.arange(16) - 7.5) / 16  # of a cell, at which its density is averaged
LEAST = -700.0  # log-likelihood of a row


@dataclass(frozen=True)
class BetterFamily:
    """The family with the largest held-out likelihood of a column, and its gain over that of the model in nats."""

    name: str
    nats: float
    error: float


def better_family(rows: CheckedRows, j: int, settings: Mapping[str, object], seed: int) -> BetterFamily | None:
    """The family that fits a column better than its own, by the likelihood of held-out rows; None if no other does."""
    own = rows.columns[j].family
    own = "gaussian" if own == "multivariate_gaussian" else own
    here = np.concatenate([evenly_spaced(here, MOST_ROWS) for _, here in rows.by_class])
    here = here[~rows.missing[here, j]]
    if len(here) < LEAST_ROWS:
        return None
    every = rows.values[~rows.missing[:, j], j]
    compared = _Column(
        rows.values[here, j],
        Membership(rows.classes, codes=rows.codes[here], weights=rows.given_weights[here]),
        rows.rng(seed, j).permutation(len(here)) % 2,
        _cell_width(every),
    )
    scores = {}
    for name in dict.fromkeys((own, *_candidates(every))):
        family = family_of(name, settings)
        if _takes(family, every):
            known = compared.held_out(family)
            scores.update({} if known is None else {name: known})
    return _best(own, scores, rows.given_weights[here])


def _cell_width(x: Float) -> float:
    """The width of the cells that numbers stand for; 0 if they were not rounded."""
    if (x == np.rint(x)).all():
        return 1.0
    return float(np.ptp(x)) if _are_two_values(x) else rounding_gap(x)


def _are_two_values(x: Float) -> bool:
    return not ((x != x.min()) & (x != x.max())).any()


def _takes(family: Family, x: Float) -> bool:
    """Whether all numbers are in the domain of a family."""
    block = Block(family, [0], ["column"])
    try:
        family.check(block.take(MatrixTable(x[:, None])), block.names)
    except SufficeError:
        return False
    return True


def _candidates(x: Float) -> tuple[str, ...]:
    """Names of the families to compare."""
    numbers = *CANDIDATES, *OTHERS
    if not _are_two_values(x):
        return numbers
    return *numbers, "bernoulli" if (x.min(), x.max()) == (0, 1) else "categorical"


def _best(own: str, scores: Mapping[str, Float], weights: Float) -> BetterFamily | None:
    """The family with the best mean score if it is better than that of the model by two standard errors."""
    if own not in scores:
        return None
    share = weights / weights.sum()
    best = max(scores, key=lambda name: float(share @ scores[name]))
    gain = scores[best] - scores[own]
    nats = float(share @ gain)
    error = float(np.sqrt(share**2 @ (gain - nats) ** 2))
    return BetterFamily(best, nats, error) if best != own and nats > ERRORS * error else None


@dataclass(frozen=True, eq=False)
class _Column:
    """Numbers (n,), their classes, the half that each is in, and the width of their cells; 0 if they have none."""

    x: Float
    members: Membership
    halves: Codes
    width: float

    def held_out(self, family: Family) -> Float | None:
        """Log-likelihood of each number under parameters of the other half (n,); None if it cannot be computed."""
        block, out = Block(family, [0], ["column"]), np.empty(len(self.x))
        assert self.members.codes is not None
        try:
            for half in (0, 1):
                train, test = np.flatnonzero(self.halves != half), np.flatnonzero(self.halves == half)
                rows = block.take(MatrixTable(self.x[train, None]))
                statistic = family.summarize(rows, self.members.take(train), block.names)
                parameters = family.estimate(statistic, block.names)
                values, place = np.unique(self.x[test], return_inverse=True)
                with np.errstate(all="ignore"):
                    scores = self._scores(block, parameters, values)
                out[test] = scores[place, self.members.codes[test]]
        except SufficeError:
            return None
        return np.maximum(out, LEAST) if np.isfinite(out).any() else None

    def _scores(self, block: Block, parameters: Parameters, values: Float) -> Float:
        """log p(x | y) of different numbers (m, K): that of their cells if they have some."""
        family = block.family
        if self.width == 0.0 or family.values != "any" or family.reads == "categories":
            return _log_likelihood(block, parameters, values)
        points = (values[:, None] + self.width * POINTS).ravel()
        inside = family.in_domain(points)
        scores = np.where(inside[:, None], _log_likelihood(block, parameters, np.where(inside, points, 1.0)), -np.inf)
        by_cell = scores.reshape(len(values), len(POINTS), -1)
        mean = np.logaddexp.reduce(by_cell, axis=1) - np.log(len(POINTS))
        return np.asarray(np.minimum(mean + np.log(self.width), 0.0))


def _log_likelihood(block: Block, parameters: Parameters, x: Float) -> Float:
    rows = block.family.check_seen(parameters, block.take(MatrixTable(x[:, None])), block.names)
    return np.asarray(block.family.log_likelihood(parameters, rows))
