"""Fitted parameters as tables for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suffice.exceptions import InputError, did_you_mean, listed
from suffice.families import Family
from suffice.families.capabilities import Parameters
from suffice.model.estimate import Estimate
from suffice.statistics.cuts import interval_names
from suffice.tables.listing import Listing
from suffice.tables.table import Schema
from suffice.tables.times import time_text

__all__ = ["column_names", "parameter_table"]


def parameter_table(estimate: Estimate, column: object, schema: Schema) -> Listing:
    """The fitted p(x | y) of one column, or of a tuple with all columns of a block.

    A table of levels has a row for each level and a column for each class; any other table has a row for each class.
    Cuts and means of a column of times are times, and their deviations are seconds.
    """
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        names = list(block.names)
        whole = isinstance(column, tuple) and column == tuple(names)
        if whole or column in names:
            j = 0 if whole else names.index(column)
            times = [schema.kinds[at] == "time" for at in block.positions(estimate.n_columns)]
            return _table(block.family, parameters, estimate.classes.labels.tolist(), names, j, times, whole=whole)
    known = column_names(estimate)
    raise InputError(
        f"The model has no column {column!r:.80}.{did_you_mean(column, known)} Its columns are {listed(known, 50)}.",
        column=column,
    )


def column_names(estimate: Estimate) -> list[object]:
    """Columns of the model in their order; dependent columns are one tuple."""
    positions: list[tuple[int, object]] = []
    for block in estimate.blocks:
        at = block.positions(estimate.n_columns)
        if block.by_column:
            positions += zip(at, block.names, strict=True)
        else:
            positions.append((at[0], tuple(block.names)))
    return [name for _, name in sorted(positions, key=lambda each: each[0])]


def _table(
    family: Family,
    parameters: Parameters,
    labels: list[object],
    names: Sequence[object],
    j: int,
    times: Sequence[bool],
    *,
    whole: bool,
) -> Listing:
    columns: dict[str, Any]
    levels = family.level_table(parameters, j)
    if levels is not None:
        values, shares = levels
        cuts = family.level_cuts(parameters, j) if times[j] else None
        if cuts is not None:
            values = [*interval_names(cuts, times=True), *values[len(cuts) + 1 :]]
        columns = {f"given {label}": shares[:, k] for k, label in enumerate(labels)}
        return Listing({"level": values} | columns)
    own = None if whole else _with_times(family.table(parameters, j), ["mean"] if times[j] else [])
    if own is None:
        of_times = [f"mean of {name}" for name, is_time in zip(names, times, strict=True) if is_time]
        own = _with_times(family.block_table(parameters, names), of_times)
    columns = {"class": labels} | dict(own or {})
    for i, name in enumerate(names if own is None else ()):
        table = _with_times(family.table(parameters, i), ["mean"] if times[i] else [])
        if table is None:
            raise InputError(f"The family {family.name} has no table of its parameters.")
        columns |= {f"{kind} of {name}": values for kind, values in table.items()}
    return Listing(columns)


def _with_times(table: Mapping[str, Any] | None, names: Sequence[str]) -> Mapping[str, Any] | None:
    """The table with the seconds of these columns as times."""
    if table is None:
        return None
    return {name: list(map(time_text, values)) if name in names else values for name, values in table.items()}
