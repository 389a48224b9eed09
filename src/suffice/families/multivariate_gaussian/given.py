"""Statistics of a multivariate Gaussian with given means and covariances."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.exceptions import InputError
from suffice.families.given import GivenTable, LevelValues
from suffice.numerics.types import Float
from suffice.statistics import ClassAxis
from suffice.statistics.scatter import PooledScatter, Scatter

__all__ = ["check_range", "given_covariances", "given_scatter"]

LEAST, LARGEST = 1e-280, 1e280  # of a variance


def given_covariances(tables: Sequence[GivenTable]) -> Float:
    """The covariance of each class (K, d, d), from covariances, or from deviations and correlations."""
    names = [table.name for table in tables]
    d, n_classes = len(tables), len(tables[0].classes)
    if "covariance" in tables[0].parameters:
        return _square(tables, "covariance", names)
    correlation = _square(tables, "correlation", names)
    correlation[:, np.arange(d), np.arange(d)] = 1.0
    deviation = np.column_stack([table.numbers("deviation", above=0) for table in tables])
    assert correlation.shape == (n_classes, d, d)
    return np.asarray(correlation * deviation[:, :, None] * deviation[:, None, :])


def check_range(tables: Sequence[GivenTable], covariances: Float) -> None:
    """Raise `InputError` for variances so small or large that float64 cannot hold products of their inverses."""
    variance = np.diagonal(covariances, axis1=1, axis2=2)
    wrong = np.argwhere(~((variance >= LEAST) & (variance <= LARGEST)))
    if len(wrong):
        k, j = wrong[0].tolist()
        tables[j].refuse("variance", k, f"is {variance[k, j]:.6g}, at the limit of float64. Rescale the column")


def _square(tables: Sequence[GivenTable], name: str, names: Sequence[object]) -> Float:
    """Numbers of pairs of columns (K, d, d); those of a pair may be given on one side only."""
    place = {str(each): j for j, each in enumerate(names)}
    out = np.full((len(tables[0].classes), len(names), len(names)), np.nan)
    for i, table in enumerate(tables):
        given = table.parameters.get(name)
        if not isinstance(given, LevelValues):
            continue
        for other, values in zip(given.levels, given.values, strict=True):
            j = place.get(str(other))
            if j is None:
                raise InputError(f"The {name} of {table.name!r} names the column {other!r}, which is not in the block.")
            out[:, i, j] = values
    out = np.where(np.isnan(out), np.swapaxes(out, 1, 2), out)
    if name == "correlation":
        out[:, np.arange(len(names)), np.arange(len(names))] = 1.0
    if np.isnan(out).any():
        _, i, j = np.argwhere(np.isnan(out))[0]
        raise InputError(f"The {name} of {names[i]!r} and {names[j]!r} is missing, or not a number.", column=names[i])
    return out


def given_scatter(
    classes: ClassAxis, means: Float, covariances: Float, weight: Float | None = None
) -> Scatter | PooledScatter:
    """A statistic with these means (K, d) and covariances, one (d, d) for all classes or one for each (K, d, d)."""
    weight = np.ones(len(classes)) if weight is None else weight
    parts = {"weight": weight, "mean": means, "mean_low": np.zeros_like(means)}
    if covariances.ndim == 2:
        scatter = covariances * weight.sum()
        return PooledScatter(classes, **parts, scatter=scatter, scatter_low=np.zeros_like(scatter))
    scatter = covariances * weight[:, None, None]
    return Scatter(classes, **parts, scatter=scatter, scatter_low=np.zeros_like(scatter))
