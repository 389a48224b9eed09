"""The parameters of one column, or of a block of columns, as a mapping or a table."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from suffice.exceptions import InputError, did_you_mean, listed
from suffice.families import Family
from suffice.families.given import TOLERANCE, GivenTable, LevelValues
from suffice.learning.given.blocks import GivenBlock
from suffice.learning.given.classes import Classes, as_numbers
from suffice.learning.given.labelled import aligned, has_entries
from suffice.learning.given.names import OF, OTHER_NAMES, known_names, parameter_hint, parameter_kind
from suffice.numerics.types import Float
from suffice.statistics.cuts import valid_cuts
from suffice.tables.special_levels import special

__all__ = ["given_matrices", "member_tables", "parameters_of_mapping", "parameters_of_table"]


# ---------------------------------------------------------------------- mappings


def parameters_of_mapping(key: object, given: Mapping[Any, Any], classes: Classes, named: Any) -> dict[str, Any]:
    """Named parameters, or levels with a number for each class; ``named`` is the family or its name, or None."""
    family = None if named is None else GivenBlock.of(key, named).family
    rest = {name: value for name, value in given.items() if not (name == "family" and not isinstance(value, Mapping))}
    if not rest:
        raise InputError(f"Column {key!r} has no parameters.", column=key)
    for name in ("levels", "words"):
        if name in rest and isinstance(rest[name], Mapping) and set(rest) <= {name, "length"}:
            others = {other: classes.numbers(value, other, key) for other, value in rest.items() if other != name}
            return _of_levels(key, rest[name], classes, family) | others
    if _are_names(key, rest, classes, family):
        return _of_names(key, rest, classes)
    return _of_levels(key, rest, classes, family)


def _are_names(key: object, rest: Mapping[Any, Any], classes: Classes, family: Family | None) -> bool:
    """Whether the keys are names of parameters, not levels; raises `InputError` for a name that does not exist."""
    if family is not None and family.reads in ("categories", "documents"):
        return False
    known = known_names(family)
    unknown = [name for name in rest if not (isinstance(name, str) and parameter_kind(name) in known)]
    if not unknown:
        return True
    if _cuts(list(rest)) is not None:
        return False
    if family is None:
        similar = len(unknown) < len(rest) or any(did_you_mean(name, known) for name in unknown)
        similar = similar or all(isinstance(name, str) and name.casefold() in OTHER_NAMES for name in unknown)
        if not similar or _sum_to_one(rest, classes):
            return False
    what = "there is" if family is None else f"the family {family.name} has"
    names = "" if family is None else f" Its parameters are {listed(sorted(family.parameter_names), 20)}."
    raise InputError(
        f"Column {key!r}: {what} no parameter {unknown[0]!r:.80}.{parameter_hint(unknown[0], known)}{names}", column=key
    )


def _sum_to_one(rest: Mapping[Any, Any], classes: Classes) -> bool:
    """Whether numbers of each class sum to one over the levels."""
    try:
        sums = np.sum([classes.numbers(value, str(level)) for level, value in rest.items()], axis=0)
    except (InputError, ValueError):
        return False
    return sums.shape == (len(classes.axis),) and bool((np.abs(sums - 1) <= TOLERANCE).all())


def _of_names(key: object, rest: Mapping[str, Any], classes: Classes) -> dict[str, Any]:
    """Parameters by name; cuts are those of bins, and their probabilities lists of numbers."""
    for name, other in (("variance", "deviation"), ("cuts", "cut")):
        if name in rest and other in rest:
            raise InputError(f"Column {key!r} has both a {name} and a {other}. Give one of them.", column=key)
    out: dict[str, Any] = {}
    columns = list(key) if isinstance(key, tuple) else None
    cuts = rest.get("cuts", rest.get("cut"))
    if cuts is not None:
        values = as_numbers(cuts, f"The cuts of column {key!r}", "a list of numbers", key).reshape(-1, 1)
        if valid_cuts(values.ravel()) is None or not len(values):
            raise InputError(
                f"The cuts of column {key!r} must be increasing finite numbers, at least one; got {cuts!r:.80}.",
                column=key,
            )
        out["cut"] = LevelValues(range(1, len(values) + 1), np.repeat(values, len(classes.axis), axis=1))
    for name, value in rest.items():
        what = f"The {name} of column {key!r}"
        if name in ("cut", "cuts"):
            continue
        if name in ("covariance", "correlation"):
            out[name] = given_matrices(value, classes, what, key, columns)
        elif name == "variance":
            out["deviation"] = _deviation(classes.numbers(value, what, key, columns), key)
        elif cuts is not None and name == "probability":
            values = classes.numbers(value, what, key)
            out[name] = LevelValues(range(values.shape[-1]), values.reshape(len(values), -1).T)
        else:
            out[name] = classes.numbers(value, what, key, columns)
    return out


def _deviation(variance: Float, key: object) -> Float:
    if not (variance > 0).all():
        raise InputError(f"Column {key!r}: each variance must be above 0.", column=key)
    return np.sqrt(variance)


def given_matrices(
    value: Any, classes: Classes, what: str, key: object, columns: Sequence[object] | None = None
) -> Float:
    """One matrix for each class (K, d, d); one matrix (d, d) holds for all classes."""
    if has_entries(value):
        shapes = {np.shape(each) for each in value.values()} if isinstance(value, Mapping) else set()
        if len(shapes) > 1:
            raise InputError(f"{what} has different shapes in the classes: {sorted(shapes)}.", column=key)
        matrices = classes.numbers(value, what, key, columns)
    else:
        ordered = aligned(value, (columns, columns), what, key, ("column", "column"))
        matrices = as_numbers(ordered, what, "a matrix (d, d), or one for each class (K, d, d)", key)
        if matrices.ndim == 2:
            return np.array([matrices] * len(classes.axis))
        if matrices.ndim == 3:
            matrices = classes.numbers(matrices, what, key)
    if matrices.ndim != 3:
        raise InputError(
            f"{what} must be a matrix (d, d), or one for each class (K, d, d); got shape {np.shape(value)}.",
            column=key,
        )
    return matrices


# ---------------------------------------------------------------------- levels


def _of_levels(key: object, rest: Mapping[Any, Any], classes: Classes, family: Family | None) -> dict[str, Any]:
    """Levels with a number for each class; names of intervals are bins."""
    rows = [classes.numbers(value, f"Level {level!r} of column {key!r}", key) for level, value in rest.items()]
    wrong = next((level for level, row in zip(rest, rows, strict=True) if row.ndim != 1), None)
    if wrong is not None:
        raise InputError(f"Level {wrong!r} of column {key!r} needs one number for each class.", column=key)
    return _levels(key, list(rest), np.array(rows), classes, family)


def _levels(key: object, levels: list[Any], values: Float, classes: Classes, family: Family | None) -> dict[str, Any]:
    cuts = _cuts(levels)
    reads_words = family is not None and family.reads == "documents"
    out: dict[str, Any] = {"probability": LevelValues(levels if reads_words else list(map(special, levels)), values)}
    if family is not None and family.reads in ("categories", "documents"):
        return out
    if cuts is not None:
        every = np.repeat(np.array(cuts)[:, None], len(classes.axis), axis=1)
        out["cut"] = LevelValues(range(1, len(cuts) + 1), every)
    elif family is not None and "cut" in family.parameter_names and len(levels) > 1:
        raise InputError(
            f"Column {key!r}: the levels {listed(levels)} are not intervals. Name them '≤ 18', '18 to 65' and '> 65', "
            "or give 'cuts' and 'probability'.",
            column=key,
        )
    return out


def _cuts(levels: Sequence[Any]) -> list[float] | None:
    """The cuts of levels that are intervals, such as "≤ 18", "18 to 65" and "> 65"; None for others."""
    if len(levels) < 2 or not all(isinstance(level, str) for level in levels):
        return None
    first, last = re.match(r"≤ (.+)", levels[0]), re.match(r"> (.+)", levels[-1])
    if not first or not last:
        return None
    try:
        cuts = [float(first.group(1)), *(float(level.split(" to ")[1]) for level in levels[1:-1])]
        return cuts if float(last.group(1)) == cuts[-1] else None
    except (IndexError, ValueError):
        return None


# ---------------------------------------------------------------------- tables


def parameters_of_table(
    key: object, columns: Mapping[str, list[Any]], classes: Classes, index: Sequence[Any] | None = None
) -> dict[str, Any]:
    """A table with a row for each class, or for each level with a column for each class.

    An ``index`` has the classes, or the levels, if no column has them.
    """
    if index is not None and not {"class", "level", "word"} & columns.keys():
        rows = "class" if set(map(str, index)) == set(map(str, classes.written)) else "level"
        columns = {rows: list(index), **columns}
    for name in ("level", "word"):
        if name in columns:
            by_class = {str(label).removeprefix("given "): values for label, values in columns.items() if label != name}
            values = classes.numbers(by_class, f"The table of column {key!r}", key).T
            return _levels(key, columns[name], values.reshape(len(columns[name]), -1), classes, None)
    if "class" not in columns:
        raise InputError(
            f"The table of column {key!r} needs a column 'class' or 'level'; it has {listed(list(columns))}.",
            column=key,
        )
    if len(set(columns["class"])) < len(columns["class"]):
        raise InputError(f"The table of column {key!r} names a class more than once.", column=key)
    rest = {
        str(name): dict(zip(columns["class"], values, strict=True))
        for name, values in columns.items()
        if name != "class"
    }
    return _of_names(key, rest, classes)


def member_tables(key: Any, parameters: Mapping[str, Any], classes: Classes, family: Family) -> list[GivenTable]:
    """A table for each column of a block; numbers of a block with an entry for each column are split."""
    if not isinstance(key, tuple) or family.one_table:
        return [classes.table(key, parameters)]
    tables = [dict(_of_member(name, j, key, parameters, classes)) for j, name in enumerate(key)]
    for kind in parameters:
        if parameter_kind(kind) != kind and not any(_belongs(kind, name, key) for name in key):
            raise InputError(
                f"Columns {key!r}: the parameter {kind!r} names a column that is not among them.", column=key
            )
    return [classes.table(name, table) for name, table in zip(key, tables, strict=True)]


def _belongs(kind: str, name: object, names: Sequence[object]) -> bool:
    """Whether a parameter such as "mean of u" or "correlation of u and v" is one of this column."""
    match = OF.match(kind)
    return bool(match and match.group(2) == str(name)) or any(kind in _pair_names(name, each) for each in names)


def _of_member(
    name: object, j: int, names: Sequence[object], parameters: Mapping[str, Any], classes: Classes
) -> Iterator[tuple[str, Any]]:
    """The parameters of one column of a block."""
    levels: dict[object, Float] = {}
    for kind, values in parameters.items():
        match = OF.match(kind)
        if match and match.group(2) == str(name):
            yield match.group(1), values
        elif kind.startswith("correlation of "):
            other = next((each for each in names if kind in _pair_names(name, each)), None)
            if other is not None:
                levels[other] = values
        elif isinstance(values, np.ndarray) and values.ndim == 3:
            _check_square(kind, values, names)
            yield kind, LevelValues(list(names), values[:, j].T)
        elif isinstance(values, np.ndarray) and values.ndim == 2:
            if values.shape[1] != len(names):
                raise InputError(
                    f"The {kind} of {tuple(names)!r} has {values.shape[1]} numbers in each class; expected "
                    f"{len(names)}, one for each column.",
                    argument=kind,
                )
            yield kind, values[:, j]
        elif not match:
            yield kind, values
    if levels:
        yield "correlation", LevelValues(list(levels), np.array(list(levels.values())))


def _pair_names(a: object, b: object) -> tuple[str, str]:
    return f"correlation of {a} and {b}", f"correlation of {b} and {a}"


def _check_square(kind: str, values: Float, names: Sequence[object]) -> None:
    d = len(names)
    if values.shape[1:] != (d, d):
        raise InputError(
            f"The {kind} has shape {values.shape[1:]}; expected ({d}, {d}), a row and a column for each column.",
            argument=kind,
        )
