"""Errors and warnings about singular covariance matrices: the columns at fault, and remedies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from suffice.exceptions import (
    Argument,
    Sentence,
    SingularCovarianceError,
    SingularCovarianceWarning,
    columns_at,
    warn_user,
)
from suffice.families.covariance import Whitening, whiten
from suffice.numerics.types import Float
from suffice.statistics import PooledScatter, Scatter

__all__ = ["check_regular", "warn_if_singular"]


class Regularised(Protocol):
    """Settings of `MultivariateGaussian` that make a covariance regular."""

    @property
    def mix(self) -> float:
        """Share of the shared covariance."""

    @property
    def shrinkage(self) -> float | str | None:
        """Share of the diagonal."""

    @property
    def estimation(self) -> str:
        """How parameters are estimated."""

    @property
    def missing(self) -> str:
        """How to read a missing cell."""


def warn_if_singular(
    family: Regularised,
    whitening: Whitening,
    within: Float,
    statistic: Scatter | PooledScatter,
    names: Sequence[object],
) -> None:
    """Warn about a shared covariance of less than full rank, naming the columns at fault.

    Raises `SingularCovarianceError` if no column varies.
    """
    if not len(whitening.dependent):
        return
    d, rank = whitening.matrix.shape
    if rank == 0:
        raise _no_variation(statistic, complete=family.missing == "drop")
    constant = np.flatnonzero(np.diagonal(within) == 0)
    collinear = np.setdiff1d(whitening.dependent, constant)
    away = statistic.grand_mean().away
    separating = constant[np.abs(away[statistic.weight > 0][:, constant]).max(axis=0, initial=0.0) > 0]
    parts = [
        f"{what} {columns_at(names, which)}"
        for what, which in (
            ("there is no variation within any class in", constant),
            ("there is linear dependence among", collinear),
            ("the classes are separated perfectly, but without a density, by", separating),
        )
        if len(which)
    ]
    warn_user(
        f"The covariance of {d} columns has rank {rank}: {'; '.join(parts)}. The model uses the subspace that the rows "
        "span. To make the covariance regular, shrink it or remove columns.",
        SingularCovarianceWarning,
    )


def check_regular(
    family: Regularised, factors: list[Whitening], within: Float, statistic: Scatter, names: Sequence[object]
) -> None:
    """Raise `SingularCovarianceError` for a singular own covariance, unless only columns that never vary make it so."""
    constant = np.flatnonzero(np.diagonal(within) == 0)
    regularised = family.shrinkage is not None or family.mix > 0
    for k, each in enumerate(factors):
        if not len(each.dependent) or (regularised and np.array_equal(each.dependent, constant)):
            continue
        d, rank = each.matrix.shape
        remedies: list[Sentence] = [
            (
                *("shrink it toward its diagonal (", Argument("shrinkage", 0.1), ", or "),
                *(Argument("shrinkage", "oas"), " to choose the amount)"),
            )
        ]
        if family.mix == 0 and np.array_equal(whiten(within).dependent, constant):
            remedies.append(("mix in the shared covariance (", Argument("mix", 0.1), ")"))
        if family.estimation != "mle":
            # The pseudo-rows look like all rows together, which span the same subspace.
            remedies = [
                ("remove dependent columns",),
                ("use ", Argument("estimation", "mle"), " with ", Argument("shrinkage", 0.1)),
            ]
        remedies.append(("share it (", Argument("covariance", "shared"), ")"))
        advice = [piece for remedy in remedies for piece in (", or ", *remedy)][1:]
        raise SingularCovarianceError(
            f"The covariance of class {statistic.classes.label(k)!r} has rank {rank} of {d}: its rows"
            f"{'' if family.estimation == 'mle' else ', including the pseudo-rows of the prior,'} "
            f"weigh {statistic.weight[k]:.6g}, and they are constant or linearly dependent in "
            f"{columns_at(names, each.dependent)}. To fix this, ",
            *advice,
            ".",
        )
    singular = [each for each in factors if len(each.dependent)]
    if singular:
        warn_if_singular(family, singular[0], within, statistic, names)


def _no_variation(statistic: Scatter | PooledScatter, *, complete: bool) -> SingularCovarianceError:
    """The error for rows of which no column varies within any class; only ``complete`` rows may be in the statistic."""
    present = statistic.weight > 0
    if not present.any():
        problem = f"No {'row is complete' if complete else 'cell has a value'}, so there is no covariance to estimate. "
        advice = "Choose columns with values."
    elif (statistic.weight[present] == 1).all():
        rows = "complete row" if complete else "row with values"
        problem = f"No column varies within any class: no class has more than one {rows}. "
        advice = "Give more rows for each class."
    elif (np.abs(statistic.grand_mean().away[present]) == 0).all():
        problem = "All rows are equal in every column, so there is no covariance to estimate. "
        advice = "Choose columns that differ between the rows."
    else:
        problem = "No column varies within any class, so there is no covariance to estimate. "
        advice = "Choose columns in which rows of the same class differ."
    return SingularCovarianceError(problem + advice)
