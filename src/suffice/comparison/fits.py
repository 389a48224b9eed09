"""Fit the compared models to some of the rows, and predict the others."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from sklearn.base import clone

from suffice.comparison.candidates import Candidate
from suffice.comparison.compared_rows import ComparedRows, take
from suffice.estimators.base import GenerativeClassifier
from suffice.exceptions import SufficeWarning
from suffice.model_selection import cross_val_predict
from suffice.model_selection.leave_one_out import is_additive
from suffice.numerics.types import Float, Index

__all__ = ["FAILURES", "held_out", "probabilities", "seconds_to_fit", "shortened"]

FAILURES = (ValueError, ArithmeticError)  # raised by a fit to too few rows or to a singular covariance
MIN_REASON, MAX_REASON = 30, 160  # characters


def probabilities(candidate: Candidate, data: ComparedRows, train: Index, test: Index) -> Float:
    """Return p(y | x) of the test rows (n, K) from a fit to the training rows; zero for classes without rows there."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # small samples may be singular, separable or lack a class
        model = clone(candidate.estimator).fit(take(candidate.rows, train), data.labels[train])
        probability = np.asarray(model.predict_proba(take(candidate.rows, test)), dtype=np.float64)
    out = np.zeros((len(test), len(data.classes)))
    out[:, data.classes.positions(model.classes_)] = probability
    return out


def held_out(
    candidate: Candidate, data: ComparedRows, splits: Sequence[tuple[Index, Index]], count_step: Callable[[], None]
) -> tuple[Float, list[str]]:
    """Return p(y | x) of each row from a fit without its fold (n, K), and the first warning of the model.

    Models that depend only on statistics read the rows once for all folds.
    """
    estimator = candidate.estimator
    if isinstance(estimator, GenerativeClassifier) and is_additive(estimator):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            probability = cross_val_predict(estimator, candidate.rows, data.labels, cv=splits, method="predict_proba")
        count_step()
        messages = [str(each.message) for each in caught if issubclass(each.category, SufficeWarning)]
        return np.asarray(probability, dtype=np.float64), messages[:1]
    out = np.empty((len(data), len(data.classes)))
    for train, test in splits:
        out[test] = probabilities(candidate, data, train, test)
    count_step()
    return out, []


def seconds_to_fit(candidate: Candidate, data: ComparedRows) -> float:
    """Return the time of a fit to all rows."""
    model = clone(candidate.estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        start = time.perf_counter()
        model.fit(candidate.rows, data.labels)
        return time.perf_counter() - start


def shortened(error: BaseException) -> str:
    """Return the first sentence of an error, or its part before a colon."""
    text = " ".join(str(error).split())
    first = text.split(". ")[0].rstrip(".")
    head, _, _ = first.partition(": ")
    first = head if len(head) > MIN_REASON else first
    return first if len(first) <= MAX_REASON else f"{first[: MAX_REASON - 1]}…"
