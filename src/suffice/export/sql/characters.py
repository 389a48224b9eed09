"""Characters as Suffice reads them, as sets of regular expressions.

Engines know other versions of Unicode, and convert some characters to lower case in other ways. A statement therefore
lists all characters that are part of words, and all capitals, and does not rely on classes of an engine.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache

import numpy as np

from suffice.kernels.text import case_classes

__all__ = ["CASED", "DOTTED_I", "IGNORED", "capitals", "case_set", "character_set", "spaces", "word_characters"]

CASED, IGNORED = 2, 1
DOTTED_I = "İ"
"""The only character whose lower case is two characters; the second one is not part of a word."""


@cache
def word_characters() -> str:
    """The set of letters, digits and the underscore.

    >>> word_characters()[:8]
    '0-9A-Z_a'
    """
    return character_set(point for point in _points() if chr(point).isalnum() or chr(point) == "_")


@cache
def spaces() -> str:
    """The set of white space."""
    return character_set(point for point in _points() if chr(point).isspace())


@cache
def case_set(kind: int) -> str:
    """The set of characters that make a neighbouring capital sigma final (``CASED``), or that it ignores."""
    return character_set(np.flatnonzero(case_classes() == kind).tolist())


@cache
def capitals() -> tuple[str, str]:
    """All characters with a lower case of one character, and their lower cases; those of ASCII are the first 26.

    >>> [each[:30] for each in capitals()]
    ['ABCDEFGHIJKLMNOPQRSTUVWXYZÀÁÂÃ', 'abcdefghijklmnopqrstuvwxyzàáâã']
    """
    found = [chr(point) for point in _points() if chr(point).lower() != chr(point) and chr(point) != DOTTED_I]
    return "".join(found), "".join(each.lower() for each in found)


def _points() -> Iterable[int]:
    return range(sys.maxunicode + 1)


def character_set(points: Iterable[int]) -> str:
    """Characters as ranges for a regular expression; there is no hyphen, bracket or backslash among them.

    >>> character_set(map(ord, "abcdgh"))
    'a-dgh'
    """
    runs: list[list[int]] = []
    for point in points:
        if runs and runs[-1][1] == point - 1:
            runs[-1][1] = point
        else:
            runs.append([point, point])
    return "".join(_run(chr(first), chr(last), last - first) for first, last in runs)


def _run(first: str, last: str, length: int) -> str:
    return first if length == 0 else f"{first}{last}" if length == 1 else f"{first}-{last}"
