"""Databases that hold the mixed table, and connections to them."""

import contextlib
import sqlite3
from dataclasses import dataclass

import adbc_driver_postgresql.dbapi
import adbc_driver_sqlite.dbapi
import duckdb
import psycopg

SQLITE_TYPES = {
    "double": "DOUBLE",
    "int64": "INTEGER",
    "string": "TEXT",
    "bool": "BOOLEAN",
    "timestamp[us]": "TIMESTAMP",
}
CONNECTIONS = {
    "URI of PostgreSQL": lambda databases: contextlib.nullcontext(databases.postgres),
    "URI of SQLite": lambda databases: contextlib.nullcontext(f"sqlite:///{databases.sqlite}"),
    "URI of DuckDB": lambda databases: contextlib.nullcontext(f"duckdb:{databases.duckdb}"),
    "ADBC, PostgreSQL": lambda databases: adbc_driver_postgresql.dbapi.connect(databases.postgres),
    "ADBC, SQLite": lambda databases: adbc_driver_sqlite.dbapi.connect(str(databases.sqlite)),
    "sqlite3": lambda databases: contextlib.closing(sqlite3.connect(databases.sqlite)),
    "psycopg": lambda databases: psycopg.connect(databases.postgres),
    "psycopg, autocommit": lambda databases: psycopg.connect(databases.postgres, autocommit=True),
    "DuckDB": lambda databases: duckdb.connect(databases.duckdb),
}
SERVER = ("URI of PostgreSQL", "ADBC, PostgreSQL", "psycopg", "psycopg, autocommit")


@dataclass(frozen=True)
class Databases:
    """Where the databases are: the URI of a server, and two files."""

    postgres: str
    sqlite: str
    duckdb: str


def databases_of(postgres, folder, tables):
    """Write tables, by their names, to three databases."""
    databases = Databases(postgres, f"{folder}/tables.sqlite", f"{folder}/tables.duckdb")
    with adbc_driver_postgresql.dbapi.connect(postgres) as connection, connection.cursor() as cursor:
        for name, table in tables.items():
            cursor.adbc_ingest(name, table, mode="replace")
        connection.commit()
    with duckdb.connect(databases.duckdb) as connection:
        for name, table in tables.items():
            connection.register("rows_of_table", table)
            connection.execute(f"CREATE TABLE {name} AS FROM rows_of_table")
    with contextlib.closing(sqlite3.connect(databases.sqlite)) as connection:
        for name, table in tables.items():
            write_sqlite(connection, name, table)
    return databases


def write_sqlite(connection, name, table):
    """Write a table as SQLite stores it: yes/no as 0 and 1, times as text."""
    columns = ", ".join(f'"{each.name}" {SQLITE_TYPES[str(each.type)]}' for each in table.schema)
    connection.execute(f"CREATE TABLE {name} ({columns})")
    cells = [
        [None if each is None else each.isoformat(" ") for each in column.to_pylist()]
        if str(column.type).startswith("timestamp")
        else column.to_pylist()
        for column in table.columns
    ]
    connection.executemany(f"INSERT INTO {name} VALUES ({', '.join('?' * len(cells))})", zip(*cells, strict=True))
    connection.commit()
