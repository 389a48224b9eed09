"""`CalibrationDisplay`: observed frequency of a class over its predicted probability."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.learning.row_predictions import HeldOutSetting
from suffice.learning.scores import calibration_error
from suffice.numerics.types import Array, Float
from suffice.plotting.class_curves import curve_legend, of_rows, positives
from suffice.plotting.figures import AnyFigure, GivenAxes, panels
from suffice.plotting.predictions import PredictedRows, impossible_note, predicted, predicted_from
from suffice.plotting.styles import MAX_CLASSES, check_count, foreground, label_text, look_of, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CalibrationCurve", "CalibrationDisplay"]

SIZE = (4.8, 5.6)
N_BINS = 10


@dataclass(frozen=True, eq=False)
class CalibrationCurve:
    """Probabilities of one class in bins of equal width; only bins with rows.

    Attributes
    ----------
    label : object
    predicted : array of shape (m,)
        Mean probability of the class.
    observed : array of shape (m,)
        Share of the rows that have the class.
    low, high : array of shape (m,)
        Interval of one standard error about the observed share (Wilson's, which is not empty for 0 or 1).
    count : array of shape (m,)
        Number of rows.
    weight : array of shape (n_bins,)
        Weight of the rows in every bin.
    """

    label: object
    predicted: Float
    observed: Float
    low: Float
    high: Float
    count: Float
    weight: Float


@dataclass(eq=False, repr=False)
class CalibrationDisplay:
    """Reliability diagram: the observed frequency of a class over its predicted probability, with a histogram below.

    On the diagonal, probabilities are calibrated: of the rows with probability 0.8, 80 % have the class. With two
    classes, the diagram is that of the second class; with more, each class is compared with the rest.

    Attributes
    ----------
    curves : list of CalibrationCurve
        ``predicted`` and ``observed`` shares of each class that is shown.
    n_classes : int
        Number of classes of the model. The plot shows the most frequent ones.
    calibration_error : float
        Expected calibration error of the most probable class, as in the scores of the library.
    rule : str
        How the rows were held out: "leave-one-out", "10 folds", "held-out rows", or "new rows".
    n_impossible : int
        Number of rows with probability zero in every class; they count with the class prior.
    axes_ : array of two Axes
        The diagram and the histogram; ``ax_`` is the diagram.
    figure_ : Figure
        The figure.

    See Also
    --------
    suffice.plotting.RocCurveDisplay : Shows how well probabilities order the rows.
    suffice.plotting.ConfusionDisplay : Shows how often each class is predicted.
    suffice.NaiveBayes : Calibrates its probabilities with ``calibrate=True``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice.plotting import CalibrationDisplay
    >>> p = [0.05, 0.05, 0.95, 0.95]
    >>> display = CalibrationDisplay.from_predictions(["ham", "ham", "ham", "spam"], p, ax=Figure().subplots())
    >>> display.curves[0].predicted, display.curves[0].observed
    (array([0.05, 0.95]), array([0. , 0.5]))
    """

    curves: list[CalibrationCurve]
    n_classes: int
    calibration_error: float
    rule: str = ""
    n_impossible: int = 0
    axes_: Array = field(init=False)
    ax_: Axes = field(init=False)
    figure_: AnyFigure = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        held_out: HeldOutSetting = "auto",
        sample_weight: Any = None,
        n_bins: int = N_BINS,
        max_classes: int = MAX_CLASSES,
        ax: GivenAxes = None,
    ) -> CalibrationDisplay:
        """Draw the reliability diagram of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier of Suffice
            The model.
        X, y : array-like
            Rows and their labels.
        held_out, sample_weight, max_classes, ax
            As in `RocCurveDisplay.from_estimator`.
        n_bins : int, default=10
            Number of bins of the probability.

        Returns
        -------
        CalibrationDisplay
        """
        rows = predicted(estimator, X, y, held_out=held_out, sample_weight=sample_weight)
        return cls._of(rows, n_bins, max_classes).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        probabilities: Any,
        *,
        classes: Any = None,
        sample_weight: Any = None,
        n_bins: int = N_BINS,
        max_classes: int = MAX_CLASSES,
        ax: GivenAxes = None,
    ) -> CalibrationDisplay:
        """Draw the reliability diagram of given probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        probabilities : array-like of shape (n, K), or (n,) for two classes
            Probabilities in the order of ``classes``; a vector has those of the second class.
        classes : array-like of shape (K,), optional
            The classes. By default the sorted labels of ``y_true``.
        sample_weight, n_bins, max_classes, ax
            As in `from_estimator`.

        Returns
        -------
        CalibrationDisplay
        """
        rows = predicted_from(y_true, probabilities, classes=classes, sample_weight=sample_weight)
        return cls._of(rows, n_bins, max_classes).plot(ax)

    @classmethod
    def _of(cls, rows: PredictedRows, n_bins: int, max_classes: int) -> CalibrationDisplay:
        check_count(n_bins, "n_bins")
        curves = [_curve(rows, k, n_bins) for k in rows.curves(max_classes, "A reliability diagram").tolist()]
        right = rows.likeliest == rows.codes
        error = calibration_error(rows.probabilities.max(axis=1), right, rows.weights)
        return cls(curves, len(rows.labels), error, rows.rule, rows.n_impossible)

    def plot(self, ax: GivenAxes = None) -> CalibrationDisplay:
        """Draw the diagram, and the histogram below it.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            Two Axes, or one to divide. By default a new figure is made.

        Returns
        -------
        Display
            This Display.
        """
        self.axes_ = panels(ax, 2, size=SIZE, heights=(3.5, 1.0), share_x=True)[:, 0]
        self.ax_, below = self.axes_
        self.figure_ = self.ax_.figure
        self.ax_.plot([0, 1], [0, 1], color=foreground(), alpha=0.4, linewidth=0.8, linestyle=":")
        edges = np.linspace(0, 1, len(self.curves[0].weight) + 1)
        for i, curve in enumerate(self.curves):
            look = look_of(1 if self.n_classes == 2 else i)
            self.ax_.plot(
                curve.predicted, curve.observed, color=look.colour, linestyle=look.line, linewidth=0.8, alpha=0.5
            )
            self.ax_.errorbar(
                curve.predicted,
                curve.observed,
                yerr=[curve.observed - curve.low, curve.high - curve.observed],
                label=label_text(curve.label),
                color=look.colour,
                marker=look.marker,
                linestyle="none",
                markersize=5,
                elinewidth=1.0,
            )
            below.stairs(curve.weight, edges, color=look.colour, linestyle=look.line, linewidth=1.2)
        self.ax_.set_xlim(-0.02, 1.02)
        self.ax_.set_ylim(-0.02, 1.02)
        self.ax_.set_ylabel(f"share of rows with the class{of_rows(self.rule)}")
        curve_legend(self.ax_, len(self.curves), self.n_classes, "best")
        note = impossible_note(self.n_impossible)
        title = f"calibration error {self.calibration_error:.3f}"
        self.ax_.set_title(f"{title}\n{note}" if note else title, fontsize="medium")
        below.set_yscale("symlog", linthresh=1.0)
        below.set_ylim(bottom=0)
        below.set_ylabel("rows")
        below.set_xlabel("probability of the class")
        for axes in self.axes_:
            plain_axes(axes)
        return self


def _curve(rows: PredictedRows, k: int, n_bins: int) -> CalibrationCurve:
    truth, p, _ = positives(rows, k)
    at = np.clip(np.floor(p * n_bins).astype(np.int64), 0, n_bins - 1)
    weight: Float = np.bincount(at, rows.weights, minlength=n_bins).astype(np.float64)
    used = weight > 0
    mean = np.bincount(at, rows.weights * p, minlength=n_bins)[used] / weight[used]
    share = np.bincount(at, rows.weights * truth, minlength=n_bins)[used] / weight[used]
    count = np.bincount(at, minlength=n_bins)[used].astype(np.float64)
    middle = (share + 0.5 / count) / (1 + 1 / count)
    wide = np.sqrt(share * (1 - share) / count + 0.25 / count**2) / (1 + 1 / count)
    low, high = np.minimum(middle - wide, share), np.maximum(middle + wide, share)
    return CalibrationCurve(rows.labels[k], mean, share, low, high, count, weight)
