"""`WordsDisplay`: the most informative words of each class."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from suffice.exceptions import InputError
from suffice.families.complement import ComplementWeights
from suffice.learning.fitted import Fitted, fitted_of
from suffice.model.mutual_information import class_words
from suffice.numerics.types import Array, Float, Index
from suffice.plotting.figures import AnyFigure, GivenAxes, panels
from suffice.plotting.styles import (
    check_count,
    column_text,
    foreground,
    frequent_classes,
    label_text,
    look_of,
    plain_axes,
    shown_note,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["InformativeWords", "WordsDisplay", "has_words"]

WIDTH, BAR, REST = 3.0, 0.26, 1.1  # inches of a panel: width, height of a bar, height of everything else
N_WORDS = 12
MAX_CLASSES = 6
PER_ROW = 3  # panels side by side
COUNTED = ("multinomial", "bernoulli", "poisson", "geometric")  # families of words that are columns


@dataclass(frozen=True, eq=False)
class InformativeWords:
    """The most informative words of one class.

    Attributes
    ----------
    label : object
    words : list
        Words, or names of columns of counts; the strongest first.
    log_odds : array of shape (m,)
        What one occurrence adds to the log-odds of the class, in nats; see `WordsDisplay`.
    """

    label: object
    words: list[object]
    log_odds: Float


@dataclass(eq=False, repr=False)
class WordsDisplay:
    """The most informative words of each class: how much one occurrence adds to the log-odds of the class.

    For Bernoulli words, the number is what their presence adds. With more than two classes, each class is compared with
    the class for which the word is the next strongest evidence.

    Attributes
    ----------
    words : list of InformativeWords
        The words of each class that is shown.
    n_classes : int
        Number of classes of the model. The plot shows the most frequent ones.
    axes_ : array of Axes
        The Axes of each class; ``ax_`` is the first.
    figure_ : Figure
        The figure.
    bars_ : list of BarContainer
        The bars of each class.

    See Also
    --------
    suffice.TextNaiveBayes : Classifies documents.
    suffice.plotting.ExplanationDisplay : Shows the words of one document.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from suffice import TextNaiveBayes
    >>> from suffice.plotting import WordsDisplay
    >>> model = TextNaiveBayes().fit(["cheap pills, cheap", "see you, mum"], ["spam", "ham"])
    >>> display = WordsDisplay.from_estimator(model, ax=Figure().subplots())
    >>> display.words[1].label, display.words[1].words[0]
    ('spam', 'cheap')
    """

    words: list[InformativeWords]
    n_classes: int
    axes_: Array = field(init=False)
    ax_: Axes = field(init=False)
    figure_: AnyFigure = field(init=False)
    bars_: list[Any] = field(init=False)

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        y: Any = None,
        *,
        column: Any = None,
        n_words: int = N_WORDS,
        max_classes: int = MAX_CLASSES,
        ax: GivenAxes = None,
    ) -> WordsDisplay:
        """Draw the most informative words of a fitted classifier of texts or of counts.

        Parameters
        ----------
        estimator : fitted classifier of Suffice
            A model with a column of texts, or with columns of counts (multinomial, Bernoulli, Poisson).
        X, y : ignored
            The words are those of the model.
        column : optional
            The column of texts, if there are several. By default the first.
        n_words : int, default=12
            Largest number of words of each class.
        max_classes : int, default=6
            Largest number of classes; the most frequent ones are shown.
        ax : Axes or sequence of Axes, optional
            One Axes for each class, or one to divide. By default a new figure is made.

        Returns
        -------
        WordsDisplay
        """
        fitted = fitted_of(estimator, "A plot")
        check_count(n_words, "n_words")
        shown = frequent_classes(fitted.model.weights.weight, max_classes)
        if len(fitted.classes) < 2:
            raise InputError("Words separate classes, but the model has only one class.")
        found = _text_words(fitted, column, n_words, shown) or _counted_words(fitted, n_words, shown)
        return cls(found, len(fitted.classes)).plot(ax)

    def plot(self, ax: GivenAxes = None) -> WordsDisplay:
        """Draw a panel for each class.

        Parameters
        ----------
        ax : Axes or sequence of Axes, optional
            One Axes for each class, or one to divide. By default a new figure is made.

        Returns
        -------
        Display
            This Display.
        """
        n = len(self.words)
        most = max(1, *(len(each.words) for each in self.words))
        wide = min(n, PER_ROW)
        tall = -(-n // wide)
        axes = panels(ax, tall, wide, size=(WIDTH * wide, tall * (BAR * most + REST)))
        for unused in axes.ravel()[n:]:
            unused.set_axis_off()
        self.axes_ = axes.ravel()[:n]
        self.ax_ = self.axes_[0]
        self.figure_ = self.ax_.figure
        finite = np.concatenate([each.log_odds[np.isfinite(each.log_odds)] for each in self.words])
        top = float(finite.max(initial=0.0)) or 1.0
        self.bars_ = [self._draw(i, axes, most, top) for i, axes in enumerate(self.axes_)]
        note = shown_note(n, self.n_classes)
        for axes in self.axes_[-wide:]:
            axes.set_xlabel("log-odds, nats" + (f"\n({note})" if note and axes is self.ax_ else ""))
        return self

    def _draw(self, i: int, axes: Axes, most: int, top: float) -> Any:
        each, look = self.words[i], look_of(i)
        shown = np.minimum(np.nan_to_num(each.log_odds, posinf=np.inf), 1.1 * top)
        place = range(len(shown))
        style: dict[str, Any] = {"color": look.colour, "edgecolor": foreground(), "linewidth": 0.5, "hatch": look.hatch}
        bars = axes.barh(place, shown, 0.7, **style)
        for j in np.flatnonzero(np.isposinf(each.log_odds)).tolist():
            axes.text(shown[j], j, " ∞", va="center")
        axes.set_yticks(place, [column_text(word) for word in each.words])
        axes.set_ylim(most - 0.4, -0.6)
        axes.set_xlim(0.0, 1.2 * top)
        axes.set_title(label_text(each.label), fontsize="medium")
        if not each.words:
            axes.text(0.5, 0.5, "no word favours\nthis class", transform=axes.transAxes, ha="center", va="center")
        plain_axes(axes)
        axes.tick_params(axis="y", length=0)
        return bars


def has_words(fitted: Fitted) -> bool:
    """Whether the model is of texts alone, or of columns of counts alone that its family compares."""
    blocks = [block for block in fitted.blocks if not block.member]
    return all(block.family.reads == "documents" or block.family.name == "multinomial" for block in blocks)


def _text_words(fitted: Fitted, column: Any, n_words: int, shown: Index) -> list[InformativeWords]:
    """Informative words of one column of texts; empty if there is none."""
    every = class_words(fitted.estimate, n_words)
    columns = list(dict.fromkeys(each.column for each in every))
    if column is not None and column not in columns:
        raise InputError(f"The model has no column of texts {column!r:.80}.", argument="column", column=column)
    if not columns:
        return []
    chosen = columns[0] if column is None else column
    labels = fitted.classes.labels[shown].tolist()
    return [
        InformativeWords(each.label, list(each.words.words), each.words.log_odds)
        for each in every
        if each.column == chosen and each.label in labels
    ]


def _counted_words(fitted: Fitted, n_words: int, shown: Index) -> list[InformativeWords]:
    """Informative columns of counts."""
    estimate = fitted.estimate
    names: list[object] = []
    slopes: list[Float] = []
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        if block.family.name not in COUNTED:
            continue
        if isinstance(parameters, ComplementWeights):
            slopes.append(parameters.weights)
        else:
            slopes.append(block.family.linear_form(parameters).coef)
        names += list(block.names)
    if not names:
        raise InputError(
            "The model has no words: a column of texts, or columns of counts (multinomial, Bernoulli or Poisson) are "
            "expected. Draw densities instead: kind='densities'."
        )
    slope = np.hstack(slopes)
    out = []
    for k in shown.tolist():
        with np.errstate(invalid="ignore"):
            odds = np.nan_to_num(slope[k] - np.delete(slope, k, axis=0).max(axis=0), posinf=np.inf, neginf=-np.inf)
        order = np.argsort(-odds, kind="stable")[:n_words]
        order = order[odds[order] > 0]
        out.append(InformativeWords(fitted.classes.labels[k], [names[j] for j in order.tolist()], odds[order]))
    return out
