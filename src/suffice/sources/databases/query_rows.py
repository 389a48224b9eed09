"""Rows of a query on a database, which runs again each time they are read."""

from __future__ import annotations

import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from suffice.exceptions import Argument, InputError, SufficeError, at_start, counted, listed
from suffice.sources.databases.driver_errors import advice, sentence_of
from suffice.sources.databases.interruption import interruptible
from suffice.sources.databases.results import ResultColumns, RunningQuery
from suffice.sources.databases.uris import PAGE, without
from suffice.sources.databases.whole_batches import whole_batches
from suffice.sources.engine_types import ArrowRows
from suffice.sources.files.batch import RowNumbers
from suffice.sources.files.columnar import RequestedColumns, check_valid, columnar_layout
from suffice.sources.files.joining import BatchProgress
from suffice.sources.files.reader import FileLayout, ReadOptions, SkippedRows
from suffice.sources.files.types import type_word

__all__ = ["QueryRows"]

T = TypeVar("T")
LATEST: weakref.WeakValueDictionary[int, RunningQuery] = weakref.WeakValueDictionary()
"""The query that began last on each open connection that runs one at a time, by the connection's `id`."""


class QueryRows:
    """Rows of a query.

    The query runs when the source is opened, because its columns are known only then. These rows are read first.

    Parameters
    ----------
    new_query : callable
        Returns the query, ready to start, each time it is called.
    described : str
        The query in messages.
    options : ReadOptions
    prefetchable : bool
        Whether another thread may read the rows.
    connection : object, optional
        The open connection, if it runs one query at a time. A query that begins closes the one before, which runs again
        if its rows were not read yet.
    files : sequence of str
        The file of the database.
    secrets : sequence of str
        Texts that no message may contain.
    """

    written_as = "typed"
    documents = False
    repeatable = True
    total_bytes: int | None = None
    layout: FileLayout

    def __init__(
        self,
        new_query: Callable[[], RunningQuery],
        described: str,
        options: ReadOptions,
        *,
        prefetchable: bool,
        connection: object = None,
        files: Sequence[str] = (),
        secrets: Sequence[str] = (),
    ) -> None:
        self.name, self.files, self.prefetchable = described, files, prefetchable
        self._new_query, self._secrets, self._connection = new_query, secrets, connection
        self._n_rows = 0
        self._running = query = new_query()
        columns = self._start(query)
        self._next: RunningQuery | None = query
        weakref.finalize(self, query.close)  # if the rows are never read
        self._options = replace(options, types={**columns.types, **options.types})
        try:
            self._check_names(columns.schema.names)
            self.layout = columnar_layout(columns.schema, self._options.types, described)
        except SufficeError:
            query.close()  # the traceback refers to these rows, perhaps for long
            raise
        self.layout.unreadable.update(columns.unreadable)
        self.layout.unreadable.update({name: e for name, e in columns.mixed.items() if name not in options.types})

    def read(
        self, columns: Sequence[str], coded: Collection[str], skipped: SkippedRows, written: Sequence[str] = ()
    ) -> Iterator[BatchProgress]:
        """Yield the rows in order."""
        query, self._next = self._next, None
        started = query is not None and not query.superseded
        # Assigned before another thread reads the rows, so that it can be stopped at any time.
        self._running = query = query if query is not None and started else self._new_query()
        requested = RequestedColumns(self.layout, columns, self._options, coded, skipped, written)
        return self._read(query, requested, started=started)

    def _read(self, query: RunningQuery, requested: RequestedColumns, *, started: bool) -> Iterator[BatchProgress]:
        self._n_rows = 0
        try:
            if not started:
                self._start(query)
            rows = query.rows(list(dict.fromkeys([*requested.columns, *requested.written])))
            batches = iter(lambda: self._quoting(query, lambda: next(rows, None)), None)
            for part in whole_batches(batches, self._options.batch_rows):
                locations = RowNumbers(self.name, self._n_rows)
                check_valid(part, locations)
                self._check_typed(part, requested.columns)
                yield requested.batch(part, self.name, locations), 0
                self._n_rows += part.num_rows
        finally:
            query.close()

    def stop(self) -> None:
        """Cancel the statement, for whose rows a thread may wait."""
        self._running.cancel()

    def close(self) -> None:
        """Close the query."""
        self._running.close()

    def _check_names(self, names: Sequence[str]) -> None:
        repeated = [name for name, times in Counter(names).items() if times > 1]
        if repeated or "" in names:
            problem = f"several columns called {listed(repeated)}" if repeated else "a column without a name"
            raise InputError(f"{at_start(self.name)} returns {problem}. Name its columns with AS.", page=PAGE)

    def _check_typed(self, rows: ArrowRows, columns: Sequence[str]) -> None:
        """Raise if a column has its first value when its type should be known."""
        import pyarrow as pa

        for name in columns:
            if name in self._options.types:
                continue
            kind = rows.schema.field(name).type
            if pa.types.is_null(self.layout.types[name]) and not pa.types.is_null(kind):
                word = "number" if type_word(kind) == "whole number" else type_word(kind)
                raise InputError(
                    f"Column {name!r} of {self.name} holds only NULL in the first {counted(self._n_rows, 'row')}, so "
                    "its type is not known. Set it with ",
                    Argument("types", {name: word}),
                    ".",
                    column=name,
                    argument="types",
                    page=PAGE,
                )

    def _start(self, query: RunningQuery) -> ResultColumns:
        """Run the query until its columns are known; if that fails, it is closed."""
        if self._connection is not None:
            before = LATEST.get(id(self._connection))
            if before is not None:
                before.superseded = True
                before.close()
            LATEST[id(self._connection)] = query
        try:
            if not query.threaded:
                return self._quoting(query, query.start)
            return self._quoting(query, lambda: interruptible(query.start, query.cancel, query.close))
        except Exception:
            query.close()
            raise

    def _quoting(self, query: RunningQuery, call: Callable[[], T]) -> T:
        """Call a driver; an error of it becomes an `InputError` that quotes it, and holds nothing else of it."""
        self._check_not_superseded(query)
        try:
            return call()
        except (SufficeError, MemoryError):
            raise
        except Exception as error:
            reason = without(self._secrets, sentence_of(error))
        self._check_not_superseded(query)  # by another thread, meanwhile
        raise InputError(f"{self._failed(query)}: {reason}{advice(reason)}", page=PAGE)

    def _check_not_superseded(self, query: RunningQuery) -> None:
        if query.superseded:
            raise InputError(
                f"{at_start(self.name)} stopped after {counted(self._n_rows, 'row')}, because another query began on "
                "its connection. Read the rows to the end before, or use a second connection.",
                argument="connection",
                page=PAGE,
            )

    def _failed(self, query: RunningQuery) -> str:
        if query.connecting_to:
            return f"Cannot connect to {query.connecting_to}"
        failed = f"stopped after {counted(self._n_rows, 'row')}" if self._n_rows else "failed"
        return f"{at_start(self.name)} {failed}"
