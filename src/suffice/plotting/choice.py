"""The Display that suits a model, for ``model.plot``."""

from __future__ import annotations

import inspect
from typing import Any

from suffice import plotting
from suffice.exceptions import InputError, did_you_mean, listed
from suffice.learning.fitted import Fitted, fitted_of
from suffice.plotting.directions import has_directions
from suffice.plotting.figures import GivenAxes, check_matplotlib
from suffice.plotting.rows import column_names, numeric_columns
from suffice.plotting.words import has_words

__all__ = ["KINDS", "plot_model", "suitable_kind"]

KINDS = {
    "densities": "DensityDisplay",
    "regions": "RegionsDisplay",
    "explanation": "ExplanationDisplay",
    "importance": "ImportanceDisplay",
    "calibration": "CalibrationDisplay",
    "roc": "RocCurveDisplay",
    "precision_recall": "PrecisionRecallDisplay",
    "confusion": "ConfusionDisplay",
    "words": "WordsDisplay",
    "dependence": "DependenceDisplay",
    "directions": "DirectionsDisplay",
}
"""The Displays of a fitted model, by the name that ``model.plot(kind=...)`` takes."""


def plot_model(
    estimator: Any, X: Any = None, y: Any = None, *, kind: str | None = None, ax: GivenAxes = None, **options: Any
) -> Any:
    """Draw a fitted model with the Display that suits it, or with the one that ``kind`` names."""
    check_matplotlib()
    if kind is None:
        kind = suitable_kind(fitted_of(estimator, "A plot"))
    if not isinstance(kind, str) or kind not in KINDS:
        raise InputError(
            f"There is no plot {kind!r:.80}.{did_you_mean(kind, KINDS)} The plots are {listed(list(KINDS), 20)}.",
            argument="kind",
        )
    draw = getattr(plotting, KINDS[kind]).from_estimator
    known = list(inspect.signature(draw).parameters)[3:]
    if options and (unknown := [name for name in options if name not in known]):
        raise InputError(_unknown_option(unknown[0], kind, known), argument=unknown[0])
    return draw(estimator, X, y, ax=ax, **options)


def _unknown_option(name: str, kind: str, known: list[str]) -> str:
    """The sentence about an option that a Display does not have, with the kinds of plots that have it."""
    others = [
        repr(other)
        for other, display in KINDS.items()
        if name in inspect.signature(getattr(plotting, display).from_estimator).parameters
    ]
    advice = f" It is an option of kind={' or kind='.join(others)}." if others else did_you_mean(name, known)
    return f"The plot {kind!r} has no option {name!r}.{advice} The options of {kind!r} are {listed(known, 20)}."


def suitable_kind(fitted: Fitted) -> str:
    """The kind of plot that suits a model.

    Words for texts and multinomial counts; densities for one column; regions for two columns of numbers; directions
    for more Gaussian columns of a discriminant; otherwise the densities of the most informative columns.
    """
    if len(fitted.classes) > 1 and (has_words(fitted) or not fitted.has_density):
        return "words"
    columns = column_names(fitted)
    if len(columns) == 2 and len(numeric_columns(fitted)) == 2:
        return "regions"
    dependent = any(not block.independent for block in fitted.estimate.blocks)
    if len(columns) > 2 and dependent and has_directions(fitted):
        return "directions"
    return "densities"
