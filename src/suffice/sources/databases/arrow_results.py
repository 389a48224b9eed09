"""Queries whose results are Arrow streams: those of ADBC drivers and of DuckDB."""

from __future__ import annotations

import contextlib
import threading
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, cast

from suffice.exceptions import InputError
from suffice.sources.databases.arrow_types import converted, result_columns
from suffice.sources.databases.results import ResultColumns, RunningQuery, no_rows_error
from suffice.sources.databases.uris import IN_MEMORY, PAGE
from suffice.sources.duckdb import interrupts
from suffice.sources.engine_types import ArrowReader, ArrowRows

__all__ = ["ADBCQuery", "DuckDBFileQuery", "DuckDBQuery", "PostgreSQLQuery"]


class _StreamQuery(RunningQuery):
    """A query whose result is a stream of Arrow batches.

    Parameters
    ----------
    text : str
        One statement.
    described : str
        The query in messages.
    batch_rows : int
        Rows of a batch, if the driver lets us choose.
    """

    threaded = True
    connecting_to = ""

    def __init__(self, text: str, described: str, batch_rows: int) -> None:
        self.text, self.described, self.batch_rows = text, described, batch_rows
        self._cancelled = False
        self._reader: ArrowReader | None = None
        self._opened = contextlib.ExitStack()  # closes in reverse order
        self._lock = threading.Lock()

    def start(self) -> ResultColumns:
        """Run the query until its columns are known."""
        self._reader = self._execute()
        return result_columns(self._reader.schema, self.described)

    @abstractmethod
    def _execute(self) -> ArrowReader:
        """Run the query."""

    @abstractmethod
    def _cancel(self) -> None:
        """Stop the statement."""

    def rows(self, columns: Sequence[str]) -> Iterator[ArrowRows]:
        """Yield these columns of the rows, in order."""
        first = 0
        assert self._reader is not None
        for batch in self._reader:
            yield converted(batch, columns, first, self.described)
            first += batch.num_rows

    def cancel(self) -> None:
        """Stop the statement, from any thread and at any time."""
        self._cancelled = True
        with self._lock, contextlib.suppress(Exception):  # it may have ended
            self._cancel()

    def _check_not_cancelled(self) -> None:
        """Raise if the statement was cancelled while there was no connection."""
        if self._cancelled:
            raise InterruptedError("the query was cancelled")

    def close(self) -> None:
        """Close all that the query has opened."""
        with self._lock:
            reader, self._reader = self._reader, None
            with contextlib.suppress(Exception):  # of a connection that is lost
                if reader is not None:
                    reader.close()
            with contextlib.suppress(Exception):
                self._opened.close()


class ADBCQuery(_StreamQuery):
    """A query on a connection of an ADBC driver.

    ``connection`` is the ``AdbcConnection``, which stays open.
    """

    def __init__(self, text: str, described: str, batch_rows: int, connection: Any = None) -> None:
        super().__init__(text, described, batch_rows)
        self._connection, self._statement = connection, cast(Any, None)

    def _execute(self) -> ArrowReader:
        import adbc_driver_manager
        import pyarrow as pa

        self._statement = self._opened.enter_context(adbc_driver_manager.AdbcStatement(self._connection))
        with contextlib.suppress(adbc_driver_manager.Error):  # an option of SQLite's driver
            self._statement.set_options(**{"adbc.sqlite.query.batch_rows": str(self.batch_rows)})
        self._statement.set_sql_query(self.text)
        handle, _ = self._statement.execute_query()
        return pa.RecordBatchReader.from_stream(handle)

    def _cancel(self) -> None:
        if self._statement is not None:
            self._statement.cancel()


class PostgreSQLQuery(ADBCQuery):
    """A query on a connection to PostgreSQL that is opened for it, and can only read."""

    connecting_to = "PostgreSQL"

    def __init__(self, text: str, described: str, batch_rows: int, uri: str) -> None:
        super().__init__(text, described, batch_rows)
        self._uri = uri

    def _execute(self) -> ArrowReader:
        import adbc_driver_manager
        import adbc_driver_postgresql

        database = self._opened.enter_context(adbc_driver_postgresql.connect(self._uri))
        self._connection = self._opened.enter_context(adbc_driver_manager.AdbcConnection(database))
        with adbc_driver_manager.AdbcStatement(self._connection) as setting:
            setting.set_sql_query("SET default_transaction_read_only = on")
            setting.execute_update()
        self.connecting_to = ""
        self._check_not_cancelled()
        return super()._execute()


class DuckDBQuery(_StreamQuery):
    """A query on a connection of DuckDB, which stays open."""

    threaded = False

    def __init__(self, text: str, described: str, batch_rows: int, connection: Any = None) -> None:
        super().__init__(text, described, batch_rows)
        self._connection = connection

    def _execute(self) -> ArrowReader:
        import duckdb

        statements = self._connection.extract_statements(self.text)
        selects = (duckdb.StatementType.SELECT, duckdb.StatementType.MULTI)  # a PIVOT is several
        if any(each.type not in selects for each in statements):
            raise InputError("The query must be a SELECT, which changes nothing.", argument="query", page=PAGE)
        with self._interruptible():
            relation = self._connection.sql(self.text)
            if relation is None:
                raise no_rows_error()
            return relation.to_arrow_reader(self.batch_rows)

    def rows(self, columns: Sequence[str]) -> Iterator[ArrowRows]:
        """Yield these columns of the rows, in order."""
        with self._interruptible():
            yield from super().rows(columns)

    @contextlib.contextmanager
    def _interruptible(self) -> Iterator[None]:
        """DuckDB takes Ctrl-C for itself, and raises an error of its own."""
        try:
            yield
        except Exception as error:
            if self._cancelled or not interrupts(error):
                raise
            raise KeyboardInterrupt from error

    def _cancel(self) -> None:
        if self._connection is not None:
            self._connection.interrupt()


class DuckDBFileQuery(DuckDBQuery):
    """A query on a database of DuckDB that is opened for it, and can only be read; or on one in memory."""

    threaded = True

    def __init__(self, text: str, described: str, batch_rows: int, path: str) -> None:
        super().__init__(text, described, batch_rows)
        self._path = path

    def _execute(self) -> ArrowReader:
        import duckdb

        in_memory = self._path == IN_MEMORY
        # A name in the query is never a variable of this module.
        self._connection = duckdb.connect(
            self._path, read_only=not in_memory, config={"python_enable_replacements": False}
        )
        self._opened.enter_context(self._connection)
        self._check_not_cancelled()
        return super()._execute()
