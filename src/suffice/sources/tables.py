"""Rows of any kind as a table: arrays of numbers or of objects, sparse matrices, data frames."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import _check_feature_names, _check_n_features

from suffice.exceptions import InputError, listed
from suffice.sources.arrays import read_labels, read_rows, read_training
from suffice.sources.columns import ColumnTable, ObjectColumn
from suffice.sources.frames import as_frame, column_names, frame_of, read_frame
from suffice.statistics import CodedColumn, MatrixTable, Table

__all__ = ["Form", "explain_table", "read_training_table", "table_of_rows"]

Form = Callable[[list[Any]], Any]
"""Turns drawn columns into rows of the kind that was read."""


def read_training_table(
    estimator: Any, X: Any, y: Any, *, reset: bool, min_rows: int
) -> tuple[Table, NDArray[Any], Form | None]:
    """Rows of any kind with their labels, and the form in which rows are given back (None: an array)."""
    frame = as_frame(X)
    if frame is not None:
        table = _of_frame(estimator, X, frame, reset=reset)
        template = frame.head(0).to_native()
        _check_rows(len(table), len(table.kinds), min_rows)
        return table, read_labels(estimator, y, len(table)), partial(frame_of, template)
    values = _objects(X)
    if values is not None:
        _count_columns(estimator, values, reset=reset)
        _check_rows(*values.shape, min_rows)
        return _of_objects(values), read_labels(estimator, y, len(values)), None
    boolean = _is_boolean(X)
    data, y = read_training(estimator, X, y, reset=reset, min_rows=min_rows, sparse=True)
    form = partial(_sparse_of, type(data)) if issparse(data) else None
    return MatrixTable(data, "bool" if boolean else "number"), y, form


def table_of_rows(estimator: Any, X: Any) -> Table:
    """Rows of any kind to predict for."""
    frame = as_frame(X)
    if frame is not None:
        return _of_frame(estimator, X, frame, reset=False)
    values = _objects(X)
    if values is not None:
        _count_columns(estimator, values, reset=False)
        _check_rows(*values.shape, 1)
        return _of_objects(values)
    return MatrixTable(read_rows(estimator, X, sparse=True), "bool" if _is_boolean(X) else "number")


def explain_table(table: Table, names: Any) -> None:
    """Raise if a number of a table of columns is infinite, naming column and row."""
    if not isinstance(table, ColumnTable):
        return
    for column, name in zip(table.columns, names, strict=True):
        if column.kind == "number":
            infinite = np.isinf(column.numbers(name))
            if infinite.any():
                raise InputError(f"Column {name!r}, row {int(np.argmax(infinite))} holds infinity, which is no number.")


def _is_boolean(X: Any) -> bool:
    return bool(getattr(X, "dtype", None) == np.bool_)


def _sparse_of(kind: Any, columns: list[Any]) -> Any:
    """Drawn columns as a sparse matrix of that kind; a column that was left out is zero."""
    whole = [c.values(len(c.codes)) if isinstance(c, CodedColumn) else c for c in columns]
    n = max((len(column) for column in whole if column is not None), default=0)
    dense = [np.zeros(n) if column is None else np.asarray(column, dtype=np.float64) for column in whole]
    return kind(np.column_stack(dense))


# ---------------------------------------------------------------------- frames


def _of_frame(estimator: Any, X: Any, frame: Any, *, reset: bool) -> Table:
    names = column_names(frame)
    if reset:
        _check_feature_names(estimator, X, reset=True)
        _check_n_features(estimator, X, reset=True)
        return read_frame(frame, names)
    expected = list(getattr(estimator, "feature_names_in_", []))
    if not expected or not all(isinstance(name, str) for name in names):
        _check_feature_names(estimator, X, reset=False)  # warns that one of the two has no names
        _check_n_features(estimator, X, reset=False)
        return read_frame(frame, names)
    missing = [str(name) for name in expected if name not in names]
    extra = [str(name) for name in names if name not in expected]
    if missing or extra:
        parts = [f"the frame has no column {listed(missing)}"] if missing else []
        parts += [f"{listed(extra)} was not there at fit time"] if extra else []
        raise InputError(
            "The feature names should match those that were passed during fit: "
            f"{'; '.join(parts)}. Columns may come in any order, but must be the same."
        )
    return read_frame(frame, expected)


# ---------------------------------------------------------------------- arrays of objects


def _objects(X: Any) -> NDArray[Any] | None:
    """An array of which some cells are texts, as objects; None for anything that is numbers or no table."""
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
    if array.dtype.kind in "USTM":
        return array.astype(object)
    return array if any(isinstance(value, str) for value in array.flat) else None


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
