"""Curves of each class against the rest: shared code of the ROC and precision–recall plots."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from suffice.learning.row_predictions import HeldOutSetting
from suffice.numerics.types import Float
from suffice.plotting.figures import AnyFigure, GivenAxes, single
from suffice.plotting.predictions import PredictedRows, impossible_note, predicted, predicted_from
from suffice.plotting.styles import FEW_CLASSES, MAX_CLASSES, Look, label_text, look_of, plain_axes, shown_note

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ClassCurve", "CurvesDisplay", "curve_legend", "of_rows", "positives"]

CURVE = "curve of a class"  # identifies the lines of a Display on shared Axes
LEGEND = 2.4  # inches of a legend beside the picture


@dataclass(frozen=True, eq=False)
class ClassCurve:
    """A curve of one class against the rest.

    Attributes
    ----------
    label : object
        The class that counts as positive.
    x, y : array of shape (m,)
    area : float
        Area under the ROC curve, or average precision.
    share : float
        Share of the rows that have the class.
    """

    label: object
    x: Float
    y: Float
    area: float
    share: float


def of_rows(rule: str) -> str:
    """How the rows were held out, as the end of an axis label.

    >>> of_rows("leave-one-out"), of_rows("")
    (' (leave-one-out)', '')
    """
    return f" ({rule})" if rule else ""


def curve_legend(axes: Axes, n_shown: int, n_all: int, corner: str) -> None:
    """A legend of the curves in a corner; many curves are listed beside the picture."""
    note = shown_note(n_shown, n_all) if n_all > 2 else ""
    style: dict[str, Any] = {"loc": corner}
    if n_shown > FEW_CLASSES:
        style = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "frameon": False}
    axes.legend(fontsize="small", title=note.replace(" of ", "\nof ") or None, title_fontsize="small", **style)


def positives(rows: PredictedRows, k: int) -> tuple[Any, Float, Float]:
    """Whether each row has class k (n,), the probability of class k (n,), and the share of such rows."""
    truth = rows.codes == k
    return truth, rows.probabilities[:, k], np.asarray(np.average(truth, weights=rows.weights))


@dataclass(eq=False, repr=False)
class CurvesDisplay(ABC):
    """Curves of the second of two classes, or of each class against the rest."""

    curves: list[ClassCurve]
    n_classes: int
    rule: str = ""
    n_impossible: int = 0
    ax_: Axes = field(init=False)
    figure_: AnyFigure = field(init=False)
    lines_: list[Any] = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        held_out: HeldOutSetting = "auto",
        sample_weight: Any = None,
        max_classes: int = MAX_CLASSES,
        name: str | None = None,
        ax: GivenAxes = None,
    ) -> Self:
        """Draw the curves of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier of Suffice
            The model.
        X, y : array-like
            Rows and their labels.
        held_out : bool or "auto", default="auto"
            Whether to score each row by a model without it (leave-one-out, without a second fit). Use True for rows
            that the model has learned, and False for new rows. "auto" recognises the training rows by their statistics,
            if they are all given.
        sample_weight : array-like of shape (n,), optional
            Weight of each row, 1 by default.
        max_classes : int, default=10
            Largest number of curves; the most frequent classes are drawn.
        name : str, optional
            Name of the model in the legend.
        ax : Axes, optional
            Axes to draw on. By default a new figure is made. Several models on the same Axes have different colours.

        Returns
        -------
        Display
            The curves, which are also drawn.
        """
        rows = predicted(estimator, X, y, held_out=held_out, sample_weight=sample_weight)
        return cls._of(rows, max_classes).plot(ax, name=name)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        probabilities: Any,
        *,
        classes: Any = None,
        sample_weight: Any = None,
        max_classes: int = MAX_CLASSES,
        name: str | None = None,
        ax: GivenAxes = None,
    ) -> Self:
        """Draw the curves of given probabilities.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        probabilities : array-like of shape (n, K), or (n,) for two classes
            Probabilities in the order of ``classes``; a vector has those of the second class.
        classes : array-like of shape (K,), optional
            The classes. By default the sorted labels of ``y_true``.
        sample_weight, max_classes, name, ax
            As in `from_estimator`.

        Returns
        -------
        Display
            The curves, which are also drawn.
        """
        rows = predicted_from(y_true, probabilities, classes=classes, sample_weight=sample_weight)
        return cls._of(rows, max_classes).plot(ax, name=name)

    @classmethod
    @abstractmethod
    def _of(cls, rows: PredictedRows, max_classes: int) -> Self:
        """The Display of the most frequent classes of some rows."""

    @abstractmethod
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

    def _axes(self, ax: GivenAxes, size: tuple[float, float]) -> int:
        """Set the Axes to draw on, wider for a legend beside it; returns the number of curves on them."""
        beside = LEGEND if len(self.curves) > FEW_CLASSES else 0.0
        self.ax_ = single(ax, (size[0] + beside, size[1]))
        self.figure_ = self.ax_.figure
        return sum(line.get_gid() == CURVE for line in self.ax_.get_lines())

    def _look(self, i: int, n_drawn: int) -> Look:
        """How the i-th curve is drawn beside so many others."""
        return look_of(n_drawn + (1 if self.n_classes == 2 else i))

    def _draw_curves(self, score: str, corner: str, n_drawn: int, name: str | None, **style: Any) -> None:
        """Draw the curves with a legend of their scores in a corner."""
        from matplotlib.cbook import normalize_kwargs
        from matplotlib.lines import Line2D

        self.lines_ = []
        for i, curve in enumerate(self.curves):
            look = self._look(i, n_drawn)
            what = label_text(curve.label) if name is None else f"{label_text(name)}, {label_text(curve.label)}"
            own = {"color": look.colour, "linestyle": look.line, "label": f"{what}: {score} {curve.area:.3f}"}
            self.lines_ += self.ax_.plot(curve.x, curve.y, gid=CURVE, **(own | normalize_kwargs(style, Line2D)))
        plain_axes(self.ax_)
        self.ax_.set_xlim(-0.02, 1.02)
        self.ax_.set_ylim(-0.02, 1.02)
        self.ax_.set_aspect("equal")
        self.ax_.set_title(impossible_note(self.n_impossible), fontsize="small")
        curve_legend(self.ax_, len(self.curves), self.n_classes, corner)
