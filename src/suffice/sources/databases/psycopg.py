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
        """Run the query until its columns are known."""
        self._was_idle = self._connection.info.transaction_status == IDLE
        return super().start()

    def _new_cursor(self) -> Any:
        from psycopg.rows import tuple_row

        # A cursor of the server needs a transaction, or the server keeps its rows.
        return self._connection.cursor(
            f"suffice_{next(CURSORS)}", row_factory=tuple_row, withhold=self._connection.autocommit
        )

    def close(self) -> None:
        """Close the cursor."""
        super().close()
        if self._was_idle:
            self._was_idle = False
            with contextlib.suppress(Exception):  # of a connection that is lost
                self._connection.rollback()
