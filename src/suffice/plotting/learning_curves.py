"""`LearningCurveDisplay`: log-loss and accuracy of several models over the number of training rows."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from suffice.exceptions import InputError
from suffice.numerics.types import Array, Float
from suffice.plotting.figures import AnyFigure, GivenAxes, panels
from suffice.plotting.styles import COLOURS, MARKS, foreground, label_text, plain_axes

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Curves", "LearningCurveDisplay"]

SIZE = (9.0, 4.2)  # inches
REFERENCE_LINES = ("-", ":", "--", "-.")


class Curves(Protocol):
    """Scores of several models at growing numbers of rows: a `suffice.comparison.LearningCurves`."""

    @property
    def sizes(self) -> Sequence[int]:
        """Numbers of training rows."""

    @property
    def log_loss(self) -> dict[str, Float]:
        """Scores of each model by name."""

    def points(self, model: str, score: str = "log_loss") -> tuple[Float, Float]:
        """Mean and standard error of a score at each size."""


@dataclass(eq=False, repr=False)
class LearningCurveDisplay:
    """Learning curves: log-loss and accuracy of several models over the number of training rows, with standard errors.

    Parameters
    ----------
    curves : LearningCurves
        The scores, such as ``compare(X, y).curves``.
    references : collection of str
        Names of the models to draw in the colour of text, instead of a colour of their own.

    Attributes
    ----------
    axes_ : array of two Axes
        The Axes of log-loss and of accuracy.
    figure_ : Figure
        The figure.

    See Also
    --------
    suffice.comparison.compare : Computes the curves.
    suffice.comparison.LearningCurves : The numbers of the curves.

    Examples
    --------
    >>> import numpy as np
    >>> from matplotlib.figure import Figure
    >>> from suffice.comparison import LearningCurves
    >>> from suffice.plotting import LearningCurveDisplay
    >>> curves = LearningCurves([10, 20], {"naive Bayes": np.ones((2, 3))}, {"naive Bayes": np.ones((2, 3))})
    >>> display = LearningCurveDisplay(curves).plot(Figure().subplots(1, 2))
    >>> display.axes_[0].get_ylabel()
    'log-loss on held-out rows'
    """

    curves: Curves
    references: Collection[str] = ()
    axes_: Array = field(init=False)
    figure_: AnyFigure = field(init=False)

    @classmethod
    def from_comparison(
        cls, comparison: Any, *, references: Collection[str] = (), ax: GivenAxes = None
    ) -> LearningCurveDisplay:
        """Draw the learning curves of a comparison.

        Parameters
        ----------
        comparison : suffice.comparison.Comparison
            The result of `suffice.comparison.compare`.
        references : collection of str
            Names of the models to draw in the colour of text, instead of a colour of their own.
        ax : Axes or sequence of Axes, optional
            Two Axes, or one to divide. By default a new figure is made.

        Returns
        -------
        LearningCurveDisplay
        """
        if getattr(comparison, "curves", None) is None:
            raise InputError("There are no learning curves to plot: set repeats above 0, or give more rows.")
        return cls(comparison.curves, references).plot(ax)

    def plot(self, ax: GivenAxes = None, *, legend: bool = True) -> LearningCurveDisplay:
        """Draw the curves: log-loss and accuracy side by side.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            Two Axes, or one to divide. By default a new figure is made.
        legend : bool, default=True
            Whether to draw a legend of the models.

        Returns
        -------
        Display
            This Display.
        """
        if not self.curves.log_loss or not len(self.curves.sizes):
            raise InputError("There are no learning curves to plot.")
        self.axes_ = panels(ax, 1, 2, size=SIZE)[0]
        self.figure_ = self.axes_[0].figure
        for axes, score, label in zip(self.axes_, ("log_loss", "accuracy"), ("log-loss", "accuracy"), strict=True):
            self._draw(axes, score)
            self._label(axes, label)
        _logarithmic(self.axes_[0])
        if legend:
            self.axes_[0].legend(*self.axes_[0].get_legend_handles_labels(), fontsize="small")
        return self

    def _draw(self, axes: Axes, score: str) -> None:
        styles = iter(zip(COLOURS * 3, MARKS * 3, strict=True))
        lines = iter(REFERENCE_LINES * len(self.curves.log_loss))
        for name in self.curves.log_loss:
            mean, error = self.curves.points(name, score)
            known = np.isfinite(mean)
            if name in self.references:
                look: dict[str, Any] = {"color": foreground(), "linestyle": next(lines), "marker": "."}
            else:
                colour, mark = next(styles)
                look = {"color": colour, "marker": mark, "markersize": 4}
            size = np.array(self.curves.sizes)[known]
            bars = np.nan_to_num(error[known])
            text = label_text(name, 60)
            axes.errorbar(size, mean[known], yerr=bars, label=text, linewidth=1.2, elinewidth=0.8, **look)

    def _label(self, axes: Axes, label: str) -> None:
        sizes = self.curves.sizes
        axes.set_xscale("log", base=2)
        axes.set_xticks(list(sizes), [f"{size:,}" for size in sizes], rotation=45 if len(sizes) > 6 else 0)
        axes.minorticks_off()
        axes.set_xlabel("training rows")
        axes.set_ylabel(f"{label} on held-out rows")
        plain_axes(axes)


def _logarithmic(axes: Axes) -> None:
    axes.set_yscale("log", subs=())
    locator: Any = axes.yaxis.get_major_locator()  # a LogLocator, whose ``subs`` the base class lacks
    locator.set_params(subs=(1.0, 2.0, 5.0))
    axes.yaxis.set_major_formatter("{x:g}")
