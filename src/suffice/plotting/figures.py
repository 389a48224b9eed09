"""Figures, axes and files that all Displays share."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from suffice.exceptions import InputError
from suffice.model_file.disk import NOTHING_CHANGED, NotAFileError, reason, replacing
from suffice.numerics.types import Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

__all__ = ["AnyFigure", "GivenAxes", "check_matplotlib", "panels", "save", "single"]

GivenAxes: TypeAlias = "Axes | Sequence[Axes] | Array | None"
"""Axes to draw on; None for those of a new figure."""
AnyFigure: TypeAlias = "Figure | SubFigure"


def check_matplotlib() -> None:
    """Raise if Matplotlib is not installed."""
    if find_spec("matplotlib") is None:
        raise InputError("A plot needs Matplotlib: pip install 'suffice[plots]'.")


def panels(
    ax: GivenAxes,
    n_rows: int,
    n_columns: int = 1,
    *,
    size: tuple[float, float],
    heights: Sequence[float] | None = None,
    share_x: bool = False,
) -> Array:
    """Axes in rows and columns (n_rows, n_columns): of a new figure, the given ones, or in place of a given one.

    Parameters
    ----------
    ax : Axes, sequence of Axes, or None
        One Axes is divided if more are needed; it must be part of a grid of subplots.
    size : tuple of float
        Width and height of a new figure in inches.
    heights : sequence of float, optional
        Relative heights of the rows.
    share_x : bool
        Whether the panels of a column share their x axis.
    """
    check_matplotlib()
    if ax is None:
        import matplotlib.pyplot as plt

        figure = plt.figure(figsize=size, layout="constrained")
        grid: Any = figure.add_gridspec(n_rows, n_columns, height_ratios=heights)
    else:
        given = _given(ax)
        if len(given) == n_rows * n_columns:
            return given.reshape(n_rows, n_columns)
        spec = given[0].get_subplotspec() if len(given) == 1 else None
        if spec is None:
            raise InputError(
                f"The plot needs {n_rows * n_columns} Axes, or one of a grid of subplots to divide; got {len(given)}.",
                argument="ax",
            )
        given[0].set_axis_off()
        figure, grid = given[0].figure, spec.subgridspec(n_rows, n_columns, height_ratios=heights)
    out = np.empty((n_rows, n_columns), dtype=object)
    for i in range(n_rows):
        for j in range(n_columns):
            out[i, j] = figure.add_subplot(grid[i, j], sharex=out[0, j] if share_x and i else None)
            if share_x and i < n_rows - 1:
                out[i, j].tick_params(labelbottom=False)
    return out


def single(ax: GivenAxes, size: tuple[float, float]) -> Axes:
    """One Axes: the given one, or that of a new figure."""
    axes: Axes = panels(ax, 1, size=size)[0, 0]
    return axes


def _given(ax: object) -> Array:
    from matplotlib.axes import Axes

    given = np.ravel(np.asarray(ax, dtype=object))
    wrong = [each for each in given.tolist() if not isinstance(each, Axes)]
    if wrong or not len(given):
        found = type(wrong[0]).__name__ if wrong else "an empty sequence"
        raise InputError(f"ax must be an Axes of Matplotlib, or a sequence of them; got {found}.", argument="ax")
    return given


def save(figure: Figure, path: str, dpi: int = 150) -> None:
    """Write a figure to a file, the same bytes for the same figure; text in SVG is stored as text."""
    import matplotlib as mpl

    kind = os.path.splitext(path)[1][1:].lower()
    if kind not in ("svg", "png", "pdf"):
        raise InputError(f"The path of a plot must end in .svg, .png or .pdf; got {path!r}.", file=path)
    settings: Any = {
        "svg.fonttype": "none",
        "svg.hashsalt": "suffice",
        "font.sans-serif": ["DejaVu Sans", "sans-serif"],
    }
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind, {})
    try:
        with mpl.rc_context(settings), replacing(path) as file:
            figure.savefig(file, format=kind, metadata=metadata, dpi=dpi)
    except NotAFileError as error:
        raise InputError(f"The plot cannot be written to {path!r}: {error}", file=path) from None
    except OSError as error:
        sentence = f"The plot cannot be written to {path!r}: {reason(error)}. {NOTHING_CHANGED}"
        raise InputError(sentence, file=path) from error
