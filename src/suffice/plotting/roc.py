"""`RocCurveDisplay`: true positive rate over false positive rate of a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from suffice.plotting.class_curves import ClassCurve, CurvesDisplay, of_rows, positives
from suffice.plotting.figures import GivenAxes
from suffice.plotting.predictions import PredictedRows
from suffice.plotting.styles import foreground

__all__ = ["RocCurveDisplay"]

SIZE = (4.8, 4.6)


@dataclass(eq=False, repr=False)
class RocCurveDisplay(CurvesDisplay):
    """ROC curves: the true positive rate over the false positive rate at all thresholds.

    With two classes, the curve is that of the second class; with more, each class is compared with the rest.

    Attributes
    ----------
    curves : list of ClassCurve
        ``x`` is the false positive rate, ``y`` the true positive rate, ``area`` the area under the curve.
    n_classes : int
        Number of classes of the model. The plot shows the most frequent ones.
    rule : str
        How the rows were held out: "leave-one-out", "10 folds", "held-out rows", or "new rows".
    n_impossible : int
        Number of rows with probability zero in every class; they count with the class prior.
    ax_, figure_, lines_
        The Axes, the figure, and the line of each curve.

    See Also
    --------
    suffice.plotting.PrecisionRecallDisplay : Shows precision and recall; better for rare classes.
    suffice.plotting.CalibrationDisplay : Shows whether probabilities match observed frequencies.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice.plotting import RocCurveDisplay
    >>> p = [0.1, 0.6, 0.7, 0.8]
    >>> display = RocCurveDisplay.from_predictions(["ham", "spam", "ham", "spam"], p, ax=Figure().subplots())
    >>> float(display.curves[0].area)
    0.75
    """

    @classmethod
    def _of(cls, rows: PredictedRows, max_classes: int) -> Self:
        from sklearn.metrics import auc, roc_curve

        curves = []
        for k in rows.curves(max_classes, "A ROC curve").tolist():
            truth, score, share = positives(rows, k)
            false, true, _ = roc_curve(truth, score, sample_weight=rows.weights)
            curves.append(ClassCurve(rows.labels[k], false, true, float(auc(false, true)), float(share)))
        return cls(curves, len(rows.labels), rows.rule, rows.n_impossible)

    @property
    def mean_area(self) -> float:
        """Mean area under the curves that are shown."""
        return float(np.mean([curve.area for curve in self.curves]))

    def plot(self, ax: GivenAxes = None, *, name: str | None = None, **style: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. By default a new figure is made.
        name : str, optional
            Name of the model in the legend.
        **style
            Arguments of ``Axes.plot``, such as ``color``.

        Returns
        -------
        Display
            This Display.
        """
        n_drawn = self._axes(ax, SIZE)
        self.ax_.plot([0, 1], [0, 1], color=foreground(), alpha=0.4, linewidth=0.8, linestyle=":")
        self._draw_curves("area", "lower right", n_drawn, name, **style)
        one = len(self.curves) == 1
        which = "share of other rows above the threshold" if one else "share of other classes' rows above the threshold"
        self.ax_.set_xlabel(which)
        self.ax_.set_ylabel(f"share of the class found{of_rows(self.rule)}")
        return self
