"""Checks of the settings of `WordCounts`, alone and together."""

from __future__ import annotations

from collections.abc import Iterator

from sklearn.feature_extraction.text import CountVectorizer

from suffice.exceptions import InputError, SufficeWarning, warn_user
from suffice.text.word_columns import WordColumns

__all__ = ["check_settings", "reading_settings"]

# The settings that determine the words of a document.
READ_BY = (
    "analyzer",
    "strip_accents",
    "lowercase",
    "preprocessor",
    "tokenizer",
    "stop_words",
    "token_pattern",
    "ngram_range",
)


def check_settings(given: CountVectorizer) -> WordColumns | None:
    """Raise for invalid settings and warn about unused ones; return the given vocabulary, if any."""
    if len(given.ngram_range) != 2:
        raise InputError(
            f"ngram_range must be two whole numbers, such as (1, 2); got {given.ngram_range!r:.80}.",
            argument="ngram_range",
        )
    least, most = given.ngram_range
    if least > most:
        raise InputError(
            f"Invalid value for ngram_range={given.ngram_range} lower boundary larger than the upper boundary.",
            argument="ngram_range",
        )
    for name, reason in _unused(given):
        warn_user(SufficeWarning(f"The parameter {name!r} will not be used since {reason}", argument=name))
    if given.vocabulary is None:
        return None
    fixed = WordColumns.of(given.vocabulary)
    if given.lowercase and any(map(str.isupper, "".join(fixed.column_of))):
        warn_user(
            SufficeWarning(
                "Upper case characters found in vocabulary while 'lowercase' is True. These entries will not be matched"
                " with any documents",
                argument="vocabulary",
            )
        )
    return fixed


def _unused(given: CountVectorizer) -> Iterator[tuple[str, str]]:
    """Settings that other settings make irrelevant, and the reason."""
    custom = callable(given.analyzer)
    if given.tokenizer is not None and given.token_pattern is not None:
        yield "token_pattern", "'tokenizer' is not None"
    if given.preprocessor is not None and custom:
        yield "preprocessor", "'analyzer' is callable"
    if given.ngram_range != (1, 1) and custom:
        yield "ngram_range", "'analyzer' is callable"
    if custom or given.analyzer != "word":
        if given.stop_words is not None:
            yield "stop_words", "'analyzer' != 'word'"
        if given.token_pattern not in (None, r"(?u)\b\w\w+\b"):
            yield "token_pattern", "'analyzer' != 'word'"
        if given.tokenizer is not None:
            yield "tokenizer", "'analyzer' != 'word'"


def reading_settings(given: CountVectorizer) -> dict[str, object]:
    """The settings that determine the words of a document."""
    settings: dict[str, object] = {name: getattr(given, name) for name in READ_BY}
    stop = given.stop_words
    return settings | {"stop_words": stop if stop is None or isinstance(stop, str) else frozenset(stop)}
