"""Columns of a report: densities, parameters, missing and unseen cells, information about the class."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from suffice.exceptions import InputError, SufficeError
from suffice.formats import shortened
from suffice.learning.fitted import Fitted
from suffice.learning.information import N_SAMPLES, mutual_information
from suffice.model.columns import ModelColumn
from suffice.model.marginals import Marginal, marginal
from suffice.model.parameter_tables import parameter_table
from suffice.numerics.types import Float
from suffice.report.rows import ReportRows
from suffice.report.summary import Cell, ColumnSummary, Curves, Table
from suffice.tables.listing import Listing
from suffice.tables.table import dense_numbers
from suffice.tables.times import time_text

__all__ = [
    "cell",
    "information",
    "marginals_of",
    "summarize_column",
    "table_of",
]

N_VALUES, FEWEST_VALUES = 81, 41  # of a density that is drawn
MOST_POINTS = 25_000  # of all densities
MOST_LEVELS = 12  # of a picture, and of a table of parameters
CELLS_OF_DRAWS = 8_000_000  # cells that may be drawn to estimate information
LONGEST = 400  # characters of a cell
ROUNDING = 1e-9  # bits
UNITS = {"time": "UTC, deviations in seconds", "duration": "seconds"}
EMPTY = "(empty)"  # the level of an empty text


def information(fitted: Fitted, n_samples: int = N_SAMPLES) -> dict[object, tuple[float, float, bool]]:
    """Bits of each column about the class, their error, and whether they are those of its whole block.

    Empty for a model without a density, or of one class.
    """
    n_columns = max(len(fitted.layout.schema), 1)
    try:
        found = mutual_information(fitted, max(min(n_samples, CELLS_OF_DRAWS // n_columns), 200))
    except SufficeError:
        return {}
    bits = [each.bits if each.bits > ROUNDING else 0.0 for each in found]
    return {
        name: (known, each.error, len(each.columns) > 1)
        for known, each in zip(bits, found, strict=True)
        for name in each.columns
    }


def marginals_of(fitted: Fitted, places: Sequence[ModelColumn], n_classes: int) -> list[Marginal | str]:
    """p(x_j | y) of each column, or the sentence that says why there is none.

    Densities of many columns and classes have fewer values, so that a page stays small.
    """
    n_values = min(max(MOST_POINTS // max(len(places) * n_classes, 1), FEWEST_VALUES), N_VALUES)
    draws: dict[int, Float] = {}
    out: list[Marginal | str] = []
    for place in places:
        try:
            out.append(marginal(fitted.estimate, fitted.layout.schema, place.name, n_values=n_values, draws=draws))
        except InputError as error:
            out.append(str(error))
    return out


def summarize_column(
    fitted: Fitted,
    place: ModelColumn,
    found: Marginal | str,
    shown: Sequence[int],
    bits: tuple[float, float, bool] | None,
    rows: ReportRows | None,
) -> ColumnSummary:
    """Summarise one column; ``shown`` are the positions of the classes in plots."""
    curves, note = (None, found) if isinstance(found, str) else (_curves(found, shown), "")
    if place.block.family.reads == "documents":
        note = "The strongest words of each class are listed below."
    weighted = fitted.weighted
    weights = None if weighted is None else weighted.of_blocks[place.number].tolist()
    value, error, with_block = (None, None, False) if bits is None else bits
    missing, unseen, missing_of = _cells_without_value(fitted, place, rows)
    return ColumnSummary(
        name=str(place.name),
        kind=place.kind,
        family=place.block.family.name,
        block=place.number if place.is_joint else None,
        weight=None if weights is None else weights[min(place.j, len(weights) - 1)],
        bits=value,
        bits_error=error,
        with_block=with_block,
        missing=missing,
        unseen=unseen,
        missing_of=missing_of,
        parameters=_parameters(fitted, place, shown),
        curves=curves,
        note=note,
        unit=UNITS.get(place.kind, ""),
    )


# ---------------------------------------------------------------------- densities


def _curves(found: Marginal, shown: Sequence[int]) -> Curves | None:
    """Densities of the shown classes; of many levels those that are most probable in any class."""
    density = found.density[list(shown)]
    if found.kind != "levels":
        values = np.asarray(found.values, dtype=np.float64)
        if not len(values):
            return None
        return Curves(found.kind, _positions(values), tuple(shown), _rounded(density), found.is_time)
    names = [str(cell(value)) or EMPTY for value in found.values]
    if len(names) > MOST_LEVELS:
        strongest = np.sort(np.argsort(-density.max(axis=0), kind="stable")[:MOST_LEVELS])
    else:
        strongest = np.arange(len(names))
    return Curves(
        "levels",
        tuple(names[i] for i in strongest),
        tuple(shown),
        _rounded(density[:, strongest]),
        hidden=len(names) - len(strongest),
    )


def _positions(values: Float) -> tuple[float, ...]:
    """Values without digits that are far below the distance between them.

    >>> _positions(np.array([1e9, 1e9 + 1 / 3]))
    (1000000000.0, 1000000000.3333)
    """
    span = float(np.ptp(values))
    if not (np.isfinite(span) and span > 0):
        return tuple(values.tolist())
    decimals = min(max(3 - math.floor(math.log10(span)), -300), 300)
    return tuple(round(value, decimals) for value in values.tolist())


def _rounded(density: Float) -> tuple[tuple[float, ...], ...]:
    """Five digits, enough for a picture."""
    return tuple(tuple(float(f"{value:.5g}") for value in line) for line in density)


# ---------------------------------------------------------------------- parameters


def _parameters(fitted: Fitted, place: ModelColumn, shown: Sequence[int]) -> Table | None:
    if place.block.family.reads == "documents" or not fitted.has_density:
        return None  # words have a section of their own
    listing = _moments(fitted, place)
    if listing is None:
        try:
            listing = parameter_table(fitted.estimate, place.name, fitted.layout.schema)
        except InputError:
            return None
    labels = fitted.classes.labels.tolist()
    if "level" in listing:
        names = ["level", *(f"given {labels[k]}" for k in shown)]
        shares = np.array([np.asarray(listing[name], dtype=np.float64) for name in names[1:]])
        order = np.arange(shares.shape[1])
        if len(order) > MOST_LEVELS:
            order = np.sort(np.argsort(-shares.max(axis=0), kind="stable")[:MOST_LEVELS])
        levels = list(listing["level"])
        rows = tuple((_level(levels[i]), *(float(each) for each in shares[:, i])) for i in order)
        return Table("", tuple(names), rows, shares.shape[1] - len(order))
    return table_of(listing, rows=list(shown))


def _level(value: object) -> Cell:
    return EMPTY if value == "" else cell(value)


def _moments(fitted: Fitted, place: ModelColumn) -> Listing | None:
    """Mean and deviation of a column of a block with a covariance, whose own table has all of its pairs of columns."""
    if not place.is_joint:
        return None
    block, parameters = place.block, fitted.estimate.parameters[place.number]
    moments = [block.family.mean_and_covariance(parameters, k) for k in range(len(fitted.classes))]
    known = [each for each in moments if each is not None]
    if len(known) < len(moments):
        return None
    mean = [float(each[0][place.j]) for each in known]
    deviation = [float(np.sqrt(each[1][place.j, place.j])) for each in known]
    shown = [time_text(each) for each in mean] if place.kind == "time" else mean
    return Listing({"class": fitted.classes.labels.tolist(), "mean": shown, "deviation": deviation})


def table_of(listing: Listing, title: str = "", rows: Sequence[int] | None = None, most: int | None = None) -> Table:
    """A listing as a table of plain cells; only some of its rows, if they are given, or the first ``most``."""
    columns = {str(name): list(values) for name, values in listing.items()}
    size = len(next(iter(columns.values()), []))
    chosen = list(range(size)) if rows is None else [i for i in rows if i < size]
    chosen = chosen if most is None else chosen[:most]
    cells = tuple(tuple(cell(values[i]) for values in columns.values()) for i in chosen)
    return Table(title, tuple(columns), cells, size - len(chosen))


def cell(value: object) -> Cell:
    """A value as a plain cell: a number, a string, a boolean or None."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float):
        return value
    return shortened(", ".join(map(str, value)) if isinstance(value, tuple) else value, LONGEST)


# ---------------------------------------------------------------------- missing and unseen cells


def _cells_without_value(
    fitted: Fitted, place: ModelColumn, rows: ReportRows | None
) -> tuple[float | None, float | None, str]:
    """Share of missing and of unseen cells, and where they were counted."""
    if rows is not None:
        missing, unseen = _shares_of_rows(fitted, place, rows)
        return missing, unseen, "" if missing is None else "data"
    model = fitted.current_model
    total = model.weights.weight
    if fitted.without_rows or place.number >= len(model.statistics) or not total.sum() > 0:
        return None, None, ""
    found = place.block.family.missing_weight(model.statistics[place.number], total)
    if found is None:
        return None, None, ""
    return float(found[:, place.j].sum() / total.sum()), None, "training"


def _shares_of_rows(fitted: Fitted, place: ModelColumn, rows: ReportRows) -> tuple[float | None, float | None]:
    table, at, name = rows.table, [place.position], [place.name]
    reads = place.block.family.reads
    if reads == "documents":
        texts = table.documents(at, name)
        return _share(np.array([text is None for text in texts.listed()]), rows), None
    if reads == "categories" or (reads == "cells" and place.kind in ("category", "text", "bool")):
        codes = table.categories(at, name).columns[0]
        levels = place.block.family.column_levels(fitted.estimate.parameters[place.number], place.j)
        of_row = codes.dense(len(table))
        if levels is None:
            return _share(of_row < 0, rows), None
        known = set(levels[0])
        is_new = np.array([level not in known for level in codes.levels.values] + [False])
        return _share(of_row < 0, rows), _share(is_new[of_row], rows)
    return _share(np.isnan(dense_numbers(table, at, name)[:, 0]), rows), None


def _share(marked: np.ndarray, rows: ReportRows) -> float:
    return float(np.average(marked, weights=rows.weights))
