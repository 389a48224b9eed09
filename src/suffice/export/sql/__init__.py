"""Fitted models as SQL: one SELECT statement that scores the rows of a table, where they are."""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping, Sequence
from typing import Any

from suffice.exceptions import InputError
from suffice.learning.fitted import Fitted, fitted_of

__all__ = ["to_sql"]


def to_sql(
    fitted: Fitted,
    table: str,
    dialect: str = "duckdb",
    *,
    keep: Sequence[str] | None = None,
    columns: Mapping[Any, str] | Sequence[str] | None = None,
    prefix: str = "",
    complete: bool = False,
) -> str:
    """Write a fitted model as one SELECT statement that scores each row of a table."""
    if importlib.util.find_spec("sqlglot") is None:
        raise InputError("SQL is written by SQLGlot, which is not installed: pip install 'suffice[sql]'.")
    from suffice.export.sql.exporting import statement

    model = fitted_of(fitted, "to_sql")
    return statement(model, table, dialect, keep, columns, prefix, complete=complete)
