"""Reads given parameters: mappings, frames, and the listings that models return.

Every form becomes `GivenBlock`s: a family, and a `GivenTable` for each of its columns.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from suffice.exceptions import Argument, InputError, did_you_mean, listed
from suffice.families import Family, Text
from suffice.families.given import LevelValues
from suffice.families.pair_tables import GIVEN
from suffice.learning.given.blocks import GivenBlock, family_for, inferred_family
from suffice.learning.given.classes import Classes, given_classes, named_columns
from suffice.learning.given.column import member_tables, parameters_of_mapping, parameters_of_table
from suffice.learning.given.labelled import aligned, labels_of
from suffice.learning.given.long_listing import LONG, long_blocks, positions_of_texts
from suffice.learning.given.times import time_kinds
from suffice.model.parameter_tables import ColumnTable, ModelTables
from suffice.numerics.types import Float
from suffice.tables.listing import Listing
from suffice.tables.table import Kind

__all__ = ["given_block", "given_blocks", "is_listing"]


def given_blocks(
    parameters: Any, prior: Any, classes: Any, families: Any, *, takes_prior: bool = True
) -> tuple[list[GivenBlock], Classes]:
    """The blocks of given parameters, and their classes; ``takes_prior`` if a prior may be given beside a listing."""
    columns = named_columns(parameters)
    source = parameters.source if isinstance(parameters, Listing) else None
    if isinstance(source, ModelTables):
        _check_rebuilt(source, families)
    if columns is not None and is_listing(parameters):
        texts = not isinstance(parameters, Listing)  # a frame has no positions or tuples beside the texts in a column
        if texts:
            columns = columns | {"column": positions_of_texts(columns["column"])}
        blocks, of = long_blocks(columns, prior, classes, families, texts=texts, takes_prior=takes_prior)
    else:
        _check_mapping(parameters, columns)
        of = given_classes(prior, classes)
        blocks = [given_block(key, given, of, family_for(families, key)) for key, given in parameters.items()]
    _check_families(families, blocks)
    return blocks, of


def _check_rebuilt(source: ModelTables, families: Any) -> None:
    """Raise `InputError` if a model has more than the parameters of its listing."""
    if source.calibrated:
        raise InputError(
            "These are the parameters of a calibrated model, whose calibration parameters() does not list. Fit with ",
            Argument("calibrate", False),
            ", or save the model with save.",
            argument="parameters",
        )
    for each in source.columns:
        _check_family(each, family_for(families, each.column))


def _check_family(table: ColumnTable, family: Any) -> None:
    """Raise `InputError` if words of a listing have settings that the family to read it does not have."""
    if isinstance(table.family, Text) and not table.member:
        table.family.check_rebuilt(table.column, family if isinstance(family, Family) else None)


def is_listing(parameters: Any) -> bool:
    """Whether an object is a listing of all parameters of a model, or a frame of it."""
    columns = named_columns(parameters)
    return columns is not None and columns.keys() >= LONG


def _check_mapping(parameters: Any, columns: Mapping[str, Any] | None) -> None:
    """Raise `InputError` unless the parameters are a mapping of columns."""
    if columns is not None and {"column", "parameter"} <= columns.keys():
        raise InputError(
            "This listing has a column for each class. Give the long one, which parameters() returns without "
            "wide=True: its columns are 'column', 'class', 'parameter' and 'value'.",
            argument="parameters",
        )
    if columns is not None or not isinstance(parameters, Mapping):
        raise InputError(
            "parameters must be a mapping of columns to their parameters, or the listing that parameters() returns; "
            f"got an object of type {type(parameters).__name__}.",
            argument="parameters",
        )
    if not parameters:
        raise InputError("There are no parameters: name at least one column.", argument="parameters")


def _check_families(families: Any, blocks: Sequence[GivenBlock]) -> None:
    """Raise `InputError` for a family of a column that has no parameters."""
    if not isinstance(families, Mapping):
        return
    keys = [block.key for block in blocks]
    unknown = [key for key in families if key not in keys]
    if unknown:
        raise InputError(
            f"families names the column {unknown[0]!r:.80}, which has no parameters.{did_you_mean(unknown[0], keys)} "
            f"The columns are {listed(keys)}.",
            argument="families",
            column=unknown[0],
        )


def given_block(key: Any, given: Any, classes: Classes, family: Any) -> GivenBlock:
    """One column, or a tuple of dependent columns."""
    source = given.source if isinstance(given, Listing) else None
    if isinstance(source, list) and source and all(isinstance(each, ColumnTable) for each in source):
        return _of_source(key, source, classes, family)
    columns = named_columns(given)
    if columns is None and not isinstance(given, Mapping):
        raise InputError(
            f"The parameters of column {key!r} must be a mapping or a table; got {given!r:.80}.", column=key
        )
    if columns is None and "family" in given and not isinstance(given["family"], Mapping):
        family = given["family"]
    if columns is not None:
        index = None if isinstance(given, Mapping) else labels_of(given)
        parameters = parameters_of_table(key, columns, classes, index)
    else:
        parameters = parameters_of_mapping(key, given, classes, family)
    chosen = inferred_family(key, parameters) if family is None else family
    if family is None and chosen == "exponential":
        _check_mean_alone(key, parameters["mean"], classes)
    block = GivenBlock.of(key, chosen, _time_kinds(key, given if columns is None else columns, classes))
    return block.with_tables(member_tables(key, parameters, classes, block.family))


def _check_mean_alone(key: Any, mean: Float, classes: Classes) -> None:
    """Raise `InputError` for a mean that an exponential column cannot have, though only the mean is given."""
    if mean.ndim == 1 and (mean <= 0).any():
        k = int(np.argmax(mean <= 0))
        raise InputError(
            f"Column {key!r}: the mean of class {classes.axis.label(k)!r} is {mean[k]:.6g}, but a mean alone is read "
            "as exponential, where it must be above 0. Give a deviation as well, for a Gaussian column.",
            column=key,
        )


def _time_kinds(key: Any, given: Any, classes: Classes) -> tuple[Kind | None, ...]:
    """The kinds of columns whose means or cuts are times or durations; empty if there are none."""
    columns = list(key) if isinstance(key, tuple) else [key]
    own = [given.get(f"mean of {column}") for column in columns]
    if any(each is not None for each in own):
        kinds = tuple(None if each is None else time_kinds(_of_first_class(each), 1)[0] for each in own)
        return kinds if any(kinds) else ()
    values = next((given[name] for name in ("mean", "cuts", "cut") if name in given), None)
    if values is None:
        return ()
    by_class = aligned(values, (classes.written, columns), f"The mean of column {key!r}", key)
    kinds = time_kinds(by_class, len(columns))
    return kinds if any(kinds) else ()


def _of_first_class(values: Any) -> Any:
    return list(values.values())[:1] if isinstance(values, Mapping) else values


def _of_source(key: Any, source: Sequence[ColumnTable], classes: Classes, family: Any) -> GivenBlock:
    """The parameters behind a listing of a column, with all their digits."""
    first = source[0]
    theirs = first.classes.labels.tolist()
    if set(theirs) != set(classes.written):
        raise InputError(
            f"The parameters of column {key!r} are for the classes {listed(theirs)}; the prior names "
            f"{listed(classes.written)}.",
            column=key,
        )
    names = list(key) if isinstance(key, tuple) else [key]
    if not first.family.one_table and len(first.block) != len(source):
        raise InputError(
            f"Column {key!r} belongs to a block of dependent columns. Give their parameters together: "
            f"model.parameters({first.block!r}).",
            column=key,
        )
    if len(names) != len(first.block):
        raise InputError(
            f"The parameters of {key!r} are those of {len(first.block)} columns, {listed(list(first.block))}; the key "
            f"names {len(names)}.",
            column=key,
        )
    if family is not None:
        _check_family(first, family)
    columns: list[Any] = [tuple(names)] if first.family.one_table else names
    pairs = zip(columns, source, strict=True)
    tables = [classes.table(name, _renamed(each.table, first.block, names)) for name, each in pairs]
    kinds = tuple(kind for each in source for kind in each.kinds)
    block = GivenBlock.of(key, first.family if family is None else family, kinds)
    return (replace(block, setting=first.family.name) if family is None else block).with_tables(tables)


def _renamed(
    table: Mapping[str, Float | LevelValues], before: Sequence[object], after: Sequence[object]
) -> Mapping[str, Float | LevelValues]:
    """The table of a column, where columns that it names have other names."""
    if list(before) == list(after):
        return table
    new = dict(zip(before, after, strict=True))
    names = {f"{GIVEN}{old}": f"{GIVEN}{name}" for old, name in new.items()}
    return {
        names.get(name, name): LevelValues([new.get(level, level) for level in values.levels], values.values)
        if isinstance(values, LevelValues) and name in ("covariance", "correlation")
        else values
        for name, values in table.items()
    }
