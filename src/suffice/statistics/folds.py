"""Statistics of all folds of the rows from one pass, which codes the fold and the class of a row together."""

from __future__ import annotations

from typing import TypeVar

import numpy as np

from suffice.numerics.types import Codes
from suffice.statistics.classes import ClassAxis, Membership
from suffice.statistics.statistic import Statistic

__all__ = ["by_fold", "of_folds"]

Summary = TypeVar("Summary", bound=Statistic)


def of_folds(members: Membership, folds: Codes, n_folds: int) -> Membership:
    """Return the same rows with the class ``fold · K + class``; a fold of −1 excludes a row.

    >>> members = Membership(ClassAxis.of(["a", "b"]), codes=np.array([0, 1, 1]))
    >>> of_folds(members, np.array([0, 0, 1]), 2).codes
    array([0, 1, 3])
    """
    assert members.codes is not None
    k = len(members.classes)
    codes = np.where((folds >= 0) & (members.codes >= 0), folds * k + members.codes, -1)
    return Membership(ClassAxis(np.arange(n_folds * k)), codes=codes, weights=members.weights)


def by_fold(statistic: Summary, classes: ClassAxis, n_folds: int) -> list[Summary]:
    """Split a statistic of folds and classes into one statistic per fold."""
    k = len(classes)
    return [statistic.taking(np.arange(f * k, (f + 1) * k)).relabelled(classes) for f in range(n_folds)]
