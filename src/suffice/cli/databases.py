"""Rows of a database instead of DATA: the options --database and --query."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.command import note

if TYPE_CHECKING:
    from suffice.sources.files import Source

__all__ = ["DATABASE_OPTIONS", "DataArgument", "DatabaseQuery", "open_database_query"]

VARIABLE = "env:"
# Of the options for reading files, those that describe files alone, and those that apply to queries, too.
OF_FILES = (
    *("format_", "delimiter", "no_header", "names", "quote", "comment", "decimal", "thousands", "date_format"),
    "encoding",
)
OF_QUERIES = ("types", "bad_rows", "nulls", "nulls_only")


class DatabaseQuery(str):
    """The only item of DATA if rows come from a database.

    Attributes
    ----------
    uri : str
        May hold a password.
    query : str
    typed : bool
        Whether the URI was typed, and not read from an environment variable.
    """

    uri: str
    query: str
    typed: bool

    @classmethod
    def of(cls, database: str, query: str) -> DatabaseQuery:
        """Return the query of the two options."""
        typed = not database.startswith(VARIABLE)
        data = cls("a query")
        data.uri, data.query, data.typed = database if typed else _variable(database), _text(query), typed
        return data


def _variable(given: str) -> str:
    name = given.removeprefix(VARIABLE)
    uri = os.environ.get(name, "")
    if not uri:
        raise click.UsageError(f"--database names the environment variable {name!r}, which is not set.")
    return uri


def _text(query: str) -> str:
    """The query, or that in a file."""
    if not query.startswith("@"):
        return query
    try:
        with open(os.path.expanduser(query[1:]), encoding="utf-8-sig") as file:
            return file.read()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise click.UsageError(f"--query names the file {query[1:]!r}, which cannot be read: {reason}.") from None


class DataArgument(click.Argument):
    """The argument DATA, in whose place a query may be given."""

    def process_value(self, ctx: click.Context, value: Any) -> Any:
        """Return the paths, or the query of the options --database and --query, which are parsed before."""
        given = [ctx.params.pop(name, None) for name in ("database", "query")]
        database, query = (each if isinstance(each, str) else "" for each in given)  # Click has its own "not given"
        if not database and not query:
            return super().process_value(ctx, value)
        if not database or not query:
            raise click.UsageError("--database needs --query." if database else "--query needs --database.", ctx)
        if isinstance(value, tuple | list) and value:
            raise click.UsageError("Give either DATA or --database and --query, not both.", ctx)
        if ctx.resilient_parsing:
            return ()
        return (DatabaseQuery.of(database, query),)


DATABASE_OPTIONS = (
    click.option(
        "--database",
        is_eager=True,
        metavar="URI",
        help="Read rows from a database instead of DATA: sqlite:///FILE, duckdb:FILE, postgresql://USER@HOST/DATABASE, "
        "or env:NAME for an environment variable with the URI.",
    ),
    click.option(
        "--query",
        is_eager=True,
        metavar="SELECT",
        help="The rows to read from the database, in SQL; or @FILE.",
    ),
)


def open_database_query(
    data: DatabaseQuery, reading: dict[str, Any], columns: Sequence[str] | None, ignore: Sequence[str]
) -> Source:
    """Open the rows of a query as a source."""
    from suffice.model_file.lock import is_same_file
    from suffice.sources.databases import open_query
    from suffice.sources.databases.uris import parse_uri

    ctx = click.get_current_context()
    for each in ctx.command.params:
        given = ctx.get_parameter_source(each.name or "") is click.core.ParameterSource.COMMANDLINE
        if given and each.name in OF_FILES:
            raise click.UsageError(f"{each.opts[0]} describes files. Remove it, or read DATA instead of a database.")
    if data.typed and parse_uri(data.uri).secrets:
        note(
            "Other users of this machine may see the password in --database in the list of processes. Set PGPASSWORD, "
            "or store the password in ~/.pgpass."
        )
    source = open_query(
        data.query, data.uri, columns=columns, ignore=ignore, **{name: reading[name] for name in OF_QUERIES}
    )
    output = ctx.params.get("output")
    if output not in (None, "-") and any(is_same_file(output, file) for file in source.files):
        raise click.UsageError(f"--output {output} would replace the database. Choose another file name.")
    return source
