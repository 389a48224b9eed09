"""Parameters that a user gives in place of rows, checked one by one.

A family reads them in `Family.given` and returns a statistic whose estimate is exactly these parameters; then
everything that reads statistics works with a model that has never seen a row.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, NoReturn

import numpy as np

from suffice.exceptions import InputError, did_you_mean, listed
from suffice.numerics.types import Float
from suffice.statistics import ClassAxis
from suffice.tables.special_levels import level_key

__all__ = ["GivenTable", "LevelValues", "check_sums", "of_column"]

LEAST, LARGEST = 1e-300, 1e300  # of a square, so that sums of squares keep their digits
TOLERANCE = 1e-6  # by which shares may miss one; they are divided by their sum


class LevelValues(NamedTuple):
    """Numbers of each level and class (L, K)."""

    levels: Sequence[Any]
    values: Float


@dataclass(frozen=True, eq=False)
class GivenTable:
    """The parameters of one column, or of a block of columns that has one table.

    Attributes
    ----------
    classes : ClassAxis
    name : object
        The column, or the tuple of columns.
    parameters : mapping
        Named parameters: a number for each class (K,), or `LevelValues`.
    weight : array of shape (K,), optional
        Weight of each class where classes are pooled, above 0; equal by default.
    """

    classes: ClassAxis
    name: object
    parameters: Mapping[str, Float | LevelValues]
    weight: Float | None = None

    def numbers(
        self, name: str, *, above: float | None = None, least: float | None = None, most: float | None = None
    ) -> Float:
        """The number of each class (K,); raises `InputError` unless each is finite and in range."""
        values = self.parameters.get(name)
        if values is None or isinstance(values, LevelValues):
            known = [each for each, given in self.parameters.items() if not isinstance(given, LevelValues)]
            raise InputError(
                f"Column {self.name!r} has no parameter {name!r}.{did_you_mean(name, known)} It has "
                f"{listed(known) if known else 'no parameters with one number for each class'}.",
                column=self.name,
            )
        if values.ndim != 1:
            raise InputError(
                f"Column {self.name!r}: the {name} has shape {values.shape}; expected one number for each of the "
                f"{len(self.classes)} classes.",
                column=self.name,
            )
        for k, value in enumerate(values):
            if not np.isfinite(value):
                self.refuse(name, k, f"is {value}; expected a finite number")
            if above is not None and not value > above:
                self.refuse(name, k, f"is {value:.6g}; it must be above {above:g}{_advice(name, value)}")
            if (least is not None and value < least) or (most is not None and value > most):
                limits = f"at least {least:g}" if most is None else f"between {least or 0:g} and {most:g}"
                self.refuse(name, k, f"is {value:.6g}; it must be {limits}")
        return values

    def squares(self, name: str) -> Float:
        """The squares of the numbers of each class (K,); raises `InputError` if one is outside the range of float64."""
        values = self.numbers(name)
        with np.errstate(over="ignore", under="ignore"):
            squares = values**2
        for k in np.flatnonzero(~((squares >= LEAST) & (squares <= LARGEST)) & (values != 0)).tolist():
            self.refuse(name, k, f"is {values[k]:.6g}; its square is outside the range of float64. Rescale the column")
        return squares

    def optional(self, name: str, *, above: float | None = None) -> Float | None:
        """`numbers`, or None if the parameter is not given."""
        return self.numbers(name, above=above) if name in self.parameters else None

    def levels(self, name: str = "probability", *, signed: bool = False) -> LevelValues:
        """The levels and their numbers (L, K); raises `InputError` for duplicates and for no levels.

        Numbers are at least 0, unless they are ``signed``.
        """
        given = self.parameters.get(name)
        if not isinstance(given, LevelValues):
            raise InputError(
                f"Column {self.name!r} needs the {name} of each level in each class, such as "
                "{'red': {'a': 0.3, 'b': 0.5}, ...}.",
                column=self.name,
            )
        if not len(given.levels):
            raise InputError(f"The table of column {self.name!r} is empty; give at least one level.", column=self.name)
        wrong_level = next((level for level in given.levels if not isinstance(level, Hashable)), None)
        if wrong_level is not None:
            raise InputError(
                f"Column {self.name!r}: a level must be a string, a number, a truth value or a date; got "
                f"{wrong_level!r:.80}.",
                column=self.name,
            )
        keys = list(map(level_key, given.levels))
        if len(set(keys)) < len(keys):
            repeated = next(given.levels[i] for i, key in enumerate(keys) if key in keys[:i])
            raise InputError(f"Column {self.name!r} has the level {repeated!r} more than once.", column=self.name)
        wrong = np.argwhere(~(np.isfinite(given.values) & (signed | (given.values >= 0))))
        if len(wrong):
            i, k = wrong[0]
            limits = "a finite number" if signed else "at least 0"
            self.refuse(f"{name} of {given.levels[i]!r}", int(k), f"is {given.values[i, k]}; it must be {limits}")
        return given

    def refuse(self, name: str, k: int, problem: str) -> NoReturn:
        """Raise `InputError` for a parameter of class k."""
        raise InputError(
            f"Column {self.name!r}: the {name} of class {self.classes.label(k)!r} {problem}.", column=self.name
        )


def check_sums(table: GivenTable, what: str, sums: Float) -> Float:
    """The sums of shares in each class (K,); raises `InputError` unless they are one, up to 1e-6."""
    off = np.abs(sums - 1.0)
    if not (off <= TOLERANCE).all():
        k = int(np.argmax(off > TOLERANCE))
        raise InputError(
            f"Column {table.name!r}: the {what} of class {table.classes.label(k)!r} sum to {sums[k]:.9g}; expected 1. "
            "Divide them by their sum, or add what is missing.",
            column=table.name,
        )
    return sums


def of_column(values: Float) -> Float:
    """Numbers of classes (K,) as those of one column (K, 1)."""
    return np.ascontiguousarray(values[:, None])


def _advice(name: str, value: float) -> str:
    constant = name.startswith(("deviation", "variance")) and value == 0
    return ", because a constant column has no density. Leave the column out" if constant else ""
