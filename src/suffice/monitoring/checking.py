"""The tests of one window against the reference, each as a `Candidate` with its p-value and its sentence.

The tests of columns are those of `suffice.monitoring.two_samples`. Besides these:

- *Unseen levels*, and labels that are not classes. Both are tests of values that the reference does not have.
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

import numpy as np
from scipy import special

from suffice.exceptions import counted
from suffice.learning.profile import Profile
from suffice.learning.watched_columns import LOG_DENSITY
from suffice.monitoring.candidates import NO_PROFILE, Candidate, percent, points, profile_scale, total_variation, verb
from suffice.monitoring.number_checks import log_density_checks, missing_check, number_check, yes_or_no_check
from suffice.monitoring.reference import Reference
from suffice.monitoring.two_samples import chi_square, means_p_value, share_p_value, unseen_p_value
from suffice.monitoring.window import SCORES, Window
from suffice.numerics.types import Float

__all__ = ["Checker"]

LEAST_GAPS, LEAST_ERRORS = 50.0, 10.0
SAME_PRIOR = 0.05  # total variation distance


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
        offsets, infinite = window.layout.offsets, self.reference.infinite
        for j, (name, scale) in enumerate(window.layout.numbers):
            facts = self.reference.numbers[j]
            bins = window.bins[offsets[j] : offsets[j + 1] - 1] * window.scale
            if scale == LOG_DENSITY:
                yield from log_density_checks(window, j, facts, bins, self.profile, self.reference.reason)
                continue
            if scale != "unknown words":
                missing = float(window.bins[offsets[j + 1] - 1]) * window.scale
                yield from missing_check(name, missing, window.effective, facts.missing, facts.weight)
            if scale == "yes or no":
                yield from yes_or_no_check(window, j, facts, infinite=infinite)
            else:
                yield number_check(
                    window, j, facts, bins, infinite=infinite, is_time=name in self.times, reason=self.reference.reason
                )

    # ------------------------------------------------------------------ levels and words

    def _levels(self, window: Window) -> Iterator[Candidate]:
        infinite = self.reference.infinite
        for (name, _), counts, unseen, (levels, known) in zip(
            window.layout.levels, window.levels, window.unseen, self.reference.levels, strict=True
        ):
            own, trained = counts * window.scale, known[:-1]
            n, size = float(own[:-1].sum()), float(trained.sum())
            yield from missing_check(name, float(own[-1]), float(own.sum()), float(known[-1]), size)
            if not n > 0 or not size > 0:
                continue
            yield self._unseen(name, float(own[-2]), n, trained, dict(unseen))
            test = chi_square(own[:-2], trained, new=float(own[-2]), infinite=infinite)
            seen = max(float(own[:-2].sum()), 1e-300)
            before, now = float(trained[test.level] / size), float(own[test.level] / seen)
            sentence = (
                f"Column {name!r}: the share of {levels.values[test.level]!r:.60} {verb(before, now)} from "
                f"{percent(before)} to {percent(now)}."
            )
            if math.isnan(test.p_value):
                if len(levels) < 2:
                    continue
                sentence = f"The levels of column {name!r} were not tested: no known level is in this window."
            effect = total_variation(own[:-2], trained)
            measure = f"share of {levels.values[test.level]!r:.40}"
            figures = before, now, effect
            yield Candidate(name, "levels", test.statistic, test.p_value, sentence, *figures, measure=measure)

    def _unseen(self, name: object, new: float, n: float, trained: Float, unseen: dict[object, float]) -> Candidate:
        """The share of levels that the model has not seen."""
        p, before = self._new_values(new, n, trained)
        values = sorted(unseen, key=lambda value: -unseen[value])[:3]
        which = ", ".join(f"{value!r:.60}" for value in values)
        sentence = (
            f"Column {name!r}: {percent(new / n)} of the values are levels that the model has never seen"
            f"{f', most often {which}' if which else ''}; {percent(before)} were to be expected."
        )
        figures = before, new / n, max(new / n - before, 0.0)
        measure = f"share of unseen levels{f', such as {values[0]!r:.40}' if values else ''}"
        return Candidate(name, "unseen levels", math.nan, p, sentence, *figures, measure=measure)

    def _new_values(self, new: float, n: float, trained: Float) -> tuple[float, float]:
        """P-value of values that the training rows do not have, and the share to be expected."""
        if self.reference.infinite:
            return (0.0 if new > 0 else 1.0), 0.0
        return unseen_p_value(new, n, trained, self.reference.unit)

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
                f"Column {name!r}: the share of texts with the word {words[i]!r:.60} {verb(before[i], now[i])} from "
                f"{percent(before[i])} to {percent(now[i])}."
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
            yield Candidate(
                None, "class shares", math.nan, math.nan, f"The class shares were not tested: {self.reference.reason}"
            )
            return
        size = self.profile.weight
        reference = self.profile.posterior[0] / size
        mean = window.posterior[0] / window.weight
        spread, covariance = _covariance(window.posterior, window.weight), _covariance(self.profile.posterior, size)
        n, big_n = window.effective, size * profile_scale(self.profile)
        statistic, p = means_p_value(mean, spread, n, reference, covariance, big_n)
        k = int(np.argmax(np.abs(mean - reference)))
        before, now = float(reference[k]), float(mean[k])
        sentence = (
            f"The mean probability of class {classes[k]!r:.60} {verb(before, now)} from {percent(before)} to "
            f"{percent(now)}."
        )
        if math.isnan(p):
            rows, what = (n, "Merge windows") if n <= big_n else (big_n, "Give more reference rows: model.monitor(X)")
            of = "" if n <= big_n else " of the profile"
            sentence = (
                f"The class shares were not tested: with {counted(round(rows), 'row')}{of}, fewer than 5 rows of a "
                f"class are expected. {what}."
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
        trained, infinite = self.reference.labels, self.reference.infinite
        if new > 0:
            p, known = self._new_values(new, n + new, trained)
            which = ", ".join(f"{value!r:.60}" for value in list(window.other_labels)[:3])
            share = new / (n + new)
            sentence = (
                f"{percent(share)} of the labels are not classes of the model, most often {which}; {percent(known)} "
                "were to be expected."
            )
            measure = f"share of unknown labels{f', such as {next(iter(window.other_labels))!r:.40}' if which else ''}"
            figures = known, share, max(share - known, 0.0)
            yield Candidate(None, "unknown labels", math.nan, p, sentence, *figures, measure=measure)
        if not n > 0:
            return
        own = window.labels * scale
        test = chi_square(own, trained, new=new, infinite=infinite)
        before, now = float(trained[test.level] / trained.sum()), float(own[test.level] / n)
        sentence = (
            f"The share of the label {classes[test.level]!r:.60} {verb(before, now)} from {percent(before)} to "
            f"{percent(now)}."
        )
        if not math.isnan(test.p_value):
            effect = total_variation(own, trained)
            measure, figures = f"share of {classes[test.level]!r:.40}", (before, now, effect)
            yield Candidate(None, "labels", test.statistic, test.p_value, sentence, *figures, measure=measure)
        yield from self._scores(n, scores)

    def _scores(self, n: float, scores: dict[str, float]) -> Iterator[Candidate]:
        """Accuracy and calibration against held-out training rows."""
        known = {} if self.profile is None else dict(zip(SCORES, self.profile.scores.tolist(), strict=True))
        reason = self._why_not_scored(known)
        if self.profile is None or reason:
            for test, subject in (("accuracy", "The accuracy"), ("calibration", "The calibration")):
                yield Candidate(None, test, math.nan, math.nan, f"{subject} was not tested: {reason}")
            return
        size = known["weight"] * profile_scale(self.profile)
        before, now = known["right"] / known["weight"], scores["right"] / scores["weight"]
        p = share_p_value(now * n, n, before * size, size)
        sentence = f"The accuracy {verb(before, now)} from {percent(before)} to {percent(now)}."
        yield Candidate(None, "accuracy", math.nan, p, sentence, before, now, abs(now - before), measure="accuracy")
        gap = scores["gap"] / scores["weight"]
        gap_before = known["gap"] / known["weight"]
        if n < LEAST_GAPS:
            known_labels = counted(round(n), "label")
            sentence = f"The calibration was not tested: the window has {known_labels}, fewer than {LEAST_GAPS:.0f}."
            yield Candidate(None, "calibration", math.nan, math.nan, sentence, gap_before, gap)
            return
        variance = max(known["gap_squares"] / known["weight"] - gap_before**2, 0.0)
        own = max(scores["gap_squares"] / scores["weight"] - gap**2, 0.0)
        common = (variance * size + own * n) / (size + n)
        root = math.sqrt(common * (1 / n + 1 / size))
        z = (gap - gap_before) / root if root > 0 else 0.0
        # With few errors, right or wrong, the mean gap is not nearly normal.
        usable = min(n, size) * common >= LEAST_ERRORS
        p = float(2 * special.ndtr(-abs(z))) if usable else math.nan
        sentence = (
            f"The calibration changed: the model is right {points(gap)} than it says; on held-out training rows, "
            f"{points(gap_before)}."
        )
        if not usable:
            sentence = "The calibration was not tested: the window has too few uncertain predictions."
        figures = gap_before, gap, abs(gap - gap_before)
        yield Candidate(None, "calibration", z, p, sentence, *figures, measure="accuracy minus confidence")

    def _why_not_scored(self, known: dict[str, float]) -> str:
        """Why scores cannot be compared with those of the fit; empty if they can."""
        if self.profile is None:
            return self.reference.reason
        if not known["weight"] > 0:
            return NO_PROFILE
        away = 0.5 * float(np.abs(self.profile.prior - self.prior).sum())
        if away <= SAME_PRIOR:
            return ""
        return "the class prior differs from that of the fit. Give labelled reference rows: model.monitor(X, y)."


def _covariance(sums: Float, weight: float) -> Float:
    """Covariance (K, K) of posteriors from their sums and products; of many classes, the variances (1, K)."""
    mean, squares = sums[0] / weight, sums[1:] / weight
    return squares - (np.outer(mean, mean) if len(squares) == len(mean) > 1 else mean**2)
