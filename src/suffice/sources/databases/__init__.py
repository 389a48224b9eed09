"""Queries on databases: SQLite, DuckDB, PostgreSQL, and others by a connection of their driver.

Each driver is imported when a query needs it. A query runs each time its rows are read.
"""

from suffice.sources.databases.opening import open_query

__all__ = ["open_query"]
