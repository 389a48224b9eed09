"""p(x_j | y) of one column alone, at the values where a plot shows it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from suffice import bayes
from suffice.exceptions import InputError
from suffice.families.capabilities import Parameters
from suffice.model.block import Block
from suffice.model.columns import used_column
from suffice.model.estimate import Estimate
from suffice.numerics.even_draws import EvenDraws
from suffice.numerics.types import Array, Float
from suffice.statistics.cuts import interval_names
from suffice.tables import Coded
from suffice.tables.table import Kind, Schema

__all__ = ["Marginal", "marginal"]

MarginalKind = Literal["continuous", "counts", "levels"]
N_DRAWN = 400  # values of each class that show where its mass is
TAILS = 0.005  # share of the mass on each side that a grid may leave out
MARGIN = 0.05  # of the width of a grid, added on both sides
MOST_COUNTS = 400  # whole numbers of a grid


@dataclass(frozen=True, eq=False)
class Marginal:
    """The distribution of one column in each class.

    Attributes
    ----------
    column : object
        Name of the column.
    kind : {"continuous", "counts", "levels"}
        Whether ``log_density`` is the logarithm of a density of numbers, of probabilities of whole numbers, or of
        probabilities of levels.
    values : array of shape (m,), or list
        Numbers in ascending order, or levels. Points in time are seconds since 1970.
    log_density : array of shape (K, m)
    prior : array of shape (K,)
        p(y) of each class.
    is_time : bool
        Whether the column holds points in time.
    """

    column: object
    kind: MarginalKind
    values: Array | list[Any]
    log_density: Float
    prior: Float
    is_time: bool = False

    @property
    def density(self) -> Float:
        """p(x_j | y) of each class and value (K, m)."""
        with np.errstate(over="ignore"):
            return np.exp(self.log_density)

    @property
    def posterior(self) -> Float:
        """p(y | x_j) of each class and value (K, m), from this column alone; NaN where no class has the value."""
        joint = bayes.joint(bayes.log_prior(self.prior), self.log_density.T.copy())
        possible = (joint > -np.inf).any(axis=1)
        out = np.full(joint.shape, np.nan)
        if possible.any():
            out[possible] = bayes.posterior(joint[possible])
        return out.T


def marginal(
    estimate: Estimate,
    schema: Schema,
    column: object,
    values: Sequence[float] | Array | None = None,
    n_values: int = 201,
    draws: dict[int, Float] | None = None,
) -> Marginal:
    """p(x_j | y) of one column of a model.

    Parameters
    ----------
    estimate : Estimate
    schema : Schema
        Kinds of the columns.
    column : object
        Name of a column. A column of a dependent block has its marginal distribution.
    values : array-like of shape (m,), optional
        Numbers at which a column of numbers is evaluated; by default a grid over the mass of all classes.
    n_values : int
        Number of values of that grid.
    draws : dict, optional
        Keeps the values that show where the mass of a block is, by the position of the block, so that they are drawn
        once for all of its columns.

    Raises
    ------
    InputError
        If the model has no such column, or its family has no distribution of one column: words, and counts that
        share a total.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> fitted = NaiveBayes(estimation="mle").fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"]).fitted_
    >>> found = marginal(fitted.estimate, fitted.layout.schema, 0, values=[2.0, 12.0])
    >>> found.kind, found.density.round(3)
    ('continuous', array([[0.399, 0.   ],
           [0.   , 0.199]]))
    """
    place = used_column(estimate, schema, column)
    b, j, block, kind = place.number, place.j, place.block, place.kind
    parameters = estimate.parameters[b]
    levels = _levels(block, parameters, j, kind)
    if levels is not None:
        with np.errstate(divide="ignore"):
            return Marginal(column, "levels", levels[0], np.log(levels[1]).T, estimate.prior)
    family = block.family
    whole = family.values == "whole"
    if values is None and family.column_log_density(parameters, np.zeros(0), j) is not None:
        kept = {} if draws is None else draws
        if b not in kept:
            kept[b] = _drawn(estimate, block, parameters)
        at = _grid(block, kept[b][:, j], n_values, whole=whole)
    else:
        at = np.asarray(() if values is None else values, dtype=np.float64)
    log_density = _log_density(block, parameters, at, j)
    if log_density is None:
        raise InputError(
            f"The family {family.name} has no distribution of one column alone, so column {column!r} has no density.",
            column=column,
        )
    return Marginal(column, "counts" if whole else "continuous", at, log_density.T, estimate.prior, kind == "time")


def _levels(block: Block, parameters: Parameters, j: int, kind: Kind) -> tuple[list[Any], Float] | None:
    """Levels of a column and their probabilities in each class (L, K); None for a column of numbers."""
    family = block.family
    found = family.column_levels(parameters, j)
    if found is not None:
        levels, cuts = list(found[0]), family.level_cuts(parameters, j)
        if cuts is not None and kind == "time":
            levels = [*interval_names(cuts, times=True), *levels[len(cuts) + 1 :]]
        return levels, np.asarray(found[1])
    if family.values != "truth":
        return None
    log_density = family.column_log_density(parameters, np.array([0.0, 1.0]), j)
    assert log_density is not None
    return ([False, True] if kind == "bool" else [0, 1]), np.exp(log_density)


def _log_density(block: Block, parameters: Parameters, values: Float, j: int) -> Float | None:
    """log p(x_j | y) of some numbers (m, K); −∞ outside the domain of the family."""
    family = block.family
    allowed = family.in_domain(values) & ~np.isnan(values)
    with np.errstate(all="ignore"):
        found = family.column_log_density(parameters, np.where(allowed, values, np.nan), j)
    return None if found is None else np.where(allowed[:, None], found, -np.inf)


def _drawn(estimate: Estimate, block: Block, parameters: Parameters) -> Float:
    """Values of the columns of a block, drawn from each class that has a prior (number of values, d)."""
    present = np.flatnonzero(estimate.prior > 0)
    codes = np.repeat(present if len(present) else np.arange(len(estimate.classes)), N_DRAWN)
    drawn = block.family.sample(parameters, codes, EvenDraws(codes, np.random.default_rng(0)))
    assert not isinstance(drawn, Coded)
    return np.asarray(drawn, dtype=np.float64)


def _grid(block: Block, drawn: Float, n_values: int, *, whole: bool) -> Float:
    """Numbers that cover the mass of all classes of which values of one column were drawn."""
    values = drawn.reshape(-1, N_DRAWN)
    ends = np.quantile(values, [TAILS, 1 - TAILS], axis=1)
    low, high = float(ends[0].min()), float(ends[1].max())
    if whole:
        step = max(1, int(np.ceil((high + 1 - max(low - 1, 0.0)) / MOST_COUNTS)))
        return np.arange(max(np.floor(low) - 1, 0.0), np.ceil(high) + 1 + step, step)
    if not high > low:
        spread = abs(low) if low else 1.0
        return np.linspace(low - spread, low + spread, n_values)
    margin = MARGIN * (high - low)
    lowest = low - margin if bool(block.family.in_domain(np.array([low - margin]))[0]) else low
    return np.linspace(lowest, high + margin, n_values)
