"""`Candidate`: a test of a window before its significance is decided, and figures as text for its sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from suffice.learning.profile import Profile
from suffice.numerics.types import Float

__all__ = [
    "FEW_ROWS",
    "NO_PROFILE",
    "OTHER_MODEL",
    "REASONS",
    "Candidate",
    "deviation",
    "percent",
    "points",
    "profile_scale",
    "rise",
    "share_candidate",
    "total_variation",
    "verb",
    "withheld",
]

NO_PROFILE = (
    "the model has no profile of held-out rows. Fit it with suffice.fit, or suffice fit without --no-validate; or give "
    "reference rows: model.monitor(X)."
)
OTHER_MODEL = (
    "the model has learned or forgotten rows since its profile was made. Fit it again with suffice.fit; or give "
    "reference rows that it has not learned: model.monitor(X, y)."
)
FEW_ROWS = (
    "the model has learned too few rows: fewer than 100, or than 25 for each class, so its held-out rows say too "
    "little about new ones. Give reference rows that it has not learned: model.monitor(X, y)."
)
REASONS = (OTHER_MODEL, FEW_ROWS, NO_PROFILE)


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


def withheld(column: object, test: str, sentence: str) -> Candidate:
    """A test that is not made, with the reason as its sentence."""
    return Candidate(column, test, math.nan, math.nan, sentence)


def share_candidate(
    column: object, test: str, p_value: float, subject: str, shares: tuple[float, float], measure: str
) -> Candidate:
    """An exact test of a share, before and in the window."""
    before, now = shares
    sentence = rise(subject, before, now)
    return Candidate(column, test, math.nan, p_value, sentence, before, now, abs(now - before), measure=measure)


def profile_scale(profile: Profile) -> float:
    """Effective rows per weight: weights times this number are counts."""
    return profile.weight / profile.squares if profile.squares > 0 else 1.0


def deviation(moments: Float) -> float:
    """Standard deviation of a number with these moments; NaN without values."""
    weight, _, m2, *_ = moments.tolist()
    return math.sqrt(m2 / weight) if weight > 0 else math.nan


def total_variation(own: Float, trained: Float) -> float:
    """Total variation distance of two distributions that are given as counts; 0 if one has none."""
    a, b = float(own.sum()), float(trained.sum())
    return 0.5 * float(np.abs(own / a - trained / b).sum()) if a > 0 and b > 0 else 0.0


def verb(before: float, now: float) -> str:
    """Whether a figure rose, fell or stayed."""
    return "rose" if now > before else "fell" if now < before else "stayed"


def rise(subject: str, before: float, now: float) -> str:
    """A sentence about a share.

    >>> rise("The share of yes", 0.25, 0.5)
    'The share of yes rose from 25 % to 50 %.'
    """
    return f"{subject} {verb(before, now)} from {percent(before)} to {percent(now)}."


def percent(share: float) -> str:
    """A share as a percentage with three digits."""
    return f"{100 * float(share):.3g} %"


def points(gap: float) -> str:
    """How much more or less often the model is right than it says."""
    return f"{abs(100 * gap):.3g} percentage points {'more' if gap >= 0 else 'less'} often"
