"""Scores of documents as a formula that other programs can evaluate; see `suffice.families.formula.Words`."""

from __future__ import annotations

import sys
import unicodedata
from dataclasses import replace
from functools import cache

import numpy as np

from suffice.families.complement import equal_sums, outside_weights
from suffice.families.formula import Formula, LogShares, WordReading, Words
from suffice.families.text.parameters import TextParameters, TextSettings
from suffice.numerics.types import Float
from suffice.tables.word_rows import UNIT
from suffice.text.analysis import Analysis

__all__ = ["text_formula"]


def text_formula(family: TextSettings, analysis: Analysis, parameters: TextParameters) -> Formula | str:
    """The scores of documents, or a sentence that says why a page cannot compute them."""
    if not isinstance(analysis.analyzer, str):
        return (
            "The words are found by a user-defined function (analyzer), which runs only in Python. Fit the model with "
            "one of the named analyzers."
        )
    if analysis.strip_accents is not None and not isinstance(analysis.strip_accents, str):
        return (
            "Accents are removed by a user-defined function (strip_accents), which runs only in Python. Fit the model "
            "with strip_accents='unicode' or 'ascii'."
        )
    if parameters.vocabulary.slots:
        return (
            "The words are hashed to slots, and the hash function runs in Python only. Fit the model without slots; "
            "max_words limits the number of words."
        )
    words, reading = tuple(parameters.words), _reading(analysis)
    if parameters.event == "bernoulli":
        form = _present_words(family, words, reading, parameters)
    else:
        form = _counted_words(family, words, reading, parameters)
    return Formula(block=form, domain="any")


def _present_words(family: TextSettings, words: tuple[str, ...], reading: WordReading, p: TextParameters) -> Words:
    assert p.zero is not None
    size = np.log(p.documents + 2 * p.alpha) if (p.documents + 2 * p.alpha > 0).all() else np.zeros(len(p.documents))
    return Words(
        "present",
        words,
        reading,
        _compact(LogShares(p.tally, p.alpha, size), p.slope, None),
        _compact(LogShares(p.documents[:, None] - p.tally, p.alpha, size), p.zero, None),
        np.where(np.isneginf(p.zero), 0.0, p.zero).sum(axis=1),
        distinct=True,
        unit=family.weighting == "unit",
    )


def _counted_words(family: TextSettings, words: tuple[str, ...], reading: WordReading, p: TextParameters) -> Words:
    is_predictive = family.estimation == "bayes" and p.event == "multinomial"
    if is_predictive:
        assert p.draws is not None
        zero = np.zeros(len(p.draws))
        whole = p.idf is None and np.array_equal(p.tally + p.alpha, p.draws)
        table: LogShares | Float = LogShares(p.tally, p.alpha, zero) if whole else p.draws
    else:
        table = _compact(_shares(p), p.slope, p.idf)
    return Words(
        "draws" if is_predictive else "sum",
        words,
        reading,
        table,
        weight=p.idf,
        distinct=family.binary,
        unit=family.weighting == "unit" and not family.binary,
        length=float(family.length),
        mean_length=p.mean_length,
    )


def _shares(p: TextParameters) -> LogShares:
    """The logarithms of the shares of words, or of their shares outside each class, from counts."""
    weighted = p.tally if p.idf is None else p.idf * p.tally
    if p.event == "multinomial":
        return LogShares(p.tally, p.alpha, _log((weighted + p.alpha).sum(axis=1)), weighted=p.idf is not None)
    count, outside = p.tally.sum(axis=0) - p.tally, weighted.sum(axis=0) + p.alpha - weighted
    scale = -np.ones(len(count))
    if p.event == "normalised_complement":
        scale *= equal_sums(outside_weights(np.ascontiguousarray(weighted), p.alpha).sum(axis=1))
    return LogShares(count, p.alpha, _log(outside.sum(axis=1)), scale, weighted=p.idf is not None)


def _compact(shares: LogShares, values: Float, weight: Float | None) -> LogShares | Float:
    """The counts as whole numbers, if they are multiples of a unit and give the values; otherwise the values."""
    if not _is_whole(shares.count):
        shares = replace(shares, count=shares.count / UNIT, unit=UNIT)
        if not _is_whole(shares.count):
            return values
    with np.errstate(invalid="ignore"):
        return shares if np.allclose(shares.values(weight), values, rtol=1e-14, atol=1e-14) else values


def _is_whole(values: Float) -> bool:
    return bool((values == np.floor(values)).all())


def _log(values: Float) -> Float:
    with np.errstate(divide="ignore"):
        return np.log(values)


def _reading(analysis: Analysis) -> WordReading:
    assert isinstance(analysis.analyzer, str)
    assert analysis.strip_accents is None or isinstance(analysis.strip_accents, str)
    return WordReading(
        analysis.analyzer,
        analysis.lowercase,
        analysis.min_length,
        analysis.ngram_range,
        analysis.strip_accents,
        tuple(sorted(analysis.token_rules.stop_words)),
        analysis.punctuation,
        analysis.characters,
        _combining() if analysis.strip_accents == "unicode" else (),
    )


@cache
def _combining() -> tuple[tuple[int, int], ...]:
    """First and last code points of runs of combining characters."""
    found: list[tuple[int, int]] = []
    for point in range(sys.maxunicode + 1):
        if unicodedata.combining(chr(point)):
            if found and found[-1][1] == point - 1:
                found[-1] = found[-1][0], point
            else:
                found.append((point, point))
    return tuple(found)
