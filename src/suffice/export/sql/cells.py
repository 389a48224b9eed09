"""Cells of the user's table as computed columns: numbers, and codes of levels.

A cell that the model would refuse, such as a count of 2.5, makes the whole row invalid: a query cannot raise an error
for it, so such a row has no posterior.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Literal

import numpy as np
from sqlglot import exp

from suffice.exceptions import InputError
from suffice.export.sql.expressions import (
    Name,
    Operand,
    both,
    call,
    case,
    either,
    equal,
    is_missing,
    is_present,
    less,
    one_of,
    text,
    whole,
    without,
)
from suffice.export.sql.query import PAGE, Query, Table
from suffice.families.formula import Domain
from suffice.sources.columns import seconds
from suffice.tables.table import Kind

__all__ = ["FEW", "Cells", "LevelCell"]

FEW = 32  # levels that are compared one after another; more are a table of the statement
EXACT = 2**53  # larger whole numbers are not exact as doubles
WHOLE = 2.0**52  # larger doubles have no fraction
LevelReading = Literal["text", "number", "large number", "seconds"]


@dataclass(frozen=True)
class LevelCell:
    """A cell of a column of levels.

    Attributes
    ----------
    value : Name
        The computed column that is compared with levels.
    missing : exp.Expression
        Whether the cell is missing.
    levels : tuple
        Position among the levels of the model, and the level as SQL, of each level that a table can hold.
    """

    value: Name
    missing: exp.Expression
    levels: tuple[tuple[int, exp.Expression], ...]


@dataclass
class Cells:
    """Reads the columns of a model from the user's table.

    Parameters
    ----------
    query : Query
    names : mapping from position to str
        Name of each column in the user's table.
    kinds : sequence of Kind
        Kind of each column of the rows that were fitted.
    invalid : list
        Conditions under which a row is invalid.
    tables : dict
        Tables of the words of columns of texts, which several blocks may use.
    """

    query: Query
    names: Mapping[int, str]
    kinds: Sequence[Kind]
    invalid: list[exp.Expression] = field(default_factory=list)
    tables: dict[tuple[object, ...], Table] = field(default_factory=dict)
    _known: dict[tuple[object, ...], Name] = field(default_factory=dict)
    _checked: set[tuple[object, ...]] = field(default_factory=set)

    def cell(self, at: int) -> exp.Expression:
        """A column of the user's table, by its position in the model."""
        return self.query.cell(self.names[at])

    # ------------------------------------------------------------------ numbers

    def number(self, at: int, domain: Domain, *, ignores_outside: bool, missing: bool) -> Name:
        """A column as doubles that are finite and in a domain; NULL for missing cells.

        Values outside the domain are missing if ``ignores_outside``; otherwise their row is invalid, and so is a row
        with a missing cell unless it may be ``missing``.
        """
        engine, raw = self.query.engine, self._raw(at, domain)
        outside = self._outside(raw, domain)
        finite = engine.is_finite(raw)
        key = "number", at, domain
        if key not in self._known:
            usable = finite if outside is None else both(finite, without(outside))
            self._known[key] = self.query.let(case([(usable, raw)]), f"x_{at}")
        x = self._known[key]
        if not missing:
            self._reject(("missing", at, domain), is_missing(x))
        self._reject(("infinite", at), engine.is_infinite(raw))
        self._reject_other_types(at, domain)
        if outside is not None and not ignores_outside:
            self._reject(("outside", at, domain), both(engine.is_finite(raw), outside))
        return x

    def _reject(self, key: tuple[object, ...], condition: exp.Expression) -> None:
        if key not in self._checked:
            self._checked.add(key)
            self.invalid.append(condition)

    def _reject_other_types(self, at: int, domain: Domain) -> None:
        """Texts and bytes among numbers or times, if the type of a column does not exclude them."""
        engine, cell = self.query.engine, self.cell(at)
        other = engine.has_no_time(cell) if self._reads(at, domain) == "time" else engine.has_other_type(cell)
        if other is not None:
            own = self.once(("type", at), case([(other, 1)], 0), f"other_{at}")
            self._reject(("type", at), equal(own, 1))

    def _reads(self, at: int, domain: Domain) -> str:
        """How a cell becomes a number: as a "truth", a "time", a "duration" or a "number"."""
        kind = self.kinds[at]
        if kind == "bool" or domain == "yes_no":
            return "truth"
        return kind if kind in ("time", "duration") else "number"

    def _raw(self, at: int, domain: Domain) -> Name:
        """A column as doubles, which may be infinite, NaN, or outside a domain."""
        engine, cell, reads = self.query.engine, self.cell(at), self._reads(at, domain)
        if (reads, at) not in self._known:
            readers = {"truth": engine.truth_cell, "time": engine.seconds, "duration": engine.duration}
            value = readers.get(reads, engine.number_cell)(cell)
            self._known[reads, at] = self.query.let(value, f"raw_{at}")
        return self._known[reads, at]

    def _outside(self, x: Name, domain: Domain) -> exp.Expression | None:
        """Whether a finite number is outside a domain; None if no number is."""
        if domain == "yes_no":
            return without(one_of(x, [0.0, 1.0]))
        if domain == "count":
            return either(less(x, 0.0), both(less(call("ABS", x), WHOLE), without(equal(x, call("FLOOR", x)))))
        if domain == "not_negative":
            return less(x, 0.0)
        return without(less(0.0, x)) if domain == "positive" else None

    # ------------------------------------------------------------------ levels

    def level(self, at: int, levels: Sequence[Hashable]) -> LevelCell:
        """A column as values that can be compared with its levels."""
        engine, reads = self.query.engine, self._level_reading(at, levels)
        written = [(i, self._written(level, reads)) for i, level in enumerate(levels)]
        kept = [(i, each) for i, each in written if not isinstance(each, str) or engine.can_hold(each)]
        if len({(type(each), each) for _, each in kept}) < len(kept):
            raise InputError(
                f"Two levels of column {self.names[at]!r} would be the same value in SQL, such as the number 1 and the "
                "text '1', so they cannot be told apart.",
                column=self.names[at],
                page=PAGE,
            )
        found = tuple((i, self._literal(each)) for i, each in kept)
        if reads == "text":
            value = self.once(("text", at), engine.text_cell(self.cell(at)), f"text_{at}")
            return LevelCell(value, is_missing(value), found)
        self._reject_other_types(at, "any")
        if reads == "large number":
            value = self.once(("level", at), self.cell(at), f"level_{at}")
            return LevelCell(value, self._lacks_number(value, engine.number_cell(exp.column(value))), found)
        value = self._raw(at, "any")
        return LevelCell(value, self._lacks_number(value, value), found)

    def code(self, at: int, levels: Sequence[Hashable]) -> Name:
        """A column as positions of its levels: −1 for a level that is not among them, NULL for a missing cell."""
        key = "code", at, tuple(levels)
        if key not in self._known:
            cell = self.level(at, levels)
            self._known[key] = self.query.let(self._code(at, cell), f"code_{at}")
        return self._known[key]

    def _code(self, at: int, cell: LevelCell) -> exp.Expression:
        missing = (cell.missing, exp.null())
        if len(cell.levels) <= FEW:
            return case([missing, *((equal(cell.value, level), i) for i, level in cell.levels)], -1)
        rows = [(level, whole(i)) for i, level in cell.levels]
        table = self.query.values(f"levels_{at}", ("level", "position"), rows)
        level, position = table.columns
        self.query.join(table, {level: cell.value})
        return case([missing, (is_present(position), position)], -1)

    def once(self, key: tuple[object, ...], value: Operand, name: str) -> Name:
        """A computed column that is computed only once for a key."""
        if key not in self._known:
            self._known[key] = self.query.let(value, name)
        return self._known[key]

    def _lacks_number(self, value: Name, number: Operand) -> exp.Expression:
        """Whether a cell is missing: NULL or NaN."""
        nan = self.query.engine.is_nan(number)
        return is_missing(value) if nan is None else either(is_missing(value), nan)

    def _level_reading(self, at: int, levels: Sequence[Hashable]) -> LevelReading:
        kinds = {_kind_of_level(level) for level in levels}
        unknown = [level for level in levels if _kind_of_level(level) is None]
        if unknown:
            raise InputError(
                f"Column {self.names[at]!r} has levels of type {type(unknown[0]).__name__}, such as "
                f"{unknown[0]!r:.80}, which SQL cannot compare. Convert the column to text, and fit again.",
                column=self.names[at],
                page=PAGE,
            )
        if "text" in kinds:
            return "text"
        if kinds == {"seconds"} or (not kinds and self.kinds[at] in ("time", "duration")):
            return "seconds"
        if "seconds" in kinds:
            return "text"
        large = any(isinstance(level, int) and abs(level) >= EXACT for level in levels)
        return "large number" if large else "number"

    def _written(self, level: Hashable, reads: LevelReading) -> str | int | float:
        """A level as a value that SQL can compare."""
        value = level.item() if isinstance(level, np.generic) else level
        if reads == "text":
            return str(value)
        if isinstance(value, date | timedelta):
            return seconds(value)
        assert isinstance(value, int | float | Decimal)
        return int(value) if reads == "large number" and value == int(value) else float(value)

    def _literal(self, value: str | int | float) -> exp.Expression:
        if isinstance(value, str):
            return text(value)
        return whole(value) if isinstance(value, int) else self.query.engine.double(value)


def _kind_of_level(level: Hashable) -> str | None:
    value = level.item() if isinstance(level, np.generic) else level
    if isinstance(value, str):
        return "text"
    if isinstance(value, bool | int | float | Decimal):
        return "number"
    return "seconds" if isinstance(value, date | timedelta) else None
