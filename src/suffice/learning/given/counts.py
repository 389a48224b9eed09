"""Statistics from counts of levels, without rows.

They equal the statistics of the rows that were counted, so the models can be updated.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from suffice.exceptions import Argument, InputError, did_you_mean, listed
from suffice.families.given import TOLERANCE
from suffice.learning.fitted import Fitted
from suffice.learning.given.classes import Classes, named_columns
from suffice.learning.given.labelled import has_entries, labels_of
from suffice.learning.given.model import class_sums, column_layout, joined_columns
from suffice.learning.specification import Specification
from suffice.model import Block, Model
from suffice.numerics.types import Float
from suffice.statistics import ClassAxis, Membership, Statistic

__all__ = ["ColumnCounts", "check_additive", "counted_columns", "fitted_counts"]

ROUNDING = 1e-9
MARGIN = "All"  # how pandas.crosstab names sums

ColumnCounts = tuple[object, list[Any], list[Any], Float]
"""A column, its levels, their classes, and their counts."""


def check_additive(specification: Specification) -> None:
    """Raise `InputError` if a setting is chosen on held-out rows, which counts do not have."""
    specification.check()
    if not specification.is_additive:
        raise InputError(
            "Settings that are chosen or calibrated on held-out rows need the rows themselves. Remove "
            "'auto' and 'best' from the settings, set ",
            Argument("calibrate", False),
            ", or fit the model to rows.",
        )


# ---------------------------------------------------------------------- counts


def counted_columns(table: Any) -> list[ColumnCounts]:
    """Read counts of levels: a table with the columns class, column, level and count, or a mapping of columns.

    In a mapping, a column has a mapping of levels to the counts of each class, or a table with the column "level" and
    one column for each class.
    """
    columns = named_columns(table)
    if columns is not None:
        found = list(_long_counts(columns))
    elif isinstance(table, Mapping):
        found = [_crossed(name, given) for name, given in table.items()]
    else:
        raise InputError(
            "table must have the columns 'class', 'column', 'level' and 'count', or a mapping of columns to "
            f"their counts; got an object of type {type(table).__name__}.",
            argument="table",
        )
    if not found or not any(len(count) for *_, count in found):
        raise InputError("The table of counts is empty.", argument="table")
    for name, levels, labels, count in found:
        _check_counts(name, levels, labels, count)
        _check_margins(name, levels, labels, count)
        _check_shares(name, levels, labels, count)
    _check_types(found)
    return found


def _long_counts(columns: Mapping[str, list[Any]]) -> Iterator[ColumnCounts]:
    needed = ("class", "column", "level", "count")
    absent = [name for name in needed if name not in columns]
    if absent:
        raise InputError(
            f"The table of counts has no column {absent[0]!r}.{did_you_mean(absent[0], columns)} It needs "
            f"{listed(list(needed))}.",
            argument="table",
        )
    rows: dict[object, list[int]] = {}
    for i, name in enumerate(columns["column"]):
        rows.setdefault(name, []).append(i)
    for name, at in rows.items():
        level, label, count = ([columns[each][i] for i in at] for each in ("level", "class", "count"))
        yield name, level, label, _numbers(count, name)


def _crossed(name: object, given: Any) -> ColumnCounts:
    """Counts of one column, by level and class: a mapping, or a table with the levels in a column or in its index."""
    columns = named_columns(given)
    if columns is not None:
        levels = columns["level"] if "level" in columns else None if isinstance(given, Mapping) else labels_of(given)
        if levels is None:
            raise InputError(f"The table of column {name!r} has no column 'level'.", column=name)
        by_class = [(label, values) for label, values in columns.items() if label != "level"]
        triples = [(level, label, values[i]) for i, level in enumerate(levels) for label, values in by_class]
        return _of_triples(name, triples)
    if not isinstance(given, Mapping) or not all(isinstance(each, Mapping) for each in given.values()):
        raise InputError(
            f"The counts of column {name!r} must be a table, or a mapping of levels to the counts of each class.",
            column=name,
        )
    return _of_triples(name, [(level, label, count) for level, of in given.items() for label, count in of.items()])


def _of_triples(name: object, triples: Sequence[tuple[Any, Any, Any]]) -> ColumnCounts:
    levels, labels, counts = map(list, zip(*triples, strict=True)) if triples else ([], [], [])
    return name, levels, labels, _numbers(counts, name)


def _numbers(counts: Sequence[Any], name: object) -> Float:
    try:
        return np.array(counts, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"The counts of column {name!r} must be numbers.", column=name) from None


def _check_counts(name: object, levels: Sequence[Any], labels: Sequence[Any], count: Float) -> None:
    wrong = np.flatnonzero(~(np.isfinite(count) & (count >= 0)))
    if len(wrong):
        i = int(wrong[0])
        empty = " Fill empty cells with 0, such as unstack(fill_value=0)." if np.isnan(count[i]) else ""
        raise InputError(
            f"Column {name!r}: the count of level {levels[i]!r} in class {labels[i]!r} is {count[i]:.6g}; it must be a "
            f"number of at least 0.{empty}",
            column=name,
        )
    if any(label is None or label != label for label in labels):
        raise InputError(f"Column {name!r} has counts without a class.", column=name)
    seen: set[tuple[Any, Any]] = set()
    for pair in zip(levels, labels, strict=True):
        if pair in seen:
            raise InputError(
                f"Column {name!r} has the level {pair[0]!r} of class {pair[1]!r} more than once. Add its counts.",
                column=name,
            )
        seen.add(pair)


def _check_margins(name: object, levels: Sequence[Any], labels: Sequence[Any], count: Float) -> None:
    """Raise `InputError` for a class or a level "All" that is the sum of all others, as a cross table may have it."""
    both = MARGIN in levels and MARGIN in labels
    for what, own, other in (("class", labels, levels), ("level", levels, labels)):
        others = [each for each in dict.fromkeys(own) if each != MARGIN]
        if MARGIN not in own or len(others) < (1 if both else 2):
            continue
        excess = dict.fromkeys(other, 0.0)  # of the margin over the sum of the others
        for mine, at, number in zip(own, other, count.tolist(), strict=True):
            excess[at] += number if mine == MARGIN else -number
        if all(abs(each) <= ROUNDING * count.sum() for each in excess.values()):
            raise InputError(
                f"Column {name!r}: the {what} {MARGIN!r} is the sum of the others. Build the table without margins.",
                column=name,
            )


def _check_shares(name: object, levels: Sequence[Any], labels: Sequence[Any], count: Float) -> None:
    """Raise `InputError` for shares in place of counts: they sum to 1, and are not whole numbers."""
    if not (count % 1).any():
        return
    groups = {"each class": labels, "each level": levels, "the whole table": [None] * len(count)}
    for where, keys in groups.items():
        sums = dict.fromkeys(keys, 0.0)
        for key, number in zip(keys, count.tolist(), strict=True):
            sums[key] += number
        if all(abs(each - 1) <= TOLERANCE for each in sums.values()):
            advice = ", or give the shares to from_parameters" if where == "each class" else ""
            raise InputError(
                f"Column {name!r} has shares, not counts: they sum to 1 in {where}. Build the table without "
                f"normalize={advice}.",
                column=name,
            )


def _check_types(found: Sequence[ColumnCounts]) -> None:
    """Raise `InputError` if some labels of classes are texts, and others are not."""
    first: dict[bool, tuple[object, Any]] = {}
    for name, _, labels, _ in found:
        for label in labels:
            first.setdefault(isinstance(label, str), (name, label))
    if len(first) > 1:
        (one, label), (other, another) = first.values()
        where = f"column {one!r} has both" if one == other else f"they are in columns {one!r} and {other!r}"
        raise InputError(
            f"The classes {label!r} and {another!r} have different types; {where}. Name the classes by all strings or "
            "all numbers.",
            column=other,
        )


def fitted_counts(specification: Specification, counted: Sequence[ColumnCounts], class_counts: Any) -> Fitted:
    """The fitted model of counts of levels: each level is so many rows of one column."""
    check_additive(specification)
    axis = ClassAxis.of([label for _, _, labels, _ in counted for label in labels])
    totals = np.array([_by_class(axis, labels, count) for _, _, labels, count in counted])
    weight = _class_weights(axis, totals, class_counts, [name for name, *_ in counted])
    if not weight.any():
        raise InputError("All counts are zero.", argument="table")
    names = [name for name, *_ in counted]
    tables, kinds = {}, []
    for (name, levels, labels, count), total in zip(counted, totals, strict=True):
        lacking = np.maximum(weight - total, 0.0)
        short = np.flatnonzero(lacking > ROUNDING * weight)
        cells = np.empty((len(levels) + len(short), 1), dtype=object)
        cells[:, 0] = [*levels, *[None] * len(short)]
        codes = np.append(axis.positions(np.array(labels)), short).astype(np.int64)
        members = Membership(axis, codes=codes, weights=np.append(count, lacking[short]))
        table, _, layout = specification.reader.training(cells, axis.labels[codes])
        tables[name] = table, members
        kinds.append(layout.schema.kinds[0])
    layout = column_layout(names, kinds)
    blocks = specification.blocks_of(layout.schema)
    statistics = tuple(_summarized(block, tables) for block in blocks)
    return Fitted(specification, layout, Model(blocks, class_sums(axis, weight), statistics))


def _by_class(axis: ClassAxis, labels: Sequence[Any], count: Float) -> Float:
    return np.asarray(np.bincount(axis.positions(np.array(labels)), count, minlength=len(axis)), dtype=np.float64)


def _class_weights(axis: ClassAxis, totals: Float, given: Any, names: Sequence[object]) -> Float:
    """Rows of each class (K,): given, or the largest sum of a column; the others then have missing cells."""
    if given is None:
        return np.asarray(totals.max(axis=0))
    if not has_entries(given):
        raise InputError(
            f"class_counts must be a mapping of classes to their numbers of rows; got {given!r:.80}.",
            argument="class_counts",
        )
    classes = Classes(axis, axis.labels.tolist(), np.ones(len(axis)))
    weight = classes.numbers(given, "class_counts")
    if not (np.isfinite(weight) & (weight >= 0)).all():
        raise InputError("class_counts must be numbers of at least 0.", argument="class_counts")
    above = totals > weight * (1 + ROUNDING)
    if above.any():
        j, k = np.argwhere(above)[0]
        raise InputError(
            f"Column {names[j]!r} has counts of {totals[j, k]:.6g} in class {axis.label(k)!r}, more than its "
            f"{weight[k]:.6g} rows.",
            argument="class_counts",
            column=names[j],
        )
    return weight


def _summarized(block: Block, tables: Mapping[object, Any]) -> Statistic:
    """The statistic of a block of independent columns, each with rows of its own."""
    if not block.independent and len(block.names) == 1:
        raise InputError(
            f"The family {block.family.name} of column {block.names[0]!r} does not read levels. Choose another family, "
            "such as 'categorical', or fit the model to rows.",
            argument="families",
            column=block.names[0],
        )
    if not block.independent:
        raise InputError(
            f"Counts of single columns do not show how {listed(list(block.names))} depend on each other. Give "
            "them independent families, or fit the model to rows with their counts as sample_weight.",
            argument="families",
        )
    parts = []
    for name in block.names:
        table, members = tables[name]
        own = Block(block.family, slice(None), [name])
        rows = own.take(table)
        own.check(rows)
        parts.append(block.family.summarize(rows, members, [name]).check([name]))
    return joined_columns(block.family, parts)
