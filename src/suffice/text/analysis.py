"""What the words of a document are: the settings of an analyzer."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from numbers import Integral
from typing import Any

import numpy as np

from suffice.exceptions import InputError, SufficeWarning, listed, warn_user
from suffice.kernels.text import Reading

__all__ = ["Analysis"]

ANALYZERS = ("word", "char", "char_wb")
ACCENTS = ("ascii", "unicode")


@dataclass(frozen=True)
class Analysis:
    r"""What the words of a document are, with the names and the meaning of scikit-learn's ``CountVectorizer``.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        Words: runs of letters, digits and underscores. ``"char"``: runs of characters, with white space as one;
        ``"char_wb"``: runs of characters within words that have a space on either side. A callable takes a text and
        returns its words, which are counted as they are, whatever the other settings.
    lowercase : bool, default=True
    min_length : int, default=2
        Of a word, in characters; ``token_pattern=r"(?u)\b\w{min_length,}\b"``.
    ngram_range : tuple of int, default=(1, 1)
        The least and the largest number of words, or of characters, that make one.
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
        After lower-casing: letters without their accents; what has no ASCII then is left out (``"ascii"``), or stays.
    stop_words : "english", collection of str or None, default=None
        Words that are left out before runs are made of them. They are compared with words as they are read: give
        them in lower case, without accents. ``"english"`` is scikit-learn's list.
    punctuation : bool, default=False
        Whether marks are words as well: every character that is neither a part of a word nor white space;
        ``token_pattern=r"(?u)\b\w{min_length,}\b|[^\w\s]"``.

    Examples
    --------
    >>> analysis = Analysis(ngram_range=[1, 2], stop_words=["the", "and", "the"])
    >>> analysis.ngram_range, analysis.stop_words  # plain values, which a model file holds
    ((1, 2), ('and', 'the'))
    >>> Analysis(ngram_range=(2, 1))
    Traceback (most recent call last):
    suffice.exceptions.InputError: ngram_range=(2, 1): its lower boundary is larger than its upper one.
    """

    analyzer: Any = "word"
    lowercase: bool = True
    min_length: int = 2
    ngram_range: tuple[int, int] = (1, 1)
    strip_accents: Any = None
    stop_words: Any = None
    punctuation: bool = False

    def __post_init__(self) -> None:
        _check_one_of("analyzer", self.analyzer, ANALYZERS)
        if self.strip_accents is not None:
            _check_one_of("strip_accents", self.strip_accents, ACCENTS, "or None")
        object.__setattr__(self, "lowercase", _truth("lowercase", self.lowercase))
        object.__setattr__(self, "min_length", _whole("min_length", self.min_length))
        object.__setattr__(self, "ngram_range", _ngrams(self.ngram_range))
        object.__setattr__(self, "stop_words", _stop_words(self.stop_words))
        object.__setattr__(self, "punctuation", _truth("punctuation", self.punctuation))

    @cached_property
    def reading(self) -> Reading:
        """What the kernels do of it; the rest is done by `preprocessed`."""
        if callable(self.analyzer):
            return Reading()
        stop = self.stop_set if self.analyzer == "word" else frozenset()
        # Stripped letters may be capitals where there were none: ᴬ has no lower case, and A has.
        lowercase = self.lowercase and self.strip_accents is None
        return Reading(self.analyzer, lowercase, self.min_length, self.ngram_range, stop, self.punctuation)

    @property
    def stop_set(self) -> frozenset[str]:
        """The stop words."""
        if self.stop_words is None:
            return frozenset()
        if self.stop_words == "english":
            # scikit-learn's module of texts brings much along: it is imported by those who ask for what it has.
            from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

            return frozenset(ENGLISH_STOP_WORDS)
        return frozenset(self.stop_words)

    def preprocessed(self, text: str) -> str:
        """A text as `reading` takes it: in lower case and without accents, if accents are stripped.

        >>> Analysis(strip_accents="unicode").preprocessed("Déjà VU")
        'deja vu'
        """
        if self.strip_accents is None:
            return text
        text = text.lower() if self.lowercase else text
        if callable(self.strip_accents):
            found = self.strip_accents(text)
            if not isinstance(found, str):
                raise InputError(f"strip_accents must return a text; of {text!r:.40} it made {found!r:.40}.")
            return found
        return text if text.isascii() else _accents(self.strip_accents)(text)

    def warn(self) -> None:
        """Say so, once, if settings do not go together: stop words that are never met, or that nobody looks for."""
        if self.stop_words is not None and not callable(self.strip_accents):
            kind = "callable" if callable(self.analyzer) else self.analyzer
            _warn_about_stop_words(kind, self.lowercase, self.min_length, self.strip_accents, self.stop_words)


@lru_cache
def _accents(kind: str) -> Callable[[str], str]:
    """What strips accents."""
    from sklearn.feature_extraction.text import strip_accents_ascii, strip_accents_unicode

    found: Callable[[str], str] = strip_accents_ascii if kind == "ascii" else strip_accents_unicode
    return found


@lru_cache(maxsize=64)
def _warn_about_stop_words(analyzer: str, lowercase: bool, min_length: int, strip_accents: Any, words: Any) -> None:
    if analyzer != "word":
        warn_user(f"stop_words are not used with analyzer={analyzer!r}; they go with 'word'.", SufficeWarning)
        return
    analysis = Analysis("word", lowercase, min_length, (1, 1), strip_accents, words)
    stop, lower = analysis.stop_set, str.lower if analysis.reading.lowercase else str
    tokens = {token for word in stop for token in re.findall(r"\w+", lower(analysis.preprocessed(word)))}
    found = {token for token in tokens - stop if len(token) >= min_length}
    if found:
        warn_user(
            f"stop_words are compared with words as they are read, and reading the stop words themselves gives "
            f"{listed(sorted(found))}, not among them. Add these, or give the others as they are read.",
            SufficeWarning,
        )


def _check_one_of(name: str, given: Any, known: tuple[str, ...], also: str = "") -> None:
    if not callable(given) and not (isinstance(given, str) and given in known):
        raise InputError(f"{name} must be one of {listed(known)}, a callable {also}".rstrip() + f"; got {given!r:.80}.")


def _truth(name: str, given: Any) -> bool:
    if not isinstance(given, bool | np.bool_):
        raise InputError(f"{name} must be True or False; got {given!r:.80}.")
    return bool(given)


def _whole(name: str, given: Any) -> int:
    if type(given) is bool or not isinstance(given, Integral) or int(given) < 1:
        raise InputError(f"{name} must be a whole number of at least 1; got {given!r:.80}.")
    return int(given)


def _ngrams(given: Any) -> tuple[int, int]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError(f"ngram_range must be two whole numbers, such as (1, 2); got {given!r:.80}.")
    least, most = (_whole("Each number of ngram_range", each) for each in given)
    if least > most:
        raise InputError(f"ngram_range={(least, most)}: its lower boundary is larger than its upper one.")
    return least, most


def _stop_words(given: Any) -> Any:
    if given is None or (isinstance(given, str) and given == "english"):
        return given
    if isinstance(given, str | bytes):
        raise InputError(f"{given!r:.80} is no list of stop words that is known here; 'english' is, or give a list.")
    if not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise InputError(f"stop_words must be 'english', a list of words or None; got {given!r:.80}.")
    words = list(given)
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"stop_words must be texts; {word!r:.80} is none.")
    return tuple(sorted({str(word) for word in words}))
