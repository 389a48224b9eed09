"""Fitted models without rows: statistics that have given parameters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from suffice.exceptions import InputError, listed
from suffice.families import Family
from suffice.families.categorical import kind_of_levels
from suffice.learning.family_choice import chosen_blocks
from suffice.learning.fitted import Fitted
from suffice.learning.given.blocks import GivenBlock
from suffice.learning.given.classes import Classes
from suffice.learning.specification import Specification
from suffice.model import Block, Model
from suffice.numerics.types import Float
from suffice.sources.forms import ArrayForm, Form, StoredFrameForm
from suffice.sources.row_reader import RowLayout
from suffice.statistics import ClassAxis, Statistic, Sums
from suffice.tables.table import Kind, Schema

__all__ = ["GivenStatistics", "class_sums", "column_layout", "given_fitted", "given_statistics", "joined_columns"]

PANDAS_TYPES = {"number": "float64", "duration": "timedelta64[ns]", "time": "datetime64[ns]", "bool": "bool"}


class GivenStatistics(NamedTuple):
    """Statistics that have given parameters.

    Attributes
    ----------
    families : dict
        The family with which the statistic of a column, or of a tuple of columns, has the parameters.
    statistics : dict
        By the first column of each block.
    layout : RowLayout
        All columns.
    """

    families: dict[Any, Family]
    statistics: dict[object, Statistic]
    layout: RowLayout


def given_statistics(blocks: Sequence[GivenBlock]) -> GivenStatistics:
    """The family and the statistic of each block, and the layout of all columns."""
    families: dict[Any, Family] = {}
    statistics: dict[object, Statistic] = {}
    kinds: dict[object, Kind] = {}
    whole: set[object] = set()
    for block in blocks:
        for name in block.columns:
            if name in kinds:
                raise InputError(f"Column {name!r} has parameters more than once.", column=name)
        family, statistic = block.family.given(block.tables)
        families[block.key] = family
        statistics[block.columns[0]] = statistic
        known = block.kinds or (None,) * len(block.columns)
        for j, name in enumerate(block.columns):
            kinds[name] = known[j] or _kind(family, statistic, j)
            whole |= {name} if kinds[name] == "number" and _is_whole(family, statistic, j) else set()
    names = _ordered(blocks)
    layout = column_layout(names, [kinds[name] for name in names], whole)
    return GivenStatistics(families, statistics, layout)


def _ordered(blocks: Sequence[GivenBlock]) -> list[Any]:
    """The columns of all blocks in the order of rows: by position in an array, or as they were given."""
    names: list[Any] = [name for block in blocks for name in block.columns]
    if set(names) == set(range(len(names))):
        return sorted(names)
    places = [place for block in blocks for place in block.places]
    return [names[i] for i in np.argsort(places, kind="stable")] if len(places) == len(names) else names


def _kind(family: Family, statistic: Any, j: int) -> Kind:
    """The kind of a column that the family reads."""
    if family.reads == "documents":
        return "text"
    if family.reads == "numbers":
        return "bool" if family.name == "bernoulli" else "number"
    if family.reads == "cells" and statistic.bins[j].cuts is not None:
        return "number"
    kept = statistic.bins[j].kept if family.reads == "cells" else None
    found = kind_of_levels(statistic.levels[j] if kept is None else type(statistic.levels[j])(kept))
    return "category" if found is None else found


def _is_whole(family: Family, statistic: Any, j: int) -> bool:
    """Whether all numbers of a column are whole, and not truth values."""
    if family.reads == "numbers":
        return family.values == "whole" or family.name == "multinomial"
    levels = statistic.levels[j].values if family.reads == "categories" else ()
    return bool(levels) and all(isinstance(level, int) and not isinstance(level, bool) for level in levels)


def column_layout(names: Sequence[object], kinds: Sequence[Kind], whole: Collection[object] = frozenset()) -> RowLayout:
    """The layout of rows with these columns: a frame, or an array if the names are the positions 0, 1, ….

    Columns of ``whole`` numbers are drawn as integers.
    """
    if list(names) == list(range(len(names))):
        numeric = all(kind in ("number", "bool", "duration") for kind in kinds)
        kind = np.int64 if set(names) <= set(whole) else np.float64 if numeric else object
        return RowLayout(Schema(range(len(names)), kinds), form=ArrayForm(np.dtype(kind)))
    texts = tuple(str(name) for name in names) if all(isinstance(name, str) for name in names) else None
    if texts is None and not all(isinstance(name, int) for name in names):
        raise InputError(
            f"The names of columns must be all strings or all whole numbers; got {listed(list(names))}.",
            argument="columns",
        )
    types = [
        "int64" if name in whole else PANDAS_TYPES.get(kind, "object") for name, kind in zip(names, kinds, strict=True)
    ]
    form: Form = StoredFrameForm("pandas", list(names), [(each,) for each in types])
    return RowLayout(Schema(list(names), kinds, named=True), texts, form=form)


def joined_columns(family: Family, parts: Sequence[Statistic]) -> Statistic:
    """The statistic of a block of independent columns, from those of its columns."""
    if len(parts) == 1:
        return parts[0]
    whole = type(parts[0]).concatenate_columns(parts)
    at = family.statistic_columns(len(parts))
    if len(at) == 1:
        return whole
    order = np.empty(at.size, dtype=np.intp)
    order[at] = np.arange(len(parts)) * len(at) + np.arange(len(at))[:, None]
    return whole.columns(order)


def class_sums(classes: ClassAxis, weight: Float) -> Sums:
    """The statistic of the class prior."""
    return Sums(classes, np.ascontiguousarray(weight, dtype=np.float64), np.zeros((len(classes), 0)))


def given_fitted(specification: Specification, classes: Classes, given: GivenStatistics) -> Fitted:
    """The fitted model of given parameters; ``specification`` has the settings of a new fit."""
    blocks = tuple(chosen_blocks(given.families, given.layout.schema, {}))
    of_blocks = tuple(_of_block(block, given.statistics) for block in blocks)
    model = Model(blocks, class_sums(classes.axis, classes.prior), of_blocks)
    return Fitted(specification, given.layout, model, settled=True, given_families=given.families)


def _of_block(block: Block, statistics: dict[object, Statistic]) -> Statistic:
    if block.independent:
        return joined_columns(block.family, [statistics[name] for name in block.names])
    return statistics[block.names[0]]
