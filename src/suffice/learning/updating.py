"""Change what was learned without learning new rows: merge, remove, another class prior."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from suffice import bayes
from suffice.exceptions import MergeError, listed
from suffice.learning.fitted import Fitted
from suffice.learning.fitting import no_rows, summarize, unknown_labels
from suffice.learning.prediction import joint
from suffice.learning.prior_shift import Shares, estimate_shares, shift_test
from suffice.learning.specification import Specification
from suffice.learning.training_rows import Expected, TrainingRows
from suffice.model import Model
from suffice.model.merge_tree import MergeTree
from suffice.numerics.types import Float
from suffice.statistics import ClassAxis
from suffice.tables import Table

__all__ = ["MergedModels", "PriorShift", "merge", "prior_shift", "remove", "with_prior"]


def merge(mine: Fitted | None, specification: Specification, theirs: Fitted) -> Fitted:
    """The fitted model of the rows of both, with the given specification; ``mine`` may have learned nothing yet."""
    for each in (mine, theirs):
        if each is not None:
            each.check_has_rows("merge")
    specification.check_verb("merge", mine)
    theirs.specification.check_verb("merge", theirs)
    if mine is None:
        # New blocks have the given settings.
        taken = replace(theirs, specification=specification, trace=None, report=None, settled=False)
        zero = Model.zero(specification.blocks_of(taken.layout.schema, taken.tuning), theirs.classes)
        return replace(taken, model=zero.merge(theirs.model), prior=None)
    specification.check_merge(mine, theirs)
    declared = mine.declared
    if theirs.declared is not None:
        declared = theirs.declared if declared is None else declared.union(theirs.declared)
    merged = mine.model.merge(theirs.model)
    out = mine.with_specification(specification).updated(merged, mine.layout.with_cells_of(theirs.layout), declared)
    return out.with_parts(target=theirs.target) if out.target is None and theirs.target is not None else out


class MergedModels(MergeTree[Fitted]):
    """Fitted models that are merged in a tree, with the settings of the first."""

    def __init__(self) -> None:
        super().__init__(lambda a, b: merge(a, a.specification, b))


def remove(fitted: Fitted, rows: TrainingRows) -> Fitted:
    """The fitted model without these rows, as if it had never seen them."""
    specification, model, known = fitted.specification, fitted.model, fitted.classes
    fitted.check_has_rows("remove")
    specification.check_verb("remove", fitted)

    def check(n_rows: int, axis: ClassAxis, n_columns: int) -> None:
        others = unknown_labels(known, axis)
        if others:
            raise MergeError(
                f"Rows of class {listed(others)} cannot be removed: the model has none. Its classes are "
                f"{listed(known.labels.tolist())}.{rows.label_origin}"
            )

    found = summarize(rows, Expected(specification, fitted, known, removes=True, check=check))
    if found is None:
        raise no_rows(rows)
    removed = rows.present(found[0], None, weightless=False)
    left = model.subtract(removed)
    stays = (left.weights.weight > 0) | (model.weights.weight == 0)
    if fitted.declared is not None:
        stays |= fitted.declared.positions(left.classes.labels) >= 0
    stays |= specification.has_given_prior()  # the prior names every class
    return fitted.with_model(left.taking(stays))


def with_prior(fitted: Fitted, prior: object) -> Fitted:
    """The fitted model with another class prior; p(x | y) stays the same."""
    specification = fitted.specification
    specification.check_density("with_prior")
    shares = fitted.model.class_prior(prior)  # type: ignore[arg-type]
    if not isinstance(prior, str):
        prior = dict(zip(fitted.classes.labels.tolist(), shares.tolist(), strict=True))
    return specification.fitted_with_prior(fitted, prior, shares)


@dataclass(frozen=True, eq=False)
class PriorShift:
    """The class prior of unlabelled rows, compared with that of the model."""

    fitted: Fitted
    shares: Shares
    trained: Float
    statistic: float
    p_value: float
    log_likelihood: float


def prior_shift(fitted: Fitted, table: Table) -> PriorShift:
    """Estimate the class prior of unlabelled rows (Saerens et al. 2002)."""
    counts, trained = fitted.model.weights.weight, fitted.estimate.prior
    trained = trained / trained.sum()
    if fitted.without_rows:
        counts = np.full(len(counts), 1e15)  # given densities are exact
    ratios = log_ratios(fitted, table)
    shares = estimate_shares(ratios, trained, counts)
    statistic, p_value = shift_test(ratios, shares, trained, counts)
    equal = len(ratios) * float(np.log(len(trained)))  # the ratios are posteriors under a uniform prior
    adapted = with_prior(fitted, shares.shares)
    return PriorShift(adapted, shares, trained, statistic, p_value, shares.log_likelihood + equal)


def log_ratios(fitted: Fitted, table: Table) -> Float:
    """log p(x | y) of each row and class (n, K), up to a term that all classes share."""
    uniform = with_prior(fitted, "uniform")
    scores = joint(uniform, table).astype(np.float64, copy=False)
    return bayes.log_posterior(uniform.calibrated(scores, uniform.classes))
