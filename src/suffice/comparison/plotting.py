"""Plot a comparison to a file, on given axes, or on a new figure."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from suffice.comparison.candidates import LOGISTIC, UNPENALISED
from suffice.comparison.curves import LearningCurves
from suffice.exceptions import InputError
from suffice.numerics.types import Array
from suffice.plotting.figures import check_matplotlib, save
from suffice.plotting.learning_curves import SIZE, LearningCurveDisplay

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["PlotTarget", "plot_curves"]

PlotTarget: TypeAlias = "str | os.PathLike[str] | Sequence[Axes] | Array | Axes | None"
"""A path to write to, two Axes to draw on, or None for a new figure."""


def plot_curves(curves: LearningCurves, target: PlotTarget, title: str) -> Figure | SubFigure:
    """Draw to a file, on two given axes, or on a new figure; return the figure."""
    check_matplotlib()
    from matplotlib.figure import Figure

    display = LearningCurveDisplay(curves, (LOGISTIC, UNPENALISED))
    if isinstance(target, str | os.PathLike):
        figure = Figure(figsize=SIZE, layout="constrained")
        display.plot(figure.subplots(1, 2), legend=False)
        if title:
            figure.suptitle(title)
        handles, names = display.axes_[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
        save(figure, os.fspath(target))
        return figure
    given = Figure(figsize=SIZE, layout="constrained").subplots(1, 2) if target is None else target
    axes = np.ravel(np.asarray(given, dtype=object))
    if len(axes) != 2:
        raise InputError(f"plot takes a path, None, or two axes; got {len(axes)} axes.", argument="target")
    display.plot(axes)
    if title:
        display.figure_.suptitle(title)
    return display.figure_
