"""`ExplanationDisplay`: a waterfall of the log-odds of one row."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.exceptions import ClassError, InputError
from suffice.learning.fitted import fitted_of
from suffice.learning.prediction import answer, explained
from suffice.model.explanation_result import PRIOR, Explanation
from suffice.numerics.types import Float
from suffice.plotting.figures import AnyFigure, GivenAxes, single
from suffice.plotting.rows import read_table
from suffice.plotting.styles import COLOURS, check_count, column_text, foreground, label_text, plain_axes
from suffice.tables.cell_values import value_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ExplanationDisplay"]

WIDTH, BAR, REST = 6.4, 0.3, 1.4  # inches: width, height of a bar, height of everything else
MAX_PARTS = 10
SHORT = 20  # characters of a value, or of a class beside others
FOR, AGAINST = COLOURS[0], COLOURS[5]
LARGEST = 50.0  # nats of an infinite part, at least


@dataclass(eq=False, repr=False)
class ExplanationDisplay:
    """Waterfall of the log-odds of one row: the parts of the columns, from the class prior to the total.

    Each bar starts where the one above it ends. Bars to the right are evidence for ``label``, and bars to the left for
    ``against``. Small parts are added up as "others".

    Attributes
    ----------
    names : list of str
        Names of the parts from top to bottom: the prior, then the strongest first.
    parts : array of shape (m,)
        What each part adds to the log-odds, in nats.
    label, against : object
        The classes that are compared.
    log_odds : float
        The sum of the parts.
    measure : {"log-odds", "log-odds before calibration", "weighted log-odds"}
        Name of the sum of the parts.
    predicted_log_odds : float or None
        log p(label | x) − log p(against | x) by the predicted probabilities, if the model calibrates them.
    ax_, figure_, bars_
        The Axes, the figure, and the bars: the parts, then the total.

    See Also
    --------
    suffice.plotting.ImportanceDisplay : Shows the mean over many rows.
    suffice.plotting.WordsDisplay : Shows the words of each class.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import NaiveBayes
    >>> from suffice.plotting import ExplanationDisplay
    >>> model = NaiveBayes().fit([[1.0, 5.0], [3.0, 6.0], [10.0, 5.0], [14.0, 7.0]], ["a", "a", "b", "b"])
    >>> display = ExplanationDisplay.from_estimator(model, [[4.0, 5.0]], ax=Figure().subplots())
    >>> display.names[0], bool(abs(display.parts.sum() - display.log_odds) < 1e-12)
    ('(prior)', True)
    """

    names: list[str]
    parts: Float
    label: object
    against: object
    log_odds: float
    measure: str = "log-odds"
    predicted_log_odds: float | None = None
    ax_: Axes = field(init=False)
    figure_: AnyFigure = field(init=False)
    bars_: Any = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: Any = None,
        *,
        row: int = 0,
        label: Any = None,
        against: Any = None,
        max_parts: int = MAX_PARTS,
        ax: GivenAxes = None,
    ) -> ExplanationDisplay:
        """Draw the explanation of one row by a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier of Suffice
            The model.
        X : array-like of shape (n, d), or a source
            Rows, of which one is explained.
        y : str, optional
            The target column of a source; otherwise ignored.
        row : int, default=0
            Position of the row in X; negative positions count from the end.
        label, against : optional
            The classes to compare, as in `explain`.
        max_parts : int, default=10
            Largest number of parts besides the prior; the smallest are added up.
        ax : Axes, optional
            Axes to draw on. By default a new figure is made.

        Returns
        -------
        ExplanationDisplay
        """
        fitted = fitted_of(estimator, "A plot")
        if X is None:
            raise InputError("The plot needs a row to explain: give X.", argument="X")
        fitted.specification.check_density("explain")
        table = read_table(fitted, X, y)
        at = _position(row, len(table))
        if len(fitted.classes) < 2:
            raise ClassError("An explanation compares two classes; the model has only one.")
        row_table = table.take(np.array([at]))
        made = cls._of(explained(fitted, row_table, label, against), 0, max_parts)
        if fitted.specification.calibrates:
            log_proba = answer(fitted, row_table, "predict_log_proba")[0]
            first, second = (fitted.classes.position(each) for each in (made.label, made.against))
            made.predicted_log_odds = float(log_proba[first] - log_proba[second])
        return made.plot(ax)

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, *, row: int = 0, max_parts: int = MAX_PARTS, ax: GivenAxes = None
    ) -> ExplanationDisplay:
        """Draw one row of the result of ``model.explain(X)``.

        Parameters
        ----------
        explanation : Explanation
            The result of ``explain``.
        row, max_parts, ax
            As in `from_estimator`.

        Returns
        -------
        ExplanationDisplay
        """
        return cls._of(explanation, row, max_parts).plot(ax)

    @classmethod
    def _of(cls, explanation: Explanation, row: int, max_parts: int) -> ExplanationDisplay:
        check_count(max_parts, "max_parts")
        explanation = explanation.by_column()
        at = _position(row, len(explanation))
        words = explanation.counts is not None
        names = list(explanation.names[at] if words else explanation.names)
        parts = np.asarray(explanation.parts[at], dtype=np.float64)
        prior = np.array([name == PRIOR for name in names])
        others = np.flatnonzero(~prior)
        others = others[np.argsort(-np.abs(parts[others]), kind="stable")]
        few = max_parts if len(others) <= max_parts else max_parts - 1
        kept, rest = others[:few], others[few:]
        if explanation.labels[at] == explanation.against[at]:
            raise InputError("label and against must be different classes.", argument="against")
        cells = explanation.values(at)
        shown = [_name(names[j], cells[j], words=words) for j in kept.tolist()]
        values = [float(parts[prior].sum()), *parts[kept].tolist()]
        if len(rest):
            shown.append(f"{len(rest):,} others")
            values.append(float(parts[rest].sum()))
        return cls(
            [PRIOR, *shown],
            np.array(values),
            explanation.labels[at],
            explanation.against[at],
            float(explanation.log_odds[at]),
            explanation.measure,
        )

    def plot(self, ax: GivenAxes = None) -> ExplanationDisplay:
        """Draw the waterfall.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. By default a new figure is made.

        Returns
        -------
        Display
            This Display.
        """
        n = len(self.parts) + 1
        self.ax_ = single(ax, (WIDTH, BAR * n + REST))
        self.figure_ = self.ax_.figure
        values = _bounded(np.append(self.parts, self.log_odds))
        starts = np.append(np.concatenate([[0.0], np.cumsum(values[:-2])]), 0.0)
        ends = starts + values
        colours = [FOR if value >= 0 else AGAINST for value in values]
        edge = foreground()
        self.bars_ = self.ax_.barh(range(n), values, 0.7, starts, color=colours, edgecolor=edge, linewidth=0.5)
        for bar, value in zip(self.bars_, values, strict=True):
            bar.set_hatch("" if value >= 0 else "///")
        self.bars_[-1].set_linewidth(1.5)
        for i in range(n - 1):
            self.ax_.plot([ends[i], ends[i]], [i - 0.35, i + 1.35], color=edge, linewidth=0.6, alpha=0.6)
        self._label(n, starts, ends)
        return self

    def _label(self, n: int, starts: Float, ends: Float) -> None:
        wide = max(float(np.ptp(np.concatenate([starts, ends, [0.0]]))), 1e-9)
        exact = np.append(self.parts, self.log_odds)
        for i, (start, end, value) in enumerate(zip(starts, ends, exact, strict=True)):
            side = 0.01 * wide if end >= start else -0.01 * wide  # beyond the end of the bar
            text = _signed(float(value))
            place: dict[str, Any] = {"ha": "left" if side > 0 else "right", "va": "center"}
            self.ax_.text(end + side, i, text, fontsize="small", **place)
        left, right = min(starts.min(), ends.min(), 0.0), max(starts.max(), ends.max(), 0.0)
        self.ax_.set_xlim(left - 0.14 * wide, right + 0.14 * wide)
        self.ax_.axvline(0.0, color=foreground(), linewidth=0.8)
        self.ax_.set_yticks(range(n), [*self.names, "total"])
        self.ax_.set_ylim(n - 0.4, -0.6)
        label, against = label_text(self.label, SHORT), label_text(self.against, SHORT)
        self.ax_.set_xlabel(f"{self.measure} in nats\n← {against}   |   {label} →")
        title = f"{label} against {against}"
        if self.predicted_log_odds is not None:
            title += f"\nlog-odds of the calibrated probabilities: {_signed(self.predicted_log_odds)}"
        self.ax_.set_title(title, fontsize="medium")
        plain_axes(self.ax_)
        self.ax_.tick_params(axis="y", length=0)


def _position(row: object, n: int) -> int:
    if isinstance(row, bool) or not isinstance(row, int | np.integer) or not -n <= row < n:
        raise InputError(f"row must be the position of one of the {n:,} rows; got {row!r:.80}.", argument="row")
    return int(row) % n


def _name(name: object, value: object, *, words: bool) -> str:
    """A part with the value of its cell, or the count of a word that occurs more than once."""
    if words:
        return label_text(name) if value in (None, 1) else f"{label_text(name)} × {value}"
    text = column_text(name)
    return text if value is None or isinstance(name, tuple) else f"{text} = {label_text(value_text(value), SHORT)}"


def _signed(value: float) -> str:
    return f"{value:+.3g}".replace("-", "−")


def _bounded(values: Float) -> Float:
    """Values whose infinite ones are a little beyond all others, so that they can be drawn."""
    finite = values[np.isfinite(values)]
    most = max(2 * float(np.abs(finite).sum()), LARGEST)
    return np.nan_to_num(values, nan=0.0, posinf=most, neginf=-most)
