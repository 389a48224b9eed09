"""Tell texts from categories and identifiers."""

from __future__ import annotations

from collections.abc import Sequence

from suffice.tables.levels import is_missing

__all__ = ["are_documents", "mean_words"]

MIN_DISTINCT, MIN_WORDS = 0.5, 4.0


def mean_words(values: Sequence[object]) -> float:
    """Mean number of words of the cells that are not missing; words are separated by white space.

    >>> mean_words(["a cup of tea", None, "coffee"])
    2.5
    """
    lengths = [len(str(value).split()) for value in values if not is_missing(value)]
    return sum(lengths) / max(len(lengths), 1)


def are_documents(values: Sequence[object]) -> bool:
    """Whether the cells of a column are documents: mostly distinct, with four words or more on average.

    >>> are_documents(["a cup of tea", "two cups of coffee"]), are_documents(["tea", "coffee"])
    (True, False)
    """
    texts = [value for value in values if not is_missing(value)]
    distinct = len(set(map(str, texts))) / max(len(texts), 1)
    return distinct > MIN_DISTINCT and mean_words(texts) >= MIN_WORDS
