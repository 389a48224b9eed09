"""Plots of models: Display classes, as in scikit-learn (needs Matplotlib: ``pip install 'suffice[plots]'``).

``from_estimator`` and ``from_predictions`` compute and draw a Display. Its attributes hold the numbers that are drawn;
``ax_`` or ``axes_`` and ``figure_`` are the Axes and the figure. ``plot(ax=...)`` draws it again. ``model.plot(X, y)``
chooses a Display.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from suffice.lazy_names import lazy_names

if TYPE_CHECKING:
    from suffice.plotting.calibration import CalibrationDisplay
    from suffice.plotting.confusion import ConfusionDisplay
    from suffice.plotting.densities import DensityDisplay
    from suffice.plotting.dependence import DependenceDisplay
    from suffice.plotting.directions import DirectionsDisplay
    from suffice.plotting.explanation import ExplanationDisplay
    from suffice.plotting.importance import ImportanceDisplay
    from suffice.plotting.learning_curves import LearningCurveDisplay
    from suffice.plotting.precision_recall import PrecisionRecallDisplay
    from suffice.plotting.regions import RegionsDisplay
    from suffice.plotting.roc import RocCurveDisplay
    from suffice.plotting.words import WordsDisplay

__all__ = [
    "CalibrationDisplay",
    "ConfusionDisplay",
    "DensityDisplay",
    "DependenceDisplay",
    "DirectionsDisplay",
    "ExplanationDisplay",
    "ImportanceDisplay",
    "LearningCurveDisplay",
    "PrecisionRecallDisplay",
    "RegionsDisplay",
    "RocCurveDisplay",
    "WordsDisplay",
]

__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "CalibrationDisplay": "calibration",
        "ConfusionDisplay": "confusion",
        "DensityDisplay": "densities",
        "DependenceDisplay": "dependence",
        "DirectionsDisplay": "directions",
        "ExplanationDisplay": "explanation",
        "ImportanceDisplay": "importance",
        "LearningCurveDisplay": "learning_curves",
        "PrecisionRecallDisplay": "precision_recall",
        "RegionsDisplay": "regions",
        "RocCurveDisplay": "roc",
        "WordsDisplay": "words",
    },
)
