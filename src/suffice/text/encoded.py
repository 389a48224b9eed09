"""Rows of words of texts, kept as long as the texts are: tuning and steps of EM ask for the same ones many times."""

from __future__ import annotations

from weakref import WeakKeyDictionary

from suffice.tables.word_rows import WordRows
from suffice.text.analysis import Analysis
from suffice.text.texts import Texts

__all__ = ["word_rows"]

_KEPT: WeakKeyDictionary[Texts, tuple[Analysis, int, WordRows]] = WeakKeyDictionary()


def word_rows(texts: Texts, analysis: Analysis, slots: int = 0) -> WordRows:
    """How often each text has each word, of all words that occur; those of the last analysis are kept beside the texts.

    >>> texts = Texts(["a pill", "no pill"])
    >>> word_rows(texts, Analysis()).vocabulary.words
    ['no', 'pill']
    >>> word_rows(texts, Analysis()) is word_rows(texts, Analysis())
    True
    """
    kept = _KEPT.get(texts)
    if kept is not None and kept[1] == slots and kept[0] == analysis:
        return kept[2]
    rows = WordRows.read(texts.documents(analysis), analysis.reading, slots)
    _KEPT[texts] = analysis, slots, rows
    return rows
