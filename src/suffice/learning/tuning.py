"""Settings chosen by the log-loss of rows that were left out, from statistics that are made once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import bayes
from suffice.exceptions import InputError, SufficeError
from suffice.learning.calibration import fit_temperature
from suffice.learning.hold_out import HoldOut
from suffice.model import Model
from suffice.statistics import Membership
from suffice.tables import Table
from suffice.tables.listing import Listing

__all__ = ["Tuning", "tune", "tune_in_steps"]

Float = NDArray[np.float64]

SHARE_BY_HAND, MOST_BY_HAND = 0.1, 500  # of the rows, to be left out one by one without a closed form
WHOLE = 64  # combinations that are all tried; of more, one setting is changed after another
MOST_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Tuning:
    """The settings that were tried, and the log-loss of each.

    Attributes
    ----------
    names : tuple of str
        Of the settings.
    tried : array of shape (m, number of settings)
        Of objects, if a setting is not a number.
    log_loss : array of shape (m,)
        Mean over the rows of −log p(label | row), by models that have not seen the row.
    best : int
        Which was chosen.
    rule : str
        How rows were left out.
    """

    names: tuple[str, ...]
    tried: NDArray[Any]
    log_loss: Float
    best: int
    rule: str

    @classmethod
    def of(cls, names: Sequence[str], tried: Sequence[Sequence[Any]], log_loss: Any, best: int, rule: str) -> Tuning:
        """By the values of each try, numbers or not."""
        plain = all(type(value) is float for values in tried for value in values)
        table = np.empty((len(tried), len(names)), dtype=np.float64 if plain else object)
        for i, values in enumerate(tried):
            table[i] = values
        return cls(tuple(names), table, np.asarray(log_loss, dtype=np.float64), best, rule)

    @property
    def chosen(self) -> dict[str, Any]:
        """The settings of least log-loss."""
        return dict(zip(self.names, self.tried[self.best].tolist(), strict=True))

    def check(self) -> None:
        """Raise unless this is a path, wherever it came from."""
        size = len(self.log_loss)
        if self.tried.shape != (size, len(self.names)) or not 0 <= self.best < size:
            raise InputError("tuning is no path of settings.")

    def table(self) -> Listing:
        """The path, as a table."""
        columns: dict[str, Any] = {name: self.tried[:, i].tolist() for i, name in enumerate(self.names)}
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
    tried = list(itertools.product(*paths.values()))
    places = list(itertools.product(*(range(len(path)) for path in paths.values())))
    centre = [(len(path) - 1) / 2 for path in paths.values()]
    middle = sorted(range(len(tried)), key=lambda i: sum(abs(a - b) for a, b in zip(places[i], centre, strict=True)))
    trials = _Trials(estimator, tuple(paths), HoldOut(model, table, members, _most_by_hand(table)), calibrated)
    for i in middle:
        trials.log_loss(tried[i])
    losses = np.array([trials.losses[values] for values in tried])
    return Tuning.of(trials.names, tried, losses, min(middle, key=lambda i: losses[i]), trials.finish())


def tune_in_steps(
    estimator: Any,
    model: Model,
    table: Table,
    members: Membership,
    paths: Mapping[str, Sequence[Any]],
    start: Mapping[str, Any],
    *,
    meaning: Callable[[dict[str, Any]], dict[str, Any]] = dict,
    calibrated: bool = False,
) -> Tuning:
    """The settings of least log-loss found from a start on, where there may be too many combinations to try them all.

    Up to 64 combinations are all tried. Of more, each setting in turn is set to each of its values, together with all
    values of the last setting, and the best so far is kept; until a round over the settings changes nothing, three
    rounds at most. Of settings that do as well, those that were tried first win, and the start is the first.

    Parameters
    ----------
    paths : mapping
        The values of each setting, numbers or not.
    start : mapping
        One value of each.
    meaning : callable
        Settings that mean the same, where some do not apply to others: such are tried once.

    Other parameters are those of `tune`.
    """
    names = tuple(paths)
    trials = _Trials(estimator, names, HoldOut(model, table, members, _most_by_hand(table)), calibrated)

    def log_loss(settings: dict[str, Any]) -> None:
        trials.log_loss(tuple(meaning(settings)[name] for name in names))

    log_loss(dict(start))
    size = int(np.prod([len(path) for path in paths.values()]))
    groups = [names] if size <= WHOLE else [(name, names[-1]) for name in names[:-1]]
    best: tuple[Any, ...] | None = None
    for _ in range(MOST_ROUNDS if size > WHOLE else 1):
        before = best
        for group in groups:
            best = trials.best()
            for values in itertools.product(*(paths[name] for name in group)):
                log_loss(dict(zip(names, best, strict=True)) | dict(zip(group, values, strict=True)))
        best = trials.best()
        if best == before:
            break
    tried = list(trials.losses)
    return Tuning.of(names, tried, list(trials.losses.values()), tried.index(trials.best()), trials.finish())


def _most_by_hand(table: Table) -> float:
    return min(SHARE_BY_HAND * len(table), MOST_BY_HAND)


class _Trials:
    """The log-loss of settings, each tried once; infinite where no model can be made."""

    def __init__(self, estimator: Any, names: tuple[str, ...], rule: HoldOut, calibrated: bool) -> None:
        self.estimator, self.names, self.rule, self.calibrated = estimator, names, rule, calibrated
        self.losses: dict[tuple[Any, ...], float] = {}
        self._error: SufficeError | None = None

    def log_loss(self, values: tuple[Any, ...]) -> None:
        """Try settings, unless they were."""
        if values in self.losses:
            return
        candidate = copy(self.estimator)
        candidate._tuning = Tuning.of(self.names, [values], [0.0], 0, "tried")
        self.losses[values] = np.inf
        try:
            self.losses[values] = _log_loss(self.rule, candidate, calibrated=self.calibrated)
        except SufficeError as raised:
            self._error = raised

    def best(self) -> tuple[Any, ...]:
        """Settings of the least log-loss so far, the first of equal ones."""
        return min(self.losses, key=lambda values: self.losses[values])

    def finish(self) -> str:
        """How rows were left out; or the last error, if there was no model for any settings."""
        if self._error is not None and not np.isfinite(list(self.losses.values())).any():
            raise self._error
        return self.rule.name


def _log_loss(rule: HoldOut, candidate: Any, *, calibrated: bool) -> float:
    """Mean of −log p(label | row) over the rows, by models that have not seen them."""
    members, codes = rule.members, rule.members.codes
    assert codes is not None
    joint = rule.joint(candidate)
    some = np.setdiff1d(np.flatnonzero(codes >= 0), rule.alone())
    weights = None if members.weights is None else members.weights[some]
    posterior = bayes.log_posterior(joint[some])
    if calibrated:
        classes, share = rule.model.classes, rule.model.class_prior()
        mended = fit_temperature(posterior, codes[some], weights, classes, share, offsets=candidate._offsets)
        posterior = bayes.log_posterior(mended.applied(posterior, classes, share))
    losses = -posterior[np.arange(len(some)), codes[some]]
    if weights is not None:
        losses, weights = losses[weights > 0], weights[weights > 0]
    return float(np.average(losses, weights=weights)) if len(losses) else np.inf
