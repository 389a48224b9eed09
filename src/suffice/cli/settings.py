"""The settings of a model as options of ``suffice fit``."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

import click

from suffice.cli.command import Choice, section
from suffice.cli.reading import model_path, pairs

if TYPE_CHECKING:
    from suffice.estimators.base import GenerativeClassifier
    from suffice.sources.files import Source

__all__ = [
    "MODELS",
    "Settings",
    "check_columns_like",
    "check_model_settings",
    "check_no_settings",
    "default_model",
    "estimator_of",
    "like_option",
    "model_like",
    "setting_options",
]

F = TypeVar("F", bound=Callable[..., object])
Settings: TypeAlias = Mapping[str, object]
"""Settings that were given, by the names of the estimators' parameters."""

# The names of suffice.api.MODELS, which a test compares. Importing them would import NumPy for every --help.
MODELS = ("ensemble", "naive-bayes", "discriminant", "averaged-dependence", "text")


class NumberOr(click.ParamType):  # type: ignore[type-arg]  # generic since 8.2 only
    """A number of at least 0, or one of some words."""

    name = "number"

    def __init__(self, *words: str, most: float = math.inf) -> None:
        self.words, self.most = words, most

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """Parse the text of an option."""
        if not isinstance(value, str):
            return float(value)
        if value.lower() in self.words:
            return value.lower()
        try:
            parsed = float(value)
        except ValueError:
            from suffice.exceptions import did_you_mean

            *others, last = ("a number", *self.words)
            hint = did_you_mean(value, self.words)
            self.fail(f"It must be {', '.join(others)} or {last}; got {value!r}.{hint}", param, ctx)
        if not 0 <= parsed <= self.most or math.isinf(parsed):
            allowed = "0 or more" if math.isinf(self.most) else f"between 0 and {self.most:g}"
            self.fail(f"{value} is not {allowed}.", param, ctx)
        return parsed

    def get_metavar(self, param: click.Parameter, ctx: click.Context | None = None) -> str:
        """Return the placeholder in the help."""
        return "|".join(("NUMBER", *self.words))


def _ngrams(ctx: click.Context, parameter: click.Parameter, given: str | None) -> tuple[int, int] | None:
    if given is None:
        return None
    low, _, high = given.partition("-")
    if not low.isdigit() or not (high or low).isdigit() or not 1 <= int(low) <= int(high or low):
        raise click.BadParameter(f"{given!r} is neither a number of words nor a range such as 1-2.", ctx, parameter)
    return int(low), int(high or low)


def _characters(ctx: click.Context, parameter: click.Parameter, given: str | None) -> tuple[int, int] | str | None:
    return given if given == "none" else _ngrams(ctx, parameter, given)


def _max_words(ctx: click.Context, parameter: click.Parameter, given: str | None) -> int | str | None:
    if given is None or given in ("auto", "all"):
        return given
    if not given.isdigit() or int(given) < 1:
        raise click.BadParameter(f"{given!r} is neither a number of at least 1 nor auto or all.", ctx, parameter)
    return int(given)


def _families(
    ctx: click.Context, parameter: click.Parameter, given: Sequence[str]
) -> str | dict[str | None, str] | None:
    """Parse families by column; a family without a column, whose key is None, applies to all other columns."""
    alone = [each for each in given if "=" not in each]
    if len(alone) > 1:
        raise click.BadParameter(f"{alone[0]} and {alone[1]} cannot both apply to all columns.", ctx, parameter)
    named = pairs(ctx, parameter, [each for each in given if "=" in each])
    if alone and not named:
        return alone[0]
    families: dict[str | None, str] = {name: family for name, family in named.items()}  # noqa: C416
    if alone:
        families[None] = alone[0]
    return families or None


ALL = (
    click.option(
        "--prior",
        metavar="data|uniform|CLASS=SHARE,...",
        help="Class prior; default: the share of each class in the data.",
    ),
)
BUT_ENSEMBLE = (
    click.option(
        "--smoothing",
        type=NumberOr("auto"),
        help="Number of pseudo-rows (or pseudo-counts) that smooth the parameters; default: 1; 5 for "
        "averaged-dependence; auto for text.",
    ),
    click.option(
        "--estimation",
        type=Choice(["mle", "map", "bayes"], case_sensitive=False),
        help="Estimate parameters by maximum likelihood (mle) or with a conjugate prior (map), or integrate over their "
        "posterior (bayes); default: map, and mle with --shrinkage oas for discriminant.",
    ),
    click.option(
        "--calibrate",
        type=Choice(["temperature", "isotonic", "columns", "none"], case_sensitive=False),
        help="Calibrate probabilities on held-out rows with a temperature (default for text), a monotone map "
        "(isotonic), or a weight for each column (columns); default for other models: none. The ensemble is always "
        "calibrated.",
    ),
)
COLUMNS = (
    click.option(
        "--family",
        "families",
        multiple=True,
        metavar="COL=FAMILY",
        callback=_families,
        help="Family (distribution) of a column; default: chosen by the data (ensemble) or by its type (naive-bayes). "
        "The family best is chosen by held-out log-loss, and none ignores the column. "
        "COL1,COL2=multivariate_gaussian models columns jointly. FAMILY without COL applies to all other columns, but "
        "a family of numbers only to columns of numbers. Repeatable.",
    ),
    click.option(
        "--missing",
        type=Choice(["ignore", "category", "em", "drop", "error"], case_sensitive=False),
        help="What to do with missing cells. ensemble and naive-bayes: ignore those of categorical columns (default), "
        "or treat them as a category. discriminant: use the other cells of the row (em, default), drop the row, or "
        "stop (error).",
    ),
    click.option(
        "--unseen",
        type=Choice(["ignore", "share", "error"], case_sensitive=False),
        help="What to do with categories not seen in training: ignore them (default), give them a small probability "
        "(share), or stop (error).",
    ),
)
BINS = (
    click.option(
        "--n-bins",
        type=click.IntRange(min=2),
        metavar="N",
        help="Largest number of bins of a numeric column; default: 5. The first batch of rows sets the cuts.",
    ),
    click.option(
        "--max-parents",
        type=click.IntRange(min=1),
        metavar="N",
        help="Largest number of columns that others may depend on; the most informative ones are used; default: 8, "
        "and 50 for averaged-dependence.",
    ),
)
NAIVE_BAYES = (
    click.option(
        "--blocks",
        type=Choice(["auto"], case_sensitive=False),
        help="auto finds columns that depend on each other within the classes, and models them jointly: numbers as "
        "multivariate_gaussian, categories as joint_table.",
    ),
)
DISCRIMINANT = (
    click.option(
        "--covariance",
        type=Choice(["shared", "own"], case_sensitive=False),
        help="One covariance matrix for all classes (default), or one for each class.",
    ),
    click.option(
        "--shape",
        type=Choice(["full", "diagonal", "spherical"], case_sensitive=False),
        help="Shape of the covariance matrix; default: full.",
    ),
    click.option(
        "--mix",
        type=NumberOr("auto", most=1),
        help="Share of the shared covariance in the covariance of each class, 0 to 1; default: 0.",
    ),
    click.option(
        "--shrinkage",
        type=NumberOr("ledoit_wolf", "oas", "auto", most=1),
        help="Shrinkage of the covariance towards its diagonal, 0 to 1; default: oas, and 0 with --estimation.",
    ),
)
AVERAGED_DEPENDENCE = (
    click.option(
        "--max-levels",
        type=click.IntRange(min=1),
        metavar="N",
        help="Largest number of categories of a column with bins of their own; all others share one; default: 100.",
    ),
)
TEXT = (
    click.option(
        "--event",
        type=Choice(["multinomial", "bernoulli", "complement", "normalised_complement", "auto"], case_sensitive=False),
        help="Event model of the words; default: auto.",
    ),
    click.option(
        "--weighting",
        type=Choice(["count", "unit"], case_sensitive=False),
        help="Count how often each word occurs (count), or give all documents the same length (unit, default).",
    ),
    click.option("--binary/--no-binary", default=None, help="Count each word of a document once; default: auto."),
    click.option("--idf/--no-idf", default=None, help="Give more weight to rare words; default: auto."),
    click.option(
        "--ngrams",
        "ngram_range",
        metavar="N|N-M",
        callback=_ngrams,
        help="Number of words that are counted as one; default: 1-2.",
    ),
    click.option(
        "--characters",
        metavar="N|N-M|none",
        callback=_characters,
        help="Lengths of fragments of words to count beside words; default: 4.",
    ),
    click.option(
        "--max-words",
        metavar="N|auto|all",
        callback=_max_words,
        help="Number of words to use, the most frequent ones; default: auto.",
    ),
    click.option(
        "--min-length",
        type=click.IntRange(min=1),
        metavar="N",
        help="Smallest length of a word in characters; default: 1.",
    ),
    click.option(
        "--punctuation/--no-punctuation", default=None, help="Count punctuation marks as words; default: yes."
    ),
    click.option(
        "--slots",
        type=click.IntRange(min=0),
        metavar="N",
        help="Hash words to N slots, which bounds memory; default: 0 (store the words).",
    ),
)
SECTIONS = {
    "Settings of all models": ALL,
    "Settings of ensemble and naive-bayes": COLUMNS,
    "Settings of ensemble and averaged-dependence": BINS,
    "Settings of all models but ensemble": BUT_ENSEMBLE,
    "Settings of naive-bayes": NAIVE_BAYES,
    "Settings of discriminant": DISCRIMINANT,
    "Settings of averaged-dependence": AVERAGED_DEPENDENCE,
    "Settings of text": TEXT,
}
SETTINGS_OF = {
    "ensemble": ("families", "missing", "unseen", "n_bins", "max_parents"),
    "naive-bayes": ("families", "missing", "unseen", "blocks", "smoothing", "estimation", "calibrate"),
    "discriminant": ("covariance", "shape", "mix", "shrinkage", "missing", "smoothing", "estimation", "calibrate"),
    "averaged-dependence": ("n_bins", "max_parents", "max_levels", "smoothing", "calibrate"),
    "text": (
        *("event", "weighting", "binary", "idf", "ngram_range", "characters", "max_words", "min_length"),
        *("punctuation", "slots", "smoothing", "estimation", "calibrate"),
    ),
}
"""Settings that not all models have."""
WHY_NOT = {
    ("averaged-dependence", "estimation"): "its counts are always smoothed; see --smoothing",
    ("averaged-dependence", "missing"): "a missing cell is in a bin of its own",
    ("ensemble", "calibrate"): "its probabilities are always calibrated",
}
like_option = click.option(
    "--like",
    type=model_path,
    metavar="MODEL",
    help="Saved model whose families, cuts and parents to use, so that the models can be merged.",
)
OVERRIDDEN = {
    "families": (
        "the families with their settings",
        ("families", "blocks", "missing", "unseen", "smoothing", "estimation"),
    ),
    "cuts": ("the cuts", ("n_bins", "max_levels")),
    "parents": ("the parents", ("max_parents",)),
}
"""What a model with the choices of another takes from it, and the settings that would have no effect."""
NOT_NUMBERS = ("text", "category")
"""Types of columns that families of numbers do not take."""
MISSING = {
    "ensemble": ("ignore", "category"),
    "naive-bayes": ("ignore", "category"),
    "discriminant": ("em", "drop", "error"),
}
"""Values of ``--missing`` for each model."""


def setting_options(function: F) -> F:
    """Add all settings as options. The function gets those that were given as ``settings``."""
    own = dict.fromkeys(name for names in SETTINGS_OF.values() for name in names)
    names = [*own, "prior"]

    @functools.wraps(function)
    def with_settings(*args: object, **given: Any) -> object:
        settings = {name: given.pop(name) for name in names}
        return function(*args, settings={k: v for k, v in settings.items() if v is not None}, **given)

    decorated: Any = with_settings
    for heading, options in reversed(SECTIONS.items()):
        decorated = section(heading, *options)(decorated)
    return decorated  # type: ignore[no-any-return]


def default_model(settings: Settings) -> str:
    """The model of a table if none is named: the ensemble, or naive Bayes if it alone has all settings."""
    wanted = settings.keys() - {"prior"}
    fits = [kind for kind in ("ensemble", "naive-bayes") if wanted.issubset(SETTINGS_OF[kind])]
    return fits[0] if fits else "ensemble"


def check_model_settings(kind: str, settings: Settings) -> None:
    """Raise if a setting belongs to another model."""
    for name in [each for each in settings if each != "prior" and each not in SETTINGS_OF[kind]]:
        option = _option_name(name)
        if (kind, name) in WHY_NOT:
            raise click.UsageError(f"--model {kind} has no {option}: {WHY_NOT[kind, name]}.")
        others = " or ".join(other for other, names in SETTINGS_OF.items() if name in names)
        raise click.UsageError(f"{option} needs --model {others}; the model is {kind}.")
    missing = settings.get("missing")
    if missing is not None and missing not in MISSING[kind]:
        others = " or ".join(other for other, values in MISSING.items() if missing in values)
        raise click.UsageError(
            f"--missing {missing} needs --model {others}; the model is {kind}, which takes {', '.join(MISSING[kind])}."
        )


def check_no_settings(settings: Settings) -> None:
    """Raise if a setting is given together with ``--update``."""
    if settings:
        raise click.UsageError(
            f"{_option_name(next(iter(settings)))} cannot be combined with --update: an updated model keeps its "
            "settings."
        )


def _option_name(name: str) -> str:
    from suffice.cli.spelling import shell_spelling
    from suffice.exceptions import Argument

    return shell_spelling(Argument(name))


def estimator_of(
    kind: str, settings: Settings, source: Source, target: str, like: GenerativeClassifier | None = None
) -> GenerativeClassifier:
    """Return the model with its settings, not fitted yet; ``like`` gives it the choices of another model."""
    from suffice.api import model_named

    parameters = dict(settings)
    if "families" in parameters:
        weights = click.get_current_context().params.get("weights")
        read = [name for name in source.names if name not in (target, weights)]
        parameters["families"] = _families_by_column(parameters["families"], source, read)
    if "prior" in parameters:
        parameters["prior"] = _prior(str(parameters["prior"]), source.types.get(target, "text"))
    if parameters.get("max_words") == "all":
        parameters["max_words"] = None
    if parameters.get("characters") == "none":
        parameters["characters"] = None
    if parameters.get("calibrate") == "none":
        parameters["calibrate"] = False
    if like is not None:
        parameters |= _choices_of(like)
    return model_named(kind, **parameters)


def model_like(path: str, kind: str | None, settings: Settings) -> tuple[str, GenerativeClassifier]:
    """The saved model whose choices a new model repeats, and the kind of both."""
    from suffice.api import MODELS, load

    model = load(path)
    name = type(model).__name__
    own = next((each for each, estimator in MODELS.items() if estimator == name), name)
    if not hasattr(model.fitted_.specification, "choices"):
        raise click.BadParameter(
            f"{path} holds a {name}, which chooses neither families nor cuts. Models of this kind with the same "
            "settings can be merged without --like.",
            param_hint="'--like'",
        )
    if kind not in (None, own):
        raise click.BadParameter(
            f"{path} holds a {name}, and only models of one kind can be merged. Give --model {own}.",
            param_hint="'--like'",
        )
    for choice in model.fitted_.specification.choices.value:
        what, overridden = OVERRIDDEN[choice]
        for setting in overridden:
            if setting in settings and settings[setting] != getattr(model.fitted_.specification, setting, None):
                option = _option_name(setting)
                raise click.UsageError(f"{option} cannot be combined with --like, which gives {what}.")
    return own, model


def check_columns_like(
    path: str,
    model: GenerativeClassifier,
    source: Source,
    read: Sequence[str],
    columns: Sequence[str] | None,
    others: Mapping[str, Sequence[str | None]],
) -> None:
    """Raise if the columns that would be read are not those of the model whose choices are repeated.

    ``columns`` are those of ``--columns``; ``others`` are columns that other options name.
    """
    from suffice.exceptions import InputError, columns_at, listed

    known = model.fitted_.layout.feature_names
    if known is None:
        return
    families: Mapping[Any, object] = getattr(model, "families_", {})
    missing = [name for name in known if name not in read and families.get(name, "") is not None]
    new = [name for name in read if name not in known]
    file = source.name or "The data"
    sentences, rest = [], missing
    for option, names in others.items():
        named = [name for name in rest if name in names]
        rest = [name for name in rest if name not in named]
        if named:
            sentences.append(f"{option} names the column {listed(named)}, which {path} reads")
    if rest and columns is not None:
        sentences.append(f"--columns does not name {listed(rest)}, which {path} reads")
    elif rest:
        sentences.append(f"{file} has no {columns_at(rest)}, which {path} has")
    if new:
        sentences.append(f"{path} has no {columns_at(new)}, which {file} has; --ignore ignores a column")
    if sentences:
        raise InputError(f"--like needs the columns of the model: {'; '.join(sentences)}.", column=(missing or new)[0])


def _choices_of(model: Any) -> dict[str, object]:
    """Families, cuts and parents of a fitted model, where it has some."""
    names = model.fitted_.specification.choices.value
    return {name: getattr(model, f"{name}_") for name in names if hasattr(model, f"{name}_")}


def _families_by_column(given: object, source: Source, read: Sequence[str]) -> object:
    """Return families by column. A key with commas is a block of columns, unless a column has that name.

    A family of numbers for all columns is that of the columns of numbers, if there are others.
    """
    from suffice.exceptions import did_you_mean
    from suffice.families import family_names

    known = ("auto", "best", "none", *family_names())
    by_column = given if isinstance(given, Mapping) else {}
    wrong = [name for name in (by_column.values() if by_column else [given]) if name not in known]
    if wrong:
        hint = did_you_mean(wrong[0], known)
        raise click.UsageError(f"There is no family {wrong[0]!r}.{hint} The families are {', '.join(sorted(known))}.")
    alone = by_column.get(None) if by_column else given
    others = [name for name in read if source.types.get(name) in NOT_NUMBERS] if _reads_numbers(alone) else []
    if not by_column and not others:
        return given
    families: dict[str | tuple[str, ...], str | None] = {}
    for key, name in by_column.items():
        if key is None:
            continue
        columns = [key] if key in source.names or "," not in key else key.split(",")
        families[columns[0] if len(columns) == 1 else tuple(columns)] = None if name == "none" else name
    named = {name for key in families for name in (key if isinstance(key, tuple) else (key,))}
    rest = [name for name in read if name not in named and name not in others] if alone is not None else []
    return families | dict.fromkeys(rest, None if alone == "none" else str(alone))


def _reads_numbers(family: object) -> bool:
    """Whether a family takes columns of numbers only."""
    from suffice.families import family_named, family_names

    return family in family_names() and family_named(str(family)).reads == "numbers"


def _prior(given: str, kind: str) -> str | dict[Hashable, float]:
    """Parse a prior: a word, or shares by label, with labels of the target's type."""
    if given in ("data", "uniform"):
        return given
    shares: dict[Hashable, float] = {}
    for each in given.split(","):
        text, equals, share = each.rpartition("=")
        try:
            label = _label(text, kind)
            if not equals or label in shares or not 0 <= (value := float(share)) < math.inf:
                raise ValueError
        except ValueError:
            from suffice.exceptions import did_you_mean

            hint = "" if "=" in given else did_you_mean(given, ("data", "uniform"))
            if hint:
                raise click.BadParameter(
                    f"It must be data, uniform or CLASS=SHARE,...; got {given!r}.{hint}", param_hint="'--prior'"
                ) from None
            raise click.BadParameter(
                f"{each!r} is not of the form CLASS=SHARE. Name each class once, with a share of at least 0, such as "
                "--prior 'ham=0.8,spam=0.2'.",
                param_hint="'--prior'",
            ) from None
        if value > 1:
            raise click.BadParameter(
                f"{each!r} has a share above 1. The shares of all classes sum to 1, such as 'ham=0.8,spam=0.2'.",
                param_hint="'--prior'",
            )
        shares[label] = value
    return shares


def _label(text: str, kind: str) -> Hashable:
    if kind == "yes/no":
        return {"true": True, "false": False}[text.lower()] if text.lower() in ("true", "false") else text
    return int(text) if kind == "whole number" else text
