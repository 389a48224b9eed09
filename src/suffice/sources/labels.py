"""Class labels and row weights in memory, checked by scikit-learn's rules."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw
import numpy as np

from suffice import kernels
from suffice.exceptions import ClassError, InputError, listed, short
from suffice.numerics.types import Array, Codes, Float, Index
from suffice.statistics import ClassAxis
from suffice.tables.levels import is_missing
from suffice.text.strings import check_utf8, listed_cells

__all__ = [
    "check_label_count",
    "check_not_missing",
    "checked_classes",
    "declared_classes",
    "encode",
    "is_plain_labels",
    "plain_labels",
    "read_labels",
    "read_weights",
]

FIRST_LABELS = 1 << 14
FEW_LABELS = 256
INTEGERS, BOOLEANS, STRINGS = {int}, {bool}, {str}
NEVER_MISSING = frozenset({str, int, bool})  # label types that have no missing value
ACCEPTED = (str, bool, int, float, np.generic)  # types of labels; NumPy's own are checked by their dtype
FOR_SCIKIT_LEARN = NEVER_MISSING | {float, list, tuple, np.ndarray}  # its checks find what is wrong with them


def read_labels(y: object, n_rows: int, estimator: str) -> Array:
    """Labels, one for each row; ``estimator`` names the caller in messages."""
    if is_plain_labels(y, n_rows):
        return np.asarray(y)
    if y is None:
        raise InputError(f"{estimator} requires y to be passed, but the target y is None.", argument="y")
    from sklearn.utils.validation import _check_y

    y = check_not_missing(y)
    try:
        labels = _check_y(y, multi_output=False, y_numeric=False, estimator=estimator)
    except UnicodeDecodeError:
        raise _mixed_labels(y) from None
    check_label_count(n_rows, len(labels))
    return checked_classes(labels)


def check_label_count(n_rows: int, n_labels: int) -> None:
    """Raise scikit-learn's error, with its argument, unless there is one label for each row."""
    if n_labels != n_rows:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: {[n_rows, n_labels]}", argument="y"
        )


def is_plain_labels(y: object, n_rows: int) -> bool:
    """Whether scikit-learn would return y unchanged: integers, booleans or strings, one for each row."""
    return (
        type(y) is np.ndarray
        and y.shape == (n_rows,)
        and y.dtype.kind in "biuU"
        and y.flags.c_contiguous
        and y.flags.aligned
        and y.dtype.isnative
    )


def plain_labels(y: object) -> object:
    """A list of integers, of booleans or of a few strings as an array; anything else unchanged.

    >>> plain_labels([1, 0]), plain_labels(["a", 1])
    (array([1, 0]), ['a', 1])
    """
    if type(y) is not list or not y or (type(y[0]) is str and len(y) > FEW_LABELS):
        return y
    types = set(map(type, y))
    return np.array(y) if types in (INTEGERS, BOOLEANS, STRINGS) else y


def check_not_missing(y: object) -> object:
    """Return the labels as something that NumPy can convert; raise if a label is missing, naming the row."""
    try:
        check_utf8(y)
    except InputError as error:
        raise ClassError("y: ", *error.sentence, rows=error.rows, argument="y") from None
    if isinstance(y, list | tuple) and bytes in set(map(type, y)):
        _check_label_types(y)
    try:
        array = _array_of(y) if not isinstance(y, list) else None
        is_convertible = "_view" not in str(getattr(y, "dtype", ""))
    except (NotImplementedError, IndexError):  # string views in pandas, an Arrow dictionary without entries
        is_convertible = False
    if not is_convertible:
        to_pylist = getattr(y, "to_pylist", None)
        cells = to_pylist() if callable(to_pylist) else listed_cells(nw.from_native(y, series_only=True))
        y = array = np.array(cells, dtype=object)
    if array is None or array.ndim != 1 or array.dtype.kind != "O":
        array = np.array(y, dtype=object) if isinstance(y, list | tuple) and _may_hide_missing(y) else None
    if array is None or _types_of(array) <= NEVER_MISSING:
        return y
    rows = [row for row, value in enumerate(array) if is_missing(value)]
    if rows:
        raise ClassError(
            f"y has no label in row {rows[0]} ({array[rows[0]]!r}, NaN). Remove the rows without a label.",
            rows=rows,
            argument="y",
        )
    return y


def _may_hide_missing(y: Sequence[object]) -> bool:
    """Whether the labels have types that scikit-learn's checks do not understand, or that NumPy writes as texts."""
    types = set(map(type, y))
    return not types <= FOR_SCIKIT_LEARN or {str, float} <= types


def _array_of(y: object) -> Array:
    to_numpy = getattr(y, "to_numpy", None)
    try:
        return np.asarray(to_numpy() if callable(to_numpy) else y)
    except ValueError:  # an Arrow array that cannot be converted without a copy
        return np.asarray(y)


def _types_of(labels: Array) -> set[type]:
    return set(map(type, labels.tolist()))


def _are_strings(labels: Array) -> bool:
    """Whether an array of objects holds strings only."""
    return labels.dtype.kind == "O" and labels.ndim == 1 and _types_of(labels) == {str}


def checked_classes(y: Array) -> Array:
    """The labels; raises if they are not classes, such as fractional numbers."""
    # Integers and strings are always classes; the check would look at every label.
    if len(y) and y.dtype.kind not in "biuU" and not _are_strings(y):
        from sklearn.utils.multiclass import check_classification_targets

        _check_label_types(y)
        try:
            check_classification_targets(y)
        except TypeError:
            raise _mixed_labels(y) from None
    return y


def _check_label_types(y: Array | Sequence[object]) -> None:
    """Raise if a label is neither a number nor a string, or bytes are mixed with strings, which NumPy would decode."""
    if isinstance(y, np.ndarray) and (y.dtype.kind != "O" or y.ndim != 1):
        return
    wrong = next((row for row, label in enumerate(y) if not isinstance(label, ACCEPTED)), None)
    if wrong is None:
        return
    if isinstance(y[wrong], bytes):
        raise _mixed_labels(y)
    raise ClassError(
        f"Class labels must be numbers or strings, one for each row; row {wrong} has {short(y[wrong])} "
        f"({type(y[wrong]).__name__}). Convert the labels, for example with [str(label) for label in y].",
        rows=[wrong],
        argument="y",
    )


def _mixed_labels(y: object) -> ClassError:
    given = y.tolist() if isinstance(y, np.ndarray) else y
    if isinstance(given, list | tuple) and given and all(isinstance(label, bytes) for label in given):
        return ClassError(
            f"Class labels must be numbers or strings; got bytes such as {given[0]!r:.80}. Decode them: "
            "[label.decode() for label in y].",
            argument="y",
        )
    shown = listed(_of_each_type(y)[:4]) if isinstance(y, Sequence | np.ndarray) else type(y).__name__
    return ClassError(f"Class labels must have one type, all numbers or all strings; got {shown}.", argument="y")


def _of_each_type(y: Sequence[object] | Array) -> list[object]:
    """The first label of each type."""
    first: dict[type, object] = {}
    for label in y:
        first.setdefault(type(label), label)
    return list(first.values())


def declared_classes(classes: object) -> ClassAxis:
    """The axis of the classes that a user declares."""
    labels = np.asarray(classes)
    given = classes if isinstance(classes, list | tuple) else labels.tolist()  # NumPy writes ["a", nan] as texts
    infinite = labels.dtype.kind == "f" and not np.isfinite(labels).all()
    if labels.ndim != 1 or labels.dtype.kind in "cS" or infinite or any(map(is_missing, given)):
        raise ClassError(
            f"classes must be a list of labels, numbers or strings, none of them missing; got {classes!r:.80}.",
            argument="classes",
        )
    return ClassAxis.of(labels)


def read_weights(sample_weight: object, n_rows: int, *, may_be_zero: bool = False) -> Float | None:
    """Row weights as float64, None for weight one; ``may_be_zero`` allows a batch whose weights are all zero."""
    if sample_weight is None or (n_rows == 0 and np.asarray(sample_weight).shape == (0,)):
        return None
    from sklearn.utils.validation import _check_sample_weight

    rows = np.broadcast_to(0.0, (n_rows, 1))
    try:
        weights = _check_sample_weight(
            sample_weight,
            rows,
            dtype=np.float64,
            ensure_non_negative=True,
            allow_all_zero_weights=may_be_zero or n_rows == 0,
        )
    except ValueError as error:
        raise InputError(str(error), rows=_invalid_weights(sample_weight, n_rows), argument="sample_weight") from None
    return np.asarray(weights)


def _invalid_weights(sample_weight: object, n_rows: int) -> Index | None:
    """Rows whose weights are not finite numbers of at least 0; None if there are no such rows."""
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        return None
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    return bad if len(bad) and weights.shape == (n_rows,) else None


def encode(labels: Array) -> tuple[ClassAxis, Codes]:
    """The class axis of the labels, and the position of each label on it.

    Integers of a moderate range are counted, and texts are hashed, instead of sorted.

    >>> axis, codes = encode(np.array([3, 1, 3]))
    >>> axis.labels, codes
    (array([1, 3]), array([1, 0, 1]))
    """
    if labels.dtype.kind in "iu" and len(labels):
        low, high = kernels.code_range(labels) if labels.dtype == np.int64 else (int(labels.min()), int(labels.max()))
        if high - low < 1000 + 2 * len(labels) and low > -(2**62) and high < 2**62:
            offsets = labels.astype(np.int64, copy=False)
            offsets = offsets if low == 0 else offsets - low
            # The first labels often contain every class; then the others need not be counted.
            present = np.flatnonzero(np.bincount(offsets[:FIRST_LABELS]))
            if len(present) < high - low + 1:
                present = np.flatnonzero(np.bincount(offsets))
            axis = ClassAxis((present + low).astype(labels.dtype))
            if len(present) == high - low + 1:
                return axis, offsets
            code = np.zeros(high - low + 1, dtype=np.int64)
            code[present] = np.arange(len(present))
            return axis, code[offsets]
    texts = kernels.text_codes(labels) if labels.ndim == 1 else None
    if texts is not None:
        first, codes = texts
        return ClassAxis(labels[first]), codes
    axis = ClassAxis.of(labels)
    return axis, axis.positions(labels)
