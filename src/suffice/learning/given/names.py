"""Names of parameters in the families, and other usual spellings."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import cache

from suffice.exceptions import did_you_mean
from suffice.families import Family, family_names
from suffice.families.contract import family_type

__all__ = ["OF", "OTHER_NAMES", "SPELLINGS", "known_names", "parameter_hint", "parameter_kind"]

SPELLINGS = frozenset(("variance", "cuts", "levels", "words"))
"""Names that people write for "deviation", "cut" and "probability"."""
OTHER_NAMES = {
    "mu": "mean",
    "std": "deviation",
    "sd": "deviation",
    "sigma": "deviation",
    "var": "variance",
    "cov": "covariance",
    "lambda": "rate",
    "p": "probability",
    "df": "freedom",
}
"""Names of other software and of formulas, which a message translates."""
OF = re.compile(r"(mean|deviation|share) of (.*)", re.DOTALL)


@cache
def _names_of(families: tuple[str, ...]) -> frozenset[str]:
    return frozenset().union(*(family_type(name).parameter_names for name in families))


def known_names(family: Family | None) -> frozenset[str]:
    """The names of parameters that a family has; those of all families without one."""
    return SPELLINGS | (_names_of(tuple(family_names())) if family is None else family.parameter_names)


def parameter_hint(name: object, known: Collection[str]) -> str:
    """A hint at the known parameter that a name means, for the end of a sentence; empty without one.

    >>> parameter_hint("std", ["mean", "deviation"]), parameter_hint("men", ["mean", "deviation"])
    (" Did you mean 'deviation'?", " Did you mean 'mean'?")
    """
    meant = OTHER_NAMES.get(name.casefold()) if isinstance(name, str) else None
    return f" Did you mean {meant!r}?" if meant in known else did_you_mean(name, known)


def parameter_kind(name: str) -> str:
    """The name of a parameter without that of its column.

    >>> parameter_kind("mean of width"), parameter_kind("mean of log"), parameter_kind("correlation of a and b")
    ('mean', 'mean of log', 'correlation')
    """
    if name.startswith("correlation of "):
        return "correlation"
    match = OF.match(name)
    return match.group(1) if match and name not in _names_of(tuple(family_names())) else name
