"""`RegionsDisplay`: the regions of the classes in the plane of two columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.exceptions import InputError
from suffice.learning.fitted import fitted_of
from suffice.model.columns import ModelColumn
from suffice.numerics.types import Array, Codes, Float, Index
from suffice.plotting.ellipses import ellipse
from suffice.plotting.figures import AnyFigure, GivenAxes, panels
from suffice.plotting.plane import Plane, plane_columns, plane_of
from suffice.plotting.rows import ShownRows, column_of, read_rows
from suffice.plotting.styles import (
    MAX_CLASSES,
    background,
    check_count,
    class_legend,
    column_axis,
    foreground,
    frequent_classes,
    label_text,
    look_of,
    shown_note,
)
from suffice.statistics.classes import evenly_spaced
from suffice.tables.table import Kind

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RegionsDisplay"]

WIDTH, HEIGHT = 4.8, 4.4
N_GRID = 121
SHADE = 0.5  # opacity of a certain posterior
MOST_ROWS = 3000  # of which evenly spaced ones are drawn


@dataclass(eq=False, repr=False)
class RegionsDisplay:
    """Regions of the classes in the plane of two columns, with the rows.

    Each region has the colour of the most probable class, which is stronger the closer its probability is to one. The
    solid lines are the boundaries between the classes. If the columns are Gaussian, ellipses are drawn at one and two
    standard deviations from the mean of each class.

    Attributes
    ----------
    planes : list of Plane
        Grid, posteriors, means and covariances; one for each model.
    titles : list of str
        Titles of the panels.
    labels : list
        The classes that are shown.
    shown : array of int
        Their positions among all classes.
    n_classes : int
        Number of classes of the model.
    points : array of shape (n, 2)
        The rows; empty without rows.
    codes : array of shape (n,)
        Positions of their classes; −1 for a row without a label.
    kinds : tuple of two Kind
        What the cells of the two columns are: "number", "time" or "duration".
    axes_ : array of Axes
        The Axes of each model; ``ax_`` is the first.
    figure_ : Figure
        The figure.
    boundaries_ : list of lists of ContourSet
        Boundaries in each panel.
    ellipses_ : list of lists of Line2D
        Ellipses in each panel: for each class, at one and at two standard deviations.

    See Also
    --------
    suffice.plotting.DirectionsDisplay : Shows all columns, projected on a plane.
    suffice.plotting.DensityDisplay : Shows one column at a time.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianDiscriminant
    >>> from suffice.plotting import RegionsDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> model = GaussianDiscriminant().fit(X[:, :2], y)
    >>> display = RegionsDisplay.from_estimator(model, X[:, :2], y, ax=Figure().subplots())
    >>> display.ax_.get_xlabel(), display.ax_.get_ylabel()
    ('column 0', 'column 1')
    """

    planes: list[Plane]
    titles: list[str]
    labels: list[object]
    shown: Index
    n_classes: int
    points: Float
    codes: Codes
    kinds: tuple[Kind, Kind] = ("number", "number")
    axes_: Array = field(init=False)
    ax_: Axes = field(init=False)
    figure_: AnyFigure = field(init=False)
    boundaries_: list[list[Any]] = field(init=False)
    ellipses_: list[list[Any]] = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        columns: Any = None,
        values: Mapping[Any, Any] | None = None,
        compare: bool = False,
        max_classes: int = MAX_CLASSES,
        grid: int = N_GRID,
        ax: GivenAxes = None,
    ) -> RegionsDisplay:
        """Draw the regions of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier of Suffice
            The model.
        X, y : array-like, optional
            Rows and their labels, which are drawn as points.
        columns : two columns, optional
            The columns of the two axes. By default the only two that hold numbers.
        values : mapping of column to value, optional
            Values of other columns. Columns without a value count as missing, so p(y | x) is that of the known columns.
        compare : bool, default=False
            Whether to draw the model with a shared covariance and with own covariances side by side. The second model
            is fitted to X and y.
        max_classes : int, default=10
            Largest number of classes whose rows and ellipses are drawn; the most frequent ones are drawn.
        grid : int, default=121
            Number of points of the grid in each direction.
        ax : Axes or sequence of Axes, optional
            One Axes for each model, or one to divide. By default a new figure is made.

        Returns
        -------
        RegionsDisplay
        """
        models = {"": estimator}
        if compare:
            models = _both_covariances(estimator, X, y)
        return cls.from_estimators(
            models, X, y, columns=columns, values=values, max_classes=max_classes, grid=grid, ax=ax
        )

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: Any = None,
        y: Any = None,
        *,
        columns: Any = None,
        values: Mapping[Any, Any] | None = None,
        max_classes: int = MAX_CLASSES,
        grid: int = N_GRID,
        ax: GivenAxes = None,
    ) -> RegionsDisplay:
        """Draw several fitted models of the same columns and classes side by side.

        Parameters
        ----------
        estimators : mapping of str to fitted classifier of Suffice
            The models; the keys are the titles.
        X, y, columns, values, max_classes, grid, ax
            As in `from_estimator`.

        Returns
        -------
        RegionsDisplay
        """
        check_count(grid, "grid")
        every = [fitted_of(estimator, "A plot") for estimator in estimators.values()]
        if not every:
            raise InputError("There is no model to draw.", argument="estimators")
        first = every[0]
        labels = first.classes.labels
        if any(not np.array_equal(each.classes.labels, labels) for each in every):
            raise InputError("The models have different classes, so they cannot share a plot.", argument="estimators")
        rows = read_rows(first, X, y)
        chosen = plane_columns(first, columns)
        places = [column_of(first, name) for name in chosen]
        shown = frequent_classes(first.model.weights.weight, max_classes)
        near = rows
        if rows is not None and np.isin(rows.codes, shown).any():
            near = ShownRows(rows.table.take(np.flatnonzero(np.isin(rows.codes, shown))))  # the picture shows these
        planes = [plane_of(each, chosen, values or {}, near, max(grid, 2)) for each in every]
        points, codes = _points(rows, places)
        titles = [str(title) for title in estimators]
        made = cls(
            planes, titles, labels[shown].tolist(), shown, len(labels), points, codes, (places[0].kind, places[1].kind)
        )
        return made.plot(ax)

    def plot(self, ax: GivenAxes = None) -> RegionsDisplay:
        """Draw the panels, one for each model.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            One Axes for each model, or one to divide. By default a new figure is made.

        Returns
        -------
        Display
            This Display.
        """
        n = len(self.planes)
        self.axes_ = panels(ax, 1, n, size=(WIDTH * n + 0.4, HEIGHT))[0]
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        self.boundaries_, self.ellipses_ = [], []
        for plane, title, axes in zip(self.planes, self.titles, self.axes_, strict=True):
            self._shade(plane, axes)
            self.boundaries_.append(self._draw_boundaries(plane, axes))
            self._draw_rows(axes)
            self.ellipses_.append(self._draw_ellipses(plane, axes))
            axes.set_xlim(plane.x[0], plane.x[-1])
            axes.set_ylim(plane.y[0], plane.y[-1])
            for axis, column, kind in zip((axes.xaxis, axes.yaxis), plane.columns, self.kinds, strict=True):
                column_axis(axis, column, kind)
            if title:
                axes.set_title(label_text(title, 60), fontsize="medium")
        self._legend(self.axes_[-1])
        return self

    def _shade(self, plane: Plane, axes: Axes) -> None:
        """Colour of the most probable class, as opaque as it is certain; classes that are not shown have none."""
        from matplotlib.colors import to_rgb

        p = np.nan_to_num(plane.posterior)
        colours = np.full((self.n_classes, 3), 0.5)
        colours[self.shown] = [to_rgb(look_of(i).colour) for i in range(len(self.shown))]
        best = p.argmax(axis=0)
        least = 1 / self.n_classes if self.n_classes > 1 else 0.0
        certain = np.clip((p.max(axis=0) - least) / (1 - least), 0.0, 1.0)
        image = np.dstack([colours[best], SHADE * certain])
        dx, dy = (plane.x[1] - plane.x[0]) / 2, (plane.y[1] - plane.y[0]) / 2  # pixels are centred on the grid
        extent = (plane.x[0] - dx, plane.x[-1] + dx, plane.y[0] - dy, plane.y[-1] + dy)
        axes.imshow(image, extent=extent, origin="lower", aspect="auto", interpolation="bilinear", zorder=0)

    def _draw_boundaries(self, plane: Plane, axes: Axes) -> list[Any]:
        if self.n_classes < 2:
            return []
        drawn = []
        for k in self.shown[:1] if self.n_classes == 2 else self.shown:
            margin = plane.margin(int(k))
            known = np.nan_to_num(margin)
            if known.min() < 0 < known.max():
                style: dict[str, Any] = {"colors": foreground(), "linewidths": 1.4, "zorder": 3}
                drawn.append(axes.contour(plane.x, plane.y, np.ma.masked_invalid(margin), levels=[0.0], **style))
        return drawn

    def _draw_rows(self, axes: Axes) -> None:
        for i, k in enumerate(self.shown.tolist()):
            own = self.points[self.codes == k]
            if len(own):
                look = look_of(i)
                axes.scatter(
                    own[:, 0],
                    own[:, 1],
                    s=22,
                    marker=look.marker,
                    color=look.colour,
                    edgecolors=background(),
                    linewidths=0.5,
                    zorder=4,
                )
        unknown = self.points[self.codes < 0]
        if len(unknown):
            axes.scatter(unknown[:, 0], unknown[:, 1], s=6, marker=".", color=foreground(), alpha=0.6, zorder=4)

    def _draw_ellipses(self, plane: Plane, axes: Axes) -> list[Any]:
        lines = []
        for i, k in enumerate(self.shown.tolist()):
            if np.isfinite(plane.covariances[k]).all():
                for deviations in (1.0, 2.0):
                    look = look_of(i)
                    x, y = ellipse(plane.means[k], plane.covariances[k], deviations).T
                    lines += axes.plot(x, y, color=look.colour, linestyle=look.line, linewidth=1.4, zorder=5)
        return lines

    def _legend(self, axes: Axes) -> None:
        from matplotlib.lines import Line2D

        drawn = np.isin(self.shown, self.codes)
        handles = []
        for i, label in enumerate(self.labels):
            look = look_of(i)
            style: Any = {"linestyle": look.line, "marker": look.marker if drawn[i] else ""}
            handles.append(Line2D([], [], color=look.colour, label=label_text(label), **style))
        class_legend(axes, shown_note(len(self.labels), self.n_classes), handles)


def _points(rows: ShownRows | None, places: Sequence[ModelColumn]) -> tuple[Float, Codes]:
    """Rows in the plane and their classes; evenly spaced ones if there are many."""
    if rows is None:
        return np.zeros((0, 2)), np.zeros(0, dtype=np.int64)
    points = np.column_stack([rows.numbers(place.position, place.name) for place in places])
    known = np.flatnonzero(np.isfinite(points).all(axis=1))
    known = evenly_spaced(known, MOST_ROWS)
    return points[known], rows.codes[known]


def _both_covariances(estimator: Any, X: Any, y: Any) -> dict[str, Any]:
    """The model with a shared and with own covariances, the other one fitted to the rows."""
    from sklearn.base import clone

    fitted_of(estimator, "A plot")
    now = estimator.get_params(deep=False).get("covariance") if hasattr(estimator, "get_params") else None
    if now not in ("shared", "own"):
        raise InputError(
            "compare draws a shared and an own covariance side by side, which GaussianDiscriminant has. Use "
            "RegionsDisplay.from_estimators for other models.",
            argument="compare",
        )
    if X is None or y is None:
        raise InputError("compare fits a second model: give X and y.", argument="y" if y is None else "X")
    changed = {"covariance": "own"} if now == "shared" else {"covariance": "shared", "mix": 0.0}
    other = clone(estimator).set_params(**changed).fit(X, y)
    both = {now: estimator, other.covariance: other}
    return {f"{name} covariance{'s' if name == 'own' else ''}": both[name] for name in ("shared", "own")}
