"""Checks of columns: without values, of another kind than before, or text that is read as a category."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from suffice.exceptions import (
    Argument,
    EmptyColumnWarning,
    MergeError,
    SufficeWarning,
    columns_at,
    warn_user,
)
from suffice.families import Text
from suffice.families.categorical import check_unseen
from suffice.model import Block, Model
from suffice.numerics.types import Index
from suffice.sources.tables import same_kind
from suffice.statistics import BinCounts, CellSums, Counts, JointCounts, Moments, PairCounts, Statistic, WordSums
from suffice.tables import Levels, Table
from suffice.tables.table import Schema, is_sparse

__all__ = ["check_levels", "check_merge", "warn_about_empty", "warn_about_levels", "warn_about_words"]

MANY_LEVELS = 40  # a column of strings with more levels is probably text, not a category


def check_levels(before: Model, batch: Model, table: Table) -> None:
    """Raise if a column of strings brings numbers, or the other way round."""
    for block, old, new in zip(batch.blocks, before.statistics, batch.statistics, strict=True):
        for j, (known, now) in enumerate(zip(_levels_of(old), _levels_of(new), strict=True)):
            if known.kinds and now.kinds - known.kinds:
                check_unseen(block.take(table).columns[j], known, block.names[j], "ignore", len(table))


def check_merge(mine: Schema, ours: Model, theirs: Schema, others: Model) -> None:
    """Raise if a column has different kinds in two models."""
    there = dict(zip(theirs.names, theirs.kinds, strict=True))
    for name, kind in zip(mine.names, mine.kinds, strict=True):
        if name in there and not same_kind(kind, there[name]):
            raise MergeError(
                f"Column {name!r} is a {kind} in the first model and a {there[name]} in the second. Convert one of "
                "them.",
                column=name,
            )
    known, other = _levels_by_name(ours), _levels_by_name(others)
    for name in known.keys() & other.keys():
        x, y = known[name], other[name]
        if x.kinds and y.kinds and not x.kinds & y.kinds:
            raise MergeError(
                f"Column {name!r} has levels such as {x.values[0]!r} in the first model and {y.values[0]!r} in the "
                "second. Convert one of them to the type of the other.",
                column=name,
            )


def _levels_of(statistic: Statistic) -> tuple[Levels, ...]:
    """The levels of each column of a block; empty for other statistics."""
    return statistic.levels if isinstance(statistic, Counts | JointCounts) else ()


def _levels_by_name(model: Model) -> dict[object, Levels]:
    pairs = zip(model.blocks, model.statistics, strict=True)
    return {name: each for block, a in pairs for name, each in zip(block.names, _levels_of(a), strict=False)}


def warn_about_empty(model: Model, table: Table) -> None:
    """Warn about columns of a fit that have no values, once for all that are not in a block of dependent columns."""
    alone: list[tuple[int, object]] = []
    for block, statistic in zip(model.blocks, model.statistics, strict=True):
        if block.member:  # it reads the columns of other blocks
            continue
        empty = _empty_columns(statistic, block, table)
        if block.independent or len(block.names) == 1 or isinstance(statistic, PairCounts):
            at = block.positions(len(table.kinds))
            alone += [(at[j], block.names[j]) for j in empty.tolist()]
        elif len(empty):
            names = [block.names[j] for j in empty.tolist()]
            _warn_about_empty(names, f" No row of {tuple(block.names)} is complete, so no row counts.")
    if alone:
        _warn_about_empty([name for _, name in sorted(alone, key=lambda each: each[0])])


def _warn_about_empty(names: Sequence[object], no_rows: str = "") -> None:
    effect, which = ("it has no effect", "it") if len(names) == 1 else ("they have no effect", "them")
    warn_user(
        EmptyColumnWarning(
            f"There are no values in {columns_at(names, range(len(names)))}, so {effect}.{no_rows} Ignore {which}, or "
            "check how the data were read.",
            column=names[0],
        )
    )


def _empty_columns(statistic: Statistic, block: Block, table: Table) -> Index:
    """Positions of the columns in which no row has a value."""
    n_columns, none = len(block.names), np.empty(0, dtype=np.intp)
    if isinstance(statistic, Counts):
        empty = np.array([statistic.of_column(j).sum() == 0 for j in range(n_columns)])
        return np.flatnonzero(empty & (statistic.missing.sum(axis=0) > 0))
    if isinstance(statistic, PairCounts):
        seen = [statistic.of_column(j)[:, :-1].any() for j in range(len(statistic.bins))]
        return np.flatnonzero(~np.array(seen, dtype=bool))
    if isinstance(statistic, CellSums | Moments):
        return np.flatnonzero(statistic.weight[:, :n_columns].sum(axis=0) == 0)
    if isinstance(statistic, BinCounts):
        return np.flatnonzero((statistic.sizes == 0) & (len(table) > 0))
    if isinstance(statistic, WordSums):
        return np.flatnonzero([len(table) > 0 and not statistic.weight.any()])
    # In a block of dependent columns only complete rows count; if there are none, the table shows why.
    complete = statistic.count if isinstance(statistic, JointCounts) else statistic.class_weights()
    if block.independent or not len(table) or complete.any():
        return none
    rows = block.take(table)
    if isinstance(statistic, JointCounts):
        return np.flatnonzero([(column.dense(len(table)) < 0).all() for column in rows.columns])
    return none if is_sparse(rows) else np.flatnonzero(np.isnan(rows).all(axis=0))


def warn_about_words(model: Model) -> None:
    """Warn about stop words that the tokenizer never produces."""
    for block in model.blocks:
        if isinstance(block.family, Text):
            block.family.analysis.warn()


def warn_about_levels(model: Model, schema: Schema, given: Collection[object]) -> None:
    """Warn about a column of strings with so many levels that it is probably text, unless its family is given."""
    position = {name: j for j, name in enumerate(schema.names)}
    for block, statistic in zip(model.blocks, model.statistics, strict=True):
        for name, levels in zip(block.names, _levels_of(statistic), strict=False):
            if name not in given and schema.kinds[position[name]] == "text" and len(levels.values) > MANY_LEVELS:
                warn_user(
                    SufficeWarning(
                        f"Column {name!r} holds {len(levels)} different strings and is read as a category. If it is "
                        "text, count its words with ",
                        Argument("families", {name: "text"}),
                        "; if it is an identifier, ignore it with ",
                        Argument("families", {name: None}),
                        "; if it is a category, confirm that with ",
                        Argument("families", {name: "categorical"}),
                        ".",
                        column=name,
                    )
                )
