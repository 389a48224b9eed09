"""Settings chosen by the log-loss of rows that were left out, from statistics that are made once."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import bayes
from suffice.exceptions import InputError, SufficeError
from suffice.listing import Listing
from suffice.model import Model
from suffice.statistics import Membership, Table
from suffice.validation.calibration import fit_temperature
from suffice.validation.left_out import closed_form, left_out_joint
from suffice.validation.splits import Split, training_sets

__all__ = ["Tuning", "tune"]

Float = NDArray[np.float64]

N_FOLDS = 10
BY_HAND = 0.1  # share of the rows that may be left out one by one, where a closed form does not know them


@dataclass(frozen=True, eq=False)
class Tuning:
    """The settings that were tried, and the log-loss of each.

    Attributes
    ----------
    names : tuple of str
        Of the settings.
    tried : array of shape (m, number of settings)
    log_loss : array of shape (m,)
        Mean over the rows of −log p(label | row), by models that have not seen the row.
    best : int
        Which was chosen.
    rule : str
        How rows were left out.
    """

    names: tuple[str, ...]
    tried: Float
    log_loss: Float
    best: int
    rule: str

    @property
    def chosen(self) -> dict[str, float]:
        """The settings of least log-loss."""
        return dict(zip(self.names, self.tried[self.best].tolist(), strict=True))

    def check(self) -> None:
        """Raise unless this is a path, wherever it came from."""
        size = len(self.log_loss)
        if self.tried.shape != (size, len(self.names)) or not 0 <= self.best < size:
            raise InputError("tuning is no path of settings.")

    def table(self) -> Listing:
        """The path, as a table."""
        columns: dict[str, Any] = {name: self.tried[:, i] for i, name in enumerate(self.names)}
        chosen = ["*" if i == self.best else "" for i in range(len(self.tried))]
        return Listing(columns | {"log-loss": self.log_loss, "chosen": chosen})

    def __repr__(self) -> str:
        return f"{self.table()!r}\n({self.rule})"


def tune(
    estimator: Any,
    model: Model,
    table: Table,
    members: Membership,
    paths: Mapping[str, Sequence[float]],
    *,
    calibrated: bool = False,
) -> Tuning:
    """The settings of least log-loss among all combinations of the paths.

    Rows are left out one by one where that has a closed form, and in ten folds where it has none. Of settings that
    do as well, those nearest to the middle of the path win. A setting with which no model can be made has infinite
    log-loss; if that is so for all, the last error is raised. Where answers will be ``calibrated``, the log-loss is
    that of calibrated ones: what a temperature mends need not be mended by a strong prior.
    """
    names, tried = tuple(paths), list(itertools.product(*paths.values()))
    middle = sorted(range(len(tried)), key=lambda i: abs(2 * i - len(tried)))
    rule = _Rule(model, table, members, calibrated=calibrated)
    losses, error = np.full(len(tried), np.inf), None
    for i in middle:
        candidate = copy(estimator)
        candidate._tuning = Tuning(names, np.array([tried[i]]), np.zeros(1), 0, "tried")
        try:
            losses[i] = rule.log_loss(candidate)
        except SufficeError as raised:
            error = raised
    if error is not None and not np.isfinite(losses).any():
        raise error
    best = min(middle, key=lambda i: losses[i])
    return Tuning(names, np.array(tried, dtype=np.float64), losses, best, rule.name)


class _Rule:
    """How rows are left out: the same way for all candidates, decided by the first."""

    def __init__(self, model: Model, table: Table, members: Membership, *, calibrated: bool) -> None:
        self.model, self.table, self.members, self.calibrated = model, table, members, calibrated
        self.name = ""
        self._sets: list[Model] | None = None
        self._splits: list[Split] = []

    def log_loss(self, candidate: Any) -> float:
        codes = self.members.codes
        assert codes is not None
        if not self.name:
            self.name = "leave-one-out" if self._has_closed_form(candidate) else self._fold(candidate)
        joint = self._left_out(candidate) if self._sets is None else self._folds(candidate)
        inside = np.flatnonzero(codes >= 0)
        # A row whose class has no other is lost whatever the settings are.
        size = np.bincount(codes[inside], minlength=len(self.members.classes))
        some = inside[size[codes[inside]] > 1]
        weights = self.members.weights
        w = np.ones(len(some)) if weights is None else weights[some]
        posterior = bayes.log_posterior(joint[some])
        if self.calibrated:
            classes, share = self.model.classes, self.model.class_prior()
            mended = fit_temperature(posterior, codes[some], weights if weights is None else w, classes, share)
            posterior = bayes.log_posterior(mended.applied(posterior, classes, share))
        losses = -posterior[np.arange(len(some)), codes[some]]
        return float(np.where(w > 0, losses * w, 0.0).sum() / w.sum()) if w.sum() > 0 else np.inf

    def _has_closed_form(self, candidate: Any) -> bool:
        found = closed_form(candidate, self.model, self.table, self.members)
        return float(np.isnan(found).any(axis=1).mean()) <= BY_HAND

    def _left_out(self, candidate: Any) -> Float:
        return left_out_joint(candidate, self.model, self.table, self.members)

    def _fold(self, candidate: Any) -> str:
        """Ten folds, with each class spread over them in the order of its rows."""
        codes = self.members.codes
        assert codes is not None
        order = np.argsort(codes, kind="stable")
        starts = np.searchsorted(codes[order], codes[order])
        fold = np.empty(len(codes), dtype=np.int64)
        fold[order] = (np.arange(len(codes)) - starts) % N_FOLDS
        places = [np.flatnonzero(fold == f) for f in range(N_FOLDS)]
        self._splits = [(np.flatnonzero(fold != f), test) for f, test in enumerate(places) if len(test)]
        self._sets = list(training_sets(candidate, self.table, self.members, self._splits))
        return f"{len(self._splits)} folds"

    def _folds(self, candidate: Any) -> Float:
        assert self._sets is not None
        out = np.full((len(self.table), len(self.members.classes)), -np.inf)
        for (_, test), found in zip(self._splits, self._sets, strict=True):
            joint = candidate._joint_of(found, candidate._solve(found), self.table.take(test), relative=True)
            at = self.members.classes.positions(found.classes.labels)
            out[np.ix_(test, at)] = joint
        return out
