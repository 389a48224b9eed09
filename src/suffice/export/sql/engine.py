"""What the database engines have in common for a query, and what they do in their own ways.

Every engine has 64-bit floating-point numbers, ``LN``, ``EXP`` and ``SQRT``. They differ in the types of literals, in
numbers that are not finite, in dates, and in how a whole row is kept beside computed columns.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import ClassVar

from sqlglot import exp

from suffice.export.sql.expressions import (
    Name,
    Operand,
    added,
    aliased,
    at_most,
    balanced,
    call,
    case,
    cast,
    divided,
    equal,
    expression_of,
    is_present,
    less,
    multiplied,
    number,
    subtracted,
    text,
)

__all__ = ["FAR", "LARGEST", "TINY", "Engine", "collated"]

LARGEST = math.nextafter(math.inf, 0.0)
FAR, TINY = 1e145, 1e-150  # larger numbers are infinitely far, so the sum of their squares need not be a double


class Engine:
    """DuckDB, and what other engines do as DuckDB does.

    Attributes
    ----------
    dialect : str
        SQLGlot's name.
    title : str
        For messages.
    raises : bool
        Whether an overflow or an underflow of a number is an error.
    most_columns : int
        Of a SELECT.
    longest_name : int or None
        Bytes of the name of a column; longer ones are cut off.
    finds_words : bool
        Whether it has regular expressions, and functions that take lists apart.
    """

    dialect: ClassVar[str] = "duckdb"
    title: ClassVar[str] = "DuckDB"
    raises: ClassVar[bool] = False
    most_columns: ClassVar[int] = 5000
    longest_name: ClassVar[int | None] = None
    finds_words: ClassVar[bool] = True

    # ------------------------------------------------------------------ numbers

    def double(self, value: float) -> exp.Expression:
        """A number of type double, which may be infinite."""
        if math.isinf(value):
            return cast(exp.Literal.string("Infinity" if value > 0 else "-Infinity"))
        return number(value)

    def value(self, operand: Operand) -> exp.Expression:
        """An operand that stands alone: a number has the type double, and may be infinite."""
        return self.double(operand) if isinstance(operand, float) else expression_of(operand)

    def plain_value(self, operand: Operand) -> exp.Expression:
        """An operand beside values of type double."""
        return self.double(operand) if isinstance(operand, float) and math.isinf(operand) else expression_of(operand)

    def choice(
        self, branches: Sequence[tuple[exp.Expression, Operand]], default: Operand | None = None
    ) -> exp.Expression:
        """A CASE whose values are doubles, also infinite ones; the first one determines the type."""
        first, *rest = [value for _, value in branches] + ([] if default is None else [default])
        values = [self.value(first), *map(self.plain_value, rest)]
        conditions = [condition for condition, _ in branches]
        return case(list(zip(conditions, values, strict=False)), None if default is None else values[-1])

    def is_finite(self, a: Operand) -> exp.Expression:
        """Whether a double is a finite number; NULL for NULL."""
        return at_most(call("ABS", a), LARGEST)

    def is_infinite(self, a: Operand) -> exp.Expression:
        """Whether a double is infinite, and not NaN; NULL for NULL."""
        return equal(call("ABS", a), self.double(math.inf))

    def is_nan(self, a: Operand) -> exp.Expression | None:
        """Whether a double is NaN; None if the engine has no NaN."""
        return equal(a, cast(exp.Literal.string("NaN")))

    def within(self, a: Operand, least: float, most: float) -> Operand:
        """A number that later arithmetic can use, if the engine raises where numbers overflow or underflow."""
        if not self.raises:
            return a
        bounds = [(less(call("ABS", a), least), 0.0), (less(most, a), most), (less(a, -most), -most)]
        return self.choice(bounds, a)

    def squared(self, z: Operand) -> exp.Expression:
        """z², infinite or 0 where a double cannot hold it."""
        product = multiplied(z, z)
        if not self.raises:
            return product
        size = call("ABS", z)
        return self.choice([(less(size, TINY), 0.0), (less(FAR, size), math.inf)], product)

    def logarithm(self, a: Operand) -> exp.Expression:
        """log a, for a > 0."""
        return exp.Ln(this=expression_of(a))

    def log1p(self, a: Operand) -> exp.Expression:
        """log(1 + a) to the last digits, for a ≥ −1; Kahan's formula, in which the rounding of 1 + a cancels."""
        one_more = added(1.0, a)
        return self.choice(
            [
                (equal(one_more, 1.0), a),
                (at_most(a, -1.0), -math.inf),
                (less(1e15, a), self.logarithm(a)),
            ],
            divided(multiplied(self.logarithm(one_more), a), subtracted(one_more, 1.0)),
        )

    def exponential(self, a: Operand) -> exp.Expression:
        """The exponential function of a ≤ 0."""
        return exp.Exp(this=expression_of(a))

    def largest(self, values: Sequence[Operand]) -> exp.Expression:
        """The largest of values that are not NULL."""
        expressions = [expression_of(each) for each in values]
        return expressions[0] if len(expressions) == 1 else call("GREATEST", *expressions)

    # ------------------------------------------------------------------ cells

    def number_cell(self, cell: exp.Expression) -> exp.Expression:
        """A cell of a column of numbers as a double, which may be NaN or infinite."""
        return cast(cell)

    def truth_cell(self, cell: exp.Expression) -> exp.Expression:
        """A cell of a column of booleans, or of 0 and 1, as a double."""
        return self.number_cell(cell)

    def has_other_type(self, cell: exp.Expression) -> exp.Expression | None:
        """Whether a cell of a column of numbers is not a number; None if column types exclude this."""
        return None

    def text_cell(self, cell: exp.Expression) -> exp.Expression:
        """A cell as a string that is compared by its characters, whatever the collation of its column."""
        return self.by_characters(cast(cell, "TEXT"))

    def by_characters(self, a: Operand) -> exp.Expression:
        """A string that is compared by its characters, whatever the collation of a database."""
        return collated(expression_of(a), exp.var("C"))

    def seconds(self, cell: exp.Expression) -> exp.Expression:
        """Seconds since 1970 of a date or a time; a time without a zone is in UTC."""
        return self.choice([(call("ISINF", cell), math.inf)], call("EPOCH", cell))

    def has_no_time(self, cell: exp.Expression) -> exp.Expression | None:
        """Whether a cell of a column of times is not a time; None if column types exclude this."""
        return None

    def duration(self, cell: exp.Expression) -> exp.Expression:
        """Seconds of an interval."""
        return call("EPOCH", cell)

    def can_hold(self, value: str) -> bool:
        """Whether a string can be in a table at all."""
        return not any("\ud800" <= each <= "\udfff" for each in value)

    # ------------------------------------------------------------------ texts

    def digest(self, a: Operand) -> exp.Expression:
        """A short value that differs for different texts."""
        return call("SHA256", a)

    def matches(self, a: Operand, pattern: str) -> exp.Expression:
        """Whether a part of a text matches a regular expression."""
        return exp.RegexpLike(this=expression_of(a), expression=text(pattern))

    def put_between(self, a: Operand, pattern: str, middle: str) -> exp.Expression:
        """A text, in which a pattern of two groups is replaced by the groups with a text between them."""
        return self.replaced(a, pattern, f"\\1{middle}\\2")

    def replaced(self, a: Operand, pattern: str, by: str) -> exp.Expression:
        """A text with all parts that match a regular expression replaced; backslashes and dollars are special."""
        return call("REGEXP_REPLACE", a, text(pattern), text(by), text("g"))

    def all_matches(self, a: Operand, pattern: str) -> exp.Expression:
        """A list of all parts of a text that match a regular expression."""
        return call("REGEXP_EXTRACT_ALL", a, text(pattern))

    def characters(self, a: Operand) -> exp.Expression:
        """A list of the characters of a text; NULL, or no characters, for an empty one."""
        return call("STRING_SPLIT", call("NULLIF", a, text("")), text(""))

    def starts(self, word: Operand, most: int) -> dict[str, Operand]:
        """Columns with a row for each character of a text, for `run_from`; runs have at most this many characters.

        They hold the character and those after it. Lists that are taken apart side by side end with NULL. SUBSTRING in
        each row would be slow, because it reads a text from its beginning.
        """
        rests = [word if i == 0 else call("SUBSTRING", word, i + 1) for i in range(most)]
        return {f"after_{i}": call("UNNEST", self.characters(each)) for i, each in enumerate(rests)}

    def run_from(self, starts: Mapping[str, Name], n: int) -> tuple[exp.Expression, exp.Expression]:
        """Whether the text has n characters from a row of `starts` on, and these characters."""
        characters = [exp.column(starts[f"after_{i}"]) for i in range(n)]
        run = balanced(lambda a, b: exp.DPipe(this=a, expression=b), characters)
        return is_present(starts[f"after_{n - 1}"]), run

    def items(self, values: Operand, item: str, position: str) -> list[exp.Expression]:
        """Columns with the items of a list, each in a row of its own, and their positions."""
        positions = call("GENERATE_SUBSCRIPTS", values, 1)
        return [aliased(call("UNNEST", values), item), aliased(positions, position)]

    # ------------------------------------------------------------------ rows

    def first_cell(self, literal: exp.Expression) -> exp.Expression:
        """A literal in the first row of a table of literals, which determines the types of the columns."""
        return literal

    def named_values(self, values: exp.Values, names: Sequence[str]) -> tuple[exp.Expression, Sequence[str]]:
        """A table of literals, and the names of its columns if the table does not have them itself."""
        return values, names

    def same_name(self, name: str) -> str:
        """Equal for the names of columns that the engine does not distinguish: those that differ by case in ASCII."""
        return "".join(each.lower() if each.isascii() else each for each in name)

    def whole_row(self, table: str) -> exp.Expression | None:
        """A row of a table as one value; None if the engine has no such type."""
        return exp.column(table)

    def columns_of(self, row: str) -> exp.Expression:
        """All columns of a value of `whole_row`."""
        return exp.Column(this=exp.Star(), table=exp.to_identifier(row))

    def fenced(self, select: exp.Select) -> exp.Select:
        """A query whose columns the engine computes once, even if several expressions of the next query use them."""
        return select


def collated(value: exp.Expression, collation: exp.Expression) -> exp.Expression:
    """A text that is compared in a collation."""
    return exp.Collate(this=exp.Paren(this=value), expression=collation)
