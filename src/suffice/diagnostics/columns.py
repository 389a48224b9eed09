"""The columns of labelled rows as the checks read them: one matrix of numbers and codes of levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from suffice.exceptions import counted
from suffice.learning.fitted import Fitted
from suffice.model import Block
from suffice.numerics.types import Codes, Float, Index, Mask
from suffice.statistics import ClassAxis, Membership
from suffice.statistics.classes import evenly_spaced, present_rows
from suffice.tables import Table
from suffice.tables.table import is_sparse
from suffice.tables.thresholded import ThresholdedMatrix

__all__ = ["CheckedRows", "Column", "checked_rows"]

MOST_ROWS, MOST_CELLS = 100_000, 1 << 25
MOST_COLUMNS = 2000
FEW_VALUES = 8  # different numbers; a column with fewer is compared as levels
COMMON = 0.2  # share of one number in a class; a column with a more common one is compared as levels
LEAST_ROWS = 12  # of a class; smaller classes are not part of tests


@dataclass(frozen=True)
class Column:
    """One column of the model.

    Attributes
    ----------
    name : object
    family : str
        Name of its family.
    block : int
        Number of its block. Columns of one block are dependent in the model if ``joint`` is true.
    joint : bool
        Whether the model allows dependence between the columns of the block.
    discrete : bool
        Whether its cells are levels, or zeros and ones.
    coded : bool
        Whether its cells are read as codes of levels.
    """

    name: object
    family: str
    block: int
    joint: bool
    discrete: bool
    coded: bool


@dataclass(frozen=True, eq=False)
class CheckedRows:
    """Labelled rows of a positive weight.

    Attributes
    ----------
    columns : tuple of Column
    values : array of shape (n, d)
        Numbers, or codes of levels; NaN for a missing cell.
    codes : array of int of shape (n,)
        Class of each row.
    weights : array of shape (n,)
    classes : ClassAxis
    table, members
        The same rows as the families read them.
    levels : mapping of int to tuple
        Levels of the columns that have codes, by position.
    notes : tuple of str
        What was limited.
    """

    columns: tuple[Column, ...]
    values: Float
    codes: Codes
    weights: Float
    classes: ClassAxis
    table: Table
    members: Membership
    levels: Mapping[int, tuple[object, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[object]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    @cached_property
    def by_class(self) -> list[tuple[int, Index]]:
        """Rows of each class that has enough of them, with the position of the class."""
        found = [(k, np.flatnonzero(self.codes == k)) for k in range(len(self.classes))]
        return [(k, rows) for k, rows in found if len(rows) >= LEAST_ROWS]

    @cached_property
    def missing(self) -> Mask:
        """Missing cells (n, d)."""
        return np.isnan(self.values)

    @cached_property
    def varies(self) -> Mask:
        """Columns that have two different values in a class (d,)."""
        out = np.zeros(len(self.columns), dtype=bool)
        for _, rows in self.by_class:
            x = self.values[rows]
            with np.errstate(invalid="ignore"):
                out |= np.fmax.reduce(x, axis=0) > np.fmin.reduce(x, axis=0)
        return out

    @cached_property
    def as_levels(self) -> Mask:
        """Columns that are compared as levels: discrete ones, and numbers of which one is common in a class (d,)."""
        out = np.array([column.discrete for column in self.columns], dtype=bool)
        for j in np.flatnonzero(~out):
            for _, rows in self.by_class:
                x = self.values[rows, j]
                _, counts = np.unique(x[~np.isnan(x)], return_counts=True)
                out[j] |= len(counts) > 1 and (len(counts) < FEW_VALUES or counts.max() > COMMON * counts.sum())
        return out


def checked_rows(fitted: Fitted, table: Table, members: Membership) -> CheckedRows:
    """The rows of a table that have a class and a weight; evenly spaced ones if there are many."""
    here = present_rows(members.codes, members.weights)
    rows = np.arange(len(members)) if here is None else np.flatnonzero(here)
    read, notes = _columns(fitted)
    some = evenly_spaced(rows, min(MOST_ROWS, MOST_CELLS // max(1, len(read))))
    if len(some) < len(rows):
        notes.append(f"The checks use {counted(len(some), 'row')}, evenly spaced, of {len(rows):,}.")
    if len(some) < len(members):
        table, members = table.take(some), members.take(some)
    values = np.full((len(members), len(read)), np.nan)
    levels: dict[int, tuple[object, ...]] = {}
    for block in fitted.blocks:
        own = [(at, column) for at, (column, owner) in enumerate(read) if owner is block]
        levels.update(_read_block(block, own, table, values))
    assert members.codes is not None
    weights = np.ones(len(members)) if members.weights is None else np.asarray(members.weights, dtype=np.float64)
    columns = tuple(column for column, _ in read)
    return CheckedRows(columns, values, members.codes, weights, members.classes, table, members, levels, tuple(notes))


def _columns(fitted: Fitted) -> tuple[list[tuple[Column, Block]], list[str]]:
    """The columns of the model with their blocks, in the order of the rows, and notes on those that are not checked."""
    n_columns, kinds = fitted.layout.n_columns, fitted.layout.schema.kinds
    found: dict[int, tuple[Column, Block]] = {}
    texts: list[object] = []
    for b, block in enumerate(fitted.blocks):
        family = block.family
        if block.member:
            continue
        if family.reads == "documents":
            texts += block.names
            continue
        for j, name in zip(block.positions(n_columns), block.names, strict=True):
            levels = family.reads == "categories" or kinds[j] in ("bool", "category", "text", "empty")
            discrete = levels or family.name == "bernoulli"
            coded = levels and (family.reads != "numbers" or kinds[j] != "bool")
            found[j] = Column(name, family.name, b, not family.independent, discrete, coded), block
    notes = [f"Column {name!r} holds documents; these checks are for tables, so it was not checked." for name in texts]
    read = [found[j] for j in sorted(found)]
    if len(read) > MOST_COLUMNS:
        notes.append(f"The checks use the first {MOST_COLUMNS:,} of {counted(len(read), 'column')}.")
    return read[:MOST_COLUMNS], notes


def _read_block(
    block: Block, here: Sequence[tuple[int, Column]], table: Table, values: Float
) -> dict[int, tuple[object, ...]]:
    """Write the cells of the columns of a block; returns the levels of those that have codes."""
    known: dict[int, tuple[object, ...]] = {}
    place = {name: i for i, name in enumerate(block.names)}
    positions = block.positions(len(table.kinds))
    levels = [(at, column) for at, column in here if column.coded]
    numbers = [(at, column) for at, column in here if not column.coded]
    if levels:
        at = [positions[place[column.name]] for _, column in levels]
        coded = table.categories(at, [column.name for _, column in levels])
        for (j, _), column in zip(levels, coded.columns, strict=True):
            codes = column.dense(len(table))
            values[:, j] = np.where(codes < 0, np.nan, codes)
            known[j] = tuple(column.levels.values)
    if numbers:
        at = [positions[place[column.name]] for _, column in numbers]
        x = table.numbers(at, [column.name for _, column in numbers], copy=True)
        x = x.plain() if isinstance(x, ThresholdedMatrix) else x
        dense = np.asarray(x.toarray() if is_sparse(x) else x, dtype=np.float64)
        values[:, [j for j, _ in numbers]] = np.where(np.isfinite(dense), dense, np.nan)
    return known
