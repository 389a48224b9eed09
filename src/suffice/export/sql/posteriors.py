"""From the scores of a row to posteriors and the label; `suffice.learning.calibration` has the formulas of the maps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from suffice.export.sql.expressions import (
    Name,
    Operand,
    call,
    case,
    divided,
    either,
    equal,
    less,
    multiplied,
    subtracted,
    total,
)
from suffice.export.sql.query import Query
from suffice.export.sql.searches import search
from suffice.learning.calibration import ROUNDING
from suffice.learning.scoring_rule import CalibrationMap

__all__ = ["Posterior", "posterior_of"]


@dataclass(frozen=True)
class Posterior:
    """Computed columns of the posterior.

    Attributes
    ----------
    probabilities : list of K operands
    code : operand
        The position of the likeliest class.
    top : Name
        The largest score, −∞ if no class can explain the row.
    """

    probabilities: list[Operand]
    code: Operand
    top: Name


def posterior_of(scores: list[Name], calibration: CalibrationMap | None, query: Query) -> Posterior:
    """The posterior of scores, which are numbers or −∞."""
    top = query.let(query.engine.largest(scores), "top")
    if calibration is None:
        return _normalized(_shares(scores, top, query), scores, top, top, query)
    known = [
        query.let(subtracted(score, shift), "known") if shift else score
        for score, shift in zip(scores, calibration.shift.tolist(), strict=True)
    ]
    if calibration.knots or calibration.outliers:
        mapped = _isotonic(known, calibration, query) if calibration.knots else _tempered(known, calibration, query)
        factors, log_share = np.exp(calibration.shift), calibration.log_share
        mapped = [multiplied(value, factor) for value, factor in zip(mapped, factors.tolist(), strict=True)]
        mapped = _unless_kept(mapped, np.exp(log_share) * factors, known, calibration, query)
        shares = query.let_all(mapped, "share")
        return _normalized(shares, shares, query.let(query.engine.largest(shares), "best"), top, query)
    offset = calibration.offset + calibration.shift
    mapped = [
        total([multiplied(value, calibration.slope), each]) for value, each in zip(known, offset.tolist(), strict=True)
    ]
    mapped = _unless_kept(mapped, calibration.log_share + calibration.shift, known, calibration, query)
    own = query.let_all(mapped, "mapped")
    best = query.let(query.engine.largest(own), "best")
    return _normalized(_shares(own, best, query), own, best, top, query)


def _shares(scores: Sequence[Name], top: Name, query: Query) -> list[Name]:
    """Exponential functions of scores, relative to the largest."""
    return query.let_all([query.engine.exponential(subtracted(each, top)) for each in scores], "share")


def _normalized(shares: list[Name], compared: list[Name], best: Name, top: Name, query: Query) -> Posterior:
    """Shares with the sum one; the first class whose score is the best one is the likeliest."""
    whole = query.let(total(shares), "whole")
    probabilities: list[Operand] = [case([(less(0.0, whole), divided(each, whole))]) for each in shares]
    code = case([(equal(each, best), k) for k, each in enumerate(compared)])
    return Posterior(probabilities, code, top)


def _unless_kept(
    mapped: Sequence[Operand], kept: np.ndarray, known: Sequence[Name], c: CalibrationMap, query: Query
) -> list[Operand]:
    """Mapped values, or those of the prior for a row without evidence, whose scores are the prior's."""
    if not c.keeps_prior:
        return list(mapped)
    log_share = c.log_share.tolist()
    first = int(np.argmax(c.log_share))
    reference = query.let(subtracted(known[first], log_share[first]), "evidence")
    differs = [
        less(ROUNDING, call("ABS", subtracted(subtracted(known[k], log_share[k]), reference)))
        for k in range(len(known))
        if k != first and math.isfinite(log_share[k])
    ]
    evidence = query.let(case([(either(*differs), 1)], 0), "evidence")
    pairs = zip(mapped, kept.tolist(), strict=True)
    return [query.engine.choice([(equal(evidence, 1), value)], prior) for value, prior in pairs]


def _tempered(known: Sequence[Name], c: CalibrationMap, query: Query) -> list[Operand]:
    """(1 − ε) q(y) + ε π(y), with q of scaled scores and offsets."""
    pairs = zip(known, c.offset.tolist(), strict=True)
    own = query.let_all([total([multiplied(value, c.slope), each]) for value, each in pairs], "tempered")
    shares = _shares(own, query.let(query.engine.largest(own), "best"), query)
    whole = query.let(total(shares), "whole")
    prior = c.outliers * np.exp(c.log_share)
    return [
        total([multiplied(divided(share, whole), 1 - c.outliers), each])
        for share, each in zip(shares, prior.tolist(), strict=True)
    ]


def _isotonic(known: Sequence[Name], c: CalibrationMap, query: Query) -> list[Operand]:
    """A monotone function of the log-odds of each class, or its probability if it has none."""
    engine = query.engine
    top = query.let(engine.largest(known), "best")
    shares = _shares(known, top, query)
    whole = query.let(total(shares), "whole")
    out: list[Operand] = []
    for k, (knots, values) in enumerate(zip(c.knots, c.values, strict=True)):
        if knots is None or values is None:
            out.append(divided(shares[k], whole))
            continue
        others = query.let(total(each for i, each in enumerate(shares) if i != k), "others")
        log_odds = subtracted(subtracted(known[k], top), engine.logarithm(others))
        odds = query.let(engine.choice([(less(0.0, others), log_odds)], math.inf), "odds")
        found = _interpolated(odds, knots.tolist(), values.tolist(), query)
        out.append(engine.choice([(equal(known[k], engine.double(-math.inf)), 0.0)], found))
    return out


def _interpolated(x: Name, knots: Sequence[float], values: Sequence[float], query: Query) -> Operand:
    """Linear between knots, constant beyond."""
    pieces: list[Operand] = [values[0]]
    for i in range(len(knots) - 1):
        slope = (values[i + 1] - values[i]) / (knots[i + 1] - knots[i])
        pieces.append(total([values[i], multiplied(subtracted(x, knots[i]), slope)]) if slope else values[i])
    return search(query.engine, x, knots, [*pieces, values[-1]])
