"""Plot a comparison: log-loss and accuracy over the number of training rows, one line for each model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from suffice.comparison.candidates import LOGISTIC, UNPENALISED
from suffice.comparison.curves import LearningCurves
from suffice.exceptions import InputError
from suffice.model_file.disk import NOTHING_CHANGED, NotAFileError, reason, replacing
from suffice.numerics.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["check_matplotlib", "plot_curves"]

PlotTarget: TypeAlias = "str | os.PathLike[str] | Sequence[Axes] | Array | Axes | None"
"""A path to write to, two Axes to draw on, or None for a new figure."""

SIZE = (9.0, 4.2)  # inches
# Okabe and Ito's palette for colour-blind readers; logistic regression is black.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
MARKS = "osD^vP*"


def check_matplotlib() -> None:
    """Raise if Matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise InputError("A plot needs Matplotlib: pip install 'suffice[plots]'.")


def plot_curves(curves: LearningCurves, target: PlotTarget, title: str) -> Figure | SubFigure:
    """Draw to a file, on two given axes, or on a new figure; return the figure."""
    check_matplotlib()
    from matplotlib.figure import Figure

    if isinstance(target, str | os.PathLike):
        figure = Figure(figsize=SIZE, layout="constrained")
        panels = figure.subplots(1, 2)
        _draw(curves, panels)
        if title:
            figure.suptitle(title)
        handles, names = panels[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
        _save(figure, os.fspath(target))
        return figure
    given = Figure(figsize=SIZE, layout="constrained").subplots(1, 2) if target is None else target
    axes: list[Axes] = list(np.ravel(np.asarray(given, dtype=object)))
    if len(axes) != 2:
        raise InputError(f"plot takes a path, None, or two axes; got {len(axes)} axes.", argument="target")
    _draw(curves, axes)
    if title:
        axes[0].figure.suptitle(title)
    axes[0].legend(*axes[0].get_legend_handles_labels(), fontsize="small")
    return axes[0].figure


def _save(figure: Figure, path: str) -> None:
    import matplotlib as mpl

    kind = os.path.splitext(path)[1][1:].lower()
    if kind not in ("svg", "png", "pdf"):
        raise InputError(f"The path of a plot must end in .svg, .png or .pdf; got {path!r}.", file=path)
    # Text is stored as text, and the same curves give the same file.
    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "suffice",
        "font.sans-serif": ["DejaVu Sans", "sans-serif"],
    }
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    try:
        with mpl.rc_context(settings), replacing(path) as file:
            figure.savefig(file, format=kind, metadata=metadata, dpi=150)
    except NotAFileError as error:
        raise InputError(f"The plot cannot be written to {path!r}: {error}", file=path) from None
    except OSError as error:
        sentence = f"The plot cannot be written to {path!r}: {reason(error)}. {NOTHING_CHANGED}"
        raise InputError(sentence, file=path) from error


def _draw(curves: LearningCurves, axes: Sequence[Axes]) -> None:
    for panel, score, label in zip(axes, ("log_loss", "accuracy"), ("log-loss", "accuracy"), strict=True):
        style = iter(zip(COLOURS * 3, MARKS * 3, strict=True))
        for name in curves.log_loss:
            mean, error = curves.points(name, score)
            known = np.isfinite(mean)
            if name in (LOGISTIC, UNPENALISED):
                look: dict[str, Any] = {
                    "color": "black",
                    "linestyle": "-" if name == LOGISTIC else ":",
                    "marker": ".",
                }
            else:
                colour, mark = next(style)
                look = {"color": colour, "marker": mark, "markersize": 4}
            size = np.array(curves.sizes)[known]
            bars = np.nan_to_num(error[known])
            panel.errorbar(size, mean[known], yerr=bars, label=name, linewidth=1.2, elinewidth=0.8, **look)
        panel.set_xscale("log", base=2)
        panel.set_xticks(
            curves.sizes, [f"{size:,}" for size in curves.sizes], rotation=45 if len(curves.sizes) > 6 else 0
        )
        panel.minorticks_off()
        panel.set_xlabel("training rows")
        panel.set_ylabel(f"{label} on held-out rows")
        panel.grid(alpha=0.3, linewidth=0.5)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    axes[0].set_yscale("log", subs=())
    locator: Any = axes[0].yaxis.get_major_locator()  # a LogLocator, whose ``subs`` the base class lacks
    locator.set_params(subs=(1.0, 2.0, 5.0))
    axes[0].yaxis.set_major_formatter("{x:g}")
