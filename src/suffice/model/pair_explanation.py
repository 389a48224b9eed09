"""Explanations with a part for each pair of columns: for a model of one block of averaged dependence."""

from __future__ import annotations

import numpy as np

from suffice.families import AveragedDependence
from suffice.model.estimate import Estimate
from suffice.model.explanation_result import PRIOR, Explanation, check_comparable, compared_classes
from suffice.numerics.types import Float
from suffice.tables import Table

__all__ = ["explain_pairs"]

BLOCK_CELLS = 1 << 22  # of all classes and parts, explained together


def explain_pairs(
    estimate: Estimate, table: Table, label: int | None = None, against: int | None = None
) -> Explanation:
    """Parts of the log-odds of one class against another: of the prior, of each column, and of each pair of columns.

    See `suffice.families.AveragedDependence.pair_terms`.
    """
    (block,), (parameters,) = estimate.blocks, estimate.parameters
    family = block.family
    assert isinstance(family, AveragedDependence)
    n_parts = len(block.names) * (1 + len(block.names)) // 2
    step = max(1, BLOCK_CELLS // max(1, len(estimate.classes) * n_parts))
    names: list[object] = []
    parts: list[Float] = []
    labels, others = [], []
    for start in range(0, max(len(table), 1), step):
        columns, terms = family.pair_terms(
            parameters, estimate.rows_of(block, parameters, table.rows(start, min(len(table), start + step)))
        )
        names = [block.names[at[0]] if len(at) == 1 else tuple(block.names[j] for j in at) for at in columns]
        joint = estimate.log_prior + terms.sum(axis=2)
        first, second = compared_classes(joint, label, against)
        check_comparable(joint, first, second, start)
        rows = np.arange(len(terms))
        prior = (estimate.log_prior[first] - estimate.log_prior[second])[:, None]
        parts.append(np.hstack([prior, terms[rows, first] - terms[rows, second]]))
        labels.append(estimate.classes.labels[first])
        others.append(estimate.classes.labels[second])
    return Explanation([PRIOR, *names], np.vstack(parts), np.concatenate(labels), np.concatenate(others))
