"""Dependence between columns within a class, and what it does to the probabilities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.learning.fitted import Fitted
from suffice.model.columns import ModelColumn
from suffice.model.correlations import model_correlations
from suffice.numerics.types import Float
from suffice.report.rows import ReportRows
from suffice.report.summary import Correlations, Dependence, Table
from suffice.statistics.correlations import within_class_correlations
from suffice.tables.table import dense_numbers

__all__ = ["dependence_of"]

MOST_COLUMNS = 20  # of a matrix of correlations
MOST_BLOCKS = 30
STRONG = 0.3  # correlation that is worth a sentence
NUMBERS = ("number", "bool", "time", "duration")


def dependence_of(
    fitted: Fitted,
    places: Sequence[ModelColumn],
    rows: ReportRows | None,
    slope: tuple[float, float, float] | None,
) -> Dependence:
    """Blocks, correlations within classes, and the effect on held-out rows; ``places`` are in order of importance."""
    found = None
    if rows is not None and rows.codes is not None:
        found = _of_rows(places, rows)
    if found is None:
        found = _of_model(fitted, places)
    factor, before, after = (None, None, None) if slope is None else slope
    return Dependence(_blocks(fitted), found, factor, before, after, _sentences(fitted, found, slope))


def _blocks(fitted: Fitted) -> Table | None:
    """The blocks of dependent columns."""
    joint = [block for block in fitted.combined.blocks if not block.independent and len(block.names) > 1]
    if not joint:
        return None
    cells = tuple(
        (
            block.member or "–",
            block.family.name.replace("_", " "),
            len(block.names),
            ", ".join(map(str, block.names[:12])),
        )
        for block in joint[:MOST_BLOCKS]
    )
    header = ("member", "family", "columns", "names")
    return Table("Blocks of dependent columns", header, cells, len(joint) - len(cells))


def _of_model(fitted: Fitted, places: Sequence[ModelColumn]) -> Correlations | None:
    """Correlations of the columns that have a covariance in the model, over all classes."""
    names, correlation = model_correlations(fitted.estimate)
    at = {name: j for j, name in enumerate(names)}
    order = [at[place.name] for place in places if place.name in at][:MOST_COLUMNS]
    if len(order) < 2:
        return None
    return _listed(correlation[np.ix_(order, order)], [names[j] for j in order], len(names), "model")


def _of_rows(places: Sequence[ModelColumn], rows: ReportRows) -> Correlations | None:
    """Correlations of the columns of numbers about the class means of the rows."""
    usable = [each for each in places if each.kind in NUMBERS and each.block.family.reads in ("numbers", "cells")]
    chosen = usable[:MOST_COLUMNS]
    if len(chosen) < 2:
        return None
    at = [each.position for each in chosen]
    x = dense_numbers(rows.table, at, [each.name for each in chosen])
    weights = np.ones(len(x)) if rows.weights is None else rows.weights
    assert rows.codes is not None
    matrix = within_class_correlations(x, rows.codes, weights)
    return _listed(matrix, [each.name for each in chosen], len(usable), "rows")


def _listed(matrix: Float, names: Sequence[object], n_columns: int, of: str) -> Correlations:
    cells = tuple(tuple(round(float(value), 3) for value in line) for line in np.nan_to_num(matrix))
    return Correlations(tuple(map(str, names)), cells, of, n_columns - len(names))


def _sentences(fitted: Fitted, found: Correlations | None, slope: tuple[float, float, float] | None) -> tuple[str, ...]:
    out = [] if found is None or len(found.columns) < 2 else [_strongest(found)]
    return tuple(out) if slope is None else (*out, _effect(fitted, found, *slope))


def _strongest(found: Correlations) -> str:
    size = len(found.columns)
    pairs = sorted(((abs(found.matrix[i][j]), i, j) for i in range(size) for j in range(i)), reverse=True)
    strong = [
        f"{found.columns[j]} and {found.columns[i]} ({found.matrix[i][j]:+.2f})"
        for value, i, j in pairs[:3]
        if value >= STRONG
    ]
    if not strong:
        return f"No two of these columns have a correlation above {STRONG} within the classes."
    return f"Strongest correlations within the classes: {'; '.join(strong)}."


def _largest(found: Correlations) -> float:
    """The largest correlation of two columns, without its sign."""
    return max((abs(value) for i, line in enumerate(found.matrix) for value in line[:i]), default=0.0)


def _effect(fitted: Fitted, found: Correlations | None, slope: float, log_loss: float, calibrated: float) -> str:
    """The effect of dependence, and of other causes of too extreme or too cautious probabilities, in sentences."""
    if 0.95 <= slope <= 1.05:
        return "The probabilities of held-out rows are neither too extreme nor too cautious."
    kind = "too extreme" if slope < 1 else "too cautious"
    specification = fitted.specification
    blocks = fitted.estimate.blocks
    naive = sum(len(block.names) if block.independent else 1 for block in blocks if not block.member) > 1
    parts = "Columns" if naive else "Words" if any(block.family.reads == "documents" for block in blocks) else ""
    dependent = parts == "Words" or (found is not None and _largest(found) >= STRONG)
    reason = f"{parts} that depend on each other are counted as separate evidence. " if slope < 1 and dependent else ""
    how = "Calibrated probabilities would have"
    if "calibrate" in specification.parameters():
        how = "Such probabilities have" if specification.calibrates else "With calibrate=True, they would have"
    return (
        f"The probabilities of held-out rows are {kind}: their log-odds should be multiplied by {slope:.2f}. {reason}"
        f"{how} a log-loss of {calibrated:.4g} instead of {log_loss:.4g}."
    )
