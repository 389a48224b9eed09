"""Explanations of predictions: the additive parts of the log-odds of one class against another.

log p(a | x) − log p(b | x) = log p(a)/p(b) + Σ_columns log p(x_j | a)/p(x_j | b)

`explain` chooses the parts by the families of the model: columns, columns of a multivariate Gaussian (see
`suffice.model.gaussian_explanation`), or words of a document (see `suffice.model.word_explanation`). With weights of
columns, each part is multiplied by its weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.bayes import check_possible_rows
from suffice.families import MultivariateGaussian, Text
from suffice.model.block import Block
from suffice.model.estimate import Estimate
from suffice.model.explanation_result import PRIOR, Explanation, check_comparable, compared_classes
from suffice.model.gaussian_explanation import explain_gaussian
from suffice.model.word_explanation import explain_words
from suffice.numerics.types import Float
from suffice.tables import Table
from suffice.tables.part_cells import PartCells

__all__ = ["Explanation", "explain", "explain_columns", "with_cells"]

BLOCK_CELLS = 1 << 22  # of all classes and columns, explained together


def explain(
    estimate: Estimate,
    table: Table,
    label: int | None = None,
    against: int | None = None,
    joint: Float | None = None,
    *,
    absent_words: bool = False,
    weights: Sequence[Float] | None = None,
    shift: Float | None = None,
) -> Explanation:
    """Parts of the log-odds of one class against another, row by row.

    Parameters
    ----------
    estimate : Estimate
    table : Table
    label, against : int, optional
        Positions of the classes to compare. By default the second class against the first if there are two, otherwise
        the most likely class of each row against the next.
    joint : array of shape (n, K), optional
        log p(x, y) of the rows, up to a term that all classes share, if it is not that of the estimate.
    absent_words : bool
        Whether each Bernoulli word that a document does not have is a part of its own.
    weights : sequence of arrays, optional
        Factors of the parts: for each block one of each column, or one of the whole block.
    shift : array of shape (n, K), optional
        Added to log p(y) of each row; it is in the part of the prior.

    Returns
    -------
    Explanation
        With a part for each word if the model has one column of documents, otherwise for each column. Dependent columns
        are one part, except for those of a single multivariate Gaussian block.
    """
    if len(estimate.blocks) == 1:
        family, parameters = estimate.blocks[0].family, estimate.parameters[0]
        if isinstance(family, Text):
            found = explain_words(estimate, family, table, label, against, joint, absent_words=absent_words)
            return _weighted(found, estimate, weights, shift)
        if isinstance(family, MultivariateGaussian) and parameters.freedom is None:
            return _weighted(explain_gaussian(estimate, table, label, against, joint), estimate, weights, shift)
    return explain_columns(estimate, table, label, against, weights, shift)


def with_cells(found: Explanation, blocks: Sequence[Block], table: Table) -> Explanation:
    """The explanation with the cells that its parts come from; one of words has counts instead."""
    if found.counts is not None:
        return found
    n_columns = len(table.kinds)
    at = {name: j for block in blocks for name, j in zip(block.names, block.positions(n_columns), strict=True)}

    def columns(name: Any) -> tuple[int, ...]:
        if name in at:
            return (at[name],)
        return tuple(at[each] for each in name) if isinstance(name, tuple) and set(name) <= set(at) else ()

    return replace(found, cells=PartCells(table.copied(), ((), *map(columns, found.names[1:]))))


def _weighted(
    found: Explanation, estimate: Estimate, weights: Sequence[Float] | None, shift: Float | None
) -> Explanation:
    """The explanation of a model of one block, with the weight of the block."""
    if weights is None:
        return found
    parts = []
    first, second = (estimate.classes.positions(each) for each in (found.labels, found.against))
    rows = np.arange(len(found))
    prior = np.zeros(len(found)) if shift is None else shift[rows, first] - shift[rows, second]
    for own, moved in zip(found.parts, prior.tolist(), strict=True):
        evidence = weights[0] * own[1:] if weights[0].any() else np.zeros(len(own) - 1)
        parts.append(np.append(own[0] + moved, evidence))
    return replace(found, parts=np.array(parts) if isinstance(found.parts, np.ndarray) else parts)


def explain_columns(
    estimate: Estimate,
    table: Table,
    label: int | None = None,
    against: int | None = None,
    weights: Sequence[Float] | None = None,
    shift: Float | None = None,
) -> Explanation:
    """`explain` with a part for each column, or for each block of dependent columns."""
    log_prior = np.broadcast_to(estimate.log_prior, (len(table), len(estimate.classes)))
    if shift is not None:
        log_prior = log_prior + shift
    step = max(1, BLOCK_CELLS // max(len(estimate.classes) * estimate.n_columns, 1))
    starts = range(0, max(len(table), 1), step)
    with np.errstate(over="ignore", invalid="ignore"):
        blocks = [
            _explain_rows(estimate, table.rows(i, i + step), i, label, against, weights, log_prior[i : i + step])
            for i in starts
        ]
    if len(blocks) == 1:
        return blocks[0]
    return Explanation(
        blocks[0].names,
        np.vstack([each.parts for each in blocks]),
        np.concatenate([each.labels for each in blocks]),
        np.concatenate([each.against for each in blocks]),
    )


def _explain_rows(
    estimate: Estimate,
    table: Table,
    first_row: int,
    label: int | None,
    against: int | None,
    weights: Sequence[Float] | None,
    log_prior: Float,
) -> Explanation:
    """Parts of some rows; ``first_row`` is the number of the first, for messages."""
    terms = estimate.terms(table, weights=weights)
    n, k = len(table), len(estimate.classes)
    parts = np.empty((n, k, 1 + len(terms)))
    parts[:, :, 0] = log_prior
    for j, (_, part) in enumerate(terms):
        parts[:, :, 1 + j] = part
    joint = parts.sum(axis=2)
    check_possible_rows(joint, first_row)
    first, second = compared_classes(joint, label, against)
    check_comparable(joint, first, second, first_row)
    rows = np.arange(n)
    chosen = parts[rows, first] - parts[rows, second]
    chosen = np.where(np.isnan(chosen), 0.0, chosen)  # impossible under both classes, so it does not separate them
    labels = estimate.classes.labels
    return Explanation([PRIOR, *(name for name, _ in terms)], chosen, labels[first], labels[second])
