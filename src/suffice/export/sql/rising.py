"""Ratios of gamma functions as SQL, without the gamma function, which many engines lack.

Stirling's series has sixteen digits from 16 on. Smaller numbers are shifted there by the recurrence Γ(a + 1) = a Γ(a):

    log Γ(a + x)/Γ(a) = log Γ(b + x)/Γ(b) − Σ_{i < n} log (a + i + x)/(a + i),    b = a + n ≥ 16

A difference of two log-gammas would lose the leading digits that they share; the series are subtracted term by term.
The classes share the term x (log(16 + x) − 1), which grows faster than all others, so it is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from sqlglot import exp

from suffice.export.sql.engine import Engine
from suffice.export.sql.expressions import (
    Name,
    Operand,
    added,
    balanced,
    divided,
    expression_of,
    less,
    multiplied,
    subtracted,
    total,
)

__all__ = ["MOST", "log_rise", "log_rise_of_columns"]

LARGE = 16
FACTORS = 4  # of a product under one logarithm, so that products stay in range
MOST = 1e60  # counts up to this one keep products in range


def log_rise(a: float, x: Operand, engine: Engine) -> Operand:
    """log Γ(a + x)/Γ(a) − x (log(16 + x) − 1) of a known a ≥ 0; −∞ for a = 0 and x > 0."""
    if a == 0:
        return engine.choice([(less(0.0, x), -math.inf)], 0.0)
    shift = max(0, math.ceil(LARGE - a))
    start = a + shift
    correction = 1 / 12 - 1 / 360 / start**2 + 1 / 1260 / start**4 - 1 / 1680 / start**6 + 1 / 1188 / start**8
    out: exp.Expression = _series(x, start, start - 0.5, start - LARGE, correction / start, engine)
    for first in range(0, shift, FACTORS):
        own = [a + i for i in range(first, min(first + FACTORS, shift))]
        out = subtracted(out, engine.logarithm(divided(_product([added(x, each) for each in own]), math.prod(own))))
    return out


def log_rise_of_columns(a: Name, x: Name, engine: Engine) -> Operand:
    """`log_rise` of a computed column a > 0."""
    start = added(a, float(LARGE))
    less_half, correction = added(a, LARGE - 0.5), _correction(start)
    out: exp.Expression = _series(x, start, less_half, a, correction, engine)
    for first in range(0, LARGE, FACTORS):
        own = [float(i) for i in range(first, first + FACTORS)]
        above, below = ([total([each, i]) for i in own] for each in (added(a, x), a))
        out = subtracted(out, engine.logarithm(divided(_product(above), _product(below))))
    return out


def _series(
    x: Operand, start: Operand, less_half: Operand, more: Operand, correction: Operand, engine: Engine
) -> exp.Expression:
    """(b − ½) log(1 + x/b) + x log((b + x)/(16 + x)) + c(b + x) − c(b), with b − ½, b − 16 and c(b)."""
    end = added(x, start)
    rising = multiplied(less_half, engine.log1p(divided(x, start)))
    steep = multiplied(x, engine.log1p(divided(more, added(x, float(LARGE)))))
    return added(added(rising, steep), subtracted(_correction(end), correction))


def _correction(z: Operand) -> exp.Expression:
    """The correction to Stirling's formula, 1/12z − 1/360z³ + …."""
    square = divided(1.0, multiplied(z, z))
    inner: Operand = 1 / 1188
    for each in (1 / 1680, 1 / 1260, 1 / 360, 1 / 12):
        inner = subtracted(each, multiplied(square, inner))
    return divided(inner, z)


def _product(factors: Sequence[Operand]) -> exp.Expression:
    return balanced(lambda a, b: exp.Mul(this=a, expression=b), [expression_of(each) for each in factors])
