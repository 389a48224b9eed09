"""Queries on connections of psycopg, read with a cursor of the server: its own would hold all rows in memory."""

from __future__ import annotations

import contextlib
import itertools
from typing import Any

from suffice.sources.databases.cursors import CursorQuery
from suffice.sources.databases.results import ResultColumns

__all__ = ["PsycopgQuery"]

CURSORS = itertools.count()
IDLE = 0  # the status of a connection that is in no transaction


class PsycopgQuery(CursorQuery):
    """A query on a connection of psycopg, which stays open; if it was in no transaction, it is in none afterwards."""

    _was_idle = False

    def start(self) -> ResultColumns:
        """Run the query until its columns are known.

        If the connection was in no transaction, that of the cursor ends here, so that it never includes statements of
        the user; the server keeps the rows.
        """
        self._was_idle = self._connection.info.transaction_status == IDLE
        alone = self._was_idle and not self._connection.autocommit
        try:
            columns = super().start()
            if alone:
                self._connection.commit()
        except BaseException:
            from psycopg import Cursor

            cursor = self._cursor
            super().close()
            if cursor is not None:
                Cursor.close(cursor)  # the server may have forgotten it with the transaction
            if alone:
                with contextlib.suppress(Exception):  # of a connection that is lost
                    self._connection.rollback()
            raise
        return columns

    def _new_cursor(self) -> Any:
        from psycopg.rows import tuple_row

        # A cursor of the server needs a transaction, or the server keeps its rows.
        return self._connection.cursor(f"suffice_{next(CURSORS)}", row_factory=tuple_row, withhold=self._was_idle)

    def close(self) -> None:
        """Close the cursor; the transaction that this begins is ended."""
        if self._cursor is None:
            return
        alone = self._connection.info.transaction_status == IDLE
        super().close()
        if alone and not self._connection.autocommit:
            with contextlib.suppress(Exception):  # of a connection that is lost
                self._connection.commit()
