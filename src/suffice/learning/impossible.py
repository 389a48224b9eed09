"""Rows with probability zero in every class, for which Bayes' rule gives no posterior.

This happens without smoothing, if a row has a level, a word or a combination of levels that never occurred; and with
numbers so far from every class that their density is zero in float64. The setting ``impossible`` sets the result for
such rows: an error, the class prior, or NaN.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

import numpy as np

from suffice import bayes
from suffice.exceptions import (
    Argument,
    ImpossibleRowsWarning,
    InputError,
    Sentence,
    columns_at,
    did_you_mean,
    listed,
    warn_user,
)
from suffice.families import Family, Gaussian, Text
from suffice.families.capabilities import Parameters
from suffice.families.text.informative_words import word_parts
from suffice.learning.fitted import Fitted
from suffice.model import Block, Estimate
from suffice.numerics.types import Float, Index
from suffice.tables import Table
from suffice.tables.table import is_sparse

__all__ = ["Impossible", "check_impossible", "check_possible", "impossible_rows", "warn_of_impossible_rows"]

Impossible = Literal["error", "prior", "nan"]


def check_impossible(value: object) -> None:
    """Raise `InputError` unless a setting of ``impossible`` is valid."""
    if value not in get_args(Impossible):
        hint = did_you_mean(value, get_args(Impossible))
        raise InputError(f"impossible must be 'error', 'prior' or 'nan'; got {value!r}.{hint}", argument="impossible")


def impossible_rows(joint: Float) -> Index:
    """Find the rows with probability zero in every class, by log p(x, y) of the rows (n, K)."""
    return np.flatnonzero(bayes.is_impossible(joint))


def check_possible(
    fitted: Fitted, table: Table, joint: Float, numbers: Index | None = None, *, predicts: bool = True
) -> None:
    """Raise `InputError` if rows have probability zero in every class, with all these rows and the cause in the first.

    Parameters
    ----------
    joint : array of shape (n, K)
        log p(x, y) of the rows.
    numbers : array of int of shape (n,), optional
        Row numbers for the message.
    predicts : bool
        Whether the setting ``impossible`` would help.
    """
    rows = impossible_rows(joint)
    if not len(rows):
        return
    causes = _causes(fitted.estimate, table.take(rows[:1]))
    columns = {cause.column for cause in causes if cause is not None}
    column = columns.pop() if len(columns) == 1 and None not in causes else None
    error = InputError.in_row(*_problem(fitted, causes, predicts), rows=rows if numbers is None else numbers[rows])
    error.column, error.page = column, ImpossibleRowsWarning.page
    raise error


def warn_of_impossible_rows(fitted: Fitted, table: Table, rows: Index, numbers: Index | None = None) -> None:
    """Warn about rows with probability zero in every class, which got the class prior or NaN."""
    first = int(rows[0] if numbers is None else numbers[rows[0]])
    found = f"{len(rows):,} of {len(table):,} rows have" if len(table) > 1 else "The row has"
    given = "the class prior" if fitted.specification.impossible == "prior" else "NaN"
    why = _because(fitted, _causes(fitted.estimate, table.take(rows[:1])))
    warn_user(
        ImpossibleRowsWarning(
            f"{found} probability zero in every class (the first is row {first}{why}), so their probabilities are "
            f"{given}.",
            rows=rows if numbers is None else numbers[rows],
        )
    )


# ---------------------------------------------------------------------- causes


class _Cause(NamedTuple):
    """Why a row has probability zero in a class: a value, its column, and whether smoothing would prevent it."""

    value: str
    column: object
    smoothed: bool


def _causes(estimate: Estimate, row: Table) -> list[_Cause | None]:
    """The cause in each class of positive prior; None where no single block has probability zero."""
    found: list[_Cause | None] = []
    with np.errstate(over="ignore", invalid="ignore"):
        for k in np.flatnonzero(estimate.prior > 0):
            blocks = zip(estimate.blocks, estimate.parameters, strict=True)
            causes = (_cause_in_block(block, parameters, row, int(k)) for block, parameters in blocks)
            found.append(next((cause for cause in causes if cause is not None), None))
    return found


def _cause_in_block(block: Block, parameters: Parameters, row: Table, k: int) -> _Cause | None:
    """Why a row has probability zero in one block under class k; None if it has not."""
    family, names = block.family, block.names
    rows = family.check_seen(parameters, block.take(row), names)
    if isinstance(family, Text):
        words = word_parts(family, parameters, rows, 0, list_absent=True)
        at = np.flatnonzero(np.isneginf(words.parts[:, k]))
        if not len(at):
            return None
        absent = "the absence of " if words.counts[at[0]] == 0 else ""
        return _Cause(f"{absent}the word {words.words[at[0]]!r}", names[0], True)
    terms = family.terms(parameters, rows)
    if terms is None:
        scores = family.relative_log_likelihood(parameters, rows)
        at = np.arange(len(names)) if not scores[0, k] > -np.inf else np.arange(0)
    else:
        at = np.flatnonzero(~(terms[0, k] > -np.inf))[:1]
    if not len(at):
        return None
    values, columns = _cells(block, row, at), columns_at(names, at)
    column = names[int(at[0])] if len(at) == 1 else None
    return _Cause(f"{values} in {columns}", column, _is_discrete(family))


def _is_discrete(family: Family) -> bool:
    """Whether a probability of zero comes from values that a class has not had, which smoothing prevents."""
    return not family.scale_free and not isinstance(family, Gaussian)


def _cells(block: Block, row: Table, at: Sequence[int] | Index) -> str:
    """The cells of a row at some columns of a block, for a message."""
    if block.family.reads == "categories":
        coded = block.take(row)
        cells = [coded.columns[j] for j in at]
        codes = [int(cell.dense(1)[0]) for cell in cells]
        values = [cell.levels.values[code] if code >= 0 else None for cell, code in zip(cells, codes, strict=True)]
    else:
        x = row.numbers(block.columns, block.names)
        values = np.asarray(x[:, at].toarray() if is_sparse(x) else x[:, at], dtype=np.float64)[0].tolist()
        values = [int(value) if value.is_integer() and abs(value) < 1e15 else value for value in values]
    return listed(values)


def _because(fitted: Fitted, causes: Sequence[_Cause | None]) -> str:
    """The causes as part of a sentence; empty if a class has no single cause."""
    if None in causes or not causes:
        return ""
    values = [cause.value for cause in causes if cause is not None]
    if len(set(values)) == 1:
        return f", because of {values[0]}"
    labels = fitted.classes.labels[fitted.estimate.prior > 0].tolist()
    pairs = [f"{value} in class {label!r}" for value, label in zip(values, labels, strict=True)]
    more = f", and {len(pairs) - 3} more" if len(pairs) > 3 else ""
    return f", because of {', '.join(pairs[:3])}{more}"


def _problem(fitted: Fitted, causes: Sequence[_Cause | None], predicts: bool) -> Sentence:
    because = _because(fitted, causes)
    other: Sentence = ()
    if predicts and fitted.specification.has_impossible:
        other = ("; or set ", Argument("impossible", "prior"), " to predict the class prior for such rows")
    discrete = all(_is_discrete(block.family) for block in fitted.estimate.blocks)
    smoothed = all(discrete if cause is None else cause.smoothed for cause in causes)
    if smoothed and fitted.without_rows:
        zero = f"has probability zero in every class{because}. Give parameters above 0 for it, or remove the row"
        return zero, *other, "."
    if smoothed:
        return (
            f"has probability zero in every class{because}. Set ",
            Argument("estimation", "map"),
            " and ",
            Argument("smoothing"),
            " above 0",
            *other,
            ".",
        )
    return (
        f"is so far from every class that its density is zero in float64{because}. Check its values and their units, "
        "or remove the row",
        *other,
        ".",
    )
