"""The numbers in a plot of one column: p(x_j | y) and p(y | x_j) of the model, and the rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice.learning.fitted import Fitted
from suffice.model.columns import ModelColumn
from suffice.model.marginals import Marginal, MarginalKind, marginal
from suffice.numerics.types import Array, Codes, Float, Index, Mask
from suffice.plotting.rows import ShownRows, column_of
from suffice.tables.table import Kind

__all__ = ["ColumnDensity", "column_density"]

N_VALUES = 401  # of a grid
FEWEST_BINS, MOST_BINS = 10, 60
LEAST = 1e-3  # of the largest density of a class, in a picture of some classes
OUTSIDE = 0.01  # share of the rows on each side that may be outside the picture
UNRESOLVED = 0.5  # mass that a density would have on one step of the grid: the picture cannot show such a peak


@dataclass(frozen=True, eq=False)
class ColumnDensity:
    """One column: p(x_j | y) and p(y | x_j) of the model, and the rows.

    Attributes
    ----------
    column : object
    kind : {"continuous", "counts", "levels"}
    values : array of shape (m,), or list of levels
    density : array of shape (k, m)
        p(x_j | y) of each class that is shown. Infinite densities, and peaks that are narrower than the plot can show,
        are clipped.
    clipped : array of bool of shape (k, m)
        Which densities were clipped.
    posterior : array of shape (k, m)
        p(y | x_j), the posterior given this column alone.
    edges : array of shape (b + 1,)
        Bins of the rows; empty for levels, or without rows.
    heights : array of shape (k, b), or (k, m) for levels
        Rows of each class: a density over the bins, or shares of the levels. One row for all classes if the rows have
        no labels. Empty without rows.
    cells : Kind
        What the cells are: "time" (values are seconds since 1970), "duration" (seconds), "number" and others.
    constant : bool
        Whether the rows have only one value.
    """

    column: object
    kind: MarginalKind
    values: Array | list[Any]
    density: Float
    clipped: Mask
    posterior: Float
    edges: Float
    heights: Float
    cells: Kind = "number"
    constant: bool = False


def column_density(fitted: Fitted, column: object, rows: ShownRows | None, shown: Index) -> ColumnDensity:
    """The densities of one column for the classes that are shown, and the histogram of the rows."""
    estimate, schema = fitted.estimate, fitted.layout.schema
    place = column_of(fitted, column)
    found = marginal(estimate, schema, column, n_values=N_VALUES)
    if found.kind == "levels":
        heights = _level_shares(fitted, place, found, rows, shown)
        return _density(found, place, shown, np.zeros(0), heights)
    if found.kind == "continuous" and len(shown) < len(estimate.classes):
        found = marginal(estimate, schema, column, values=_near(found, shown))
    cells = np.zeros(0) if rows is None else rows.numbers(place.position, column)
    known = np.isfinite(cells)
    if rows is not None and (rows.codes >= 0).any():
        known &= np.isin(rows.codes, shown)
    if rows is None or not known.any():
        return _density(found, place, shown, np.zeros(0), np.zeros((len(shown), 0)))
    values = _values(found, cells[known])
    if len(values) != len(found.values) or not np.array_equal(values, found.values):
        found = marginal(estimate, schema, column, values=values)
    edges = _edges(found, values, cells[known])
    heights = _heights(edges, cells[known], rows.codes[known], rows.weights[known], shown)
    return _density(found, place, shown, edges, heights, constant=bool(np.ptp(cells[known]) == 0))


def _density(
    found: Marginal, place: ModelColumn, shown: Index, edges: Float, heights: Float, *, constant: bool = False
) -> ColumnDensity:
    density = found.density[shown]
    clipped = np.zeros(density.shape, dtype=bool)
    if found.kind == "continuous":
        step = np.gradient(np.asarray(found.values, dtype=np.float64)) if len(found.values) > 1 else np.ones(1)
        with np.errstate(over="ignore", invalid="ignore"):
            clipped = ~(density * step <= UNRESOLVED)
        if constant:
            clipped[:] = False
    top = max(float(density[~clipped].max(initial=0.0)), float(heights.max(initial=0.0)))
    density = np.where(clipped, 1.1 * top if top > 0 else 1.0, density)
    posterior = found.posterior[shown]
    return ColumnDensity(
        found.column, found.kind, found.values, density, clipped, posterior, edges, heights, place.kind, constant
    )


def _near(found: Marginal, shown: Index) -> Float:
    """A grid where the classes that are shown have their mass."""
    density, values = found.density[shown], np.asarray(found.values, dtype=np.float64)
    near = np.flatnonzero((density > LEAST * density.max(axis=1, keepdims=True)).any(axis=0))
    return np.linspace(values[near[0]], values[near[-1]], N_VALUES) if len(near) > 1 else values


def _values(found: Marginal, cells: Float) -> Float:
    """The grid of the model, extended to nearly all rows."""
    grid = np.asarray(found.values, dtype=np.float64)
    low, high = np.quantile(cells, [OUTSIDE, 1 - OUTSIDE])
    if np.ptp(cells) == 0 or (low >= grid[0] and high <= grid[-1]):
        return grid
    if found.kind == "counts":
        first, last = min(np.floor(low), grid[0]), max(np.ceil(high), grid[-1])
        return np.arange(max(first, 0.0), last + 1, max(1.0, np.ceil((last - first) / N_VALUES)))
    return np.linspace(min(low, grid[0]), max(high, grid[-1]), N_VALUES)


def _edges(found: Marginal, values: Float, cells: Float) -> Float:
    """Bins of the rows: of equal width, and around whole numbers for counts."""
    if found.kind == "counts":
        step = values[1] - values[0] if len(values) > 1 else 1.0
        return np.append(values, values[-1] + step) - 0.5
    inside = cells[(cells >= values[0]) & (cells <= values[-1])]
    if not len(inside):
        return np.array([values[0], values[-1]])
    wide, quartiles = float(np.ptp(inside)), np.quantile(inside, [0.25, 0.75])
    if not wide > 0:
        return _around(inside[0], values)
    width = 2 * float(quartiles[1] - quartiles[0]) / len(inside) ** (1 / 3)  # Freedman and Diaconis
    n = int(np.clip(np.ceil(wide / width), FEWEST_BINS, MOST_BINS)) if width * MOST_BINS > wide else MOST_BINS
    return np.linspace(inside.min(), inside.max(), n + 1)


def _around(value: float, values: Float) -> Float:
    half = (values[-1] - values[0]) / MOST_BINS
    return np.array([value - half, value + half])


def _heights(edges: Float, cells: Float, codes: Codes, weights: Float, shown: Index) -> Float:
    """Density of the rows of each group over the bins."""
    groups = _groups(codes, shown)
    out = np.zeros((len(groups), len(edges) - 1))
    for i, own in enumerate(groups):
        total = weights[own].sum()
        if total > 0:
            counts, _ = np.histogram(cells[own], edges, weights=weights[own])
            out[i] = counts / (total * np.diff(edges))
    return out


def _groups(codes: Codes, shown: Index) -> list[Mask]:
    """Rows of each class; all rows as one group if they have no labels."""
    return [codes == k for k in shown.tolist()] if (codes >= 0).any() else [codes < 0]


def _level_shares(fitted: Fitted, place: ModelColumn, found: Marginal, rows: ShownRows | None, shown: Index) -> Float:
    """Share of each level among the rows of each class (k, L)."""
    n_levels = len(found.values)
    if rows is None:
        return np.zeros((len(shown), 0))
    at = _level_positions(fitted, place, found.values, rows)
    groups = _groups(rows.codes, shown)
    out = np.zeros((len(groups), n_levels))
    for i, group in enumerate(groups):
        own = group & (at >= 0)
        counts = np.bincount(at[own], rows.weights[own], minlength=n_levels)
        out[i] = counts / max(counts.sum(), 1e-300)
    return out


def _level_positions(fitted: Fitted, place: ModelColumn, levels: Sequence[object] | Array, rows: ShownRows) -> Codes:
    """The level of each row (n,), as a position; −1 for a missing cell or another level."""
    family = place.block.family
    cuts = family.level_cuts(fitted.estimate.parameters[place.number], place.j)
    if cuts is not None or family.values == "truth":
        cells = rows.numbers(place.position, place.name)
        at = np.searchsorted(np.asarray(cuts if cuts is not None else [0.5]), cells, side="left")
        return np.where(np.isnan(cells), -1, at).astype(np.int64)
    column = rows.table.categories([place.position], [place.name]).columns[0]
    known = {level: i for i, level in enumerate(levels)}
    where = np.array([known.get(level, -1) for level in column.levels.values] + [-1], dtype=np.int64)
    return np.asarray(where[np.maximum(column.dense(len(rows.table)), -1)])
