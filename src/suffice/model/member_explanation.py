"""Explanations of several models of the same columns: a part of the log-odds for each model and column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.families import AveragedDependence
from suffice.families.multivariate_gaussian import MultivariateGaussianParameters
from suffice.model.estimate import Estimate
from suffice.model.explanation_result import PRIOR, Explanation, check_comparable, compared_classes
from suffice.model.gaussian_explanation import SPREAD, gaussian_parts
from suffice.model.pair_explanation import pair_parts
from suffice.numerics.types import Float, Index
from suffice.tables import Table
from suffice.tables.table import is_sparse

__all__ = ["explain_members"]

FIRST = "naive bayes"  # the name of the blocks that belong to no further model


def explain_members(
    estimate: Estimate,
    table: Table,
    label: int | None,
    against: int | None,
    joint: Float,
    weights: Sequence[Float],
    shift: Float,
    *,
    pairs: bool = False,
) -> Explanation:
    """Parts of the log-odds of one class against another, row by row, for each model and column.

    Parameters
    ----------
    estimate : Estimate
        Whose blocks belong to several models.
    joint : array of shape (n, K)
        Scores of the rows, which choose the classes to compare.
    weights : sequence of arrays
        Factors of the parts: for each block one of each column, or one of the whole block.
    shift : array of shape (n, K)
        Added to log p(y) of each row; it is in the part of the prior.
    pairs : bool, default=False
        Whether pairs of columns are parts of averaged dependence, beside single columns.
    """
    first, second = compared_classes(joint, label, against)
    check_comparable(joint, first, second)
    log_prior = estimate.log_prior + shift
    names: list[object] = [PRIOR]
    members = [""]
    rows = np.arange(len(joint))
    parts = [(log_prior[rows, first] - log_prior[rows, second])[:, None]]
    for b, block in enumerate(estimate.blocks):
        of_pairs = pairs and isinstance(block.family, AveragedDependence)
        own_names, own = (pair_parts if of_pairs else _block_parts)(estimate, b, table, first, second)
        weight = weights[b] if block.by_column else weights[b][:1]
        own = np.where(weight > 0, own, 0.0) * weight
        names += own_names
        members += [block.member or FIRST] * len(own_names)
        parts.append(np.where(np.isnan(own), 0.0, own))  # impossible under both classes
    labels = estimate.classes.labels
    return Explanation(names, np.hstack(parts), labels[first], labels[second], members=members)


def _block_parts(estimate: Estimate, b: int, table: Table, first: Index, second: Index) -> tuple[list[object], Float]:
    """Names and parts (n, m) of one block, before its weight."""
    block, parameters = estimate.blocks[b], estimate.parameters[b]
    rows = estimate.rows_of(block, parameters, table)
    if isinstance(parameters, MultivariateGaussianParameters) and parameters.freedom is None:
        dense = np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)
        own = gaussian_parts(parameters, dense, first, second)
        return [*block.names, SPREAD][: own.shape[1]], own
    terms, names = block.family.terms(parameters, rows), list(block.names)
    if terms is None:
        terms, names = block.family.relative_log_likelihood(parameters, rows)[:, :, None], [tuple(block.names)]
    at = np.arange(len(terms))
    with np.errstate(invalid="ignore"):
        return names, terms[at, first] - terms[at, second]
