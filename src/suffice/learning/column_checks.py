"""What `NaiveBayes` says of columns: those without a value, those that change their kind, those that may be text."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from suffice.exceptions import EmptyColumnWarning, InputError, MergeError, SufficeWarning, columns_at, warn_user
from suffice.families import Text
from suffice.families.categorical import check_unseen
from suffice.learning.family_choice import reads_documents
from suffice.model import Block, Model
from suffice.sources.tables import same_kind
from suffice.tables import Levels, Table
from suffice.tables.table import Schema

__all__ = ["check_empty", "check_levels", "check_merge", "warn_about_empty", "warn_about_levels", "warn_about_words"]

MANY_LEVELS = 40  # of a column of texts: beyond, it is rather text than a category


def check_empty(table: Table, schema: Schema, named: Collection[Any]) -> None:
    """Raise if a column has values now that had none when its family was chosen by its type."""
    for name, before, now in zip(schema.names, schema.kinds, table.kinds, strict=True):
        if before == "empty" and now in ("number", "bool", "time", "duration") and name not in named:
            raise InputError(
                f"Column {name!r} held no value in the first batch, so that its family could not be chosen by its "
                f"type; now it holds values from row 0 on. Name its family: families={{{name!r}: 'gaussian'}}."
            )


def check_levels(before: Model, batch: Model, table: Table) -> None:
    """Raise if a column of texts brings numbers, or the other way round."""
    for block, old, new in zip(batch.blocks, before.statistics, batch.statistics, strict=True):
        pairs = zip(getattr(old, "levels", ()), getattr(new, "levels", ()), strict=True)
        for j, (known, found) in enumerate(pairs):
            if known.kinds and found.kinds - known.kinds:
                check_unseen(block.take(table).columns[j], known, block.names[j], "ignore", len(table))


def check_merge(mine: Schema, ours: Model, theirs: Schema, others: Model) -> None:
    """Raise if a column of two models is of different kinds."""
    there = dict(zip(theirs.names, theirs.kinds, strict=True))
    for name, kind in zip(mine.names, mine.kinds, strict=True):
        if name in there and not same_kind(kind, there[name]):
            raise MergeError(f"Column {name!r} is a {kind} here and a {there[name]} there; convert one of them.")
    known, found = _levels(ours), _levels(others)
    for name in known.keys() & found.keys():
        x, y = known[name], found[name]
        if x.kinds and y.kinds and not x.kinds & y.kinds:
            raise MergeError(
                f"Column {name!r} has levels such as {x.values[0]!r} here and {y.values[0]!r} there; convert one "
                "of them to the type of the other."
            )


def _levels(model: Model) -> dict[object, Levels]:
    """The levels of each column that has any."""
    pairs = zip(model.blocks, model.statistics, strict=True)
    return {name: each for block, a in pairs for name, each in zip(block.names, getattr(a, "levels", ()), strict=False)}


def warn_about_empty(model: Model, table: Table) -> None:
    """Say which columns of a fit have no value at all."""
    for block, statistic in zip(model.blocks, model.statistics, strict=True):
        empty = _empty_columns(statistic, block, table)
        if len(empty):
            alone = block.independent or len(block.names) == 1
            whole = "" if alone else f" No row of {tuple(block.names)} is whole, and none counts."
            where = columns_at(block.names, empty)
            warn_user(
                f"There is no value at all in {where}, which says nothing.{whole} Leave it out, or look at how the "
                "data were read.",
                EmptyColumnWarning,
            )


def _empty_columns(statistic: Any, block: Block, table: Table) -> NDArray[np.intp]:
    """Columns of which no row has a value."""
    n_columns, levels = len(block.names), getattr(statistic, "levels", None)
    if levels is not None and block.independent:
        none = np.array([statistic.of_column(j).sum() == 0 for j in range(n_columns)])
        return np.flatnonzero(none & (statistic.missing.sum(axis=0) > 0))
    weight = getattr(statistic, "weight", None)
    if weight is not None and weight.ndim == 2:
        return np.flatnonzero(weight[:, :n_columns].sum(axis=0) == 0)
    if reads_documents(block.family):
        return np.flatnonzero([len(table) > 0 and not statistic.weight.any()])
    # Of a block that hangs together only whole rows count; where there are none, the table knows why.
    if block.independent or not len(table) or (weight is None and statistic.count.any()):
        return np.empty(0, dtype=np.intp)
    if weight is not None and weight.any():
        return np.empty(0, dtype=np.intp)
    rows = block.take(table)
    if levels is not None:
        return np.flatnonzero([(column.dense(len(table)) < 0).all() for column in rows.columns])
    return np.empty(0, dtype=np.intp) if issparse(rows) else np.flatnonzero(np.isnan(rows).all(axis=0))


def warn_about_words(model: Model) -> None:
    """Say so if the words that a column of texts leaves out are not as its words are read."""
    for block in model.blocks:
        if isinstance(block.family, Text):
            block.family.analysis.warn()


def warn_about_levels(model: Model, schema: Schema, named: Collection[Any]) -> None:
    """Say so if a column of texts has so many levels that it is probably no category, and nobody named its family."""
    place = {name: j for j, name in enumerate(schema.names)}
    for block, statistic in zip(model.blocks, model.statistics, strict=True):
        for name, levels in zip(block.names, getattr(statistic, "levels", ()), strict=False):
            if name not in named and schema.kinds[place[name]] == "text" and len(levels) > MANY_LEVELS:
                warn_user(
                    f"Column {name!r} holds {len(levels)} different texts, and is taken for a category. If it is text, "
                    "give it the family 'text', which counts its words; if it is an identifier, leave it out with the "
                    "family None; if it is a category after all, say so with the family 'categorical'.",
                    SufficeWarning,
                )
