"""Scores of a block of columns."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice.export.onnx.gaussian_block import gaussian_scores, line_scores
from suffice.export.onnx.graph import Graph, Value
from suffice.export.onnx.inputs import Inputs
from suffice.export.onnx.levels import add_levels, add_numbered_levels
from suffice.export.onnx.number_columns import NumberColumn, add_number_columns
from suffice.export.onnx.operations import (
    absolute,
    floor,
    is_nan,
    log_rise,
    logical_any,
    select,
    summed,
    tall,
    where,
)
from suffice.export.onnx.scores import Scores
from suffice.export.onnx.table_blocks import cell_scores, pair_scores
from suffice.export.onnx.words import word_scores
from suffice.families.formula import (
    CentredLines,
    CountDraws,
    Domain,
    GaussianBlock,
    JointCells,
    LevelLogs,
    PairTables,
    Words,
)
from suffice.learning.scoring_rule import EXACT_WHOLE, ScoredBlock

__all__ = ["BlockResult", "block_result"]


class BlockResult(NamedTuple):
    """Scores of a block (n, K), or None if all are 0; and masks of rows (n, 1) with a cell that is an error."""

    scores: Value | None
    errors: list[Value]


def block_result(inputs: Inputs, block: ScoredBlock) -> BlockResult:
    """Scores of a block, with the weights of its columns."""
    weights = np.ones(1) if block.weights is None else block.weights
    if not weights.any():
        return BlockResult(None, [])  # its cells are not read
    if block.formula.block is None:
        return _of_columns(inputs, block, np.broadcast_to(weights, len(block.formula.columns)))
    scores, errors = _of_block(inputs, block)
    return BlockResult(scores if scores is None or weights[0] == 1 else scores * float(weights[0]), errors)


def _of_columns(inputs: Inputs, block: ScoredBlock, weights: np.ndarray) -> BlockResult:
    """Scores of columns with a form each."""
    scores, errors = Scores(inputs.graph), list[Value]()
    forms, width = block.formula.columns, len(block.formula.columns)
    used = [j for j in range(width) if weights[j] > 0]
    levels = [j for j in used if isinstance(forms[j], LevelLogs)]
    if block.formula.domain == "any":
        for j in levels:
            form = forms[j]
            assert isinstance(form, LevelLogs)
            wrong = add_levels(scores, inputs, block.positions[j], form, float(weights[j]))
            errors += [] if wrong is None else [wrong]
        return BlockResult(scores.total(), errors)
    x, errors = _numbers(inputs, block)
    for j in levels:
        form = forms[j]
        assert isinstance(form, LevelLogs)
        number = select(x, [j], width)
        errors.append(number >= float(EXACT_WHOLE))
        add_numbered_levels(scores, number, form, float(weights[j]))
    columns = [NumberColumn(j, forms[j], float(weights[j])) for j in used if j not in levels]
    add_number_columns(scores, x, width, columns)
    return BlockResult(scores.total(), errors)


def _of_block(inputs: Inputs, block: ScoredBlock) -> BlockResult:
    """Scores of a block of dependent columns, or of a text."""
    form, positions = block.formula.block, block.positions
    if isinstance(form, JointCells):
        scores, wrong = cell_scores(inputs, positions, form)
        return BlockResult(scores, [] if wrong is None else [wrong])
    if isinstance(form, PairTables):
        return BlockResult(*pair_scores(inputs, positions, form))
    if isinstance(form, Words):
        return BlockResult(word_scores(inputs, positions[0], form), [])
    x, errors = _numbers(inputs, block)
    if isinstance(form, CountDraws):
        return BlockResult(_count_draws(x, form), errors)
    if isinstance(form, CentredLines):
        return BlockResult(line_scores(x, form), errors)
    assert isinstance(form, GaussianBlock)
    return BlockResult(gaussian_scores(x, form, missing=block.formula.missing), errors)


def _count_draws(x: Value, form: CountDraws) -> Value:
    """The Dirichlet-multinomial distribution."""
    draws = form.draws.T
    about = np.where(draws > 0, draws, 1.0)[:, :1]
    size = form.draws.sum(axis=1)
    rises = summed(log_rise(draws, tall(x, 2), about), 1)
    return rises - log_rise(size, summed(x, 1, keep=True), size[:1])


# ---------------------------------------------------------------------- cells of numbers


def _numbers(inputs: Inputs, block: ScoredBlock) -> tuple[Value, list[Value]]:
    """The columns of a block of numbers (n, d), with NaN for missing cells, and the rows with an error."""
    x, formula = inputs.numbers(block.positions), block.formula
    missing = is_nan(x)
    errors = [logical_any(_is_infinite(x), 1)]
    outside = _outside(inputs.graph, x, formula.domain)
    if outside is not None and block.ignores_outside:
        x = where(outside, np.nan, x)
    elif outside is not None:
        errors.append(logical_any(outside & ~missing, 1))
    if not formula.missing:
        errors.append(logical_any(missing, 1))
    return x, errors


def _is_infinite(x: Value) -> Value:
    return absolute(x).equals(np.inf)


def _outside(graph: Graph, x: Value, domain: Domain) -> Value | None:
    """Where a number is not in a domain; None if all are."""
    if domain == "yes_no":
        return ~(x.equals(0.0) | x.equals(1.0))
    if domain == "count":
        return (x < 0.0) | ~floor(x).equals(x)
    if domain == "not_negative":
        return x < 0.0
    return x <= 0.0 if domain == "positive" else None
