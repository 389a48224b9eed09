"""Forms of single columns as SQL; `suffice.families.formula` has their formulas.

Each function takes a form and the computed column of its numbers, and returns what the column adds to the score of each
class. The numbers are not NULL: `terms_of_column` adds nothing for a missing cell.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sqlglot import exp

from suffice.export.sql.cells import Cells
from suffice.export.sql.engine import FAR, LARGEST, TINY
from suffice.export.sql.expressions import (
    Name,
    Operand,
    added,
    call,
    divided,
    either,
    is_missing,
    less,
    multiplied,
    subtracted,
    total,
)
from suffice.export.sql.level_forms import scores_of_categories, scores_of_levels
from suffice.export.sql.query import Query
from suffice.export.sql.rising import MOST, log_rise
from suffice.export.sql.searches import search
from suffice.families.formula import (
    ColumnForm,
    GammaCurve,
    Knots,
    LevelLogs,
    Line,
    Normal,
    PowerTail,
    Rising,
    Steps,
    YesNo,
)
from suffice.learning.scoring_rule import ScoredBlock
from suffice.numerics.types import Float

__all__ = ["Terms", "terms_of_column"]

NEAR = 0.01  # below, t − log(1 + t) is a series
SERIES = (1 / 8, 1 / 7, 1 / 6, 1 / 5, 1 / 4, 1 / 3, 1 / 2)


@dataclass(frozen=True)
class Terms:
    """What a column adds to the score of each class.

    Attributes
    ----------
    values : list of K operands
    certain : list of K conditions
        When a class is certain, so that classes which are not are impossible; None for never.
    """

    values: list[Operand]
    certain: list[exp.Expression | None]

    @classmethod
    def of(cls, values: Sequence[Operand]) -> Terms:
        """Terms without certainty."""
        return cls(list(values), [None] * len(values))


def terms_of_column(form: ColumnForm, cells: Cells, block: ScoredBlock, j: int) -> Terms:
    """What column j of a block adds to the score of each class."""
    at, formula = block.positions[j], block.formula
    if isinstance(form, LevelLogs) and formula.domain == "any":
        return Terms.of(scores_of_levels(form, cells, at))
    x = cells.number(at, formula.domain, ignores_outside=block.ignores_outside, missing=formula.missing)
    if isinstance(form, LevelLogs):
        return Terms.of(scores_of_categories(form, cells.query, x))
    found = FORMS[type(form)](form, x, cells.query)
    terms = found if isinstance(found, Terms) else Terms.of(found)
    return Terms([_unless_missing(x, value, cells.query) for value in terms.values], terms.certain)


def _unless_missing(x: Name, value: Operand, query: Query) -> Operand:
    if isinstance(value, float) and value == 0:
        return 0.0
    return query.engine.choice([(is_missing(x), 0.0)], value)


def _classes(*arrays: Float | None) -> list[tuple[Any, ...]]:
    """The entries of arrays for each class."""
    size = next(len(each) for each in arrays if each is not None)
    return [tuple(None if each is None else float(each[k]) for each in arrays) for k in range(size)]


# ---------------------------------------------------------------------- numbers


def _square(query: Query, x: Operand, mean: float, low: float, scale: float) -> exp.Expression:
    """(((x − mean) − low) scale)², infinite or 0 where a double cannot hold it."""
    away = subtracted(x, mean)
    z = multiplied(subtracted(away, low), scale)
    if not query.engine.raises:
        return multiplied(z, z)
    size = call("ABS", away)
    centre, far = (min(bound / scale, LARGEST) if scale > 0 else LARGEST for bound in (TINY, FAR))
    return query.engine.choice([(less(size, centre), 0.0), (less(far, size), math.inf)], multiplied(z, z))


def _normal(form: Normal, x: Name, query: Query) -> list[Operand]:
    engine = query.engine
    x = query.let(engine.logarithm(x), "log") if form.of_logarithm else x
    out: list[Operand] = []
    for mean, low, scale, log_norm, freedom in _classes(
        form.mean, form.mean_low, form.scale, form.log_norm, form.freedom
    ):
        distance = _square(query, x, mean, low, scale)
        if freedom is None:
            out.append(subtracted(log_norm, multiplied(0.5, distance)))
        else:
            ratio = query.named(divided(distance, freedom), "ratio")
            out.append(subtracted(log_norm, multiplied(0.5 * (freedom + 1), engine.log1p(ratio))))
    return out


def _yes_no(form: YesNo, x: Name, query: Query) -> list[Operand]:
    return [search(query.engine, x, [form.above], [no, yes]) for yes, no in _classes(form.yes, form.no)]


def _line(form: Line, x: Name, query: Query) -> Terms:
    finite = [abs(each) for each in form.slope.tolist() if math.isfinite(each) and each != 0]
    away: Operand = subtracted(x, form.origin)
    if finite and query.engine.raises:
        away = query.let(query.engine.within(away, 1e-300 / min(finite), 1e300 / max(finite)), "away")
    values: list[Operand] = []
    certain: list[exp.Expression | None] = []
    for start, slope in _classes(form.at_origin, form.slope):
        is_certain = slope == math.inf
        certain.append(less(0.0, x) if is_certain else None)
        if math.isinf(slope):
            values.append(query.engine.choice([(less(0.0, x), 0.0 if is_certain else -math.inf)], start))
        else:
            values.append(start if slope == 0 else total([start, multiplied(away, slope)]))
    return Terms(values, certain)


def _rising(form: Rising, x: Name, query: Query) -> list[Operand]:
    engine = query.engine
    x = query.let(engine.choice([(less(MOST, x), MOST)], x), "count")
    out: list[Operand] = []
    for offset, slope, up, down in _classes(form.offset, form.slope, form.up, form.down):
        terms = [offset, multiplied(x, slope) if slope else 0.0, log_rise(up, x, engine)]
        out.append(total(terms if down is None else [subtracted(total(terms), log_rise(down, x, engine))]))
    return out


def _power_tail(form: PowerTail, x: Name, query: Query) -> list[Operand]:
    x = _in_range(x, form.scale, query)
    out: list[Operand] = []
    for offset, power, scale in _classes(form.offset, form.power, form.scale):
        share = query.named(divided(x, scale), "share")
        out.append(subtracted(offset, multiplied(power, query.engine.log1p(share))))
    return out


def _in_range(x: Name, scale: Float, query: Query) -> Name:
    """A number whose quotient with each scale is a double."""
    return query.let(query.engine.within(x, float(scale.max()) * 1e-300, min(float(scale.min()), 1e8) * 1e300), "away")


def _gamma_curve(form: GammaCurve, x: Name, query: Query) -> list[Operand]:
    """A series near the mean, where the terms cancel. Far from it, the terms of beta-prime that are linear cancel."""
    engine, away = query.engine, x
    if engine.raises:
        steepest = 1.0 if form.wide is not None else max(1.0, float(form.shape.max()))
        most = min(float(form.mean.min()), 1e8) * 1e300 / steepest
        away = query.let(engine.choice([(less(most, x), most)], x), "away")
    out: list[Operand] = []
    for offset, shape, mean, wide, spread in _classes(form.offset, form.shape, form.mean, form.wide, form.spread):
        t = query.named(divided(subtracted(away, mean), mean), "relative")
        near = subtracted(offset, multiplied(shape, _excess(t)))
        logs = _log_ratio(x, mean, t, query)
        if wide is None:
            far = subtracted(offset, multiplied(shape, subtracted(t, logs)))
        else:
            share = query.named(divided(t, spread), "share")
            near = added(near, multiplied(wide, _excess(share)))
            far = subtracted(added(offset, multiplied(shape, logs)), multiplied(wide, engine.log1p(share)))
        out.append(engine.choice([(less(call("ABS", t), NEAR), near)], far))
    return out


def _log_ratio(x: Name, mean: float, t: Operand, query: Query) -> exp.Expression:
    """log(x/mean), where x/mean = 1 + t; t has lost digits of a small x, and x/mean may be no double."""
    engine = query.engine
    unusual = either(less(x, mean * 1e-200), less(1e200, t))
    return engine.choice(
        [
            (unusual, subtracted(engine.logarithm(x), math.log(mean))),
            (less(t, -0.5), engine.logarithm(divided(x, mean))),
        ],
        engine.log1p(t),
    )


def _excess(t: Operand) -> Operand:
    """t − log(1 + t) near 0."""
    inner: Operand = SERIES[0]
    for each in SERIES[1:]:
        inner = subtracted(each, multiplied(t, inner))
    return multiplied(multiplied(t, t), inner)


def _steps(form: Steps, x: Name, query: Query) -> list[Operand]:
    return [search(query.engine, x, form.cuts.tolist(), column.tolist()) for column in form.table.T]


def _knots(form: Knots, x: Name, query: Query) -> list[Operand]:
    """Straight pieces between knots; the first and the last leaf are constant."""
    knots = form.knots.tolist()
    least = float(np.diff(form.knots).min(initial=LARGEST)) * 1e-200
    x = query.let(query.engine.within(x, least, LARGEST), "away") if query.engine.raises else x
    out: list[Operand] = []
    for column in form.table.T:
        values = column.tolist()
        pieces: list[Operand] = [
            total([values[i], multiplied(subtracted(x, knots[i]), slope)]) if slope else values[i]
            for i, slope in enumerate((np.diff(column) / np.diff(form.knots)).tolist())
        ]
        out.append(search(query.engine, x, knots, [values[0], *pieces, values[-1]]))
    return out


FORMS: dict[type, Callable[[Any, Name, Query], Terms | list[Operand]]] = {
    Normal: _normal,
    YesNo: _yes_no,
    Line: _line,
    Rising: _rising,
    PowerTail: _power_tail,
    GammaCurve: _gamma_curve,
    Steps: _steps,
    Knots: _knots,
}
