"""Settings chosen by the log-loss of held-out rows, from statistics that are computed once."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from suffice import bayes
from suffice.exceptions import SufficeError
from suffice.learning.calibration import fit_temperature
from suffice.learning.fitted import Fitted
from suffice.learning.hold_out import HoldOut
from suffice.learning.tuning_result import Tuning
from suffice.statistics import Membership
from suffice.tables import Table

__all__ = ["tune", "tune_in_steps"]

ROW_SHARE, MOST_ROWS = 0.1, 500  # rows that may be held out one by one without a closed form
MOST_COMBINATIONS = 64  # more are not all tried: one setting is changed after another
MOST_ROUNDS = 3

Values = tuple[object, ...]


def tune(
    fitted: Fitted,
    table: Table,
    members: Membership,
    paths: Mapping[str, Sequence[float]],
    *,
    offset_precision: float | None = None,
) -> Tuning:
    """Choose the settings with the smallest held-out log-loss among all combinations of the paths.

    Rows are held out one by one where that has a closed form, otherwise in ten folds. Of settings that do equally well,
    those nearest to the middle of their paths win. Settings with which no model can be fitted have infinite log-loss;
    if that is true for all, the last error is raised.

    Parameters
    ----------
    table, members
        The rows, and the class and weight that each has in the model.
    paths : mapping from name to sequence
        The values of each setting.
    offset_precision : float, optional
        If given, probabilities will be calibrated with it, and the log-loss is that of calibrated probabilities: a
        temperature corrects overconfidence without a strong prior.
    """
    tried = list(itertools.product(*paths.values()))
    positions = list(itertools.product(*(range(len(path)) for path in paths.values())))
    centre = [(len(path) - 1) / 2 for path in paths.values()]
    middle = sorted(range(len(tried)), key=lambda i: sum(abs(a - b) for a, b in zip(positions[i], centre, strict=True)))
    trials = _Trials(fitted, tuple(paths), HoldOut(fitted.model, table, members, _most_rows(table)), offset_precision)
    for i in middle:
        trials.log_loss(tried[i])
    losses = np.array([trials.losses[values] for values in tried])
    return Tuning.of(trials.names, tried, losses, min(middle, key=lambda i: losses[i]), trials.finish())


def tune_in_steps(
    fitted: Fitted,
    table: Table,
    members: Membership,
    paths: Mapping[str, Sequence[object]],
    start: Mapping[str, object],
    *,
    applicable: Callable[[dict[str, object]], dict[str, object]] = dict,
    offset_precision: float | None = None,
) -> Tuning:
    """Choose settings by held-out log-loss where there may be too many combinations to try all.

    Up to 64 combinations are all tried. Of more, each setting in turn takes each of its values, together with all
    values of the last setting, and the best so far is kept; this ends when a round changes nothing, after three rounds
    at most. Of settings that do equally well, the first tried wins, and ``start`` is the first.

    Parameters
    ----------
    paths : mapping
        The values of each setting, numbers or not.
    start : mapping
        One value of each.
    applicable : callable
        Maps settings to equivalent ones without those that do not apply, so that none is tried twice.

    Other parameters are those of `tune`.
    """
    names = tuple(paths)
    trials = _Trials(fitted, names, HoldOut(fitted.model, table, members, _most_rows(table)), offset_precision)

    def log_loss(settings: dict[str, object]) -> None:
        trials.log_loss(tuple(applicable(settings)[name] for name in names))

    log_loss(dict(start))
    size = int(np.prod([len(path) for path in paths.values()]))
    groups = [names] if size <= MOST_COMBINATIONS else [(name, names[-1]) for name in names[:-1]]
    best: Values | None = None
    for _ in range(MOST_ROUNDS if size > MOST_COMBINATIONS else 1):
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


def _most_rows(table: Table) -> float:
    return min(ROW_SHARE * len(table), MOST_ROWS)


class _Trials:
    """The log-loss of settings, each tried once; infinite where no model can be fitted."""

    def __init__(
        self, fitted: Fitted, names: tuple[str, ...], hold_out: HoldOut, offset_precision: float | None
    ) -> None:
        self.fitted, self.names, self.hold_out, self.offset_precision = fitted, names, hold_out, offset_precision
        self.losses: dict[Values, float] = {}
        self._error: SufficeError | None = None

    def log_loss(self, values: Values) -> None:
        """Try settings, unless they were tried before."""
        if values in self.losses:
            return
        candidate = replace(self.fitted, tuning=Tuning.of(self.names, [values], [0.0], 0, "tried"))
        self.losses[values] = np.inf
        try:
            self.losses[values] = held_out_log_loss(self.hold_out, candidate, self.offset_precision)
        except SufficeError as raised:
            self._error = raised

    def best(self) -> Values:
        """The settings with the smallest log-loss so far, the first of equal ones."""
        return min(self.losses, key=lambda values: self.losses[values])

    def finish(self) -> str:
        """How rows were held out; raises the last error if no settings gave a model."""
        if self._error is not None and not np.isfinite(list(self.losses.values())).any():
            raise self._error
        return self.hold_out.name


def held_out_log_loss(hold_out: HoldOut, candidate: Fitted, offset_precision: float | None) -> float:
    """Mean of −log p(label | row) over held-out rows."""
    members, codes = hold_out.members, hold_out.members.codes
    assert codes is not None
    joint = hold_out.joint(candidate)
    rows = np.setdiff1d(np.flatnonzero(codes >= 0), hold_out.only_rows())
    weights = None if members.weights is None else members.weights[rows]
    posterior = bayes.log_posterior(joint[rows])
    if offset_precision is not None:
        classes, share = hold_out.model.classes, hold_out.model.class_prior()
        known = np.flatnonzero(hold_out.have_evidence(joint)[rows])  # others keep the prior
        some = None if weights is None else weights[known]
        calibration = fit_temperature(
            posterior[known], codes[rows[known]], some, classes, share, offsets=offset_precision
        )
        posterior[known] = bayes.log_posterior(calibration.applied(posterior[known], classes, share))
    losses = -posterior[np.arange(len(rows)), codes[rows]]
    if weights is not None:
        losses, weights = losses[weights > 0], weights[weights > 0]
    return float(np.average(losses, weights=weights)) if len(losses) else np.inf
