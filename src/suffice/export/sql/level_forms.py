"""Scores of levels as SQL: a CASE for a few levels, and a joined table for many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suffice.export.sql.cells import FEW, Cells
from suffice.export.sql.expressions import Name, Operand, at_least, both, call, equal, is_missing, is_present
from suffice.export.sql.query import Query
from suffice.export.sql.searches import by_code, search
from suffice.families.formula import LevelLogs
from suffice.numerics.types import Float

__all__ = ["scores_of_categories", "scores_of_levels"]


def scores_of_levels(form: LevelLogs, cells: Cells, at: int) -> list[Operand]:
    """The score of a cell of a column of levels in each class."""
    engine = cells.query.engine
    unseen = form.missing if form.unseen is None else form.unseen
    if len(form.levels) > FEW:
        return _from_table(form, unseen, cells, at)
    code = cells.code(at, form.levels)
    if form.unseen is None and form.levels:
        cells.invalid.append(equal(code, -1))
    out: list[Operand] = []
    for missing, other, own in zip(form.missing.tolist(), unseen.tolist(), form.table.T, strict=True):
        every = [other, *own.tolist()]
        known = by_code(engine, code, every, first=-1)
        if isinstance(known, float) and known == missing:
            out.append(known)
        else:
            out.append(engine.choice([(is_missing(code), missing)], known))
    return out


def _from_table(form: LevelLogs, unseen: Float, cells: Cells, at: int) -> list[Operand]:
    query, engine = cells.query, cells.query.engine
    cell = cells.level(at, form.levels)
    names = [f"score_{k}" for k in range(form.table.shape[1])]
    rows = [[level, *map(engine.double, form.table[i].tolist())] for i, level in cell.levels]
    table = query.values(f"levels_{at}", ("level", *names), rows)
    level, *scores = table.columns
    query.join(table, {level: cell.value})
    if form.unseen is None:
        cells.invalid.append(both(is_missing(level), is_present(cell.value)))
    return [
        engine.choice([(is_present(level), score), (cell.missing, missing)], other)
        for score, missing, other in zip(scores, form.missing.tolist(), unseen.tolist(), strict=True)
    ]


def scores_of_categories(form: LevelLogs, query: Query, x: Name) -> list[Operand]:
    """The score of a number of a category, whose fraction is cut off; categories from ``size`` on count as missing."""
    engine = query.engine
    assert form.size is not None
    assert form.unseen is not None
    number = query.let(call("FLOOR", x), "category")
    outside = at_least(number, float(form.size))
    out: list[Operand] = []
    for missing, other, own in zip(form.missing.tolist(), form.unseen.tolist(), form.table.T.tolist(), strict=True):
        known = _category(form.levels, own, other, number, query)
        out.append(engine.choice([(is_missing(number), missing), (outside, missing)], known))
    return out


def _category(levels: Sequence[Any], scores: Sequence[float], other: float, number: Name, query: Query) -> Operand:
    """The score of a whole number: that of a level, or the score of others."""
    bounds, leaves, last = list[float](), list[Operand](), -1
    for level, score in zip(levels, scores, strict=True):
        if level > last + 1:
            bounds.append(float(level - 1))
            leaves.append(other)
        bounds.append(float(level))
        leaves.append(score)
        last = level
    return search(query.engine, number, bounds, [*leaves, other])
