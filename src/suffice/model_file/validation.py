"""Check that the statistics, levels and classes of a file could come from rows.

A checksum shows that a file has not changed since it was written, not that Suffice wrote it. The checks go by the names
of fields, and compare a statistic with the zero of its family.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from suffice.exceptions import MergeError, ModelFileError, columns_at
from suffice.model_file.encoding import Value, field_values
from suffice.numerics.types import Array
from suffice.statistics import (
    BinCounts,
    ClassAxis,
    Counts,
    JointCounts,
    PairCounts,
    PatternScatter,
    Statistic,
    WordSums,
)
from suffice.statistics.patterns import distinct_patterns, n_levels
from suffice.tables import Levels
from suffice.tables.levels import is_missing
from suffice.tables.table import Kind, Schema

__all__ = ["KINDS", "check_classes", "check_schema", "check_statistic"]

KINDS: tuple[Kind, ...] = ("number", "bool", "time", "duration", "category", "text", "empty")
"""Files store a kind as its position here: add new kinds at the end."""
NOT_NEGATIVE = ("weight", "count", "documents", "missing", "m2", "pairs", "single")


def check_classes(axis: ClassAxis) -> ClassAxis:
    """Return the axis; raise unless its labels are sorted and distinct."""
    labels: object = axis.labels  # a file may hold anything
    if not isinstance(labels, np.ndarray) or labels.ndim != 1:
        raise ModelFileError("its classes are not a list of labels")
    if labels.dtype.kind == "f" and np.isnan(labels).any():
        raise ModelFileError("the label of a class is NaN")
    if not bool(np.all(labels[:-1] < labels[1:])):
        raise ModelFileError("its classes are not sorted and distinct")
    return axis


def check_schema(schema: Schema, n_columns: int) -> Schema:
    """Return the schema; raise unless it describes that many columns."""
    if len(schema.names) != n_columns or len(schema.kinds) != n_columns:
        raise ModelFileError(f"it has {len(schema.names)} names and {len(schema.kinds)} kinds for {n_columns} columns")
    if schema.named and len(set(schema.names)) != n_columns:
        raise ModelFileError("two of its columns have the same name")
    return schema


def check_statistic(statistic: Statistic, zero: Statistic, names: Sequence[object]) -> None:
    """Raise unless the statistic has the type and shape of ``zero``, and could summarise some rows.

    Parameters
    ----------
    statistic : Statistic
        From a file: it may be any value.
    zero : Statistic
        The statistic of no rows, from the family that reads this one.
    names : sequence
        The names of its columns.
    """
    if type(statistic) is not type(zero):
        raise _fault(names, f"the settings need {type(zero).__name__}; the statistic is {type(statistic).__name__}")
    if statistic.classes != zero.classes:
        raise _fault(names, "the statistic has different classes than the model")
    stored, empty = field_values(statistic), field_values(_without_bins(zero))
    for name, expected in empty.items():
        _check_field(name, stored[name], expected, zero, names)
    if isinstance(statistic, Counts | JointCounts):
        _check_levels(statistic.levels, names)
        if not _has_count_of_each_level(statistic):
            raise _fault(names, "the counts do not match the levels")
    if isinstance(statistic, BinCounts) and not statistic.has_valid_bins():
        raise _fault(names, "the counts do not match the bins")
    if isinstance(statistic, PatternScatter):
        _check_patterns(statistic, names)
    if isinstance(statistic, PairCounts):
        _check_pairs(statistic, zero, names)
    if isinstance(statistic, WordSums) and isinstance(zero, WordSums):
        _check_words(statistic, zero, names)
    if statistic.shape != zero.shape:
        raise _fault(names, f"the statistic has {statistic.shape} columns; expected {zero.shape}")


def _check_field(name: str, value: Value, expected: Value, zero: Statistic, names: Sequence[object]) -> None:
    """Raise unless a field of a statistic has the type, shape and sign of that of its zero."""
    if type(value) is not type(expected):
        raise _fault(names, f"{name} is a {type(value).__name__}")
    if name in zero.fields_by_class() and len(value) != len(zero.classes):
        raise _fault(names, f"{name} has {len(value)} classes; expected {len(zero.classes)}")
    if isinstance(expected, np.ndarray):
        problem = _array_problem(value, expected, may_be_negative=name not in NOT_NEGATIVE)
        if problem:
            raise _fault(names, f"{name} {problem}")
    elif isinstance(expected, Statistic):
        check_statistic(value, expected, names)


def _without_bins(zero: Statistic) -> Statistic:
    """The zero whose axes are empty without rows."""
    return PairCounts.zero(zero.classes, zero.n_columns) if isinstance(zero, PairCounts) else zero


def _check_pairs(statistic: PairCounts, zero: Statistic, names: Sequence[object]) -> None:
    """Raise unless bins and levels are valid, each has counts, and the counts sum to the rows."""
    if statistic.levels:
        _check_levels(statistic.levels, names)
    flaw = statistic.flaw()
    if flaw:
        raise _fault(names, flaw)
    try:
        statistic.check_joins(zero)
    except MergeError as error:
        raise _fault(names, str(error).rstrip(".")) from None


def _check_words(statistic: WordSums, zero: WordSums, names: Sequence[object]) -> None:
    """Raise unless the vocabulary is valid, each word has counts, and the settings match."""
    flaw = statistic.vocabulary.flaw()
    if flaw:
        raise _fault(names, f"{flaw}")
    if statistic.vocabulary.slots != zero.vocabulary.slots or statistic.settings != zero.settings:
        raise _fault(names, "the settings read documents differently from those that were counted")
    if not statistic.count.shape[1] == statistic.documents.shape[1] == len(statistic.vocabulary):
        raise _fault(names, "the counts do not match the words")
    used = statistic.documents.any(axis=0)
    if not (statistic.vocabulary.slots or used.all()) or ((statistic.count > 0) != (statistic.documents > 0)).any():
        raise _fault(names, "some words occur in no document")


def _check_patterns(statistic: PatternScatter, names: Sequence[object]) -> None:
    """Raise unless each cell has one class, one pattern of some of the columns, and rows."""
    n, observed = len(statistic.codes), statistic.observed
    if not all(len(array) == n for array in (observed, statistic.weight, statistic.mean, statistic.scatter)):
        raise _fault(names, "the patterns of missing cells do not match their rows")
    if not all(len(array) == n for array in (statistic.weight_low, statistic.mean_low, statistic.scatter_low)):
        raise _fault(names, "the patterns of missing cells do not match their rows")
    is_pattern = ((observed == 0) | (observed == 1)).all(axis=1) & observed.any(axis=1) & ~observed.all(axis=1)
    has_class = (statistic.codes >= 0) & (statistic.codes < len(statistic.classes))
    lacks = observed == 0
    pairs = lacks[:, :, None] | lacks[:, None, :]
    is_zero = not statistic.mean[lacks].any() and not statistic.scatter[pairs].any()
    if not (is_pattern & has_class & (statistic.weight > 0)).all() or not is_zero:
        raise _fault(names, "the patterns of missing cells are not valid")
    first, _ = distinct_patterns(observed > 0, statistic.codes)
    if not np.array_equal(first, np.arange(n)):
        raise _fault(names, "the patterns of missing cells are not sorted and distinct")
    if not 0 <= statistic.level <= n_levels(statistic.shape[0]):
        raise _fault(names, f"there is no level {statistic.level} of patterns")


def _fault(names: Sequence[object], problem: str) -> ModelFileError:
    return ModelFileError(
        f"{columns_at(names, range(len(names)))}: {problem}", column=names[0] if len(names) == 1 else None
    )


def _array_problem(array: Array, zero: Array, *, may_be_negative: bool) -> str | None:
    # An axis that is empty without rows may have any length.
    fits = array.ndim == zero.ndim and all(b in (a, 0) for a, b in zip(array.shape, zero.shape, strict=True))
    if not fits or array.dtype != zero.dtype:
        return f"has shape {array.shape} and type {array.dtype}"
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        return "holds a number that is not finite"
    return None if may_be_negative or not (array < 0).any() else "holds a negative number"


def _check_levels(levels: object, names: Sequence[object]) -> None:
    if not isinstance(levels, tuple) or len(levels) != len(names):
        raise _fault(names, "the levels belong to different columns")
    for each, name in zip(levels, names, strict=True):
        valid = isinstance(each, Levels) and isinstance(each.values, tuple) and isinstance(each.declared, frozenset)
        if not valid or any(map(is_missing, each.values)):
            raise ModelFileError(f"column {name!r} has no list of levels", column=name)
        distinct = set(each.values)
        if len(distinct) != len(each.values) or not each.declared <= distinct:
            raise ModelFileError(f"column {name!r} has a duplicate level, or declares a level it lacks", column=name)


def _has_count_of_each_level(statistic: Counts | JointCounts) -> bool:
    """Whether there is a count for each level; in a joint table, for each of its cells."""
    sizes = np.array([len(each) for each in statistic.levels], dtype=np.int64)
    if isinstance(statistic, Counts):
        return bool(statistic.count.shape[1] == sizes.sum())
    cells = statistic.cells
    if len(cells) != statistic.count.shape[1] or not ((cells >= 0) & (cells < sizes)).all():
        return False
    return len(np.unique(cells, axis=0)) == len(cells)
