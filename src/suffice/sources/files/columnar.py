"""Columns of typed files and streams (Parquet, Arrow), converted to the types that a source returns.

========================================  =========================================
stored type                               returned type
========================================  =========================================
integers, float32, float64, bool          unchanged
float16, decimals                         float32, float64
strings, and binary that is UTF-8         string or large_string
dictionaries of strings                   unchanged ("category")
other dictionaries, run-end encoding      their values
timestamps, dates, durations              unchanged
times of day                              durations since midnight
null                                      string, unless a later file has values
lists, structs, maps, unions, intervals   cannot be read
========================================  =========================================
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from suffice.exceptions import Argument, InputError, listed, short
from suffice.numerics.types import Mask
from suffice.sources.engine_types import ArrowArray, ArrowRows, ArrowSchema, ArrowType
from suffice.sources.files.batch import Batch, RowLocations, SelectedLocations, written
from suffice.sources.files.cell_formats import CellFormat
from suffice.sources.files.conversion import convert_cells, with_nulls
from suffice.sources.files.csv_header import check_same_columns
from suffice.sources.files.reader import FileLayout, ReadOptions, SkippedRows
from suffice.sources.files.types import expected_value, type_word

__all__ = ["RequestedColumns", "check_valid", "columnar_layout", "returned_type"]

# pandas writes an unnamed index under such a name; it is not a column.
INDEX = re.compile(r"__index_level_\d+__")
NUMBERS = ("number", "whole number")
TEXTS = ("text", "category")
NOT_UTF8 = re.compile(r"Invalid UTF8 sequence at string index (\d+)")


def columnar_layout(schema: ArrowSchema, requested: Mapping[str, str], name: str) -> FileLayout:
    """Return the columns of a schema with the types that they are returned in.

    Parameters
    ----------
    schema : pyarrow.Schema
    requested : mapping of str to str
        Types that the caller requests.
    name : str
        Name of the source, for messages.
    """
    names = [each for each in schema.names if not INDEX.fullmatch(each)]
    repeated = sorted(each for each, times in Counter(names).items() if times > 1)
    if repeated:
        raise InputError(
            f"{name} has more than one column called {listed(repeated)}. Column names must be unique.", file=name
        )
    if "" in names:
        raise InputError(f"{name} has a column with an empty name. Rename it.", file=name)
    layout = FileLayout(names, {})
    for column in names:
        stored = schema.field(column).type
        returned = returned_type(stored)
        if returned is None:
            layout.types[column], layout.unreadable[column] = stored, _nested_error(column, stored, name)
        else:
            layout.types[column] = _request(requested[column], returned) if column in requested else returned
    return layout


def _nested_error(column: str, stored: ArrowType, name: str) -> InputError:
    return InputError(
        f"Column {column!r} of {name} has the type {stored}, which cannot be read. Ignore the column with ",
        Argument("ignore", [column]),
        ".",
        column=column,
        file=name,
    )


def returned_type(stored: ArrowType) -> ArrowType | None:
    """Type in which a column of a stored type is returned; None if it cannot be read."""
    import pyarrow as pa
    import pyarrow.types as at

    if isinstance(stored, pa.BaseExtensionType):
        return returned_type(stored.storage_type)
    if at.is_dictionary(stored):
        values = returned_type(stored.value_type)
        return pa.dictionary(pa.int32(), values) if values is not None and _is_text(values) else values
    if at.is_run_end_encoded(stored):
        return returned_type(stored.value_type)
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


def _is_text(kind: ArrowType) -> bool:
    import pyarrow.types as at

    return bool(at.is_string(kind) or at.is_large_string(kind))


def _holds_texts(kind: ArrowType) -> bool:
    import pyarrow.types as at

    return _is_text(kind.value_type if at.is_dictionary(kind) else kind)


def _request(word: str, returned: ArrowType) -> ArrowType:
    """Arrow type of a requested type, for a column that would otherwise be returned as ``returned``."""
    import pyarrow as pa

    now = type_word(returned)
    if word == "number":
        return returned if now in NUMBERS else pa.float64()
    if word in ("text", "category"):
        return returned if now in ("text", word) else pa.string()
    if word == "yes/no":
        return pa.bool_()
    return returned if now == "time" else pa.timestamp("us")


# ---------------------------------------------------------------------- rows


@dataclass(frozen=True)
class RequestedColumns:
    """The columns to read from typed files, and the types to return them in.

    Parameters
    ----------
    layout : FileLayout
        Layout of the source: the type of each column.
    columns : sequence of str
    options : ReadOptions
        Its types are those that the caller requests; a cell that cannot be converted makes its row bad. Its nulls are
        missing cells of text columns.
    coded : collection of str
        Text columns that may be returned as dictionaries.
    skipped : SkippedRows
    written : sequence of str
        Columns to return, after the others, as the file has them.
    """

    layout: FileLayout
    columns: Sequence[str]
    options: ReadOptions
    coded: Collection[str]
    skipped: SkippedRows
    written: Sequence[str] = ()

    def in_file(self, names: Sequence[str], path: str) -> list[str]:
        """Return the columns. Raises if a file lacks one, or has others although all columns are read."""
        columns = list(dict.fromkeys([*self.columns, *self.written]))
        all_read = set(columns) == set(self.layout.names)
        relevant = [name for name in names if (all_read and not INDEX.fullmatch(name)) or name in columns]
        check_same_columns(relevant, columns, path)
        return columns

    def batch(self, rows: ArrowRows, name: str, locations: RowLocations) -> Batch:
        """Make a batch of rows of a file, without bad rows; each column has one chunk and its returned type."""
        import pyarrow as pa

        bad = np.zeros(rows.num_rows, dtype=bool)
        arrays = [self._convert(_one_chunk(rows.column(each)), each, name, locations, bad) for each in self.columns]
        arrays += [self._as_written(_one_chunk(rows.column(each)), each, name, locations, bad) for each in self.written]
        table = pa.Table.from_arrays(arrays, names=[*self.columns, *map(written, self.written)])
        if not bad.any():
            return Batch(table, locations)
        kept = np.flatnonzero(~bad)
        return Batch(table.take(pa.array(kept)).combine_chunks(), SelectedLocations(locations, kept.tolist()))

    def _as_written(self, array: ArrowArray, column: str, name: str, locations: RowLocations, bad: Mask) -> ArrowArray:
        """A column as the file has it, also where a model reads it as another type, unless the caller requests one."""
        import pyarrow.types as at

        if column in self.options.types:
            return self._convert(array, column, name, locations, bad)
        if at.is_decimal(array.type) or at.is_time(array.type):
            return array
        if column in self.layout.formats:
            return _as_returned(array, name, column, locations)
        return self._convert(array, column, name, locations, bad, nulls=())

    def _convert(
        self,
        array: ArrowArray,
        column: str,
        name: str,
        locations: RowLocations,
        bad: Mask,
        nulls: Sequence[str] | None = None,
    ) -> ArrowArray:
        """Convert a column; ``nulls`` are the texts of missing cells, those of the options by default."""
        returned = _as_returned(array, name, column, locations)
        target = self.layout.types[column]
        if _holds_texts(returned.type):
            returned = with_nulls(returned, self._nulls(target) if nulls is None else nulls)
        if returned.type == target or _compatible(target, returned.type, column in self.coded):
            return returned
        form = self.layout.formats.get(column)
        if form is None and column not in self.options.types and not _mergeable(target, returned.type):
            raise InputError(
                f"Column {column!r} of {name} has the type {array.type} ({type_word(returned.type)}); in the first "
                f"file it is {target} ({type_word(target)}). Use one type in all files, or request one with ",
                Argument("types"),
                ".",
                column=column,
                file=name,
            )
        try:
            converted, wrong = _convert(returned, target, form)
        except NotImplementedError:
            raise InputError(
                f"Column {column!r} of {name} has the type {returned.type}, which cannot be read as "
                f"{type_word(target)}.",
                column=column,
                file=name,
                argument="types",
            ) from None
        for row in np.flatnonzero(wrong & ~bad).tolist():
            cell = short(returned[row].as_py())
            expected = expected_value(target) if form is None else form.expected
            error = locations.of(row).error(f"{cell} is not {expected}.", column=column)
            self.skipped.skip_or_raise(error)
        bad |= wrong
        return converted

    def _nulls(self, target: ArrowType) -> Sequence[str]:
        """Texts that stand for a missing cell, in a text column that is read as a type."""
        find = self.options.set_nulls if type_word(target) in TEXTS else self.options.null_texts
        return find(self.layout.nulls)


def check_valid(rows: ArrowRows, locations: RowLocations) -> None:
    """Raise if rows of an Arrow batch are damaged: Arrow does not check offsets and codes before using them."""
    import pyarrow as pa

    for column, array in zip(rows.schema.names, rows.columns, strict=True):
        try:
            array.validate(full=not pa.types.is_temporal(array.type))  # accept date64 values with hours
        except pa.ArrowInvalid as error:
            row = NOT_UTF8.match(str(error))
            if row is not None:
                raise _not_utf8_error(locations, int(row[1]), column) from None
            raise locations.of(0).error(f"the data are damaged from here on ({error}).", column=column) from None


def _not_utf8_error(locations: RowLocations, row: int, column: str) -> InputError:
    return locations.of(row).error(
        "the bytes are not UTF-8 text. Ignore the column with ", Argument("ignore", [column]), ".", column=column
    )


def _one_chunk(column: ArrowArray) -> ArrowArray:
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    return column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()


def _compatible(target: ArrowType, now: ArrowType, coded: bool) -> bool:
    """Whether cells of another type can be returned without conversion: both are numbers, or both are times."""
    a, b = type_word(target), type_word(now)
    if a in NUMBERS or a in ("time", "duration"):
        return a == b or (a in NUMBERS and b in NUMBERS)
    return a == "text" and (b == "text" or (coded and b == "category"))


def _mergeable(target: ArrowType, now: ArrowType) -> bool:
    """Whether cells can be converted although no type was requested."""
    import pyarrow.types as at

    return at.is_null(now) or {type_word(target), type_word(now)} <= {"text", "category"}


def _as_returned(array: ArrowArray, name: str, column: str, locations: RowLocations) -> ArrowArray:
    """Convert a stored column to the type of `returned_type`."""
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.types as at

    if isinstance(array, pa.ExtensionArray):
        return _as_returned(array.storage, name, column, locations)
    kind = array.type
    if at.is_run_end_encoded(kind):
        return _as_returned(pc.run_end_decode(array), name, column, locations)
    returned = returned_type(kind)
    if returned == kind:
        return array
    if returned is None:
        raise _nested_error(column, kind, name)
    if at.is_dictionary(kind):
        values = _as_returned(array.dictionary, name, column, locations)
        if at.is_dictionary(returned):
            return pa.DictionaryArray.from_arrays(array.indices.cast(pa.int32()), values)
        return values.take(array.indices)
    try:
        if at.is_time(kind):
            return array.cast(pa.int64() if kind.bit_width == 64 else pa.int32()).cast(pa.int64()).cast(returned)
        return array.cast(returned)
    except pa.ArrowInvalid:
        row = next(i for i, cell in enumerate(array.to_pylist()) if cell is not None and not _is_utf8(cell))
        raise _not_utf8_error(locations, row, column) from None


def _convert(given: ArrowArray, target: ArrowType, form: CellFormat | None = None) -> tuple[ArrowArray, Mask]:
    """Convert a column to another type, and find the cells that cannot be converted."""
    import pyarrow as pa
    import pyarrow.types as at

    none_wrong = np.zeros(len(given), dtype=bool)
    if at.is_null(given.type):
        return pa.nulls(len(given), target), none_wrong
    if at.is_dictionary(given.type):
        given = given.dictionary.take(given.indices)
    if at.is_dictionary(target):
        return given.dictionary_encode().cast(target), none_wrong
    before, after = type_word(given.type), type_word(target)
    if form is not None and before == "text":
        return form.convert(given.cast(pa.string()))
    if before == "text" or (after == "yes/no" and before in NUMBERS):
        return convert_cells(given.cast(pa.string()), target)
    if after == "text" or (after == "number" and before == "yes/no"):
        return given.cast(target), none_wrong
    raise NotImplementedError


def _is_utf8(cell: bytes) -> bool:
    try:
        cell.decode()
    except UnicodeDecodeError:
        return False
    return True
