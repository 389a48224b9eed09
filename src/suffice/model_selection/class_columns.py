"""Answers about the classes of a training set, on the classes of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from suffice.exceptions import warn_user
from suffice.statistics import ClassAxis

__all__ = ["ANSWERS", "in_places", "warn_of_classes"]

ANSWERS = ("predict", "predict_proba", "predict_log_proba")


def in_places(answers: NDArray[Any], method: str, classes: ClassAxis, all_classes: ClassAxis) -> NDArray[Any]:
    """Answers with a column for each class of all rows; what a training set does not have has probability zero.

    The logarithm of that zero is the least number there is, as scikit-learn has it.
    """
    if method == "predict" or len(classes) == len(all_classes):
        return answers
    nothing = 0.0 if method == "predict_proba" else np.finfo(answers.dtype).min
    out = np.full((len(answers), len(all_classes)), nothing, dtype=answers.dtype)
    out[:, all_classes.positions(classes.labels)] = answers
    return out


def warn_of_classes(n_classes: int, n_all: int) -> None:
    """scikit-learn's warning for a training set without some of the classes."""
    if n_classes != n_all:
        warn_user(
            f"Number of classes in training fold ({n_classes}) does not match total number of classes ({n_all}). "
            "Results may not be appropriate for your use case. To fix this, use a cross-validation technique "
            "resulting in properly stratified folds",
            RuntimeWarning,
        )
