"""The setting ``conjugate_prior`` of families: its check, and its pseudo-rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar, runtime_checkable

import numpy as np

from suffice.exceptions import Argument, InputError, did_you_mean, listed
from suffice.families.priors import (
    Beta,
    Dirichlet,
    GammaRate,
    GivenPrior,
    NormalInverseGamma,
    NormalInverseWishart,
    Prior,
    PriorsOfClasses,
)
from suffice.statistics import CellSums, ClassAxis, Moments

__all__ = [
    "Conjugate",
    "check_named_classes",
    "checked_prior",
    "has_given_prior",
    "prior_moments",
    "prior_sums",
    "priors_of",
    "without_prior",
]

F = TypeVar("F")
P = TypeVar("P", Beta, GammaRate, NormalInverseGamma, NormalInverseWishart, Dirichlet)


@runtime_checkable
class Conjugate(Protocol):
    """A family with the setting ``conjugate_prior``."""

    @property
    def conjugate_prior(self) -> GivenPrior:
        """The prior of the parameters, or None for the one that ``smoothing`` describes."""


def has_given_prior(family: object) -> bool:
    """Whether the prior of a family has given numbers."""
    return isinstance(family, Conjugate) and family.conjugate_prior is not None


def without_prior(family: F) -> F:
    """The family without a prior of given numbers."""
    if not has_given_prior(family):
        return family
    return replace(family, conjugate_prior=None)  # type: ignore[type-var]  # families are dataclasses


def checked_prior(given: object, kind: type[Prior], family: str, estimation: str) -> PriorsOfClasses | Prior | None:
    """The setting ``conjugate_prior`` of a family, with a mapping as `PriorsOfClasses`; or `InputError`."""
    if given is None:
        return None
    if estimation == "mle":
        raise InputError(
            Argument("estimation", "mle"),
            " has no prior. Set ",
            Argument("estimation"),
            " to 'map' or 'bayes', or leave out conjugate_prior.",
            argument="estimation",
        )
    if isinstance(given, Mapping) and not given:
        raise InputError(
            "conjugate_prior is an empty mapping. Give a prior for each class, or one for all classes.",
            argument="conjugate_prior",
        )
    found = PriorsOfClasses(given) if isinstance(given, Mapping) else given
    for each in (prior for _, prior in found.priors) if isinstance(found, PriorsOfClasses) else (found,):
        if not isinstance(each, kind):
            raise InputError(
                f"conjugate_prior of the family {family} must be a {kind.__name__}, or a mapping from each class to "
                f"one; got {each!r:.80}.",
                argument="conjugate_prior",
            )
    return found  # type: ignore[return-value]  # each is an instance of the kind


def priors_of(given: GivenPrior, kind: type[P], classes: ClassAxis) -> list[P]:
    """The prior of each class; raises `InputError` for a class without one."""
    if not isinstance(given, PriorsOfClasses):
        assert isinstance(given, kind)
        return [given] * len(classes)
    return _by_class(given, classes)  # type: ignore[return-value]  # checked when the family was made


def _by_class(given: PriorsOfClasses, classes: ClassAxis) -> list[Prior]:
    known = dict(given.priors)
    labels = classes.labels.tolist()
    lacking = [label for label in labels if label not in known]
    if lacking:
        raise InputError(
            f"conjugate_prior has no prior for class {listed(lacking)}; it has priors for {listed(list(known))}."
            f"{did_you_mean(lacking[0], known)} Give one for each class, or one prior for all classes.",
            argument="conjugate_prior",
        )
    return [known[label] for label in labels]


def check_named_classes(family: object, classes: ClassAxis) -> None:
    """Raise `InputError` for a class that a prior of given numbers lacks."""
    if isinstance(family, Conjugate) and isinstance(family.conjugate_prior, PriorsOfClasses):
        _by_class(family.conjugate_prior, classes)


def prior_sums(statistic: CellSums, weight: Sequence[float], total: Sequence[float]) -> CellSums:
    """Pseudo-rows of each class: their weight (K,), and the first of their totals (K,), the same in each column."""
    totals = np.zeros_like(statistic.total)
    totals[:, 0] = np.array(total)[:, None]
    return CellSums(
        statistic.classes, np.broadcast_to(np.array(weight)[:, None], statistic.weight.shape).copy(), totals
    )


def prior_moments(statistic: Moments, given: GivenPrior) -> Moments:
    """Pseudo-rows of each class, as many as the mean is worth, with the sum of squares that the variance is worth."""
    priors = priors_of(given, NormalInverseGamma, statistic.classes)
    columns = (
        [each.rows for each in priors],
        [each.mean for each in priors],
        [0.0] * len(priors),
        [each.degrees * each.variance for each in priors],
        [0.0] * len(priors),
    )
    shape = statistic.weight.shape
    return Moments(statistic.classes, *(np.tile(np.array(each).reshape(-1, 1), (1, shape[1])) for each in columns))
