"""The tests of one window against the reference, each as a `Candidate` with its p-value and its sentence.

The tests of columns are those of `suffice.monitoring.two_samples`. Besides these:

- *Unseen levels.* By exchangeability, a new row has a level that no other row has with the probability that a training
  row has: N₁/N, where N₁ levels occur in one training row alone. The share of unseen levels is compared with N₁ of N,
  one-sided and exactly.
- *Words.* The documents with each of the most frequent words are compared exactly, and the least p-value of a column
  is multiplied by the number of words.
- *Class shares.* The mean posterior is compared with that of held-out training rows, with their covariance. This is
  valid whatever the posteriors are, also if naive Bayes is overconfident. The reported shares are estimated by maximum
  likelihood, as in ``adapt_prior``.
- *Labels* are levels. *Accuracy* is a share, and *calibration* the mean gap between being right, 1 or 0, and the
  probability of the predicted class; both are compared with held-out training rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np
from scipy import special

from suffice.learning.profile import Profile
from suffice.learning.watched_columns import LOG_DENSITY
from suffice.monitoring.reference import NumberFacts, Reference
from suffice.monitoring.two_samples import (
    BinnedTest,
    binned_p_values,
    chi_square,
    mean_p_value,
    means_p_value,
    share_p_value,
    variance_p_value,
)
from suffice.monitoring.window import SCORES, Window
from suffice.numerics.types import Float

__all__ = ["NO_PROFILE", "Candidate", "Checker"]

NO_PROFILE = (
    "the model has no profile of held-out rows. Fit it with suffice.fit, or give reference rows: model.monitor(X)."
)
LEAST_GAPS = 50.0
SAME_PRIOR = 0.05  # total variation distance


@dataclass(frozen=True)
class Candidate:
    """A test before its significance is decided; see `suffice.monitoring.Finding`."""

    column: object
    test: str
    statistic: float
    p_value: float
    sentence: str
    reference: object = None
    observed: object = None
    effect: float = 0.0
    windows: int = 1
    measure: str = ""


class Checker:
    """Compares windows with one reference."""

    def __init__(self, reference: Reference, profile: Profile | None, prior: Float, times: frozenset[object]) -> None:
        self.reference, self.profile, self.prior, self.times = reference, profile, prior, times

    def candidates(self, window: Window) -> list[Candidate]:
        """All tests of a window."""
        if not window.n_rows or not window.weight > 0:
            return []
        return [
            *self._numbers(window),
            *self._levels(window),
            *self._words(window),
            *self._class_shares(window),
            *self._labels(window),
        ]

    # ------------------------------------------------------------------ numbers

    def _numbers(self, window: Window) -> Iterator[Candidate]:
        offsets = window.layout.offsets
        for j, (name, scale) in enumerate(window.layout.numbers):
            facts = self.reference.numbers[j]
            bins = window.bins[offsets[j] : offsets[j + 1]] * window.scale
            if scale == LOG_DENSITY:
                yield from self._log_density(window, j, facts, bins)
                continue
            if scale != "unknown words":
                missing = max(window.weight - float(window.moments[0, j]), 0.0) * window.scale
                yield from self._missing(name, missing, window.effective, facts.missing, facts.weight)
            if scale == "yes or no":
                yield from self._yes_or_no(name, window, j, facts)
            else:
                yield self._number(window, j, facts, bins[:-1])

    def _number(self, window: Window, j: int, facts: NumberFacts, bins: Float) -> Candidate:
        name, scale = window.layout.numbers[j]
        kind = {"words": "text length", "unknown words": "unknown words"}.get(scale, "numbers")
        n = float(window.moments[0, j] * window.scale)
        big_n = math.inf if self.reference.infinite else facts.weight
        if not n > 0:
            return Candidate(name, kind, math.nan, math.nan, f"Column {name!r} has no values in this window.")
        own, deviation = float(window.moments[1, j]), _deviation(window.moments[:, j])
        trained = math.sqrt(facts.variance) if facts.variance >= 0 else math.nan
        unit = trained if trained > 0 else deviation
        shift = (own - facts.mean) / unit if unit > 0 else 0.0
        known = facts.variance > 0 and not facts.implied
        spread = 0.5 * math.log(deviation**2 / facts.variance) if deviation > 0 and known else 0.0
        shift = 0.0 if math.isnan(shift) else shift
        effect = max(abs(shift), abs(spread) if n > 1 else 0.0)
        if facts.bins is not None:
            test = binned_p_values(bins, facts.bins, infinite=self.reference.infinite)
            part = int(np.nanargmin([test.location, test.spread, test.shape])) if test.p_value == test.p_value else 0
            p_value, statistic = test.p_value, test.statistic
            if part == 2 or math.isnan(facts.mean):
                effect = max(effect, _total_variation(bins, facts.bins)) if part == 2 or not effect else effect
                sentence, before, now, measure = self._share_words(window, j, facts, bins, test)
                return Candidate(name, kind, statistic, p_value, sentence, before, now, effect, measure=measure)
        else:
            moments = window.moments[:, j]
            t, p_mean = mean_p_value(moments, n, facts.mean, facts.variance, big_n, known=not facts.implied)
            squares = math.nan if facts.implied else facts.variance
            ratio, p_variance = variance_p_value(moments, n, squares, big_n)
            both = [each for each in (p_mean, p_variance) if not math.isnan(each)]
            if not both:
                return Candidate(name, kind, math.nan, math.nan, self._withheld_numbers(name, n, facts))
            p_value = min(len(both) * min(both), 1.0)
            part = 1 if not p_variance >= p_mean and not math.isnan(p_variance) else 0
            statistic = (t, ratio)[part]
        if part == 1 and trained > 0:
            sentence = self._sentence(
                name, scale, "standard deviation", trained, deviation, f"by a factor of {deviation / trained:.3g}"
            )
            measure = self._measure(name, scale, "standard deviation")
            return Candidate(name, kind, statistic, p_value, sentence, trained, deviation, effect, measure=measure)
        away = f"by {abs(shift):.2g} standard deviations"
        sentence = self._sentence(name, scale, "mean", facts.mean, own, away)
        measure = self._measure(name, scale, "mean")
        return Candidate(name, kind, statistic, p_value, sentence, facts.mean, own, effect, measure=measure)

    def _withheld_numbers(self, name: object, n: float, facts: NumberFacts) -> str:
        if math.isnan(facts.mean):
            return f"Column {name!r} was not tested: {NO_PROFILE}"
        return (
            f"Column {name!r} was not tested: the window has {n:.0f} values, too few for its tails without a profile. "
            "Merge windows, fit the model with suffice.fit, or give reference rows: model.monitor(X)."
        )

    def _measure(self, name: object, scale: str, what: str) -> str:
        """The figure in a few words, for tables."""
        if name in self.times:
            return "mean time" if what == "mean" else f"{what} (s)"
        of = {"log": "log x", "words": "the number of words", "unknown words": "the share of unknown words"}.get(scale)
        return what if of is None else f"{what} of {of}"

    def _sentence(self, name: object, scale: str, what: str, before: float, now: float, by: str) -> str:
        subject = {
            "log": f"the {what} of log x",
            "words": f"the {what} of the number of words",
            "unknown words": f"the {what} of the share of words that the model does not know",
        }.get(scale, f"the {what}")
        if name in self.times and what == "mean":
            return f"Column {name!r}: {subject} moved from {_time(before)} to {_time(now)}, {by}."
        return f"Column {name!r}: {subject} {_verb(before, now)} from {before:.4g} to {now:.4g}, {by}."

    def _share_words(
        self, window: Window, j: int, facts: NumberFacts, bins: Float, test: BinnedTest
    ) -> tuple[str, float, float, str]:
        """A sentence about the bin that deviates most, its shares, and what they are shares of."""
        (name, _), cuts, b = window.layout.numbers[j], window.layout.cuts[j], test.bin
        assert facts.bins is not None
        before, now = float(facts.bins[b] / facts.bins.sum()), float(bins[b] / bins.sum())
        show = _time if name in self.times else lambda value: f"{value:.4g}"
        low, high = (show(cuts[b - 1]) if b else ""), (show(cuts[b]) if b < len(cuts) else "")
        where = f"above {low} and up to {high}" if low and high else f"above {low}" if low else f"up to {high}"
        subject = "log p(x)" if name is None else f"Column {name!r}"
        return (
            f"{subject}: the share of values {where} {_verb(before, now)} from {_percent(before)} to {_percent(now)}.",
            before,
            now,
            f"share {where}",
        )

    def _yes_or_no(self, name: object, window: Window, j: int, facts: NumberFacts) -> Iterator[Candidate]:
        n = float(window.moments[0, j] * window.scale)
        if not n > 0:
            return
        now, before = float(window.moments[1, j]), facts.mean
        infinite = self.reference.infinite
        p = share_p_value(
            now * n, n, before if infinite else before * facts.weight, math.inf if infinite else facts.weight
        )
        sentence = f"Column {name!r}: the share of yes {_verb(before, now)} from {_percent(before)} to {_percent(now)}."
        yield Candidate(
            name, "yes or no", math.nan, p, sentence, before, now, abs(now - before), measure="share of yes"
        )

    def _missing(self, name: object, missing: float, n: float, known: float, weight: float) -> Iterator[Candidate]:
        """The share of missing cells."""
        total = known + weight
        if math.isnan(total) or not total > 0 or not (missing > 0 or known > 0):
            return
        before, now = known / total, missing / n
        p = share_p_value(missing, n, known, total)
        sentence = _rise(f"Column {name!r}: the share of missing cells", before, now)
        yield Candidate(name, "missing", math.nan, p, sentence, before, now, abs(now - before), measure="share missing")

    def _log_density(self, window: Window, j: int, facts: NumberFacts, bins: Float) -> Iterator[Candidate]:
        if self.profile is None or facts.bins is None:
            yield Candidate(None, LOG_DENSITY, math.nan, math.nan, f"log p(x) was not tested: {NO_PROFILE}")
            return
        size, scale = self.profile.weight, _scale(self.profile)
        impossible, known = window.impossible * window.scale, self.profile.impossible * scale
        if impossible > 0 or known > 0:
            n, big_n = window.effective, size * scale
            before, now = known / big_n, impossible / n
            p = share_p_value(impossible, n, known, big_n)
            sentence = (
                f"The share of rows that have probability zero in every class {_verb(before, now)} from "
                f"{_percent(before)} to {_percent(now)}."
            )
            measure = "share of impossible rows"
            yield Candidate(
                None, "impossible rows", math.nan, p, sentence, before, now, abs(now - before), measure=measure
            )
        if not bins[:-1].sum() > 0:
            return
        test = binned_p_values(bins[:-1], facts.bins)
        own, deviation = float(window.moments[1, j]), math.sqrt(facts.variance) if facts.variance > 0 else 0.0
        shift = (own - facts.mean) / deviation if deviation else 0.0
        low = "less likely" if shift < 0 else "more likely"
        sentence = (
            f"log p(x): the mean {_verb(facts.mean, own)} from {facts.mean:.4g} to {own:.4g}, by {abs(shift):.2g} "
            f"standard deviations; the rows are {low} under the model."
        )
        before, now, measure = facts.mean, own, "mean log p(x)"
        if abs(shift) < 0.05:
            sentence, before, now, measure = self._share_words(window, j, facts, bins[:-1], test)
        figures = before, now, abs(shift)
        yield Candidate(None, LOG_DENSITY, test.statistic, test.p_value, sentence, *figures, measure=measure)

    # ------------------------------------------------------------------ levels and words

    def _levels(self, window: Window) -> Iterator[Candidate]:
        infinite = self.reference.infinite
        for (name, _), counts, unseen, (levels, known) in zip(
            window.layout.levels, window.levels, window.unseen, self.reference.levels, strict=True
        ):
            own, trained = counts * window.scale, known[:-1]
            n, size = float(own[:-1].sum()), float(trained.sum())
            yield from self._missing(name, float(own[-1]), float(own.sum()), float(known[-1]), size)
            if not n > 0 or not size > 0:
                continue
            yield self._unseen(name, float(own[-2]), n, trained, dict(unseen))
            test = chi_square(own[:-2], trained, infinite=infinite)
            seen = max(float(own[:-2].sum()), 1e-300)
            before, now = float(trained[test.level] / size), float(own[test.level] / seen)
            sentence = (
                f"Column {name!r}: the share of {levels.values[test.level]!r:.60} {_verb(before, now)} from "
                f"{_percent(before)} to {_percent(now)}."
            )
            if math.isnan(test.p_value):
                if len(levels) < 2:
                    continue
                sentence = f"The levels of column {name!r} were not tested: no known level is in this window."
            effect = _total_variation(own[:-2], trained)
            measure = f"share of {levels.values[test.level]!r:.40}"
            figures = before, now, effect
            yield Candidate(name, "levels", test.statistic, test.p_value, sentence, *figures, measure=measure)

    def _unseen(self, name: object, new: float, n: float, trained: Float, unseen: dict[object, float]) -> Candidate:
        """The share of levels that the model has not seen."""
        size = float(trained.sum())
        if self.reference.infinite:
            p, before = (0.0 if new > 0 else 1.0), 0.0
        else:
            single = float(trained[(trained > 0) & (trained <= 1 + 1e-9)].sum())
            p, before = share_p_value(new, n, single, size, more_only=True), single / size
        values = sorted(unseen, key=lambda value: -unseen[value])[:3]
        which = ", ".join(f"{value!r:.60}" for value in values)
        sentence = (
            f"Column {name!r}: {_percent(new / n)} of the values are levels that the model has never seen"
            f"{f', most often {which}' if which else ''}; {_percent(before)} were to be expected."
        )
        figures = before, new / n, max(new / n - before, 0.0)
        measure = f"share of unseen levels{f', such as {values[0]!r:.40}' if values else ''}"
        return Candidate(name, "unseen levels", math.nan, p, sentence, *figures, measure=measure)

    def _words(self, window: Window) -> Iterator[Candidate]:
        for (name, words), counts, (_, known) in zip(
            window.layout.words, window.words, self.reference.words, strict=True
        ):
            own = counts * window.scale
            n, size = float(own[-2]), float(known[-2])
            if not (n > 0 and size > 0 and len(words)):
                continue
            before, now = known[:-2] / size, own[:-2] / n
            near = np.abs(now - before) / np.sqrt(np.maximum(before * (1 - before), 1 / size) * (1 / n + 1 / size))
            # Exact p-values of the words that deviate most; those of the others are larger.
            some = np.argsort(-near, kind="stable")[:20].tolist()
            p_values = [share_p_value(float(own[i]), n, float(known[i]), size) for i in some]
            least = int(np.argmin(p_values))
            i = some[least]
            p = min(p_values[least] * len(words), 1.0)
            sentence = (
                f"Column {name!r}: the share of texts with the word {words[i]!r:.60} {_verb(before[i], now[i])} from "
                f"{_percent(before[i])} to {_percent(now[i])}."
            )
            effect = float(np.abs(now - before).max())
            measure, figures = f"share with {words[i]!r:.40}", (float(before[i]), float(now[i]), effect)
            yield Candidate(name, "words", math.nan, p, sentence, *figures, measure=measure)

    # ------------------------------------------------------------------ classes and labels

    def _class_shares(self, window: Window) -> Iterator[Candidate]:
        classes = window.layout.classes
        if len(classes) < 2:
            return
        if self.profile is None:
            yield Candidate(None, "class shares", math.nan, math.nan, f"The class shares were not tested: {NO_PROFILE}")
            return
        size = self.profile.weight
        reference = self.profile.posterior[0] / size
        covariance = self.profile.posterior[1:] / size
        covariance = covariance - (np.outer(reference, reference) if len(covariance) > 1 else reference**2)
        mean = window.posterior[0] / window.weight
        statistic, p = means_p_value(mean, window.effective, reference, covariance, size * _scale(self.profile))
        k = int(np.argmax(np.abs(mean - reference)))
        before, now = float(reference[k]), float(mean[k])
        sentence = (
            f"The mean probability of class {classes[k]!r:.60} {_verb(before, now)} from {_percent(before)} to "
            f"{_percent(now)}."
        )
        if math.isnan(p):
            sentence = (
                f"The class shares were not tested: with {window.effective:.0f} rows, fewer than 5 rows of a class are "
                "expected. Merge windows."
            )
        effect = 0.5 * float(np.abs(mean - reference).sum())
        measure = f"mean p({classes[k]!r:.40})"
        yield Candidate(None, "class shares", statistic, p, sentence, before, now, effect, measure=measure)

    def _labels(self, window: Window) -> Iterator[Candidate]:
        scores = dict(zip(SCORES, window.scores.tolist(), strict=True))
        scale, classes = window.scale, window.layout.classes
        n, new = scores["weight"] * scale, scores["unknown"] * scale
        if not n + new > 0:
            return
        infinite = self.reference.infinite
        if new > 0:
            p = 0.0 if infinite else share_p_value(new, n + new, 0.0, self.reference.rows, more_only=True)
            which = ", ".join(f"{value!r:.60}" for value in list(window.other_labels)[:3])
            share = new / (n + new)
            sentence = f"{_percent(share)} of the labels are not classes of the model, most often {which}."
            measure = f"share of unknown labels{f', such as {next(iter(window.other_labels))!r:.40}' if which else ''}"
            yield Candidate(None, "unknown labels", math.nan, p, sentence, 0.0, share, share, measure=measure)
        if not n > 0:
            return
        own, trained = window.labels * scale, self.reference.labels
        test = chi_square(own, trained, infinite=infinite)
        before, now = float(trained[test.level] / trained.sum()), float(own[test.level] / n)
        sentence = (
            f"The share of the label {classes[test.level]!r:.60} {_verb(before, now)} from {_percent(before)} to "
            f"{_percent(now)}."
        )
        if not math.isnan(test.p_value):
            effect = _total_variation(own, trained)
            measure, figures = f"share of {classes[test.level]!r:.40}", (before, now, effect)
            yield Candidate(None, "labels", test.statistic, test.p_value, sentence, *figures, measure=measure)
        yield from self._scores(n, scores)

    def _scores(self, n: float, scores: dict[str, float]) -> Iterator[Candidate]:
        """Accuracy and calibration against held-out training rows."""
        known = {} if self.profile is None else dict(zip(SCORES, self.profile.scores.tolist(), strict=True))
        reason = NO_PROFILE if self.profile is None or not known["weight"] > 0 else self._other_prior()
        if self.profile is None or reason:
            for test, subject in (("accuracy", "The accuracy"), ("calibration", "The calibration")):
                yield Candidate(None, test, math.nan, math.nan, f"{subject} was not tested: {reason}")
            return
        size = known["weight"] * _scale(self.profile)
        before, now = known["right"] / known["weight"], scores["right"] / scores["weight"]
        p = share_p_value(now * n, n, before * size, size)
        sentence = f"The accuracy {_verb(before, now)} from {_percent(before)} to {_percent(now)}."
        yield Candidate(None, "accuracy", math.nan, p, sentence, before, now, abs(now - before), measure="accuracy")
        gap = scores["gap"] / scores["weight"]
        gap_before = known["gap"] / known["weight"]
        if n < LEAST_GAPS:
            sentence = f"The calibration was not tested: the window has {n:.0f} labels, fewer than {LEAST_GAPS:.0f}."
            yield Candidate(None, "calibration", math.nan, math.nan, sentence, gap_before, gap)
            return
        variance = max(known["gap_squares"] / known["weight"] - gap_before**2, 0.0)
        own = max(scores["gap_squares"] / scores["weight"] - gap**2, 0.0)
        common = (variance * size + own * n) / (size + n)
        root = math.sqrt(common * (1 / n + 1 / size))
        z = (gap - gap_before) / root if root > 0 else 0.0
        usable = n * common >= 1.0  # so few errors, right or wrong, that the mean gap is not nearly normal
        p = float(2 * special.ndtr(-abs(z))) if usable else math.nan
        sentence = (
            f"The calibration changed: the model is right {_points(gap)} than it says; on held-out training rows, "
            f"{_points(gap_before)}."
        )
        if not usable:
            sentence = "The calibration was not tested: the window has too few uncertain predictions."
        figures = gap_before, gap, abs(gap - gap_before)
        yield Candidate(None, "calibration", z, p, sentence, *figures, measure="accuracy minus confidence")

    def _other_prior(self) -> str:
        """Why scores cannot be compared with those of the fit; empty if they can."""
        assert self.profile is not None
        away = 0.5 * float(np.abs(self.profile.prior - self.prior).sum())
        if away <= SAME_PRIOR:
            return ""
        return "the class prior differs from that of the fit. Give labelled reference rows: model.monitor(X, y)."


# ---------------------------------------------------------------------- figures


def _scale(profile: Profile) -> float:
    return profile.weight / profile.squares if profile.squares > 0 else 1.0


def _deviation(moments: Float) -> float:
    weight, _, m2, *_ = moments.tolist()
    return math.sqrt(m2 / weight) if weight > 0 else math.nan


def _total_variation(own: Float, trained: Float) -> float:
    a, b = float(own.sum()), float(trained.sum())
    return 0.5 * float(np.abs(own / a - trained / b).sum()) if a > 0 and b > 0 else 0.0


def _verb(before: float, now: float) -> str:
    return "rose" if now > before else "fell" if now < before else "stayed"


def _rise(subject: str, before: float, now: float) -> str:
    return f"{subject} {_verb(before, now)} from {_percent(before)} to {_percent(now)}."


def _percent(share: float) -> str:
    return f"{100 * float(share):.3g} %"


def _points(gap: float) -> str:
    return f"{abs(100 * gap):.3g} percentage points {'more' if gap >= 0 else 'less'} often"


def _time(seconds: float) -> str:
    try:
        return datetime.fromtimestamp(seconds, tz=UTC).strftime("%Y-%m-%d %H:%M")
    except (OverflowError, ValueError, OSError):
        return f"{seconds:.6g}"
