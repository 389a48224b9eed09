"""Documents as a vectoriser's settings read them: natively where the settings allow it, else by its own analyzer.

What comes in parts, such as a generator, is read in parts.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from sklearn.feature_extraction.text import CountVectorizer

from suffice.exceptions import InputError
from suffice.kernels.text import Documents, Reading
from suffice.tables.levels import is_missing
from suffice.text.analysis import ANALYZERS, Analysis
from suffice.text.texts import Texts, cells

__all__ = ["analysis_of", "least_length", "read_documents"]

STREAMED = 20_000  # documents of a generator that are held at once
ANALYZED = 2_000  # documents whose words are held as Python's objects
OVERRIDABLE = ("build_analyzer", "build_preprocessor", "build_tokenizer", "decode", "get_stop_words")
WORDS = re.compile(r"(?:\(\?u\))?\\b((?:\\w)*)\\w(?:(\+)|\{([0-9]+),\})\\b")


def read_documents(settings: CountVectorizer, given: Any) -> Iterator[tuple[Documents, Reading]]:
    """Documents in parts, and how each part is read."""
    analysis = analysis_of(settings)
    settings.build_analyzer()  # says what is wrong with a pattern, or strange about stop words
    if analysis is None:
        yield from _analyzed(settings, cells(given))
        return
    if settings.input != "content":
        given = (settings.decode(each) for each in cells(given))
    first = 0
    for part in _parts(given, STREAMED) if isinstance(given, Iterator) else [given]:
        texts = _texts(settings, part, first)
        yield texts.documents(analysis), analysis.reading
        first += len(texts)


def _analyzed(settings: CountVectorizer, given: Iterable[Any]) -> Iterator[tuple[Documents, Reading]]:
    analyze = settings.build_analyzer()
    row = 0
    for part in _parts(given, ANALYZED):
        cleaned = _texts(settings, part, row).listed() if _wants_texts(settings) else part
        words = [None if is_missing(each) else list(analyze(each)) for each in cleaned]
        for each in words:
            odd = None if each is None else next((word for word in each if not isinstance(word, str)), None)
            if odd is not None:
                raise InputError(f"The words of a document must be texts; in row {row} there is {odd!r:.80}.")
            row += 1
        yield Documents.of_tokens(words), Reading()


def _texts(settings: CountVectorizer, part: Any, first: int) -> Texts:
    """Texts from that row on."""
    return Texts.of(part, encoding=settings.encoding, decode_error=settings.decode_error, first=first)


def _wants_texts(settings: CountVectorizer) -> bool:
    """Whether documents can be nothing but texts; what is called first may take whatever it likes."""
    if settings.input != "content" or settings.preprocessor is not None or callable(settings.analyzer):
        return False
    return not _overrides(settings) and (settings.tokenizer is None or settings.lowercase)


def _parts(given: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Lists of so many each; an empty one if there is nothing."""
    stream = iter(given)
    part = list(islice(stream, size))
    yield part
    while len(part) == size and (part := list(islice(stream, size))):
        yield part


def analysis_of(settings: CountVectorizer) -> Analysis | None:
    r"""The settings as the kernels read documents; None where only Python can.

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
        found = None if settings.tokenizer is not None else least_length(settings.token_pattern)
        stop = settings.get_stop_words()
        if found is None or not all(isinstance(word, str) for word in stop or ()):
            return None
        min_length = found
    accents = settings.strip_accents or None
    return Analysis(settings.analyzer, bool(settings.lowercase), min_length, (least, most), accents, stop)


def _overrides(settings: CountVectorizer) -> bool:
    """Whether a class of its own, or the object, has another way to read documents."""
    kind: Any = type(settings)
    return any(
        getattr(kind, each) is not getattr(CountVectorizer, each) or each in vars(settings) for each in OVERRIDABLE
    )


def least_length(pattern: Any) -> int | None:
    r"""How many letters a word has at least by a pattern that wants nothing else; None for another pattern.

    >>> [least_length(each) for each in (r"(?u)\b\w\w+\b", r"\b\w+\b", r"\b\w{3,}\b", r"\w+")]
    [2, 1, 3, None]
    """
    found = WORDS.fullmatch(pattern) if isinstance(pattern, str) else None
    if found is None:
        return None
    least = len(found[1]) // 2 + (1 if found[2] else int(found[3]))
    return least if least >= 1 else None
