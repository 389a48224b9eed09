"""Options for how classes are predicted from probabilities: thresholds, costs, another prior."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from suffice.cli.reading import class_named

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier
    from suffice.learning.decisions import Costs, Thresholds

__all__ = ["DecisionOptions", "decision_options"]

F = TypeVar("F", bound=Callable[..., object])
K = TypeVar("K", bound=Hashable)
COST_FORM, THRESHOLD_FORM, PRIOR_FORM = "TRUE:PREDICTED=COST", "CLASS=P", "CLASS=SHARE"
EXAMPLE = {COST_FORM: "ham:spam=9", THRESHOLD_FORM: "spam=0.9", PRIOR_FORM: "spam=0.2"}
OPTIONS = (
    click.option(
        "--threshold",
        "thresholds",
        multiple=True,
        metavar="CLASS=P",
        help="Predict CLASS if its probability is at least P, such as spam=0.2, and otherwise another class. "
        "Repeatable.",
    ),
    click.option(
        "--cost",
        "costs",
        multiple=True,
        metavar="TRUE:PREDICTED=COST",
        help="Cost of an error, such as ham:spam=10; errors that are not named cost 1. The class with the smallest "
        "expected cost is predicted. Repeatable.",
    ),
    click.option(
        "--prior",
        metavar="data|uniform|CLASS=SHARE,...",
        help="Class prior where the model is used, if it differs from that of training. Classes that are not named "
        "share the rest in proportion to the prior of the model.",
    ),
)


@dataclass(frozen=True)
class DecisionOptions:
    """The options as they were typed."""

    thresholds: Sequence[str]
    costs: Sequence[str]
    prior: str | None

    def with_prior(self, model: GenerativeClassifier) -> GenerativeClassifier:
        """The model with the prior that was given."""
        if self.prior is None:
            return model
        return model.with_prior(self.prior if self.prior in ("data", "uniform") else self._shares(model, self.prior))

    def rule(self, model: GenerativeClassifier) -> tuple[Costs | None, Thresholds | None]:
        """Costs or thresholds by the labels of the model."""
        if self.costs and self.thresholds:
            raise click.UsageError("--cost and --threshold exclude each other. Set one of them.")
        costs: dict[tuple[Hashable, Hashable], float] = {}
        thresholds: dict[Hashable, float] = {}
        for each in self.costs:
            text, cost = _pair(each, "--cost", COST_FORM, 0, math.inf)
            true, predicted = _classes(model, text, each)
            if true == predicted:
                raise click.BadParameter(
                    f"{text!r} names one class twice. A correct prediction costs nothing.", param_hint="'--cost'"
                )
            _add(costs, (true, predicted), cost, text, "--cost")
        for each in self.thresholds:
            text, threshold = _pair(each, "--threshold", THRESHOLD_FORM, 0, 1)
            _add(thresholds, class_named(model, text), threshold, text, "--threshold")
        return costs or None, thresholds or None

    def _shares(self, model: GenerativeClassifier, given: str) -> dict[Hashable, float]:
        shares: dict[Hashable, float] = {}
        for each in given.split(","):
            text, share = _pair(each, "--prior", PRIOR_FORM, 0, 1)
            _add(shares, class_named(model, text), share, text, "--prior")
        labels = model.classes_.tolist()
        prior = dict(zip(labels, model.fitted_.estimate.prior.tolist(), strict=True))
        others = [label for label in labels if label not in shares]
        rest, total = max(1 - sum(shares.values()), 0.0), sum(prior[label] for label in others)
        return shares | {label: rest * prior[label] / total if total else rest / len(others) for label in others}


def decision_options(function: F) -> F:
    """Add the options. The function gets them as ``decision``."""

    @functools.wraps(function)
    def with_decision(*args: object, **given: Any) -> object:
        decision = DecisionOptions(given.pop("thresholds"), given.pop("costs"), given.pop("prior"))
        return function(*args, decision=decision, **given)

    decorated: Any = with_decision
    for option in reversed(OPTIONS):
        decorated = option(decorated)
    return decorated  # type: ignore[no-any-return]


def _add(found: dict[K, float], key: K, value: float, text: str, option: str) -> None:
    """Add a number that may be given once."""
    if key in found:
        raise click.BadParameter(
            f"{text} is given twice, with {found[key]:g} and {value:g}. Give it once.", param_hint=f"'{option}'"
        )
    found[key] = value


def _pair(given: str, option: str, form: str, least: float, most: float) -> tuple[str, float]:
    """Parse a name and a number."""
    text, equals, number = given.rpartition("=")
    try:
        value = float(number)
    except ValueError:
        value = math.nan
    if not equals or not text or not least <= value <= most or math.isinf(value):
        allowed = "of at least 0" if math.isinf(most) else f"between {least:g} and {most:g}"
        raise click.BadParameter(
            f"{given!r} is not of the form {form} with a number {allowed}, such as {EXAMPLE[form]}.",
            param_hint=f"'{option}'",
        )
    return text, value


def _classes(model: GenerativeClassifier, text: str, given: str) -> tuple[Hashable, Hashable]:
    """The true and the predicted class that a text names; a class may contain a colon."""
    names = {str(label) for label in model.classes_.tolist()}
    splits = [(text[:i], text[i + 1 :]) for i, letter in enumerate(text) if letter == ":"]
    if not splits:
        raise click.BadParameter(
            f"{given!r} is not of the form {COST_FORM}, such as {EXAMPLE[COST_FORM]}.", param_hint="'--cost'"
        )
    true, predicted = next((each for each in splits if {*each} <= names), splits[0])
    return class_named(model, true), class_named(model, predicted)
