"""The settings of a model, as options of ``suffice fit``."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

from suffice.cli.reading import pairs

__all__ = ["MODELS", "check_none", "check_settings", "estimator_of", "setting_options"]

F = TypeVar("F", bound=Callable[..., Any])
MODELS = ("naive-bayes", "discriminant", "text")


class NumberOr(click.ParamType):  # type: ignore[type-arg]  # generic since 8.2 only
    """A number of at least 0, or one of some words."""

    name = "number"

    def __init__(self, *words: str, most: float = math.inf) -> None:
        self.words, self.most = words, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value that a text means."""
        if not isinstance(value, str) or value in self.words:
            return value
        try:
            found = float(value)
        except ValueError:
            self.fail(f"{value!r} is neither a number nor {' or '.join(self.words)}.", param, ctx)
        if not 0 <= found <= self.most or math.isinf(found):
            self.fail(
                f"{value} is not {f'from 0 to {self.most:g}' if self.most < math.inf else '0 or more'}.", param, ctx
            )
        return found

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """How it is shown in the help."""
        return "|".join(("NUMBER", *self.words))


def _ngrams(ctx: click.Context, parameter: click.Parameter, given: str | None) -> tuple[int, int] | None:
    if given is None:
        return None
    low, _, high = given.partition("-")
    if not low.isdigit() or not (high or low).isdigit() or not 1 <= int(low) <= int(high or low):
        raise click.BadParameter(f"{given!r} is neither a number of words nor a range such as 1-2.", ctx, parameter)
    return int(low), int(high or low)


def _max_words(ctx: click.Context, parameter: click.Parameter, given: str | None) -> Any:
    if given is None or given == "auto" or given == "all":
        return given
    if not given.isdigit() or int(given) < 1:
        raise click.BadParameter(f"{given!r} is neither a number, nor auto or all.", ctx, parameter)
    return int(given)


def _families(ctx: click.Context, parameter: click.Parameter, given: Sequence[str]) -> Any:
    """A mapping from columns to names of families; a name alone is of all columns."""
    if len(given) == 1 and "=" not in given[0]:
        return given[0]
    return pairs(ctx, parameter, given) or None


NAIVE_BAYES = (
    click.option(
        "--family",
        "families",
        multiple=True,
        metavar="COL=FAMILY",
        callback=_families,
        help="The distribution of a column; COL1,COL2=multivariate_gaussian for columns that hang together, "
        "COL=none for one to leave out, FAMILY alone for all. Repeatable.",
    ),
    click.option("--missing", type=click.Choice(["ignore", "category"]), help="What a missing category says."),
    click.option(
        "--unseen", type=click.Choice(["ignore", "share", "error"]), help="What a category says that was never seen."
    ),
)
DISCRIMINANT = (
    click.option("--covariance", type=click.Choice(["shared", "own"]), help="One for all classes, or one for each."),
    click.option("--shape", type=click.Choice(["full", "diagonal", "spherical"]), help="Of the covariance."),
    click.option("--mix", type=NumberOr("auto", most=1), help="Share of the shared covariance in own ones, 0 to 1."),
    click.option(
        "--shrinkage", type=NumberOr("ledoit_wolf", "oas", "auto", most=1), help="Share of the diagonal, 0 to 1."
    ),
)
TEXT = (
    click.option(
        "--event", type=click.Choice(["multinomial", "bernoulli", "complement", "auto"]), help="What words are."
    ),
    click.option(
        "--ngrams", "ngram_range", metavar="N|N-M", callback=_ngrams, help="Words in a row that count as one."
    ),
    click.option("--max-words", metavar="N|auto|all", callback=_max_words, help="How many words are used; 10000."),
    click.option("--punctuation/--no-punctuation", default=None, help="Whether marks such as ! are words."),
    click.option("--slots", type=click.IntRange(min=0), help="Hash words to so many places, for endless streams."),
)
ALL = (
    click.option("--smoothing", type=NumberOr("auto"), help="Weight of the prior of the parameters."),
    click.option("--estimation", type=click.Choice(["mle", "map", "bayes"]), help="How parameters are made."),
    click.option("--prior", metavar="data|uniform|CLASS=SHARE,...", help="Shares of the classes; those of the data."),
    click.option(
        "--calibrate", type=click.Choice(["temperature", "isotonic"]), help="Mend the probabilities, by such a map."
    ),
)
OWN = {
    "naive-bayes": ("families", "missing", "unseen"),
    "discriminant": ("covariance", "shape", "mix", "shrinkage"),
    "text": ("event", "ngram_range", "max_words", "punctuation", "slots"),
}
SPELLED = {"families": "--family", "ngram_range": "--ngrams", "max_words": "--max-words"}


def setting_options(function: F) -> F:
    """All settings as options; the function gets those that were given as ``settings``."""
    names = [*OWN["naive-bayes"], *OWN["discriminant"], *OWN["text"], "smoothing", "estimation", "prior", "calibrate"]

    @functools.wraps(function)
    def takes(*args: Any, **given: Any) -> Any:
        settings = {name: given.pop(name) for name in names}
        return function(*args, settings={k: v for k, v in settings.items() if v is not None}, **given)

    made: Any = takes
    for option in reversed((*NAIVE_BAYES, *DISCRIMINANT, *TEXT, *ALL)):
        made = option(made)
    return made  # type: ignore[no-any-return]


def check_settings(kind: str, settings: Mapping[str, Any]) -> None:
    """Raise if an option is of another model."""
    for other, names in OWN.items():
        lost = [name for name in names if name in settings]
        if other != kind and lost:
            raise click.UsageError(f"{_spelled(lost[0])} is of --model {other}, and this is --model {kind}.")


def check_none(settings: Mapping[str, Any]) -> None:
    """Raise if any setting is given to a model that has its own."""
    if settings:
        raise click.UsageError(
            f"{_spelled(next(iter(settings)))} does not go with --update: the model goes on learning with its settings."
        )


def _spelled(name: str) -> str:
    return SPELLED.get(name, f"--{name}")


def estimator_of(kind: str, settings: Mapping[str, Any], source: Any, target: str) -> Any:
    """The model with its settings, not fitted yet."""
    from suffice import GaussianDiscriminant, NaiveBayes, TextNaiveBayes

    how = dict(settings)
    if "families" in how:
        how["families"] = _of_columns(how["families"], source)
    if "prior" in how:
        how["prior"] = _shares(how["prior"], source.types.get(target, "text"))
    if how.get("max_words") == "all":
        how["max_words"] = None
    made: dict[str, Any] = {"naive-bayes": NaiveBayes, "discriminant": GaussianDiscriminant, "text": TextNaiveBayes}
    return made[kind](**how)


def _of_columns(given: Any, source: Any) -> Any:
    """Families by columns: a key with commas is a block, unless a column is called that."""
    from suffice.families import family_names

    known = ("auto", "none", *family_names())
    names = [given] if isinstance(given, str) else list(given.values())
    wrong = [name for name in names if name not in known]
    if wrong:
        raise click.UsageError(f"There is no family {wrong[0]!r}. The families are {', '.join(sorted(known))}.")
    if isinstance(given, str):
        return given
    out: dict[Any, Any] = {}
    for key, name in given.items():
        columns = [key] if key in source.names or "," not in key else key.split(",")
        out[columns[0] if len(columns) == 1 else tuple(columns)] = None if name == "none" else name
    return out


def _shares(given: str, kind: str) -> Any:
    """A prior: a word, or shares by labels of the type that the target has."""
    if given in ("data", "uniform"):
        return given
    out: dict[Any, float] = {}
    for each in given.split(","):
        label, equals, share = each.rpartition("=")
        try:
            named = _label(label, kind)
            if not equals or named in out or not 0 <= (part := float(share)) < math.inf:
                raise ValueError
            out[named] = part
        except ValueError:
            raise click.BadParameter(
                f"{each!r} is not of the form CLASS=SHARE, each class once and shares not below 0, as in "
                "--prior 'ham=0.8,spam=0.2'.",
                param_hint="'--prior'",
            ) from None
    return out


def _label(text: str, kind: str) -> Any:
    if kind == "yes/no":
        return {"true": True, "false": False}[text.lower()] if text.lower() in ("true", "false") else text
    return int(text) if kind == "whole number" else text
