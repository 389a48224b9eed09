"""Statistics of Gaussian families from the moments of each class."""

from __future__ import annotations

import numpy as np

from suffice.exceptions import Argument, InputError
from suffice.families import Family, Gaussian, MultivariateGaussian
from suffice.numerics.types import Float
from suffice.statistics import ClassAxis, Moments, Statistic
from suffice.statistics.scatter import PooledScatter, Scatter

__all__ = ["moments_of"]


def moments_of(
    family: Family, axis: ClassAxis, weight: Float, means: Float, covariances: Float, ddof: float
) -> Statistic:
    """The statistic of rows with these moments, in the form that the family reads.

    Parameters
    ----------
    weight : array of shape (K,)
    means : array of shape (K, d)
    covariances : array of shape (K, d, d), or (d, d) for the pooled one
    ddof : float
        What was subtracted from the rows of a class in the divisor of its covariance.
    """
    rows = np.maximum(weight - ddof, 0.0)
    pooled = covariances.ndim == 2
    scatter = covariances * (rows.sum() if pooled else rows[:, None, None])
    none = np.zeros_like(means)
    if isinstance(family, Gaussian):
        if pooled:
            raise _needs_own("A diagonal shape")
        wide = np.repeat(weight[:, None], means.shape[1], axis=1)
        return Moments(axis, wide, means, none, np.diagonal(scatter, axis1=1, axis2=2).copy(), none)
    assert isinstance(family, MultivariateGaussian)
    if family.shrinkage == "ledoit_wolf":
        raise InputError(
            Argument("shrinkage", "ledoit_wolf"),
            " needs fourth moments, which covariances do not say. Use ",
            Argument("shrinkage", "oas"),
            ".",
            argument="shrinkage",
        )
    parts = {
        "weight": weight,
        "mean": means,
        "mean_low": none,
        "scatter": scatter,
        "scatter_low": np.zeros_like(scatter),
    }
    if pooled:
        if family.covariance == "own":
            raise _needs_own("An own covariance")
        return family.of_complete_rows(PooledScatter(axis, **parts))
    own = Scatter(axis, **parts)
    return family.of_complete_rows(PooledScatter.of(own) if family.covariance == "shared" else own)


def _needs_own(what: str) -> InputError:
    return InputError(
        f"{what} needs the covariances of each class (K, d, d), not the pooled one.", argument="covariances"
    )
