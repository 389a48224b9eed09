"""The settings of an analyzer: how a document is split into words."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from numbers import Integral

import numpy as np

from suffice.exceptions import Argument, InputError, SufficeWarning, did_you_mean, listed, warn_user
from suffice.kernels.text import TokenRules

__all__ = ["Analysis", "Analyzer"]

Analyzer = Callable[[str], Iterable[str]]
"""A function from a text to its words."""

ANALYZERS = ("word", "char", "char_wb")
ACCENTS = ("ascii", "unicode")
WEIGHTINGS = ("count", "unit")


@dataclass(frozen=True)
class Analysis:
    r"""How to split a document into words: settings with the names and meanings of scikit-learn's ``CountVectorizer``.

    Parameters
    ----------
    analyzer : {"word", "char", "char_wb"} or callable, default="word"
        ``"word"``: words of letters, digits and underscores. ``"char"``: character n-grams, with runs of white space as
        one space. ``"char_wb"``: character n-grams within words padded with a space on either side. A callable takes a
        text and returns its words, which are counted unchanged, whatever the other settings.
    lowercase : bool, default=True
    min_length : int, default=2
        Smallest length of a word, in characters; ``token_pattern=r"(?u)\b\w{min_length,}\b"``.
    ngram_range : tuple of int, default=(1, 1)
        Smallest and largest number of words, or characters, in an n-gram.
    strip_accents : {"ascii", "unicode"}, callable or None, default=None
        Remove accents after lower-casing. ``"ascii"`` also removes characters that have no ASCII form; ``"unicode"``
        keeps them.
    stop_words : "english", collection of str or None, default=None
        Words that are removed before n-grams are formed. They are compared with words after lower-casing and removal
        of accents, so give them in that form. ``"english"`` is scikit-learn's list.
    punctuation : bool, default=False
        Whether punctuation marks are words, too: every character that is neither part of a word nor white space;
        ``token_pattern=r"(?u)\b\w{min_length,}\b|[^\w\s]"``.
    characters : tuple of int or None, default=None
        Smallest and largest number of characters in fragments of words, such as (3, 5), that are counted beside the
        words. They are the n-grams of ``analyzer="char_wb"``, written as "~" and their characters, with "|" for the
        edge of a word: "~|fre", "~free", "~ree!".
    weighting : {"count", "unit"}, default="count"
        What a word of a document adds. ``"count"``: how often it occurs, x_j. ``"unit"``: ``log(1 + x_j)``, divided by
        the Euclidean norm of the document, so all documents have length one. Only the document decides this, so sums of
        documents add.

    Examples
    --------
    >>> analysis = Analysis(ngram_range=[1, 2], stop_words=["the", "and", "the"])
    >>> analysis.ngram_range, analysis.stop_words  # plain values that a model file can hold
    ((1, 2), ('and', 'the'))
    >>> Analysis(ngram_range=(2, 1))
    Traceback (most recent call last):
    suffice.exceptions.InputError: ngram_range=(2, 1): the lower boundary is larger than the upper boundary.
    """

    analyzer: str | Analyzer = "word"
    lowercase: bool = True
    min_length: int = 2
    ngram_range: tuple[int, int] = (1, 1)
    strip_accents: str | Callable[[str], str] | None = None
    stop_words: str | Iterable[str] | None = None
    punctuation: bool = False
    characters: tuple[int, int] | None = None
    weighting: str = "count"

    def __post_init__(self) -> None:
        _check_one_of("analyzer", self.analyzer, ANALYZERS)
        if self.strip_accents is not None:
            _check_one_of("strip_accents", self.strip_accents, ACCENTS, " or None")
        object.__setattr__(self, "lowercase", _boolean("lowercase", self.lowercase))
        object.__setattr__(self, "min_length", _positive("min_length", self.min_length, "min_length"))
        object.__setattr__(self, "ngram_range", _range("ngram_range", self.ngram_range, (1, 2)))
        if self.characters is not None:
            object.__setattr__(self, "characters", _range("characters", self.characters, (3, 5), " or None"))
            if self.analyzer != "word" or self.ngram_range[0] != 1:
                raise InputError(
                    "characters are counted beside words: they need ",
                    Argument("analyzer", "word"),
                    " and ",
                    Argument("ngram_range"),
                    " from 1 on.",
                    argument="characters",
                )
        object.__setattr__(self, "stop_words", _stop_words(self.stop_words))
        object.__setattr__(self, "punctuation", _boolean("punctuation", self.punctuation))
        if self.weighting not in WEIGHTINGS:
            hint = did_you_mean(self.weighting, WEIGHTINGS)
            raise InputError(
                f"weighting must be 'count' or 'unit'; got {self.weighting!r:.80}.{hint}", argument="weighting"
            )

    @cached_property
    def token_rules(self) -> TokenRules:
        """The part of the settings that the kernels apply; `preprocessed` applies the rest."""
        if not isinstance(self.analyzer, str):
            return TokenRules()
        stop = self.stop_set if self.analyzer == "word" else frozenset()
        # Removing accents can produce capitals: ᴬ has no lower case, but its base letter A has.
        lowercase = self.lowercase and self.strip_accents is None
        return TokenRules(
            self.analyzer,
            lowercase,
            self.min_length,
            self.ngram_range,
            stop,
            self.punctuation,
            self.characters or (0, 0),
        )

    @property
    def stop_set(self) -> frozenset[str]:
        """The stop words."""
        if self.stop_words is None:
            return frozenset()
        if self.stop_words == "english":
            # Imported only when needed, since scikit-learn's text module is slow to import.
            from sklearn.feature_extraction.text import ENGLISH_STOP_WORDS

            return frozenset(ENGLISH_STOP_WORDS)
        return frozenset(self.stop_words)

    def preprocessed(self, text: str) -> str:
        """A text ready for `token_rules`: if accents are stripped, in lower case and without accents.

        >>> Analysis(strip_accents="unicode").preprocessed("Déjà VU")
        'deja vu'
        """
        if self.strip_accents is None:
            return text
        text = text.lower() if self.lowercase else text
        if not isinstance(self.strip_accents, str):
            stripped: object = self.strip_accents(text)
            if not isinstance(stripped, str):
                raise InputError(
                    f"strip_accents must return a string; for {text!r:.40} it returned {stripped!r:.40}.",
                    argument="strip_accents",
                )
            return stripped
        return text if text.isascii() else _accent_remover(self.strip_accents)(text)

    def warn(self) -> None:
        """Warn, once, about stop words that can never match or that the analyzer ignores."""
        if self.stop_words is not None and (self.strip_accents is None or isinstance(self.strip_accents, str)):
            kind = self.analyzer if isinstance(self.analyzer, str) else "callable"
            words = self.stop_words if isinstance(self.stop_words, str) else tuple(self.stop_words)
            _warn_about_stop_words(kind, self.lowercase, self.min_length, self.strip_accents, words)


@lru_cache
def _accent_remover(kind: str) -> Callable[[str], str]:
    """scikit-learn's function that removes accents."""
    from sklearn.feature_extraction.text import strip_accents_ascii, strip_accents_unicode

    remover: Callable[[str], str] = strip_accents_ascii if kind == "ascii" else strip_accents_unicode
    return remover


@lru_cache(maxsize=64)
def _warn_about_stop_words(
    analyzer: str, lowercase: bool, min_length: int, strip_accents: str | None, words: str | tuple[str, ...]
) -> None:
    if analyzer != "word":
        warn_user(
            SufficeWarning(
                f"stop_words are ignored with analyzer={analyzer!r}; only 'word' uses them.", argument="stop_words"
            )
        )
        return
    analysis = Analysis("word", lowercase, min_length, (1, 1), strip_accents, words)
    stop, lower = analysis.stop_set, str.lower if analysis.token_rules.lowercase else str
    tokens = {token for word in stop for token in re.findall(r"\w+", lower(analysis.preprocessed(word)))}
    absent = {token for token in tokens - stop if len(token) >= min_length}
    if absent:
        warn_user(
            SufficeWarning(
                "stop_words are compared with preprocessed words. Preprocessing the stop words themselves gives "
                f"{listed(sorted(absent))}, not among them. Add these words, or give the stop words preprocessed.",
                argument="stop_words",
            )
        )


def _check_one_of(name: str, given: object, known: tuple[str, ...], also: str = "") -> None:
    if not callable(given) and not (isinstance(given, str) and given in known):
        raise InputError(f"{name} must be one of {listed(known)}, a callable{also}; got {given!r:.80}.", argument=name)


def _boolean(name: str, given: object) -> bool:
    if not isinstance(given, bool | np.bool_):
        raise InputError(f"{name} must be True or False; got {given!r:.80}.", argument=name)
    return bool(given)


def _positive(subject: str, given: object, argument: str) -> int:
    if type(given) is bool or not isinstance(given, Integral) or int(given) < 1:
        raise InputError(f"{subject} must be a whole number of at least 1; got {given!r:.80}.", argument=argument)
    return int(given)


def _range(name: str, given: object, example: tuple[int, int], also: str = "") -> tuple[int, int]:
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise InputError(
            f"{name} must be two whole numbers, such as {example}{also}; got {given!r:.80}.", argument=name
        )
    least, most = (_positive(f"Each number of {name}", each, name) for each in given)
    if least > most:
        raise InputError(
            f"{name}={(least, most)}: the lower boundary is larger than the upper boundary.", argument=name
        )
    return least, most


def _stop_words(given: object) -> str | tuple[str, ...] | None:
    if given is None or (isinstance(given, str) and given == "english"):
        return given
    if isinstance(given, str | bytes):
        raise InputError(
            f"{given!r:.80} is not a known list of stop words. Use 'english' or a list of words.", argument="stop_words"
        )
    if not isinstance(given, Iterable) or isinstance(given, Mapping):
        raise InputError(
            f"stop_words must be 'english', a list of words or None; got {given!r:.80}.", argument="stop_words"
        )
    words = list(given)
    for word in words:
        if not isinstance(word, str):
            raise InputError(f"stop_words must be strings; {word!r:.80} is not a string.", argument="stop_words")
    return tuple(sorted({str(word) for word in words}))
