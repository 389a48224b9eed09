"""Statistics of words with given probabilities."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields

import numpy as np

from suffice.exceptions import Argument, InputError, listed
from suffice.families.given import TOLERANCE, GivenTable, LevelValues, check_sums
from suffice.families.text.parameters import COMPLEMENTS, TextParameters, TextSettings
from suffice.numerics.types import Float
from suffice.statistics import WordSums
from suffice.tables import Vocabulary
from suffice.text.analysis import Analysis
from suffice.text.texts import unreachable_words

__all__ = ["check_rebuilt", "given_words", "word_table"]

WEIGHTS = (("idf", False), ("length", 0), ("weighting", "count"))  # weights of words in documents, and their defaults
SLOT = re.compile(r"slot \d+")
LENGTH = 20.0  # words of a sampled document, if none are given


def word_table(parameters: TextParameters, *, predictive: bool) -> dict[str, Float | LevelValues]:
    """Return the parameters of each word in each class, by the event.

    Multinomial words have a "share", and "draws" if they come in bursts; Bernoulli words a "probability"; the
    complement a "share outside" of the class, "draws outside" of it, and the "weight" by which a word is scored.
    """
    p, words = parameters, parameters.words

    def of(values: Float) -> LevelValues:
        return LevelValues(words, values.T)

    if p.event in COMPLEMENTS:
        tally = p.tally if p.idf is None else p.idf * p.tally
        outside = tally.sum(axis=0) - tally + p.alpha
        return {"share outside": of(p.chances), "draws outside": of(outside), "weight": of(p.slope)}
    if p.event == "bernoulli":
        return {"probability": of(p.chances)}
    shown: dict[str, Float | LevelValues] = {"share": of(p.chances)}
    if predictive and p.draws is not None:
        shown["draws"] = of(p.draws)
    return shown | {"length": p.length}


def check_rebuilt(column: object, listed_by: TextSettings, read_by: TextSettings, *, named: bool) -> None:
    """Raise `InputError` if the words of a listing have other scores in the family that reads them.

    Parameters
    ----------
    column : object
    listed_by, read_by : TextSettings
        The family of the listing, and the one that reads it.
    named : bool
        Whether the user has given the settings of the latter.
    """
    if listed_by.slots:
        raise _of_slots(column)
    for name, default in WEIGHTS:
        if getattr(listed_by, name) != default and not (name == "weighting" and listed_by.binary):
            raise InputError(
                f"Column {column!r} has ",
                Argument(name, getattr(listed_by, name)),
                ", so words have weights that parameters() does not list. Fit the model with ",
                Argument(name, default),
                ", or save it with save.",
                argument="parameters",
                column=column,
            )
    ours = {name: getattr(listed_by, name) for name in ("event", "binary")} | _reading(listed_by.analysis)
    theirs = {name: getattr(read_by, name) for name in ("event", "binary")} | _reading(read_by.analysis)
    other = [Argument(name, value) for name, value in ours.items() if theirs.get(name, value) != value]
    if other:
        settings = [part for each in other for part in (each, ", ")][:-1]
        advice = ["Set ", *settings] if named else [f"Pass families={{{column!r}: Text(", *settings, ")}"]
        raise InputError(
            f"The listing of column {column!r} belongs to a model with ",
            *settings,
            ". ",
            *advice,
            ".",
            argument=other[0].name,
            column=column,
        )


def _reading(analysis: Analysis) -> dict[str, object]:
    """The settings by which documents have their words; words left out have no effect unless they part others."""
    ignored = {"weighting"} | ({"min_length", "stop_words"} if analysis.ngram_range[1] == 1 else set())
    return {each.name: getattr(analysis, each.name) for each in fields(Analysis) if each.name not in ignored}


def _of_slots(column: object) -> InputError:
    return InputError(
        f"Column {column!r} has slots that words are hashed to; parameters of slots do not build a model. Fit it with ",
        Argument("slots", 0),
        ", or save it with save.",
        column=column,
    )


def _check_event(event: str, table: GivenTable) -> None:
    """Raise `InputError` if the names or the sums of parameters belong to another event."""
    if event not in COMPLEMENTS and "share outside" in table.parameters:
        raise InputError(
            f"Column {table.name!r} has shares of words outside each class. Set ",
            Argument("event", "complement"),
            " or ",
            Argument("event", "normalised_complement"),
            ".",
            argument="event",
            column=table.name,
        )
    if event == "multinomial" and table.parameters.keys() == {"probability"}:
        sums = table.levels().values.sum(axis=0)
        if (sums > 1 + TOLERANCE).any():
            k = int(np.argmax(sums > 1 + TOLERANCE))
            raise InputError(
                f"Column {table.name!r}: the shares of words of class {table.classes.label(k)!r} sum to "
                f"{sums[k]:.9g}; expected 1. Set ",
                Argument("event", "bernoulli"),
                " if they are the probabilities that a document has each word; otherwise divide them by their sum.",
                argument="event",
                column=table.name,
            )


def given_words(family: TextSettings, analysis: Analysis, table: GivenTable, settings: tuple[str, ...]) -> WordSums:
    """The statistic whose estimate, without smoothing, has the given probabilities of words."""
    for name, default in WEIGHTS:
        if getattr(family, name) != default:
            raise InputError(
                "Weights of words in documents depend on how many documents have each word, which parameters do not "
                "include. Set ",
                Argument(name, default),
                ", or fit the model to documents.",
                argument=name,
            )
    _check_event(family.event, table)
    if family.event in COMPLEMENTS:
        words, tally = _complement(table)
        length = None
    elif family.event == "bernoulli":
        words, values = _first(table, ("probability", "share"))
        if (values > 1).any():
            i, k = np.argwhere(values > 1)[0]
            table.refuse(f"probability of {words[i]!r}", int(k), f"is {values[i, k]:.6g}; it must be at most 1")
        tally, length = values.T, None
    else:
        words, values = _first(table, ("share", "probability"))
        check_sums(table, "shares of words", values.sum(axis=0))
        given = table.optional("length", above=0)
        length = np.full(values.shape[1], LENGTH) if given is None else given
        tally = table.levels("draws").values.T if "draws" in table.parameters else values.T * length[:, None]
    if not all(isinstance(word, str) and word for word in words):
        raise InputError(f"Column {table.name!r}: words are strings that are not empty.", column=table.name)
    if all(map(SLOT.fullmatch, words)) and analysis.ngram_range[1] < 2:
        raise _of_slots(table.name)
    _check_words(words, analysis, table.name)
    vocabulary = Vocabulary.of(words)
    place = {word: j for j, word in enumerate(words)}
    count = np.ascontiguousarray(tally[:, [place[word] for word in vocabulary.words]])
    used = count.any(axis=0)
    if not used.all():  # words of probability zero in every class
        vocabulary, count = vocabulary.taking(np.flatnonzero(used)), np.ascontiguousarray(count[:, used])
    weight = np.ones(len(count)) if length is None else count.sum(axis=1) / length
    return WordSums(table.classes, weight, np.zeros(len(count)), count, count.copy(), vocabulary, settings=settings)


def _check_words(words: Sequence[str], analysis: Analysis, column: object) -> None:
    """Raise `InputError` for words that no document has, because the analyzer never produces them."""
    absent = unreachable_words(words, analysis)
    if absent:
        reasons = dict.fromkeys(_reason(word, analysis) for word in absent)
        raise InputError(
            f"Column {column!r}: no document has the words {listed(absent)}, as they are read with ",
            *[part for reason in reasons for part in (reason, " and ")][:-1],
            ". Give words as the analyzer produces them, or change the setting.",
            argument=next(iter(reasons)).name,
            column=column,
        )


def _reason(word: str, analysis: Analysis) -> Argument:
    """The setting by which documents never have a word."""
    if analysis.lowercase and word != word.lower():
        return Argument("lowercase", True)
    if word in analysis.stop_set:
        return Argument("stop_words")
    if analysis.analyzer == "word" and len(word) < analysis.min_length:
        return Argument("min_length", analysis.min_length)
    if len(word.split()) > 1 or analysis.analyzer != "word":
        return Argument("ngram_range", analysis.ngram_range)
    return Argument("analyzer", analysis.analyzer)


def _first(table: GivenTable, names: Sequence[str]) -> LevelValues:
    """The first of these parameters that is given."""
    return table.levels(next((name for name in names if name in table.parameters), names[0]))


def _complement(table: GivenTable) -> tuple[Sequence[str], Float]:
    """Words, and draws of each class (K, M) whose sums over all other classes are those given."""
    n_classes = len(table.classes)
    if "draws outside" not in table.parameters and n_classes > 2:
        raise InputError(
            f"Column {table.name!r}: with more than two classes, the complement needs 'draws outside', how often each "
            "word occurs in all other classes; shares do not determine how large the classes are.",
            column=table.name,
        )
    words, outside = _first(table, ("draws outside", "share outside", "share", "probability"))
    tally = (outside.sum(axis=1, keepdims=True) / max(n_classes - 1, 1) - outside).T
    if (tally < -1e-9 * outside.max(axis=1)).any():
        raise InputError(
            f"Column {table.name!r}: the draws outside of the classes contradict each other; no class can have the "
            "draws that they imply.",
            column=table.name,
        )
    return words, np.maximum(tally, 0.0)
