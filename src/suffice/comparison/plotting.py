"""The picture of a comparison: log-loss and accuracy over the number of rows, a line for each model."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np

from suffice.comparison.candidates import LOGISTIC, UNPENALISED
from suffice.comparison.curves import LearningCurves
from suffice.exceptions import InputError
from suffice.model_file.disk import NOTHING_CHANGED, NotAFileError, reason, replacing

__all__ = ["check_matplotlib", "plot_curves"]

SIZE = (9.0, 4.2)
# Okabe and Ito's colours, which everybody can tell apart; logistic regression is black.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
MARKS = "osD^vP*"


def check_matplotlib() -> None:
    """Raise if there is nothing to draw with."""
    if find_spec("matplotlib") is None:
        raise InputError("A plot needs Matplotlib: pip install 'suffice[plots]'.")


def plot_curves(curves: LearningCurves, target: Any, title: str) -> Any:
    """Draw to a file, on two axes, or on a new figure, which is returned."""
    check_matplotlib()
    import matplotlib as mpl
    from matplotlib.figure import Figure

    path = target if isinstance(target, str | os.PathLike) else None
    if target is None or path is not None:
        figure = Figure(figsize=SIZE, layout="constrained")
        axes: Sequence[Any] = figure.subplots(1, 2)
    else:
        axes = list(np.ravel(target))
        if len(axes) != 2:
            raise InputError(f"plot takes a path, nothing, or two axes; got {len(axes)} of them.")
        figure = axes[0].figure
    _draw(curves, axes)
    handles, names = axes[0].get_legend_handles_labels()
    if title:
        figure.suptitle(title)
    if path is None:
        axes[0].legend(handles, names, fontsize="small")
        return figure
    figure.legend(handles, names, loc="outside lower center", ncols=3, fontsize="small", frameon=False)
    # Text stays text, and the same figures give the same file.
    written: Any = {"svg.fonttype": "none", "svg.hashsalt": "suffice", "font.sans-serif": ["DejaVu Sans", "sans-serif"]}
    with mpl.rc_context(written):
        _save(figure, path)
    return figure


def _save(figure: Any, path: str | os.PathLike[str]) -> None:
    kind = os.path.splitext(os.fspath(path))[1][1:].lower()
    if kind not in ("svg", "png", "pdf"):
        raise InputError(f"A plot is a file that ends in .svg, .png or .pdf; got {os.fspath(path)!r}.")
    made = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    try:
        with replacing(os.fspath(path)) as file:
            figure.savefig(file, format=kind, metadata=made, dpi=150)
    except NotAFileError as error:
        raise InputError(f"The plot cannot be written to {os.fspath(path)!r}: {error}") from None
    except OSError as error:
        raise InputError(
            f"The plot cannot be written to {os.fspath(path)!r}: {reason(error)}. {NOTHING_CHANGED}"
        ) from error


def _draw(curves: LearningCurves, axes: Sequence[Any]) -> None:
    for panel, score, label in zip(axes, ("log_loss", "accuracy"), ("log-loss", "accuracy"), strict=True):
        style = iter(zip(COLOURS * 3, MARKS * 3, strict=True))
        for name in curves.log_loss:
            mean, error = curves.points(name, score)
            known = np.isfinite(mean)
            if name in (LOGISTIC, UNPENALISED):
                look: dict[str, Any] = {"color": "black", "linestyle": "-" if name == LOGISTIC else ":", "marker": "."}
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
        panel.set_xlabel("rows learned from")
        panel.set_ylabel(f"{label} on held-out rows")
        panel.grid(alpha=0.3, linewidth=0.5)
        for side in ("top", "right"):
            panel.spines[side].set_visible(False)
    axes[0].set_yscale("log", subs=())
    axes[0].yaxis.get_major_locator().set_params(subs=(1.0, 2.0, 5.0))
    axes[0].yaxis.set_major_formatter("{x:g}")
