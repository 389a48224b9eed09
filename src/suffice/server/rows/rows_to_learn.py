"""Rows with labels in request bodies, to learn or to unlearn. They are read whole."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from suffice.exceptions import InputError, short, without_warnings
from suffice.learning.fitted import Fitted
from suffice.server.problems import Problem
from suffice.server.rows.answers import text_of
from suffice.server.rows.bodies import TABLES, Form
from suffice.server.rows.body_tables import columns_to_predict, good_batches, open_body
from suffice.server.rows.class_labels import class_to_learn, classes_of_rows, written_classes
from suffice.server.rows.json_rows import columns_of, parse
from suffice.server.rows.row_plans import numbers, plan_of, table_of
from suffice.server.rows.table_streams import WholeBody
from suffice.server.settings import Limits
from suffice.sources.engine_types import ArrowTable
from suffice.statistics import ClassAxis

__all__ = ["RowsToLearn", "rows_to_learn"]

LABEL = "label"  # the column of labels of a model that does not know its name


@dataclass(frozen=True, eq=False)
class RowsToLearn:
    """Rows with labels.

    Attributes
    ----------
    rows : pyarrow.Table
        The columns that the model reads.
    labels : list
        The class of each row.
    weights : list of float, optional
    """

    rows: ArrowTable
    labels: list[Any]
    weights: list[float] | None


async def rows_to_learn(
    fitted: Fitted,
    form: Form,
    body: bytes,
    limits: Limits,
    *,
    target: str | None = None,
    label: str | None = None,
    weights: str | None = None,
    new_classes: bool = False,
    classes: ClassAxis | None = None,
) -> RowsToLearn:
    """Read rows with labels; raises `Problem` or `SufficeError`.

    Parameters
    ----------
    fitted : Fitted
    form : str
        Form of the body.
    body : bytes
    limits : Limits
    target : str, optional
        The column of labels of a table or of rows in JSON; by default that of the model, or `label`.
    label : str, optional
        The class of all rows, such as that of one text or mail.
    weights : str, optional
        The column of weights of a table.
    new_classes : bool
        Whether a label may be none of the classes of the model.
    classes : ClassAxis, optional
        The classes of the model; by default those that it has now.
    """
    column = fitted.target if target is None else target
    if column is None and LABEL not in plan_of(fitted).known:
        column = LABEL
    known = fitted.classes if classes is None else classes

    def read() -> RowsToLearn:
        with without_warnings():
            rows, labels, of_rows = _read(fitted, body, form, limits, column, label, weights)
        if label is not None:
            if labels is not None:
                raise _labelled_twice("labels of their own")
            is_name = bool(label) and label == label.strip()  # otherwise it is a slip, not a new class
            labels = [class_to_learn(known, label, new_classes=new_classes and is_name)] * rows.num_rows
        if labels is None:
            raise _without_labels(fitted, form, column)
        labels = classes_of_rows(known, labels, new_classes=new_classes)
        return RowsToLearn(rows, labels, _checked_weights(of_rows))

    return await asyncio.to_thread(read)


def _read(
    fitted: Fitted, body: bytes, form: Form, limits: Limits, target: str | None, label: str | None, weights: str | None
) -> tuple[ArrowTable, list[Any] | None, Sequence[Any] | None]:
    """Rows, labels and weights of a body."""
    plan = plan_of(fitted)
    if form in TABLES:
        file = WholeBody(body)
        try:
            return _of_table(fitted, file, form, limits, target, label, weights)
        except Exception:
            if file.failure is not None:
                raise file.failure from None
            raise
    if form == "json":
        found = columns_of(parse(body), plan, limits, target)
        return table_of(plan, found.cells, found.n_rows, found.others), found.labels, found.weights
    return table_of(plan, {plan.names[0]: [text_of(fitted, body, form)]}, 1), None, None


def _of_table(
    fitted: Fitted,
    file: WholeBody,
    form: Form,
    limits: Limits,
    target: str | None,
    label: str | None,
    weights: str | None,
) -> tuple[ArrowTable, list[Any] | None, list[Any] | None]:
    import pyarrow as pa

    source = open_body(fitted, file, form, limits)
    if label is not None:
        if target in source.names:
            raise _labelled_twice(f"the column {short(target)}")
        target = None
    elif target is None or (target == LABEL and LABEL not in source.names and fitted.target is None):
        raise _without_labels(fitted, form, None)
    besides = [name for name in (target, weights) if name is not None]
    for name in besides:
        source.check_column(name)
    if weights is not None:
        source.read_numbers([weights])
    read = columns_to_predict(fitted, source, besides, target)
    batches = list(good_batches(fitted, source, limits, read, lambda rows: rows, besides))
    if not batches:
        batches = [source.no_rows([*read.names, *besides])]
    table = pa.concat_tables(batches)
    labels = None if target is None else table[target].to_pylist()
    of_rows = None if weights is None else table[weights].to_pylist()
    return table.drop_columns(besides), labels, of_rows


def _labelled_twice(what: str) -> Problem:
    return Problem(400, f"The rows have {what}. Leave out ?label= in the address.")


def _without_labels(fitted: Fitted, form: Form, target: str | None) -> Problem:
    if form in ("text", "mail"):
        labels = written_classes(fitted.classes)
        return Problem(400, f"The text has no label. Add ?label= to the address, with one of the classes {labels}.")
    if form == "json":
        column = "" if target is None else f", or the column {short(target)} in each row"
        return Problem(400, f'The rows have no labels. Add a member "labels" with one label for each row{column}.')
    return Problem(
        400,
        "The column of labels is not known. Name it in the address, as in ?target=kind; the default is 'label'.",
    )


def _checked_weights(weights: Sequence[Any] | None) -> list[float] | None:
    """Row weights: finite numbers of at least 0."""
    if weights is None:
        return None
    found: list[float] = numbers(weights, "weights").tolist()
    wrong = [i for i, each in enumerate(found) if not each >= 0]
    if wrong:
        raise InputError.in_row("has no weight of at least 0.", rows=wrong, column="weights")
    return found
