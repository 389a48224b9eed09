"""The database engines that a statement can be written for."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from sqlglot import exp

from suffice.exceptions import InputError, did_you_mean, listed
from suffice.export.sql.engine import Engine, collated
from suffice.export.sql.expressions import (
    Name,
    Operand,
    added,
    at_most,
    balanced,
    both,
    call,
    case,
    cast,
    divided,
    either,
    equal,
    expression_of,
    is_missing,
    less,
    multiplied,
    number,
    one_of,
    subtracted,
    text,
    without,
)

__all__ = ["engine_named"]

MOST_DECIMAL, LEAST_DECIMAL = "1.7976931348623158e308", "2.4703282292062328e-324"  # decimals between them have a double
LEAST_EXPONENT = -700.0  # below, EXP is zero for all purposes
DAY = 86_400.0


class Postgres(Engine):
    """PostgreSQL."""

    dialect = "postgres"
    title = "PostgreSQL"
    raises = True
    most_columns = 1600
    longest_name = 63

    def double(self, value: float) -> exp.Expression:
        """A literal with an exponent is a decimal."""
        return super().double(value) if math.isinf(value) else cast(number(value))

    def exponential(self, a: Operand) -> exp.Expression:
        """An underflow is an error."""
        return self.choice([(less(LEAST_EXPONENT, a), exp.Exp(this=expression_of(a)))], 0.0)

    def number_cell(self, cell: exp.Expression) -> exp.Expression:
        """A decimal that no double is near would be an error."""
        return self._double(cell, cell)

    def truth_cell(self, cell: exp.Expression) -> exp.Expression:
        """Booleans cannot be cast to double."""
        written = cast(cell, "TEXT")
        known = [(equal(written, text("true")), 1.0), (equal(written, text("false")), 0.0)]
        return self.choice(known, self._double(cell, written))

    def _double(self, cell: exp.Expression, value: exp.Expression) -> exp.Expression:
        """The value of a cell; an infinite one, or 0, for decimals beyond doubles. NaN is larger than all decimals."""
        other = without(equal(call("PG_TYPEOF", cell), call("REGTYPE", text("numeric"))))
        decimal = cast(value, "DECIMAL")
        size = call("ABS", decimal)
        large = both(less(exp.Literal.number(MOST_DECIMAL), size), without(equal(decimal, text("NaN"))))
        small = less(size, exp.Literal.number(LEAST_DECIMAL))
        return self.choice([(other, cast(value)), (large, math.inf), (small, 0.0)], cast(value))

    def by_characters(self, a: Operand) -> exp.Expression:
        """The name of a collation is quoted, because it has upper case."""
        return collated(expression_of(a), exp.to_identifier("C", quoted=True))

    def seconds(self, cell: exp.Expression) -> exp.Expression:
        """The result of EXTRACT is a decimal."""
        return cast(exp.Extract(this=exp.var("EPOCH"), expression=expression_of(cell)))

    def duration(self, cell: exp.Expression) -> exp.Expression:
        """The result of EXTRACT is a decimal."""
        return self.seconds(cell)

    def digest(self, a: Operand) -> exp.Expression:
        """The function takes bytes."""
        return call("SHA256", call("CONVERT_TO", a, text("UTF8")))

    def all_matches(self, a: Operand, pattern: str) -> exp.Expression:
        """The function returns a row for each match, which is a list of one text."""
        found = call("REGEXP_MATCHES", a, text(pattern), text("g"))
        return call("ARRAY", exp.select(call("ARRAY_TO_STRING", found, text(""))))

    def characters(self, a: Operand) -> exp.Expression:
        """NULL in place of a separator splits everywhere."""
        return call("STRING_TO_ARRAY", a, exp.null())

    def same_name(self, name: str) -> str:
        """Names in quotes differ by case."""
        return name

    def can_hold(self, value: str) -> bool:
        """Strings have no null character."""
        return super().can_hold(value) and "\0" not in value

    def columns_of(self, row: str) -> exp.Expression:
        """All columns of a composite value."""
        return exp.Dot(this=exp.Paren(this=exp.column(row)), expression=exp.Star())

    def fenced(self, select: exp.Select) -> exp.Select:
        """OFFSET keeps the planner from merging two queries, which would repeat expressions."""
        return select.offset(0, copy=False)


class SQLite(Engine):
    """SQLite, whose columns hold values of any type."""

    dialect = "sqlite"
    title = "SQLite"
    most_columns = 2000
    finds_words = False

    def double(self, value: float) -> exp.Expression:
        """An infinite number is a literal that overflows."""
        if math.isinf(value):
            literal = exp.Literal.number("9e999")
            return literal if value > 0 else exp.Neg(this=literal)
        return number(value)

    def largest(self, values: Sequence[Operand]) -> exp.Expression:
        """MAX takes up to 127 arguments."""
        return balanced(lambda a, b: call("MAX", a, b), [expression_of(each) for each in values])

    def is_nan(self, a: Operand) -> exp.Expression | None:
        """NaN is NULL."""
        return None

    def number_cell(self, cell: exp.Expression) -> exp.Expression:
        """NULL for a text, which CAST would turn into a number."""
        return case([(self._is_number(cell), cast(cell))])

    def has_other_type(self, cell: exp.Expression) -> exp.Expression:
        """Whether a cell is a text or bytes."""
        return without(one_of(call("TYPEOF", cell), [text(each) for each in ("integer", "real", "null")]))

    def by_characters(self, a: Operand) -> exp.Expression:
        """The collation of bytes has another name."""
        return collated(expression_of(a), exp.var("BINARY"))

    def seconds(self, cell: exp.Expression) -> exp.Expression:
        """Numbers are seconds since 1970, and texts are read to the millisecond."""

        def part(form: str) -> exp.Expression:
            return cast(call("STRFTIME", text(form), cell))

        read = added(part("%s"), subtracted(part("%f"), part("%S")))
        return case([(self._is_number(cell), cast(cell)), (self._has_digit(cell), read)])

    def has_no_time(self, cell: exp.Expression) -> exp.Expression | None:
        """Whether a cell is a text that is not a time, such as the text 'now' for the time of the query, or bytes."""
        is_none = either(is_missing(call("STRFTIME", text("%s"), cell)), without(self._has_digit(cell)))
        return both(self.has_other_type(cell), is_none)

    def duration(self, cell: exp.Expression) -> exp.Expression:
        """Numbers are seconds."""
        return self.number_cell(cell)

    def first_cell(self, literal: exp.Expression) -> exp.Expression:
        """Only a join on columns of the same type makes an index."""
        digits = literal.find(exp.Literal)
        if digits is None or digits.is_string or literal.find(exp.Chr) is not None:
            return cast(literal, "TEXT")
        return cast(literal, "BIGINT" if digits.is_int else "DOUBLE")

    def named_values(self, values: exp.Values, names: Sequence[str]) -> tuple[exp.Expression, Sequence[str]]:
        """Before version 30, SQLGlot writes no names of columns beside the name of a table."""
        types = [each.args["to"].copy() for each in values.expressions[0].expressions]
        cells = [exp.Cast(this=exp.column(f"column{i}"), to=kind) for i, kind in enumerate(types, 1)]
        columns = [exp.Alias(this=c, alias=exp.to_identifier(n)) for c, n in zip(cells, names, strict=True)]
        return self.fenced(exp.select(*columns).from_(values, copy=False)), ()

    def whole_row(self, table: str) -> exp.Expression | None:
        """Rows are found again by their number."""
        return None

    def fenced(self, select: exp.Select) -> exp.Select:
        """LIMIT and OFFSET keep the planner from merging two queries, which would repeat expressions."""
        return select.limit(-1, copy=False).offset(0, copy=False)

    def _has_digit(self, cell: exp.Expression) -> exp.Expression:
        return exp.Glob(this=cell.copy(), expression=text("*[0-9]*"))

    def _is_number(self, cell: exp.Expression) -> exp.Expression:
        return one_of(call("TYPEOF", cell), [text("integer"), text("real")])


class Spark(Engine):
    """Spark SQL."""

    dialect = "spark"
    title = "Spark SQL"

    def by_characters(self, a: Operand) -> exp.Expression:
        """Only Spark 4 has collations, and texts are compared by their bytes unless a column has one."""
        return expression_of(a)

    def log1p(self, a: Operand) -> exp.Expression:
        """A function of its own, which is NULL at −1."""
        return self.choice([(at_most(a, -1.0), -math.inf)], call("LOG1P", a))

    def seconds(self, cell: exp.Expression) -> exp.Expression:
        """Times with the zone of the session, and dates and times without a zone, which are in UTC."""
        origin = cast(text("1970-01-01 00:00:00"), "TIMESTAMP_NTZ")
        plain = call("TIMESTAMPDIFF", exp.var("MICROSECOND"), origin, cast(cell, "TIMESTAMP_NTZ"))
        zoned = call("UNIX_MICROS", cast(cell, "TIMESTAMPLTZ"))
        micros = case([(equal(call("TYPEOF", cell), text("timestamp")), zoned)], plain)
        return divided(cast(micros), 1e6)

    def duration(self, cell: exp.Expression) -> exp.Expression:
        """The parts of an interval of days and shorter times."""
        parts = (("DAY", DAY), ("HOUR", 3600.0), ("MINUTE", 60.0), ("SECOND", 1.0))
        terms = [
            multiplied(cast(exp.Extract(this=exp.var(unit), expression=expression_of(cell))), size)
            for unit, size in parts
        ]
        return balanced(lambda a, b: exp.Add(this=a, expression=b), terms)

    def digest(self, a: Operand) -> exp.Expression:
        """The second argument is the length in bits."""
        return call("SHA2", a, 256)

    def put_between(self, a: Operand, pattern: str, middle: str) -> exp.Expression:
        """A dollar refers to a group."""
        return self.replaced(a, pattern, f"$1{middle}$2")

    def replaced(self, a: Operand, pattern: str, by: str) -> exp.Expression:
        """All parts are replaced without being told."""
        return call("REGEXP_REPLACE", a, text(pattern), text(by))

    def all_matches(self, a: Operand, pattern: str) -> exp.Expression:
        """The last argument says that the whole match counts."""
        return call("REGEXP_EXTRACT_ALL", a, text(pattern), 0)

    def starts(self, word: Operand, most: int) -> dict[str, Operand]:
        """The text, its length and each position: a SELECT takes a single list apart."""
        size = call("LENGTH", word)
        positions = case([(less(0, size), call("SEQUENCE", 1, size))])  # from 1 to 0 it would go down
        return {"word": word, "size": size, "start": call("EXPLODE", positions)}

    def run_from(self, starts: Mapping[str, Name], n: int) -> tuple[exp.Expression, exp.Expression]:
        """A part of the text."""
        fits = at_most(added(starts["start"], n - 1), starts["size"])
        return fits, call("SUBSTRING", starts["word"], starts["start"], n)

    def items(self, values: Operand, item: str, position: str) -> list[exp.Expression]:
        """One function has both columns."""
        names = [exp.to_identifier(position), exp.to_identifier(item)]
        return [exp.Aliases(this=call("POSEXPLODE", values), expressions=names)]

    def same_name(self, name: str) -> str:
        """All letters count."""
        return name.lower()

    def whole_row(self, table: str) -> exp.Expression | None:
        """A struct of all columns."""
        return call("STRUCT", exp.Column(this=exp.Star(), table=exp.to_identifier(table)))


ENGINES: dict[str, Engine] = {each.dialect: each for each in (Engine(), Postgres(), SQLite(), Spark())}
ALSO = {"postgresql": "postgres"}


def engine_named(dialect: str) -> Engine:
    """The engine of a dialect; raises `InputError` for others than those that are tested.

    >>> engine_named("postgresql").title
    'PostgreSQL'
    """
    name = ALSO.get(dialect, dialect) if isinstance(dialect, str) else ""
    if name not in ENGINES:
        hint = did_you_mean(dialect, tuple(ENGINES))
        raise InputError(
            f"dialect must be one of {listed(list(ENGINES))}; got {dialect!r:.80}.{hint} Statements in these "
            "dialects are tested on their engines; other engines may understand one of the dialects.",
            argument="dialect",
            page="docs/export.md",
        )
    return ENGINES[name]
