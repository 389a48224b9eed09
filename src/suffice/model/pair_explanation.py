"""Explanations of averaged dependence with a part for each pair of columns."""

from __future__ import annotations

import numpy as np

from suffice.families import AveragedDependence
from suffice.model.estimate import Estimate
from suffice.model.explanation_result import PRIOR, Explanation, check_comparable, compared_classes
from suffice.numerics.types import Float, Index
from suffice.tables import Table

__all__ = ["explain_pairs", "pair_parts"]

BLOCK_CELLS = 1 << 22  # of all classes and parts, explained together


def explain_pairs(
    estimate: Estimate, table: Table, label: int | None = None, against: int | None = None
) -> Explanation:
    """Parts of the log-odds of one class against another: of the prior, of each column, and of each pair of columns.

    The model has one block, of averaged dependence.
    """
    joint = estimate.relative_joint(table)
    first, second = compared_classes(joint, label, against)
    check_comparable(joint, first, second)
    names, parts = pair_parts(estimate, 0, table, first, second)
    prior = (estimate.log_prior[first] - estimate.log_prior[second])[:, None]
    labels = estimate.classes.labels
    return Explanation([PRIOR, *names], np.hstack([prior, parts]), labels[first], labels[second])


def pair_parts(estimate: Estimate, b: int, table: Table, first: Index, second: Index) -> tuple[list[object], Float]:
    """Names and parts (n, m) of the columns and pairs of columns of block ``b``, which is one of averaged dependence.

    See `suffice.families.AveragedDependence.pair_terms`.
    """
    block, parameters = estimate.blocks[b], estimate.parameters[b]
    family = block.family
    assert isinstance(family, AveragedDependence)
    n_parts = len(block.names) * (1 + len(block.names)) // 2
    step = max(1, BLOCK_CELLS // max(1, len(estimate.classes) * n_parts))
    names: list[object] = []
    parts: list[Float] = []
    for start in range(0, max(len(table), 1), step):
        stop = min(len(table), start + step)
        columns, terms = family.pair_terms(parameters, estimate.rows_of(block, parameters, table.rows(start, stop)))
        names = [block.names[at[0]] if len(at) == 1 else tuple(block.names[j] for j in at) for at in columns]
        rows = np.arange(len(terms))
        parts.append(terms[rows, first[start:stop]] - terms[rows, second[start:stop]])
    return names, np.vstack(parts)
