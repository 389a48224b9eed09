"""Names of parameters: those of the families, and other spellings that people use."""

from __future__ import annotations

import re
from functools import cache

from suffice.families import Family, family_names
from suffice.families.contract import family_type

__all__ = ["OF", "SPELLINGS", "known_names", "parameter_kind"]

SPELLINGS = frozenset(("variance", "cuts", "levels", "words"))
"""Names that people write for "deviation", "cut" and "probability"."""
OF = re.compile(r"(mean|deviation|share) of (.*)", re.DOTALL)


@cache
def _names_of(families: tuple[str, ...]) -> frozenset[str]:
    return frozenset().union(*(family_type(name).parameter_names for name in families))


def known_names(family: Family | None) -> frozenset[str]:
    """The names of parameters that a family has; those of all families without one."""
    return SPELLINGS | (_names_of(tuple(family_names())) if family is None else family.parameter_names)


def parameter_kind(name: str) -> str:
    """The name of a parameter without that of its column.

    >>> parameter_kind("mean of width"), parameter_kind("mean of log"), parameter_kind("correlation of a and b")
    ('mean', 'mean of log', 'correlation')
    """
    if name.startswith("correlation of "):
        return "correlation"
    match = OF.match(name)
    return match.group(1) if match and name not in _names_of(tuple(family_names())) else name
