"""The cost of double counting: the held-out log-loss that dependent columns add.

The log-likelihoods ℓ_j = log p(x_j | y) of each column are those of held-out rows, each under the model of the other
rows. The cost of all columns together is

    log-loss of  p(y) exp(Σ_j ℓ_j)   −   log-loss of  p(y) exp(b_y + Σ_j w_j ℓ_j)

with weights w_j ≥ 0 (see `suffice.learning.column_weights`) that are fitted to the other half of the rows. The cost of
a pair i, j is the same for a model of these two columns alone, with one weight for both:

    log-loss of  p(y) exp(ℓ_i + ℓ_j)   −   least log-loss of  p(y) exp(w (ℓ_i + ℓ_j))  for  ½ ≤ w ≤ 1

For two copies of a column, w = ½ is the model of one of them. Costs are in nats per row.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from suffice import bayes
from suffice.diagnostics.columns import CheckedRows
from suffice.exceptions import SufficeError, SufficeWarning
from suffice.families.contract import family_type
from suffice.learning.calibration import OFFSETS, fit_temperature
from suffice.learning.column_weights import fit_column_weights
from suffice.learning.family_choice import family_of
from suffice.learning.fitted import Fitted
from suffice.learning.held_out import closed_form, only_rows
from suffice.learning.hold_out import HoldOut
from suffice.model import Block, Model
from suffice.model.leave_one_out import leave_one_out_log_prior
from suffice.model.parts import leave_one_out_parts, part_names
from suffice.numerics.types import Codes, Float, Index
from suffice.statistics import Membership
from suffice.statistics.classes import evenly_spaced
from suffice.tables import MatrixTable, Table
from suffice.tables.thresholded import ThresholdedMatrix

__all__ = ["NO_COST", "DoubleCounting", "HeldOutParts", "double_counting", "held_out_parts", "pair_costs"]

MOST_ROWS, MOST_CELLS = 4000, 1 << 21  # log-likelihoods of rows, classes and columns
LEAST_ROWS = 40
WEIGHTS = np.linspace(0.5, 1.0, 26)
NO_COST = 5e-4  # nats per row; smaller costs count as zero


@dataclass(frozen=True)
class DoubleCounting:
    """Held-out log-loss of a model as it is, and with weights of columns; their difference is the cost.

    Attributes
    ----------
    log_loss, weighted_log_loss : float
        In nats per row.
    cost : float
        Nats per row; 0 if the weights are not better.
    rows : int
        Held-out rows.
    """

    log_loss: float
    weighted_log_loss: float
    cost: float
    rows: int


@dataclass(frozen=True, eq=False)
class HeldOutParts:
    """log p(y) and log p(x_j | y) of held-out rows (1 + J, n, K), their classes and weights."""

    names: tuple[object, ...]
    parts: Float
    codes: Codes
    weights: Float
    model: Model


def held_out_parts(fitted: Fitted, rows: CheckedRows) -> tuple[HeldOutParts | None, str]:
    """The parts of some rows under models without them, or None and, if the model has parts, the reason in a sentence.

    The statistics are those of the given rows, whether or not the model has learned them.
    """
    names = part_names(fitted.blocks)
    if len(names) < 2 or len(rows.classes) < 2 or any(block.member for block in fitted.blocks):
        return None, ""
    some = evenly_spaced(
        np.arange(len(rows.codes)), min(MOST_ROWS, MOST_CELLS // (len(names) * max(1, len(rows.classes))))
    )
    table, members = rows.table.take(some), rows.members.take(some)
    used = np.setdiff1d(np.arange(len(some)), only_rows(members))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SufficeWarning)  # about columns without variance, which a note is about
        try:
            plain = _plain_table(table)
            model = Model.summarize(_plain_blocks(fitted.blocks), plain, members)
            parts = _parts(fitted, model, plain, members, used)
            same = _are_parts_of(fitted, parts, table, members, used)
        except SufficeError as error:
            return None, f"The cost of double counting was not measured: {error}"
    if not same:
        estimator = fitted.specification.estimator
        why = f"the settings of this {estimator} do not apply to its columns one by one"
        return None, f"The cost of double counting was not measured: {why}."
    fine = np.isfinite(parts).all(axis=(0, 2))
    used, parts = used[fine], parts[:, fine]
    if len(used) < LEAST_ROWS:
        return None, f"The cost of double counting was not measured: fewer than {LEAST_ROWS} rows can be held out."
    return HeldOutParts(names, parts, rows.codes[some[used]], rows.given_weights[some[used]], model), ""


def _is_plain(block: Block) -> bool:
    """Whether a block has a family of the library, and not one of a class with scikit-learn's name."""
    return type(block.family) is family_type(block.family.name)


def _plain_blocks(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks with families that do not know their levels by position, as those of `CategoricalNB` do."""
    return tuple(
        block
        if block.family.reads != "categories" or _is_plain(block)
        else replace(block, family=family_of(block.family.name, {"estimation": "map", "smoothing": 1.0}))
        for block in blocks
    )


def _are_parts_of(fitted: Fitted, parts: Float, table: Table, members: Membership, used: Index) -> bool:
    """Whether the parts add up to the held-out scores of the model; some classes with scikit-learn's names differ."""
    if all(map(_is_plain, fitted.blocks)):
        return True
    own = fitted.with_model(Model.summarize(fitted.blocks, table, members))
    scores = closed_form(own, table.take(used), members.take(used))
    assert members.codes is not None
    loss = [_log_share(each, members.codes[used]) for each in (scores, parts.sum(axis=0))]
    return bool(np.abs(np.nanmean(loss[0] - loss[1])) < NO_COST) if np.isfinite(loss[0]).any() else False


def _plain_table(table: Table) -> Table:
    """Zeros and ones in place of numbers with a threshold."""
    if not isinstance(table, MatrixTable) or table.above is None:
        return table
    return MatrixTable(ThresholdedMatrix(table.x, table.above).plain())


def _parts(fitted: Fitted, model: Model, table: Table, members: Membership, used: Index) -> Float:
    """log p(y) and the parts of some rows given all others; in folds where there is no closed form."""
    part = members.take(used)
    with np.errstate(over="ignore", invalid="ignore"):
        prior = leave_one_out_log_prior(model.weights.weight, model.class_prior(), part, fixed=False)
        parts = np.stack([prior, *leave_one_out_parts(model, table.take(used), part)])
    if np.isnan(parts).any() and model.blocks == fitted.blocks:
        return HoldOut(model, table, members, 0).parts(fitted.with_model(model), used)
    return parts


def double_counting(found: HeldOutParts) -> DoubleCounting:
    """The cost of all columns together."""
    share = found.weights / found.weights.sum()
    plain = -float(share @ _log_share(found.parts.sum(axis=0), found.codes))
    log_p = np.empty(len(found.codes))
    halves = np.empty(len(found.codes), dtype=np.int64)
    halves[np.argsort(found.codes, kind="stable")] = np.arange(len(halves)) % 2
    axis, prior = found.model.classes, found.model.class_prior()
    for half in (0, 1):
        train, test = np.flatnonzero(halves != half), np.flatnonzero(halves == half)
        posterior = bayes.log_posterior(found.parts[:, train].sum(axis=0))
        codes, weights = found.codes[train], found.weights[train]
        temperature = fit_temperature(posterior, codes, weights, axis, prior)
        learned = fit_column_weights(found.parts[:, train], codes, weights, temperature, found.names, offsets=OFFSETS)
        scores = found.parts[0, test] + np.tensordot(learned.weights, found.parts[1:, test], axes=1)
        mapped = learned.applied(scores, axis, prior)
        log_p[test] = _log_share(mapped, found.codes[test])
    weighted = -float(share @ log_p)
    return DoubleCounting(plain, weighted, max(0.0, plain - weighted), len(found.codes))


def pair_costs(found: HeldOutParts, pairs: Sequence[tuple[object, object]]) -> list[float]:
    """The cost of each pair of columns, by name; NaN for a column that has no part of its own."""
    place = {name: 1 + i for i, name in enumerate(found.names)}
    share = found.weights / found.weights.sum()
    costs = []
    for first, second in pairs:
        if first not in place or second not in place:
            costs.append(float("nan"))
            continue
        both = found.parts[place[first]] + found.parts[place[second]]
        losses = [-float(share @ _log_share(found.parts[0] + w * both, found.codes)) for w in WEIGHTS]
        costs.append(losses[-1] - min(losses))
    return costs


def _log_share(joint: Float, codes: Codes) -> Float:
    """log p(label | x) of each row (n,)."""
    return np.asarray(bayes.log_posterior(joint)[np.arange(len(codes)), codes])
