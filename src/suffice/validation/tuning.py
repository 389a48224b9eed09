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
from suffice.validation.left_out import alone
from suffice.validation.rule import Rule

__all__ = ["Tuning", "tune"]

Float = NDArray[np.float64]

SHARE_BY_HAND, MOST_BY_HAND = 0.1, 500  # of the rows, to be left out one by one without a closed form


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
    do as well, those nearest to the middle of their paths win. A setting with which no model can be made has infinite
    log-loss; if that is so for all, the last error is raised. Where answers will be ``calibrated``, the log-loss is
    that of calibrated ones: what a temperature mends need not be mended by a strong prior.
    """
    names, tried = tuple(paths), list(itertools.product(*paths.values()))
    places = list(itertools.product(*(range(len(path)) for path in paths.values())))
    centre = [(len(path) - 1) / 2 for path in paths.values()]
    middle = sorted(range(len(tried)), key=lambda i: sum(abs(a - b) for a, b in zip(places[i], centre, strict=True)))
    rule = Rule(model, table, members, most=min(SHARE_BY_HAND * len(table), MOST_BY_HAND))
    losses, error = np.full(len(tried), np.inf), None
    for i in middle:
        candidate = copy(estimator)
        candidate._tuning = Tuning(names, np.array([tried[i]]), np.zeros(1), 0, "tried")
        try:
            losses[i] = _log_loss(rule, candidate, calibrated=calibrated)
        except SufficeError as raised:
            error = raised
    if error is not None and not np.isfinite(losses).any():
        raise error
    best = min(middle, key=lambda i: losses[i])
    return Tuning(names, np.array(tried, dtype=np.float64), losses, best, rule.name)


def _log_loss(rule: Rule, candidate: Any, *, calibrated: bool) -> float:
    """Mean of −log p(label | row) over the rows, by models that have not seen them."""
    members, codes = rule.members, rule.members.codes
    assert codes is not None
    joint = rule.joint(candidate)
    some = np.setdiff1d(np.flatnonzero(codes >= 0), alone(rule.members))
    weights = None if members.weights is None else members.weights[some]
    posterior = bayes.log_posterior(joint[some])
    if calibrated:
        classes, share = rule.model.classes, rule.model.class_prior()
        mended = fit_temperature(posterior, codes[some], weights, classes, share)
        posterior = bayes.log_posterior(mended.applied(posterior, classes, share))
    losses = -posterior[np.arange(len(some)), codes[some]]
    if weights is not None:
        losses, weights = losses[weights > 0], weights[weights > 0]
    return float(np.average(losses, weights=weights)) if len(losses) else np.inf
