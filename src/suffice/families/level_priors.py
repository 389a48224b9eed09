"""Pseudo-rows of levels, and pseudo-draws of columns, from a Dirichlet prior."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.exceptions import InputError, counted
from suffice.families.priors import Dirichlet, GivenPrior, PriorsOfClasses
from suffice.numerics.types import Float
from suffice.statistics import Counts
from suffice.tables import Levels
from suffice.tables.levels import level_kind

__all__ = ["PseudoCounts", "alphas_of_columns", "check_names_columns", "check_names_levels", "with_levels"]


@dataclass(frozen=True, eq=False)
class PseudoCounts:
    """Pseudo-rows of each class.

    Attributes
    ----------
    level : array of shape (K, L)
        Of each level.
    total : array of shape (K, 1)
        Of all levels together, also of those that the column does not list.
    other : array of shape (K, 1)
        Of one more level: missing cells, or all unseen levels.
    """

    level: Float
    total: Float
    other: Float

    @classmethod
    def equal(cls, alpha: float, n_classes: int, levels: Levels, n_levels: int) -> PseudoCounts:
        """α of each of ``n_levels`` levels, some of which the column lists."""
        other = np.full((n_classes, 1), alpha)
        return cls(np.full((n_classes, len(levels)), alpha), n_levels * other, other)

    @classmethod
    def of(cls, priors: Sequence[Dirichlet], levels: Levels) -> PseudoCounts:
        """Return the pseudo-rows of a given prior of each class.

        >>> found = PseudoCounts.of([Dirichlet({"a": 3}, other=0.5)], Levels.of(["a", "b"]))
        >>> found.level, found.total
        (array([[3. , 0.5]]), array([[3.5]]))
        """
        rows = [[prior.of_levels.get(value, prior.other) for value in levels.values] for prior in priors]
        level = np.array(rows, dtype=np.float64).reshape(len(priors), len(levels))
        other = np.array([[prior.other] for prior in priors], dtype=np.float64).reshape(-1, 1)
        return cls(level, level.sum(axis=1, keepdims=True), other)


def with_levels(statistic: Counts, priors: Sequence[Dirichlet], columns: Sequence[object] | None = None) -> Counts:
    """The statistic with the levels that priors name, in every column; these stay without rows.

    Raises `InputError` if a column has levels of another type.
    """
    named = Levels.of([level for prior in priors for level in prior.of_levels], declared=True)
    for j, levels in enumerate(statistic.levels):
        if len(levels) and len(named) and not levels.kinds & named.kinds:
            mine, given = levels.values[0], named.values[0]
            column = j if columns is None else columns[j]
            raise InputError(
                f"Column {column!r} has levels such as {mine!r}, a {level_kind(mine)}, but its prior has levels such "
                f"as {given!r}, a {level_kind(given)}. Use levels of the type that the column has.",
                column=column,
                argument="conjugate_prior",
            )
    k, d = statistic.missing.shape
    levels = (named,) * d
    return statistic.merge(Counts(statistic.classes, np.zeros((k, d * len(named))), np.zeros((k, d)), levels))


def check_names_levels(prior: GivenPrior) -> GivenPrior:
    """The prior itself; raises `InputError` if it has α by position."""
    if not all(each.names_levels for each in _each(prior)):
        raise InputError(
            "The Dirichlet prior of a categorical column is a mapping from level to α, such as "
            "Dirichlet({'a': 3, 'b': 1}); got a sequence.",
            argument="conjugate_prior",
        )
    return prior


def check_names_columns(prior: GivenPrior) -> GivenPrior:
    """The prior itself; raises `InputError` if it has α by level."""
    if any(each.names_levels for each in _each(prior)):
        raise InputError(
            "The Dirichlet prior of a multinomial is a sequence of α, one for each column, such as "
            "Dirichlet([3, 1, 1]); got a mapping.",
            argument="conjugate_prior",
        )
    return prior


def alphas_of_columns(priors: Sequence[Dirichlet], n_columns: int) -> Float:
    """α of each class and column (K, d); raises `InputError` if a prior is for another number of columns."""
    for each in priors:
        if len(each.alpha) != n_columns:
            raise InputError(
                f"The Dirichlet prior has α of {counted(len(each.alpha), 'column')}, but there are {n_columns}.",
                argument="conjugate_prior",
            )
    return np.array([each.alpha for each in priors], dtype=np.float64).reshape(len(priors), n_columns)


def _each(prior: GivenPrior) -> list[Dirichlet]:
    found = [each for _, each in prior.priors] if isinstance(prior, PriorsOfClasses) else [prior]
    return [each for each in found if isinstance(each, Dirichlet)]
