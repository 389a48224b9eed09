"""Learning from rows without labels: expectation–maximisation (Nigam et al. 2000).

Each step gives every unlabelled row to the classes by its posterior, adds the statistics of these soft members to those
of the labelled rows, and makes parameters from the sum. What it climbs is

    Σ_labelled w log p(x, y; θ)  +  Σ_unlabelled λ log p(x; θ)  +  log p(θ)

with the density of the prior of the parameters where they are estimated with one (``map``), up to a constant.
Parameters that are the likeliest for their statistics never let it fall. Others (an unbiased divisor, shrinkage, a mix,
``bayes``, rows with holes that a block leaves out of its statistics) need not climb: the steps end before the first
that would fall.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice import bayes
from suffice.exceptions import InputError, SufficeError
from suffice.model import Block, Estimate, Model
from suffice.statistics import ClassAxis, Membership, Sums
from suffice.tables import Table

__all__ = ["BlockRows", "EMTrace", "memberships", "read_unlabelled_weight", "run_em"]

Float = NDArray[np.float64]

MOST_STEPS = 500
CLOSE = 1e-6  # gain of a step, in nats for each row, that ends the steps
NEGLIGIBLE = 1e-100  # a membership whose moments would underflow
ROUNDING = 1e-11  # of the sizes of the summed terms: a fall by less is none


@dataclass(frozen=True)
class BlockRows:
    """Rows as the families of a model read them: taken from their table once, for all steps."""

    blocks: tuple[Block, ...]
    parts: tuple[Any, ...]

    @classmethod
    def of(cls, blocks: tuple[Block, ...], table: Table) -> BlockRows:
        """The rows of a table."""
        return cls(blocks, tuple(block.take(table) for block in blocks))

    def check(self, present: NDArray[np.bool_]) -> BlockRows:
        """The rows themselves, unless one that is present has a value that is none of its family's."""
        for block, rows in zip(self.blocks, self.parts, strict=True):
            block.family.check(rows, block.names, present)
        return self

    def summarize(self, members: Membership) -> Model:
        """The model of the rows; they were checked before."""
        found = (
            block.family.summarize(rows, members, block.names)
            for block, rows in zip(self.blocks, self.parts, strict=True)
        )
        return Model(self.blocks, Sums.of_classes(members), tuple(found))

    def joint(self, estimate: Estimate) -> Float:
        """log p(x, y) of each row and class (n, K)."""
        out: Any = 0.0
        with np.errstate(over="ignore", invalid="ignore"):
            for block, parameters, rows in zip(estimate.blocks, estimate.parameters, self.parts, strict=True):
                family = block.family.accepting_unseen()  # a level that no labelled row has is learned
                known = family.check_seen(parameters, rows, block.names)
                out = out + family.log_likelihood(parameters, known)
            out = bayes.joint(estimate.log_prior, out)
            # Where finite numbers overflowed, the density is zero in float64.
            out[~(out < np.inf)] = -np.inf
        return np.asarray(out)


@dataclass(frozen=True, eq=False)
class EMTrace:
    """Where the steps led.

    Attributes
    ----------
    model : Model
        Statistics of the labelled rows and of the unlabelled ones, given to the classes.
    log_likelihoods : array
        What is climbed, after each step; it never falls.
    converged : bool
    reason : str
        Why the steps ended.
    """

    model: Model
    log_likelihoods: Float
    converged: bool
    reason: str


def read_unlabelled_weight(weight: Any, n_rows: int) -> Float:
    """The weight of each unlabelled row (n,), from one number or one for each row."""
    try:
        given = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != n_rows):
        raise InputError(
            f"unlabelled_weight is one number, or one for each of the {n_rows} unlabelled rows; its shape is "
            f"{given.shape}."
        )
    wrong = ~(np.isfinite(given) & (given >= 0))
    if isinstance(weight, bool | np.bool_) or wrong.any():
        where = f" in row {int(np.argmax(wrong))}" if given.ndim else f", got {weight!r}"
        raise InputError(f"unlabelled_weight must be finite and at least 0{where}.")
    return np.array(np.broadcast_to(given, (n_rows,)))


def memberships(joint: Float, prior: Float) -> Float:
    """p(y | x) of each row, written over ``joint`` (n, K); a row that no class explains yet is shared by the prior."""
    lost = ~np.isfinite(joint.max(axis=1))
    if lost.any():
        joint[lost] = bayes.log_prior(prior)
    soft = bayes.posterior(joint)
    soft[soft < NEGLIGIBLE] = 0.0
    return soft


def run_em(
    labelled: Model,
    rows: BlockRows,
    members: Membership,
    unlabelled: BlockRows,
    weights: Float,
    first: Model,
    solve: Callable[[Model], Estimate],
    prior_density: Callable[[Estimate, Model], float],
) -> EMTrace:
    """Take steps until they gain nothing.

    Parameters
    ----------
    labelled : Model
        Of the labelled rows, which are ``rows``, with their ``members``.
    weights : array of shape (n,)
        Of the unlabelled rows.
    first : Model
        Of the unlabelled rows as the model of the labelled ones gave them to the classes.
    solve : callable
        Parameters of a model.
    prior_density : callable
        log p(θ) of an estimate, with the model it was made from.
    """
    model = labelled.merge(first)
    estimate = solve(model)
    joint = unlabelled.joint(estimate)
    reached, size = _objective(rows, members, joint, weights, estimate, prior_density(estimate, model))
    trace = [reached]
    total = float(weights.sum()) + float(labelled.weights.weight.sum())
    for _ in range(MOST_STEPS - 1):
        soft = memberships(joint, estimate.prior)
        axis: ClassAxis = labelled.classes
        option = labelled.merge(unlabelled.summarize(Membership(axis, soft=soft, weights=weights)))
        try:
            estimate = solve(option)
        except SufficeError as error:
            return EMTrace(model, np.array(trace), False, f"The next step has no parameters: {error}")
        joint = unlabelled.joint(estimate)
        now, size = _objective(rows, members, joint, weights, estimate, prior_density(estimate, option))
        if not np.isfinite(now) or now < reached - ROUNDING * size:
            return EMTrace(
                model,
                np.array(trace),
                False,
                f"The next step would lower the log-likelihood by {reached - now:.3g}: with these settings the "
                "estimate is not the likeliest for its statistics. The model before it is kept.",
            )
        gain = now - reached
        if gain > 0:
            model, reached = option, now
            trace.append(now)
        if gain <= CLOSE * total:
            return EMTrace(model, np.array(trace), True, "Another step gains nothing.")
    return EMTrace(model, np.array(trace), False, f"The log-likelihood still climbs after {MOST_STEPS} steps.")


def _objective(
    rows: BlockRows, members: Membership, joint: Float, weights: Float, estimate: Estimate, density: float
) -> tuple[float, float]:
    """What is climbed, and the sum of the sizes of its terms, by which it may be off in its last digits."""
    assert members.codes is not None
    here = members.codes >= 0
    if members.weights is not None:
        here &= members.weights > 0
    own = rows.joint(estimate)[here, members.codes[here]]
    if members.weights is not None:
        own = own * members.weights[here]
    counted = weights > 0
    other = weights[counted] * bayes.log_evidence(joint[counted])
    value = float(own.sum()) + float(other.sum()) + density
    size = float(np.abs(own).sum()) + float(np.abs(other).sum()) + abs(density)
    return value, size
