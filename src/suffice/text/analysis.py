"""What the words of a document are: the settings of an analyzer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from suffice.kernels.text import Reading

__all__ = ["Analysis"]


@dataclass(frozen=True)
class Analysis:
    """What the words of a document are, with the names and the meaning of scikit-learn's ``CountVectorizer``.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"} or callable
        A callable takes a text and returns its words.
    lowercase : bool
    min_length : int
        Of a word, in characters.
    ngram_range : tuple of int
    strip_accents : {"ascii", "unicode"}, callable or None
    stop_words : "english", sequence of str or None
    """

    analyzer: Any = "word"
    lowercase: bool = True
    min_length: int = 2
    ngram_range: tuple[int, int] = (1, 1)
    strip_accents: Any = None
    stop_words: Any = None

    @cached_property
    def reading(self) -> Reading:
        """The same for the kernels."""
        kind = "word" if callable(self.analyzer) else self.analyzer
        stop = frozenset() if self.stop_words is None else frozenset(self.stop_words)
        return Reading(kind, self.lowercase, self.min_length, self.ngram_range, stop)
