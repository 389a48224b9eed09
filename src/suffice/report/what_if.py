"""Inputs of the what-if form: one for each column, with a range or levels to choose from, and a typical value."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from suffice.learning.fitted import Fitted
from suffice.model.columns import ModelColumn
from suffice.model.marginals import Marginal
from suffice.numerics.types import Float
from suffice.report.rows import ReportRows
from suffice.report.scoring import encoded_array, scoring_payload
from suffice.report.summary import Field, WhatIf
from suffice.tables.table import dense_numbers

__all__ = ["field_of", "what_if_of"]

MOST_BYTES = 220_000  # of the parameters in a page
DAY = 86_400
UNITS = {"time": "UTC", "duration": "seconds"}
TAIL = 0.005  # share of the rows on each side that may be far from the others


def what_if_of(
    fitted: Fitted,
    places: Sequence[ModelColumn],
    shown: Mapping[ModelColumn, Marginal | str],
    rows: ReportRows | None,
) -> WhatIf:
    """The what-if form of a model with inputs for the shown columns, or the reason why it has none.

    ``places`` are all columns of the model. Those without an input are missing in the rows of the form.
    """
    parameters = scoring_payload(fitted, most_bytes=MOST_BYTES * (20 if len(shown) < len(places) else 1))
    if "reason" in parameters:
        return WhatIf(reason=parameters["reason"])
    column_of = dict(zip((each.position for each in places), parameters["columns"], strict=True))
    thresholds = _thresholds(parameters, places)
    hidden = [column_of[each.position] for each in places if each not in shown]
    if not all(column["missing"] for column in hidden):
        return WhatIf(reason="The model has more columns than the page shows, and their cells may not be missing.")
    if hidden:
        parameters = _without_columns(fitted, parameters, [i for i, each in enumerate(places) if each not in shown])
        size = len(json.dumps(parameters))
        if size > MOST_BYTES:
            return WhatIf(reason=f"The parameters of the model are too large for a page: {size / 1e6:.1f} MB.")
    fields = tuple(
        field_of(fitted, each, found, column_of[each.position], rows, thresholds.get(each.position))
        for each, found in shown.items()
    )
    return WhatIf(fields, len(hidden), parameters)


def _thresholds(parameters: Mapping[str, Any], places: Sequence[ModelColumn]) -> dict[int, float]:
    """Thresholds of columns that the model reads as yes or no, by the positions of the columns."""
    return {
        places[at].position: float(form["above"])
        for block in parameters["blocks"]
        if block.get("by_column")
        for at, form in zip(block["columns"], block["forms"], strict=True)
        if form.get("above") is not None
    }


def _without_columns(fitted: Fitted, parameters: Mapping[str, Any], hidden: Sequence[int]) -> dict[str, Any]:
    """The parameters without columns that are missing in every row of the form.

    Only columns of independent blocks whose missing cells add nothing can be left out.
    """
    away, blocks = set(hidden), []
    for b, block in enumerate(parameters["blocks"]):
        if not block.get("by_column"):
            away.difference_update(block["columns"])
            blocks.append((block, True))
            continue
        kept = [
            j
            for j, (at, form) in enumerate(zip(block["columns"], block["forms"], strict=True))
            if at not in away or "missing" in form
        ]
        away.difference_update(block["columns"][j] for j in kept)
        part = block | {key: [block[key][j] for j in kept] for key in ("columns", "forms")}
        weights = None if fitted.weighted is None else fitted.weighted.of_blocks[b]
        if weights is not None and len(weights) > 1:
            part["weights"] = encoded_array(weights[kept])
        blocks.append((part, bool(kept)))
    place: dict[int, int] = {}
    for i in range(len(parameters["columns"])):
        if i not in away:
            place[i] = len(place)
    return dict(parameters) | {
        "columns": [parameters["columns"][i] for i in place],
        "blocks": [part | {"columns": [place[i] for i in part["columns"]]} for part, used in blocks if used],
    }


def field_of(
    fitted: Fitted,
    place: ModelColumn,
    known: Marginal | str,
    column: Mapping[str, Any],
    rows: ReportRows | None,
    threshold: float | None,
) -> Field:
    """The input of a column, from what the model knows of it, and from rows if there are any.

    Parameters
    ----------
    fitted : Fitted
    place : ModelColumn
    known : Marginal or str
        Its distribution, or why there is none.
    column : mapping
        With its ``name``, its ``kind``, whether a cell may be ``missing``, and its ``levels``.
    rows : ReportRows, optional
    threshold : float, optional
        Above which a number counts as yes.
    """
    name, kind, may_be_missing = column["name"], column["kind"], column["missing"]
    if kind == "text":
        return Field(name, "text", start="", may_be_missing=may_be_missing)
    found = None if isinstance(known, str) else known
    if kind in ("levels", "yes_no"):
        n_levels = len(column.get("levels", ())) if kind == "levels" else 2
        return Field(name, kind, n_levels=n_levels, start=_likeliest(found, n_levels), may_be_missing=may_be_missing)
    if threshold is not None:
        above = threshold + max(abs(threshold), 1.0)
        return Field(name, "above", threshold, above, 2, _likeliest(found, 2), may_be_missing)
    low, high, start = _range(fitted, place, found, rows)
    shape = "time" if kind == "time" else "count" if found is not None and found.kind == "counts" else "number"
    return Field(name, shape, low, high, 0, start, may_be_missing, UNITS.get(kind, ""))  # type: ignore[arg-type]


def _likeliest(found: Marginal | None, n_levels: int) -> int | None:
    """Position of the most probable level; None if there are no levels."""
    if found is None or found.kind != "levels" or not n_levels:
        return 0 if n_levels else None
    share = found.prior @ np.nan_to_num(found.density)
    return int(np.argmax(share[:n_levels])) if len(share) else None


def _range(
    fitted: Fitted, place: ModelColumn, found: Marginal | None, rows: ReportRows | None
) -> tuple[float, float, float]:
    """The ends of a slider and its first value: of the rows, or of the mass of the model."""
    seen = _numbers(place, rows)
    if len(seen):
        low, high = np.quantile(seen, [TAIL, 1 - TAIL])
        width = high - low
        low, high = max(float(seen.min()), low - width), min(float(seen.max()), high + width)  # without far outliers
        if found is not None and found.kind == "counts":
            return float(np.floor(low)), float(np.ceil(high)), float(round(np.median(seen)))
        return float(low), float(high), _rounded(float(np.median(seen)), float(low), float(high), place)
    if found is None or found.kind == "levels":
        cuts = place.block.family.level_cuts(fitted.estimate.parameters[place.number], place.j)
        ends = np.asarray(cuts if cuts is not None and len(cuts) else [0.0, 1.0], dtype=np.float64)
        margin = float(np.ptp(ends)) / 4 or max(abs(float(ends[0])) / 4, 1.0)
        low, high = float(ends[0]) - margin, float(ends[-1]) + margin
        return low, high, _rounded((low + high) / 2, low, high, place)
    values = np.asarray(found.values, dtype=np.float64)
    low, high, middle = float(values[0]), float(values[-1]), _mean(values, found)
    return low, high, float(round(middle)) if found.kind == "counts" else _rounded(middle, low, high, place)


def _mean(values: Float, found: Marginal) -> float:
    """The mean of a column over all classes, from its density at evenly spaced values."""
    density = np.where(np.isfinite(found.density), found.density, 0.0)
    mass = density.sum(axis=1)
    share = found.prior * (mass > 0)
    if not share.sum() > 0:
        return float(values.mean())
    mean = density @ values / np.where(mass > 0, mass, 1.0)
    return float(share @ mean / share.sum())


def _numbers(place: ModelColumn, rows: ReportRows | None) -> Float:
    """The finite numbers of a column of the rows; empty without rows."""
    if rows is None:
        return np.empty(0)
    column = dense_numbers(rows.table, [place.position], [place.name])[:, 0]
    return np.asarray(column[np.isfinite(column)])


def _rounded(value: float, low: float, high: float, place: ModelColumn) -> float:
    """A value to a hundredth or so of its range, and within it; a whole day for a point in time."""
    span = high - low
    if not (math.isfinite(span) and span > 0):
        return value
    if place.kind == "time":
        unit = float(DAY if span >= 4 * DAY else 1)
        found = round(value / unit) * unit
    else:
        found = round(value, min(max(2 - math.floor(math.log10(span)), -300), 300))
    return float(min(max(found, low), high))
