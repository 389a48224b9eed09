"""p(y | x) over the plane of two columns, and the Gaussians of the classes in it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice import bayes
from suffice.exceptions import InputError, counted, listed
from suffice.families import Gaussian, MultivariateGaussian
from suffice.learning.fitted import Fitted
from suffice.learning.prediction import joint
from suffice.model.columns import ModelColumn
from suffice.numerics.types import Float, Index
from suffice.plotting.grid_table import GridTable, given_number
from suffice.plotting.rows import ShownRows, column_names, column_of, numeric_columns
from suffice.tables import MatrixTable, Table

__all__ = ["Plane", "plane_columns", "plane_of"]

MARGIN = 0.08  # of the width of the rows, on both sides
DEVIATIONS = 3.0  # around the means, without rows
OUTSIDE = 0.005  # share of the rows on each side that does not widen the picture


@dataclass(frozen=True, eq=False)
class Plane:
    """Posteriors on a grid, and the Gaussians of the classes.

    Attributes
    ----------
    columns : tuple of two columns
    x, y : array of shape (m,)
        Values of the first and of the second column.
    log_posterior : array of shape (K, m, m)
        log p(class | x) at (x[j], y[i]); NaN where every class has probability zero.
    means : array of shape (K, 2)
    covariances : array of shape (K, 2, 2)
        NaN if the columns are not Gaussian, which then have no ellipses.
    """

    columns: tuple[object, object]
    x: Float
    y: Float
    log_posterior: Float
    means: Float
    covariances: Float

    @property
    def posterior(self) -> Float:
        """p(class | x) (K, m, m)."""
        return np.exp(self.log_posterior)

    def margin(self, k: int) -> Float:
        """log p(k | x) minus the largest log p of another class (m, m): zero on the boundary of class k."""
        others = np.delete(self.log_posterior, k, axis=0)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.clip(self.log_posterior[k] - others.max(axis=0), -1e3, 1e3))


def plane_columns(fitted: Fitted, columns: Any) -> tuple[object, object]:
    """The two columns to show: those given, or the only two that hold numbers."""
    numeric = numeric_columns(fitted)
    if columns is None:
        if len(numeric) != 2:
            raise InputError(
                f"Regions are drawn over two columns of numbers; the model has {counted(len(numeric), 'such column')}"
                f"{f' ({listed(numeric)})' if numeric else ''}. "
                + ("Name two with columns." if len(numeric) > 2 else "Draw densities instead: kind='densities'."),
                argument="columns",
            )
        columns = numeric
    chosen = list(columns) if isinstance(columns, list | tuple | np.ndarray) else [columns]
    if len(chosen) != 2 or chosen[0] == chosen[1]:
        raise InputError(f"columns must name two different columns; got {columns!r:.80}.", argument="columns")
    for name in chosen:
        column_of(fitted, name)
        if name not in numeric:
            raise InputError(
                f"Regions are drawn over columns of numbers; column {name!r} is not one.",
                argument="columns",
                column=name,
            )
    return chosen[0], chosen[1]


def plane_of(
    fitted: Fitted, columns: tuple[object, object], values: Mapping[Any, Any], rows: ShownRows | None, n: int
) -> Plane:
    """The plane of two columns; all others have the given values, or are missing."""
    at = [column_of(fitted, name).position for name in columns]
    cells = {column_of(fitted, name).position: value for name, value in values.items()}
    twice = [name for name in values if name in columns]
    if twice:
        raise InputError(
            f"values holds {listed(twice)}, a column of the axes. Remove it.", argument="values", column=twice[0]
        )
    means, covariances = _gaussians(fitted, columns, values)
    x, y = (_range(rows, at[i], columns[i], means[:, i], covariances[:, i, i], n) for i in (0, 1))
    first, second = (grid.ravel() for grid in np.meshgrid(x, y))
    schema = fitted.layout.schema
    table: Table = GridTable(len(first), schema.kinds, {**cells, at[0]: first, at[1]: second})
    if set(schema.kinds) == {"number"}:
        table = MatrixTable(table.numbers(slice(None), schema.names))  # as the solvers of drop-in classes expect
    missing = [name for name in column_names(fitted) if name not in columns and name not in values]
    scores = _marginal_scores(fitted, table, missing) if missing else joint(fitted, table)
    out = np.full(scores.shape, np.nan)
    possible = np.isfinite(scores.max(axis=1))
    if possible.any():
        known = fitted.calibrated(np.ascontiguousarray(scores[possible]), fitted.classes)
        out[possible] = bayes.log_posterior(known)
    return Plane(columns, x, y, out.T.reshape(-1, n, n), means, covariances)


def _range(rows: ShownRows | None, at: int, name: object, means: Float, variances: Float, n: int) -> Float:
    """Numbers that cover the rows, or the Gaussians if there are no rows."""
    cells = np.zeros(0) if rows is None else rows.numbers(at, name)
    cells = cells[np.isfinite(cells)]
    if len(cells):
        low, high = np.quantile(cells, [OUTSIDE, 1 - OUTSIDE])
        low, high = (cells.min(), cells.max()) if high <= low else (low, high)
    elif np.isfinite(means).all() and np.isfinite(variances).all():
        wide = DEVIATIONS * np.sqrt(variances)
        low, high = (means - wide).min(), (means + wide).max()
    else:
        raise InputError("The plot needs rows to find its ranges: give X.", argument="X")
    margin = MARGIN * (high - low) if high > low else max(abs(low), 1.0)
    return np.linspace(low - margin, high + margin, n)


def _marginal_scores(fitted: Fitted, table: Table, missing: list[object]) -> Float:
    """log p(x, y) of points that lack some columns (n, K), up to a term that all classes share."""
    if fitted.specification.accepts_missing:
        return joint(fitted, table)
    # A drop-in class refuses missing cells in rows; its densities still have marginals.
    estimate = fitted.estimate
    log_likelihood = np.zeros((len(table), len(estimate.classes)))
    for name in (name for name in column_names(fitted) if name not in missing):
        block = column_of(fitted, name).block
        if not (isinstance(block.family, MultivariateGaussian) or block.independent):
            raise InputError(
                f"The family {block.family.name} has no marginal of two columns. Give the other columns with values: "
                f"{listed(missing)}.",
                argument="values",
            )
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        names = list(block.names)
        here: Index = np.array([j for j, name in enumerate(names) if name not in missing], dtype=np.intp)
        if not len(here):
            continue
        x = np.asarray(table.numbers(block.positions(len(table.kinds)), names), dtype=np.float64)
        if isinstance(block.family, MultivariateGaussian):
            log_likelihood += block.family.log_likelihood(parameters.marginal(here), np.ascontiguousarray(x[:, here]))
        else:
            for j in here.tolist():
                part = block.family.column_log_density(parameters, x[:, j], j)
                terms = block.family.terms(parameters, np.nan_to_num(x)) if part is None else None
                log_likelihood += part if part is not None else np.asarray(terms)[:, :, j]
    return bayes.joint(estimate.log_prior, log_likelihood)


def _gaussians(fitted: Fitted, columns: tuple[object, object], values: Mapping[Any, Any]) -> tuple[Float, Float]:
    """Mean (K, 2) and covariance (K, 2, 2) of the two columns in each class, given the values of others."""
    k = len(fitted.classes)
    unknown = np.full((k, 2), np.nan), np.full((k, 2, 2), np.nan)
    places = [column_of(fitted, name) for name in columns]
    if not all(isinstance(place.block.family, Gaussian | MultivariateGaussian) for place in places):
        return unknown
    means, covariances = unknown
    for i in range(k):
        means[i], covariances[i] = _conditional(fitted, i, places, values)
    return means, covariances


def _conditional(
    fitted: Fitted, k: int, places: Sequence[ModelColumn], values: Mapping[Any, Any]
) -> tuple[Float, Float]:
    """Mean and covariance of two Gaussian columns in class k, given numbers of other columns of the same block."""
    block = places[0].block
    if block is places[1].block and isinstance(block.family, MultivariateGaussian):
        names = list(block.names)
        m, s = block.family.mean_and_covariance(fitted.estimate.parameters[places[0].number], k)
        own = np.array([place.j for place in places])
        given = np.array([names.index(name) for name in values if name in names], dtype=np.intp)
        if not len(given):
            return m[own], s[np.ix_(own, own)]
        gain = s[np.ix_(own, given)] @ np.linalg.pinv(s[np.ix_(given, given)])
        away = np.array([given_number(values[names[j]], names[j]) for j in given.tolist()]) - m[given]
        return m[own] + gain @ away, s[np.ix_(own, own)] - gain @ s[np.ix_(given, own)]
    mean, variance = zip(*(_moments(fitted, place, k) for place in places), strict=True)
    return np.array(mean), np.diag(variance)


def _moments(fitted: Fitted, place: ModelColumn, k: int) -> tuple[float, float]:
    """Mean and variance of one Gaussian column in class k."""
    block, j, parameters = place.block, place.j, fitted.estimate.parameters[place.number]
    if isinstance(block.family, MultivariateGaussian):
        mean, covariance = block.family.mean_and_covariance(parameters, k)
        return float(mean[j]), float(covariance[j, j])
    moments = block.family.mean_and_variance(parameters, k)
    assert moments is not None
    return float(moments[0][j]), float(moments[1][j])
