"""Names of tables as users write them in SQL."""

from __future__ import annotations

import re
from collections.abc import Iterable

from sqlglot import exp

from suffice.exceptions import InputError
from suffice.export.sql.query import PAGE

__all__ = ["name_beside", "prefix_beside", "table_named"]

PART = re.compile(r'([^\W\d][\w$]*)|"((?:[^"]|"")+)"|`((?:[^`]|``)+)`')
MOST_PARTS = 3


def table_named(name: str) -> exp.Table:
    """A table by its name, with a schema and a catalogue or without; parts may be quoted.

    >>> table_named('sales."Orders 2024"').sql("spark")
    'sales.`Orders 2024`'
    >>> table_named("orders; DROP TABLE orders")
    Traceback (most recent call last):
    suffice.exceptions.InputError: table must be the name of a table as it is written in SQL, such as orders, \
sales.orders or "Orders 2024"; got 'orders; DROP TABLE orders'.
    """
    parts: list[exp.Identifier] = []
    at = 0
    while isinstance(name, str) and len(parts) < MOST_PARTS:
        found = PART.match(name, at)
        if found is None:
            break
        plain, quoted, ticked = found.groups()
        own = plain or (quoted or "").replace('""', '"') or ticked.replace("``", "`")
        parts.append(exp.to_identifier(own, quoted=plain is None))
        at = found.end()
        if at == len(name) and not any(each in own for own in map(str, parts) for each in ("\0", "${")):
            return exp.Table(**dict(zip(("this", "db", "catalog"), reversed(parts), strict=False)))
        if name[at : at + 1] != ".":
            break
        at += 1
    raise InputError(
        "table must be the name of a table as it is written in SQL, such as orders, sales.orders or "
        f'"Orders 2024"; got {name!r:.80}.',
        argument="table",
        page=PAGE,
    )


def prefix_beside(table: exp.Table) -> str:
    """A prefix that the name of the table does not have."""
    prefix = "suffice_"
    while table.name.casefold().startswith(prefix):
        prefix = f"{prefix}_"
    return prefix


def name_beside(known: Iterable[str], name: str) -> str:
    """A name that no known column has, whatever its case: the given one, or one with more underscores.

    >>> name_beside(["A_", "b"], "a_")
    'a__'
    """
    taken = {each.casefold() for each in known}
    while name.casefold() in taken:
        name = f"{name}_"
    return name
