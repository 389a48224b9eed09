"""Posteriors from the JSON of a model alone, computed as docs/export.md describes it."""

import re
import unicodedata
from dataclasses import fields

import numpy as np
from scipy import special

from formula_values import formula_values
from suffice.families import formula as forms
from suffice.families.formula import Formula

DOMAINS = {
    "any": lambda x: True,
    "number": np.isfinite,
    "yes_no": lambda x: x in (0, 1),
    "count": lambda x: x >= 0 and x == np.floor(x),
    "not_negative": lambda x: x >= 0,
    "positive": lambda x: x > 0,
}


class RefusedError(Exception):
    """A row that the model refuses."""


def posteriors(document, rows):
    """p(y | x) of each row (n, K); cells are in the order of the columns of the model's rows."""
    scores = np.array([row_scores(document, row) for row in rows])
    scores = np.where(scores == np.inf, -np.inf, scores)
    possible = (scores > -np.inf).any(axis=1)
    if document["impossible"] == "error" and not possible.all():
        raise RefusedError
    out = np.empty(scores.shape)
    out[~possible] = np.nan if document["impossible"] == "nan" else numbers(document["prior"])
    with np.errstate(all="ignore"):
        known = scores[possible]
        known = known if document["calibration"] is None else calibrated(document["calibration"], known)
        out[possible] = special.softmax(known, axis=1)
    return out


def row_scores(document, row):
    """log p(x, y) of a row, up to a term that all classes share (K,)."""
    columns = {column["position"]: column for column in document["columns"]}
    total = numbers(document["log_prior"])
    for block in document["blocks"]:
        cells = [cell_of(block, columns[at], row[at]) for at in block["columns"]]
        total = total + block_scores(block, cells)
    return total


def cell_of(block, column, cell):
    """A cell as the forms take it: a number, a level, a text, or None if it is missing or counts as missing."""
    if cell is None:
        if not column["missing"]:
            raise RefusedError
        return None
    if column["kind"] == "levels" and block["domain"] == "any":
        plain = isinstance(cell, bool | str) or (isinstance(cell, int | float) and abs(cell) < 2**53)
        return cell if plain else (str(cell),)
    if column["kind"] != "text" and not DOMAINS[block["domain"]](cell):
        if block["outside"] == "error":
            raise RefusedError
        return None
    return cell


def block_scores(block, cells):
    """What a block adds to the scores (K,)."""
    weights = None if block["weights"] is None else numbers(block["weights"])
    if "form" in block:
        reading = block["form"].get("reading")
        values = formula_values(Formula(block=form_of(block["form"])), [cells], lambda text: words(text, reading))[0]
        return values if weights is None else times(weights[0], values)
    own = [form_of(form) for form in block["forms"]]
    if weights is None or (weights == weights[0]).all():
        values = formula_values(Formula(tuple(own)), [cells])[0]
        return values if weights is None else times(weights[0], values)
    parts = [formula_values(Formula((form,)), [[cell]])[0] for form, cell in zip(own, cells, strict=True)]
    return sum(map(times, weights, parts))


def times(weight, values):
    """A weight of 0 removes even infinite values."""
    return weight * values if weight > 0 else np.zeros(len(values))


# ---------------------------------------------------------------------- words


def words(text, reading):
    """The words of a text, with repetitions."""
    text = text.lower() if reading["lowercase"] else text
    if reading["strip_accents"] == "ascii":
        text = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    elif reading["strip_accents"] == "unicode" and not text.isascii():
        apart = unicodedata.normalize("NFKD", text)
        text = "".join(c for c in apart if not any(a <= ord(c) <= b for a, b in reading["combining"]))
    least, most = reading["ngram_range"]
    if reading["analyzer"] == "char":
        return runs(re.sub(r"\s\s+", " ", text), least, most)
    if reading["analyzer"] == "char_wb":
        return runs_within_words(text, least, most, " ")
    found = re.findall(r"\w+|[^\w\s]" if reading["punctuation"] else r"\w+", text)
    found = [each for each in found if not re.match(r"\w", each) or len(each) >= reading["min_length"]]
    found = [each for each in found if each not in reading["stop_words"]]
    out = [" ".join(found[i : i + n]) for n in range(least, most + 1) for i in range(len(found) - n + 1)]
    if reading["characters"] is None:
        return out
    fragments = runs_within_words(text, *reading["characters"], "|")
    return out + ["~" + re.sub("[\0-\x1f]", "|", each) for each in fragments]


def runs(text, least, most):
    """All runs of ``least`` to ``most`` characters."""
    return [text[i : i + n] for n in range(least, most + 1) for i in range(len(text) - n + 1)]


def runs_within_words(text, least, most, edge):
    """Runs within words that have an edge on either side; a word shorter than a run is one run, once."""
    out = []
    for word in (f"{edge}{each}{edge}" for each in text.split()):
        out += runs(word, least, most) if len(word) >= least else [word]
    return out


# ---------------------------------------------------------------------- calibration


def calibrated(calibration, scores):
    """Calibrated log-posteriors, up to a term of each row (n, K)."""
    shift, log_share = numbers(calibration["shift"]), numbers(calibration["log_share"])
    known = scores - shift
    mapped = isotonic(calibration, known) if calibration["knots"] else tempered(calibration, known, log_share)
    if calibration["keeps_prior"]:
        evidence = known - log_share
        moved = np.abs(evidence - evidence[:, [log_share.argmax()]]) > 1e-12
        mapped[~moved.any(axis=1)] = log_share
    return mapped + shift


def tempered(calibration, known, log_share):
    """log((1 − ε) q(y) + ε π(y)) with q(y) ∝ exp(slope log p(y) + offset)."""
    log_posterior = special.log_softmax(known, axis=1)
    log_posterior[np.isneginf(known)] = -np.inf
    mapped = special.softmax(calibration["slope"] * log_posterior + numbers(calibration["offset"]), axis=1)
    share = calibration["outliers"]
    return np.log((1 - share) * mapped + share * np.exp(log_share))


def isotonic(calibration, known):
    """The probability of each class from its log-odds, linear between the knots."""
    logs = special.log_softmax(known, axis=1)
    out = logs.copy()
    for k, (knots, values) in enumerate(zip(calibration["knots"], calibration["values"], strict=True)):
        if knots is not None:
            odds = logs[:, k] - special.logsumexp(np.delete(logs, k, axis=1), axis=1)
            out[:, k] = np.log(np.interp(np.clip(odds, -700, 700), numbers(knots), numbers(values)))
    out[np.isneginf(known)] = -np.inf
    return out


# ---------------------------------------------------------------------- values


def numbers(value):
    """Lists of numbers, of which infinite ones are texts."""
    return np.array(value, dtype=float)


def level(value):
    """A level that can be compared: a number, a text, or the text of another value in a tuple."""
    return (value["text"],) if isinstance(value, dict) else value


def form_of(written):
    """A form with arrays."""
    kind = getattr(forms, written["form"])
    assert set(written) == {"form", *(field.name for field in fields(kind))}
    return kind(**{name: field_value(written, name, value) for name, value in written.items() if name != "form"})


def field_value(written, name, value):
    if value is None or name == "reading":
        return value
    if name == "levels":
        return levels_of(written, value)
    if name in ("knows_all", "distinct", "unit", "of_logarithm", "kind", "words", "others", "size"):
        return value
    if name == "cuts" and written["form"] == "PairTables":
        return [None if each is None else numbers(each) for each in value]
    if name == "whitening":
        return [numbers(each) for each in value]
    if name in ("places", "parents", "rows", "cells"):
        return np.array(value, dtype=int)
    return numbers(value) if isinstance(value, list) else float(value)


def levels_of(written, value):
    if written["form"] == "LevelLogs":
        return [level(each) for each in value]
    return [None if each is None else [level(own) for own in each] for each in value]
