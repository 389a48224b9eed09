"""Covariance matrices that have no inverse: which columns are at fault, and what would mend it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from suffice.exceptions import SingularCovarianceError, SingularCovarianceWarning, columns_at, warn_user
from suffice.families.covariance import Whitening, whiten
from suffice.numerics.types import Float
from suffice.statistics import PooledScatter, Scatter

__all__ = ["check_regular", "warn_if_singular"]


def warn_if_singular(
    whitening: Whitening, within: Float, statistic: Scatter | PooledScatter, names: Sequence[object]
) -> None:
    """Say which columns are at fault when a covariance is used in a subspace."""
    if not len(whitening.dependent):
        return
    d, rank = whitening.matrix.shape
    if rank == 0:
        raise SingularCovarianceError(
            f"No column varies within any class, so that there is no covariance to estimate: rows of weight "
            f"{statistic.weight.sum():.6g} in {len(statistic.classes)} classes. Give more rows for each class."
        )
    constant = np.flatnonzero(np.diagonal(within) == 0)
    collinear = np.setdiff1d(whitening.dependent, constant)
    away = statistic.grand_mean().away
    telling = constant[np.abs(away[statistic.weight > 0][:, constant]).max(axis=0, initial=0.0) > 0]
    parts = [
        f"{what} {columns_at(names, which)}"
        for what, which in (
            ("there is no variation within any class in", constant),
            ("there is linear dependence among", collinear),
            ("the classes are told apart perfectly, but without a density, by", telling),
        )
        if len(which)
    ]
    warn_user(
        f"The covariance of {d} columns has rank {rank}: {'; '.join(parts)}. The model works in the "
        "subspace that the rows span; fewer columns would make it regular.",
        SingularCovarianceWarning,
    )


def check_regular(
    family: Any, factors: list[Whitening], within: Float, statistic: Scatter, names: Sequence[object]
) -> None:
    """Refuse a singular own covariance, unless it is one only by columns that vary in no class."""
    dead = np.flatnonzero(np.diagonal(within) == 0)
    regularised = family.shrinkage is not None or family.mix > 0
    for k, each in enumerate(factors):
        if not len(each.dependent) or (regularised and np.array_equal(each.dependent, dead)):
            continue
        d, rank = each.matrix.shape
        cures = ["shrink it toward its diagonal (shrinkage=0.1, or shrinkage='oas' to choose the amount)"]
        if family.mix == 0 and np.array_equal(whiten(within).dependent, dead):
            cures.append("mix in the shared covariance (mix=0.1)")
        if family.estimation != "mle":
            # The prior is like all rows together, and those span no more.
            cures = ["leave out columns that hang together", "use estimation='mle' with shrinkage=0.1"]
        cures.append("share it (covariance='shared')")
        raise SingularCovarianceError(
            f"The covariance of class {statistic.classes.label(k)!r} has rank {rank} of {d}: its rows"
            f"{'' if family.estimation == 'mle' else ', with those of the prior,'} "
            f"weigh {statistic.weight[k]:.6g}, and they do not vary, or only together, in "
            f"{columns_at(names, each.dependent)}. To mend it, {', or '.join(cures)}."
        )
    singular = [each for each in factors if len(each.dependent)]
    if singular:
        warn_if_singular(singular[0], within, statistic, names)
