"""Queries on SQLite, which stores types with cells, not with columns.

The declared type of a column tells what SQLite has no type for: yes/no, stored as 0 and 1, and times, stored as text.
"""

from __future__ import annotations

import contextlib
import re
import sqlite3
import threading
import weakref
from typing import Any
from urllib.parse import quote

from suffice.sources.databases.cursors import CursorQuery
from suffice.sources.engine_types import ArrowArray
from suffice.sources.files.conversion import all_convertible

__all__ = ["SQLiteFileQuery", "SQLiteQuery"]

VIEW = "suffice_columns_of_query"
NUMBERS = re.compile("INT|REAL|FLOA|DOUB|DEC|NUM")  # as SQLite finds the affinity of a column
TIMES = re.compile("DATE|TIMESTAMP")
TEXTS = re.compile("CHAR|CLOB|TEXT")
LOCKS: weakref.WeakValueDictionary[int, threading.Lock] = weakref.WeakValueDictionary()
"""Held while a setting of a connection is changed for a query; by the connection's `id`."""


class SQLiteQuery(CursorQuery):
    """A query on a connection of ``sqlite3``, which stays open."""

    _declared_types: tuple[str, ...] = ()

    def _new_cursor(self) -> Any:
        cursor = self._connection.cursor()
        cursor.row_factory = None
        return cursor

    def _execute(self) -> None:
        """Run the query while the connection refuses changes."""
        with contextlib.suppress(sqlite3.Error):  # the query itself raises its errors
            self._declared_types = self._types_of_view()
        lock = LOCKS.setdefault(id(self._connection), threading.Lock())
        with lock, contextlib.closing(self._new_cursor()) as settings:
            (before,) = settings.execute("PRAGMA query_only").fetchone()
            settings.execute("PRAGMA query_only = 1")
            try:
                super()._execute()
            finally:
                settings.execute(f"PRAGMA query_only = {before}")

    def _types_of_view(self) -> tuple[str, ...]:
        """The declared types of the columns, which SQLite tells of a view; those of expressions are empty."""
        cursor = self._new_cursor()
        try:
            cursor.execute(f"CREATE TEMP VIEW {VIEW} AS {self.text}")
            try:
                return tuple(str(each[2]).upper() for each in cursor.execute(f"PRAGMA temp.table_info({VIEW})"))
            finally:
                cursor.execute(f"DROP VIEW temp.{VIEW}")
        finally:
            cursor.close()

    def _declared(self) -> dict[str, str]:
        """Types of columns that are declared, if the first cells fit them."""
        if len(self._declared_types) != len(self._names):
            return {}
        found = {name: self._declared_type(j) for j, name in enumerate(self._names)}
        return {name: word for name, word in found.items() if word}

    def _declared_type(self, j: int) -> str:
        import pyarrow as pa

        declared = self._declared_types[j]
        if any(cells[j].mixture for cells in self._first):
            return ""
        arrays = [cells[j].array for cells in self._first if not pa.types.is_null(cells[j].array.type)]
        if "BOOL" in declared:
            return "yes/no" if all(map(_is_zero_one, arrays)) else ""
        if TIMES.search(declared):
            return "time" if all(map(_holds_times, arrays)) else ""
        if arrays:
            return ""
        return "number" if NUMBERS.search(declared) else "text" if TEXTS.search(declared) else ""


class SQLiteFileQuery(SQLiteQuery):
    """A query on a file that is opened for it, and can only be read."""

    threaded = True

    def __init__(self, text: str, described: str, batch_rows: int, path: str) -> None:
        super().__init__(text, described, batch_rows)
        self._path, self._cancelled = path, False

    def _execute(self) -> None:
        if self._cancelled:
            raise InterruptedError("the query was cancelled")
        super()._execute()

    def _new_cursor(self) -> Any:
        if self._connection is None:
            uri = f"file:{quote(self._path)}?mode=ro"
            self._connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        return super()._new_cursor()

    def cancel(self) -> None:
        """Stop the statement, from any thread and at any time."""
        self._cancelled = True
        connection = self._connection
        if connection is not None:
            with contextlib.suppress(sqlite3.Error):  # it is closed
                connection.interrupt()

    def close(self) -> None:
        """Close the cursor and the connection."""
        super().close()
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()


def _is_zero_one(array: ArrowArray) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    return bool(pa.types.is_integer(array.type)) and bool(pc.all(pc.is_in(array, pa.array([0, 1, None]))).as_py())


def _holds_times(array: ArrowArray) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_string(array.type)) and all_convertible(array, pa.timestamp("us"))
