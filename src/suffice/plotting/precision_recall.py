"""`PrecisionRecallDisplay`: precision over recall of a class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from suffice.plotting.class_curves import ClassCurve, CurvesDisplay, of_rows, positives
from suffice.plotting.figures import GivenAxes
from suffice.plotting.predictions import PredictedRows

__all__ = ["PrecisionRecallDisplay"]

SIZE = (4.8, 4.6)
MOST_POINTS = 5000  # of a curve


@dataclass(eq=False, repr=False)
class PrecisionRecallDisplay(CurvesDisplay):
    """Precision–recall curves: the share of correct alarms over the share of the class that they find.

    With two classes, the curve is that of the second class; with more, each class is compared with the rest. A thin
    horizontal line is the share of the class, which is the precision of guessing.

    Attributes
    ----------
    curves : list of ClassCurve
        ``x`` is the recall, ``y`` the precision, ``area`` the average precision.
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
    suffice.plotting.RocCurveDisplay : Shows true and false positive rates.
    suffice.plotting.ConfusionDisplay : Shows the predictions at one threshold.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice.plotting import PrecisionRecallDisplay
    >>> p = [0.1, 0.6, 0.7, 0.8]
    >>> display = PrecisionRecallDisplay.from_predictions(["ham", "spam", "ham", "spam"], p, ax=Figure().subplots())
    >>> round(display.curves[0].area, 4)
    0.8333
    """

    @classmethod
    def _of(cls, rows: PredictedRows, max_classes: int) -> Self:
        from sklearn.metrics import average_precision_score, precision_recall_curve

        curves = []
        for k in rows.curves(max_classes, "A precision–recall curve").tolist():
            truth, score, share = positives(rows, k)
            precision, recall, _ = precision_recall_curve(truth, score, sample_weight=rows.weights)
            area = average_precision_score(truth, score, sample_weight=rows.weights)
            some = np.unique(np.linspace(0, len(recall) - 1, MOST_POINTS).astype(np.intp))
            curves.append(ClassCurve(rows.labels[k], recall[some], precision[some], float(area), float(share)))
        return cls(curves, len(rows.labels), rows.rule, rows.n_impossible)

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
        for i, curve in enumerate(self.curves):
            look = self._look(i, n_drawn)
            self.ax_.axhline(curve.share, color=look.colour, alpha=0.7, linewidth=0.9, linestyle=":")
        style = {"drawstyle": "steps-post", **style}
        self._draw_curves("average precision", "lower left", n_drawn, name, **style)
        self.ax_.set_xlabel("recall: share of the class found")
        self.ax_.set_ylabel(f"precision: share of correct alarms{of_rows(self.rule)}")
        return self
