"""Scores of texts as bags of words, as SQL; `suffice.families.formula.Words` has the formulas.

The words of the model are a table of the statement, with a number for each class. It is joined with the counts of the
words of each text, and the sums over the words of a text are joined with the rows.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from sqlglot import exp

from suffice.exceptions import Export, InputError
from suffice.export.sql.cells import Cells
from suffice.export.sql.engine import Engine
from suffice.export.sql.expressions import (
    Name,
    Operand,
    added,
    both,
    call,
    divided,
    either,
    equal,
    expression_of,
    is_missing,
    less,
    multiplied,
    number,
    subtracted,
    text,
)
from suffice.export.sql.query import PAGE, Query, Table
from suffice.export.sql.rising import log_rise, log_rise_of_columns
from suffice.export.sql.word_counts import counts_of_words
from suffice.export.sql.word_items import digest_of
from suffice.families.formula import LogShares, WordReading, Words
from suffice.numerics.types import Float, Mask
from suffice.tables.word_rows import UNIT

__all__ = ["scores_of_words"]


def scores_of_words(form: Words, cells: Cells, at: int) -> list[Operand]:
    """The score of a text in each class."""
    _check_reading(form.reading, cells, at)
    kind = {"sum": _summed, "present": _present, "draws": _drawn}[form.kind]
    return kind(form, cells, at)


def _check_reading(reading: WordReading, cells: Cells, at: int) -> None:
    """Raise the error for words that the engine cannot find."""
    engine = cells.query.engine
    if engine.finds_words and reading.strip_accents is None:
        return
    reason = f"no function of {engine.title} removes accents as strip_accents={reading.strip_accents!r} does"
    if not engine.finds_words:
        reason = f"{engine.title} has no regular expressions, which find words"
    raise InputError(
        f"Column {cells.names[at]!r} holds texts, and {reason}, so this model has no SQL for it. Score its rows in "
        "Python by predict_proba; or use ",
        Export("onnx"),
        ", whose graph reads words.",
        column=cells.names[at],
        page=PAGE,
    )


# ---------------------------------------------------------------------- words of a text


def _known_words(form: Words, cells: Cells, at: int, numbers: Mapping[str, Float]) -> Table:
    """The words that each text and the model have, with their values and the numbers of the model; NaN is NULL."""
    query, engine = cells.query, cells.query.engine
    rows = [
        [text(word), *(exp.null() if math.isnan(each) else engine.double(each) for each in own)]
        for word, *own in zip(form.words, *(column.tolist() for column in numbers.values()), strict=True)
        if engine.can_hold(word)
    ]
    none = [text(""), *(engine.double(0.0) for _ in numbers)]  # no word is empty, and the first row has all types
    words = query.values("vocabulary", ["word", *numbers], [none, *rows])
    table, value = _values(form, query, counts_of_words(cells, at, form.reading))
    joined = table.rows().join(words.name, on=equal(table["word"], words["word"]), copy=False)
    of_model = {each: words[each] for each in numbers}
    known = query.derive("known", {"digest": table["digest"], "value": value, **of_model}, joined)
    if form.length and form.kind != "present":
        whole = _over_text(known["value"], known["digest"])
        known = _rescaled(query, known, call("POWER", divided(form.mean_length, whole), form.length))
    return _rescaled(query, known, known["weight"]) if "weight" in numbers else known


def _values(form: Words, query: Query, counts: Table) -> tuple[Table, Operand]:
    """A table of the words of each text, and the value of a word."""
    if form.distinct or form.kind == "present":
        return counts, query.engine.double(1.0)
    if not form.unit:
        return counts, counts["count"]
    log = query.engine.logarithm(added(counts["count"], 1.0))
    norm = exp.Sqrt(this=_over_text(multiplied(log, log), counts["digest"]))
    values: dict[str, Operand] = {each: counts[each] for each in ("digest", "word")}
    logs = query.derive("logs", values | {"log": log, "norm": norm}, counts.rows())
    units = call("ROUND", divided(divided(logs["log"], logs["norm"]), UNIT))
    return logs, multiplied(query.engine.largest([units, query.engine.double(1.0)]), UNIT)


def _over_text(value: Operand, digest: Name) -> exp.Expression:
    """The sum of a value over the words of a text, beside each of them."""
    return exp.Window(this=_sum(value), partition_by=[exp.column(digest)])


def _rescaled(query: Query, known: Table, factor: Operand) -> Table:
    """Words with their values multiplied by a factor."""
    values: dict[str, Operand] = {each.rpartition("_")[0]: each for each in known.columns}
    return query.derive("known", values | {"value": multiplied(known["value"], factor)}, known.rows())


def _sums(cells: Cells, at: int, known: Table, values: Mapping[str, Operand]) -> Table:
    """Sums over the known words of a text, as columns that are NULL for a text without known words."""
    query, digest = cells.query, known["digest"]
    rows = known.rows().group_by(exp.column(digest), copy=False)
    sums = query.derive("sums", {"digest": digest, **values}, rows)
    query.join(sums, {sums["digest"]: digest_of(cells, at)})
    return sums


def _sum(value: Operand) -> exp.Expression:
    return exp.Sum(this=expression_of(value))


# ---------------------------------------------------------------------- scores


def _summed(form: Words, cells: Cells, at: int) -> list[Operand]:
    """Σ v table; words that a class alone has make the others impossible."""
    table = _entries(form, form.table)
    if form.weight is not None:
        with np.errstate(invalid="ignore"):
            table = np.where(form.weight > 0, table * form.weight, 0.0)
    finite, certain = np.isfinite(table), np.isposinf(table)
    # Relative to their mean, so that long texts cost no digits.
    common = np.where(finite, table, 0.0).sum(axis=0) / np.maximum(finite.sum(axis=0), 1)
    numbers = np.where(certain, 0.0, np.where(finite, table, np.nan) - common)
    known = _known_words(form, cells, at, _by_class("number", numbers) | _flags("sure", certain))
    terms = [multiplied(known["value"], known[f"number_{k}"]) for k in range(len(table))]
    sums = _sums(cells, at, known, _sums_of(known, terms, numbers) | _sums_of_flags(known, "sure", certain))
    some = [less(0.0, sums[name]) for name in _flags("sure", certain)]
    out: list[Operand] = []
    for k in range(len(table)):
        branches = _impossible(sums, k, numbers)
        if some:
            others = either(*some)
            branches.append((both(others, equal(sums[f"sure_{k}"], 0.0)) if certain[k].any() else others, -math.inf))
        out.append(_chosen(cells.query.engine, branches, _or_zero(sums[f"sum_{k}"])))
    return out


def _present(form: Words, cells: Cells, at: int) -> list[Operand]:
    """Σ over the words of a text of the difference that their presence makes."""
    assert form.absent is not None
    assert form.total is not None
    yes, no = _entries(form, form.table), _entries(form, form.absent)
    needed = np.isneginf(no)
    numbers = yes - np.where(needed, 0.0, no)
    numbers[np.isneginf(numbers)] = np.nan
    known = _known_words(form, cells, at, _by_class("number", numbers) | _flags("needed", needed))
    terms = [known[f"number_{k}"] for k in range(len(yes))]
    sums = _sums(cells, at, known, _sums_of(known, terms, numbers) | _sums_of_flags(known, "needed", needed))
    out: list[Operand] = []
    for k, whole in enumerate(form.total.tolist()):
        branches: list[tuple[exp.Expression, Operand]] = [(is_missing(digest_of(cells, at)), 0.0)]
        if form.unit:
            branches.append((is_missing(sums["digest"]), 0.0))
        branches += _impossible(sums, k, numbers)
        if needed[k].any():
            branches.append((less(_or_zero(sums[f"needed_{k}"]), float(needed[k].sum())), -math.inf))
        out.append(_chosen(cells.query.engine, branches, added(_or_zero(sums[f"sum_{k}"]), whole)))
    return out


def _drawn(form: Words, cells: Cells, at: int) -> list[Operand]:
    """The Dirichlet-multinomial distribution of the words."""
    engine, table = cells.query.engine, form.table
    draws = table.count + table.added if isinstance(table, LogShares) else table
    numbers, weight = np.where(draws > 0, draws, np.nan), dict[str, Float]()
    if form.weight is not None:
        numbers, weight = np.where(form.weight > 0, numbers, 1.0), {"weight": form.weight}
    known = _known_words(form, cells, at, _by_class("number", numbers) | weight)
    terms = [log_rise_of_columns(known[f"number_{k}"], known["value"], engine) for k in range(len(draws))]
    sums = _sums(cells, at, known, _sums_of(known, terms, numbers) | {"size": _sum(known["value"])})
    size = sums["size"]
    out: list[Operand] = []
    for k, own in enumerate(draws.tolist()):
        rise = log_rise(math.fsum(own), size, engine)
        branches = [(is_missing(size), 0.0), *_impossible(sums, k, numbers)]
        out.append(_chosen(engine, branches, subtracted(sums[f"sum_{k}"], rise)))
    return out


def _entries(form: Words, table: LogShares | Float) -> Float:
    return table.values(form.weight) if isinstance(table, LogShares) else table


def _by_class(name: str, numbers: Float) -> dict[str, Float]:
    return {f"{name}_{k}": each for k, each in enumerate(numbers)}


def _flags(name: str, conditions: Mask) -> dict[str, Float]:
    """Whether a condition holds for each word, for each class that has such words."""
    return {f"{name}_{k}": each.astype(float) for k, each in enumerate(conditions) if each.any()}


def _sums_of(known: Table, terms: Sequence[Operand], numbers: Float) -> dict[str, Operand]:
    """Sums of terms of each class, how many words are possible in a class that has impossible words, and all words."""
    out: dict[str, Operand] = {f"sum_{k}": _sum(term) for k, term in enumerate(terms)}
    counted = {f"possible_{k}": exp.Count(this=expression_of(known[f"number_{k}"])) for k in _with_impossible(numbers)}
    return out | counted | ({"words": exp.Count(this=exp.Star())} if counted else {})


def _sums_of_flags(known: Table, name: str, conditions: Mask) -> dict[str, Operand]:
    return {each: _sum(known[each]) for each in _flags(name, conditions)}


def _with_impossible(numbers: Float) -> list[int]:
    return [int(k) for k in np.flatnonzero(np.isnan(numbers).any(axis=1))]


def _impossible(sums: Table, k: int, numbers: Float) -> list[tuple[exp.Expression, Operand]]:
    """The condition that a class excludes a word of the text."""
    return [(less(sums[f"possible_{k}"], sums["words"]), -math.inf)] if np.isnan(numbers[k]).any() else []


def _or_zero(value: Operand) -> exp.Expression:
    return exp.Coalesce(this=expression_of(value), expressions=[number(0.0)])


def _chosen(engine: Engine, branches: list[tuple[exp.Expression, Operand]], value: Operand) -> Operand:
    return engine.choice(branches, value) if branches else value
