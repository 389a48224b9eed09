"""Rows of any kind as a table: arrays of numbers or of objects, sparse matrices, data frames."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import _check_feature_names, _check_n_features

from suffice.exceptions import InputError, listed
from suffice.sources.arrays import read_labels, read_rows, read_training
from suffice.sources.columns import ColumnTable, NoColumn, ObjectColumn
from suffice.sources.forms import ArrayForm, Form, FrameForm, SparseForm
from suffice.sources.frames import FrameColumn, as_frame, column_names, in_seconds
from suffice.tables import MatrixTable, Table
from suffice.tables.table import Schema

__all__ = ["check_kinds", "explain_table", "read_training_table", "same_kind", "table_of_rows"]

EXACT = 2**53  # beyond, whole numbers are not exact in float64


def read_training_table(
    estimator: Any, X: Any, y: Any, schema: Schema | None, left_out: Collection[Any], min_rows: int
) -> tuple[Table, NDArray[Any], Form]:
    """Rows of any kind with their labels, and the form in which rows are given back.

    Parameters
    ----------
    schema : Schema or None
        Of the rows that came first; None makes these the first.
    left_out : collection
        Columns that need not be there.
    """
    frame = as_frame(X)
    if frame is not None:
        table = _of_frame(estimator, X, frame, schema, left_out)
        _check_rows(len(table), len(table.kinds), min_rows)
        return table, read_labels(estimator, y, len(table)), FrameForm(frame.head(0).to_native())
    values = _objects(X)
    if values is not None:
        _count_columns(estimator, values, reset=schema is None)
        _check_rows(values.shape[0], values.shape[1], min_rows)
        return _of_objects(values), read_labels(estimator, y, len(values)), ArrayForm(values.dtype)
    reset = schema is None
    data, y = _exactly(read_training, estimator, _plain(X), y, reset=reset, min_rows=min_rows, sparse=True)
    dtype = getattr(X, "dtype", np.dtype(np.float64))
    form: Form = SparseForm(type(data).__name__, dtype) if issparse(data) else ArrayForm(dtype)
    return _of_matrix(X, data), y, form


def table_of_rows(estimator: Any, X: Any, schema: Schema, left_out: Collection[Any]) -> Table:
    """Rows of any kind to predict for."""
    frame = as_frame(X)
    if frame is not None:
        return _of_frame(estimator, X, frame, schema, left_out)
    values = _objects(X)
    if values is not None:
        _count_columns(estimator, values, reset=False)
        _check_rows(values.shape[0], values.shape[1], 1)
        return _of_objects(values)
    return _of_matrix(X, _exactly(read_rows, estimator, _plain(X), sparse=True))


def check_kinds(table: Table, schema: Schema) -> None:
    """Raise if a column of numbers has become one of times, or the other way round."""
    for name, before, now in zip(schema.names, schema.kinds, table.kinds, strict=True):
        if not same_kind(before, now):
            raise InputError(
                f"Column {name!r} held {_PLURAL[before]} when the model was fitted, and holds {_PLURAL[now]} from "
                "row 0 on. Convert it to the type it had then."
            )


def same_kind(a: str, b: str) -> bool:
    """Whether a column of one kind may go on as one of another: numbers and truth values, but not times and numbers."""
    return a not in _GROUP or b not in _GROUP or _GROUP[a] == _GROUP[b]


_GROUP = {"number": "number", "bool": "number", "time": "time", "duration": "duration"}
_PLURAL = {
    "number": "numbers",
    "bool": "truth values",
    "time": "times",
    "duration": "lengths of time",
    "category": "categories",
    "text": "texts",
    "empty": "nothing",
}


def explain_table(table: Table, names: Any) -> None:
    """Raise if a number of a table of columns is infinite, naming column and row."""
    if not isinstance(table, ColumnTable):
        return
    found = []
    for column, name in zip(table.columns, names, strict=True):
        if column.kind == "number":
            infinite = np.flatnonzero(np.isinf(column.numbers(name)))
            found += [(infinite, name)] if len(infinite) else []
    if found:
        _, name = min(found, key=lambda each: int(each[0][0]))
        every = np.unique(np.concatenate([each for each, _ in found]))
        raise InputError.in_row("holds infinity; expected a finite number.", rows=every, column=name)


# ---------------------------------------------------------------------- frames


def _of_frame(estimator: Any, X: Any, frame: Any, schema: Schema | None, left_out: Collection[Any]) -> Table:
    names = column_names(frame)
    if schema is None:
        _check_feature_names(estimator, X, reset=True)
        _check_n_features(estimator, X, reset=True)
        return ColumnTable(len(frame), [FrameColumn(frame.get_column(name)) for name in names], names)
    if not schema.named:
        _check_feature_names(estimator, X, reset=False)  # warns that the model knows no names
        _check_n_features(estimator, X, reset=False)
        return ColumnTable(len(frame), [FrameColumn(frame.get_column(name)) for name in names], names)
    expected, here = list(schema.names), set(names)
    missing = [name for name in expected if name not in here and name not in left_out]
    extra = sorted(here.difference(expected), key=names.index)
    if missing or extra:
        parts = [f"the frame has no column {listed(missing)}"] if missing else []
        parts += [f"{listed(extra)} was not there at fit time"] if extra else []
        raise InputError(
            "The feature names should match those that were passed during fit: "
            f"{'; '.join(parts)}. Columns may come in any order, but must be the same."
        )
    columns = [FrameColumn(frame.get_column(name)) if name in here else NoColumn(len(frame)) for name in expected]
    return ColumnTable(len(frame), columns, expected)


# ---------------------------------------------------------------------- arrays


def _of_matrix(X: Any, data: Any) -> MatrixTable:
    dtype = getattr(X, "dtype", None)
    if dtype == np.bool_:
        return MatrixTable(data, "bool")
    if dtype is not None and dtype.kind in "mM":
        return MatrixTable(data, "time" if dtype.kind == "M" else "duration")
    exact = None
    if isinstance(X, np.ndarray) and X.dtype.kind in "iu" and X.size and np.abs(data).max() >= EXACT:
        exact = X  # categories may be identifiers, of which float64 would make one of two
    return MatrixTable(data, "number", exact)


def _plain(X: Any) -> Any:
    """An array of times as seconds, and a masked one with NaN for what is masked; anything else as it is."""
    if isinstance(X, np.ma.MaskedArray) and X.dtype.kind in "biuf":
        return np.ma.filled(X.astype(np.float64 if X.dtype.kind != "f" else X.dtype), np.nan)
    return in_seconds(X) if isinstance(X, np.ndarray) and X.dtype.kind in "mM" else X


def _exactly(read: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """What the reader gives, or a sentence for a whole number that is no float64."""
    try:
        return read(*args, **options)
    except OverflowError:
        raise InputError("X holds a whole number too large for float64.") from None


def _objects(X: Any) -> NDArray[Any] | None:
    """An array whose cells are of several types, or texts, as objects; None for numbers, and for what is no table."""
    if issparse(X):
        return None
    if isinstance(X, np.ndarray):
        array = X
    elif isinstance(X, list | tuple) and X and isinstance(X[0], list | tuple | np.ndarray):
        try:
            array = np.array(X, dtype=object)  # a list of numbers and texts would become texts alone
        except ValueError:
            return None
    else:
        return None
    if array.ndim != 2 or array.dtype.kind not in "OUST":
        return None
    kinds = set(map(type, array.astype(object).flat))
    if all(issubclass(kind, int | float | np.number) and not issubclass(kind, bool) for kind in kinds):
        return None
    if any(kind.__hash__ is None for kind in kinds):
        return None  # scikit-learn's check says what is wrong
    return array


def _of_objects(values: NDArray[Any]) -> Table:
    return ColumnTable(len(values), [ObjectColumn(values[:, j].tolist()) for j in range(values.shape[1])])


def _count_columns(estimator: Any, values: NDArray[Any], *, reset: bool) -> None:
    _check_feature_names(estimator, values, reset=reset)
    _check_n_features(estimator, values, reset=reset)


def _check_rows(n_rows: int, n_columns: int, min_rows: int) -> None:
    if n_rows < min_rows:
        raise ValueError(f"Found array with {n_rows} sample(s) while a minimum of {min_rows} is required.")
    if n_columns < 1:
        raise ValueError("Found array with 0 feature(s) while a minimum of 1 is required.")
