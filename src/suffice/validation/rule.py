"""Rows judged by a model that has not seen them: one by one where that is quick, otherwise in ten folds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.model import Model
from suffice.statistics import Membership, Table
from suffice.validation.left_out import closed_form, left_out_joint
from suffice.validation.splits import fold_sets

__all__ = ["Rule"]

Float = NDArray[np.float64]

N_FOLDS = 10


class Rule:
    """How rows are left out: the same way for all settings of an estimator, decided by the first.

    Parameters
    ----------
    model : Model
        Of the rows.
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
        known = None
        if not self.name:
            known = closed_form(estimator, self.model, self.table, self.members)
            if np.isnan(known).any(axis=1).sum() <= self.most:
                self.name = "leave-one-out"
            else:
                self._fold(estimator)
        if not self._sets:
            known = closed_form(estimator, self.model, self.table, self.members) if known is None else known
            # A row whose class has no other is lost whatever the settings are, and need not be left out.
            rows, codes = self.alone(), self.members.codes
            assert codes is not None
            known[rows] = 0.0
            known[rows, codes[rows]] = -np.inf
            return left_out_joint(estimator, self.model, self.table, self.members, known)
        out = np.full((len(self.table), len(self.members.classes)), -np.inf)
        for f, rest in enumerate(self._sets):
            test = np.flatnonzero(self._folds == f)
            joint = estimator._joint_of(rest, estimator._solve(rest), self.table.take(test), relative=True)
            out[np.ix_(test, self.members.classes.positions(rest.classes.labels))] = joint
        return out

    def alone(self) -> NDArray[np.intp]:
        """Rows without which their class has none."""
        codes = self.members.codes
        assert codes is not None
        there = codes >= 0
        if self.members.weights is not None:
            there &= self.members.weights > 0
        size = np.bincount(codes[there], minlength=len(self.members.classes))
        return np.flatnonzero(there & (size[codes] == 1))

    def _fold(self, estimator: Any) -> None:
        """Ten folds: rows are dealt to them class by class, each class in the order of its rows."""
        codes = self.members.codes
        assert codes is not None
        self._folds = np.empty(len(codes), dtype=np.int64)
        self._folds[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % N_FOLDS
        n_folds = int(self._folds.max()) + 1
        self._sets = list(fold_sets(estimator, self.table, self.members, self._folds, n_folds))
        self.name = f"{n_folds} folds"
