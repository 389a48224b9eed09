"""Changes of a model that clients send, in the form in which the log holds them.

Rows that are learned become one Arrow table whose last columns are the labels and, if there are any, the weights. The
same table is applied, written to the log and read back from it, so a replay repeats every step exactly.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from suffice.exceptions import InputError, columns_at, counted
from suffice.learning.fitted import Fitted

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Change", "Kind", "Receipt", "check_key", "labelled_rows", "prior_of_text", "prior_text"]

Kind = Literal["learn", "unlearn", "prior"]

LONGEST_KEY = 255  # bytes
LARGEST = 1 << 30  # bytes of the rows of one change


@dataclass(frozen=True, eq=False)
class Change:
    """A change of a model.

    Parameters
    ----------
    kind : {"learn", "unlearn", "prior"}
    rows : pyarrow.Table, optional
        The rows to learn or to unlearn. Columns that the model does not know are ignored.
    labels : sequence, NumPy array or Arrow array, optional
        The class of each row.
    weights : sequence, NumPy array or Arrow array, optional
        The weight of each row; 1 by default.
    prior : str or mapping, optional
        The new class prior, as ``with_prior`` takes it.
    key : str, optional
        Names the request: a change with a key that is known is not made again.
    digest : bytes
        Tells requests of the same key apart: the digest of the body.
    """

    kind: Kind
    rows: pa.Table | None = None
    labels: Any = None
    weights: Any = None
    prior: str | Mapping[Any, float] | None = None
    key: str | None = None
    digest: bytes = b""


@dataclass(frozen=True)
class Receipt:
    """Says that a change is on disk and part of the model.

    Attributes
    ----------
    sequence : int
        Number of the change; changes are numbered from 1 without gaps.
    rows : int
        Rows that were learned or unlearned.
    version : int
        The first version of the model that has the change.
    repeated : bool
        Whether an earlier request with the same key had made the change.
    weight : float
        Weight of all rows of that version.
    """

    sequence: int
    rows: int
    version: int
    repeated: bool
    weight: float


def check_key(key: str) -> None:
    """Raise `InputError` if a key is empty or too long."""
    if not 0 < len(key.encode("utf-8", "surrogatepass")) <= LONGEST_KEY:
        raise InputError(f"A key has 1 to {LONGEST_KEY} bytes; got {key!r:.80}.", argument="key")


def labelled_rows(change: Change, fitted: Fitted) -> pa.Table:
    """The rows of a change, with the columns that the model reads, the labels, and the weights if there are any.

    Raises
    ------
    InputError
        If columns or labels are missing, or if their numbers differ.
    """
    import pyarrow as pa

    if change.rows is None or change.labels is None:
        raise InputError(f"A request to {change.kind} needs rows and their labels.", argument="labels")
    rows = _columns_read(change.rows, fitted)
    labels = _plain(_array(change.labels, "labels"))
    if not len(labels):
        raise InputError("The request holds no rows; give at least one.", argument="rows")
    _check_count("labels", len(labels), rows.num_rows)
    columns = [_plain(each) for each in rows.columns]
    kinds = _kinds(rows, fitted)
    columns = [_as_float(each) if kind == "number" else each for each, kind in zip(columns, kinds, strict=True)]
    names = [*rows.column_names, "label"]
    columns.append(labels)
    if change.weights is not None:
        weights = _array(change.weights, "weights")
        _check_count("weights", len(weights), rows.num_rows)
        try:
            columns.append(weights.cast(pa.float64()))
        except pa.ArrowException as error:
            raise InputError(f"The weights are not numbers: {error}.", argument="weights") from error
        names.append("weight")
    # Decoded columns have no nulls in their type, and no metadata of their source.
    table = pa.Table.from_arrays(columns, names=names)
    if table.nbytes > LARGEST:
        raise InputError(f"The rows take {table.nbytes:,} bytes; the limit is {LARGEST:,}. Send them in parts.")
    return table


def _columns_read(rows: pa.Table, fitted: Fitted) -> pa.Table:
    """The columns that the model reads; all columns if it knows no names."""
    layout = fitted.layout
    if layout.feature_names is None:
        return rows
    absent = fitted.reader.absent_columns(rows.column_names, layout)
    if absent:
        raise InputError(
            f"The rows have no {columns_at(absent)}, which the model was fitted with. To learn rows without values "
            "there, add the column with missing cells.",
            column=absent[0],
        )
    known = [name for name in layout.feature_names if name in rows.column_names]
    if not known:  # a model of texts reads the only column, whatever its name
        return rows
    for name in known:
        if rows.column_names.count(name) > 1:
            raise InputError(f"There are {rows.column_names.count(name)} columns {name!r}; give one.", column=name)
    return rows.select(known)


def _kinds(rows: pa.Table, fitted: Fitted) -> Sequence[str]:
    """The kind of each column in the model; empty if the number of columns differs, which is refused later."""
    schema = fitted.layout.schema
    if len(schema.names) != rows.num_columns:
        by_name = dict(zip(map(str, schema.names), schema.kinds, strict=True))
        return [by_name.get(name, "") for name in rows.column_names]
    return schema.kinds


def _array(values: Any, name: str) -> pa.ChunkedArray:
    """Values as one Arrow array."""
    import pyarrow as pa

    if isinstance(values, pa.ChunkedArray):
        return values
    try:
        return pa.chunked_array([values if isinstance(values, pa.Array) else pa.array(values)])
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"The {name} are not values of one type: {error}.", argument=name) from error


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without a dictionary, which the messages of the log cannot hold."""
    import pyarrow as pa

    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


def _as_float(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Integers as float64, unless some would change."""
    import pyarrow as pa

    if not pa.types.is_integer(column.type):
        return column
    try:
        return column.cast(pa.float64())
    except pa.ArrowInvalid:
        return column


def _check_count(name: str, n: int, n_rows: int) -> None:
    if n != n_rows:
        raise InputError(f"There are {counted(n_rows, 'row')}, but {n:,} {name}; give one for each row.", argument=name)


def prior_text(prior: str | Mapping[Any, float] | None) -> str:
    """A class prior as JSON.

    >>> prior_text({"spam": 0.25, "ham": 0.75})
    '[["spam", 0.25], ["ham", 0.75]]'
    """
    if prior is None:
        raise InputError("A change of the prior needs a prior.", argument="prior")
    try:
        return json.dumps(prior if isinstance(prior, str) else [[_plain_label(k), v] for k, v in prior.items()])
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(
            "The prior must be 'data', 'uniform', or a probability for each class.", argument="prior"
        ) from error


def _plain_label(label: Any) -> Any:
    return label.item() if hasattr(label, "item") else label


def prior_of_text(text: str) -> Any:
    """The prior that `prior_text` has written."""
    found = json.loads(text)
    return found if isinstance(found, str) else dict(map(tuple, found))
