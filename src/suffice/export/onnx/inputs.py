"""The inputs of a graph: one for each column of a table, or one matrix."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from suffice.exceptions import Argument, InputError
from suffice.export.onnx.graph import Graph, Kind, Value
from suffice.export.onnx.operations import as_number, concatenated, n_rows, select, taken
from suffice.families.formula import WordReading, Words
from suffice.learning.fitted import Fitted
from suffice.learning.scoring_rule import ScoredColumn, ScoringRule, column_levels

__all__ = ["Inputs", "check_unicode", "level_text", "made_inputs", "reads_matrix"]

MATRIX = "X"
CELLS = {
    "number": "numbers",
    "levels": "numbers",
    "yes_no": "0 or 1",
    "time": "seconds since 1970-01-01 00:00 UTC",
    "duration": "seconds",
}


@dataclass(eq=False)
class Inputs:
    """The cells of the columns that a model reads.

    Attributes
    ----------
    rows : Value
        Number of rows, of shape (1,).
    missing : str
        Text of a missing cell in columns of texts.
    words : dict
        The words of a column of documents (n, W), by its position and how they are read.
    texts : set of int
        Positions of the columns whose cells are texts.
    single : set of int
        Positions of the columns whose numbers come as float32.
    described : dict
        What to pass to each input: values for JSON, by its name.
    """

    graph: Graph
    rows: Value
    missing: str
    texts: set[int]
    single: set[int]
    matrix: Value | None
    width: int
    cells: dict[int, Value] = field(default_factory=dict)
    words: dict[tuple[int, WordReading], Value] = field(default_factory=dict)
    described: dict[str, dict[str, Any]] = field(default_factory=dict)

    def cell(self, position: int) -> Value:
        """A column of numbers or texts (n, 1)."""
        if position not in self.cells:
            assert self.matrix is not None
            at = np.array([position])
            self.cells[position] = taken(self.graph, self.matrix, at, axis=1, kind=self.matrix.kind)
        return self.cells[position]

    def numbers(self, positions: Sequence[int]) -> Value:
        """Columns of numbers as a matrix (n, d)."""
        if self.matrix is not None:
            return select(self.matrix, positions, self.width)
        return concatenated([self.cell(at) for at in positions], 1)


def made_inputs(graph: Graph, fitted: Fitted, rule: ScoringRule, missing: str, single: set[int]) -> Inputs:
    """Add the inputs of a model to a graph.

    Columns with names have an input each, of shape (n, 1). Other columns are one matrix ``X``, if all are numbers or
    all are texts. Numbers are float64, or float32 in the columns ``single``.
    """
    texts = {column.position for column in rule.columns if _is_text(rule, column)}
    _check_marker(rule, texts, missing)
    width, described = fitted.layout.n_columns, dict[str, dict[str, Any]]()
    if reads_matrix(fitted, rule):
        kind: Kind = "single" if single else "number"
        given = graph.input(MATRIX, kind, [None, width], f"The {width} columns, in order. {NUMBERS}")
        described[MATRIX] = {"columns": width, "cells": "numbers"}
        return Inputs(graph, n_rows(given), missing, texts, single, as_number(given), width, described=described)
    if not _is_named(fitted) and len(texts) == width and not any(column.kind == "text" for column in rule.columns):
        given = graph.input(MATRIX, "text", [None, width], f"The {width} columns, in order. {_texts(missing)}")
        described[MATRIX] = {"columns": width, "cells": "texts"}
        return Inputs(graph, n_rows(given), missing, texts, set(), given, width, described=described)
    cells, words, first = dict[int, Value](), dict[tuple[int, WordReading], Value](), None
    every = [(column, reading) for column in rule.columns for reading in _readings(rule, column)]
    names = _input_names([column for column, _ in every])
    graph.reserve(names)
    for (column, reading), name in zip(every, names, strict=True):
        at, kind = column.position, "text" if column.position in texts else "number"
        described[name] = _described(column, reading, is_text=at in texts)
        sentence = _sentence(column, described[name]["cells"], missing)
        if reading is not None:
            given = words[at, reading] = graph.input(name, "text", [None, None], sentence)
        else:
            given = graph.input(name, "single" if at in single - texts else kind, [None, 1], sentence)
            cells[at] = given if at in texts else as_number(given)
        first = given if first is None else first
    if first is None:
        raise InputError("The model reads no column, so a graph would have no input.")
    return Inputs(graph, n_rows(first), missing, texts, single, None, width, cells, words, described)


def _readings(rule: ScoringRule, column: ScoredColumn) -> list[WordReading | None]:
    """The ways in which the words of a column of documents are read; None for another column."""
    own = [block for block in rule.blocks if column.position in block.positions]
    if column.kind != "text":
        return [None]
    used = [block for block in own if block.weights is None or block.weights.any()] or own[:1]
    return list(dict.fromkeys(block.formula.block.reading for block in used if isinstance(block.formula.block, Words)))


def reads_matrix(fitted: Fitted, rule: ScoringRule) -> bool:
    """Whether the input is a matrix of numbers."""
    return not _is_named(fitted) and not any(_is_text(rule, column) for column in rule.columns)


def _is_named(fitted: Fitted) -> bool:
    return fitted.layout.schema.named or fitted.layout.feature_names is not None


def _input_names(columns: Sequence[ScoredColumn]) -> list[str]:
    """Names of the inputs: those of the columns as texts, and a number if a column has several inputs."""
    names: list[str] = []
    known = {str(column.name) for column in columns}
    for i, column in enumerate(columns):
        name = str(column.name)
        check_unicode(name, "The name of a column")
        if not name:
            raise InputError(
                "A column has the empty text as its name, which an input of a graph cannot have. Rename the column and "
                "fit the model again.",
                column=column.name,
            )
        if any(str(other.name) == name and other is not column for other in columns[:i]):
            raise InputError(
                f"Several columns have the name {name!r} as a text, so the inputs of a graph could not be told apart. "
                "Rename them and fit the model again.",
                column=column.name,
            )
        number = 1
        while name in names or (number > 1 and name in known):
            number += 1
            name = f"{column.name}_{number}"
        names.append(name)
    return names


# ---------------------------------------------------------------------- descriptions


NUMBERS = "NaN is a missing cell."


def _texts(missing: str) -> str:
    return f"Cells are texts; {missing!r} is a missing cell."


def _described(column: ScoredColumn, reading: WordReading | None, *, is_text: bool) -> dict[str, Any]:
    """What to pass to the input of a column, and how words are found in its texts."""
    if reading is not None:
        words = {name: value for name, value in asdict(reading).items() if name != "combining"}
        return {"column": str(column.name), "cells": "words", "reading": words}
    return {"column": str(column.name), "cells": "texts" if is_text else CELLS[column.kind]}


def _sentence(column: ScoredColumn, cells: str, missing: str) -> str:
    about = f"The column {str(column.name)!r}."
    if cells == "words":
        absent = "A missing text has no words." if missing == "" else f"A missing text has the only word {missing!r}."
        return (
            f"{about} Each row has the words of a text, with repetitions and in any order, and empty strings up to the "
            f"length of the longest row. {absent} The metadata say how words are found."
        )
    return f"{about} {_texts(missing)}" if cells == "texts" else f"{about} Cells are {cells}. {NUMBERS}"


def check_unicode(text: str, what: str) -> None:
    """Raise `InputError` if a text cannot be encoded: it has half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what}, {text!r}, is not valid Unicode, so a graph cannot hold it. Replace it.") from None


# ---------------------------------------------------------------------- columns of texts


def _is_text(rule: ScoringRule, column: ScoredColumn) -> bool:
    """Whether the cells of a column are texts: a document, or a level that is not a number that float64 can hold."""
    if column.kind == "text":
        return True
    levels = [level for each in column_levels(rule, column.position) for level in each]
    return any(not _is_number(level) for level in levels)


def _is_number(level: Hashable) -> bool:
    """Whether a level is a number that float64 can hold."""
    if isinstance(level, bool | np.bool_ | float | np.floating):
        return True
    try:
        return isinstance(level, int | np.integer) and float(level) == int(level)
    except OverflowError:
        return False


def level_text(level: Hashable) -> str:
    """A level in a column of texts."""
    return str(level.item() if isinstance(level, np.generic) else level)


def _check_marker(rule: ScoringRule, texts: set[int], missing: str) -> None:
    """Raise `InputError` if a level has the text of missing cells, or if two levels have the same text."""
    for column in rule.columns:
        if column.position not in texts or column.kind == "text":
            continue
        for levels in column_levels(rule, column.position):
            names = [level_text(level) for level in levels]
            if missing in names:
                raise InputError(
                    f"Column {column.name!r} has the level {missing!r}, which stands for a missing cell in the graph. "
                    "Choose another text for missing cells: ",
                    Argument("missing", "<missing>"),
                    ".",
                    column=column.name,
                    argument="missing",
                )
            if len(set(names)) < len(names):
                same = next(name for name in names if names.count(name) > 1)
                raise InputError(
                    f"Column {column.name!r} has different levels with the text {same!r}, which a graph cannot tell "
                    "apart. Convert the column to one type and fit the model again.",
                    column=column.name,
                )
