"""Columns of typed files and streams (Parquet, Arrow) in the types that a source gives out.

========================================  ==========================
stored                                    given out
========================================  ==========================
whole numbers, float32, float64, bool     the same
float16, decimals                         float32, float64
texts, also as bytes, if they are UTF-8   string or large_string
dictionaries of texts                     the same ("category")
dictionaries of others, run ends          their values
times, dates, durations                   the same
times of day                              durations since midnight
null                                      string, unless a later file has values
lists, structs, maps, unions, intervals   not at all
========================================  ==========================
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import InputError, listed, short
from suffice.sources.files.batch import Batch, Places, SomePlaces
from suffice.sources.files.cells import converted
from suffice.sources.files.csv_header import same_columns
from suffice.sources.files.reader import Faults, Layout
from suffice.sources.files.types import is_a, stated

__all__ = ["StoredColumns", "check_sound", "stored_layout"]

# pandas writes an index without a name under such a one; it is no column.
INDEX = re.compile(r"__index_level_\d+__")
NUMBERS = ("number", "whole number")
NOT_UTF8 = re.compile(r"Invalid UTF8 sequence at string index (\d+)")


def stored_layout(schema: Any, types: Mapping[str, str], name: str) -> Layout:
    """The columns of a schema, and what each is given out as.

    Parameters
    ----------
    schema : pyarrow.Schema
    types : mapping of str to str
        Types that the caller asks for.
    name : str
        What messages call the source.
    """
    names = [each for each in schema.names if not INDEX.fullmatch(each)]
    twice = sorted(each for each, times in Counter(names).items() if times > 1)
    if twice:
        raise InputError(f"{name} has several columns that are called {listed(twice)}. Give each a name of its own.")
    if "" in names:
        raise InputError(f"{name} has a column without a name. Give it one.")
    layout = Layout(names, {})
    for each in names:
        stored = schema.field(each).type
        given = given_type(stored)
        if given is None:
            layout.unreadable[each] = (
                f"Column {each!r} of {name} holds {stored}, which is no single value. Leave it out: ignore=[{each!r}]."
            )
        layout.types[each] = stored if given is None else _asked(types[each], given) if each in types else given
    return layout


def given_type(stored: Any) -> Any:
    """The type in which a column of a type is given out; None if it is not."""
    import pyarrow as pa
    import pyarrow.types as at

    if isinstance(stored, pa.BaseExtensionType):
        return given_type(stored.storage_type)
    if at.is_dictionary(stored):
        values = given_type(stored.value_type)
        return pa.dictionary(pa.int32(), values) if _is_text(values) else values
    if at.is_run_end_encoded(stored):
        return given_type(stored.value_type)
    if at.is_float16(stored):
        return pa.float32()
    if at.is_decimal(stored):
        return pa.float64()
    if at.is_time(stored):
        return pa.duration(stored.unit)
    if at.is_binary(stored) or at.is_fixed_size_binary(stored):
        return pa.string()
    if at.is_large_binary(stored) or at.is_string_view(stored) or at.is_binary_view(stored):
        return pa.large_string()
    same = at.is_boolean(stored) or at.is_integer(stored) or at.is_floating(stored) or at.is_null(stored)
    same = same or _is_text(stored) or at.is_duration(stored) or at.is_timestamp(stored) or at.is_date(stored)
    return stored if same else None


def _is_text(kind: Any) -> bool:
    import pyarrow.types as at

    return bool(at.is_string(kind) or at.is_large_string(kind))


def _asked(word: str, given: Any) -> Any:
    """The type that a word asks for, of a column that would be given out in another."""
    import pyarrow as pa

    now = stated(given)
    if word == "number":
        return given if now in NUMBERS else pa.float64()
    if word == "text":
        return given if now == "text" else pa.string()
    if word == "yes/no":
        return pa.bool_()
    return given if now == "time" else pa.timestamp("us")


# ---------------------------------------------------------------------- rows


@dataclass(frozen=True)
class StoredColumns:
    """The columns that are read of a source of typed files.

    Parameters
    ----------
    layout : Layout
        Of the source: what each column is given out as.
    columns : sequence of str
    asked : mapping of str to str
        Types that the caller asks for: a cell that is not of its is a fault.
    coded : collection of str
        Texts that may be given out as dictionaries.
    faults : Faults
    """

    layout: Layout
    columns: Sequence[str]
    asked: Mapping[str, str]
    coded: Collection[str]
    faults: Faults

    def among(self, names: Sequence[str], path: str) -> list[str]:
        """The columns, which the file at that path must have, and if all are read no others."""
        all_read = set(self.columns) == set(self.layout.names)
        there = [name for name in names if (all_read and not INDEX.fullmatch(name)) or name in self.columns]
        same_columns(there, self.columns, path)
        return list(self.columns)

    def batch(self, rows: Any, name: str, places: Places) -> Batch:
        """Rows of the file of that name as a batch, each column in one chunk and in its type; without bad rows."""
        import pyarrow as pa

        bad = np.zeros(rows.num_rows, dtype=bool)
        arrays = [self._column(_one_chunk(rows.column(each)), each, name, places, bad) for each in self.columns]
        table = pa.Table.from_arrays(arrays, names=list(self.columns))
        if not bad.any():
            return Batch(table, places)
        kept = np.flatnonzero(~bad)
        return Batch(table.take(pa.array(kept)).combine_chunks(), SomePlaces(places, kept.tolist()))

    def _column(self, array: Any, column: str, name: str, places: Places, bad: NDArray[np.bool_]) -> Any:
        given = _plain(array, name, column, places)
        target, asked = self.layout.types[column], column in self.asked
        if given.type == target or _goes_on(target, given.type, column in self.coded):
            return given
        if not asked and not _same_in_kind(target, given.type):
            raise InputError(
                f"Column {column!r} of {name} is of type {array.type} ({stated(given.type)}); in the first file it is "
                f"{target} ({stated(target)}). Give it one type in all files, or say types={{{column!r}: ...}}."
            )
        try:
            found, wrong = _converted(given, target)
        except NotImplementedError:
            raise InputError(
                f"Column {column!r} of {name} is of type {given.type}, and cannot be read as {stated(target)}."
            ) from None
        for row in np.flatnonzero(wrong & ~bad).tolist():
            cell = short(given[row].as_py())
            self.faults.met(f"{places.of(row)}, column {column!r}: {cell} is not {is_a(target)}.")
        bad |= wrong
        return found


def check_sound(rows: Any, places: Places) -> None:
    """Refuse rows of a damaged Arrow batch: Arrow trusts its offsets and codes, and reads whatever is there."""
    import pyarrow as pa

    for column, array in zip(rows.schema.names, rows.columns, strict=True):
        try:
            array.validate(full=not pa.types.is_temporal(array.type))  # a date with hours is still a time
        except pa.ArrowInvalid as error:
            row = NOT_UTF8.match(str(error))
            if row is not None:
                raise _not_text(places, int(row[1]), column) from None
            raise InputError(
                f"{places.of(0)}, column {column!r}: from here on the data are damaged ({error})."
            ) from None


def _not_text(places: Places, row: int, column: str) -> InputError:
    return InputError(
        f"{places.of(row)}, column {column!r}: the bytes are no text of UTF-8. Leave it out: ignore=[{column!r}]."
    )


def _one_chunk(column: Any) -> Any:
    if not hasattr(column, "num_chunks"):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _goes_on(target: Any, now: Any, coded: bool) -> bool:
    """Whether cells of a type may follow those of another as they are: a number is a number, a time a time."""
    a, b = stated(target), stated(now)
    if a in NUMBERS or a in ("time", "duration"):
        return a == b or (a in NUMBERS and b in NUMBERS)
    return a == "text" and (b == "text" or (coded and b == "category"))


def _same_in_kind(target: Any, now: Any) -> bool:
    import pyarrow.types as at

    return at.is_null(now) or {stated(target), stated(now)} <= {"text", "category"}


def _plain(array: Any, name: str, column: str, places: Places) -> Any:
    """A column in the type that its own is given out in."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as at

    if isinstance(array, pa.ExtensionArray):
        return _plain(array.storage, name, column, places)
    kind = array.type
    if at.is_run_end_encoded(kind):
        return _plain(pc.run_end_decode(array), name, column, places)
    given = given_type(kind)
    if given == kind:
        return array
    if given is None:
        raise InputError(f"Column {column!r} of {name} holds {kind}, which is no single value.")
    if at.is_dictionary(kind):
        values = _plain(array.dictionary, name, column, places)
        if at.is_dictionary(given):
            return pa.DictionaryArray.from_arrays(array.indices.cast(pa.int32()), values)
        return values.take(array.indices)
    try:
        if at.is_time(kind):
            return array.cast(pa.int64() if kind.bit_width == 64 else pa.int32()).cast(pa.int64()).cast(given)
        return array.cast(given)
    except pa.ArrowInvalid:
        row = next(i for i, cell in enumerate(array.to_pylist()) if cell is not None and not _is_utf8(cell))
        raise _not_text(places, row, column) from None


def _converted(given: Any, target: Any) -> tuple[Any, NDArray[np.bool_]]:
    """A column in another type, and which of its cells are none of that type."""
    import pyarrow as pa
    import pyarrow.types as at

    right = np.zeros(len(given), dtype=bool)
    if at.is_null(given.type):
        return pa.nulls(len(given), target), right
    if at.is_dictionary(given.type):
        given = given.dictionary.take(given.indices)
    if at.is_dictionary(target):
        return given.dictionary_encode().cast(target), right
    before, after = stated(given.type), stated(target)
    if before == "text" or (after == "yes/no" and before in NUMBERS):
        return converted(given.cast(pa.string()), target)
    if after == "text" or (after == "number" and before == "yes/no"):
        return given.cast(target), right
    raise NotImplementedError


def _is_utf8(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True
