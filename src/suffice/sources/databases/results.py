"""What a query returns, whatever runs it: columns, and rows as Arrow batches."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from suffice.exceptions import Argument, InputError
from suffice.sources.databases.uris import PAGE
from suffice.sources.engine_types import ArrowRows, ArrowSchema

__all__ = ["ResultColumns", "RunningQuery", "no_rows_error", "unreadable_error"]


@dataclass(frozen=True)
class ResultColumns:
    """The columns of a result.

    Attributes
    ----------
    schema : pyarrow.Schema
    unreadable : mapping of str to InputError
        Columns that cannot be read, each with the error to raise if it is.
    mixed : mapping of str to InputError
        Columns whose first cells have several types, each with the error to raise if the user requests no type.
    types : mapping of str to {"number", "text", "yes/no", "time"}
        Types of columns whose cells may have several types, unless the user requests other ones.
    """

    schema: ArrowSchema
    unreadable: Mapping[str, InputError] = field(default_factory=dict)
    mixed: Mapping[str, InputError] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)


class RunningQuery(Protocol):
    """A query on a connection, which runs once.

    Attributes
    ----------
    threaded : bool
        Whether other threads may run it, one after the other. Otherwise it stays in the thread of the caller.
    connecting_to : str
        Name of a server that it needs a connection to; empty if it has one.
    superseded : bool
        Whether it was closed because another query began on its connection.
    """

    threaded: bool
    connecting_to: str
    superseded: bool = False

    def start(self) -> ResultColumns:
        """Run the query until its columns are known."""
        ...

    def rows(self, columns: Sequence[str]) -> Iterator[ArrowRows]:
        """Yield these columns of the rows, in order."""
        ...

    def cancel(self) -> None:
        """Stop the statement, from any thread and at any time."""
        ...

    def close(self) -> None:
        """Close all that the query has opened; may be called again."""
        ...


def unreadable_error(column: str, kind: str, advice: str, described: str) -> InputError:
    """The error for a column whose type models cannot read.

    >>> print(unreadable_error("tags", "list<item: int32>", 'CAST("tags" AS text)', "the query on PostgreSQL"))
    Column 'tags' of the query on PostgreSQL has the type list<item: int32>, which cannot be read. Leave it out with \
ignore=['tags'], or convert it in the query, for example with CAST("tags" AS text).
    """
    return InputError(
        f"Column {column!r} of {described} has the type {kind}, which cannot be read. Leave it out with ",
        Argument("ignore", [column]),
        f", or convert it in the query, for example with {advice}.",
        column=column,
        page=PAGE,
    )


def no_rows_error() -> InputError:
    """The error for a statement without columns."""
    return InputError("The query returns no columns. Give a SELECT.", argument="query", page=PAGE)
