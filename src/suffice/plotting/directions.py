"""`DirectionsDisplay`: rows in the plane of the directions that separate the classes best."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.exceptions import InputError, counted
from suffice.families import Gaussian, MultivariateGaussian
from suffice.learning.fitted import Fitted, fitted_of
from suffice.numerics.types import Codes, Float, Index
from suffice.plotting.ellipses import ellipse
from suffice.plotting.figures import AnyFigure, GivenAxes, single
from suffice.plotting.rows import read_rows
from suffice.plotting.styles import (
    MAX_CLASSES,
    background,
    class_legend,
    foreground,
    frequent_classes,
    label_text,
    look_of,
    plain_axes,
    shown_note,
)
from suffice.statistics.classes import evenly_spaced

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["DirectionsDisplay", "has_directions"]

SIZE = (5.6, 4.6)
MOST_ROWS = 5000  # of which evenly spaced ones are drawn
N_BINS = 40


@dataclass(eq=False, repr=False)
class DirectionsDisplay:
    """Rows in the discriminant plane: projected on the directions in which the class means differ most.

    Distances are in standard deviations within the classes. With two classes there is only one direction, and the plot
    is a histogram with the density of each class.

    Attributes
    ----------
    directions : array of shape (d, r)
        The r directions, one or two.
    share : array of shape (r,)
        Share of the between-class variance that each direction explains.
    points : array of shape (n, r)
        Coordinates of the rows, about the mean of the classes; empty without rows.
    codes : array of shape (n,)
        Positions of their classes; −1 for a row without a label.
    means : array of shape (K, r)
        Means of the classes in the plane.
    covariances : array of shape (K, r, r)
        Covariances of the classes in the plane.
    labels : list
        The classes that are shown.
    shown : array of int
        Their positions among all classes.
    n_missing : int
        Number of rows with missing cells, which are not drawn.
    ax_, figure_
        The Axes and the figure.

    See Also
    --------
    suffice.plotting.RegionsDisplay : Shows the plane of two columns, with regions.
    suffice.GaussianDiscriminant : Has the directions as ``directions_``, and projects rows with ``transform``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianDiscriminant
    >>> from suffice.plotting import DirectionsDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> display = DirectionsDisplay.from_estimator(GaussianDiscriminant().fit(X, y), X, y, ax=Figure().subplots())
    >>> display.points.shape, display.share.round(3)
    ((150, 2), array([0.991, 0.009]))
    """

    directions: Float
    share: Float
    points: Float
    codes: Codes
    means: Float
    covariances: Float
    labels: list[object]
    shown: Index
    n_missing: int = 0
    ax_: Axes = field(init=False)
    figure_: AnyFigure = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        max_classes: int = MAX_CLASSES,
        ax: GivenAxes = None,
    ) -> DirectionsDisplay:
        """Draw the discriminant plane of a fitted model of Gaussian columns.

        Parameters
        ----------
        estimator : fitted classifier of Suffice
            A `GaussianDiscriminant`, a class of ``suffice.discriminant_analysis``, or naive Bayes with Gaussian
            columns.
        X, y : array-like, optional
            Rows and their labels.
        max_classes : int, default=10
            Largest number of classes to draw; the most frequent ones are drawn.
        ax : Axes, optional
            Axes to draw on. By default a new figure is made.

        Returns
        -------
        DirectionsDisplay
        """
        fitted = fitted_of(estimator, "A plot")
        if not has_directions(fitted):
            raise InputError(
                "Discriminant directions need two classes or more, and only Gaussian columns. Use GaussianDiscriminant."
            )
        rows = read_rows(fitted, X, y)
        estimate = fitted.estimate
        block, parameters = estimate.blocks[0], estimate.parameters[0]
        directions, share = block.family.directions(parameters, estimate.prior)
        directions, share = directions[:, :2], share[:2]
        if not directions.shape[1]:
            raise InputError("All classes have the same mean, so there is no direction that separates them.")
        means, covariances = _projected(fitted, directions)
        points, codes, missing = np.zeros((0, directions.shape[1])), np.zeros(0, dtype=np.int64), 0
        if rows is not None:
            at = block.positions(fitted.layout.n_columns)
            x = np.column_stack([rows.numbers(j, name) for j, name in zip(at, block.names, strict=True)])
            known = np.flatnonzero(np.isfinite(x).all(axis=1))
            missing = len(x) - len(known)
            known = evenly_spaced(known, MOST_ROWS)
            points, codes = (x[known] - _centre(fitted)) @ directions, rows.codes[known]
        shown = frequent_classes(fitted.model.weights.weight, max_classes)
        labels = fitted.classes.labels[shown].tolist()
        made = cls(directions, share, points, codes, means, covariances, labels, shown, missing)
        return made.plot(ax)

    def plot(self, ax: GivenAxes = None) -> DirectionsDisplay:
        """Draw the rows, means and ellipses, or the histogram of a single direction.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. By default a new figure is made.

        Returns
        -------
        Display
            This Display.
        """
        self.ax_ = single(ax, SIZE)
        self.figure_ = self.ax_.figure
        if self.directions.shape[1] == 1:
            self._draw_line()
        else:
            self._draw_plane()
        plain_axes(self.ax_)
        class_legend(self.ax_, shown_note(len(self.labels), len(self.means)))
        if self.n_missing:
            missing = counted(self.n_missing, "row")
            self.ax_.set_title(f"without {missing} with missing cells", fontsize="small")
        return self

    def _axis_text(self, i: int) -> str:
        return f"direction {i + 1} ({100 * self.share[i]:.3g} % of the between-class variance)"

    def _draw_plane(self) -> None:
        for i, k in enumerate(self.shown.tolist()):
            look, own = look_of(i), self.points[self.codes == k]
            style: dict[str, Any] = {"color": look.colour, "marker": look.marker, "edgecolors": background()}
            self.ax_.scatter(own[:, 0], own[:, 1], s=20, linewidths=0.4, alpha=0.8, **style)
            for deviations in (1.0, 2.0):
                x, y = ellipse(self.means[k], self.covariances[k], deviations).T
                self.ax_.plot(x, y, color=look.colour, linestyle=look.line, linewidth=1.2)
            style["edgecolors"] = foreground()
            x, y = self.means[k]
            self.ax_.scatter(x, y, s=90, linewidths=1.2, zorder=5, label=label_text(self.labels[i]), **style)
        self._draw_unlabelled()
        self.ax_.set_xlabel(self._axis_text(0) + "\nstandard deviations within the classes")
        self.ax_.set_ylabel(self._axis_text(1))

    def _draw_unlabelled(self) -> None:
        unknown = self.points[self.codes < 0]
        if len(unknown):
            self.ax_.scatter(unknown[:, 0], unknown[:, 1], s=6, marker=".", color=foreground(), alpha=0.6)

    def _draw_line(self) -> None:
        means, deviations = self.means[:, 0], np.sqrt(self.covariances[:, 0, 0])
        ends = [means - 4 * deviations, means + 4 * deviations]
        low, high = float(np.min(ends)), float(np.max(ends))
        if len(self.points):
            low, high = min(low, float(self.points.min())), max(high, float(self.points.max()))
        grid, edges = np.linspace(low, high, 401), np.linspace(low, high, N_BINS + 1)
        for i, k in enumerate(self.shown.tolist()):
            look, own = look_of(i), self.points[self.codes == k, 0]
            if len(own):
                heights, _ = np.histogram(own, edges, density=True)
                self.ax_.stairs(heights, edges, fill=True, color=look.colour, alpha=0.3, linewidth=0)
            density = np.exp(-0.5 * ((grid - means[k]) / deviations[k]) ** 2) / (np.sqrt(2 * np.pi) * deviations[k])
            self.ax_.plot(grid, density, color=look.colour, linestyle=look.line, label=label_text(self.labels[i]))
        self.ax_.set_ylim(bottom=0)
        self.ax_.set_xlabel("discriminant direction, standard deviations within the classes")
        self.ax_.set_ylabel("density p(x | y)")


def has_directions(fitted: Fitted) -> bool:
    """Whether the model has discriminant directions: one block of Gaussian columns, and two classes."""
    blocks = fitted.estimate.blocks
    gaussian = len(blocks) == 1 and isinstance(blocks[0].family, Gaussian | MultivariateGaussian)
    return gaussian and len(fitted.classes) > 1


def _moments(fitted: Fitted) -> tuple[Float, Float]:
    """Means (K, d) and covariances (K, d, d) of the Gaussian columns."""
    estimate = fitted.estimate
    block, parameters = estimate.blocks[0], estimate.parameters[0]
    means, covariances = [], []
    for k in range(len(fitted.classes)):
        if isinstance(block.family, MultivariateGaussian):
            mean, covariance = block.family.mean_and_covariance(parameters, k)
        else:
            moments = block.family.mean_and_variance(parameters, k)
            assert moments is not None
            mean, covariance = moments[0], np.diag(moments[1])
        means.append(mean)
        covariances.append(covariance)
    return np.array(means), np.array(covariances)


def _centre(fitted: Fitted) -> Float:
    """Mean of all classes, weighted by their prior (d,)."""
    prior = fitted.estimate.prior
    return np.asarray(prior / prior.sum() @ _moments(fitted)[0])


def _projected(fitted: Fitted, directions: Float) -> tuple[Float, Float]:
    """Means (K, r) and covariances (K, r, r) of the classes along the directions."""
    means, covariances = _moments(fitted)
    return (means - _centre(fitted)) @ directions, directions.T @ covariances @ directions
