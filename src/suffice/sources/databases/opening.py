"""`open_query`: opens the rows of a database query as a source."""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from suffice.exceptions import InputError, SufficeError
from suffice.sources.databases.query_rows import QueryRows
from suffice.sources.databases.results import RunningQuery
from suffice.sources.databases.statements import statement
from suffice.sources.databases.uris import FORMS, IN_MEMORY, PAGE, parse_uri
from suffice.sources.files.opening import BATCH_ROWS, check_options, source_of
from suffice.sources.files.source import Source

__all__ = ["open_query"]


@dataclass(frozen=True)
class _Database:
    """How to query a database.

    ``query`` makes a query of a text, its description in messages, and the rows of a batch. ``connection`` is an open
    connection that runs one query at a time.
    """

    engine: str
    query: Callable[[str, str, int], RunningQuery] = field(repr=False)
    is_ours: bool = False
    connection: Any = field(default=None, repr=False)
    files: Sequence[str] = ()
    secrets: Sequence[str] = field(default=(), repr=False)


def open_query(
    query: str,
    connection: Any,
    *,
    columns: Sequence[str] | None = None,
    ignore: Sequence[str] = (),
    types: Mapping[str, str] | None = None,
    bad_rows: str = "error",
    nulls: Sequence[str] = (),
    nulls_only: Sequence[str] | None = None,
    batch_rows: int = BATCH_ROWS,
) -> Source:
    """Open the rows of a query on a database as a source.

    The query runs when the source is opened, and its rows are read in batches of bounded memory. If they are read
    again, it runs again. Connections that are opened for a URI can only read.

    Parameters
    ----------
    query : str
        One statement that selects rows.
    connection : str or connection
        A URI: ``"sqlite:///FILE"``, ``"duckdb:FILE"`` or ``"postgresql://USER@HOST/DATABASE"``. Or an open connection
        of an ADBC driver, of DuckDB, or of another Python driver (DB-API 2.0), such as ``sqlite3`` or ``psycopg``. An
        open connection is used in the thread that reads the rows, and stays open.
    columns, ignore : sequence of str, optional
        Columns to read, or columns to ignore. By default all columns are read.
    types : mapping of str to {"number", "text", "category", "yes/no", "time"}, optional
        Types of columns, instead of those of the database.
    bad_rows : {"error", "skip"}, default="error"
        Whether to raise an error for a row that cannot be read, or to skip and count it.
    nulls, nulls_only : sequence of str, optional
        Texts that mark a missing cell besides NULL.
    batch_rows : int, default=131072
        Largest number of rows in a batch.

    Returns
    -------
    Source
        The rows, which can be read in batches.

    Raises
    ------
    InputError
        If the query fails, now or while its rows are read. The message quotes the database, never a password.

    See Also
    --------
    suffice.fit : Fits a model to a query.
    suffice.sources.open_source : Opens files and frames.

    Examples
    --------
    >>> import sqlite3
    >>> connection = sqlite3.connect(":memory:")
    >>> _ = connection.execute("CREATE TABLE orders (amount REAL, kind TEXT)")
    >>> _ = connection.executemany("INSERT INTO orders VALUES (?, ?)", [(1.5, "a"), (None, "b"), (9.5, "b")])
    >>> source = open_query("SELECT amount, kind FROM orders", connection)
    >>> source.types
    {'amount': 'number', 'kind': 'text'}
    >>> import suffice
    >>> suffice.fit(source, "kind", model="naive-bayes", validate=False).classes_.tolist()
    ['a', 'b']
    """
    text = statement(query)
    options = check_options(types=types, bad_rows=bad_rows, nulls=nulls, nulls_only=nulls_only, batch_rows=batch_rows)
    database = _of_uri(connection) if isinstance(connection, str) else _of_connection(connection)
    described = f"the query on {database.engine}" if database.engine else "the query"
    rows = QueryRows(
        lambda: database.query(text, described, options.batch_rows),
        described,
        options,
        prefetchable=database.is_ours,
        connection=database.connection,
        files=database.files,
        secrets=database.secrets,
    )
    try:
        return source_of(rows, options, columns, ignore)
    except SufficeError:
        rows.close()  # the traceback refers to them, perhaps for long
        raise


def _with(kind: Callable[[str, str, int, Any], RunningQuery], place: Any) -> Callable[[str, str, int], RunningQuery]:
    """A kind of queries on a file, a server or an open connection."""
    return lambda text, described, batch_rows: kind(text, described, batch_rows, place)


def _of_uri(uri: str) -> _Database:
    found = parse_uri(uri)
    place = found.location
    if found.scheme == "sqlite":
        from suffice.sources.databases.sqlite import SQLiteFileQuery

        return _Database("SQLite", _with(SQLiteFileQuery, place), is_ours=True, files=[place])
    from suffice.sources.databases.arrow_results import DuckDBFileQuery, PostgreSQLQuery

    if found.scheme == "duckdb":
        _need("duckdb", "DuckDB", "duckdb")
        files = [] if place == IN_MEMORY else [place]
        return _Database("DuckDB", _with(DuckDBFileQuery, place), is_ours=True, files=files)
    _need("adbc_driver_manager", "ADBC", "databases")
    _need("adbc_driver_postgresql", "the ADBC driver of PostgreSQL", "databases")
    return _Database("PostgreSQL", _with(PostgreSQLQuery, place), is_ours=True, secrets=found.secrets)


def _need(module: str, described: str, extra: str) -> None:
    try:
        importlib.import_module(module)
    except ImportError:
        raise InputError(
            f"Queries of this database need {described}: pip install 'suffice[{extra}]'",
            argument="connection",
            page=PAGE,
        ) from None


def _of_connection(connection: Any) -> _Database:
    """How to query an open connection, of whatever driver."""
    import sqlite3

    package = type(connection).__module__.partition(".")[0]
    if package == "sqlalchemy":
        raise _wrong("A connection of SQLAlchemy is not one of a driver. Pass engine.raw_connection().")
    if package == "adbc_driver_manager" or hasattr(connection, "adbc_connection"):
        return _of_adbc(connection)
    if package in ("duckdb", "_duckdb") and hasattr(connection, "sql"):
        from suffice.sources.databases.arrow_results import DuckDBQuery

        return _Database("DuckDB", _with(DuckDBQuery, connection), connection=connection)
    if isinstance(connection, sqlite3.Connection):
        from suffice.sources.databases.sqlite import SQLiteQuery

        return _Database("SQLite", _with(SQLiteQuery, connection))
    if "async" in type(connection).__name__.lower():
        raise _wrong(f"A {type(connection).__name__} is asynchronous. Pass an ordinary connection.")
    if package == "psycopg":
        from suffice.sources.databases.psycopg import PsycopgQuery

        return _Database("PostgreSQL", _with(PsycopgQuery, connection), connection=connection)
    if not callable(getattr(connection, "cursor", None)):
        raise _wrong(
            "connection must be a URI or an open connection of a database driver; got "
            f"{type(connection).__name__}. URIs have the forms {FORMS}."
        )
    from suffice.sources.databases.cursors import CursorQuery

    return _Database(package, _with(CursorQuery, connection), connection=connection)


def _of_adbc(connection: Any) -> _Database:
    """How to query a connection of an ADBC driver: that of ``dbapi.connect``, or the low-level one in it."""
    from suffice.sources.databases.arrow_results import ADBCQuery

    engine, native = "", connection
    if hasattr(connection, "adbc_connection"):
        native = connection.adbc_connection
        with contextlib.suppress(Exception):  # not every driver tells its name
            engine = str(connection.adbc_get_info()["vendor_name"])
    elif type(connection).__name__ != "AdbcConnection":
        raise _wrong(f"connection must be a connection, not a {type(connection).__name__}.")
    return _Database(engine, _with(ADBCQuery, native), connection=native)


def _wrong(sentence: str) -> InputError:
    return InputError(sentence, argument="connection", page=PAGE)
