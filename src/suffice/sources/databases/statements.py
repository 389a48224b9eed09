"""The text of a query: one statement that returns rows, without what follows it."""

from __future__ import annotations

import re

from suffice.exceptions import InputError
from suffice.sources.databases.uris import PAGE

__all__ = ["statement"]

FIRST_WORDS = ("SELECT", "WITH", "VALUES", "TABLE", "FROM", "PIVOT", "UNPIVOT")
# Comments and quoted texts, in which a semicolon does not end the statement.
TOKEN = re.compile(
    r"(?P<blank>\s+|--[^\n]*|/\*.*?\*/)|(?P<end>;)"
    r"|(?P<word>\b[eE]'(?:[^'\\]|\\.|'')*'|\w+|'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`[^`]*`|\$(?P<tag>\w*)\$.*?\$(?P=tag)\$|.)",
    re.DOTALL,
)


def statement(query: object) -> str:
    r"""Return a query without semicolons and comments at its end; raises unless it is one statement that selects rows.

    This finds mistakes. It does not protect a database: connections that Suffice opens can only read.

    >>> statement("SELECT ';' AS mark, 2 -- two columns\n;  -- done")
    "SELECT ';' AS mark, 2"
    >>> statement("DROP TABLE orders")
    Traceback (most recent call last):
    ...
    suffice.exceptions.InputError: The query must select rows, but it begins with DROP. Begin it with SELECT or WITH.
    """
    if not isinstance(query, str):
        raise InputError(f"The query must be a text; got {type(query).__name__}.", argument="query", page=PAGE)
    begins, ends, first, ended = None, 0, "", False
    for token in TOKEN.finditer(query):
        if token["end"]:
            ended = begins is not None
        elif not token["blank"]:
            if ended:
                raise InputError(
                    "The query has several statements, separated by semicolons. Give one SELECT.",
                    argument="query",
                    page=PAGE,
                )
            begins, ends = token.start() if begins is None else begins, token.end()
            first = first or token[0].strip("(")
    if begins is None:
        raise InputError("The query is empty.", argument="query", page=PAGE)
    if first.upper() not in FIRST_WORDS:
        raise InputError(
            f"The query must select rows, but it begins with {first.upper()[:30]}. Begin it with SELECT or WITH.",
            argument="query",
            page=PAGE,
        )
    return query[begins:ends]
