"""Fits of compared models to some of the rows, and what they say of others."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from suffice.comparison.candidates import Candidate
from suffice.comparison.table import Labelled, take
from suffice.estimators.base import GenerativeClassifier
from suffice.exceptions import SufficeWarning
from suffice.model_selection import cross_val_predict

__all__ = ["FAILURES", "held_out", "probabilities", "seconds_to_fit", "shortened"]

Float = NDArray[np.float64]
Index = NDArray[np.intp]

FAILURES = (ValueError, ArithmeticError)  # what a fit raises that the rows are too few or too alike for
SHORTEST, LONGEST = 30, 160  # characters of a reason


def probabilities(candidate: Candidate, data: Labelled, train: Index, test: Index) -> Float:
    """p(y | x) of the test rows (n, K) by the model of the training rows; zero for classes that those lack."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a few rows may well be singular, separable or without a class
        model = clone(candidate.estimator).fit(take(candidate.rows, train), data.labels[train])
        found = np.asarray(model.predict_proba(take(candidate.rows, test)), dtype=np.float64)
    out = np.zeros((len(test), len(data.classes)))
    out[:, data.classes.positions(model.classes_)] = found
    return out


def held_out(
    candidate: Candidate, data: Labelled, splits: Sequence[tuple[Index, Index]], done: Callable[[], None]
) -> tuple[Float, list[str]]:
    """p(y | x) of each row by a model without its fold (n, K), and what the model warned of.

    Models that are made of statistics alone see the rows once, for all folds.
    """
    estimator = candidate.estimator
    if isinstance(estimator, GenerativeClassifier) and estimator._is_of_statistics():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            found = cross_val_predict(estimator, candidate.rows, data.labels, cv=splits, method="predict_proba")
        done()
        said = dict.fromkeys(str(each.message) for each in caught if issubclass(each.category, SufficeWarning))
        return np.asarray(found, dtype=np.float64), list(said)[:1]
    out = np.empty((len(data), len(data.classes)))
    for train, test in splits:
        out[test] = probabilities(candidate, data, train, test)
    done()
    return out, []


def seconds_to_fit(candidate: Candidate, data: Labelled) -> float:
    """How long a fit to all rows takes."""
    model: Any = clone(candidate.estimator)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        model.fit(candidate.rows, data.labels)
        return time.perf_counter() - began


def shortened(error: BaseException) -> str:
    """What an error says first."""
    text = " ".join(str(error).split())
    first = text.split(". ")[0].rstrip(".")
    head, _, _ = first.partition(": ")
    first = head if len(head) > SHORTEST else first
    return first if len(first) <= LONGEST else f"{first[: LONGEST - 1]}…"
