"""The columns that a model reads, and cells of JSON in their types.

Cells become an Arrow table, in which each column has the type that the model expects: numbers are float64, numbers that
are levels stay exact, texts are strings, and dates and times are points in time.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

import numpy as np

from suffice.exceptions import InputError, did_you_mean, listed, short
from suffice.learning.fitted import Fitted
from suffice.numerics.types import Array, Float
from suffice.sources.engine_types import ArrowArray, ArrowTable
from suffice.sources.named_rows import matrix_of_arrow
from suffice.sources.row_reader import RowLayout

__all__ = [
    "Column",
    "Kind",
    "RowPlan",
    "Types",
    "described",
    "frame_of",
    "model_rows",
    "numbers",
    "plan_of",
    "table_of",
]

Kind = Literal["number", "level number", "yes/no", "time", "duration", "text", "any"]
"""What the cells of a column may be: a number, a number that is a level and stays exact, true or false, a text with a
date and time, a number of seconds, a text, or anything that the model decides on."""

Types = frozenset[type]
NUMBERS: Types = frozenset((int, float, type(None)))
WHOLE: Types = frozenset((int, type(None)))
TRUTHS: Types = frozenset((bool, type(None)))
TEXTS: Types = frozenset((str, type(None)))
NUMERIC = ({"numbers"}, {"numbers", "cells"})  # what the families of a column read whose numbers are not only levels
PLAIN: Types = NUMBERS | TRUTHS | TEXTS
LONGEST = 9e12  # seconds of a duration: microseconds must fit into 64 bits


@dataclass(frozen=True)
class Column:
    """A column that a model reads.

    Attributes
    ----------
    name : str
        In documents; the position of a column without a name.
    kind : str
    optional : bool
        Whether rows may lack it.
    """

    name: str
    kind: Kind
    optional: bool


@dataclass(frozen=True, eq=False)
class RowPlan:
    """How a fitted model reads rows of documents.

    Attributes
    ----------
    columns : tuple of Column
        In the order of the model.
    names : tuple of str
    known : frozenset of str
        The names.
    named : bool
        Whether rows name their columns; otherwise they may be lists.
    documents : bool
        Whether the model reads one column of texts, whatever its name.
    all_numbers : bool
        Whether all columns are numbers that no family reads as levels.
    """

    columns: tuple[Column, ...]
    named: bool
    documents: bool
    names: tuple[str, ...] = field(init=False)
    known: frozenset[str] = field(init=False)
    all_numbers: bool = field(init=False)

    def __post_init__(self) -> None:
        names = tuple(each.name for each in self.columns)
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "known", frozenset(names))
        object.__setattr__(self, "all_numbers", all(each.kind == "number" for each in self.columns))


_PLANS: weakref.WeakKeyDictionary[Fitted, RowPlan] = weakref.WeakKeyDictionary()


def plan_of(fitted: Fitted) -> RowPlan:
    """How a fitted model reads rows of documents; computed once for each model."""
    plan = _PLANS.get(fitted)
    if plan is None:
        plan = _PLANS[fitted] = _plan(fitted)
    return plan


def _plan(fitted: Fitted) -> RowPlan:
    layout = fitted.layout
    reads = _families_of_columns(fitted)
    if len(reads) == 1 and reads[0] == {("documents", "text")}:
        name = "text" if layout.feature_names is None else layout.feature_names[0]
        return RowPlan((Column(name, "text", True),), named=layout.feature_names is not None, documents=True)
    ignored, optional = fitted.reader.ignored(layout), set(fitted.optional_columns)
    columns = [
        Column(str(name), _kind(layout.schema.kinds[j], reads[j]), name in optional)
        for j, name in enumerate(layout.names)
        if name not in ignored
    ]
    return RowPlan(tuple(columns), named=layout.feature_names is not None, documents=False)


def _families_of_columns(fitted: Fitted) -> list[set[tuple[str, str | None]]]:
    """What the families of each column read, and the type of cells that they expect."""
    estimate = fitted.combined
    found: list[set[tuple[str, str | None]]] = [set() for _ in range(max(fitted.layout.n_columns, estimate.n_columns))]
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        for j, position in enumerate(block.positions(estimate.n_columns)):
            found[position].add((block.family.reads, block.family.expected_kind(parameters, j)))
    return found


def _kind(stored: str, reads: set[tuple[str, str | None]]) -> Kind:
    expected = {kind for _, kind in reads}
    if stored in ("time", "duration"):
        return stored  # type: ignore[return-value]
    if "text" in expected:
        return "text"
    if stored == "bool":
        return "yes/no"
    if stored in ("category", "text") and "number" not in expected:
        return "any"
    if expected == {"number"} and stored == "number" and {what for what, _ in reads} in NUMERIC:
        return "number"
    return "level number" if "number" in expected else "any"


def described(value: Any) -> str:
    """A value of JSON in words.

    >>> described([1]), described(None), described("a"), described(2.5)
    ('a list', 'null', 'a text', 'a number')
    """
    words: dict[type, str] = {list: "a list", dict: "an object", bool: "true or false", str: "a text"}
    return "null" if value is None else words.get(type(value), "a number")


# ---------------------------------------------------------------------- cells in types


def table_of(plan: RowPlan, cells: Mapping[str, Sequence[Any]], n_rows: int, others: Sequence[str] = ()) -> ArrowTable:
    """Cells by column as an Arrow table of the columns of a model; ``others`` are names for hints.

    Raises `InputError` with the column and the rows of a cell of the wrong type, or the column that rows lack.
    """
    import pyarrow as pa

    lacking = [each for each in plan.columns if each.name not in cells]
    needed = [each.name for each in lacking if not each.optional]
    if n_rows and needed:
        hint = next((each for each in (did_you_mean(other, needed) for other in others) if each), "")
        raise InputError(
            f"The rows have no {'column' if len(needed) == 1 else 'columns'} {listed(needed)}, which the model was "
            f"fitted with.{hint}",
            column=needed[0],
        )
    columns = [
        CONVERTED[each.kind](cells[each.name], each.name) if each.name in cells else pa.nulls(n_rows)
        for each in plan.columns
    ]
    return pa.Table.from_arrays([pa.array(each) for each in columns], names=list(plan.names))


def model_rows(fitted: Fitted, table: ArrowTable) -> Any:
    """The columns of an Arrow table in the form that the methods of a model take."""
    import pyarrow as pa

    layout = fitted.layout
    rows: Any = fitted.reader.from_arrow(table)
    if not isinstance(rows, pa.Table) or layout.feature_names is not None:
        return rows
    if layout.schema.named:
        return frame_of(table, layout)
    if all(str(kind) in ("double", "float") for kind in table.schema.types):
        return matrix_of_arrow(table, fitted.specification.estimator).x
    cells = np.empty((table.num_rows, table.num_columns), dtype=object)
    for j, column in enumerate(table.columns):
        cells[:, j] = column.to_pylist()
    return cells


def frame_of(table: ArrowTable, layout: RowLayout) -> Any:
    """A table as a frame with the names of a layout that are not texts, such as the positions of a pandas frame."""
    frame = table.to_pandas()
    frame.columns = list(layout.names)
    return frame


def numbers(values: Sequence[Any], name: object) -> Float:
    """Numbers and nulls of JSON as float64, with NaN for null."""
    types = set(map(type, values))
    if not types <= NUMBERS:
        raise _wrong(values, name, NUMBERS, "a number")
    try:
        found = np.array(values, dtype=np.float64)
    except OverflowError:
        found = np.array([np.inf if type(each) is int and abs(each) > 1 << 1000 else 0.0 for each in values])
    infinite = np.flatnonzero(np.isinf(found))
    if len(infinite):
        raise InputError.in_row("holds a number that is too large for float64.", rows=infinite, column=name)
    return found


def _level_numbers(values: Sequence[Any], name: object) -> ArrowArray | Float:
    """Numbers that are levels: whole numbers of up to 64 bits stay exact."""
    import pyarrow as pa

    if set(map(type, values)) <= WHOLE:
        for kind in (pa.int64(), pa.uint64()):
            try:
                return pa.array(values, kind)
            except (OverflowError, pa.ArrowInvalid):
                continue
    return numbers(values, name)


def _truths(values: Sequence[Any], name: object) -> ArrowArray:
    """True, false and null; 1 and 0 are true and false."""
    import pyarrow as pa

    if not set(map(type, values)) <= TRUTHS:
        wrong = [i for i, each in enumerate(values) if not (each is None or _is_zero_or_one(each))]
        if wrong:
            raise _error(values, name, wrong, "true or false")
        values = [None if each is None else bool(each) for each in values]
    return pa.array(values, pa.bool_())


def _is_zero_or_one(value: Any) -> bool:
    return isinstance(value, int | float) and value in (0, 1)


def _times(values: Sequence[Any], name: object) -> ArrowArray:
    """Texts of ISO 8601 as points in time, in UTC if they have a zone."""
    import pyarrow as pa

    if not set(map(type, values)) <= TEXTS:
        raise _wrong(values, name, TEXTS, "a text with a date and time, such as 2026-05-01T12:30:00")
    found: list[datetime | None] = []
    for i, each in enumerate(values):
        try:
            moment = None if each is None else datetime.fromisoformat(each)
            if moment is not None and moment.tzinfo is not None:
                moment = moment.astimezone(UTC).replace(tzinfo=None)
        except (ValueError, OverflowError):
            raise _error(values, name, [i], "a date and time, such as 2026-05-01T12:30:00") from None
        found.append(moment)
    return pa.array(found, pa.timestamp("us"))


def _durations(values: Sequence[Any], name: object) -> ArrowArray:
    """Seconds as durations, to the microsecond."""
    import pyarrow as pa

    seconds = numbers(values, name)
    far = np.flatnonzero(np.abs(seconds) > LONGEST)
    if len(far):
        raise _error(values, name, far.tolist(), "a duration in seconds")
    missing = np.isnan(seconds)
    whole = np.rint(np.where(missing, 0.0, seconds) * 1e6).astype(np.int64)
    return pa.array(whole, pa.duration("us"), mask=missing)


def _texts(values: Sequence[Any], name: object) -> ArrowArray:
    """Texts; numbers, true and false become the texts that spell them, as in JSON lines."""
    import pyarrow as pa

    types = set(map(type, values))
    if not types <= TEXTS:
        if not types <= PLAIN:
            raise _wrong(values, name, PLAIN, "a text")
        values = [each if each is None or type(each) is str else json.dumps(each) for each in values]
    return pa.array(values, pa.string())


def _anything(values: Sequence[Any], name: object) -> ArrowArray | Float:
    """Cells of one type: numbers, texts, or true and false; otherwise texts."""
    types = set(map(type, values))
    if types <= TRUTHS and bool in types:
        return _truths(values, name)
    return _level_numbers(values, name) if types <= NUMBERS else _texts(values, name)


CONVERTED: dict[Kind, Callable[[Sequence[Any], object], ArrowArray | Array]] = {
    "number": numbers,
    "level number": _level_numbers,
    "yes/no": _truths,
    "time": _times,
    "duration": _durations,
    "text": _texts,
    "any": _anything,
}


def _wrong(values: Sequence[Any], name: object, right: Types, expected: str) -> InputError:
    """The error of the cells whose types are not among those in ``right``."""
    return _error(values, name, [i for i, each in enumerate(values) if type(each) not in right], expected)


def _error(values: Sequence[Any], name: object, rows: Sequence[int], expected: str) -> InputError:
    value = values[rows[0]]
    held = described(value) if isinstance(value, list | dict) else short(value) if isinstance(value, str) else value
    held = {True: "true", False: "false"}.get(value, held) if isinstance(value, bool) else held
    return InputError.in_row(f"holds {held}, which is not {expected}.", rows=rows, column=name)
