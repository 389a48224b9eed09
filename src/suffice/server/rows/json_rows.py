"""Rows of a JSON document: strict JSON, and its cells by column.

::

    {"rows": [{"size": 1.5, "kind": "a"}, …]}      {"columns": {"size": [1.5, …], "kind": ["a", …]}}
    {"row": {"size": 1.5, "kind": "a"}}            [{"size": 1.5, "kind": "a"}, …]

A row of a model that was fitted to an array may be a list of numbers, and a row of a model of one column a bare value.
Rows to learn have their labels in a member ``labels``, or in the column of the target, and perhaps ``weights``.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NoReturn

from suffice.exceptions import did_you_mean, listed, short
from suffice.server.problems import Problem
from suffice.server.rows.row_plans import RowPlan, described
from suffice.server.settings import Limits

__all__ = ["Columns", "columns_of", "parse"]

LITERAL = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"|(-?Infinity|NaN)')
TEXT = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)
MOST_HINTS = 5  # names for which a similar one is looked up
MOST_ROWS = (
    200_000  # of a document: its rows are in memory as objects, each of which takes up to a hundred times its bytes
)
MOST_CELLS = 50_000_000
FORMS = ("rows", "columns", "row")
MEMBERS = (*FORMS, "labels", "weights")
EXAMPLE = '{"rows": [{"column": value, …}, …]}'


# ---------------------------------------------------------------------- strict JSON


def parse(body: bytes) -> Any:
    """The value of a JSON document; raises `Problem` 400 for anything that JSON does not allow.

    >>> parse(b'{"row": {"size": 1.5}}')
    {'row': {'size': 1.5}}
    """
    try:
        text = body.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Problem(400, f"The body is not UTF-8: byte {error.start:,} is wrong ({error.reason}).") from None
    _check_objects(body)
    if not text.strip():
        raise Problem(400, 'The body is empty. Send JSON such as {"rows": [{"column": 1.5}]}.')
    try:
        document = DECODER.decode(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno:,}, character {error.colno:,}"
        raise Problem(400, f"The body is not JSON: {error.msg[0].lower()}{error.msg[1:]} at {place}.") from None
    except _ConstantError:
        raise _not_json_number(text) from None
    except RecursionError:
        raise Problem(400, "The body nests lists or objects too deeply. Rows are objects of plain values.") from None
    except ValueError as error:  # Python limits the digits of a whole number
        raise Problem(400, f"The body has a number of too many digits ({str(error).split(';')[0]}).") from None
    if "\\u" in text:
        _check_surrogates(document)
    return document


def _check_objects(body: bytes) -> None:
    """Raise `Problem` 413 for a document of very many rows, before it takes memory."""
    if body.count(b"{") + body.count(b"[") > MOST_ROWS + 10:  # perhaps they are in texts
        outside = TEXT.sub(b"", body)
        if outside.count(b"{") + outside.count(b"[") > MOST_ROWS + 10:
            raise _too_many("rows", None, MOST_ROWS)


def _too_many(what: str, count: int | None, most: int) -> Problem:
    has = f"more than {most:,} {what}, the limit" if count is None else f"{count:,} {what}; the limit is {most:,}"
    return Problem(
        413,
        f"The body has {has} for JSON. Send fewer at a time, or send CSV, NDJSON, an Arrow stream or Parquet.",
        limit=most,
    )


class _ConstantError(Exception):
    """NaN or Infinity."""


def _refuse_constant(_: str) -> NoReturn:
    raise _ConstantError


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        twice = next(name for name, count in counts.items() if count > 1)
        raise Problem(400, f"An object of the body has the key {short(twice)} more than once.", column=twice)
    return found


DECODER = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_refuse_constant)


def _not_json_number(text: str) -> Problem:
    """The problem of the first NaN or Infinity outside of strings."""
    found = next(each for each in LITERAL.finditer(text) if each[1])
    line = text.count("\n", 0, found.start()) + 1
    character = found.start() - text.rfind("\n", 0, found.start())
    return Problem(
        400,
        f"The body is not JSON: {found[1]} at line {line:,}, character {character:,}. JSON has finite numbers only; "
        "null is a missing cell.",
    )


def _check_surrogates(value: Any) -> None:
    """Raise `Problem` if a text holds half of a UTF-16 surrogate pair, which is no character."""
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        raise Problem(
            400, f"A text of the body contains half of a UTF-16 surrogate pair ({error.object[error.start]!a})."
        ) from None


# ---------------------------------------------------------------------- cells by column


@dataclass
class Columns:
    """Cells by column, as a document has them.

    Attributes
    ----------
    cells : dict of str to list
        Those of the columns that the model reads, without columns that no row has.
    n_rows : int
    labels, weights : list, optional
        Of rows to learn.
    others : list of str
        Names of some columns that the model does not read.
    """

    cells: dict[str, list[Any]]
    n_rows: int
    labels: list[Any] | None = None
    weights: list[Any] | None = None
    others: Sequence[str] = ()


def columns_of(document: Any, plan: RowPlan, limits: Limits, target: str | None = None) -> Columns:
    """The cells of a document by column. ``target`` names the column of labels, for a document without ``labels``.

    Raises `Problem` 400 for a document of another form, 413 beyond the limits, and 422 for rows that have no column of
    the model.
    """
    members: Any = {"rows": document} if isinstance(document, list) else document
    if not isinstance(members, dict):
        raise Problem(400, f"The body is {described(document)}; expected an object such as {EXAMPLE}.")
    form = _form_of(members)
    given = [members["row"]] if form == "row" else members[form]
    if form == "columns":
        found = _of_columns(given, plan, limits, target)
    elif isinstance(given, list):
        check_size(len(given), plan, limits)
        found = _of_rows(given, plan, limits, target)
    else:
        raise Problem(400, f'"rows" is {described(given)}; expected a list of rows, as in {EXAMPLE}.')
    for name in ("labels", "weights"):
        if name in members:
            values = _one_for_each_row(members[name], name, found.n_rows, single=form == "row")
            if name == "labels" and found.labels is not None:
                _check_same(found.labels, values, target)
            setattr(found, name, values)
    return found


def _form_of(members: Mapping[str, Any]) -> str:
    """The member that has the rows; raises `Problem` if there is none or several, or a member without a meaning."""
    forms = [each for each in FORMS if each in members]
    if not forms:
        hint = _hint(members, MEMBERS)
        raise Problem(
            400,
            f'The document has no member "rows", "columns" or "row".{hint} Send {EXAMPLE}; a single row is '
            '{"row": {"column": value, …}}.',
        )
    if len(forms) > 1:
        raise Problem(400, f"The document has the members {listed(forms)}. Send one of them.")
    other = next((name for name in members if name not in MEMBERS), None)
    if other is not None:
        raise Problem(400, f"The document has an unknown member {short(other)}.{did_you_mean(other, MEMBERS)}")
    return forms[0]


def _hint(given: Iterable[str], known: Sequence[str]) -> str:
    """The known name that one of the first given names is similar to, as a sentence. Similarity takes time."""
    hints = (did_you_mean(name, known) for name in islice(given, MOST_HINTS))
    return next((each for each in hints if each), "")


def check_size(n_rows: int, plan: RowPlan, limits: Limits) -> None:
    """Raise `Problem` 413 beyond the limits of rows and cells."""
    n_cells = n_rows * len(plan.columns)
    for what, count, most in (("rows", n_rows, limits.rows), ("cells", n_cells, limits.cells)):
        if count > most:
            raise Problem(
                413, f"The body has {count:,} {what}; the limit is {most:,}. Send fewer at a time.", limit=most
            )
    for what, count, most in (("rows", n_rows, MOST_ROWS), ("cells", n_cells, MOST_CELLS)):
        if count > most:
            raise _too_many(what, count, most)


def check_width(n_columns: int, most: int) -> None:
    """Raise `Problem` 413 beyond the limit of columns."""
    if n_columns > most:
        raise Problem(
            413,
            f"The body has {n_columns:,} columns or more; the limit is {most:,}. Send the columns of the model only.",
            limit=most,
        )


def _one_for_each_row(value: Any, name: str, n_rows: int, *, single: bool) -> list[Any]:
    """The list of labels or weights; that of a single row may be a bare value."""
    if single and not isinstance(value, list):
        return [value]
    if not isinstance(value, list):
        raise Problem(400, f'"{name}" is {described(value)}; expected a list with one value for each row.')
    if len(value) != n_rows:
        raise Problem(422, f'"{name}" has {len(value):,} values for {n_rows:,} rows.', argument=name)
    return value


def _check_same(own: Sequence[Any], labels: Sequence[Any], target: str | None) -> None:
    """Raise `Problem` if the labels of a document differ from those in its rows."""
    row = next((i for i, (one, other) in enumerate(zip(own, labels, strict=True)) if one != other), None)
    if row is not None:
        raise Problem(
            400,
            f'"labels" and the column {short(target)} have different labels for row {row}. Send one of them.',
            row=row,
        )


def _of_rows(rows: list[Any], plan: RowPlan, limits: Limits, target: str | None) -> Columns:
    """Rows that are objects, lists, or bare values of a single column."""
    kinds = set(map(type, rows))
    if kinds <= {dict}:
        return _of_objects(rows, plan, limits, target)
    if len(plan.columns) == 1 and kinds.isdisjoint((dict, list)):
        return Columns({plan.names[0]: rows}, len(rows))
    if kinds == {list} and not plan.named:
        return _of_lists(rows, plan)
    expected = list if kinds >= {list} and not plan.named else dict
    wrong = next(i for i, row in enumerate(rows) if type(row) is not expected)
    what = "a list with one value for each column" if expected is list else 'an object, as in {"column": value, …}'
    raise Problem(422, f"Row {wrong} is {described(rows[wrong])}; expected {what}.", row=wrong)


def _of_objects(rows: list[dict[str, Any]], plan: RowPlan, limits: Limits, target: str | None) -> Columns:
    seen = set[str]().union(*rows)
    check_width(len(seen), len(plan.columns) + limits.columns)
    others = [name for name in seen - plan.known if name != target]
    if others:
        for i, row in enumerate(rows):
            if row and plan.known.isdisjoint(row):
                raise _unknown_columns(f"Row {i} has", list(row), plan, row=i)
    names = [name for name in plan.names if name in seen]
    cells = {name: [row.get(name) for row in rows] for name in names}
    labels = [row.get(target) for row in rows] if target is not None and target in seen - plan.known else None
    return Columns(cells, len(rows), labels, others=sorted(others))


def _unknown_columns(subject: str, given: Sequence[str], plan: RowPlan, row: int | None = None) -> Problem:
    """The problem of a row, or of a document, without a column of the model."""
    hint = _hint(given, plan.names)
    return Problem(
        422,
        f"{subject} none of the columns of the model: {listed(given)}.{hint} The model reads {listed(plan.names)}.",
        row=row,
        column=given[0],
    )


def _of_lists(rows: list[list[Any]], plan: RowPlan) -> Columns:
    width = len(plan.columns)
    wrong = next((i for i, row in enumerate(rows) if len(row) != width), None)
    if wrong is not None:
        raise Problem(
            422, f"Row {wrong} has {len(rows[wrong]):,} values; the model reads {width:,} columns.", row=wrong
        )
    return Columns({name: [row[j] for row in rows] for j, name in enumerate(plan.names)}, len(rows))


def _of_columns(given: Any, plan: RowPlan, limits: Limits, target: str | None) -> Columns:
    if not isinstance(given, dict):
        raise Problem(400, f'"columns" is {described(given)}; expected an object such as {{"column": [value, …], …}}.')
    check_width(len(given), len(plan.columns) + limits.columns)
    first, n_rows = "", 0
    for k, (name, cells) in enumerate(given.items()):
        if not isinstance(cells, list):
            raise Problem(
                400, f"Column {short(name)} is {described(cells)}; expected a list of its cells.", column=name
            )
        if k and len(cells) != n_rows:
            raise Problem(
                422,
                f"Column {short(name)} has {len(cells):,} cells, but column {short(first)} has {n_rows:,}.",
                column=name,
            )
        first, n_rows = (name, len(cells)) if not k else (first, n_rows)
    check_size(n_rows, plan, limits)
    known = {name: given[name] for name in plan.names if name in given}
    if not known and given:
        raise _unknown_columns("The document has", list(given), plan)
    labels = given.get(target) if target is not None and target not in plan.known else None
    others = sorted(name for name in given if name not in plan.known and name != target)
    return Columns(known, n_rows, labels, others=others)
