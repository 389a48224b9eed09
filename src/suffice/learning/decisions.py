"""Decisions by thresholds or costs instead of the largest probability.

The decision that costs least on average is the class j with the smallest Σ_i p(y = i | x) cost(i, j), where i is the
true class and j the predicted one. If all errors cost the same, it is the most probable class.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from suffice.exceptions import Argument, ClassError, InputError, SufficeWarning, warn_user
from suffice.numerics.types import Codes, Float, Index
from suffice.statistics import ClassAxis

if TYPE_CHECKING:
    from suffice.learning.fitted import Fitted

__all__ = ["Costs", "Thresholds", "cost_matrix", "decide", "least_cost", "over_threshold", "warn_about_thresholds"]

Costs = Mapping[tuple[Hashable, Hashable], float]
"""Cost of an error by (true class, predicted class)."""
Thresholds = Mapping[Hashable, float]
"""Probability from which a class is predicted."""


def decide(
    probabilities: Float, classes: ClassAxis, costs: Costs | None = None, thresholds: Thresholds | None = None
) -> Codes:
    """Class of each row (n,), by its posterior probabilities (n, K) and by costs or thresholds.

    >>> decide(np.array([[0.7, 0.3]]), ClassAxis.of(["ham", "spam"]), thresholds={"spam": 0.2})
    array([1])
    """
    if costs is not None and thresholds is not None:
        raise InputError(Argument("costs"), " and ", Argument("thresholds"), " exclude each other. Set one of them.")
    if costs is not None:
        return least_cost(probabilities, cost_matrix(classes, costs))
    if thresholds is not None:
        return over_threshold(probabilities, _threshold_array(classes, thresholds))
    return _codes(probabilities.argmax(axis=1))


def warn_about_thresholds(fitted: Fitted, thresholds: Thresholds | None) -> None:
    """Warn about thresholds that no row can reach, because calibrated probabilities have a limit below them."""
    highest = fitted.highest_probabilities
    if highest is None or thresholds is None:
        return
    given = _threshold_array(fitted.classes, thresholds)
    for k in np.flatnonzero(given > highest).tolist():
        label = fitted.classes.label(k)
        warn_user(
            SufficeWarning(
                f"No row reaches the threshold {given[k]:g} of class {label!r}: the calibrated probability of this "
                f"class is at most {highest[k]:.4g}. Choose a lower threshold.",
                argument="thresholds",
            )
        )


def least_cost(probabilities: Float, costs: Float) -> Codes:
    """Class with the smallest expected cost of each row (n,).

    Parameters
    ----------
    probabilities : array of shape (n, K)
    costs : array of shape (K, K)
        Cost of predicting class j if i is true, in row i and column j.

    Examples
    --------
    >>> least_cost(np.array([[0.3, 0.7]]), np.array([[0.0, 5.0], [1.0, 0.0]]))
    array([0])
    """
    return _codes((probabilities @ costs).argmin(axis=1))


def over_threshold(probabilities: Float, thresholds: Float) -> Codes:
    """Class of each row (n,) if some classes are predicted from a probability on.

    Of the classes that reach their thresholds, it is the one whose probability is the largest multiple of its
    threshold. If no class does, it is the most probable class without a threshold.

    Parameters
    ----------
    probabilities : array of shape (n, K)
    thresholds : array of shape (K,)
        NaN for classes without a threshold.

    Examples
    --------
    >>> over_threshold(np.array([[0.5, 0.3, 0.2], [0.5, 0.4, 0.1]]), np.array([np.nan, np.nan, 0.2]))
    array([2, 0])
    """
    given = ~np.isnan(thresholds)
    with np.errstate(divide="ignore", invalid="ignore"):
        multiples = np.where(given, probabilities / thresholds, -np.inf)
    multiples[np.isnan(multiples)] = np.inf  # a threshold of 0 is always reached
    reached = (multiples >= 1).any(axis=1)
    others = multiples if given.all() else np.where(given, -np.inf, probabilities)
    return _codes(np.where(reached, multiples.argmax(axis=1), others.argmax(axis=1)))


def cost_matrix(classes: ClassAxis, costs: Costs) -> Float:
    """Costs as a matrix (K, K): 0 for a correct prediction and 1 for an error whose cost is not given.

    >>> cost_matrix(ClassAxis.of(["ham", "spam"]), {("ham", "spam"): 5.0})
    array([[0., 5.],
           [1., 0.]])
    """
    matrix = 1 - np.eye(len(classes))
    for pair, cost in _items(costs, "costs"):
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise InputError(
                f"costs are given by (true class, predicted class), such as {{('ham', 'spam'): 9}}; got {pair!r:.80}.",
                argument="costs",
            )
        number = _number(cost)
        if not math.isfinite(number):
            raise InputError(f"A cost must be a finite number; got {cost!r:.80}.", argument="costs")
        true, predicted = (_position(classes, label, "costs") for label in pair)
        matrix[true, predicted] = number
    return matrix


def _codes(positions: Index) -> Codes:
    return positions.astype(np.int64, copy=False)


def _threshold_array(classes: ClassAxis, thresholds: Thresholds) -> Float:
    out = np.full(len(classes), np.nan)
    for label, threshold in _items(thresholds, "thresholds"):
        number = _number(threshold)
        if not 0 <= number <= 1:
            raise InputError(f"A threshold is a number between 0 and 1; got {threshold!r:.80}.", argument="thresholds")
        out[_position(classes, label, "thresholds")] = number
    return out


def _items(given: object, argument: str) -> list[tuple[Hashable, object]]:
    if not isinstance(given, Mapping):
        raise InputError(f"{argument} must be a mapping; got {given!r:.80}.", argument=argument)
    return list(given.items())


def _number(value: object) -> float:
    """A number as float; NaN if the value is anything else, such as a text."""
    try:
        return math.nan if isinstance(value, str | bytes) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        return math.nan


def _position(classes: ClassAxis, label: Hashable, argument: str) -> int:
    try:
        return classes.position(label)
    except ClassError as error:
        error.argument = argument
        raise
