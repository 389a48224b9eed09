"""A fitted model as JSON: the formulas by which any program can compute its probabilities.

`docs/export.md` describes the format.
"""

from __future__ import annotations

import json
import math
from dataclasses import fields, replace
from importlib.metadata import version
from typing import Any

import numpy as np

from suffice.families.formula import Formula, LevelLogs, LogShares, Words
from suffice.learning.fitted import Fitted
from suffice.learning.scoring_rule import CalibrationMap, ScoredBlock, ScoredColumn, ScoringRule, plain_level

__all__ = ["json_rule"]

FORMAT, VERSION = "suffice scoring rule", 1


def json_rule(fitted: Fitted) -> str:
    """The scoring rule of a fitted model as JSON; see `GenerativeClassifier.to_json`."""
    rule = ScoringRule.of(fitted)
    document = {
        "format": FORMAT,
        "version": VERSION,
        "library": version("suffice"),
        "estimator": fitted.specification.estimator,
        "classes": [plain_level(label) for label in rule.labels.tolist()],
        "prior": _plain(rule.prior),
        "log_prior": _plain(rule.log_prior),
        "impossible": rule.impossible,
        "columns": [_column(column) for column in rule.columns],
        "blocks": [_block(block) for block in rule.blocks],
        "calibration": None if rule.calibration is None else _calibration(rule.calibration),
    }
    return json.dumps(document, allow_nan=False)


def _column(column: ScoredColumn) -> dict[str, Any]:
    levels = None if column.levels is None else [plain_level(level) for level in column.levels]
    return {
        "name": column.name if isinstance(column.name, str | int) else str(column.name),
        "position": column.position,
        "kind": column.kind,
        "missing": column.missing,
        "levels": levels,
    }


def _block(block: ScoredBlock) -> dict[str, Any]:
    formula: Formula = block.formula
    out: dict[str, Any] = {
        "columns": list(block.positions),
        "member": block.member,
        "domain": formula.domain,
        "outside": "missing" if block.ignores_outside else "error",
        "weights": None if block.weights is None else _plain(block.weights),
    }
    if formula.block is None:
        return {**out, "forms": [_form(form) for form in formula.columns]}
    return {**out, "form": _form(formula.block)}


def _form(form: Any) -> dict[str, Any]:
    """The fields of a form by name; tables of words are logarithms, or numbers of draws."""
    if isinstance(form, Words):
        absent = None if form.absent is None else _table(form, form.absent)
        form = replace(form, table=_table(form, form.table), absent=absent)
    out: dict[str, Any] = {"form": type(form).__name__}
    for field in fields(form):
        value = getattr(form, field.name)
        out[field.name] = _levels(form, value) if field.name == "levels" else _plain(value)
    return out


def _table(form: Words, table: Any) -> Any:
    if not isinstance(table, LogShares):
        return table
    return table.count + table.added if form.kind == "draws" else table.values(form.weight)


def _levels(form: Any, levels: tuple[Any, ...]) -> list[Any]:
    """Levels of one column, or of several, of which some may have none."""
    if isinstance(form, LevelLogs):
        return [plain_level(level) for level in levels]
    return [None if each is None else [plain_level(level) for level in each] for each in levels]


def _calibration(calibration: CalibrationMap) -> dict[str, Any]:
    names = (field.name for field in fields(calibration) if field.name != "by_column")  # for explanations alone
    return {name: _plain(getattr(calibration, name)) for name in names}


def _plain(value: Any) -> Any:
    """A value for JSON; infinite numbers are "Infinity" and "-Infinity", which most languages read as numbers."""
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float) and math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    if isinstance(value, dict | str | int | float | None):
        return value
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}
