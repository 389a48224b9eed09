"""Predictions on the classes of a training set, as predictions on the classes of all rows."""

from __future__ import annotations

import numpy as np

from suffice.exceptions import warn_user
from suffice.numerics.types import Array
from suffice.statistics import ClassAxis

__all__ = ["METHODS", "on_all_classes", "warn_of_missing_classes"]

METHODS = ("predict", "predict_proba", "predict_log_proba")


def on_all_classes(answers: Array, method: str, classes: ClassAxis, all_classes: ClassAxis) -> Array:
    """Predictions with a column for each class of all rows; a class without training rows has probability zero.

    The logarithm of that zero is the smallest number of the type, as in scikit-learn.
    """
    if method == "predict" or len(classes) == len(all_classes):
        return answers
    absent = 0.0 if method == "predict_proba" else np.finfo(answers.dtype).min
    out = np.full((len(answers), len(all_classes)), absent, dtype=answers.dtype)
    out[:, all_classes.positions(classes.labels)] = answers
    return out


def warn_of_missing_classes(n_classes: int, n_all: int) -> None:
    """Raise scikit-learn's warning for a training set that lacks some classes."""
    if n_classes != n_all:
        warn_user(
            f"Number of classes in training fold ({n_classes}) does not match total number of classes ({n_all}). "
            "Results may not be appropriate for your use case. To fix this, use a cross-validation technique "
            "resulting in properly stratified folds",
            RuntimeWarning,
        )
