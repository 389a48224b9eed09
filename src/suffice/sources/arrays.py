"""Rows from arrays and eager data frames, read by scikit-learn's rules.

X is not searched for NaN and infinity here: the kernels meet every value anyway and their results show
it, so that one read of the data is enough. `explain_values` then says what was wrong, and where.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, assert_all_finite, validate_data

from suffice.exceptions import ClassError, listed
from suffice.statistics import ClassAxis

__all__ = ["encode", "explain_values", "read_rows", "read_training", "read_weights"]

Float = NDArray[np.float64]
Codes = NDArray[np.int64]
ROWS: dict[str, Any] = {"dtype": [np.float64, np.float32], "ensure_all_finite": False}


def read_rows(estimator: Any, X: Any) -> Float:
    """Rows to predict for, checked against what the estimator was fitted on."""
    return np.asarray(validate_data(estimator, X, reset=False, **ROWS))


def read_training(estimator: Any, X: Any, y: Any, *, reset: bool, min_rows: int = 1) -> tuple[Float, NDArray[Any]]:
    """Rows and their labels. ``reset`` makes these columns the ones that the estimator expects."""
    X, y = validate_data(estimator, X, y, reset=reset, ensure_min_samples=min_rows, **ROWS)
    # Whole numbers and texts are always classes; the check looks at every label.
    if len(y) and y.dtype.kind not in "biuU":
        try:
            check_classification_targets(y)
        except TypeError:
            raise ClassError(
                f"Class labels must be of one type, all numbers or all strings; got {listed(y[:4].tolist())}."
            ) from None
    return X, y


def read_weights(sample_weight: Any, X: Float) -> Float | None:
    """Row weights as float64, or None for weight one."""
    if sample_weight is None:
        return None
    weights = _check_sample_weight(
        sample_weight, X, dtype=np.float64, ensure_non_negative=True, allow_all_zero_weights=len(X) == 0
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
        low, high = int(labels.min()), int(labels.max())
        if high - low < 1000 + 2 * len(labels) and low > -(2**62) and high < 2**62:
            place = labels.astype(np.int64, copy=False)
            place = place if low == 0 else place - low
            present = np.flatnonzero(np.bincount(place))
            axis = ClassAxis((present + low).astype(labels.dtype))
            if len(present) == high - low + 1:
                return axis, place
            code = np.zeros(high - low + 1, dtype=np.int64)
            code[present] = np.arange(len(present))
            return axis, code[place]
    axis = ClassAxis.of(labels)
    return axis, axis.positions(labels)


def explain_values(estimator: Any, X: Float, *, allow_nan: bool) -> None:
    """Raise scikit-learn's error if X holds NaN (where it may not) or infinity."""
    with np.errstate(over="ignore", invalid="ignore"):
        assert_all_finite(X, allow_nan=allow_nan, estimator_name=type(estimator).__name__, input_name="X")
