"""The columns of labelled rows as the checks read them: one matrix of numbers and codes of levels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from suffice.diagnostics.effective_size import effective_weights
from suffice.diagnostics.row_keys import content_keys
from suffice.exceptions import InputError, counted
from suffice.learning.fitted import Fitted
from suffice.model import Block
from suffice.numerics.types import Codes, Float, Index, Mask
from suffice.statistics import ClassAxis, Membership
from suffice.statistics.classes import evenly_spaced, present_rows
from suffice.tables import Table
from suffice.tables.table import dense_numbers

__all__ = ["CheckedRows", "Column", "binary_exponent", "checked_rows", "in_units", "varying"]

MOST_ROWS, MOST_CELLS = 100_000, 1 << 25
MOST_COLUMNS = 2000
FEW_VALUES = 8  # different numbers; a column with fewer is compared as levels
COMMON = 0.2  # share of one number in a class; a column with a more common one is compared as levels
LEAST_ROWS = 12  # of a class, by its effective size; smaller classes are not part of tests
ROUNDING = 1e-9  # of an effective size


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
    """Labelled rows of a positive weight, in an order that depends on their content alone.

    Attributes
    ----------
    columns : tuple of Column
    values : array of shape (n, d)
        Numbers, or codes of levels; NaN for a missing cell.
    codes : array of int of shape (n,)
        Class of each row.
    weights : array of shape (n,)
        They sum to the effective size of each class (see `suffice.diagnostics.effective_size`).
    classes : ClassAxis
    table, members
        The same rows as the families read them, with the weights that were given.
    row_keys, column_keys : array of uint64 of shape (n,) and (d,)
        Keys by content, see `suffice.diagnostics.row_keys`.
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
    row_keys: NDArray[np.uint64]
    column_keys: NDArray[np.uint64]
    levels: Mapping[int, tuple[object, ...]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def names(self) -> list[object]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    @property
    def given_weights(self) -> Float:
        """The weights that were given; ones if there were none (n,)."""
        given = self.members.weights
        return np.ones(len(self.codes)) if given is None else np.asarray(given, dtype=np.float64)

    def rng(self, seed: int, *columns: int) -> np.random.Generator:
        """Random numbers for some columns, which do not depend on their positions."""
        key = np.bitwise_xor.reduce(self.column_keys[list(columns)])
        return np.random.default_rng([seed, int(key)])

    @cached_property
    def by_class(self) -> list[tuple[int, Index]]:
        """Rows of each class that has enough of them, with the position of the class."""
        size = np.bincount(self.codes, self.weights, len(self.classes))
        large = np.flatnonzero(size >= LEAST_ROWS - ROUNDING)
        order = np.argsort(self.codes, kind="stable")
        ends = np.searchsorted(self.codes[order], np.stack([large, large + 1]))
        return [(int(k), order[first:last]) for k, first, last in zip(large, *ends, strict=True)]

    @cached_property
    def missing(self) -> Mask:
        """Missing cells (n, d)."""
        return np.isnan(self.values)

    @cached_property
    def varies(self) -> Mask:
        """Columns that have two different values in a class (d,)."""
        out = np.zeros(len(self.columns), dtype=bool)
        for _, rows in self.by_class:
            out |= varying(self.values[rows])
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


def varying(x: Float) -> Mask:
    """Columns of a matrix with two different values (d,)."""
    if not len(x):
        return np.zeros(x.shape[1], dtype=bool)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.fmax.reduce(x, axis=0) > np.fmin.reduce(x, axis=0))


def binary_exponent(x: Float) -> Codes:
    """The power of two that is just above the largest size of a number in each column; missing cells are ignored.

    >>> binary_exponent(np.array([[3.0, 0.1], [-6.0, np.nan]]))
    array([ 3, -3], dtype=int32)
    """
    with np.errstate(invalid="ignore"):
        return np.asarray(np.frexp(np.fmax.reduce(np.abs(x), axis=0, initial=0.0))[1])


def in_units(x: Float) -> Float:
    """Columns divided by a power of two, so that the largest numbers are between ½ and 1 and squares do not overflow.

    >>> in_units(np.array([[3.0], [-6.0]]))
    array([[ 0.375],
           [-0.75 ]])
    """
    return np.asarray(np.ldexp(x, -binary_exponent(x)))


def checked_rows(fitted: Fitted, table: Table, members: Membership) -> CheckedRows:
    """The rows of a table that have a class and a weight; evenly spaced ones if there are many.

    Raises `InputError`, as a prediction does, for a number that is infinite or outside the domain of its family.
    """
    here = present_rows(members.codes, members.weights)
    rows = np.arange(len(members)) if here is None else np.flatnonzero(here)
    _check_values(fitted, table, here)
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
    columns = tuple(column for column, _ in read)
    return _in_order_of_content(columns, values, table, members, levels, tuple(notes))


def _in_order_of_content(
    columns: tuple[Column, ...],
    values: Float,
    table: Table,
    members: Membership,
    levels: Mapping[int, tuple[object, ...]],
    notes: tuple[str, ...],
) -> CheckedRows:
    """The rows in the order of their keys, which is random but does not depend on the order that they had."""
    assert members.codes is not None
    row_keys, column_keys = content_keys(values, members.codes, levels)
    given = np.ones(len(members)) if members.weights is None else np.asarray(members.weights, dtype=np.float64)
    order = np.lexsort((given, row_keys))
    table, members, given = table.take(order), members.take(order), given[order]
    assert members.codes is not None
    return CheckedRows(
        columns=columns,
        values=values[order],
        codes=members.codes,
        weights=effective_weights(given, members.codes),
        classes=members.classes,
        table=table,
        members=members,
        row_keys=row_keys[order],
        column_keys=column_keys,
        levels=levels,
        notes=notes,
    )


def _check_values(fitted: Fitted, table: Table, present: Mask | None) -> None:
    """Raise the errors of a prediction for numbers that the model does not take."""
    rows = table if present is None else table.take(np.flatnonzero(present))
    try:
        fitted.reader.explain_values(rows, fitted.layout)
    except InputError:
        fitted.reader.explain_values(table, fitted.layout)  # with the numbers of the rows that were given
        raise
    for block in fitted.blocks:
        if not block.member and not block.chosen and block.family.reads == "numbers":
            block.check(block.take(table), present)


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
        dense = dense_numbers(table, at, [column.name for _, column in numbers])
        with np.errstate(invalid="ignore"):
            known_numbers = block.family.in_domain(dense) if block.chosen else np.isfinite(dense)
        values[:, [j for j, _ in numbers]] = np.where(known_numbers, dense, np.nan)
    return known
