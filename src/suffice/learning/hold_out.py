"""Held-out scores of rows: one by one where that is quick, otherwise in ten folds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from functools import cached_property

import numpy as np

from suffice import bayes
from suffice.exceptions import SingularCovarianceError
from suffice.learning.calibration import has_evidence
from suffice.learning.fitted import Fitted
from suffice.learning.held_out import (
    closed_form,
    held_out_joint,
    held_out_parts,
    joint,
    only_rows,
    parts,
    without,
)
from suffice.learning.splits import fold_training_models
from suffice.model import Model
from suffice.model.leave_one_out import leave_one_out_log_prior
from suffice.model.parts import fold_scores, part_names, parts_of_blocks
from suffice.numerics.types import Float, Index, Mask
from suffice.statistics import Membership
from suffice.tables import Table

__all__ = ["HoldOut"]

N_FOLDS = 10
ROUNDING = 1e-9  # relative to the weight of a class
SMALL = 50  # weight of a model relative to that of rows that are held out at once, at least
MOST_ITERATED = 50  # rows that are held out one by one if a family iterates to estimate parameters


class HoldOut:
    """How rows are held out: the same way for all settings, decided by the first.

    Parameters
    ----------
    model : Model
        Statistics of the rows, and perhaps of many more: those that a stream has not kept stay in every training set.
    table, members
        The rows, and the class and weight that each has in the model.
    most : float
        How many rows without a closed form may be held out one by one; fewer if a family iterates.

    Attributes
    ----------
    name : str
        "leave-one-out", "10 folds" or "held-out rows"; empty until it is decided.
    """

    def __init__(self, model: Model, table: Table, members: Membership, most: float) -> None:
        self.model, self.table, self.members = model, table, members
        iterates = (block.family.iterates(each) for block, each in zip(model.blocks, model.statistics, strict=True))
        self.most = min(most, MOST_ITERATED) if most < np.inf and any(iterates) else most
        self.name = ""
        self._folds = np.empty(0, dtype=np.int64)
        self._training: list[Model] = []

    def joint(self, fitted: Fitted, *, skip_singular: bool = False) -> Float:
        """log p(x, y) of each row under a model without it (n, K), up to a term that the classes share.

        With ``skip_singular``, a row without which no model can be fitted has −∞ for all classes.
        """
        skipped = (SingularCovarianceError,) if skip_singular else ()
        fitted = fitted.with_model(self.model)
        known = None if self._training else closed_form(fitted, self.table, self.members)
        if known is not None and not self.name:
            if np.isnan(known).any(axis=1).sum() <= self.most:
                self.name = "leave-one-out"
            else:
                self._split(fitted)
        if known is not None and not self._training:
            # The only row of a class cannot be predicted whatever the settings are, so it need not be held out.
            rows, codes = self.only_rows(), self.members.codes
            assert codes is not None
            known[rows] = 0.0
            known[rows, codes[rows]] = -np.inf
            return held_out_joint(fitted, self.table, self.members, known, self._n_rows, skipped)
        out = np.full((len(self.table), len(self.members.classes)), -np.inf)
        for fold, rest in enumerate(self._training):
            test = np.flatnonzero(self._folds == fold)
            columns = self.members.classes.positions(rest.classes.labels)
            with suppress(*skipped):
                out[np.ix_(test, columns)] = joint(fitted.with_model(rest), self.table.take(test))
        return out

    def have_evidence(self, joint: Float) -> Mask:
        """Whether the held-out scores of each row, by `joint`, differ from its held-out prior (n,)."""
        if self._training:
            prior = np.full(joint.shape, -np.inf)
            for fold, rest in enumerate(self._training):
                columns = self.members.classes.positions(rest.classes.labels)
                prior[np.ix_(np.flatnonzero(self._folds == fold), columns)] = bayes.log_prior(rest.class_prior())
        else:
            weight, share = self.model.weights.weight, self.model.class_prior()
            prior = leave_one_out_log_prior(weight, share, self.members, fixed=False)
        return has_evidence(joint, prior)

    def parts(self, fitted: Fitted, rows: Index, *, choose_again: bool = False) -> Float:
        """log p(y), and each part of log p(x | y), of some rows under models without them (1 + J, len(rows), K).

        Up to terms that the classes share. All of the rows are in the model, and none is the only row of its class.
        Each block of columns is scored in closed form if its family has one, otherwise by models without some rows.
        With ``choose_again``, families whose closed form keeps a choice of all rows are scored in folds. If the rows
        are few of those in the model, one model without any of them scores all.
        """
        fitted = fitted.with_model(self.model)
        if self._are_few:
            return self._parts_at_once(fitted, rows)
        out = held_out_parts(fitted, self.table.take(rows), self.members.take(rows))
        self.name = self.name or "leave-one-out"
        for b, at in enumerate(parts_of_blocks(fitted.blocks)):
            again = choose_again and fitted.blocks[b].family.keeps_choices
            lacking = np.flatnonzero(np.isnan(out[1 + at]).any(axis=(0, 2)) | again)
            if len(lacking):
                every, most = np.arange(len(self.members.classes)), 0 if again else self.most
                out[np.ix_(1 + at, lacking, every)] = self._block_parts(fitted.of_block(b), rows[lacking], most)
        return out

    def _parts_at_once(self, fitted: Fitted, rows: Index) -> Float:
        """`parts` under one model without all of the rows."""
        self.name = "held-out rows"
        table, members, one = self.table.take(rows), self.members.take(rows), np.zeros(len(rows), dtype=np.int64)
        rest = next(fold_training_models(fitted, table, members, one, 1, fitted.model))
        found = parts(fitted.with_model(rest), table)
        out = np.full((*found.shape[:2], len(members.classes)), -np.inf)
        out[:, :, members.classes.positions(rest.classes.labels)] = found
        return out

    def _block_parts(self, fitted: Fitted, rows: Index, most: float) -> Float:
        """Parts of some rows under models without them (J, len(rows), K), for a model of one block."""
        n_parts = len(part_names(fitted.blocks))
        out = np.full((n_parts, len(rows), len(self.members.classes)), -np.inf)
        if len(rows) <= most:
            for i, row in enumerate(rows.tolist()):
                one = self.table.take(np.array([row])), self.members.take(slice(row, row + 1))
                rest = without(fitted, *one, self._n_rows - 1)
                out[:, i, self.members.classes.positions(rest.classes.labels)] = parts(rest, one[0])[1:, 0]
            return out
        self._deal()
        known = fold_scores(fitted.model, self.table, self.members, self._folds)
        if known is not None:
            return known[None, rows]
        for fold, model in enumerate(self._training_models(fitted)):
            test = np.flatnonzero(self._folds[rows] == fold)
            columns = self.members.classes.positions(model.classes.labels)
            found = parts(fitted.with_model(model), self.table.take(rows[test]))[1:]
            out[np.ix_(np.arange(n_parts), test, columns)] = found
        return out

    def only_rows(self) -> Index:
        """Rows whose class has no other row."""
        if self._is_whole:
            return only_rows(self.members)
        codes, weight = self.members.codes, self.model.weights.weight
        assert codes is not None
        own = np.ones(len(codes)) if self.members.weights is None else self.members.weights
        return np.flatnonzero((codes >= 0) & (own > 0) & (weight[codes] - own <= ROUNDING * weight[codes]))

    @cached_property
    def _is_whole(self) -> bool:
        """Whether the model has no other labelled rows than these."""
        if self.most == np.inf:
            return True
        known, these = self.model.weights.weight, self.members.class_weights()
        return len(known) == len(these) and bool((known - these <= ROUNDING * known).all())

    @property
    def _are_few(self) -> bool:
        """Whether the model without all of the rows is nearly as good as that without one.

        They have a small share of the weight, and no more of any class than a fold would have.
        """
        codes, known, these = self.members.codes, self.model.weights.weight, self.members.class_weights()
        if codes is None or self._is_whole or len(known) != len(these):
            return False
        counts = np.bincount(codes[codes >= 0], minlength=len(known))
        return bool(these.sum() * SMALL < known.sum() and ((these * N_FOLDS <= known) | (counts <= 1)).all())

    @property
    def _n_rows(self) -> int:
        """Number of rows in the model; for rows that are not here, their total weight."""
        return len(self.table) if self._is_whole else max(len(self.table), round(self.model.weights.weight.sum()))

    def _split(self, fitted: Fitted) -> None:
        """Hold out rows in folds."""
        self._deal()
        self._training = list(self._training_models(fitted))

    def _deal(self) -> None:
        """Deal rows to ten folds, class by class in the order of the rows."""
        codes = self.members.codes
        assert codes is not None
        self._folds = np.empty(len(codes), dtype=np.int64)
        self._folds[np.argsort(codes, kind="stable")] = np.arange(len(codes)) % N_FOLDS
        self.name = f"{int(self._folds.max()) + 1} folds"

    def _training_models(self, fitted: Fitted) -> Iterator[Model]:
        """For each fold, the model of all other rows. Rows of the model that are not here are in every one."""
        whole = None if self._is_whole else fitted.model
        n_folds = int(self._folds.max()) + 1
        return fold_training_models(fitted, self.table, self.members, self._folds, n_folds, whole)
