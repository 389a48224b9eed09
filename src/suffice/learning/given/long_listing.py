"""Read a listing of all parameters, with a row for each number, as `parameters()` returns it or a file holds it.

A file of text keeps neither empty cells, which become missing, nor tuples, which become their text.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from suffice.exceptions import InputError
from suffice.families import Family
from suffice.families.given import LevelValues
from suffice.families.pair_tables import GIVEN
from suffice.learning.given.blocks import GivenBlock, family_for, inferred_family
from suffice.learning.given.classes import Classes, given_classes
from suffice.learning.given.labelled import matched
from suffice.model.parameter_tables import LINEAR, OFFSET, PRIOR
from suffice.tables.levels import is_missing
from suffice.tables.special_levels import level_key, read_level, special
from suffice.tables.times import time_text

__all__ = ["LONG", "long_blocks", "positions_of_texts"]

LONG = frozenset(("column", "class", "parameter", "value"))
Numbers = dict[str, dict[Any, list[tuple[Any, float]]]]  # levels and numbers, by parameter and class
KEEP = (
    " pandas reads texts such as 'NA', 'None' and 'nan' as missing cells; read a file with "
    "pandas.read_csv(..., keep_default_na=False)."
)


class _Column(NamedTuple):
    """The shared fields of the rows of one column."""

    name: Any
    family: str
    block: Any
    kind: Any


def long_blocks(
    columns: Mapping[str, list[Any]], prior: Any, classes: Any, families: Any, *, texts: bool, takes_prior: bool = True
) -> tuple[list[GivenBlock], Classes]:
    """The blocks of a listing with a row for each number; in a frame, tuples are ``texts``.

    ``takes_prior`` says whether the user may give a prior beside it.
    """
    if any(columns.get("member", ())):
        raise InputError(
            "These are the parameters of an ensemble, which has several models of the same columns. Build one of them.",
            argument="parameters",
        )
    _check_times(columns)
    found = _found(columns, texts=texts)
    shares = {column: found.pop(column) for column in list(found) if column.name == PRIOR and not column.family}
    if not found:
        raise InputError("The listing has no parameters of columns.", argument="parameters")
    if prior is None and shares:
        prior = _prior(next(iter(shares.values())), takes_prior=takes_prior)
    of = given_classes(prior, classes)
    return list(_joined(found, of, families)), of


def positions_of_texts(names: Sequence[Any]) -> list[Any]:
    """Names of columns, where the texts of all positions "0", "1", … are the positions.

    >>> positions_of_texts(["(prior)", "0", "1", "(offset)"]), positions_of_texts(["(prior)", "1", "b"])
    (['(prior)', 0, 1, '(offset)'], ['(prior)', '1', 'b'])
    """
    parts = {part for name in names if name not in (PRIOR, OFFSET) for part in _parts(name)}
    if parts != {str(i) for i in range(len(parts))}:
        return list(names)
    return [
        name if name in (PRIOR, OFFSET) or not isinstance(name, str) or "(" in name else int(name) for name in names
    ]


def _parts(name: Any) -> tuple[Any, ...]:
    """The columns that a cell names: one, or those of a tuple."""
    found = _tuple(name)
    return tuple(map(str, found)) if isinstance(found, tuple) else (name,)


def _prior(numbers: Numbers, *, takes_prior: bool) -> dict[Any, float]:
    """p(y) of a listing, which may be that of some classes."""
    prior = {label: values[0][1] for label, values in next(iter(numbers.values())).items()}
    if abs(sum(prior.values()) - 1) > 1e-6:
        own = " Give prior={label: probability, ...} for these classes."
        advice = own if takes_prior else " List all classes: call parameters() without classes=."
        raise InputError(
            f"The prior probabilities of the listing sum to {sum(prior.values()):.6g}: it has only some "
            f"classes of a model.{advice}",
            argument="prior",
        )
    return prior


def _found(columns: Mapping[str, list[Any]], *, texts: bool) -> dict[_Column, Numbers]:
    """Numbers by column, parameter, class and level."""
    n = len(columns["value"])
    family, block, kind, types = (
        ["" if is_missing(cell) else cell for cell in columns.get(name, [""] * n)]
        for name in ("family", "block", "kind", "type")
    )
    level = [None if is_missing(cell) else cell for cell in columns.get("level", [""] * n)]
    out: dict[_Column, Numbers] = {}
    seen: dict[tuple[_Column, str, Any], set[Any]] = {}
    for i in range(n):
        if family[i] == LINEAR:
            continue
        name, parameter = columns["column"][i], columns["parameter"][i]
        if is_missing(name) or is_missing(parameter) or is_missing(columns["class"][i]):
            raise InputError(
                f"Row {i} of the parameters has an empty cell; it needs a column, a class and a parameter.{KEEP}",
                argument="parameters",
                rows=[i],
            )
        column = _Column(_tuple(name) if texts else name, str(family[i]), block[i], kind[i])
        by_level = out.setdefault(column, {}).setdefault(str(parameter), {}).setdefault(columns["class"][i], [])
        of_tuples = column.family == "joint_table" or str(parameter).startswith(GIVEN)
        at = _level(_tuple(level[i]) if of_tuples else level[i], str(types[i]), name)
        if level_key(at) in seen.setdefault((column, str(parameter), columns["class"][i]), set()):
            raise _repeated(name, str(parameter), columns["class"][i], level[i])
        seen[column, str(parameter), columns["class"][i]].add(level_key(at))
        by_level.append((at, _number(columns["value"][i], name, str(parameter))))
    return out


def _level(cell: Any, kind: str, column: object) -> Any:
    """The level that a cell holds, by the column ``type`` of the listing if it has one."""
    if not kind or cell is None:
        return special(cell)
    try:
        return read_level(cell, kind)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"Column {column!r} has the level {cell!r:.80}, which is not of the type {kind!r} that the listing names. "
            "Read the file with all levels as text, such as pandas.read_csv(..., dtype={'level': str}), or pass the "
            "listing itself.",
            column=column,
        ) from None


def _repeated(column: object, parameter: str, label: object, level: Any) -> InputError:
    of = f"the {parameter} of the level {level!r:.80}" if level else f"the {parameter}"
    advice = KEEP if level is None else ""
    return InputError(f"Column {column!r} has {of} in class {label!r} more than once.{advice}", column=column)


def _check_times(columns: Mapping[str, list[Any]]) -> None:
    """Raise `InputError` if the column ``time`` of a listing was changed, but not its ``value``, or the other way."""
    for i, time in enumerate(columns.get("time", ())):
        if is_missing(time) or time == "":
            continue
        expected = time_text(_number(columns["value"][i], columns["column"][i], str(columns["parameter"][i])))
        if str(time) != expected:
            raise InputError(
                f"Row {i} of the parameters has the time {str(time)!r}, but its value is {expected!r}. Change the "
                "value, which is in seconds since 1970, and leave out the column 'time'.",
                argument="parameters",
                rows=[i],
            )


def _number(value: Any, column: object, parameter: str) -> float:
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(
            f"The {parameter} of column {column!r} must be a number; got {value!r:.80}.", column=column
        ) from None


def _tuple(cell: Any) -> Any:
    """The tuple that a cell is the text of, such as "('a', 'b')"; any other cell is itself."""
    if not (isinstance(cell, str) and cell.startswith("(") and cell.endswith(")")):
        return cell
    try:
        found = ast.literal_eval(cell)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return cell
    return found if isinstance(found, tuple) else cell


def _joined(found: Mapping[_Column, Numbers], classes: Classes, families: Any) -> Iterable[GivenBlock]:
    """One block for each independent column; dependent columns of one family, or of one number, are a block."""
    order = {column: i for i, column in enumerate(found)}
    groups: dict[Any, list[_Column]] = {}
    made: dict[_Column, Any] = {}
    for column, numbers in found.items():
        chosen = _chosen_family(families, column.name) or column.family
        chosen = chosen or inferred_family(column.name, _tables(column.name, numbers, classes, None))
        family = GivenBlock.of(column.name, chosen).family if not isinstance(chosen, Family) else chosen
        made[column] = chosen
        own = family.by_column or family.one_table
        together: Any = (column.name,) if own else (family.name, column.block)
        covariance = numbers.get("covariance", numbers.get("correlation"))
        if covariance is not None and not own:
            together = tuple(level for level, _ in next(iter(covariance.values())))
        groups.setdefault(together, []).append(column)
    for members in groups.values():
        first = members[0]
        family = GivenBlock.of(first.name, made[first]).family
        own = family.by_column or family.one_table
        block = GivenBlock.of(first.name if own else tuple(each.name for each in members), made[first], _kinds(members))
        places = [order[each] for each in members] * (len(block.columns) // len(members))
        yield replace(block, places=tuple(places)).with_tables(
            [classes.table(each.name, _tables(each.name, found[each], classes, family)) for each in members]
        )


def _kinds(members: Sequence[_Column]) -> tuple[Any, ...]:
    return tuple(each.kind or None for each in members) if any(each.kind for each in members) else ()


def _chosen_family(families: Any, name: object) -> Any:
    """The family that the user has chosen for a column, or for a tuple of columns with it."""
    if isinstance(families, Mapping):
        for key in families:
            if isinstance(key, tuple) and name in key:
                return families[key]
    return family_for(families, name)


def _tables(name: object, numbers: Numbers, classes: Classes, family: Family | None) -> dict[str, Any]:
    reads_levels = family is not None and family.reads in ("categories", "documents")
    return {each: _of_rows(name, each, by, classes, by_level=reads_levels) for each, by in numbers.items()}


def _of_rows(
    name: object, parameter: str, by_class: Mapping[Any, list[tuple[Any, float]]], classes: Classes, *, by_level: bool
) -> Any:
    """Numbers of each class (K,), or of each level and class."""
    what = f"The {parameter} of column {name!r}"
    found = matched(by_class, classes.axis.labels.tolist(), what, name)
    levels = [level for level, _ in next(iter(found.values()))]
    numbers = [{level_key(level): value for level, value in values} for values in found.values()]
    for label, values in zip(found, numbers, strict=True):
        if values.keys() != set(map(level_key, levels)):
            raise InputError(f"{what} has different levels in class {label!r}.", column=name)
    table = np.array([[values[level_key(level)] for values in numbers] for level in levels])
    by_level = by_level and parameter != "length"
    if levels in ([""], [None]) and not by_level:
        return table[0]
    if None in levels:
        raise InputError(f"{what} has an empty level.{KEEP}", column=name)
    return LevelValues(levels, table)
