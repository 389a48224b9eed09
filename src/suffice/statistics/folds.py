"""Statistics of all folds of the rows from one summary: the fold and the class of a row as one code."""

from __future__ import annotations

from typing import Any

import numpy as np

from suffice.numerics.types import Codes
from suffice.statistics.classes import ClassAxis, Membership

__all__ = ["by_fold", "of_folds"]


def of_folds(members: Membership, folds: Codes, n_folds: int) -> Membership:
    """The same rows with a class for each fold and class, ``fold · K + class``; a fold of −1 leaves a row out.

    >>> members = Membership(ClassAxis.of(["a", "b"]), codes=np.array([0, 1, 1]))
    >>> of_folds(members, np.array([0, 0, 1]), 2).codes
    array([0, 1, 3])
    """
    assert members.codes is not None
    k = len(members.classes)
    codes = np.where((folds >= 0) & (members.codes >= 0), folds * k + members.codes, -1)
    return Membership(ClassAxis(np.arange(n_folds * k)), codes=codes, weights=members.weights)


def by_fold(statistic: Any, classes: ClassAxis, n_folds: int) -> list[Any]:
    """A statistic of folds and classes, fold by fold."""
    k = len(classes)
    return [statistic.taking(np.arange(f * k, (f + 1) * k)).relabelled(classes) for f in range(n_folds)]
