"""`DensityDisplay`: p(x_j | y) of columns in each class, with histograms of the rows, and p(y | x_j) below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.exceptions import InputError
from suffice.learning.fitted import Fitted, fitted_of
from suffice.learning.information import mutual_information
from suffice.numerics.types import Array, Float, Index
from suffice.plotting.column_densities import ColumnDensity, column_density
from suffice.plotting.figures import AnyFigure, GivenAxes, panels
from suffice.plotting.rows import column_names, read_rows
from suffice.plotting.styles import (
    MAX_CLASSES,
    class_legend,
    column_axis,
    column_text,
    foreground,
    frequent_classes,
    label_text,
    look_of,
    plain_axes,
    shown_note,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DensityDisplay", "informative_columns"]

WIDTH, HEIGHT = 4.2, 5.0  # inches of one column
MOST_COLUMNS = 4
MOST_LEVELS = 12
N_SAMPLES = 1000  # draws that rank columns


@dataclass(eq=False, repr=False)
class DensityDisplay:
    """Densities of columns: p(x_j | y) of each class with a histogram of its rows, and the posterior p(y | x_j) below.

    Counts are drawn as steps, with their rows as a histogram, and levels as bars, with their rows as markers. The lower
    panel is the posterior given this column alone, by Bayes' rule. It is the logistic curve if the column has the same
    variance in two classes.

    Attributes
    ----------
    columns : list of ColumnDensity
        What is drawn, column by column.
    labels : list
        The classes that are shown.
    n_classes : int
        Number of classes of the model. The plot shows the most frequent ones.
    axes_ : array of Axes of shape (2, number of columns)
        Densities above, posteriors below; ``ax_`` is the first.
    figure_ : Figure
        The figure.

    See Also
    --------
    suffice.plotting.RegionsDisplay : Shows two columns at once.
    suffice.plotting.ImportanceDisplay : Shows which columns matter most.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import NaiveBayes
    >>> from suffice.plotting import DensityDisplay
    >>> model = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"])
    >>> display = DensityDisplay.from_estimator(model, ax=Figure().subplots())
    >>> display.columns[0].kind, display.axes_[0, 0].get_ylabel()
    ('continuous', 'density p(x | y)')
    """

    columns: list[ColumnDensity]
    labels: list[object]
    n_classes: int
    axes_: Array = field(init=False)
    ax_: Axes = field(init=False)
    figure_: AnyFigure = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        columns: Any = None,
        sample_weight: Any = None,
        max_classes: int = MAX_CLASSES,
        ax: GivenAxes = None,
    ) -> DensityDisplay:
        """Draw the densities of columns of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier of Suffice
            The model.
        X, y : array-like, optional
            Rows and their labels, for the histograms.
        columns : a column, or a list of columns, optional
            The columns to draw. By default the four with the most information about the class.
        sample_weight : array-like of shape (n,), optional
            Weight of each row, 1 by default.
        max_classes : int, default=10
            Largest number of classes to draw; the most frequent ones are drawn.
        ax : Axes or sequence of Axes, optional
            Two Axes for each column, those of the densities first; or one Axes to divide. By default a new figure is
            made.

        Returns
        -------
        DensityDisplay
        """
        fitted = fitted_of(estimator, "A plot")
        if not fitted.has_density:
            raise InputError("The scores of this model are not densities, so there is no p(x | y) to draw.")
        chosen = _chosen_columns(fitted, columns)
        rows = read_rows(fitted, X, y, sample_weight)
        shown = frequent_classes(fitted.model.weights.weight, max_classes)
        found = [column_density(fitted, name, rows, shown) for name in chosen]
        return cls(found, fitted.classes.labels[shown].tolist(), len(fitted.classes)).plot(ax)

    def plot(self, ax: GivenAxes = None) -> DensityDisplay:
        """Draw the columns side by side.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            Two Axes for each column, those of the densities first; or one Axes to divide. By default a new figure is
            made.

        Returns
        -------
        Display
            This Display.
        """
        n = len(self.columns)
        self.axes_ = panels(ax, 2, n, size=(WIDTH * n + 1.0, HEIGHT), heights=(2.0, 1.0), share_x=True)
        self.ax_ = self.axes_[0, 0]
        self.figure_ = self.ax_.figure
        before = ""
        for each, (above, below) in zip(self.columns, self.axes_.T, strict=True):
            if each.kind == "levels":
                self._draw_levels(each, above, below)
            else:
                self._draw_numbers(each, above, below)
            what = "density" if each.kind == "continuous" else "probability"
            unit = "\nper second" if each.cells in ("time", "duration") else ""
            if each is self.columns[0] or unit or what != before:
                above.set_ylabel(f"{what} p(x | y){unit}")
            before = what
            above.set_ylim(bottom=0)
            if each.kind == "levels" and each is self.columns[-1]:
                above.set_ylim(top=1.25 * above.get_ylim()[1])  # room for the legend
            if each is self.columns[0]:
                below.set_ylabel("probability\np(y | x)")
            below.set_ylim(-0.03, 1.03)
            for axes in (above, below):
                plain_axes(axes)
        class_legend(self.axes_[0, -1], shown_note(len(self.labels), self.n_classes))
        return self

    def _draw_numbers(self, each: ColumnDensity, above: Axes, below: Axes) -> None:
        values = np.asarray(each.values, dtype=np.float64)
        counts = each.kind == "counts"
        steps = "steps-mid" if counts else "default"
        labelled = each.heights.size > 0 and len(each.heights) == len(self.labels)
        if each.heights.size and not labelled:
            above.stairs(each.heights[0], each.edges, fill=True, color=foreground(), alpha=0.2, linewidth=0)
        for i, label in enumerate(self.labels):
            look = look_of(i)
            if labelled:
                above.stairs(each.heights[i], each.edges, fill=True, color=look.colour, alpha=0.25, linewidth=0)
            style: dict[str, Any] = {"color": look.colour, "linestyle": look.line, "linewidth": 1.6}
            above.plot(values, each.density[i], drawstyle=steps, label=label_text(label), **style)
            if each.clipped[i].any():
                at = each.clipped[i]
                above.plot(values[at], each.density[i][at], linestyle="none", marker="^", color=look.colour)
            below.plot(values, each.posterior[i], drawstyle=steps, **style)
        if each.clipped.any():
            above.set_title("▲ the density exceeds the plot", fontsize="small")
        if each.constant:
            above.set_title("all rows have the same value, so the column has no effect", fontsize="small")
        if len(self.labels) == 2:
            below.axhline(0.5, color=foreground(), alpha=0.4, linewidth=0.8, linestyle=":")
        column_axis(below.xaxis, each.column, each.cells)
        above.tick_params(labelbottom=False)

    def _draw_levels(self, each: ColumnDensity, above: Axes, below: Axes) -> None:
        at = _shown_levels(each)
        x, k = np.arange(len(at)), len(self.labels)
        width = 0.8 / k
        outline = foreground()
        bottom: Float = np.zeros(len(at))
        for i, label in enumerate(self.labels):
            look, place = look_of(i), x + width * (i - (k - 1) / 2)
            style: dict[str, Any] = {"color": look.colour, "edgecolor": outline, "linewidth": 0.5, "hatch": look.hatch}
            above.bar(place, each.density[i, at], width, label=label_text(label), **style)
            if each.heights.size:
                own = each.heights[min(i, len(each.heights) - 1), at]
                above.plot(place, own, linestyle="none", marker="o", markersize=4, color=outline, mfc="none")
            share = np.nan_to_num(each.posterior[i, at])
            below.bar(x, share, 0.8, bottom=bottom, **style)
            bottom = bottom + share
        names = [label_text(each.values[j], 14) for j in at.tolist()]
        slanted = sum(map(len, names)) > 30
        below.set_xticks(x, names, rotation=45 if slanted else 0, ha="right" if slanted else "center")
        above.tick_params(labelbottom=False)
        note = shown_note(len(at), len(each.values), "levels", "most probable")
        below.set_xlabel(column_text(each.column) + (f"\n({note})" if note else ""))
        if each.heights.size:
            above.set_title("○ share of the rows", fontsize="small")


def _shown_levels(each: ColumnDensity) -> Index:
    """Positions of the levels to show: the most probable ones, in their order."""
    weight = np.nan_to_num(each.density).sum(axis=0)
    return np.sort(np.argsort(-weight, kind="stable")[:MOST_LEVELS])


def _chosen_columns(fitted: Fitted, columns: Any) -> list[object]:
    if columns is None:
        return informative_columns(fitted, MOST_COLUMNS)
    chosen = list(columns) if isinstance(columns, list | np.ndarray) else [columns]
    if not chosen:
        raise InputError("columns names no column.", argument="columns")
    return chosen


def informative_columns(fitted: Fitted, most: int) -> list[object]:
    """The columns with the most information about the class; dependent columns count as one, and the first is named."""
    names = column_names(fitted)
    if len(names) <= 1 or len(fitted.classes) < 2 or not fitted.has_density:
        return names[:most]
    numbered = [block for block in fitted.estimate.blocks if block.family.reads != "documents"]
    if not numbered:
        return names[:most]
    known = {name for block in numbered for name in block.names}
    best: Sequence[tuple[object, ...]] = [each.columns for each in mutual_information(fitted, N_SAMPLES)]
    ranked = dict.fromkeys(name for each in best for name in each if name in known)
    return list(ranked)[:most]
