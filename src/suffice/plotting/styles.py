"""Colours, line styles and texts: readable without colour vision, in print, and on dark backgrounds.

Classes differ in colour, line style, marker and hatching. Everything else takes its colour from Matplotlib's settings,
so a dark style makes it light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from suffice.exceptions import InputError
from suffice.formats import shortened
from suffice.numerics.types import Float, Index
from suffice.plotting.ticks import time_ticks
from suffice.tables.table import Kind
from suffice.tables.times import time_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

__all__ = [
    "COLOURS",
    "FEW_CLASSES",
    "MARKS",
    "MAX_CLASSES",
    "Look",
    "background",
    "check_count",
    "class_legend",
    "column_axis",
    "column_text",
    "foreground",
    "frequent_classes",
    "label_text",
    "look_of",
    "plain_axes",
    "shown_note",
]

# Okabe and Ito's palette for colour-blind readers.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442")
MARKS = "osD^vP*"
LINES = ("-", "--", "-.", ":")
HATCHES = ("", "//", "..", "\\\\", "xx", "--", "++")
MAX_CLASSES = 10  # that a picture shows unless it is told otherwise
FEW_CLASSES = 5  # in a legend on the picture
LONGEST = 30  # characters of a name
LONG_NUMBERS = 1e4  # from which few ticks fit on an axis
DAYS = 8  # from which an axis of times shows dates
UNITS = (("days", 86_400.0), ("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0), ("milliseconds", 1e-3))


class Look(NamedTuple):
    """How a class is drawn."""

    colour: str
    line: str
    marker: str
    hatch: str


def look_of(k: int) -> Look:
    """The look of the k-th class that is shown; the first 28 differ in colour or line style.

    >>> look_of(0) == look_of(7), look_of(0).colour == look_of(7).colour
    (False, True)
    """
    turn, at = divmod(k, len(COLOURS))
    turned = at + turn
    return Look(COLOURS[at], LINES[turned % 4], MARKS[turned % len(MARKS)], HATCHES[turned % len(HATCHES)])


def foreground() -> str:
    """The colour of text in the present style, for reference lines and outlines."""
    import matplotlib as mpl

    colour: Any = mpl.rcParams["text.color"]
    return str(colour)


def background() -> str:
    """The colour behind a picture in the present style, for thin outlines of markers."""
    import matplotlib as mpl

    colour: Any = mpl.rcParams["axes.facecolor"]
    return str(colour)


def label_text(name: object, longest: int = LONGEST) -> str:
    r"""A name as text in a figure: short, on one line, and free of Matplotlib's own syntax.

    >>> label_text("US$ a_b"), label_text("_hidden"), label_text("customer of type A", 12)
    ('US\\$ a_b', ' _hidden', 'custom…ype A')
    """
    text = " ".join("".join(c if c.isprintable() or c.isspace() else "?" for c in str(name)).split())
    text = shortened(text, longest).replace("$", r"\$")
    return f" {text}" if text.startswith("_") else text or "(empty)"


def column_text(name: object) -> str:
    """The name of a column, or its position, as text in a figure.

    >>> column_text("age"), column_text(3), column_text(("a", "b"))
    ('age', 'column 3', 'a, b')
    """
    if isinstance(name, tuple):
        return label_text(", ".join(map(str, name)))
    return f"column {name}" if isinstance(name, int | np.integer) else label_text(name)


def frequent_classes(weight: Float, most: int) -> Index:
    """Positions of the ``most`` classes with the largest weights, in the order of the classes.

    >>> frequent_classes(np.array([5.0, 1.0, 9.0]), 2)
    array([0, 2])
    """
    check_count(most, "max_classes")
    return np.sort(np.argsort(-weight, kind="stable")[:most])


def check_count(value: object, argument: str) -> None:
    """Raise unless a number of things to show is a whole number of at least 1."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
        raise InputError(f"{argument} must be a whole number of at least 1; got {value!r:.80}.", argument=argument)


def shown_note(n_shown: int, n_all: int, things: str = "classes", which: str = "most frequent") -> str:
    """A note that a picture shows some of many things; empty if it shows all.

    >>> shown_note(10, 200), shown_note(3, 3)
    ('the 10 most frequent of 200 classes', '')
    """
    return f"the {n_shown:,} {which} of {n_all:,} {things}" if n_shown < n_all else ""


def plain_axes(axes: Axes, *, grid: bool = True) -> None:
    """Hide the frame's upper and right line, and draw a light grid behind everything."""
    for side in {"top", "right"} & set(axes.spines):
        axes.spines[side].set_visible(False)
    if grid:
        axes.set_axisbelow(True)
        axes.grid(alpha=0.3, linewidth=0.5)


def class_legend(axes: Axes, note: str, handles: list[Any] | None = None) -> None:
    """A legend of the classes, with a note as its title; many classes are listed beside the picture."""
    entries = axes.get_legend_handles_labels()[0] if handles is None else handles
    style: dict[str, Any] = {"fontsize": "small", "title": note.replace(" of ", "\nof ") or None}
    if len(entries) > FEW_CLASSES:
        style |= {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "frameon": False}
    axes.legend(handles=entries, title_fontsize="small", **style)


def column_axis(axis: Axis, column: object, kind: Kind) -> None:
    """Label the axis of a column with its name, and its ticks with times, durations or numbers.

    Times are seconds since 1970; they are shown as dates alone if the axis spans several days. Durations are seconds;
    they are shown in the largest unit that the axis spans three times.
    """
    text = column_text(column)
    if kind == "time":
        _time_ticks(axis)
    elif kind == "duration":
        text += f" ({_duration_ticks(axis)})"
    elif max(map(abs, axis.get_view_interval())) >= LONG_NUMBERS:
        from matplotlib.ticker import MaxNLocator

        axis.set_major_locator(MaxNLocator(5))
    axis.set_label_text(text)


def _time_ticks(axis: Axis) -> None:
    from matplotlib.ticker import FuncFormatter, Locator

    class TimeLocator(Locator):
        """Round points in time, also after zooming."""

        def __call__(self) -> list[float]:
            return self.tick_values(*axis.get_view_interval())

        def tick_values(self, vmin: float, vmax: float) -> list[float]:
            return time_ticks(vmin, vmax)

    low, high = axis.get_view_interval()
    length = len("2020-01-01") if high - low > DAYS * 86_400 else None
    axis.set_major_locator(TimeLocator())
    axis.set_major_formatter(FuncFormatter(lambda seconds, _: time_text(seconds)[:length]))
    if axis is axis.axes.xaxis:
        axis.set_tick_params(labelrotation=20)


def _duration_ticks(axis: Axis) -> str:
    """Ticks of whole or decimal units; returns the name of the unit."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, MaxNLocator

    low, high = axis.get_view_interval()
    name, unit = next(((name, unit) for name, unit in UNITS if high - low > 3 * unit), UNITS[-1])
    ticks = np.asarray(MaxNLocator(6).tick_values(low / unit, high / unit))
    axis.set_major_locator(FixedLocator((ticks * unit).tolist()))
    axis.set_major_formatter(FixedFormatter([f"{tick:g}" for tick in ticks]))
    return name
