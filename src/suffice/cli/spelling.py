"""Arguments of the library as options of the command, for errors and warnings that advise to set one.

`suffice.exceptions.Argument` carries the name and the value; no sentence is parsed.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suffice.exceptions import Argument

__all__ = ["shell_spelling"]

OPTIONS = {
    "connection": "--database",
    "n_samples": "--rows",
    "random_state": "--seed",
    "sample_weight": "--weights",
    "types": "--type",
}
"""Options whose names differ from the argument's name with dashes."""
MODELS = {
    "GenerativeEnsemble": "ensemble",
    "NaiveBayes": "naive-bayes",
    "GaussianDiscriminant": "discriminant",
    "AveragedDependence": "averaged-dependence",
    "TextNaiveBayes": "text",
}
"""Values of --model by the names of the classes."""
METAVARS = {"families": "FAMILY", "types": "TYPE"}


def shell_spelling(argument: Argument) -> str:
    """Return an argument as it is typed in a shell.

    >>> from suffice.exceptions import Argument
    >>> shell_spelling(Argument("bad_rows", "skip")), shell_spelling(Argument("names"))
    ('--bad-rows skip', '--names')
    >>> shell_spelling(Argument("ignore", ["a b"])), shell_spelling(Argument("header", False))
    ("--ignore 'a b'", '--no-header')
    >>> shell_spelling(Argument("families", {"x": "text"})), shell_spelling(Argument("families", {"x": None}))
    ('--family x=text', '--ignore x')
    """
    from suffice.exceptions import Estimator, Export

    if isinstance(argument, Export):
        return f"--to {argument.name}"
    if isinstance(argument, Estimator):
        return f"--model {MODELS[argument.name]}" if argument.name in MODELS else argument.name
    if argument.name in SPECIAL:
        return SPECIAL[argument.name](argument.value)
    return _option(OPTIONS.get(argument.name, f"--{argument.name.replace('_', '-')}"), argument.value, argument.name)


def _option(flag: str, value: object, name: str = "") -> str:
    if value is ...:
        return flag
    if value is True:
        return flag
    if value is False:
        return f"--no-{flag.removeprefix('--')}"
    if value is None:
        return f"no {flag}"
    if isinstance(value, Mapping):
        metavar = METAVARS.get(name, "VALUE")
        return _repeated(flag, (f"{_key(key)}={_text(each, metavar)}" for key, each in value.items()))
    if isinstance(value, list | tuple | set | frozenset):
        return f"{flag} {shlex.quote(','.join(map(str, value)))}"
    return f"{flag} {shlex.quote(_text(value))}"


def _repeated(flag: str, texts: Iterable[str]) -> str:
    return " ".join(f"{flag} {shlex.quote(text)}" for text in texts) or flag


def _text(value: object, metavar: str = "VALUE") -> str:
    return metavar if value is ... else str(value)


def _key(key: object) -> str:
    """Columns of a block are separated by commas."""
    return ",".join(map(str, key)) if isinstance(key, tuple) else str(key)


# ---------------------------------------------------------------------- arguments with options of another form


def _families(value: object) -> str:
    if not isinstance(value, Mapping):
        return _option("--family", value)
    ignored = [_key(column) for column, family in value.items() if family is None]
    others = {column: family for column, family in value.items() if family is not None}
    options = [_option("--ignore", ignored)] if ignored else []
    return " ".join([*options, *([_option("--family", others, "families")] if others or not ignored else [])])


def _texts(flag: str) -> Callable[[object], str]:
    """An option that is repeated for each text."""

    def spell(value: object) -> str:
        return _repeated(flag, map(str, value)) if isinstance(value, list | tuple) else _option(flag, value)

    return spell


def _header(value: object) -> str:
    return "no --no-header" if value is True else "--no-header"


def _delimiter(value: object) -> str:
    return _option("--delimiter", r"\t" if value == "\t" else value)


def _calibrate(value: object) -> str:
    spelled: dict[object, object] = {True: "temperature", False: "none"}
    return _option("--calibrate", spelled[value] if isinstance(value, bool) else value)


def _ngrams(value: object) -> str:
    if isinstance(value, list | tuple) and len(value) == 2:
        low, high = value
        return f"--ngrams {low}" if low == high else f"--ngrams {low}-{high}"
    return _option("--ngrams", value)


def _characters(value: object) -> str:
    return "--characters none" if value is None else _ngrams(value).replace("--ngrams", "--characters")


def _max_words(value: object) -> str:
    return _option("--max-words", "all" if value is None else value)


def _prior(value: object) -> str:
    if isinstance(value, Mapping):
        return _option("--prior", ",".join(f"{label}={_text(share, 'SHARE')}" for label, share in value.items()))
    return _option("--prior", value)


SPECIAL: dict[str, Callable[[object], str]] = {
    "calibrate": _calibrate,
    "characters": _characters,
    "cuts": lambda value: "--like MODEL",
    "delimiter": _delimiter,
    "families": _families,
    "header": _header,
    "like": lambda value: _option("--like", value if isinstance(value, str) else "MODEL"),
    "max_words": _max_words,
    "ngram_range": _ngrams,
    "nulls": _texts("--null"),
    "nulls_only": _texts("--null-only"),
    "parents": lambda value: "--like MODEL",
    "prior": _prior,
    "text": _texts("--text"),
}
