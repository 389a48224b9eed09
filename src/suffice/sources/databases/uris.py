"""URIs of databases: sqlite, postgresql and duckdb. A URI can hold a password, so no message quotes one."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import unquote, urlsplit

from suffice.exceptions import InputError, short, similar_name

__all__ = ["FORMS", "IN_MEMORY", "PAGE", "DatabaseURI", "parse_uri", "without"]

PAGE = "docs/engines.md"
IN_MEMORY = ":memory:"
SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9]*)(?:\+[A-Za-z0-9_]+)?:(.*)", re.DOTALL)
HOST = r"(?:\[[^\]/?#@\s]*\]|[^\[\]:,/?#@\s]*)(?::[0-9]*)?"
# The form that PostgreSQL's library reads. It quotes parts of other texts, perhaps of the password, in its errors.
POSTGRESQL = re.compile(
    rf"//(?:[^:@/?#\s]*(?::[^@/?#\s]*)?@)?(?:{HOST}(?:,{HOST})*)?(?:/[^/?#@\s]*)?(?:\?[^?#\s]*)?", re.ASCII
)
BAD_PERCENT = re.compile("%(?![0-9A-Fa-f]{2})")
ENGINES = {"sqlite": "SQLite", "duckdb": "DuckDB"}
FORMS = "sqlite:///FILE, duckdb:FILE or postgresql://USER@HOST/DATABASE"


@dataclass(frozen=True)
class DatabaseURI:
    """A URI that was checked.

    Attributes
    ----------
    scheme : {"sqlite", "postgresql", "duckdb"}
    location : str
        The path of the file, or the whole URI of a server.
    secrets : tuple of str
        Texts that no message may contain: the passwords of the URI, as they are and as they are written in it.
    """

    scheme: str
    location: str = field(repr=False)
    secrets: tuple[str, ...] = field(default=(), repr=False)


def parse_uri(uri: str) -> DatabaseURI:
    """Check the URI of a database, and that its file exists.

    >>> parse_uri("postgresql://clerk:geheim@localhost/shop")
    DatabaseURI(scheme='postgresql')
    >>> parse_uri("duckdb::memory:").location
    ':memory:'
    >>> parse_uri("mysql://clerk:geheim@localhost/shop")
    Traceback (most recent call last):
    ...
    suffice.exceptions.InputError: Suffice cannot open 'mysql' databases itself. Expected sqlite:///FILE, duckdb:FILE \
or postgresql://USER@HOST/DATABASE. In Python, you can pass a connection of another driver.
    """
    found = SCHEME.fullmatch(uri.strip())
    if found is None:
        raise _error(f"The connection is not the URI of a database. Expected {FORMS}.")
    scheme, rest = found[1].lower(), found[2]
    if scheme in ("postgresql", "postgres"):
        return _server(rest)
    if scheme in ("sqlite", "duckdb"):
        return DatabaseURI(scheme, _file(scheme, rest))
    raise _error(
        f"Suffice cannot open {scheme!r:.20} databases itself. Expected {FORMS}. In Python, you can pass a "
        "connection of another driver."
    )


def without(secrets: Sequence[str], text: str) -> str:
    """Replace secrets in a message by asterisks.

    >>> without(["geheim"], "no user 'a' in clerk:geheim@localhost, but geheimrat")
    "no user 'a' in clerk:***@localhost, but geheimrat"
    """
    for each in sorted(secrets, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(each)}(?!\w)", "***", text)
    return text


def _error(sentence: str, file: str | None = None) -> InputError:
    return InputError(sentence, argument="connection", file=file, page=PAGE)


def _server(rest: str) -> DatabaseURI:
    if POSTGRESQL.fullmatch(rest) is None or BAD_PERCENT.search(rest):
        raise _error(
            "The URI of the PostgreSQL database is not valid. Expected postgresql://USER:PASSWORD@HOST:PORT/DATABASE, "
            "in which special characters of names and passwords are written in percent code, as %40 for @."
        )
    uri = f"postgresql:{rest}"
    parts = urlsplit(uri)
    written = [parts.password or ""]
    written += [value for name, value in _parameters(parts.query) if "password" in name.lower()]
    secrets = dict.fromkeys(text for each in written for text in (each, unquote(each)) if text)
    return DatabaseURI("postgresql", uri, tuple(secrets))


def _parameters(query: str) -> list[tuple[str, str]]:
    """The parameters of a URI, with values as they are written."""
    return [(unquote(name), value) for name, _, value in (each.partition("=") for each in query.split("&"))]


def _file(scheme: str, rest: str) -> str:
    """The path of a file that exists, or `IN_MEMORY`."""
    if rest.startswith("//"):
        if not rest.startswith("///"):
            raise _error(f"Write the URI of a file with three slashes, {scheme}:///FILE, or with none, {scheme}:FILE.")
        rest = rest[3:]
    if rest == IN_MEMORY and scheme == "duckdb":
        return rest
    if rest in ("", IN_MEMORY):
        raise _error(
            f"The URI names no file. Expected {scheme}:///FILE; for a database in memory, pass its connection."
        )
    path = os.path.expanduser(rest)
    if os.path.isdir(path):
        raise _error(f"{short(path)} is a folder, not a database.", file=path)
    if not os.path.exists(path):
        raise _error(f"There is no database {short(path)}.{_hint(scheme, path)}", file=path)
    _check_format(scheme, path)
    return path


def _check_format(scheme: str, path: str) -> None:
    """Raise if a file is a database of the other engine, which one engine or the other would not notice."""
    try:
        with open(path, "rb") as file:
            head = file.read(16)
    except OSError as error:
        raise _error(f"{short(path)} cannot be read: {error.strerror}.", file=path) from None
    other = "sqlite" if head.startswith(b"SQLite format 3") else "duckdb" if head[8:].startswith(b"DUCK") else scheme
    if other != scheme:
        raise _error(f"{short(path)} is a database of {ENGINES[other]}. Open it with {other}:{path}.", file=path)


def _hint(scheme: str, path: str) -> str:
    if not os.path.isabs(path) and os.path.isfile(f"/{path}"):
        return f" Did you mean {scheme}:////{path}? An absolute path has four slashes."
    folder, name = os.path.split(path)
    try:
        near = similar_name(name, sorted(os.listdir(folder or os.curdir)))
    except OSError:
        return ""
    return "" if near is None else f" Did you mean {short(os.path.join(folder, near))}?"
