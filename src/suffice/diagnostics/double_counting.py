"""What double counting costs: the held-out log-loss that dependent columns add.

The log-likelihoods ℓ_j = log p(x_j | y) of each column are those of held-out rows, each under the model of the other
rows. The cost of all columns together is

    log-loss of  p(y) exp(Σ_j ℓ_j)   −   log-loss of  p(y) exp(b_y + Σ_j w_j ℓ_j)

with weights w_j ≥ 0 (see `suffice.learning.column_weights`) that are fitted to the other half of the rows. The cost of
a pair i, j is the same for a model of these two columns alone, with one weight for both:

    log-loss of  p(y) exp(ℓ_i + ℓ_j)   −   least log-loss of  p(y) exp(w (ℓ_i + ℓ_j))  for  ½ ≤ w ≤ 1

For two copies of a column, w = ½ is the model of one of them. Costs are in nats per row.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from suffice import bayes
from suffice.diagnostics.columns import CheckedRows
from suffice.exceptions import SufficeError
from suffice.families.contract import family_type
from suffice.learning.calibration import OFFSETS, fit_temperature
from suffice.learning.column_weights import fit_column_weights
from suffice.learning.family_choice import family_of
from suffice.learning.fitted import Fitted
from suffice.learning.held_out import only_rows
from suffice.learning.hold_out import HoldOut
from suffice.model import Block, Model
from suffice.model.leave_one_out import leave_one_out_log_prior
from suffice.model.parts import leave_one_out_parts, part_names
from suffice.numerics.types import Codes, Float, Index
from suffice.statistics import Membership
from suffice.statistics.classes import evenly_spaced
from suffice.tables import MatrixTable, Table
from suffice.tables.thresholded import ThresholdedMatrix

__all__ = ["DoubleCounting", "HeldOutParts", "double_counting", "held_out_parts", "pair_costs"]

MOST_ROWS, MOST_CELLS = 4000, 1 << 21  # log-likelihoods of rows, classes and columns
LEAST_ROWS = 40
WEIGHTS = np.linspace(0.5, 1.0, 26)


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


def held_out_parts(fitted: Fitted, rows: CheckedRows) -> HeldOutParts | None:
    """The parts of some rows under models without them; None if the model has none, or there are too few rows.

    The statistics are those of the given rows, whether or not the model has learned them.
    """
    names = part_names(fitted.blocks)
    if len(names) < 2 or any(block.member for block in fitted.blocks):
        return None
    some = evenly_spaced(
        np.arange(len(rows.codes)), min(MOST_ROWS, MOST_CELLS // (len(names) * max(1, len(rows.classes))))
    )
    if len(some) < LEAST_ROWS:
        return None
    table, members = rows.table.take(some), rows.members.take(some)
    used = np.setdiff1d(np.arange(len(some)), only_rows(members))
    try:
        table = _plain_table(table)
        model = Model.summarize(_plain_blocks(fitted.blocks), table, members)
        parts = _parts(fitted, model, table, members, used)
    except SufficeError:
        return None
    fine = np.isfinite(parts).all(axis=(0, 2))
    used, parts = used[fine], parts[:, fine]
    if len(used) < LEAST_ROWS:
        return None
    return HeldOutParts(names, parts, rows.codes[some[used]], rows.weights[some[used]], model)


def _plain_blocks(blocks: Sequence[Block]) -> tuple[Block, ...]:
    """The blocks with the families of their names: those of some drop-ins know their columns by position."""
    return tuple(
        block
        if type(block.family) is family_type(block.family.name)
        else replace(block, family=family_of(block.family.name, {"estimation": "map", "smoothing": 1.0}))
        for block in blocks
    )


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
