"""Tests of the numbers of a window, one column after the other, and of log p(x).

A number with bins has a test of location, of spread and of shape. The sentence is about the mean or the standard
deviation if the test of location or of spread alone is decisive and the figure has moved as well; otherwise about the
bin that deviates most. A further test counts the numbers outside the range of the rows of the profile, which may be too
few to move the others, which count them in the outer bins of the range. The p-value is the least of both, each divided
by its share of the level.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from suffice.learning.profile import Profile
from suffice.learning.watched_columns import LOG_DENSITY
from suffice.monitoring.candidates import (
    NO_PROFILE,
    Candidate,
    deviation,
    percent,
    profile_scale,
    share_candidate,
    total_variation,
    verb,
    withheld,
)
from suffice.monitoring.range_test import range_p_value
from suffice.monitoring.reference import NumberFacts
from suffice.monitoring.two_samples import (
    LEAST_FOR_VARIANCE,
    BinnedTest,
    binned_p_values,
    kurtosis_of,
    mean_p_value,
    share_p_value,
    variance_p_value,
)
from suffice.monitoring.window import Window
from suffice.numerics.types import Float
from suffice.tables.times import time_text

__all__ = ["log_density_checks", "missing_check", "number_check", "yes_or_no_check"]

DECISIVE = 1e-4  # p-value of location or spread
MOVED = 0.1  # standard deviations, or logarithm of their ratio
RANGE_LEVEL = 0.1  # share of the level that the test of the range has
ROUNDING = 1e-9  # of log p(x), relative


@dataclass(frozen=True, eq=False)
class _Number:
    """A number of a window, and in the reference."""

    window: Window
    j: int
    facts: NumberFacts
    bins: Float
    infinite: bool
    is_time: bool
    reason: str = NO_PROFILE

    @property
    def name(self) -> object:
        return self.window.layout.numbers[self.j][0]

    @property
    def scale(self) -> str:
        return self.window.layout.numbers[self.j][1]

    @property
    def kind(self) -> str:
        return {"words": "text length", "unknown words": "unknown words"}.get(self.scale, "numbers")

    @property
    def n(self) -> float:
        return float(self.window.moments[0, self.j] * self.window.scale)

    @property
    def mean(self) -> float:
        return float(self.window.moments[1, self.j])

    @property
    def deviation(self) -> float:
        return deviation(self.window.moments[:, self.j])

    @property
    def trained(self) -> float:
        """Standard deviation of the reference; NaN if it is unknown."""
        return math.sqrt(self.facts.variance) if self.facts.variance >= 0 else math.nan

    @property
    def shift(self) -> float:
        """Shift of the mean in standard deviations; 0 if it is unknown."""
        unit = self.trained if self.trained > 0 else self.deviation
        shift = (self.mean - self.facts.mean) / unit if unit > 0 else 0.0
        return 0.0 if math.isnan(shift) else shift

    @property
    def spread(self) -> float:
        """Logarithm of the ratio of standard deviations; 0 if it is unknown."""
        known = self.trained > 0 and not self.facts.implied and self.n > 1 and self.deviation > 0
        return math.log(self.deviation / self.trained) if known else 0.0

    @property
    def has_range(self) -> bool:
        """Whether the outer bins are those outside the range of the reference, which has no row there."""
        known = self.facts.bins
        return not self.infinite and known is not None and len(known) > 2 and not (known[0] > 0 or known[-1] > 0)

    @property
    def within(self) -> tuple[Float, Float, tuple[float, ...]]:
        """Bins, those of the reference, and cuts, where the outer bins of the range have the numbers beyond it."""
        bins, known, cuts = self.bins, self.facts.bins, self.window.layout.cuts[self.j]
        assert known is not None
        return (_folded(bins), _folded(known), cuts[1:-1]) if self.has_range else (bins, known, cuts)

    @property
    def effect(self) -> float:
        return max(abs(self.shift), abs(self.spread))


def _folded(bins: Float) -> Float:
    """Bins whose first and last are added to their neighbours."""
    out = bins[1:-1].copy()
    out[0] += bins[0]
    out[-1] += bins[-1]
    return out


def number_check(
    window: Window, j: int, facts: NumberFacts, bins: Float, *, infinite: bool, is_time: bool, reason: str = NO_PROFILE
) -> Candidate:
    """The test of a column of numbers, by its bins or, without them, by its moments."""
    number = _Number(window, j, facts, bins, infinite, is_time, reason)
    if not number.n > 0:
        return withheld(number.name, number.kind, f"Column {number.name!r} has no values in this window.")
    if facts.weight == 0:
        sentence = f"Column {number.name!r} was not tested: all of its cells were missing in the training rows."
        return withheld(number.name, number.kind, sentence)
    return _by_moments(number) if facts.bins is None else _by_bins(number)


def _by_bins(number: _Number) -> Candidate:
    bins, known, _ = number.within
    test = binned_p_values(bins, known, infinite=number.infinite)
    found = test.statistic, test.p_value
    if math.isnan(test.p_value):
        return withheld(number.name, number.kind, f"Column {number.name!r} has no values in this window.")
    p_range = _range_p_value(number)
    found = test.statistic, _joined(test.p_value, p_range)
    if p_range / RANGE_LEVEL < test.p_value / (1 - RANGE_LEVEL):
        return _of_range(number, (math.nan, found[1]))
    first = min(test.location, test.spread)
    decided = math.isnan(test.shape) or first <= max(test.shape, DECISIVE)
    if decided and not math.isnan(number.facts.mean):
        by_spread = test.spread < test.location
        moved = abs(number.spread if by_spread else number.shift) >= MOVED
        if moved or not test.p_value <= DECISIVE:
            return _of_spread(number, found) if by_spread and number.trained > 0 else _of_mean(number, found)
    effect = max(number.effect, total_variation(bins, known))
    sentence, before, now, measure = _share_words(number, test)
    return Candidate(number.name, number.kind, *found, sentence, before, now, effect, measure=measure)


def _range_p_value(number: _Number, *, below_only: bool = False) -> float:
    """P-value of the values outside the range of the reference; NaN if the range is unknown."""
    if not number.has_range:
        return math.nan
    assert number.facts.bins is not None
    outside = float(number.bins[0] + (0.0 if below_only else number.bins[-1]))
    return range_p_value(outside, float(number.bins.sum()), float(number.facts.bins.sum()), below_only=below_only)


def _joined(p_value: float, p_range: float) -> float:
    """P-value of both tests, of which that of the range has its share of the level."""
    return p_value if math.isnan(p_range) else min(p_value / (1 - RANGE_LEVEL), p_range / RANGE_LEVEL, 1.0)


def _by_moments(number: _Number) -> Candidate:
    facts, moments, n = number.facts, number.window.moments[:, number.j], number.n
    big_n = math.inf if number.infinite else facts.weight
    t, p_mean = mean_p_value(moments, n, facts.mean, facts.variance, big_n, known=not facts.implied)
    squares = math.nan if facts.implied else facts.variance
    ratio, p_variance = variance_p_value(moments, n, squares, big_n)
    both = [each for each in (p_mean, p_variance) if not math.isnan(each)]
    if not both:
        return withheld(number.name, number.kind, _reason(number))
    p_value = min(len(both) * min(both), 1.0)
    if not math.isnan(p_variance) and not p_variance >= p_mean:
        return _of_spread(number, (ratio, p_value))
    return _of_mean(number, (t, p_value))


def _reason(number: _Number) -> str:
    if math.isnan(number.facts.mean):
        return f"Column {number.name!r} was not tested: {number.reason}"
    if number.n >= LEAST_FOR_VARIANCE and math.isnan(kurtosis_of(number.window.moments[:, number.j])):
        return (
            f"Column {number.name!r} was not tested: its values do not vary, or their fourth powers are too small or "
            "too large for floating point. Fit the model with suffice.fit, or give reference rows: model.monitor(X)."
        )
    return (
        f"Column {number.name!r} was not tested: the window has {number.n:.0f} values, too few for its tails without a "
        "profile. Merge windows, fit the model with suffice.fit, or give reference rows: model.monitor(X)."
    )


# ---------------------------------------------------------------------- sentences


def _of_mean(number: _Number, found: tuple[float, float]) -> Candidate:
    before, now = number.facts.mean, number.mean
    by = f"by {abs(number.shift):.2g} standard deviations"
    return _candidate(number, found, "mean", before, now, by)


def _of_spread(number: _Number, found: tuple[float, float]) -> Candidate:
    by = f"by a factor of {number.deviation / number.trained:.3g}"
    return _candidate(number, found, "standard deviation", number.trained, number.deviation, by)


def _of_range(number: _Number, found: tuple[float, float]) -> Candidate:
    bins, cuts = number.bins, number.window.layout.cuts[number.j]
    share = float((bins[0] + bins[-1]) / bins.sum())
    show = time_text if number.is_time else _short
    of = {
        "log": " of log x",
        "words": " of the number of features",
        "unknown words": " of the share of unknown words",
    }.get(number.scale, "")
    where = "" if bins[0] > 0 and bins[-1] > 0 else " below" if bins[0] > 0 else " above"
    sentence = (
        f"Column {number.name!r}: {percent(share)} of the values{of} lie outside the range of the training rows, "
        f"{show(cuts[0])} to {show(cuts[-1])}{f', all{where}' if where else ''}."
    )
    measure = f"share{of} outside {show(cuts[0])} to {show(cuts[-1])}"
    return Candidate(number.name, number.kind, *found, sentence, 0.0, share, max(number.effect, share), measure=measure)


def _candidate(number: _Number, found: tuple[float, float], what: str, before: float, now: float, by: str) -> Candidate:
    of, measure = {
        "log": (" of log x", " of log x"),
        "words": (" of the number of features (words, word pairs or parts of words)", " of the number of features"),
        "unknown words": (
            " of the share of words that the model does not know",
            " of the share of unknown words",
        ),
    }.get(number.scale, ("", ""))
    subject, measure = f"Column {number.name!r}: the {what}{of}", what + measure
    if number.is_time and what == "mean":
        sentence, measure = f"{subject} moved from {time_text(before)} to {time_text(now)}, {by}.", "mean time"
    else:
        sentence = f"{subject} {verb(before, now)} from {before:.4g} to {now:.4g}, {by}."
        if number.scale == "unknown words":
            sentence += " A window does not keep these words."
        measure += " (s)" if number.is_time else ""
    return Candidate(number.name, number.kind, *found, sentence, before, now, number.effect, measure=measure)


def _share_words(number: _Number, test: BinnedTest) -> tuple[str, float, float, str]:
    """A sentence about the bin that deviates most, its shares, and what they are shares of."""
    (bins, trained, cuts), b = number.within, test.bin
    before, now = float(trained[b] / trained.sum()), float(bins[b] / bins.sum())
    show = time_text if number.is_time else _short
    low, high = (show(cuts[b - 1]) if b else ""), (show(cuts[b]) if b < len(cuts) else "")
    where = f"above {low} and up to {high}" if low and high else f"above {low}" if low else f"up to {high}"
    subject = "log p(x)" if number.name is None else f"Column {number.name!r}"
    of = {
        "words": " texts with a number of features (words, word pairs or parts of words)",
        "unknown words": " texts with a share of unknown words",
    }
    things = of.get(number.scale, " values")
    sentence = f"{subject}: the share of{things} {where} {verb(before, now)} from {percent(before)} to {percent(now)}."
    if number.name is None:
        kind = "" if low and high else "unusually likely: " if low else "unusually unlikely: "
        return sentence, before, now, f"{kind}log p(x) {where}"
    return sentence, before, now, f"share {where}"


def _short(value: float) -> str:
    """A cut with four digits; the one below 0 is 0."""
    return "0" if abs(value) < 1e-299 else f"{value:.4g}"


# ---------------------------------------------------------------------- other numbers


def yes_or_no_check(window: Window, j: int, facts: NumberFacts, *, infinite: bool) -> Iterator[Candidate]:
    """The test of a column of yes and no."""
    name = window.layout.numbers[j][0]
    n = float(window.moments[0, j] * window.scale)
    if not n > 0:
        return
    now, before = float(window.moments[1, j]), facts.mean
    known = (before, math.inf) if infinite else (before * facts.weight, facts.weight)
    p = share_p_value(now * n, n, *known)
    yield share_candidate(name, "yes or no", p, f"Column {name!r}: the share of yes", (before, now), "share of yes")


def missing_check(name: object, missing: float, n: float, known: float, weight: float) -> Iterator[Candidate]:
    """The test of the share of missing cells."""
    total = known + weight
    if math.isnan(total) or not total > 0 or not (missing > 0 or known > 0):
        return
    p = share_p_value(missing, n, known, total)
    subject = f"Column {name!r}: the share of missing cells"
    yield share_candidate(name, "missing", p, subject, (known / total, missing / n), "share missing")


def log_density_checks(
    window: Window, j: int, facts: NumberFacts, bins: Float, profile: Profile | None, reason: str = NO_PROFILE
) -> Iterator[Candidate]:
    """The tests of log p(x) and of the rows that have probability zero in every class."""
    if profile is None or facts.bins is None:
        yield withheld(None, LOG_DENSITY, f"log p(x) was not tested: {reason}")
        return
    scale = profile_scale(profile)
    impossible, known = window.impossible * window.scale, profile.impossible * scale
    n, big_n = window.effective, profile.weight * scale
    if impossible > 0 or known > 0:
        p = share_p_value(impossible, n, known, big_n)
        subject = "The share of rows that have probability zero in every class"
        shares = known / big_n, impossible / n
        yield share_candidate(None, "impossible rows", p, subject, shares, "share of impossible rows")
    if not bins.sum() > 0:
        return
    number = _Number(window, j, facts, bins, infinite=False, is_time=False)
    inner, trained, cuts = number.within
    test = binned_p_values(inner, trained)
    p_range = _range_p_value(number, below_only=True)
    p_value = _joined(test.p_value, p_range)
    # The mean of values that differ by rounding alone does not move.
    close = abs(number.mean - facts.mean) <= ROUNDING * max(1.0, abs(facts.mean))
    shift = 0.0 if close else number.shift
    low = "less likely" if shift < 0 else "more likely"
    sentence = (
        f"log p(x): the mean {verb(facts.mean, number.mean)} from {facts.mean:.4g} to {number.mean:.4g}, by "
        f"{abs(shift):.2g} standard deviations; the rows are {low} under the model."
    )
    before, now, measure = facts.mean, number.mean, "mean log p(x)"
    if abs(shift) < MOVED:
        if not cuts or p_range / RANGE_LEVEL < test.p_value / (1 - RANGE_LEVEL):
            before, now = 0.0, float(bins[0] / bins.sum())
            sentence = f"log p(x): {percent(now)} of the rows are less likely than all training rows."
            measure = f"unusually unlikely: log p(x) up to {window.layout.cuts[j][0]:.4g}"
        else:
            sentence, before, now, measure = _share_words(number, test)
    effect = abs(shift)
    yield Candidate(None, LOG_DENSITY, test.statistic, p_value, sentence, before, now, effect, measure=measure)
