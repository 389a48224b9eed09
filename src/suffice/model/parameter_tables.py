"""Fitted parameters as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suffice.exceptions import InputError, did_you_mean, listed
from suffice.families import Family
from suffice.families.capabilities import Parameters
from suffice.model.estimate import Estimate
from suffice.tables.listing import Listing

__all__ = ["column_names", "parameter_table"]


def parameter_table(estimate: Estimate, column: object) -> Listing:
    """The fitted p(x | y) of one column, or of a tuple with all columns of a block.

    A table of levels has a row for each level and a column for each class; any other table has a row for each class.
    """
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        names = list(block.names)
        whole = isinstance(column, tuple) and column == tuple(names)
        if whole or column in names:
            j = 0 if whole else names.index(column)
            return _table(block.family, parameters, estimate.classes.labels.tolist(), names, j, whole=whole)
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
    family: Family, parameters: Parameters, labels: list[object], names: Sequence[object], j: int, *, whole: bool
) -> Listing:
    columns: dict[str, Any]
    levels = family.level_table(parameters, j)
    if levels is not None:
        values, shares = levels
        columns = {f"given {label}": shares[:, k] for k, label in enumerate(labels)}
        return Listing({"level": values} | columns)
    own = None if whole else family.table(parameters, j)
    if own is None:
        own = family.block_table(parameters, names)
    columns = {"class": labels} | dict(own or {})
    for i, name in enumerate(names if own is None else ()):
        table = family.table(parameters, i)
        if table is None:
            raise InputError(f"The family {family.name} has no table of its parameters.")
        columns |= {f"{kind} of {name}": values for kind, values in table.items()}
    return Listing(columns)
