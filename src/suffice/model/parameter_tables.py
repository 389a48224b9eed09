"""Fitted parameters as tables for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from suffice.exceptions import InputError
from suffice.families import Family
from suffice.families.capabilities import Parameters
from suffice.families.given import LevelValues
from suffice.model.block import Block
from suffice.model.columns import unknown_column
from suffice.model.estimate import Estimate
from suffice.model.linear_form import LinearForm
from suffice.numerics.types import Array, Float, Index
from suffice.statistics import ClassAxis
from suffice.statistics.cuts import interval_names
from suffice.tables.listing import Listing
from suffice.tables.special_levels import level_type, needs_types
from suffice.tables.table import Kind, Schema
from suffice.tables.times import time_text

__all__ = [
    "LINEAR",
    "OFFSET",
    "PRIOR",
    "ColumnTable",
    "ModelTables",
    "all_parameters",
    "column_names",
    "column_tables",
    "parameter_table",
]

PRIOR, OFFSET, LINEAR = "(prior)", "(offset)", "(linear form)"
Table = Mapping[str, Float | LevelValues]


def parameter_table(
    estimate: Estimate, column: object, schema: Schema, classes: Sequence[object] | None = None
) -> Listing:
    """The fitted p(x | y) of one column, or of a tuple with all columns of a block.

    A table of levels has a row for each level and a column for each class; any other table has a row for each class.
    Cuts and means of a column of times are times, and their deviations are seconds. The listing keeps the family and
    the exact parameters, so a model can be built from it again.
    """
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        names = list(block.names)
        whole = isinstance(column, tuple) and column == tuple(names)
        if whole or column in names:
            j = 0 if whole else names.index(column)
            times = [schema.kinds[at] == "time" for at in block.positions(estimate.n_columns)]
            shown = _table(block.family, parameters, estimate.classes.labels.tolist(), names, j, times, whole=whole)
            mine = list(_block_tables(block, parameters, estimate, schema, None if whole else j))
            if classes is not None:
                chosen = [estimate.classes.position(each) for each in classes]
                shown = _of_classes(shown, chosen)
                mine = [_table_of_classes(each, sorted(chosen)) for each in mine]
            return Listing(shown, source=mine)
    raise unknown_column(column, column_names(estimate))


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


# ---------------------------------------------------------------------- all parameters


class ColumnTable(NamedTuple):
    """All parameters of a column, or of a block that has one table.

    Attributes
    ----------
    column : object
        The column, or the tuple of columns.
    block : tuple
        All columns of its block; of itself alone if it is independent.
    family : Family
    member : str
        Which of several models of the columns it belongs to.
    table : mapping
        Named parameters: a number for each class (K,), or those of each level (L, K).
    kinds : tuple of Kind
        Kind of the column, or of each of the columns.
    classes : ClassAxis
    """

    column: object
    block: tuple[object, ...]
    family: Family
    member: str
    table: Table
    kinds: tuple[Kind, ...]
    classes: ClassAxis

    @property
    def is_time(self) -> bool:
        """Whether means and cuts are seconds since 1970."""
        return self.kinds[0] == "time"


class ModelTables(NamedTuple):
    """The tables and settings behind a listing of all parameters.

    Attributes
    ----------
    columns : list of ColumnTable
    calibrated : bool
        Whether probabilities are calibrated, by numbers that the listing does not have.
    """

    columns: list[ColumnTable]
    calibrated: bool


def column_tables(estimate: Estimate, schema: Schema) -> list[ColumnTable]:
    """All parameters of a model, in the order of its columns; further models of the same columns come last."""
    found: list[tuple[bool, int, ColumnTable]] = []
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        at = block.positions(estimate.n_columns)
        tables = _block_tables(block, parameters, estimate, schema)
        found += [(bool(block.member), at[i], each) for i, each in enumerate(tables)]
    return [table for _, _, table in sorted(found, key=lambda each: each[:2])]


def _block_tables(
    block: Block, parameters: Parameters, estimate: Estimate, schema: Schema, only: int | None = None
) -> Iterator[ColumnTable]:
    """The tables of a block; of a block with a table for each column, that of the column ``only``."""
    names, family = list(block.names), block.family
    at = block.positions(estimate.n_columns)
    columns: Sequence[object] = [tuple(names)] if family.one_table else names
    for j, name in enumerate(columns):
        if only is not None and j != only and not family.one_table:
            continue
        members = (name,) if block.by_column else tuple(names)
        table = family.exact_table(parameters, j, names)
        kinds = tuple(schema.kinds[i] for i in (at if family.one_table else at[j : j + 1]))
        yield ColumnTable(name, members, family, block.member, table, kinds, estimate.classes)


def all_parameters(
    estimate: Estimate,
    schema: Schema,
    form: LinearForm | None = None,
    *,
    classes: Sequence[object] | None = None,
    wide: bool = False,
    calibrated: bool = False,
) -> Listing:
    """All parameters of a model as one listing.

    Parameters
    ----------
    form : LinearForm, optional
        Adds the coefficients of the log-odds, ``theta`` and ``theta0``.
    classes : sequence, optional
        The classes to list; all by default.
    wide : bool
        Whether each class has a column of values, instead of a row for each number.
    calibrated : bool
        Whether the model has a calibration beside the parameters; a long listing keeps this in its source.

    Returns
    -------
    Listing
        ``column``, ``family``, ``parameter``, ``level``, and ``class`` with ``value``, or a column for each class.
        ``member`` if columns are modelled several times. ``block`` if several blocks of dependent columns have one
        family. ``kind`` if there are columns of times or durations, whose means and cuts are seconds in ``value``; and
        ``time``, in a long listing, with means and cuts as times in UTC. ``type``, in a long listing, if the text of a
        level does not tell what it is: a number, a truth value, a date, or a text that looks like one.
    """
    axis = estimate.classes
    chosen = np.array(range(len(axis)) if classes is None else [axis.position(each) for each in classes], dtype=int)
    tables = column_tables(estimate, schema)
    parts = [_Part(PRIOR, "", "", "probability", ("",), estimate.prior[None, chosen], False)]
    numbers_of = _block_numbers(tables)
    for each in tables:
        for name, values in each.table.items():
            levels = values.levels if isinstance(values, LevelValues) else ("",)
            numbers = values.values if isinstance(values, LevelValues) else values[None]
            times = each.is_time and name in ("mean", "cut")
            part = _Part(each.column, each.family.name, each.member, name, levels, numbers[:, chosen], times)
            own = () if each.family.one_table else each.kinds
            kind = next((kind for kind in own if kind in ("time", "duration")), "")
            typed = isinstance(values, LevelValues) and each.family.reads in ("categories", "cells") and name != "cut"
            parts.append(part._replace(kind=kind, block=numbers_of.get(each.block, ""), has_level_types=typed))
    if form is not None:
        parts += _linear_parts(form, len(axis), chosen)
    if wide:
        return _wide_listing(parts, axis.labels[chosen].tolist())
    return Listing(_long_listing(parts, axis.labels[chosen]), source=ModelTables(tables, calibrated))


def _block_numbers(tables: Sequence[ColumnTable]) -> dict[tuple[object, ...], int]:
    """A number for each block of dependent columns, if another one has the same family; from 1 in each family."""
    blocks: dict[tuple[str, str], list[tuple[object, ...]]] = {}
    for each in tables:
        if not (each.family.by_column or each.family.one_table):
            same = blocks.setdefault((each.family.name, each.member), [])
            same += [] if each.block in same else [each.block]
    return {block: i + 1 for same in blocks.values() if len(same) > 1 for i, block in enumerate(same)}


class _Part(NamedTuple):
    """The numbers of one parameter of one column: of each level and class (L, K)."""

    column: object
    family: str
    member: str
    parameter: str
    levels: Sequence[object]
    values: Float
    times: bool
    kind: str = ""
    block: int | str = ""
    has_level_types: bool = False


def _linear_parts(form: LinearForm, n_classes: int, chosen: Index) -> list[_Part]:
    """Coefficients of the log-odds; of two classes, those of the second, and NaN for the first."""
    theta, theta0 = np.atleast_2d(form.theta), np.atleast_1d(form.theta0)
    if len(theta) < n_classes:
        none = np.full((n_classes - len(theta), theta.shape[1]), np.nan)
        theta, theta0 = np.vstack([none, theta]), np.append(none[:, :1].ravel(), theta0)
    parts = []
    for name, values in zip(form.columns, theta.T, strict=True):
        column, level = name if isinstance(name, tuple) else (name, "")
        parts.append(_Part(column, LINEAR, "", "theta", (level,), values[None, chosen], False))
    return [*parts, _Part(OFFSET, LINEAR, "", "theta0", ("",), theta0[None, chosen], False)]


def _described(parts: Sequence[_Part], repeats: Sequence[int]) -> dict[str, list[Any]]:
    """The columns that name a number, each part repeated."""
    optional = [name for name in ("member", "block", "kind") if any(getattr(part, name) for part in parts)]
    names = ["column", "family", *optional, "parameter"]
    return {
        name: [value for part, n in zip(parts, repeats, strict=True) for value in [getattr(part, name)] * n]
        for name in names
    }


def _wide_listing(parts: Sequence[_Part], labels: Sequence[object]) -> Listing:
    named: dict[str, Any] = dict(_described(parts, [len(part.levels) for part in parts]))
    values = np.vstack([part.values for part in parts])
    levels = [level for part in parts for level in part.levels]
    return Listing({**named, "level": levels} | {f"given {label}": values[:, k] for k, label in enumerate(labels)})


def _long_listing(parts: Sequence[_Part], labels: Array) -> dict[str, Any]:
    n = len(labels)
    named: dict[str, Any] = dict(_described(parts, [n * len(part.levels) for part in parts]))
    parameter = named.pop("parameter")
    values = np.concatenate([part.values.ravel() for part in parts])
    named |= {"class": np.tile(labels, len(values) // max(n, 1)).tolist(), "parameter": parameter}
    named |= {"level": [level for part in parts for level in part.levels for _ in range(n)], "value": values}
    if any(part.times for part in parts):
        shown = (map(time_text, part.values.ravel()) if part.times else [""] * part.values.size for part in parts)
        named["time"] = [text for each in shown for text in each]
    typed = [level for part in parts if part.has_level_types for level in part.levels]
    if needs_types(typed):
        named["type"] = [
            level_type(level) if part.has_level_types else ""
            for part in parts
            for level in part.levels
            for _ in range(n)
        ]
    empty = np.isnan(values) & np.array([family == LINEAR for family in named["family"]])
    if empty.any():
        keep = np.flatnonzero(~empty).tolist()
        named = {name: [column[i] for i in keep] for name, column in named.items()} | {"value": values[keep]}
    return named


# ---------------------------------------------------------------------- one column


def _table(
    family: Family,
    parameters: Parameters,
    labels: list[object],
    names: Sequence[object],
    j: int,
    times: Sequence[bool],
    *,
    whole: bool,
) -> dict[str, Any]:
    columns: dict[str, Any]
    if family.level_table(parameters, j) is not None:
        apart = whole and not family.one_table and len(names) > 1
        return _levels(family, parameters, labels, names, range(len(names)) if apart else [j], times)
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
    return columns


def _levels(
    family: Family,
    parameters: Parameters,
    labels: list[object],
    names: Sequence[object],
    chosen: Sequence[int],
    times: Sequence[bool],
) -> dict[str, Any]:
    """The levels of these columns with their probabilities; several columns are named."""
    columns: list[object] = []
    levels: list[object] = []
    parts: list[Float] = []
    for j in chosen:
        found = family.level_table(parameters, j)
        assert found is not None
        values, shares = found
        cuts = family.level_cuts(parameters, j) if times[j] else None
        if cuts is not None:
            values = [*interval_names(cuts, times=True), *values[len(cuts) + 1 :]]
        columns += [names[j]] * len(values)
        levels += values
        parts.append(shares)
    named: dict[str, Any] = {"column": columns, "level": levels} if len(chosen) > 1 else {"level": levels}
    together = np.vstack(parts)
    return named | {f"given {label}": together[:, k] for k, label in enumerate(labels)}


def _of_classes(shown: Mapping[str, Any], at: Sequence[int]) -> dict[str, Any]:
    """A table of the classes at these positions."""
    if "level" in shown:
        first = list(shown)[: list(shown).index("level") + 1]
        given = list(shown)[len(first) :]
        return {name: shown[name] for name in (*first, *(given[k] for k in at))}
    return {name: [values[k] for k in at] for name, values in shown.items()}


def _table_of_classes(table: ColumnTable, at: Sequence[int]) -> ColumnTable:
    """The parameters of the classes at these positions, which are sorted."""
    taken = {
        name: LevelValues(values.levels, values.values[:, at]) if isinstance(values, LevelValues) else values[at]
        for name, values in table.table.items()
    }
    return table._replace(table=taken, classes=ClassAxis(table.classes.labels[at]))


def _with_times(table: Mapping[str, Any] | None, names: Sequence[str]) -> Mapping[str, Any] | None:
    """The table with the seconds of these columns as times."""
    if table is None:
        return None
    return {name: list(map(time_text, values)) if name in names else values for name, values in table.items()}
