"""`Monitor`: compares windows of rows with a model, once or as a sequence in time.

*One look.* m tests of a look have p-values p₁ ≤ … ≤ p_m. By the rule of Benjamini and Hochberg the tests with
p ≤ i α/m, for the largest i with p_i ≤ i α/m, are significant. If a part of the tests is of columns that have not
changed, the expected share of these among the significant ones is at most α; if nothing has changed, the probability of
any significant test is at most α. Both hold for independent tests, and for tests with positive dependence (PRDS).

*A sequence.* Look t has the level α_t = α/(t(t + 1)), and Σ_t α_t = α. By the union bound, the probability of any alarm
over an endless stream without change is at most α, whatever the dependence of the windows.

*Slow drift.* A look tests the newest window, and merges of the last 2, 4, 8, … windows each time these numbers divide
t. All tests of a look share its level. The monitor keeps the windows of a binary counter: at most log₂ t + 1.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from suffice.exceptions import InputError
from suffice.learning.fitted import Fitted, fitted_of
from suffice.learning.prior_shift import estimate_shares
from suffice.learning.profile import Profile
from suffice.learning.watched_columns import LOG_DENSITY, WatchedColumns
from suffice.monitoring.candidates import Candidate
from suffice.monitoring.checking import Checker
from suffice.monitoring.profiling import profile_of_rows
from suffice.monitoring.reading import read_batches
from suffice.monitoring.reference import completed, layout_of
from suffice.monitoring.result import ClassShares, Drift, Finding, LabelScores
from suffice.monitoring.summarizing import Summarizer
from suffice.monitoring.window import SCORES, Window
from suffice.numerics.types import Float

__all__ = ["Monitor"]


@dataclass(frozen=True)
class _Kept:
    """The windows of a binary counter: number of windows and their merge, the oldest first."""

    looks: int = 0
    merged: tuple[tuple[int, Window], ...] = ()


class Monitor:
    """Compares windows of rows with the rows that a model has learned, which are not kept.

    Estimators make it with ``monitor``. The reference is the model as it is then; later changes of the model do not
    change it.

    Parameters
    ----------
    model : estimator
        A fitted model.
    X, y, sample_weight : optional
        Reference rows that the model has not learned, as `window` takes them, for a model without a profile: one that
        `suffice.fit` has not fitted, or that has learned or forgotten more than 1 % of its weight since.
    level : float, default=0.05
        Probability of a false alarm: of one look for `check`, of all looks together for `update`.
    minimum_effect : float, default=0
        Smaller effects are not significant, however many rows show them; see `suffice.monitoring.Finding`. By default
        every change that is not chance is reported. For windows of more than some 10,000 rows, 0.1 (a tenth of a
        standard deviation, or of the rows) leaves out changes that hardly move predictions.

    Attributes
    ----------
    layout : Layout
        What the windows of this monitor count; ``Window.zero(monitor.layout)`` is the window of no rows.

    See Also
    --------
    suffice.monitoring.Window : Statistics of rows.
    suffice.monitoring.Drift : The result.

    Examples
    --------
    >>> import numpy as np
    >>> import suffice
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> model = suffice.fit(X, (X[:, 0] + rng.normal(size=2000) > 0).astype(int), model="naive-bayes")
    >>> monitor = model.monitor()
    >>> monitor.check(monitor.window(rng.normal(size=(100, 2)))).alarm
    False
    >>> drift = monitor.check(monitor.window(rng.normal([0.0, 1.0], 1.0, (100, 2))))
    >>> drift.alarm, drift.findings[0].column
    (True, 1)

    A stream, window after window:

    >>> looks = [monitor.update(monitor.window(rng.normal(size=(50, 2)))) for _ in range(4)]
    >>> [look.alarm for look in looks], [round(look.level, 4) for look in looks]
    ([False, False, False, False], [0.025, 0.0083, 0.0042, 0.0025])
    """

    def __init__(
        self,
        model: Any,
        X: Any = None,
        y: Any = None,
        sample_weight: Any = None,
        *,
        level: float = 0.05,
        minimum_effect: float = 0.0,
    ) -> None:
        self.level = _number(level, "level", 0.0, 1.0)
        self.minimum_effect = _number(minimum_effect, "minimum_effect", 0.0, math.inf)
        self._fitted = fitted_of(model, "monitor")
        self._columns = WatchedColumns.of(self._fitted)
        if X is None and y is not None:
            raise InputError("y holds labels of reference rows, but X is missing. Give both, or neither.", argument="X")
        profile = self._fitted.profile if X is None else _profile_of(self._fitted, X, y, sample_weight)
        self.reference, self.profile = completed(self._fitted, self._columns, profile)
        self.layout = layout_of(self._fitted, self._columns, self.reference)
        self._kept = _Kept()
        self._lock = threading.Lock()

    # ------------------------------------------------------------------ windows

    def window(self, X: Any, y: Any = None, sample_weight: Any = None) -> Window:
        """Summarise rows as a window.

        Parameters
        ----------
        X : array-like of shape (n, d), or a source, or the path of a file
            The rows, as `predict` takes them. A source is read batch by batch.
        y : array-like of shape (n,), or str, optional
            Labels that are known by now; a label may be missing. For a source, the name of a column.
        sample_weight : array-like of shape (n,), or str, optional
            Weight of each row, 1 by default. For a source, the name of a column.

        Returns
        -------
        Window

        See Also
        --------
        check : Compares it with the model.
        update : Compares it as the next one of a sequence.

        Examples
        --------
        >>> from suffice import NaiveBayes
        >>> monitor = NaiveBayes().fit([[1.0], [3.0], [10.0], [14.0]], ["a", "a", "b", "b"]).monitor()
        >>> monitor.window([[2.0], [12.0]], ["a", None])
        Window of 2 rows
        """
        total: Window | None = None
        summarizer = self._summarizer
        for rows in read_batches(self._fitted, X, y, sample_weight):
            found = summarizer.window(rows.table, rows.labels, rows.weights)
            total = found if total is None else total.merge(found)
        return Window.zero(self.layout) if total is None else total

    @cached_property
    def _summarizer(self) -> Summarizer:
        prior = None if self.profile is None else self.profile.prior
        return Summarizer(self._fitted, self._columns, self.layout, prior)

    # ------------------------------------------------------------------ looks

    def check(self, window: Window) -> Drift:
        """Compare one window with the reference, at the whole level.

        For windows that come one after another use `update`: each further check adds a chance of a false alarm.

        Parameters
        ----------
        window : Window
            A window that this monitor, or one of an equal model, has made.

        Returns
        -------
        Drift

        See Also
        --------
        update : Compares the next window of a sequence.

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import NaiveBayes
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
        >>> monitor = NaiveBayes().fit(X, y).monitor()
        >>> monitor.check(monitor.window(rng.normal(size=(200, 2))))
        No drift in 200 rows. 2 tests at level 0.05; 2 tests not made.
        """
        self._check_layout(window)
        return self._drift(window, self._checker.candidates(window), self.level, 0)

    def update(self, window: Window) -> Drift:
        """Compare the next window of a sequence, and merges of the last windows, with the reference.

        Parameters
        ----------
        window : Window
            The newest window. An empty window does not count as a look.

        Returns
        -------
        Drift
            At the level α/(t(t + 1)) of look t: over all looks together, the probability of an alarm without change is
            at most ``level``.

        See Also
        --------
        check : Compares one window, at the whole level.
        resume : Continues a sequence.

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import NaiveBayes
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
        >>> monitor = NaiveBayes().fit(X, y).monitor()
        >>> looks = [monitor.update(monitor.window(rng.normal(size=(200, 2)))) for _ in range(3)]
        >>> [look.look for look in looks], [round(look.level, 4) for look in looks]
        ([1, 2, 3], [0.025, 0.0083, 0.0042])
        """
        self._check_layout(window)
        if not window.n_rows:
            return self._drift(window, [], self._level_of(self._kept.looks + 1), self._kept.looks)
        with self._lock:
            merged, looks = list(self._kept.merged), self._kept.looks + 1
            found = self._checker.candidates(window)
            size, newest = 1, window
            while merged and merged[-1][0] == size:
                newest = merged.pop()[1].merge(newest)
                size *= 2
                found += [replace(each, windows=size) for each in self._checker.candidates(newest)]
            self._kept = _Kept(looks, (*merged, (size, newest)))
            return self._drift(window, found, self._level_of(looks), looks)

    @property
    def looks(self) -> int:
        """Number of windows that `update` has seen."""
        return self._kept.looks

    @property
    def windows(self) -> tuple[tuple[int, Window], ...]:
        """The kept merges of windows, the oldest first: how many windows each has, and the merge."""
        return self._kept.merged

    def resume(self, looks: int, windows: Sequence[tuple[int, Window]]) -> Monitor:
        """Continue a sequence from its ``looks`` and ``windows``, such as those of a file.

        Parameters
        ----------
        looks : int
        windows : sequence of (int, Window)
            As the properties of the same name were.

        Returns
        -------
        Monitor
            This monitor.

        See Also
        --------
        update : Makes the next look.

        Examples
        --------
        >>> import numpy as np
        >>> from suffice import NaiveBayes
        >>> rng = np.random.default_rng(0)
        >>> X, y = rng.normal(size=(1000, 2)), rng.integers(0, 2, 1000)
        >>> monitor = NaiveBayes().fit(X, y).monitor()
        >>> look = monitor.update(monitor.window(X))
        >>> later = NaiveBayes().fit(X, y).monitor().resume(monitor.looks, monitor.windows)
        >>> later.update(later.window(X)).look
        2
        """
        sizes = [size for size, _ in windows]
        if sum(sizes) != looks or sizes != [1 << i for i in range(looks.bit_length())[::-1] if looks >> i & 1]:
            raise InputError(
                f"The kept windows are of {sizes} windows; after {looks} looks they are of other numbers. Read both "
                "from the same file.",
                argument="windows",
            )
        for _, window in windows:
            self._check_layout(window)
        self._kept = _Kept(looks, tuple(windows))
        return self

    # ------------------------------------------------------------------ inside

    def _level_of(self, look: int) -> float:
        return self.level / (look * (look + 1))

    @cached_property
    def _checker(self) -> Checker:
        prior = np.asarray(self._fitted.estimate.prior, dtype=np.float64)
        return Checker(self.reference, self.profile, prior, frozenset(self._fitted.layout.schema.times))

    def _check_layout(self, window: Window) -> None:
        if not isinstance(window, Window):
            raise InputError(
                f"A monitor compares windows, which its method window makes of rows; got {type(window).__name__}.",
                argument="window",
            )
        if window.layout.digest != self.layout.digest:
            raise InputError(
                "The window was made by the monitor of another model, or with other reference rows. Make it with this "
                "monitor.",
                argument="window",
            )

    def _drift(self, window: Window, candidates: list[Candidate], level: float, look: int) -> Drift:
        p_values = np.array([each.p_value for each in candidates])
        limit = significance_limit(p_values, level)
        best: dict[tuple[object, str], Candidate] = {}
        for each in candidates:
            key = (each.column, each.test)
            if key not in best or _order(each) < _order(best[key]):
                best[key] = each
        findings = [
            Finding(
                each.column,
                each.test,
                each.statistic,
                each.p_value,
                limit,
                bool(each.p_value <= limit and each.effect >= self.minimum_effect),
                each.sentence,
                each.reference,
                each.observed,
                each.effect,
                each.windows,
                each.measure,
            )
            for each in sorted(best.values(), key=_order)
        ]
        return Drift(
            tuple(findings),
            level,
            look,
            window.n_rows,
            self._class_shares(window),
            self._log_density(window),
            self._label_scores(window),
        )

    def _class_shares(self, window: Window) -> ClassShares | None:
        """Maximum-likelihood shares of the classes in the sampled rows of a window."""
        if not len(window.ratios) or len(window.layout.classes) < 2:
            return None
        fitted = self._fitted
        counts = None if fitted.without_rows else fitted.model.weights.weight
        prior = np.asarray(fitted.estimate.prior, dtype=np.float64)
        found = estimate_shares(window.ratios, start=prior, counts=counts)
        trained, shares, errors = (tuple(map(float, each)) for each in (prior, found.shares, found.standard_errors))
        return ClassShares(window.layout.classes, trained, shares, errors, len(window.ratios))

    def _log_density(self, window: Window) -> dict[str, float]:
        """Share of the window at or below quantiles of the reference, for the bin ends nearest to these quantiles."""
        named = [j for j, (_, scale) in enumerate(window.layout.numbers) if scale == LOG_DENSITY]
        if self.profile is None or not named or not window.n_rows:
            return {}
        j = named[0]
        bins, facts = (
            window.bins[window.layout.offsets[j] : window.layout.offsets[j + 1] - 1],
            self.reference.numbers[j],
        )
        if facts.bins is None or not bins.sum() > 0:
            return {}
        known, own = np.cumsum(facts.bins)[:-1] / facts.bins.sum(), np.cumsum(bins)[:-1] / bins.sum()
        both = zip(known.tolist(), own.tolist(), strict=True)
        return {f"{share:.3f}": float(mine) for share, mine in both if 0 < share < 1}

    def _label_scores(self, window: Window) -> LabelScores | None:
        scores = dict(zip(SCORES, window.scores.tolist(), strict=True))
        weight = scores["weight"]
        if not weight > 0:
            return None
        n = weight * window.scale
        accuracy, loss = scores["right"] / weight, scores["log_loss"] / weight
        spread = max(scores["log_loss_squares"] / weight - loss**2, 0.0)
        own, probability, right = window.calibration
        error = float(np.abs(right - probability).sum() / own.sum())
        known = None if self.profile is None else dict(zip(SCORES, self.profile.scores.tolist(), strict=True))
        trained = known["right"] / known["weight"] if known and known["weight"] > 0 else None
        return LabelScores(
            weight,
            accuracy,
            loss,
            error,
            math.sqrt(accuracy * (1 - accuracy) / max(n - 1, 1.0)),
            math.sqrt(spread / max(n - 1, 1.0)),
            trained,
        )

    def __repr__(self) -> str:
        name = self._fitted.specification.estimator
        return f"Monitor of {name}, {len(self._fitted.layout.names)} columns, level {self.level:g}, {self.looks} looks"


def significance_limit(p_values: Float, level: float) -> float:
    """The largest significant p-value by the rule of Benjamini and Hochberg, or level/m if none is; NaN is not a test.

    >>> significance_limit(np.array([0.001, 0.02, 0.9, np.nan]), 0.05).__round__(4)
    0.0333
    """
    known = np.sort(p_values[~np.isnan(p_values)])
    if not len(known):
        return 0.0
    limits = level * np.arange(1, len(known) + 1) / len(known)
    below = np.flatnonzero(known <= limits)
    return float(limits[below[-1]] if len(below) else limits[0])


def _order(candidate: Candidate) -> tuple[bool, float, float]:
    """Tests in the order of their evidence; withheld ones come last."""
    withheld = math.isnan(candidate.p_value)
    return withheld, 1.0 if withheld else candidate.p_value, -candidate.effect


def _number(value: object, name: str, low: float, high: float) -> float:
    good = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    if not good or not (low <= value < high if name == "minimum_effect" else low < value < high):  # type: ignore[operator]
        bounds = "of at least 0" if name == "minimum_effect" else "between 0 and 1"
        raise InputError(f"{name} must be a number {bounds}; got {value!r:.60}.", argument=name)
    return float(value)  # type: ignore[arg-type]


def _profile_of(fitted: Fitted, X: Any, y: Any, sample_weight: Any) -> Profile:
    """The profile of reference rows."""
    batches = list(read_batches(fitted, X, y, sample_weight))
    rows = sum(len(each.table) for each in batches)
    if not rows:
        raise InputError("X has no reference rows.", argument="X")
    largest = max(batches, key=lambda each: len(each.table))
    return profile_of_rows(fitted, largest.table, largest.labels, largest.weights)
