"""`ConfusionDisplay`: numbers of rows by true class and predicted class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from suffice.exceptions import InputError
from suffice.learning.row_predictions import HeldOutSetting
from suffice.numerics.types import Codes, Float
from suffice.plotting.class_curves import of_rows
from suffice.plotting.figures import AnyFigure, GivenAxes, single
from suffice.plotting.predictions import impossible_note, predicted, predicted_from
from suffice.plotting.styles import frequent_classes, label_text, shown_note
from suffice.sources.labels import encode, read_labels, read_weights
from suffice.statistics import ClassAxis

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.image import AxesImage

__all__ = ["ConfusionDisplay", "Normalize"]

Normalize = Literal["true", "pred", "all"]
SIDE, LABELS = 0.5, 2.6  # inches of a cell, and of labels and bar
MOST_SHOWN = 20
OTHERS = "(others)"


@dataclass(eq=False, repr=False)
class ConfusionDisplay:
    """Confusion matrix: numbers of rows by true class and predicted class.

    Attributes
    ----------
    matrix : array of shape (K, K)
        Weight of the rows by true class (down) and predicted class (across), as in scikit-learn, or shares with
        ``normalize``. If there are more than ``max_classes`` classes, the last row and column are all other classes
        together.
    labels : list
        The classes that are shown. The last is ``"(others)"`` if some are not.
    n_classes : int
        Number of all classes.
    normalize : {"true", "pred", "all"} or None
        The sums by which the matrix was divided.
    rule : str
        How the rows were held out: "leave-one-out", "10 folds", "held-out rows", or "new rows".
    n_impossible : int
        Number of rows with probability zero in every class. They count as predictions of the most probable class of the
        prior, as in `predict`.
    ax_, figure_, im_, text_
        The Axes, the figure, the image, and the texts of the cells (K, K).

    See Also
    --------
    suffice.plotting.RocCurveDisplay : Shows all thresholds of a probability.
    suffice.plotting.CalibrationDisplay : Shows whether probabilities match observed frequencies.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice.plotting import ConfusionDisplay
    >>> display = ConfusionDisplay.from_predictions(["a", "a", "b"], ["a", "b", "b"], ax=Figure().subplots())
    >>> display.matrix
    array([[1., 1.],
           [0., 1.]])
    """

    matrix: Float
    labels: list[object]
    n_classes: int
    normalize: Normalize | None = None
    rule: str = ""
    n_impossible: int = 0
    ax_: Axes = field(init=False)
    figure_: AnyFigure = field(init=False)
    im_: AxesImage = field(init=False)
    text_: list[list[Any]] = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any,
        *,
        held_out: HeldOutSetting = "auto",
        normalize: Normalize | None = None,
        sample_weight: Any = None,
        max_classes: int = MOST_SHOWN,
        ax: GivenAxes = None,
    ) -> ConfusionDisplay:
        """Draw the confusion matrix of a fitted classifier: each row gets its most probable class.

        Parameters
        ----------
        estimator : fitted classifier of Suffice
            The model.
        X, y : array-like
            Rows and their labels.
        held_out : bool or "auto", default="auto"
            Whether to score each row by a model without it; see `RocCurveDisplay.from_estimator`.
        normalize : {"true", "pred", "all"} or None, default=None
            Whether to show shares of the rows of each true class, of each predicted class, or of all rows. None shows
            numbers of rows.
        sample_weight : array-like of shape (n,), optional
            Weight of each row, 1 by default.
        max_classes : int, default=20
            Largest number of classes to show. The most frequent classes are shown, and all others share a row and a
            column.
        ax : Axes, optional
            Axes to draw on. By default a new figure is made.

        Returns
        -------
        ConfusionDisplay
        """
        rows = predicted(estimator, X, y, held_out=held_out, sample_weight=sample_weight)
        made = cls._of(ClassAxis(rows.labels), rows.codes, rows.likeliest, rows.weights, normalize, max_classes)
        made.rule, made.n_impossible = rows.rule, rows.n_impossible
        return made.plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        predictions: Any,
        *,
        classes: Any = None,
        normalize: Normalize | None = None,
        sample_weight: Any = None,
        max_classes: int = MOST_SHOWN,
        ax: GivenAxes = None,
    ) -> ConfusionDisplay:
        """Draw the confusion matrix of given predictions.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        predictions : array-like of shape (n,) or (n, K)
            Predicted labels, or probabilities in the order of ``classes``.
        classes : array-like of shape (K,), optional
            The classes. By default the sorted labels.
        normalize, sample_weight, max_classes, ax
            As in `from_estimator`.

        Returns
        -------
        ConfusionDisplay
        """
        if np.ndim(predictions) == 2:
            rows = predicted_from(y_true, predictions, classes=classes, sample_weight=sample_weight)
            axis = ClassAxis(rows.labels)
            return cls._of(axis, rows.codes, rows.likeliest, rows.weights, normalize, max_classes).plot(ax)
        first, codes = encode(read_labels(y_true, len(y_true), "The plot"))
        second, guessed = encode(read_labels(predictions, len(codes), "The plot"))
        axis = first.union(second)
        given = read_weights(sample_weight, len(codes))
        weights = np.ones(len(codes)) if given is None else given
        codes, guessed = axis.positions(first.labels)[codes], axis.positions(second.labels)[guessed]
        return cls._of(axis, codes, guessed, weights, normalize, max_classes).plot(ax)

    @classmethod
    def _of(
        cls,
        axis: ClassAxis,
        codes: Codes,
        likeliest: Codes,
        weights: Float,
        normalize: Normalize | None,
        max_classes: int,
    ) -> ConfusionDisplay:
        if normalize not in ("true", "pred", "all", None):
            raise InputError(
                f"normalize must be 'true', 'pred', 'all' or None; got {normalize!r:.80}.", argument="normalize"
            )
        k = len(axis)
        shown = frequent_classes(np.bincount(codes, weights, minlength=k).astype(np.float64), max_classes)
        place = np.full(k, len(shown))
        place[shown] = np.arange(len(shown))
        size = len(shown) + (len(shown) < k)
        counted = np.bincount(place[codes] * size + place[likeliest], weights, minlength=size * size)
        matrix: Float = counted.reshape(size, size).astype(np.float64)
        sums = {
            "true": matrix.sum(axis=1, keepdims=True),
            "pred": matrix.sum(axis=0, keepdims=True),
            "all": matrix.sum(),
        }
        if normalize is not None:
            total = np.broadcast_to(sums[normalize], matrix.shape)
            matrix = np.divide(matrix, total, out=np.zeros_like(matrix), where=total > 0)
        labels = axis.labels[shown].tolist() + ([OTHERS] if len(shown) < k else [])
        return cls(matrix, labels, k, normalize)

    def plot(self, ax: GivenAxes = None, *, cmap: str = "Blues", colorbar: bool = True) -> ConfusionDisplay:
        """Draw the matrix.

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
        k = len(self.labels)
        side = max(SIDE * k, 1.6)
        self.ax_ = single(ax, (side + LABELS, side + LABELS - 0.6))
        self.figure_ = self.ax_.figure
        own = self.matrix[: k - 1, : k - 1] if OTHERS in self.labels else self.matrix
        top = 1.0 if self.normalize in ("true", "pred") else max(float(own.max(initial=0.0)), 1e-9)
        self.im_ = self.ax_.imshow(self.matrix, cmap=cmap, vmin=0.0, vmax=top)
        self.text_ = [[self._text(i, j) for j in range(k)] for i in range(k)]
        names = [label_text(label, 20) for label in self.labels]
        upright = sum(map(len, names)) > 8 * k
        self.ax_.set_xticks(range(k), names, rotation=60 if upright else 0, ha="right" if upright else "center")
        self.ax_.set_yticks(range(k), names)
        note = shown_note(k - 1, self.n_classes) if OTHERS in self.labels else ""
        self.ax_.set_xlabel("predicted class" + (f"\n({note})" if note else ""))
        self.ax_.set_ylabel(f"true class{of_rows(self.rule)}")
        self.ax_.set_title(impossible_note(self.n_impossible), fontsize="small")
        if colorbar:
            what = {"true": "share of the true class", "pred": "share of the predicted class", "all": "share of rows"}
            label = what.get(str(self.normalize), "rows")
            self.figure_.colorbar(self.im_, ax=self.ax_, label=label, shrink=0.8)
        return self

    def _text(self, i: int, j: int) -> Any:
        value = float(self.matrix[i, j])
        whole = self.normalize is None or value == 0
        text = f"{value:,.0f}" if whole and value == round(value) else f"{value:,.2f}"
        red, green, blue, _ = self.im_.cmap(self.im_.norm(np.array(value)))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.55
        size = "medium" if len(self.labels) <= 8 else "x-small"
        return self.ax_.text(j, i, text, ha="center", va="center", color="white" if dark else "black", fontsize=size)
