"""Learning from rows without labels: expectation–maximisation (Nigam et al. 2000).

Each step assigns every unlabelled row to the classes by its posterior, adds the statistics of these soft memberships to
those of the labelled rows, and estimates parameters from the sum. The objective is

    Σ_labelled w log p(x, y; θ)  +  Σ_unlabelled λ log p(x; θ)  +  log p(θ)

with the log-density of the prior of the parameters if they are estimated with one (``map``), up to a constant. With
maximum-likelihood parameters it never decreases. With others (an unbiased divisor, shrinkage, a mix, ``bayes``, rows
with missing cells that a block does not count) it may decrease: the steps end before the first that would lower it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from suffice import bayes
from suffice.exceptions import InputError, SufficeError
from suffice.model import Block, Estimate, Model
from suffice.numerics.types import Float, Mask
from suffice.statistics import ClassAxis, Membership, Sums
from suffice.tables import Table

__all__ = ["EMRows", "EMTrace", "memberships", "read_unlabelled_weight", "run_em"]

MOST_STEPS = 500
CLOSE = 1e-6  # a step that gains less, in nats per row, is the last
NEGLIGIBLE = 1e-100  # a smaller membership is set to zero, because its moments would underflow
ROUNDING = 1e-11  # a decrease by less, relative to the sum of the absolute terms, is rounding


@dataclass(frozen=True)
class EMRows:
    """Rows as the families of a model read them, taken from their table once for all steps."""

    blocks: tuple[Block, ...]
    parts: tuple[Any, ...]

    @classmethod
    def of(cls, blocks: tuple[Block, ...], table: Table) -> EMRows:
        """The rows of a table."""
        return cls(blocks, tuple(block.take(table) for block in blocks))

    def check(self, present: Mask) -> EMRows:
        """The rows; raises if a row that is present has a value outside the domain of its family."""
        for block, rows in zip(self.blocks, self.parts, strict=True):
            block.family.check(rows, block.names, present)
        return self

    def summarize(self, members: Membership) -> Model:
        """Statistics of the rows, which were checked before."""
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
                family = block.family.accepting_unseen()  # levels that only unlabelled rows have are learned
                known = family.check_seen(parameters, rows, block.names)
                out = out + family.log_likelihood(parameters, known)
            out = bayes.joint(estimate.log_prior, out)
            # Where finite numbers overflowed, the density is zero in float64.
            out[~(out < np.inf)] = -np.inf
        return np.asarray(out)


@dataclass(frozen=True, eq=False)
class EMTrace:
    """The steps of learning from unlabelled rows, and how they ended.

    Attributes
    ----------
    log_likelihoods : array
        The objective after each step; it never decreases.
    converged : bool
    reason : str
        Why the steps ended.
    """

    log_likelihoods: Float
    converged: bool
    reason: str


def read_unlabelled_weight(weight: object, n_rows: int) -> Float:
    """The weight of each unlabelled row (n,), from one number or one for each row."""
    try:
        given = np.asarray(weight, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.array(np.nan)
    if given.ndim > 1 or (given.ndim == 1 and len(given) != n_rows):
        raise InputError(
            f"unlabelled_weight must be one number, or one for each of the {n_rows} unlabelled rows; its shape is "
            f"{given.shape}.",
            argument="unlabelled_weight",
        )
    wrong = ~(np.isfinite(given) & (given >= 0))
    if isinstance(weight, bool | np.bool_) or wrong.any():
        where = f" in row {int(np.argmax(wrong))}" if given.ndim else f", got {weight!r}"
        raise InputError(f"unlabelled_weight must be finite and at least 0{where}.", argument="unlabelled_weight")
    return np.array(np.broadcast_to(given, (n_rows,)))


def memberships(joint: Float, prior: Float) -> Float:
    """p(y | x) of each row, written over ``joint`` (n, K); the prior for a row that is impossible under all classes."""
    impossible = ~np.isfinite(joint.max(axis=1))
    if impossible.any():
        joint[impossible] = bayes.log_prior(prior)
    soft = bayes.posterior(joint)
    soft[soft < NEGLIGIBLE] = 0.0
    return soft


def run_em(
    labelled: Model,
    rows: EMRows,
    members: Membership,
    unlabelled: EMRows,
    weights: Float,
    first: Model,
    solve: Callable[[Model], Estimate],
    prior_density: Callable[[Estimate, Model], float],
) -> tuple[Model, EMTrace]:
    """Take steps until they gain nothing more; returns the last model and the trace of the steps.

    Parameters
    ----------
    labelled : Model
        Statistics of the labelled rows, which are ``rows``, with their ``members``.
    weights : array of shape (n,)
        Weights of the unlabelled rows.
    first : Model
        Statistics of the unlabelled rows with memberships by the model of the labelled rows.
    solve : callable
        Estimates the parameters of a model.
    prior_density : callable
        log p(θ) of an estimate and the model it was estimated from.
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
            return model, EMTrace(np.array(trace), False, f"The next step has no parameters: {error}")
        joint = unlabelled.joint(estimate)
        now, size = _objective(rows, members, joint, weights, estimate, prior_density(estimate, option))
        if not np.isfinite(now) or now < reached - ROUNDING * size:
            return model, EMTrace(
                np.array(trace),
                False,
                f"The next step would lower the log-likelihood by {reached - now:.3g}: with these settings the "
                "estimate does not maximise the likelihood of its statistics. The model before that step is kept.",
            )
        gain = now - reached
        if gain > 0:
            model, reached = option, now
            trace.append(now)
        if gain <= CLOSE * total:
            return model, EMTrace(np.array(trace), True, "Converged: another step gains nothing.")
    return model, EMTrace(np.array(trace), False, f"The log-likelihood still increases after {MOST_STEPS} steps.")


def _objective(
    rows: EMRows, members: Membership, joint: Float, weights: Float, estimate: Estimate, density: float
) -> tuple[float, float]:
    """The objective, and the sum of the absolute values of its terms, which bounds its rounding."""
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
