"""Small builders of SQLGlot expressions: numbers that keep all digits, sums, conditions and tables of numbers.

A sum is a balanced tree, so thousands of terms stay far from every engine's limit on the depth of an expression.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from sqlglot import exp

__all__ = [
    "FALSE",
    "Name",
    "Operand",
    "added",
    "aliased",
    "at_least",
    "at_most",
    "balanced",
    "both",
    "call",
    "case",
    "cast",
    "divided",
    "either",
    "equal",
    "expression_of",
    "is_missing",
    "is_present",
    "less",
    "multiplied",
    "negated",
    "number",
    "one_of",
    "quoted",
    "subtracted",
    "text",
    "total",
    "whole",
    "without",
]


class Name(str):
    """The name of a computed column, which may be used in any number of expressions."""

    __slots__ = ()


Operand: TypeAlias = exp.Expression | Name | float
"""An expression, a computed column, or a finite number; an int is a whole number, and a float a double."""

NUMBER = "DOUBLE"


def expression_of(operand: Operand) -> exp.Expression:
    """An expression that no other expression holds."""
    if isinstance(operand, Name):
        return exp.column(operand)
    if isinstance(operand, exp.Expression):
        return operand.copy() if operand.parent is not None else operand
    return whole(operand) if isinstance(operand, int) else number(operand)


def number(value: float) -> exp.Expression:
    """A finite number with all its digits, with an exponent: engines read numbers without one as decimals.

    >>> [number(each).sql() for each in (0.1, -2.0, 1e300)]
    ['0.1e0', '-2.0e0', '1e+300']
    """
    digits = repr(abs(float(value)))
    assert digits[0].isdigit(), value
    literal = exp.Literal.number(digits if "e" in digits else f"{digits}e0")
    return exp.Neg(this=literal) if math.copysign(1.0, value) < 0 else literal


def whole(value: int) -> exp.Expression:
    """A whole number, such as a code."""
    literal = exp.Literal.number(str(abs(value)))
    return exp.Neg(this=literal) if value < 0 else literal


def text(value: str) -> exp.Expression:
    """A string.

    Spark replaces ``${…}`` by settings even within strings, so the two characters are in different strings. A null
    character has no form in a statement.
    """
    pieces: list[exp.Expression] = []
    for i, part in enumerate(value.split("\0")):
        pieces += [exp.Chr(expressions=[exp.Literal.number(0)])] if i else []
        pieces += [exp.Literal.string(each) for each in part.replace("${", "$\0{").split("\0") if each]
    return balanced(lambda a, b: exp.DPipe(this=a, expression=b), pieces or [exp.Literal.string("")])


def quoted(name: str, table: str) -> exp.Column:
    """A column of a table whose name is taken as it is."""
    return exp.Column(this=exp.to_identifier(name, quoted=True), table=exp.to_identifier(table))


def call(function: str, *arguments: Operand) -> exp.Expression:
    """A function that all engines that it is called for have under this name."""
    return exp.Anonymous(this=function, expressions=[expression_of(each) for each in arguments])


def aliased(operand: Operand, name: str) -> exp.Expression:
    """A value as a column of this name."""
    return exp.Alias(this=expression_of(operand), alias=exp.to_identifier(name))


def cast(operand: Operand, kind: str = NUMBER) -> exp.Expression:
    """A value as another type, by SQLGlot's name of it."""
    return exp.Cast(this=expression_of(operand), to=exp.DataType.build(kind))


# ---------------------------------------------------------------------- arithmetic


def balanced(
    join: Callable[[exp.Expression, exp.Expression], exp.Expression], terms: Sequence[exp.Expression]
) -> exp.Expression:
    """Terms joined by an operator, as a tree of the least depth."""
    if len(terms) == 1:
        return terms[0]
    half = len(terms) // 2
    return exp.Paren(this=join(balanced(join, terms[:half]), balanced(join, terms[half:])))


def total(terms: Iterable[Operand]) -> Operand:
    """The sum of terms; numbers among them are added here."""
    known, rest = 0.0, []
    for each in terms:
        if isinstance(each, exp.Expression | Name):
            rest.append(expression_of(each))
        else:
            known += each
    if not rest:
        return known
    found = balanced(lambda a, b: exp.Add(this=a, expression=b), rest)
    return found if known == 0 else added(found, known)


def _binary(kind: type[exp.Binary], a: Operand, b: Operand) -> exp.Expression:
    return exp.Paren(this=kind(this=expression_of(a), expression=expression_of(b)))


def added(a: Operand, b: Operand) -> exp.Expression:
    """a + b."""
    return _binary(exp.Add, a, b)


def subtracted(a: Operand, b: Operand) -> exp.Expression:
    """a − b; a alone if b is the number 0."""
    if not isinstance(b, exp.Expression | Name) and b == 0:
        return expression_of(a)
    return _binary(exp.Sub, a, b)


def multiplied(a: Operand, b: Operand) -> exp.Expression:
    """a · b; a alone if b is the number 1."""
    if not isinstance(b, exp.Expression | Name) and b == 1:
        return expression_of(a)
    return _binary(exp.Mul, a, b)


def divided(a: Operand, b: Operand) -> exp.Expression:
    """a / b, of numbers that are not whole numbers by their type."""
    return exp.Paren(this=exp.Div(this=expression_of(a), expression=expression_of(b), typed=True))


def negated(a: Operand) -> exp.Expression:
    """−a."""
    return exp.Paren(this=exp.Neg(this=expression_of(a)))


# ---------------------------------------------------------------------- conditions

FALSE = exp.false()


def less(a: Operand, b: Operand) -> exp.Expression:
    """a < b."""
    return exp.LT(this=expression_of(a), expression=expression_of(b))


def at_most(a: Operand, b: Operand) -> exp.Expression:
    """a ≤ b."""
    return exp.LTE(this=expression_of(a), expression=expression_of(b))


def at_least(a: Operand, b: Operand) -> exp.Expression:
    """a ≥ b."""
    return exp.GTE(this=expression_of(a), expression=expression_of(b))


def equal(a: Operand, b: Operand) -> exp.Expression:
    """a = b."""
    return exp.EQ(this=expression_of(a), expression=expression_of(b))


def one_of(a: Operand, values: Sequence[Operand]) -> exp.Expression:
    """Whether a is among values."""
    return exp.In(this=expression_of(a), expressions=[expression_of(each) for each in values])


def is_missing(a: Operand) -> exp.Expression:
    """Whether a is NULL."""
    return exp.Is(this=expression_of(a), expression=exp.null())


def is_present(a: Operand) -> exp.Expression:
    """Whether a is not NULL."""
    return exp.Not(this=exp.Paren(this=is_missing(a)))


def without(condition: exp.Expression) -> exp.Expression:
    """Whether a condition does not hold."""
    return exp.Not(this=exp.Paren(this=expression_of(condition)))


def both(*conditions: exp.Expression) -> exp.Expression:
    """Whether all conditions hold."""
    return balanced(lambda a, b: exp.And(this=a, expression=b), [expression_of(each) for each in conditions])


def either(*conditions: exp.Expression) -> exp.Expression:
    """Whether a condition holds."""
    if not conditions:
        return FALSE.copy()
    return balanced(lambda a, b: exp.Or(this=a, expression=b), [expression_of(each) for each in conditions])


def case(branches: Sequence[tuple[exp.Expression, Operand]], default: Operand | None = None) -> exp.Expression:
    """The value of the first condition that holds; the default (NULL) if none does."""
    ifs = [exp.If(this=expression_of(condition), true=expression_of(value)) for condition, value in branches]
    return exp.Case(ifs=ifs, default=exp.null() if default is None else expression_of(default))
