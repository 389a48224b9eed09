"""Tell texts from categories and identifiers."""

from __future__ import annotations

from collections.abc import Sequence

from suffice.tables.levels import is_missing

__all__ = ["are_documents", "have_words"]

MIN_DISTINCT = 0.5
MIN_WORDS = 3.0  # strings with fewer words on average are names, codes and identifiers


def have_words(values: Sequence[object]) -> bool:
    """Whether the cells that are not missing have three words or more on average, separated by white space.

    >>> have_words(["a cup of tea", None, "two coffees"]), have_words(["a cup of tea", None, "coffee"])
    (True, False)
    """
    lengths = [len(str(value).split()) for value in values if not is_missing(value)]
    return sum(lengths) >= MIN_WORDS * max(len(lengths), 1)


def are_documents(values: Sequence[object]) -> bool:
    """Whether the cells of a column are documents: mostly distinct, with three words or more on average.

    >>> are_documents(["a cup of tea", "two cups of coffee"]), are_documents(["tea", "coffee"])
    (True, False)
    """
    texts = [value for value in values if not is_missing(value)]
    distinct = len(set(map(str, texts))) / max(len(texts), 1)
    return distinct > MIN_DISTINCT and have_words(texts)
