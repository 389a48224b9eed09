"""The profile of a model: how rows that it has not learned look to it.

Rows of a fit are held out in 50 folds, or in 20 or 5 if parameters take long to compute. Each fold is subtracted from
the statistics of all rows, so nothing is fitted again. With fewer folds the models without a fold would differ too much
from the model: an outlier that determines a variance would be lacking for a tenth of the rows. Other rows are scored by
the model itself.
"""

from __future__ import annotations

import warnings

import numpy as np

from suffice import bayes
from suffice.learning import prediction
from suffice.learning.fitted import Fitted
from suffice.learning.profile import Profile
from suffice.learning.splits import fold_training_models
from suffice.learning.watched_columns import WatchedColumns, names_of
from suffice.monitoring.profile_bins import density_cuts, number_cuts
from suffice.monitoring.summarizing import Labels, Scored, Summarizer, scored, scored_by_joint
from suffice.monitoring.window import Layout, Window
from suffice.numerics.types import Float
from suffice.statistics import Membership
from suffice.statistics.classes import evenly_spaced
from suffice.tables import Table
from suffice.tables.table import is_sparse

__all__ = ["held_out_profile", "profile_of_rows"]

MOST_ROWS = 20_000  # of a fit that are held out for a profile
N_FOLDS, N_SLOW_FOLDS, N_WIDE_FOLDS = 50, 20, 5
LEAST_ROWS = 20
MOST_CELLS, LEAST_OF_WIDE = 1 << 22, 1000  # cells, and rows of a wide table
WIDE_BLOCK = 100  # dependent columns whose parameters take long


def held_out_profile(fitted: Fitted, table: Table, members: Membership) -> Profile | None:
    """The profile of rows that the model has learned, each held out; None if they cannot be.

    >>> import suffice
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 1))
    >>> model = suffice.fit(X, (X[:, 0] > 0).astype(int), model="naive-bayes")
    >>> model.fitted_.profile.n_rows
    100
    """
    codes = members.codes
    if codes is None:
        return None
    weights = np.ones(len(codes)) if members.weights is None else members.weights
    here = np.flatnonzero((codes >= 0) & (weights > 0))
    most = min(MOST_ROWS, max(LEAST_OF_WIDE, MOST_CELLS // max(table.cells_of_row, 1)))
    if len(here) > most:
        here = evenly_spaced(here, most)
    if len(here) < LEAST_ROWS:
        return None
    table, members = table.take(here), members.take(here)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # the fit has warned already
            answers = _held_out(fitted, table, members)
            assert members.codes is not None
            return _profile(fitted, table, answers, Labels(members.codes), members.weights, held_out=True)
    except ValueError:  # a model of fewer rows cannot be estimated
        return None


def profile_of_rows(fitted: Fitted, table: Table, labels: Labels | None, weights: Float | None) -> Profile:
    """The profile of rows that the model has not learned."""
    return _profile(fitted, table, scored(fitted, table), labels, weights, held_out=False)


def _held_out(fitted: Fitted, table: Table, members: Membership) -> Scored:
    """What models without each fold say of its rows."""
    codes = members.codes
    assert codes is not None
    n, k = len(codes), len(fitted.classes)
    n_folds = min(n, _fold_count(fitted))
    folds = np.empty(n, dtype=np.int64)
    folds[np.argsort(codes, kind="stable")] = np.arange(n) % n_folds
    order = np.argsort(folds, kind="stable")  # so that the rows of a fold are a slice
    table, members, folds = table.take(order), members.take(order), folds[order]
    whole, relative = np.full((n, k), -np.inf), np.full((n, k), -np.inf)
    differ = fitted.scorer is not fitted.solution or not fitted.has_density
    rests = fold_training_models(fitted, table, members, folds, n_folds, fitted.model)
    for fold, model in enumerate(rests):
        start, stop = np.searchsorted(folds, [fold, fold + 1]).tolist()
        rest, rows = fitted.with_model(model), table.rows(start, stop)
        at = np.ix_(order[start:stop], fitted.classes.positions(model.classes.labels))
        if fitted.has_density:
            whole[at] = prediction.joint(rest, rows, relative=False)
        if differ:
            relative[at] = prediction.joint(rest, rows)
    density = bayes.log_evidence(whole) if fitted.has_density else None
    return scored_by_joint(fitted, density, relative if differ else whole)


def _fold_count(fitted: Fitted) -> int:
    """Number of folds: fewer if it takes long to compute the parameters from the statistics."""
    model = fitted.current_model
    pairs = list(zip(model.blocks, model.statistics, strict=True))
    if any(len(block.names) > WIDE_BLOCK and not block.independent for block, _ in pairs):
        return N_WIDE_FOLDS
    slow = any(
        block.member or block.family.keeps_choices or block.family.reads == "documents" or block.family.iterates(each)
        for block, each in pairs
    )
    return N_SLOW_FOLDS if slow else N_FOLDS


def _profile(
    fitted: Fitted,
    table: Table,
    answers: Scored,
    labels: Labels | None,
    weights: Float | None,
    *,
    held_out: bool,
) -> Profile:
    columns = WatchedColumns.of(fitted)
    read = columns.read(table, held_out=held_out)
    cuts: list[tuple[float, ...]] = []
    for part in read.parts:
        for j in range(part.shape[1]):
            binned = not is_sparse(part) and columns.numbers[len(cuts)].scale != "yes or no"
            cuts.append(number_cuts(part[np.isfinite(part[:, j]), j]) if binned else ())
    if answers.log_density is not None:
        whole = scored(fitted, table).log_density if held_out else None
        cuts.append(density_cuts(answers.log_density, whole))
    numbers = tuple(names_of(columns.numbers))
    layout = Layout("", numbers, tuple(cuts), (), (), tuple(fitted.classes.labels.tolist()))
    window = Summarizer(fitted, columns, layout).of_scored(table, answers, labels, weights, held_out=held_out)
    return _of_window(fitted, window)


def _of_window(fitted: Fitted, window: Window) -> Profile:
    layout = window.layout
    return Profile(
        fitted.classes,
        np.array(fitted.estimate.prior, dtype=np.float64),
        window.n_rows,
        window.weight,
        window.squares,
        tuple(name for name, _ in layout.numbers),
        tuple(scale for _, scale in layout.numbers),
        tuple(np.array(each, dtype=np.float64) for each in layout.cuts),
        window.bins,
        window.moments,
        window.posterior,
        window.impossible,
        window.labels,
        window.calibration,
        window.scores,
        np.array(fitted.model.weights.weight, dtype=np.float64),
    )
