"""What the model knows about its training rows, column by column: the reference that windows are compared with.

The statistics of the model are exact facts of the training rows. Summed over the classes, they give for each column

    n = Σ_k n_k,   mean = Σ_k n_k m_k / n,   variance = Σ_k (n_k v_k + n_k (m_k − mean)²) / (n − 1),

the counts of levels, of bins (histograms and bins of averaged dependence), of missing cells, and of the documents that
have a word. Where the statistic has no squares, the variance of a class is that of its family with the mean m: m for
Poisson columns and counts that share a total, m² for exponential, m(1 + m) for geometric columns. It is a parameter
rather than a fact of the rows, and used as a lower bound alone. The distributions of log p(x) and of the posterior of
rows that the model has not learned are unknown: `Profile`, stored by `suffice.fit`, or reference rows provide them, and
bins of all numbers.

A model that was built from parameters has no rows: its classes are weighted by its prior, and its counts are infinite.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace

import numpy as np

from suffice.learning.fitted import Fitted
from suffice.learning.profile import Profile
from suffice.learning.watched_columns import LOG_DENSITY, UNKNOWN_WORDS, WatchedColumns, names_of
from suffice.model import Block
from suffice.monitoring.candidates import FEW_ROWS, NO_PROFILE, OTHER_MODEL, profile_scale
from suffice.monitoring.window import Layout
from suffice.numerics.types import Float
from suffice.statistics import (
    BinCounts,
    CellSums,
    Counts,
    CountVectors,
    JointCounts,
    Moments,
    PairCounts,
    PatternScatter,
    PooledScatter,
    RowMoments,
    Scatter,
    Statistic,
    Sums,
)
from suffice.tables import Levels

__all__ = ["NumberFacts", "Reference", "completed", "layout_of", "reference_of"]

IMPLIED = ("exponential", "geometric", "poisson")  # families whose statistic has no squares
LEAST_HELD_OUT, LEAST_OF_CLASS = 100, 25  # rows
MOST_CUTS = 23  # of a column, so at most 24 bins


@dataclass(frozen=True, eq=False)
class NumberFacts:
    """A number in the reference.

    Attributes
    ----------
    weight, mean, variance, missing : float
        Rows that have it, and those that do not; NaN where unknown.
    cuts : tuple of float
        Upper ends of its bins but the last; empty without bins.
    bins : array of shape (B,)
        Weight of each bin.
    implied : bool
        Whether the variance is that of the family with this mean, not that of the rows.
    """

    weight: float
    mean: float
    variance: float
    missing: float
    cuts: tuple[float, ...] = ()
    bins: Float | None = None
    implied: bool = False


@dataclass(frozen=True, eq=False)
class Reference:
    """Everything that windows are compared with.

    Attributes
    ----------
    rows : float
        Weight of the training rows; ∞ for a model that was built from parameters.
    numbers : tuple of NumberFacts
    levels : tuple of (Levels, array of shape (L + 1,))
        Levels of each column, their weights, and that of missing cells.
    words : tuple of (words, array of shape (W + 2,))
        Documents that have each word, all documents, and missing ones.
    labels : array of shape (K,)
        Weight of each class.
    infinite : bool
        Whether the figures are parameters without sampling error.
    unit : float
        Count of a training row of weight one; other than 1 if the rows had weights, and a profile shows which.
    reason : str
        The reason why tests of the model's scores are withheld, if they are.
    """

    rows: float
    numbers: tuple[NumberFacts, ...]
    levels: tuple[tuple[Levels, Float], ...]
    words: tuple[tuple[tuple[str, ...], Float], ...]
    labels: Float
    infinite: bool = False
    unit: float = 1.0
    reason: str = NO_PROFILE

    def scaled(self, unit: float) -> Reference:
        """The reference with its weights times a number, so that they are counts of effective rows."""
        if self.infinite or abs(unit - 1) < 1e-9:
            return self
        numbers = tuple(
            replace(
                each,
                weight=each.weight * unit,
                missing=each.missing * unit,
                bins=None if each.bins is None else each.bins * unit,
            )
            for each in self.numbers
        )
        levels = tuple((known, counts * unit) for known, counts in self.levels)
        words = tuple((known, counts * unit) for known, counts in self.words)
        return replace(
            self,
            rows=self.rows * unit,
            numbers=numbers,
            levels=levels,
            words=words,
            labels=self.labels * unit,
            unit=unit,
        )


def reference_of(fitted: Fitted, columns: WatchedColumns) -> Reference:
    """The figures of a fitted model."""
    weights = fitted.model.weights.weight
    infinite = fitted.without_rows
    shares = np.asarray(fitted.estimate.prior if infinite else weights, dtype=np.float64)
    parts = [
        _facts(block, each, shares, infinite=infinite)
        for block, each in zip(columns.blocks, columns.statistics, strict=True)
    ]
    nothing = NumberFacts(np.nan, np.nan, np.nan, np.nan)
    numbers = tuple(
        nothing if each.scale == LOG_DENSITY else parts[each.block].numbers[each.j] for each in columns.numbers
    )
    levels = tuple(parts[each.block].levels[each.j] for each in columns.levels)
    words = tuple(_words(columns, i, infinite=infinite) for i in range(len(columns.words)))
    return Reference(float(shares.sum()), numbers, levels, words, shares, infinite)


@dataclass(frozen=True, eq=False)
class _Facts:
    """The columns of a block by position."""

    numbers: dict[int, NumberFacts]
    levels: dict[int, tuple[Levels, Float]]


def _facts(block: Block, statistic: Statistic, shares: Float, *, infinite: bool) -> _Facts:
    d, total = len(block.names), float(shares.sum())
    if isinstance(statistic, Counts | JointCounts):
        return _Facts({}, {j: _level_counts(statistic, j, shares, infinite=infinite) for j in range(d)})
    if isinstance(statistic, PairCounts):
        return _of_pairs(statistic, shares)
    if isinstance(statistic, BinCounts):
        return _Facts({j: _of_bins(statistic, j, total, shares, infinite=infinite) for j in range(d)}, {})
    if block.family.reads == "documents":
        return _Facts(_text_facts(block, statistic), {})
    weight, mean, variance = _class_moments(block, statistic)
    if infinite:
        weight = np.broadcast_to(shares[:, None], mean.shape)
    n = weight.sum(axis=0)
    safe = np.where(n > 0, n, 1.0)
    centre = (weight * mean).sum(axis=0) / safe
    # The largest mean is subtracted first, so that an offset costs no digits.
    base = mean[np.argmax(weight, axis=0), np.arange(d)] if len(mean) else centre
    centre = base + (weight * np.where(weight > 0, mean - base, 0.0)).sum(axis=0) / safe
    spread = np.full(d, np.nan)
    if variance is not None:
        squares = (weight * (variance + np.where(weight > 0, mean - centre, 0.0) ** 2)).sum(axis=0)
        spread = squares / np.maximum(n if infinite else n - 1, 1e-300)
        spread[n <= 1] = squares[n <= 1] if infinite else np.nan
    implied = (block.family.name in IMPLIED or isinstance(statistic, CountVectors | Sums)) and not infinite
    out = {}
    for j in range(d):
        missing = np.nan if infinite else _missing(block, statistic, total, float(n[j]))
        out[j] = NumberFacts(float(n[j]), float(centre[j]), float(spread[j]), missing, implied=implied)
    return _Facts(out, {})


def _missing(block: Block, statistic: Statistic, total: float, present: float) -> float:
    """Weight of the missing cells of a column; NaN if it is unknown."""
    if not block.family.accepts_missing:
        return 0.0
    counted = block.independent or (isinstance(statistic, PatternScatter) and statistic.level == 0)
    missing = max(total - present, 0.0) if counted else np.nan
    return 0.0 if missing < 1e-9 * total else missing


def _class_moments(block: Block, statistic: Statistic) -> tuple[Float, Float, Float | None]:
    """Weight, mean and variance of each class and column (K, d); the variance is None if it is unknown."""
    d = len(block.names)
    if isinstance(statistic, RowMoments):
        statistic = statistic.weighted()
    if isinstance(statistic, Moments):
        weight = statistic.weight[:, :d]
        safe = np.where(weight > 0, weight, 1.0)
        return weight, (statistic.mean + statistic.mean_low)[:, :d], (statistic.m2 + statistic.m2_low)[:, :d] / safe
    if isinstance(statistic, PatternScatter):
        return _pattern_moments(statistic)
    if isinstance(statistic, Scatter | PooledScatter):
        return _scatter_moments(statistic)
    if isinstance(statistic, CountVectors | Sums):
        weight = np.repeat(statistic.weight[:, None], d, axis=1)
        mean = statistic.total / np.where(weight > 0, weight, 1.0)
        return weight, mean, mean
    assert isinstance(statistic, CellSums)
    weight, mean = statistic.weight, statistic.total[:, 0] / np.where(statistic.weight > 0, statistic.weight, 1.0)
    variance = {"exponential": mean**2, "geometric": mean * (1 + mean), "poisson": mean}.get(block.family.name)
    return weight, mean, mean * (1 - mean) if block.family.values == "truth" else variance


def _pattern_moments(statistic: PatternScatter) -> tuple[Float, Float, Float]:
    """Moments of the complete rows of each class, and of the other rows of each class and pattern."""
    weight, mean, variance = _scatter_moments(statistic.complete)
    squares = np.diagonal(statistic.scatter, axis1=-2, axis2=-1)
    cells = statistic.weight[:, None] * statistic.observed
    others = squares / np.where(cells > 0, cells, 1.0)
    own = statistic.mean + statistic.mean_low
    return np.vstack([weight, cells]), np.vstack([mean, own]), np.vstack([variance, others])


def _scatter_moments(statistic: Scatter | PooledScatter) -> tuple[Float, Float, Float]:
    mean = statistic.mean + statistic.mean_low
    weight = np.repeat(statistic.weight[:, None], mean.shape[1], axis=1)
    squares = np.diagonal(statistic.scatter, axis1=-2, axis2=-1)
    if squares.ndim == 2:
        return weight, mean, squares / np.where(weight > 0, weight, 1.0)
    # The sum over all classes: each class gets the common variance within the classes.
    total = max(float(statistic.weight.sum()), 1e-300)
    return weight, mean, np.broadcast_to(squares / total, mean.shape)


def _level_counts(statistic: Counts | JointCounts, j: int, shares: Float, *, infinite: bool) -> tuple[Levels, Float]:
    levels = statistic.levels[j]
    if isinstance(statistic, Counts):
        count, missing = statistic.of_column(j) + 0.0, statistic.missing[:, j]
    else:
        count = np.zeros((len(statistic.count), len(levels)))
        np.add.at(count.T, statistic.cells[:, j], statistic.count.T)
        missing = statistic.missing[:, 0]
    if infinite:
        size = np.maximum(count.sum(axis=1, keepdims=True), 1e-300)
        return levels, np.append(shares @ (count / size), np.nan)
    if isinstance(statistic, JointCounts):
        return levels, np.append(count.sum(axis=0), np.nan if missing.any() else 0.0)  # of any of its columns
    return levels, np.append(count.sum(axis=0), missing.sum())


def _of_pairs(statistic: PairCounts, shares: Float) -> _Facts:
    numbers: dict[int, NumberFacts] = {}
    levels: dict[int, tuple[Levels, Float]] = {}
    start = 0
    total = statistic.single.sum(axis=0)
    for j, (bins, own) in enumerate(zip(statistic.bins, statistic.levels, strict=True)):
        stop = start + bins.size(own)
        count, missing = total[start : stop - 1], float(total[stop - 1])
        if bins.cuts is not None:
            numbers[j] = NumberFacts(float(count.sum()), np.nan, np.nan, missing, bins.cuts, count)
        elif bins.kept is not None:
            levels[j] = (Levels(bins.kept), np.append(count[:-1], missing))
        else:
            levels[j] = (own, np.append(count, missing))
        start = stop
    return _Facts(numbers, levels)


def _of_bins(statistic: BinCounts, j: int, total: float, shares: Float, *, infinite: bool) -> NumberFacts:
    """Bins of about equal weight of a histogram; its own bins are the finest."""
    count = statistic.of_column(j)
    if infinite:
        count = shares[:, None] * count / np.maximum(count.sum(axis=1, keepdims=True), 1e-300)
    weight = count.sum(axis=0)
    n = float(weight.sum())
    if not n:
        return NumberFacts(0.0, np.nan, np.nan, total)
    low, high = statistic.ends(j)
    if statistic.cuts:  # the counted numbers are intervals between given cuts
        at = low.astype(np.int64)
        bins: Float = np.bincount(at, weight, minlength=len(statistic.cuts) + 1).astype(np.float64)
        return NumberFacts(n, np.nan, np.nan, np.nan if infinite else max(total - n, 0.0), statistic.cuts, bins)
    middle = low + (high - low) / 2
    mean = float(weight @ middle / n)
    variance = float(weight @ (middle - mean) ** 2 / max(n - 1, 1e-300)) if n > 1 else np.nan
    share = np.cumsum(weight) / n
    cut = np.unique(np.minimum(np.searchsorted(share, np.arange(1, MOST_CUTS + 1) / (MOST_CUTS + 1)), len(low) - 1))
    cut = cut[cut < len(low) - 1]
    groups = np.searchsorted(cut, np.arange(len(low)), side="left")
    bins = np.bincount(groups, weight, minlength=len(cut) + 1).astype(np.float64)
    missing = np.nan if infinite else max(total - n, 0.0)
    return NumberFacts(n, mean, variance, missing, tuple(high[cut].tolist()), bins)


def _text_facts(block: Block, statistic: Statistic) -> dict[int, NumberFacts]:
    """Number of words of a text; the share of words that the model does not know needs held-out texts."""
    n, missing = float(statistic.weight.sum()), float(statistic.missing.sum())  # type: ignore[attr-defined]
    counted = n > 0 and block.family.analysis.weighting != "unit"  # type: ignore[attr-defined]
    mean = float(statistic.count.sum()) / n if counted else np.nan  # type: ignore[attr-defined]
    return {
        0: NumberFacts(n, mean, np.nan, missing),
        1: NumberFacts(np.nan, np.nan, np.nan, np.nan),
    }


def _words(columns: WatchedColumns, i: int, *, infinite: bool) -> tuple[tuple[str, ...], Float]:
    watched = columns.words[i]
    statistic = columns.statistics[watched.block]
    documents = statistic.documents.sum(axis=0)[watched.at]  # type: ignore[attr-defined]
    sizes = [float(statistic.weight.sum()), float(statistic.missing.sum())]  # type: ignore[attr-defined]
    words = tuple(statistic.vocabulary.word(int(at)) for at in watched.at)  # type: ignore[attr-defined]
    return words, np.concatenate([documents, np.full(2, np.nan) if infinite else sizes])


# ---------------------------------------------------------------------- with a profile


def completed(fitted: Fitted, columns: WatchedColumns, profile: Profile | None) -> tuple[Reference, Profile | None]:
    """The reference with the bins and moments of a profile.

    A profile of other columns is left out. Of a profile of other classes, or of a model that has learned or forgotten
    rows since, only the columns are used; also of few held-out rows, which other models have scored than will score
    new ones.
    """
    unit = 1.0 if profile is None else profile_scale(profile)
    reference = reference_of(fitted, columns).scaled(unit)
    names = names_of(columns.numbers)
    if profile is None or (fitted.without_rows and profile is fitted.profile):
        return reference, profile
    if list(zip(profile.names, profile.scales, strict=True)) != names:
        return reference, None
    same = profile.classes.labels.tolist() == fitted.classes.labels.tolist()
    same = same and profile.describes(np.asarray(fitted.model.weights.weight, dtype=np.float64))
    few = same and profile is fitted.profile and _has_few_rows(fitted, profile)
    reason = FEW_ROWS if few else NO_PROFILE if same else OTHER_MODEL
    same = same and not few
    offsets = np.concatenate([[0], np.cumsum([len(each) + 2 for each in profile.cuts])])
    numbers = []
    for j, facts in enumerate(reference.numbers):
        if not same and profile.scales[j] in (LOG_DENSITY, UNKNOWN_WORDS):
            numbers.append(facts)
            continue
        bins = profile.bins[offsets[j] : offsets[j + 1]] * unit
        numbers.append(_with_profile(facts, tuple(profile.cuts[j].tolist()), bins, profile.moments[:, j], unit))
    return replace(reference, numbers=tuple(numbers), reason=reason), profile if same else None


def _has_few_rows(fitted: Fitted, profile: Profile) -> bool:
    rows = float(np.sum(fitted.model.weights.weight)) * profile_scale(profile)
    return profile.n_rows < LEAST_HELD_OUT or rows < LEAST_OF_CLASS * len(fitted.classes)


def _with_profile(
    facts: NumberFacts, cuts: tuple[float, ...], bins: Float, moments: Float, scale: float
) -> NumberFacts:
    """A number with what the model knows, and otherwise with what a sample of rows shows."""
    weight, mean, m2, _, _ = moments.tolist()
    n = weight * scale
    variance = m2 / weight * n / (n - 1) if n > 1 else math.nan
    known = facts if facts.mean == facts.mean else replace(facts, mean=mean, variance=variance)
    if math.isnan(known.variance) or known.implied:
        known = replace(known, variance=variance, implied=False)
    if math.isnan(known.weight):
        known = replace(known, weight=n, missing=float(bins[-1]))
    if math.isnan(known.missing):
        known = replace(known, missing=float(bins[-1] / max(bins.sum(), 1e-300) * known.weight))
    own = facts.bins is not None and facts.cuts
    return known if own or not cuts else replace(known, cuts=cuts, bins=bins[:-1])


def layout_of(fitted: Fitted, columns: WatchedColumns, reference: Reference) -> Layout:
    """What windows count, with a digest of the model and of the reference."""
    numbers = tuple(names_of(columns.numbers))
    cuts = tuple(each.cuts if each.bins is not None else () for each in reference.numbers)
    levels = tuple((each.name, known) for each, (known, _) in zip(columns.levels, reference.levels, strict=True))
    words = tuple((each.name, known) for each, (known, _) in zip(columns.words, reference.words, strict=True))
    classes = tuple(fitted.classes.labels.tolist())
    digest = hashlib.sha256()
    figures = [(each.weight, each.mean, each.variance, each.missing) for each in reference.numbers]
    for part in (numbers, cuts, words, classes, figures, reference.rows, reference.labels.tolist()):
        digest.update(repr(part).encode("utf-8", "surrogatepass"))
    for (name, known), (_, counts) in zip(levels, reference.levels, strict=True):
        digest.update(repr((name, known.values)).encode("utf-8", "surrogatepass"))
        digest.update(counts.tobytes())
    return Layout(digest.hexdigest(), numbers, cuts, levels, words, classes)
