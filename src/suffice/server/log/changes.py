"""Changes of a model that clients send, in the form in which the log holds them.

Rows that are learned become one Arrow table whose last columns are the labels and, if there are any, the weights. The
same table is applied, written to the log and read back from it, so a replay repeats every step exactly.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Literal

from suffice.exceptions import InputError, columns_at, counted
from suffice.learning.fitted import Fitted

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["Change", "Kind", "Receipt", "check_key", "labelled_rows", "prior_of_text", "prior_text"]

Kind = Literal["learn", "unlearn", "prior"]

MICROSECOND = timedelta(microseconds=1)
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
    """Raise `InputError` if a key is empty or too long, or no text."""
    try:
        n_bytes = len(key.encode())
    except UnicodeEncodeError as error:
        raise InputError(
            f"The key has half of a surrogate pair at position {error.start}, which is no character. Use another key.",
            argument="key",
        ) from error
    if not 0 < n_bytes <= LONGEST_KEY:
        raise InputError(f"A key has 1 to {LONGEST_KEY} bytes; this one has {n_bytes:,}.", argument="key")


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
    labels = _plain(_array(change.labels, "labels"))
    if not len(labels):
        raise InputError("The request holds no rows; give at least one.", argument="rows")
    _check_count("labels", len(labels), change.rows.num_rows)
    given = change.rows.column_names
    read = _columns_read(given, fitted)
    kinds = _kinds([given[j] for j in read], fitted)
    columns = [_column(change.rows.column(j), kinds.get(given[j])) for j in read]
    columns.append(labels)
    names = [*(given[j] for j in read), "label"]
    if change.weights is not None:
        weights = _array(change.weights, "weights")
        _check_count("weights", len(weights), len(labels))
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


def _columns_read(given: list[str], fitted: Fitted) -> list[int]:
    """Positions of the columns that the model reads: all if it knows no names, or reads one text of any name."""
    layout = fitted.layout
    if layout.feature_names is None:
        return list(range(len(given)))
    absent = fitted.reader.absent_columns(given, layout)
    if absent:
        raise InputError(
            f"The rows have no {columns_at(absent)}, which the model was fitted with. To learn rows without values "
            "there, add the column with missing cells.",
            column=absent[0],
        )
    position = {name: j for j, name in enumerate(given)}
    known = [name for name in layout.feature_names if name in position]
    if len(position) < len(given):
        for name in known:
            if given.count(name) > 1:
                raise InputError(f"There are {given.count(name)} columns {name!r}; give one.", column=name)
    return [position[name] for name in known] or list(range(len(given)))


def _kinds(names: list[str], fitted: Fitted) -> dict[str, str]:
    """The kinds of columns in the model, by the names that the rows have."""
    schema = fitted.layout.schema
    known = names if fitted.layout.feature_names is None else map(str, schema.names)
    return dict(zip(known, schema.kinds, strict=False))


def _array(values: Any, name: str) -> pa.ChunkedArray:
    """Values as one Arrow array."""
    import pyarrow as pa

    try:
        if not isinstance(values, pa.ChunkedArray):
            values = pa.chunked_array([values if isinstance(values, pa.Array) else _arrow_array(values)])
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        raise InputError(f"The {name} are not values of one type: {error}.", argument=name) from error
    if pa.types.is_nested(values.type):
        raise InputError(f"The {name} are of type {values.type}; give one value for each row.", argument=name)
    return values


def _arrow_array(values: Any) -> pa.Array:
    """Values as an Arrow array; Arrow itself does not find the type of integers from 2**63 on."""
    import pyarrow as pa

    try:
        return pa.array(values)
    except OverflowError:
        return pa.array(values, pa.uint64())


def _column(column: pa.ChunkedArray, kind: str | None) -> pa.ChunkedArray:
    """A column as the log holds it: integers that are numbers to the model are float64, unless some would change."""
    import pyarrow as pa

    if kind == "number" and pa.types.is_integer(column.type):
        with contextlib.suppress(pa.ArrowInvalid):
            return column.cast(pa.float64())
    return _plain(column)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column without a dictionary, which the messages of the log cannot hold."""
    import pyarrow as pa

    kind = column.type
    return column.cast(kind.value_type) if pa.types.is_dictionary(kind) else column


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
        return json.dumps(prior if isinstance(prior, str) else [[_json_label(k), v] for k, v in prior.items()])
    except (AttributeError, TypeError, ValueError) as error:
        raise InputError(
            "The prior must be 'data', 'uniform', or a probability for each class.", argument="prior"
        ) from error


def _json_label(label: Any) -> Any:
    """A class label as JSON: dates, points in time and durations are objects."""
    label = label.item() if hasattr(label, "item") else label
    if isinstance(label, datetime):
        return {"time": label.isoformat()}
    if isinstance(label, date):
        return {"date": label.isoformat()}
    return {"microseconds": label // MICROSECOND} if isinstance(label, timedelta) else label


def _label_of_json(found: Any) -> Any:
    """The label that `_json_label` has written."""
    if not isinstance(found, dict):
        return found
    ((kind, value),) = found.items()
    if kind == "microseconds":
        return timedelta(microseconds=value)
    return datetime.fromisoformat(value) if kind == "time" else date.fromisoformat(value)


def prior_of_text(text: str) -> Any:
    """The prior that `prior_text` has written."""
    found = json.loads(text)
    return found if isinstance(found, str) else {_label_of_json(label): value for label, value in found}
