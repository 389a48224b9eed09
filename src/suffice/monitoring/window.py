"""`Window`: additive statistics of rows, from which a monitor computes its tests. It never holds the rows.

Two windows of different rows merge into the window of all of them:

- sums and counts add: cells and missing cells, levels, bins, documents with a word, posteriors and their products,
  labels and scores of predictions,
- moments of a column merge by the formulas of Chan, Golub and LeVeque (second order) and Pébay (third and fourth): with
  δ the difference of the means and n = a + b,

      m2 = m2_a + m2_b + δ² ab/n
      m3 = m3_a + m3_b + δ³ ab(a − b)/n² + 3δ (a m2_b − b m2_a)/n
      m4 = m4_a + m4_b + δ⁴ ab(a² − ab + b²)/n³ + 6δ² (a² m2_b + b² m2_a)/n² + 4δ (a m3_b − b m3_a)/n

  so an offset of 10⁸ costs no digits,
- the sample of log-likelihoods keeps the rows with the smallest keys −log(u)/w, where u is a hash of the row: a
  weighted sample without replacement of the rows of both,
- of the levels that the model does not know, the most frequent are kept by name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property

import numpy as np

from suffice.exceptions import MergeError, counted
from suffice.learning.profile import posterior_rows
from suffice.numerics.types import Codes, Float, Mask
from suffice.tables import Levels

__all__ = ["MOST_SAMPLED", "MOST_UNSEEN", "SCORES", "Layout", "Window", "merged_moments"]

MOST_SAMPLED = 2000  # rows whose log-likelihoods are kept
MOST_ESTIMATED = 200  # classes whose shares are estimated
MOST_UNSEEN = 20  # unseen levels of a column that are kept by name
SCORES = ("weight", "right", "log_loss", "log_loss_squares", "gap", "gap_squares", "unknown")


@dataclass(frozen=True, eq=False)
class Layout:
    """What windows of a monitor count; only windows with the same layout merge.

    Attributes
    ----------
    digest : str
        Identifies the model and the bins.
    numbers : tuple of (name, scale)
        Numbers of a row; see `suffice.learning.watched_columns`.
    cuts : tuple of tuples of float
        Ascending upper ends of the bins of each number but the last; empty for one bin.
    levels : tuple of (name, Levels)
        Columns of levels, and the levels that the model knows.
    words : tuple of (name, tuple of str)
        Columns of texts, and the words whose documents are counted.
    classes : tuple
        Labels of the classes.
    """

    digest: str
    numbers: tuple[tuple[object, str], ...]
    cuts: tuple[tuple[float, ...], ...]
    levels: tuple[tuple[object, Levels], ...]
    words: tuple[tuple[object, tuple[str, ...]], ...]
    classes: tuple[object, ...]

    @property
    def sampled(self) -> int:
        """Rows whose log-likelihoods are kept; none for many classes, whose shares would need many more."""
        return MOST_SAMPLED if len(self.classes) <= MOST_ESTIMATED else 0

    @cached_property
    def fourth(self) -> Mask:
        """The numbers whose powers 3 and 4 are summed, for the test of a variance without bins (D,)."""
        scales = [
            not cuts and scale in ("number", "log") for (_, scale), cuts in zip(self.numbers, self.cuts, strict=True)
        ]
        return np.array(scales, dtype=bool)

    @cached_property
    def offsets(self) -> Codes:
        """First bin of each number among all bins, and the end of the last (D + 1,); the last bin counts missing."""
        return np.concatenate([[0], np.cumsum([len(each) + 2 for each in self.cuts])]).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Window:
    """Additive statistics of rows, compared with a model by a monitor.

    Attributes
    ----------
    layout : Layout
        What is counted.
    n_rows : int
        Number of rows.
    weight, squares : float
        Sum of the weights of the rows and of their squares.
    moments : array of shape (5, D)
        Weight, mean and centred sums of powers 2, 3 and 4 of each number; missing cells are left out. The powers 3 and
        4 are zero for numbers with bins, which do not need them.
    bins : array of shape (C,)
        Weight of each bin of the numbers, one after the other; the last bin of each counts missing cells.
    levels : tuple of arrays of shape (L + 2,)
        Weight of each level of a column, of levels that the model does not know, and of missing cells.
    unseen : tuple of mappings
        Weight of the most frequent unknown levels of each column.
    words : tuple of arrays of shape (W + 2,)
        Weight of the documents that have each word, of all documents, and of missing ones.
    posterior : array of shape (K + 1, K)
        Sum of the posteriors, and of their outer products; of more than 100 classes (2, K), the sum of the squares.
    impossible : float
        Weight of the rows that have probability zero in every class.
    keys, ratios : arrays of shape (m,), (m, K)
        Keys and log-likelihoods of a sample of the rows.
    labels : array of shape (K,)
        Weight of the rows of each label.
    other_labels : mapping
        Weight of the most frequent labels that are not classes of the model.
    calibration : array of shape (3, 15)
        Of labelled rows, by the probability of their most probable class: weight, Σ p, and weight of correct ones.
    scores : array of shape (7,)
        Of labelled rows: weight, correct predictions, Σ loss, Σ loss², Σ gap, Σ gap², and weight of other labels. The
        loss is −log p(label), the gap is 1 or 0, whether correct, minus the probability of the predicted class.

    See Also
    --------
    suffice.monitoring.Monitor : Makes windows, and compares them.

    Examples
    --------
    >>> from suffice import NaiveBayes
    >>> monitor = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"]).monitor()
    >>> hours = monitor.window([[2.0], [4.0]]), monitor.window([[12.0]])
    >>> day = hours[0].merge(hours[1])
    >>> day.n_rows, float(day.moments[1, 0])
    (3, 6.0)
    """

    layout: Layout
    n_rows: int
    weight: float
    squares: float
    moments: Float
    bins: Float
    levels: tuple[Float, ...]
    unseen: tuple[Mapping[object, float], ...]
    words: tuple[Float, ...]
    posterior: Float
    impossible: float
    keys: Float
    ratios: Float
    labels: Float
    other_labels: Mapping[object, float] = field(default_factory=dict)
    calibration: Float = field(default_factory=lambda: np.zeros((3, 15)))
    scores: Float = field(default_factory=lambda: np.zeros(len(SCORES)))

    @classmethod
    def zero(cls, layout: Layout) -> Window:
        """Return the window of no rows.

        Parameters
        ----------
        layout : Layout
            ``layout`` of a monitor.

        Returns
        -------
        Window

        See Also
        --------
        merge : Adds windows.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> from suffice.monitoring import Window
        >>> monitor = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"]).monitor()
        >>> Window.zero(monitor.layout)
        Window of 0 rows
        """
        d, k = len(layout.numbers), len(layout.classes)
        return cls(
            layout,
            0,
            0.0,
            0.0,
            np.zeros((5, d)),
            np.zeros(int(layout.offsets[-1])),
            tuple(np.zeros(len(levels) + 2) for _, levels in layout.levels),
            tuple({} for _ in layout.levels),
            tuple(np.zeros(len(words) + 2) for _, words in layout.words),
            np.zeros((posterior_rows(k), k)),
            0.0,
            np.empty(0),
            np.empty((0, k)),
            np.zeros(k),
        )

    def merge(self, other: Window) -> Window:
        """Return the window of the rows of both.

        Parameters
        ----------
        other : Window

        Returns
        -------
        Window

        Raises
        ------
        MergeError
            If the other window was made by the monitor of another model.

        See Also
        --------
        zero : Returns the window of no rows.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> from suffice.monitoring import Window
        >>> monitor = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"]).monitor()
        >>> monitor.window([[2.0], [4.0]]).merge(monitor.window([[12.0]]))
        Window of 3 rows
        """
        if self.layout.digest != other.layout.digest:
            raise MergeError(
                "Cannot merge windows of different models: the second was made by a monitor of another model, or with "
                "other reference rows. Make both windows with the same monitor."
            )
        keys = np.concatenate([self.keys, other.keys])
        ratios = np.concatenate([self.ratios, other.ratios])
        some = np.argsort(keys, kind="stable")[: self.layout.sampled]
        moments = merged_moments(self.moments, other.moments)
        moments[3:, ~self.layout.fourth] = 0.0
        sums = {
            each.name: getattr(self, each.name) + getattr(other, each.name)
            for each in fields(self)
            if each.name in SUMS
        }
        return replace(
            self,
            moments=moments,
            levels=_added(self.levels, other.levels),
            words=_added(self.words, other.words),
            unseen=tuple(most_frequent(a, b) for a, b in zip(self.unseen, other.unseen, strict=True)),
            other_labels=most_frequent(self.other_labels, other.other_labels),
            keys=keys[some],
            ratios=ratios[some],
            **sums,
        )

    @property
    def effective(self) -> float:
        """The number of rows of equal weight that determine a mean as well, (Σw)²/Σw²; 0 for no rows."""
        return self.weight**2 / self.squares if self.squares > 0 else 0.0

    @property
    def scale(self) -> float:
        """Effective rows per weight: weights times this number are counts; 1 without weights."""
        return self.weight / self.squares if self.squares > 0 else 1.0

    def to_bytes(self) -> bytes:
        """Return the window as bytes, which `from_bytes` reads.

        Returns
        -------
        bytes
            The content of a window file, as ``suffice monitor --window`` writes it.

        See Also
        --------
        from_bytes : Reads them.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> from suffice.monitoring import Window
        >>> monitor = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"]).monitor()
        >>> Window.from_bytes(monitor.window([[2.0]]).to_bytes())
        Window of 1 row
        """
        from suffice.monitoring.window_file import window_bytes

        return window_bytes(self)

    @staticmethod
    def from_bytes(content: bytes) -> Window:
        """Read a window from the bytes of `to_bytes`.

        Parameters
        ----------
        content : bytes

        Returns
        -------
        Window

        Raises
        ------
        ModelFileError
            If the bytes are not a window, or damaged.

        See Also
        --------
        to_bytes : Returns the bytes of a window.

        Examples
        --------
        >>> from suffice.monitoring import Window
        >>> Window.from_bytes(b"no window")
        Traceback (most recent call last):
        suffice.exceptions.ModelFileError: The content is not a window, or it is damaged: ...
        """
        from suffice.monitoring.window_file import window_of_bytes

        return window_of_bytes(content)

    def __repr__(self) -> str:
        return f"Window of {counted(self.n_rows, 'row')}"


SUMS = ("n_rows", "weight", "squares", "bins", "posterior", "impossible", "labels", "calibration", "scores")


def merged_moments(a: Float, b: Float) -> Float:
    """Moments (5, D) of the rows of both: weight, mean, and centred sums of the powers 2, 3 and 4."""
    n_a, n_b = a[0], b[0]
    n = n_a + n_b
    safe = np.where(n > 0, n, 1.0)
    p, q = n_a / safe, n_b / safe
    with np.errstate(over="ignore", invalid="ignore"):
        away = np.where((n_a > 0) & (n_b > 0), b[1] - a[1], 0.0)
        mean = np.where(n_a > 0, a[1] + away * q, b[1])
        square = a[2] + b[2] + away**2 * n_a * q
        cubic = a[3] + b[3] + away**3 * n_a * q * (p - q) + 3 * away * (p * b[2] - q * a[2])
        quartic = a[4] + b[4] + away**4 * n_a * q * (p * p - p * q + q * q)
        quartic += 6 * away**2 * (p * p * b[2] + q * q * a[2]) + 4 * away * (p * b[3] - q * a[3])
    return np.array([n, mean, square, cubic, quartic])


def most_frequent(a: Mapping[object, float], b: Mapping[object, float]) -> dict[object, float]:
    """The sums of two mappings, of which only the largest are kept."""
    if not (a or b):
        return {}
    total = dict(a)
    for value, weight in b.items():
        total[value] = total.get(value, 0.0) + weight
    order = sorted(total, key=lambda value: (-total[value], str(value)))
    return {value: total[value] for value in order[:MOST_UNSEEN]}


def _added(a: tuple[Float, ...], b: tuple[Float, ...]) -> tuple[Float, ...]:
    return tuple(mine + theirs for mine, theirs in zip(a, b, strict=True))
