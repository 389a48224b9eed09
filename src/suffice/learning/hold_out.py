"""Rows judged by a model that has not seen them: one by one where that is quick, otherwise in ten folds."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.learning.held_out import alone, closed_form, left_out_joint
from suffice.learning.splits import fold_sets
from suffice.model import Model
from suffice.statistics import Membership
from suffice.tables import Table

__all__ = ["HoldOut"]

Float = NDArray[np.float64]

N_FOLDS = 10
ROUNDING = 1e-9  # of the weight of a class


class HoldOut:
    """How rows are left out: the same way for all settings of an estimator, decided by the first.

    Parameters
    ----------
    model : Model
        Of the rows, and perhaps of many more: those that a stream has not kept stay in it.
    table, members
        The rows, and the class and weight that each has in the model.
    most : float
        How many rows may be left out by hand, where there is no closed form for them.

    Attributes
    ----------
    name : str
        "leave-one-out" or "10 folds"; empty until it is decided.
    """

    def __init__(self, model: Model, table: Table, members: Membership, most: float) -> None:
        self.model, self.table, self.members, self.most = model, table, members, most
        self.name = ""
        self._folds = np.empty(0, dtype=np.int64)
        self._sets: list[Model] = []

    def joint(self, estimator: Any) -> Float:
        """log p(x, y) of each row under a model without it (n, K), up to a term that the classes share."""
        known = None if self._sets else closed_form(estimator, self.model, self.table, self.members)
        if known is not None and not self.name:
            if np.isnan(known).any(axis=1).sum() <= self.most:
                self.name = "leave-one-out"
            else:
                self._fold(estimator)
        if known is not None and not self._sets:
            # A row whose class has no other is lost whatever the settings are, and need not be left out.
            rows, codes = self.alone(), self.members.codes
            assert codes is not None
            known[rows] = 0.0
            known[rows, codes[rows]] = -np.inf
            return left_out_joint(estimator, self.model, self.table, self.members, known, self._n_rows)
        out = np.full((len(self.table), len(self.members.classes)), -np.inf)
        for f, rest in enumerate(self._sets):
            test = np.flatnonzero(self._folds == f)
            joint = estimator._joint_of(rest, estimator._solve(rest), self.table.take(test), relative=True)
            out[np.ix_(test, self.members.classes.positions(rest.classes.labels))] = joint
        return out

    def alone(self) -> NDArray[np.intp]:
        """Rows without which their class has none."""
        if self._is_whole:
            return alone(self.members)
        codes, weight = self.members.codes, self.model.weights.weight
        assert codes is not None
        own = np.ones(len(codes)) if self.members.weights is None else self.members.weights
        return np.flatnonzero((codes >= 0) & (own > 0) & (weight[codes] - own <= ROUNDING * weight[codes]))

    @cached_property
    def _is_whole(self) -> bool:
        """Whether the model has no other rows than these; what it has learned without labels is none of any class."""
        if self.most == np.inf:
            return True
        known, these = self.model.weights.weight, self.members.class_weights()
        return len(known) == len(these) and bool((known - these <= ROUNDING * known).all())

    @property
    def _n_rows(self) -> int:
        """How many rows the model has; of those that are not here, what their weights tell."""
        return len(self.table) if self._is_whole else max(len(self.table), round(self.model.weights.weight.sum()))

    def _fold(self, estimator: Any) -> None:
        """Ten folds: rows are dealt to them class by class, each class in the order of its rows.

        Rows of the model that are not here are in no fold, and are learned from by all.
        """
        codes = self.members.codes
        assert codes is not None
        self._folds = np.empty(len(codes), dtype=np.int64)
        self._folds[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % N_FOLDS
        n_folds = int(self._folds.max()) + 1
        whole = None if self._is_whole else self.model
        self._sets = list(fold_sets(estimator, self.table, self.members, self._folds, n_folds, whole))
        self.name = f"{n_folds} folds"
