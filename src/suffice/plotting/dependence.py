"""`DependenceDisplay`: correlations of columns within the classes, as a heat map."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.exceptions import InputError
from suffice.learning.fitted import Fitted, fitted_of
from suffice.model.correlations import model_correlations
from suffice.numerics.types import Float, Index
from suffice.plotting.figures import AnyFigure, GivenAxes, single
from suffice.plotting.rows import ShownRows, column_of, numeric_columns, read_rows
from suffice.plotting.styles import check_count, column_text, label_text, shown_note
from suffice.statistics.correlations import within_class_correlations
from suffice.tables.table import dense_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["DependenceDisplay"]

SIDE, LABELS = 0.34, 2.6  # inches of a cell, and of labels and bar
MAX_COLUMNS = 30
MOST_WITH_NUMBERS = 12  # columns whose cells have texts


@dataclass(eq=False, repr=False)
class DependenceDisplay:
    """Correlations of columns within the classes, as a heat map.

    Naive Bayes assumes that they are all zero. If they are not, it counts the evidence of dependent columns twice, and
    its probabilities are too extreme.

    Attributes
    ----------
    columns : list
        The columns of numbers that are shown.
    correlation : array of shape (m, m)
        Correlation of the columns within the classes; NaN for a column that does not vary within them.
    n_columns : int
        Number of all columns of numbers. The plot shows those with the strongest correlations.
    origin : {"rows", "model"}
        Whether the correlations are those of the rows, or those of the model.
    label : object
        The class of the correlations; None for all classes together.
    ax_, figure_, im_
        The Axes, the figure, and the image.

    See Also
    --------
    suffice.diagnose : Tests the dependence, and gives advice.
    suffice.plotting.DensityDisplay : Shows columns one by one.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from suffice import GaussianDiscriminant
    >>> from suffice.plotting import DependenceDisplay
    >>> model = GaussianDiscriminant(estimation="mle").fit(*load_iris(return_X_y=True))
    >>> display = DependenceDisplay.from_estimator(model, ax=Figure().subplots())
    >>> display.origin, display.correlation[0].round(2).tolist()
    ('model', [1.0, 0.53, 0.76, 0.36])
    """

    columns: list[object]
    correlation: Float
    n_columns: int
    origin: str
    label: object = None
    ax_: Axes = field(init=False)
    figure_: AnyFigure = field(init=False)
    im_: AxesImage = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        label: Any = None,
        max_columns: int = MAX_COLUMNS,
        sample_weight: Any = None,
        ax: GivenAxes = None,
    ) -> DependenceDisplay:
        """Draw the correlations of the columns of numbers of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier of Suffice
            The model.
        X, y : array-like, optional
            Rows and their labels. Without them, the plot shows the covariances of the model, if it has any.
        label : optional
            The class whose correlations to show. By default those of all classes together.
        max_columns : int, default=30
            Largest number of columns; those with the strongest correlations are shown.
        sample_weight : array-like of shape (n,), optional
            Weight of each row, 1 by default.
        ax : Axes, optional
            Axes to draw on. By default a new figure is made.

        Returns
        -------
        DependenceDisplay
        """
        fitted = fitted_of(estimator, "A plot")
        check_count(max_columns, "max_columns")
        k = None if label is None else fitted.classes.position(label)
        rows = read_rows(fitted, X, y, sample_weight)
        if rows is None:
            names, correlation = _of_model(fitted, k)
        elif rows.members is None:
            raise InputError("Correlations within the classes need labels: give y.", argument="y")
        else:
            names, correlation = _of_rows(fitted, rows, k)
        shown = _strongest(correlation, max_columns)
        made = cls(
            [names[j] for j in shown.tolist()],
            correlation[np.ix_(shown, shown)],
            len(names),
            "model" if rows is None else "rows",
            label,
        )
        return made.plot(ax)

    def plot(self, ax: GivenAxes = None, *, cmap: str = "PuOr", colorbar: bool = True) -> DependenceDisplay:
        """Draw the heat map.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. By default a new figure is made.
        cmap : str
            Name of the colour map.
        colorbar : bool, default=True
            Whether to draw a colour bar.

        Returns
        -------
        Display
            This Display.
        """
        m = len(self.columns)
        side = max(SIDE * m, 1.8) * (1.3 if m <= MOST_WITH_NUMBERS else 1.0)
        self.ax_ = single(ax, (side + LABELS + 0.6, side + LABELS - 0.8))
        self.figure_ = self.ax_.figure
        self.im_ = self.ax_.imshow(np.ma.masked_invalid(self.correlation), cmap=cmap, vmin=-1.0, vmax=1.0)
        names = [column_text(name) for name in self.columns]
        self.ax_.set_xticks(range(m), names, rotation=60, ha="right", rotation_mode="anchor")
        self.ax_.set_yticks(range(m), names)
        if m <= MOST_WITH_NUMBERS:
            for i, j in np.ndindex(m, m):
                self._text(i, j)
        of = f" {label_text(self.label)}" if self.label is not None else "es"
        where = "of the model" if self.origin == "model" else "of the rows"
        note = shown_note(m, self.n_columns, "columns", "most dependent")
        self.ax_.set_title(f"within the class{of}, {where}" + (f"\n({note})" if note else ""), fontsize="medium")
        if colorbar:
            self.figure_.colorbar(self.im_, ax=self.ax_, label="correlation", shrink=0.8)
        return self

    def _text(self, i: int, j: int) -> None:
        value = float(self.correlation[i, j])
        known = np.isfinite(value)
        colour = "white" if known and abs(value) > 0.5 else "black"
        style: dict[str, Any] = {"color": colour} if known else {}
        text = f"{round(value, 2) + 0.0:.2f}".replace("0.", ".") if known else "–"
        self.ax_.text(j, i, text, ha="center", va="center", fontsize="x-small", **style)


def _of_rows(fitted: Fitted, rows: ShownRows, k: int | None) -> tuple[list[object], Float]:
    names = numeric_columns(fitted)
    if not names:
        raise InputError("The model has no column of numbers, so there are no correlations to draw.")
    x = dense_numbers(rows.table, [column_of(fitted, name).position for name in names], names)
    codes = rows.codes if k is None else np.where(rows.codes == k, k, -1)
    return names, within_class_correlations(x, codes, rows.weights)


def _of_model(fitted: Fitted, k: int | None) -> tuple[list[object], Float]:
    """Correlations of the blocks with a covariance; those between blocks are zero by assumption."""
    names, correlation = model_correlations(fitted.estimate, k)
    if not names:
        raise InputError(
            "The model assumes that its columns are independent within a class, so it has no correlations. Give X and "
            "y to draw those of the rows.",
            argument="X",
        )
    return names, correlation


def _strongest(correlation: Float, most: int) -> Index:
    """Positions of the columns with the strongest correlations, in their order."""
    strength = np.nan_to_num(np.abs(correlation - np.eye(len(correlation)))).max(axis=1)
    return np.sort(np.argsort(-strength, kind="stable")[:most])
