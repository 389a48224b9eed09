"""Queries on connections of Python's database interface (DB-API 2.0), read with ``fetchmany``."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from suffice.exceptions import Argument, InputError
from suffice.sources.databases.cells import Cells, array_of
from suffice.sources.databases.results import ResultColumns, RunningQuery, no_rows_error, unreadable_error
from suffice.sources.databases.uris import PAGE
from suffice.sources.engine_types import ArrowRows
from suffice.sources.files.columnar import returned_type
from suffice.sources.files.types import REQUESTABLE, type_word

__all__ = ["CursorQuery"]

FETCHED = 4096  # rows at a time: more take longer, because their cells do not stay in the cache


class CursorQuery(RunningQuery):
    """A query on a connection of the user, which stays open.

    The types of the columns are those of the first cells. Cells of later rows that have other types are converted, or
    their rows are bad.

    Parameters
    ----------
    text : str
        One statement.
    described : str
        The query in messages.
    batch_rows : int
    connection : DB-API connection
    """

    threaded = False
    connecting_to = ""

    def __init__(self, text: str, described: str, batch_rows: int, connection: Any = None) -> None:
        self.text, self.described, self.batch_rows = text, described, batch_rows
        self._connection, self._cursor = connection, cast(Any, None)
        self._names: list[str] = []
        self._first: list[list[Cells]] = []

    def start(self) -> ResultColumns:
        """Run the query, and read rows until the types of all columns are known."""
        self._cursor = self._new_cursor()
        self._execute()
        if not self._cursor.description:
            raise no_rows_error()
        self._names = [str(each[0]) for each in self._cursor.description]
        n_rows = 0
        while cells := self._fetched(n_rows):
            self._first.append(cells)
            n_rows += len(cells[0].array)
            if n_rows >= self.batch_rows or not any(_is_empty(self._found(j)) for j in range(len(self._names))):
                break
        return self._columns()

    def _new_cursor(self) -> Any:
        return self._connection.cursor()

    def _execute(self) -> None:
        """Run the query."""
        self._cursor.execute(self.text)

    def _found(self, j: int) -> Cells:
        """The first cells of a column that have a type, or no cells."""
        return next((cells[j] for cells in self._first if not _is_empty(cells[j])), array_of(()))

    def _columns(self) -> ResultColumns:
        import pyarrow as pa

        mixed, unreadable, types, fields = {}, {}, {}, []
        for j, name in enumerate(self._names):
            cells = self._found(j)
            kind = cells.array.type
            fields.append((name, kind))
            if cells.mixture:
                mixed[name] = self._mixture_error(name, cells.mixture)
            elif cells.unreadable or returned_type(kind) is None or isinstance(kind, pa.BaseExtensionType):
                shown = cells.unreadable or getattr(kind, "extension_name", str(kind))
                unreadable[name] = unreadable_error(name, shown, f'CAST("{name}" AS text)', self.described)
            elif not _is_empty(cells):
                word = type_word(returned_type(kind))  # a time of day is returned as a duration
                types[name] = "number" if word == "whole number" else word
        types = {name: word for name, word in types.items() if word in REQUESTABLE} | self._declared()
        return ResultColumns(pa.schema(fields), unreadable, mixed, types)

    def _mixture_error(self, name: str, mixture: str) -> InputError:
        return InputError(
            f"Column {name!r} of {self.described} holds {mixture}. Convert it in the query with CAST, or set its type "
            "with ",
            Argument("types", {name: "number"}),
            ".",
            column=name,
            page=PAGE,
        )

    def _declared(self) -> dict[str, str]:
        """Types of columns that the database declares but Python does not have."""
        return {}

    def rows(self, columns: Sequence[str]) -> Iterator[ArrowRows]:
        """Yield these columns of the rows, in order."""
        n_rows = 0
        places = [self._names.index(name) for name in columns]
        while cells := self._first.pop(0) if self._first else self._fetched(n_rows):
            n_rows += len(cells[0].array)
            yield self._batch([cells[j] for j in places], columns, n_rows)

    def _batch(self, cells: Sequence[Cells], columns: Sequence[str], end: int) -> ArrowRows:
        import pyarrow as pa

        for name, each in zip(columns, cells, strict=True):
            if each.unreadable:
                first = end - len(each.array)
                raise InputError(
                    f"{self.described}, rows {first} to {end - 1}: column {name!r} holds a value of the type "
                    f"{each.unreadable}, which cannot be read. Convert it in the query, for example with "
                    f'CAST("{name}" AS text).',
                    column=name,
                    page=PAGE,
                )
        return pa.RecordBatch.from_arrays([each.array for each in cells], names=list(columns))

    def _fetched(self, n_rows: int) -> list[Cells]:
        """The cells of the next rows, by column; empty at the end. ``n_rows`` were read before."""
        rows = self._cursor.fetchmany(min(FETCHED, self.batch_rows))
        if rows and isinstance(rows[0], Mapping):
            return [array_of([row[name] for row in rows], n_rows) for name in self._names]
        return [array_of(cells, n_rows) for cells in zip(*rows, strict=True)]

    def cancel(self) -> None:
        """Do nothing: the query runs in the thread of the caller."""

    def close(self) -> None:
        """Close the cursor."""
        cursor, self._cursor, self._first = self._cursor, None, []
        if cursor is not None:
            with contextlib.suppress(Exception):  # of a connection that is lost
                cursor.close()


def _is_empty(cells: Cells) -> bool:
    import pyarrow as pa

    return pa.types.is_null(cells.array.type) and not cells.unreadable
