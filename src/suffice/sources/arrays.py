"""Rows from arrays and eager data frames, read by scikit-learn's rules.

X is not searched for NaN and infinity here: the kernels meet every value anyway and their results show
it, so that one read of the data is enough. `explain_values` then says what was wrong, and where.

Of a plain NumPy array scikit-learn's rules ask little, and asking takes longer than fitting a small table:
`_plain_rows` and `_plain_labels` say whether an array is what they would return, or whole numbers that they would
convert. Everything else, and all that is wrong, is theirs.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _check_y, assert_all_finite, validate_data

from suffice import kernels
from suffice.exceptions import ClassError, InputError, listed
from suffice.sources.named_rows import NamedRows
from suffice.statistics import ClassAxis
from suffice.tables.levels import is_missing
from suffice.tables.sparse_cells import cell_columns, cell_rows, is_canonical

__all__ = ["canonical", "encode", "explain_values", "read_labels", "read_rows", "read_training", "read_weights"]

Float = NDArray[np.float64]
Codes = NDArray[np.int64]
FORMATS = ("csr", "csc")
FIRST_LABELS = 1 << 14
NEVER_MISSING = frozenset({str, int, bool})  # types of labels, none of which stands for "no label"
ROWS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}
NUMBERS = (np.dtype(np.float64), np.dtype(np.float32))


def check_numbers(X: Any) -> None:
    """Raise scikit-learn's error for an array of texts, which NumPy would read as numbers."""
    if isinstance(X, np.ndarray) and X.dtype.kind in "US":
        raise ValueError(
            "dtype='numeric' is not compatible with arrays of bytes/strings. Convert your data to numeric values "
            "explicitly instead."
        )


def _types(X: Any, *, whole: bool) -> dict[str, Any]:
    """How rows are read: as float64 or float32; whole numbers as they are, if those are asked for."""
    if whole and isinstance(X, np.ndarray) and X.dtype.kind in "iu":
        return ROWS | {"dtype": [X.dtype]}
    return ROWS


def read_rows(estimator: Any, X: Any, *, sparse: bool = False, whole: bool = False) -> Any:
    """Rows to predict for, checked against what the estimator was fitted on; ``whole`` numbers stay so."""
    if _plain_rows(X, 1) and _same_columns(estimator, X):
        return _as_numbers(X, whole=whole)
    if isinstance(X, NamedRows):
        return X.read(estimator, reset=False)
    check_numbers(X)
    how = _types(X, whole=whole)
    return canonical(validate_data(estimator, X, reset=False, accept_sparse=FORMATS if sparse else False, **how))


def read_training(
    estimator: Any, X: Any, y: Any, *, reset: bool, min_rows: int = 1, sparse: bool = False, whole: bool = False
) -> tuple[Any, NDArray[Any]]:
    """Rows and their labels. ``reset`` makes these columns the ones that the estimator expects."""
    if _plain_rows(X, min_rows) and _plain_labels(y, len(X)) and (reset or _same_columns(estimator, X)):
        if reset:
            estimator.__dict__.pop("feature_names_in_", None)
            estimator.n_features_in_ = X.shape[1]
        return _as_numbers(X, whole=whole), y
    if isinstance(X, NamedRows):
        return X.read(estimator, reset=reset), y
    accept = FORMATS if sparse else False
    check_numbers(X)
    check_labels(y)
    how = _types(X, whole=whole)
    X, y = validate_data(estimator, X, y, reset=reset, ensure_min_samples=min_rows, accept_sparse=accept, **how)
    return canonical(X), classes_checked(y)


def _plain_rows(X: Any, min_rows: int) -> bool:
    """Whether nothing is to be said of X: a matrix of numbers that are not objects, with enough rows."""
    if type(X) is not np.ndarray or X.ndim != 2 or len(X) < min_rows or X.shape[1] == 0:
        return False
    return X.dtype in NUMBERS or X.dtype.kind in "biu"


def _as_numbers(X: NDArray[Any], *, whole: bool) -> NDArray[Any]:
    """X as it is, or whole numbers and truth values as float64; ``whole`` numbers stay so."""
    return X if X.dtype in NUMBERS or (whole and X.dtype.kind in "iu") else X.astype(np.float64)


def _plain_labels(y: Any, n_rows: int) -> bool:
    """Whether scikit-learn would return y as it is: whole numbers, truth values or texts, one for each row."""
    return (
        type(y) is np.ndarray
        and y.shape == (n_rows,)
        and y.dtype.kind in "biuU"
        and y.flags.c_contiguous
        and y.flags.aligned
        and y.dtype.isnative
    )


def _same_columns(estimator: Any, X: Any) -> bool:
    """Whether an array has the columns that the estimator expects, and those have no names to miss."""
    known = estimator.__dict__
    return known.get("n_features_in_") == X.shape[1] and "feature_names_in_" not in known


def canonical(X: Any) -> Any:
    """The matrix with each cell stored once."""
    if issparse(X) and not is_canonical(X):
        X = X.copy()
        X.sum_duplicates()
    return X


def read_labels(estimator: Any, y: Any, n_rows: int) -> NDArray[Any]:
    """Labels, one for each row."""
    if _plain_labels(y, n_rows):
        return np.asarray(y)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    check_labels(y)
    y = _check_y(y, multi_output=False, y_numeric=False, estimator=estimator)
    if len(y) != n_rows:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: {[n_rows, len(y)]}")
    return classes_checked(y)


def check_labels(y: Any) -> None:
    """Raise if a label is missing, naming the row."""
    array = _array_of(y) if not isinstance(y, list) else None
    if array is None or array.ndim != 1 or array.dtype.kind != "O":
        array = np.array(y, dtype=object) if isinstance(y, list) and any(value is None for value in y) else None
    if array is not None and not _types_of(array) <= NEVER_MISSING:
        for row, value in enumerate(array):
            if is_missing(value):
                raise ClassError(f"y holds no label in row {row} ({value!r}, NaN). Leave out the rows without a label.")


def _array_of(y: Any) -> NDArray[Any]:
    values = getattr(y, "to_numpy", None)
    try:
        return np.asarray(values() if callable(values) else y)
    except ValueError:  # an array of Arrow whose values cannot be had without a copy
        return np.asarray(y)


def _types_of(labels: NDArray[Any]) -> set[type]:
    """The types of the objects in an array."""
    return set(map(type, labels.tolist()))


def _are_texts(labels: NDArray[Any]) -> bool:
    """Whether all labels of an array of objects are texts."""
    return labels.dtype.kind == "O" and labels.ndim == 1 and _types_of(labels) == {str}


def classes_checked(y: NDArray[Any]) -> NDArray[Any]:
    """The labels, unless they are not classes."""
    # Whole numbers and texts are always classes; the check looks at every label.
    if len(y) and y.dtype.kind not in "biuU" and not _are_texts(y):
        try:
            check_classification_targets(y)
        except TypeError:
            raise ClassError(
                f"Class labels must be of one type, all numbers or all strings; got {listed(y[:4].tolist())}."
            ) from None
    return y


def read_weights(sample_weight: Any, n_rows: int, *, may_be_zero: bool = False) -> Float | None:
    """Row weights as float64, or None for weight one; all of them zero if that is allowed, as in a stream."""
    if sample_weight is None or (n_rows == 0 and np.shape(sample_weight) == (0,)):
        return None
    rows = np.broadcast_to(0.0, (n_rows, 1))
    weights = _check_sample_weight(
        sample_weight,
        rows,
        dtype=np.float64,
        ensure_non_negative=True,
        allow_all_zero_weights=may_be_zero or n_rows == 0,
    )
    return np.asarray(weights)


def encode(labels: NDArray[Any]) -> tuple[ClassAxis, Codes]:
    """The axis of the labels, and each label's position on it.

    Whole numbers of a moderate range are counted instead of sorted.

    >>> axis, codes = encode(np.array([3, 1, 3]))
    >>> axis.labels, codes
    (array([1, 3]), array([1, 0, 1]))
    """
    if labels.dtype.kind in "iu" and len(labels):
        low, high = kernels.code_range(labels) if labels.dtype == np.int64 else (int(labels.min()), int(labels.max()))
        if high - low < 1000 + 2 * len(labels) and low > -(2**62) and high < 2**62:
            place = labels.astype(np.int64, copy=False)
            place = place if low == 0 else place - low
            # The first labels often have every class, and then there is no need to count them all.
            present = np.flatnonzero(np.bincount(place[:FIRST_LABELS]))
            if len(present) < high - low + 1:
                present = np.flatnonzero(np.bincount(place))
            axis = ClassAxis((present + low).astype(labels.dtype))
            if len(present) == high - low + 1:
                return axis, place
            code = np.zeros(high - low + 1, dtype=np.int64)
            code[present] = np.arange(len(present))
            return axis, code[place]
    if _are_texts(labels):  # hashed, since sorting objects compares them one by one
        values = labels.tolist()
        axis = ClassAxis(np.array(sorted(set(values)), dtype=object))
        at = {label: i for i, label in enumerate(axis.labels.tolist())}
        return axis, np.fromiter(map(at.__getitem__, values), dtype=np.int64, count=len(values))
    axis = ClassAxis.of(labels)
    return axis, axis.positions(labels)


def explain_values(estimator: Any, X: Float, *, allow_nan: bool) -> None:
    """Raise scikit-learn's error if X holds NaN (where it may not) or infinity, with column and row."""
    with np.errstate(over="ignore", invalid="ignore"):
        try:
            assert_all_finite(X, allow_nan=allow_nan, estimator_name=type(estimator).__name__, input_name="X")
        except ValueError as error:
            column, rows = _not_finite(estimator, X, allow_nan=allow_nan)
            raise InputError(f"Column {column!r}, row {rows[0]}: {error}", rows=rows, column=column) from None


def _not_finite(estimator: Any, X: Any, *, allow_nan: bool) -> tuple[object, NDArray[Any]]:
    """The column of the first invalid value, and all rows with one."""
    bad = np.isinf if allow_nan else lambda values: ~np.isfinite(values)
    if issparse(X):
        at = np.flatnonzero(bad(X.data))
        rows = cell_rows(X)[at]
        column = int(cell_columns(X)[at[0]])
    else:
        rows, columns = np.nonzero(bad(X))
        column = int(columns[0])
    names = getattr(estimator, "feature_names_in_", range(X.shape[1]))
    return names[column], np.unique(rows)
