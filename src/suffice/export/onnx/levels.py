"""Levels of columns as whole numbers, and the scores of columns that have a number for each level."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np

from suffice.export.onnx.graph import Value
from suffice.export.onnx.inputs import Inputs, check_unicode, level_text
from suffice.export.onnx.operations import count_below, floor, is_nan, squeezed, taken, where
from suffice.export.onnx.scores import Scores
from suffice.families.formula import LevelLogs
from suffice.numerics.types import Float

__all__ = ["add_levels", "add_numbered_levels", "level_codes"]


def level_codes(inputs: Inputs, position: int, levels: Sequence[Hashable]) -> Value:
    """The place of the level of each cell of a column (n, 1): L for a missing cell, and L + 1 for any other level."""
    cell = inputs.cell(position)
    if position not in inputs.texts:
        return _codes_of_numbers(cell, np.array([float(level) for level in levels]))  # type: ignore[arg-type]
    names = [level_text(level) for level in levels]
    for name in names:
        check_unicode(name, f"A level of the column at position {position}")
    return inputs.graph.op(
        "LabelEncoder",
        cell,
        kind="whole",
        domain="ai.onnx.ml",
        keys_strings=[*names, inputs.missing],
        values_int64s=list(range(len(names) + 1)),
        default_int64=len(names) + 1,
    )


def _codes_of_numbers(cell: Value, levels: Float) -> Value:
    """The same for numbers, whose levels may be in any order."""
    order, size = np.argsort(levels), len(levels)
    missing = is_nan(cell)
    if not size:
        return where(missing, size, size + 1, "whole")
    at = count_below(cell, [levels[order][1:]], including=True)
    found = taken(cell.graph, levels[order], at).equals(cell)
    places = taken(cell.graph, order, at, kind="whole")
    return where(missing, size, where(found, places, size + 1, "whole"), "whole")


def _score(scores: Scores, codes: Value, form: LevelLogs, weight: float) -> Value | None:
    """Add the scores of codes, and return where a level is an error (n, 1)."""
    unseen = form.missing if form.unseen is None else form.unseen
    table = np.vstack([form.table.reshape(-1, len(form.missing)), form.missing, unseen])
    if table.any():
        scores.add(taken(codes.graph, table * weight, squeezed(codes, 1)))
    return codes.equals(len(form.levels) + 1) if form.unseen is None and form.levels else None


def add_levels(scores: Scores, inputs: Inputs, position: int, form: LevelLogs, weight: float) -> Value | None:
    """Add the scores of a column of levels, and return where its level is an error (n, 1); None if it never is."""
    return _score(scores, level_codes(inputs, position, form.levels), form, weight)


def add_numbered_levels(scores: Scores, x: Value, form: LevelLogs, weight: float) -> None:
    """Add the scores of a column of whole numbers x (n, 1): fractions are cut off, and large numbers are missing."""
    assert form.size is not None
    cut = floor(x)  # of numbers from 0 on
    codes = _codes_of_numbers(cut, np.array([float(level) for level in form.levels]))  # type: ignore[arg-type]
    _score(scores, where(cut >= float(form.size), len(form.levels), codes, "whole"), form, weight)
