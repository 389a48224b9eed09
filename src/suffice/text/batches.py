"""Documents in batches, split into words by a vectoriser's settings.

The kernels split them where the settings allow it, otherwise the vectoriser's own analyzer. A generator is read in
parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice

from sklearn.feature_extraction.text import CountVectorizer

from suffice.exceptions import InputError
from suffice.kernels.text import Documents, TokenRules
from suffice.tables.levels import is_missing
from suffice.text.analysis import ANALYZERS, Analysis
from suffice.text.texts import Texts, cells, invalid_words

__all__ = ["analysis_of", "least_length", "read_documents"]

STREAMED = 20_000  # documents of a generator in memory at once
ANALYZED = 2_000  # documents whose words are Python objects, in memory at once
OVERRIDABLE = ("build_analyzer", "build_preprocessor", "build_tokenizer", "decode", "get_stop_words")
WORDS = re.compile(r"(?:\(\?u\))?\\b((?:\\w)*)\\w(?:(\+)|\{([0-9]+),\})\\b")


def read_documents(settings: CountVectorizer, given: object) -> Iterator[tuple[Documents, TokenRules]]:
    """Documents in batches, each with the rules that split it into words."""
    analysis = analysis_of(settings)
    settings.build_analyzer()  # raises for an invalid pattern, and warns about inconsistent stop words
    if analysis is None:
        yield from _analyzed(settings, cells(given))
        return
    if settings.input != "content":
        given = (settings.decode(each) for each in cells(given))
    first = 0
    for part in _parts(given, STREAMED) if isinstance(given, Iterator) else [given]:
        texts = _texts(settings, part, first)
        yield texts.documents(analysis), analysis.token_rules
        first += len(texts)


def _analyzed(settings: CountVectorizer, given: Iterable[object]) -> Iterator[tuple[Documents, TokenRules]]:
    analyze = settings.build_analyzer()
    first = 0
    for part in _parts(given, ANALYZED):
        cleaned = _texts(settings, part, first).listed() if _needs_strings(settings) else part
        words = [None if is_missing(each) else list(analyze(each)) for each in cleaned]
        invalid = invalid_words(words)
        if invalid:
            word = next(word for word in words[invalid[0]] or () if not isinstance(word, str))
            raise InputError.in_row(
                f"has the word {word!r:.80}, which is not a string. The analyzer must return strings.",
                rows=[first + row for row in invalid],
            )
        first += len(words)
        yield Documents.of_tokens(words), TokenRules()


def _texts(settings: CountVectorizer, part: object, first: int) -> Texts:
    """The texts of a batch that starts at row ``first``."""
    return Texts.of(part, encoding=settings.encoding, decode_error=settings.decode_error, first=first)


def _needs_strings(settings: CountVectorizer) -> bool:
    """Whether documents must be strings; a function of the user's that runs first may accept other objects."""
    if settings.input != "content" or settings.preprocessor is not None or callable(settings.analyzer):
        return False
    return not _overrides(settings) and (settings.tokenizer is None or settings.lowercase)


def _parts(given: Iterable[object], size: int) -> Iterator[list[object]]:
    """Lists of ``size`` documents; one empty list if there are no documents."""
    stream = iter(given)
    part = list(islice(stream, size))
    yield part
    while len(part) == size and (part := list(islice(stream, size))):
        yield part


def analysis_of(settings: CountVectorizer) -> Analysis | None:
    r"""The settings in the form that the kernels apply; None if only Python can apply them.

    >>> analysis_of(CountVectorizer(token_pattern=r"\b\w{3,}\b")).min_length
    3
    >>> analysis_of(CountVectorizer(token_pattern=r"[a-z]+")) is None
    True
    """
    if _overrides(settings) or settings.preprocessor is not None or settings.analyzer not in ANALYZERS:
        return None
    least, most = settings.ngram_range
    if not (type(least) is int and type(most) is int and 1 <= least <= most):
        return None
    min_length, stop = 2, None
    if settings.analyzer == "word":
        length = None if settings.tokenizer is not None else least_length(settings.token_pattern)
        stop = settings.get_stop_words()
        if length is None or not all(isinstance(word, str) for word in stop or ()):
            return None
        min_length = length
    accents = settings.strip_accents or None
    return Analysis(settings.analyzer, bool(settings.lowercase), min_length, (least, most), accents, stop)


def _overrides(settings: CountVectorizer) -> bool:
    """Whether a subclass, or the object itself, replaces a method that reads documents."""
    kind = type(settings)
    subclasses = kind.__mro__[: kind.__mro__.index(CountVectorizer)]
    return any(name in vars(owner) for owner in (settings, *subclasses) for name in OVERRIDABLE)


def least_length(pattern: object) -> int | None:
    r"""Smallest word length by a token pattern that asks for nothing else; None for any other pattern.

    >>> [least_length(each) for each in (r"(?u)\b\w\w+\b", r"\b\w+\b", r"\b\w{3,}\b", r"\w+")]
    [2, 1, 3, None]
    """
    match = WORDS.fullmatch(pattern) if isinstance(pattern, str) else None
    if match is None:
        return None
    least = len(match[1]) // 2 + (1 if match[2] else int(match[3]))
    return least if least >= 1 else None
