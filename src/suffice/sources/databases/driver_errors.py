"""Errors of database drivers as sentences of the database, without what the drivers add."""

from __future__ import annotations

import re

__all__ = ["advice", "sentence_of"]

# What drivers write before the sentence of the database: the names of errors, and of what was tried.
ADDED = re.compile(
    r"(?:[A-Z_]+: (?=\[|Failed|failed)|\[\w+\] |Failed to \w+(?: query)?(?: '.*?')?: |could not begin COPY: "
    r"|Execution error \[\w+\]: |(?:ERROR|FATAL|PANIC): +|Error: |(?:[A-Z][a-z]+ )+Error: )",
    re.DOTALL,
)
# What they write after it: the place in the statement, and the statement.
AFTER = re.compile(r"\n+(?:LINE \d|Query was|CONTEXT|DETAIL|Stack)|\.? SQLSTATE: |\n\n", re.ASCII)
ADVICE = {
    "password": "Set the environment variable PGPASSWORD, or store the password in ~/.pgpass.",
    "Type mismatch in column": "The driver takes the types from the first rows. Convert the column in the query with "
    "CAST, or open the file with the URI sqlite:///FILE, which allows for other types in later rows.",
    "different configuration than existing connections": "This process has opened the file already: pass that "
    "connection instead of the URI.",
}


def sentence_of(error: BaseException) -> str:
    r"""The sentence of the database behind an error.

    >>> sentence_of(OSError("[libpq] Execution error [PGRES_FATAL_ERROR]: ERROR:  division by zero\n"))
    'division by zero.'
    >>> sentence_of(ValueError("Parser Error: syntax error at or near 'selekt'\n\nLINE 1: selekt\n        ^^^^^^"))
    "syntax error at or near 'selekt'."
    """
    details = dict(getattr(error, "details", None) or ())
    primary = details.get("PG_DIAG_MESSAGE_PRIMARY") or details.get(b"PG_DIAG_MESSAGE_PRIMARY")
    text = primary.decode("utf-8", "replace") if isinstance(primary, bytes) else str(primary or error)
    text = text.strip()
    while (added := ADDED.match(text)) is not None:
        text = text[added.end() :]
    lines = [" ".join(line.split()) for line in AFTER.split(text, maxsplit=1)[0].splitlines()]
    return (
        " ".join(line if line[-1] in ".?!:;," else f"{line}." for line in lines if line) or f"{type(error).__name__}."
    )


def advice(reason: str) -> str:
    """What to do about the sentence of a database, after a blank; empty if nothing is known.

    >>> advice("fe_sendauth: no password supplied")
    ' Set the environment variable PGPASSWORD, or store the password in ~/.pgpass.'
    """
    return next((f" {each}" for problem, each in ADVICE.items() if problem in reason), "")
