"""`ImportanceDisplay`: the columns, or words, with the largest effect on predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.exceptions import InputError
from suffice.learning.fitted import fitted_of
from suffice.learning.prediction import explained
from suffice.model.explanation_result import PRIOR, Explanation
from suffice.numerics.types import Float
from suffice.plotting.figures import AnyFigure, GivenAxes, single
from suffice.plotting.rows import read_table
from suffice.plotting.styles import COLOURS, check_count, column_text, foreground, label_text, plain_axes, shown_note
from suffice.statistics.classes import evenly_spaced

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ImportanceDisplay"]

WIDTH, BAR, REST = 6.0, 0.28, 1.2  # inches: width, height of a bar, height of everything else
MAX_COLUMNS = 15
MOST_ROWS = 5000  # of which evenly spaced ones are explained


@dataclass(eq=False, repr=False)
class ImportanceDisplay:
    """Importance of columns or words: the mean size of their parts of the log-odds over rows, the largest first.

    With two classes, the log-odds are those of the second class; with more, those of each row's most probable class
    against the second most probable.

    Attributes
    ----------
    names : list
        Columns, tuples of dependent columns, or words.
    strength : array of shape (m,)
        Mean absolute value of each part, in nats.
    n_columns : int
        Number of all columns or words.
    n_rows : int
        Number of rows that were explained.
    words : bool
        Whether the parts are words.
    ax_, figure_, bars_
        The Axes, the figure, and the bars.

    See Also
    --------
    suffice.plotting.ExplanationDisplay : Shows the parts of one row.
    suffice.plotting.DensityDisplay : Shows the distribution of a column in each class.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import NaiveBayes
    >>> from suffice.plotting import ImportanceDisplay
    >>> X, y = [[1.0, 5.0], [3.0, 6.0], [10.0, 5.0], [14.0, 7.0]], ["a", "a", "b", "b"]
    >>> ImportanceDisplay.from_estimator(NaiveBayes().fit(X, y), X, ax=Figure().subplots()).names
    [0, 1]
    """

    names: list[object]
    strength: Float
    n_columns: int
    n_rows: int
    words: bool = False
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
        label: Any = None,
        against: Any = None,
        max_columns: int = MAX_COLUMNS,
        ax: GivenAxes = None,
    ) -> ImportanceDisplay:
        """Draw the most important columns of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier of Suffice
            The model.
        X : array-like of shape (n, d), or a source
            Rows to explain. If there are more than 5,000, evenly spaced ones are used.
        y : str, optional
            The target column of a source; otherwise ignored.
        label, against : optional
            The classes to compare, as in `explain`.
        max_columns : int, default=15
            Largest number of columns or words to show.
        ax : Axes, optional
            Axes to draw on. By default a new figure is made.

        Returns
        -------
        ImportanceDisplay
        """
        fitted = fitted_of(estimator, "A plot")
        if X is None:
            raise InputError("The plot needs rows to explain: give X.", argument="X")
        check_count(max_columns, "max_columns")
        fitted.specification.check_density("explain")
        table = read_table(fitted, X, y)
        if not len(table):
            raise InputError("X has no rows to explain.", argument="X")
        if len(table) > MOST_ROWS:
            table = table.take(evenly_spaced(np.arange(len(table)), MOST_ROWS))
        found = explained(fitted, table, label, against).by_column()
        names, strength = _strengths(found)
        order = np.argsort(-strength, kind="stable")[:max_columns]
        chosen = [names[j] for j in order.tolist()]
        return cls(chosen, strength[order], len(names), len(found), found.counts is not None).plot(ax)

    def plot(self, ax: GivenAxes = None) -> ImportanceDisplay:
        """Draw the bars.

        Parameters
        ----------
        ax : Axes, optional
            Axes to draw on. By default a new figure is made.

        Returns
        -------
        Display
            This Display.
        """
        n = len(self.names)
        self.ax_ = single(ax, (WIDTH, BAR * n + REST))
        self.figure_ = self.ax_.figure
        finite = self.strength[np.isfinite(self.strength)]
        shown = np.nan_to_num(self.strength, posinf=1.2 * float(finite.max(initial=1.0)))
        self.bars_ = self.ax_.barh(range(n), shown, 0.7, color=COLOURS[0], edgecolor=foreground(), linewidth=0.5)
        for i in np.flatnonzero(np.isposinf(self.strength)).tolist():
            self.ax_.text(shown[i], i, " ∞", va="center")
        texts = [label_text(name) if self.words else column_text(name) for name in self.names]
        self.ax_.set_yticks(range(n), texts)
        self.ax_.set_ylim(n - 0.4, -0.6)
        things = "words" if self.words else "columns"
        note = shown_note(n, self.n_columns, things, "strongest")
        rows = f"{self.n_rows:,} rows" if self.n_rows != 1 else "1 row"
        what = f"mean |part of the log-odds| of {rows}, nats"
        self.ax_.set_xlabel(f"{what}\n({note})" if note else what)
        plain_axes(self.ax_)
        self.ax_.tick_params(axis="y", length=0)
        return self


def _strengths(found: Explanation) -> tuple[list[object], Float]:
    """Names of the parts besides the prior, and the mean of their absolute values over all rows."""
    if found.counts is None:
        used = [j for j, name in enumerate(found.names) if name != PRIOR]
        return [found.names[j] for j in used], np.abs(np.asarray(found.parts)[:, used]).mean(axis=0)
    total: dict[object, float] = {}
    for names, parts in zip(found.names, found.parts, strict=True):
        for name, part in zip(names, parts.tolist(), strict=True):
            if name != PRIOR:
                total[name] = total.get(name, 0.0) + abs(part)
    return list(total), np.array(list(total.values())) / max(len(found), 1)
