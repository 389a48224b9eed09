"""Rows of a table of levels that are not levels, and the types of levels as text.

A `SpecialLevel` is equal to its text, so that people can select it by name; code tells it from a level with the same
text by its type. A frame or a file keeps neither, so a listing can say the type of each level in a column of its own.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from datetime import date, datetime
from typing import Any

__all__ = [
    "MISSING",
    "OTHER",
    "UNSEEN",
    "SpecialLevel",
    "level_key",
    "level_type",
    "needs_types",
    "read_level",
    "special",
]


class SpecialLevel(str):
    """A row of a table of levels that is not a level: missing cells, unseen levels, or all other levels."""


MISSING, UNSEEN, OTHER = SpecialLevel("(missing)"), SpecialLevel("(unseen)"), SpecialLevel("(other)")
SPECIAL = (MISSING, UNSEEN, OTHER)
TEXT, TYPES = "text", {bool: "truth value", int: "whole number", float: "number", datetime: "time", date: "date"}


def special(level: Any) -> Any:
    """The special level with this text, also within a tuple; any other level is itself.

    >>> isinstance(special("(missing)"), SpecialLevel), special(("a", 3))
    (True, ('a', 3))
    """
    if isinstance(level, tuple):
        return tuple(map(special, level))
    return next((each for each in SPECIAL if isinstance(level, str) and each == level), level)


def level_key(level: Any) -> Hashable:
    """A key that differs for a special level and a level with the same text."""
    if isinstance(level, tuple):
        return tuple(map(level_key, level))
    return isinstance(level, SpecialLevel), level


def level_type(level: Any) -> str:
    """The type of a level, or the types of a tuple of levels, as text.

    >>> level_type("a"), level_type(True), level_type((MISSING, 3)), level_type(date(2024, 5, 1))
    ('text', 'truth value', 'special, whole number', 'date')
    """
    if isinstance(level, tuple):
        return ", ".join(map(level_type, level))
    if isinstance(level, str):
        return "special" if isinstance(level, SpecialLevel) else TEXT
    return next((name for kind, name in TYPES.items() if isinstance(level, kind)), type(level).__name__)


def needs_types(levels: Iterable[Any]) -> bool:
    """Whether the texts of some levels do not tell what they are.

    >>> needs_types(["red", MISSING]), needs_types(["red", "(missing)"]), needs_types(["12"]), needs_types([12])
    (False, True, True, True)
    """
    return any(needs_types(level) if isinstance(level, tuple) else _is_ambiguous(level) for level in levels)


def _is_ambiguous(level: Any) -> bool:
    if not isinstance(level, str):
        return True
    return not isinstance(level, SpecialLevel) and (level in SPECIAL or level in ("True", "False") or _is_number(level))


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_level(cell: Any, kind: str) -> Any:
    """The level of a type, as `level_type` names it, that a cell of a frame holds; raises `ValueError` if it cannot.

    >>> read_level("3", "whole number"), read_level(3.0, "whole number"), read_level(("a", "(missing)"), "text, text")
    (3, 3, ('a', '(missing)'))
    """
    if isinstance(cell, tuple):
        kinds = kind.split(", ")
        return tuple(read_level(each, own) for each, own in zip(cell, kinds, strict=True))
    if kind in (TEXT, "special"):
        if not isinstance(cell, str):
            raise ValueError(f"{cell!r} is not a text")
        return special(str(cell)) if kind == "special" else str(cell)
    if kind == "truth value":
        if str(cell) not in ("True", "False"):
            raise ValueError(f"{cell!r} is not a truth value")
        return str(cell) == "True"
    if kind == "whole number":
        if not isinstance(cell, str) and cell != int(cell):
            raise ValueError(f"{cell!r} is not a whole number")
        return int(cell)
    if kind == "number":
        return float(cell)
    if kind in ("time", "date") and isinstance(cell, str):
        return datetime.fromisoformat(cell) if kind == "time" else date.fromisoformat(cell)
    if isinstance(cell, str):
        raise ValueError(f"{cell!r} cannot be read as {kind}")
    return cell
