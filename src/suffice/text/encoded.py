"""A cache of word rows that lives as long as the texts, because tuning and EM steps need the same rows many times."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from suffice.tables.word_rows import WordRows
from suffice.text.analysis import Analysis
from suffice.text.texts import Texts

__all__ = ["word_rows"]

_CACHE: WeakKeyDictionary[Texts, tuple[Analysis, int, WordRows]] = WeakKeyDictionary()


def word_rows(texts: Texts, analysis: Analysis, slots: int = 0) -> WordRows:
    """Counts or weights of all words that occur, for each text.

    The rows of the last analysis are cached for each `Texts`.

    >>> texts = Texts(["a pill", "no pill"])
    >>> word_rows(texts, Analysis()).vocabulary.words
    ['no', 'pill']
    >>> word_rows(texts, Analysis()) is word_rows(texts, Analysis())
    True
    """
    cached = _CACHE.get(texts)
    if cached is not None and cached[1] == slots and cached[0] == analysis:
        return cached[2]
    rows = WordRows.read(texts.documents(analysis), analysis.token_rules, slots)
    rows = rows.of_unit_length() if analysis.weighting == "unit" else rows
    _CACHE[texts] = analysis, slots, rows
    return rows
