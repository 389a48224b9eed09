"""Scores of texts as bags of words; `suffice.families.formula.Words` has the formulas.

The input has the words of each text (n, W), with repetitions and in any order; "" is no word. Each row has W places for
words. A word that occurs several times has its value in one place, unless the scores of all its places just add.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from suffice.exceptions import Argument, InputError
from suffice.export.onnx.chunks import in_chunks, row_range
from suffice.export.onnx.graph import Graph, Value
from suffice.export.onnx.inputs import Inputs, check_unicode
from suffice.export.onnx.operations import (
    as_number,
    kept,
    log,
    log_rise,
    logical_any,
    n_rows,
    summed,
    taken,
    tall,
    where,
)
from suffice.export.onnx.scores import Scores
from suffice.families.formula import LogShares, Words
from suffice.numerics.types import Float

__all__ = ["word_scores"]

UNIT = 2.0**30  # weights of words are multiples of 1/UNIT
NUMBERS_OF_A_PLACE = 8  # and class, that are in memory at one time


class _Places(NamedTuple):
    """The words in the places of some rows (c, W): their codes, and their values, 0 in places that do not count."""

    codes: Value
    values: Value


def word_scores(inputs: Inputs, position: int, form: Words) -> Value:
    """Scores (n, K)."""
    graph, tokens, n_words = inputs.graph, inputs.words[position, form.reading], len(form.words)
    codes = _codes(inputs, tokens, form)
    identity = _identities(tokens) if form.unit else codes
    n_classes = len(form.table.count if isinstance(form.table, LogShares) else form.table)
    width = graph.op("Shape", tokens, kind="whole", start=1, end=2)
    numbers = width * np.array(n_classes * NUMBERS_OF_A_PLACE) + np.array(1)

    def score(start: Value, stop: Value) -> Value:
        own = row_range(codes, start, stop)
        places = _places(own, row_range(identity, start, stop), form)
        scores = KINDS[form.kind](graph, places, form)
        if form.kind == "present" and form.unit:
            scores = where(logical_any(own < np.array(n_words), 1), scores, 0.0)
        return where(logical_any(own.equals(np.array(n_words + 2)), 1), 0.0, scores)

    return in_chunks(graph, n_rows(tokens), numbers, n_classes, score)


def _codes(inputs: Inputs, tokens: Value, form: Words) -> Value:
    """The places of words in the vocabulary of M words; M for other words, M + 1 for none, M + 2 for a missing text."""
    n_words = len(form.words)
    special = {"": n_words + 1} if inputs.missing == "" else {"": n_words + 1, inputs.missing: n_words + 2}
    for word in form.words:
        check_unicode(word, "A word of the model")
    if inputs.missing in form.words:
        raise InputError(
            f"The model has the word {inputs.missing!r}, which stands for a missing text in the graph. Choose another "
            "text for missing texts: ",
            Argument("missing", "<missing>"),
            ".",
            argument="missing",
        )
    return inputs.graph.op(
        "LabelEncoder",
        tokens,
        kind="whole",
        domain="ai.onnx.ml",
        keys_strings=[*form.words, *special],
        values_int64s=[*range(n_words), *special.values()],
        default_int64=n_words,
    )


def _identities(tokens: Value) -> Value:
    """A number for each different word, known or not (n, W)."""
    graph = tokens.graph
    _, _, inverse, _ = graph.several("Unique", tokens, kinds=["text", "whole", "whole", "whole"])
    return graph.op("Reshape", inverse, graph.op("Shape", tokens, kind="whole"), kind="whole", allowzero=1)


# ---------------------------------------------------------------------- values of words


def _places(codes: Value, identity: Value, form: Words) -> _Places:
    n_words = len(form.words)
    if not (form.distinct or form.unit or form.kind != "sum"):
        values = where(codes < np.array(n_words), 1.0, 0.0)
    else:
        codes, count, is_first = _counted(codes, identity)
        known = is_first & (codes < np.array(n_words))
        values = kept(known, count)
        if form.distinct:
            values = where(known, 1.0, 0.0)
        elif form.unit:
            logs = kept(is_first & (codes <= np.array(n_words)), log(count + 1.0))
            norm = codes.graph.op("Sqrt", summed(logs * logs, 1, keep=True), kind="number")
            units = codes.graph.op("Round", logs / where(norm > 0.0, norm, 1.0) * UNIT, kind="number")
            values = kept(known, where(units < 1.0, 1.0, units) / UNIT)
    if form.length:
        whole = summed(values, 1, keep=True)
        ratio = where(whole > 0.0, form.mean_length / where(whole > 0.0, whole, 1.0), 1.0)
        power = codes.graph.constant(form.length, "number")
        values = values * codes.graph.op("Pow", ratio, power, kind="number")
    return _Places(where(values > 0.0, codes, n_words, "whole"), values)


def _counted(codes: Value, identity: Value) -> tuple[Value, Value, Value]:
    """The codes with equal words side by side, how often a row has each, and the first place of each."""
    graph = codes.graph
    width = graph.op("Shape", codes, kind="whole", start=1, end=2)
    ordered, order = graph.several("TopK", identity, width, kinds=["whole", "whole"], axis=1)
    one_more = graph.op("Pad", ordered, graph.constant(np.array([0, 1, 0, 0]), "whole"), _one(graph, -1), kind="whole")
    columns = graph.constant(np.array([0]), "whole"), width, graph.constant(np.array([1]), "whole")
    is_first = ~ordered.equals(graph.op("Slice", one_more, *columns, kind="whole"))
    word = graph.op("CumSum", as_number(is_first, "whole"), _one(graph, 1), kind="whole")  # its number, from 1 on
    empty = graph.op("Expand", _one(graph, 0.0), graph.op("Shape", one_more, kind="whole"), kind="number")
    ones = graph.op("Expand", _one(graph, 1.0), graph.op("Shape", codes, kind="whole"), kind="number")
    counts = graph.op("ScatterElements", empty, word, ones, kind="number", axis=1, reduction="add")
    count = graph.op("GatherElements", counts, word, kind="number", axis=1)
    return graph.op("GatherElements", codes, order, kind="whole", axis=1), count, is_first


def _one(graph: Graph, value: float) -> Value:
    return graph.constant(np.array(value), "whole" if isinstance(value, int) else "number")


# ---------------------------------------------------------------------- scores of words


def _summed(graph: Graph, places: _Places, form: Words) -> Value:
    """Σ v table; words that a class alone has make the others impossible."""
    table = _entries(form.table, form.weight).T
    if form.weight is not None:
        with np.errstate(invalid="ignore"):
            table = np.where(form.weight[:, None] > 0, table * form.weight[:, None], 0.0)
    finite = np.isfinite(table)
    size = np.maximum(finite.sum(axis=1, keepdims=True), 1)
    # Relative to their mean, so that long texts cost no digits.
    common = np.where(finite, table, 0.0).sum(axis=1, keepdims=True) / size
    scores = Scores(graph)
    bounded = np.where(np.isposinf(table), 0.0, table - common)
    scores.add(summed(_looked_up(places, bounded) * tall(places.values, 2), 1))
    if np.isposinf(table).any():
        scores.sure.append(summed(_looked_up(places, np.isposinf(table).astype(np.float64)), 1))
    total = scores.total()
    assert total is not None
    return total


def _present(graph: Graph, places: _Places, form: Words) -> Value:
    """Σ over the words of a text of the difference that their presence makes."""
    assert form.absent is not None
    assert form.total is not None
    yes, no = _entries(form.table, form.weight).T, _entries(form.absent, form.weight).T
    needed = np.isneginf(no)
    scores = form.total + summed(_looked_up(places, yes - np.where(needed, 0.0, no)), 1)
    if not needed.any():
        return scores
    found = summed(_looked_up(places, needed.astype(np.float64)), 1)
    return where(found < needed.sum(axis=0).astype(np.float64), -np.inf, scores)


def _drawn(graph: Graph, places: _Places, form: Words) -> Value:
    """The Dirichlet-multinomial distribution of the words."""
    table = form.table
    draws = table.count + table.added if isinstance(table, LogShares) else table
    values = places.values
    if form.weight is not None:
        values = values * taken(graph, np.append(form.weight, 0.0), places.codes)
    of_words = _looked_up(places, draws.T, np.ones(len(draws)))
    about = _looked_up(places, np.where(draws[:1].T > 0, draws[:1].T, 1.0), np.ones(1))
    rises = summed(log_rise(of_words, tall(values, 2), about), 1)
    size = draws.sum(axis=1)
    return rises - log_rise(size, summed(values, 1, keep=True), size[:1])


KINDS = {"sum": _summed, "present": _present, "draws": _drawn}


def _entries(table: LogShares | Float, weight: Float | None) -> Float:
    return table.values(weight) if isinstance(table, LogShares) else table


def _looked_up(places: _Places, table: Float, other: Float | None = None) -> Value:
    """The rows of a table (M, K) of the words (c, W, K); ``other``, or 0, for places that do not count."""
    last = np.zeros(table.shape[1]) if other is None else other
    return taken(places.codes.graph, np.vstack([table, last]), places.codes)
