"""What numbers, levels and classes must be like if rows were to have given them.

A checksum says that a file is as it was written, not that Suffice has written it. The checks go by the names of fields,
and compare a statistic with the zero of its family.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import ModelFileError, columns_at
from suffice.statistics import ClassAxis, Statistic, WordSums
from suffice.tables import Levels
from suffice.tables.levels import is_missing
from suffice.tables.table import Kind, Schema

__all__ = ["KINDS", "check_classes", "check_schema", "check_statistic"]

KINDS: tuple[Kind, ...] = ("number", "bool", "time", "duration", "category", "text", "empty")
"""Files name a kind by its place here: one that is added comes last."""
NOT_NEGATIVE = ("weight", "count", "documents", "missing", "m2")


def check_classes(axis: Any) -> ClassAxis:
    """The axis, unless its labels are not sorted and distinct."""
    labels = getattr(axis, "labels", None)
    if not (isinstance(axis, ClassAxis) and isinstance(labels, np.ndarray) and labels.ndim == 1):
        raise ModelFileError("its classes are not a list of labels")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ModelFileError("a class has no label (NaN)")
    if not bool(np.all(labels[:-1] < labels[1:])):
        raise ModelFileError("its classes are not sorted and distinct")
    return axis


def check_schema(schema: Any, n_columns: Any) -> Schema:
    """The schema, unless it is not one of so many columns."""
    if not isinstance(schema, Schema) or type(n_columns) is not int:
        raise ModelFileError("its columns are not described")
    if len(schema.names) != n_columns or len(schema.kinds) != n_columns:
        raise ModelFileError(f"it has {len(schema.names)} names and {len(schema.kinds)} kinds for {n_columns} columns")
    if schema.named and len(set(schema.names)) != n_columns:
        raise ModelFileError("two of its columns have one name")
    return schema


def check_statistic(found: Any, zero: Statistic, names: Sequence[object]) -> None:
    """Raise unless the statistic is of the kind of ``zero``, and may be that of some rows.

    Parameters
    ----------
    found : Statistic
    zero : Statistic
        The statistic of no rows, by the family that reads this one.
    names : sequence
        Of its columns.
    """
    if type(found) is not type(zero):
        needed = type(zero).__name__
        raise _fault(names, f"the settings need {needed}, and the statistic is {type(found).__name__}")
    if found.classes != zero.classes:
        raise _fault(names, "the statistic is of other classes than the model")
    for each in fields(zero):
        here, there = getattr(found, each.name), getattr(zero, each.name)
        if type(here) is not type(there):
            raise _fault(names, f"{each.name} is a {type(here).__name__}")
        if each.name in zero.fields_by_class() and len(here) != len(zero.classes):
            raise _fault(names, f"{each.name} is of {len(here)} classes, not {len(zero.classes)}")
        if isinstance(there, np.ndarray):
            wrong = _wrong_with(here, there, negative=each.name not in NOT_NEGATIVE)
            if wrong:
                raise _fault(names, f"{each.name} {wrong}")
        elif isinstance(there, Statistic):
            check_statistic(here, there, names)
    levels = getattr(found, "levels", None)
    if levels is not None:
        _check_levels(levels, names)
        if not _fits(found, levels):
            raise _fault(names, "there are not as many counts as levels, or counts of no level")
    if isinstance(found, WordSums) and isinstance(zero, WordSums):
        _check_words(found, zero, names)
    if found.shape != zero.shape:
        raise _fault(names, f"the statistic is of {found.shape} columns, not {zero.shape}")


def _check_words(found: WordSums, zero: WordSums, names: Sequence[object]) -> None:
    """Raise unless there are counts for each word of a vocabulary, as the settings read them."""
    flaw = found.vocabulary.flaw()
    if flaw:
        raise _fault(names, f"{flaw}")
    if found.vocabulary.slots != zero.vocabulary.slots or found.settings != zero.settings:
        raise _fault(names, "the settings read documents in another way than those that were counted")
    if not found.count.shape[1] == found.documents.shape[1] == len(found.vocabulary):
        raise _fault(names, "there are not as many counts as words")
    held = found.documents.any(axis=0)
    if not (found.vocabulary.slots or held.all()) or ((found.count > 0) != (found.documents > 0)).any():
        raise _fault(names, "there are words that no document has")


def _fault(names: Sequence[object], why: str) -> ModelFileError:
    return ModelFileError(f"{columns_at(names, range(len(names)))}: {why}")


def _wrong_with(here: NDArray[Any], there: NDArray[Any], *, negative: bool) -> str | None:
    # An axis that no rows leave empty is as long as what was seen.
    alike = here.ndim == there.ndim and all(b in (a, 0) for a, b in zip(here.shape, there.shape, strict=True))
    if not alike or here.dtype != there.dtype:
        return f"has shape {here.shape} and type {here.dtype}"
    if here.dtype.kind == "f" and not np.isfinite(here).all():
        return "holds a number that is not finite"
    return None if negative or not (here < 0).any() else "holds a number below zero"


def _check_levels(levels: Any, names: Sequence[object]) -> None:
    if not isinstance(levels, tuple) or len(levels) != len(names):
        raise _fault(names, "there are levels of other columns")
    for each, name in zip(levels, names, strict=True):
        good = isinstance(each, Levels) and isinstance(each.values, tuple) and isinstance(each.declared, frozenset)
        if not good or any(map(is_missing, each.values)):
            raise ModelFileError(f"column {name!r} has no list of levels")
        distinct = set(each.values)
        if len(distinct) != len(each.values) or not each.declared <= distinct:
            raise ModelFileError(f"column {name!r} has a level twice, or declares one that it has not")


def _fits(found: Any, levels: tuple[Levels, ...]) -> bool:
    """Whether there is a count for each level; in a joint table, for each of its cells."""
    cells = getattr(found, "cells", None)
    if cells is None:
        return bool(found.count.shape[1] == sum(map(len, levels)))
    sizes = np.array([len(each) for each in levels], dtype=np.int64)
    if len(cells) != found.count.shape[1] or not ((cells >= 0) & (cells < sizes)).all():
        return False
    return len(np.unique(cells, axis=0)) == len(cells)
