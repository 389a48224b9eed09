"""Values that `TextNaiveBayes` tries for parameters that are "auto"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from suffice.families.text.parameters import COMPLEMENTS

__all__ = ["applicable_settings", "auto_paths", "first_choice", "tuned_settings"]

TUNED: dict[str, Any] = {
    "event": "auto",
    "max_words": "auto",
    "smoothing": "auto",
    "binary": "auto",
    "idf": "auto",
    "calibrate": True,
    "min_length": 1,
    "ngram_range": (1, 2),
    "punctuation": True,
    "characters": (4, 4),
    "weighting": "unit",
}


# In the order in which they are tried; the classic value comes first. Weights of words and documents come before the
# event, because Bernoulli words have no weights.
PATHS: dict[str, tuple[Any, ...]] = {
    "binary": (False, True),
    "length": (0.0, 0.5, 1.0),
    "idf": (False, True),
    "estimation": ("map", "bayes"),
    "max_words": (10_000, None, 1_000),
    "event": ("multinomial", "bernoulli", "complement", "normalised_complement"),
    "smoothing": (1.0, 0.3, 0.1, 0.03, 3.0),
}


MANY_CELLS = 1 << 23  # words times classes


def tuned_settings(given: dict[str, Any]) -> dict[str, Any]:
    """The settings of `TextNaiveBayes.tuned`, with those that were given.

    Fragments of words are counted beside words only.

    >>> tuned_settings({"analyzer": "char"})["characters"]
    """
    lengths = given.get("ngram_range", TUNED["ngram_range"])
    least = lengths[0] if isinstance(lengths, tuple | list) and lengths else 1  # the classifier checks its parameters
    beside_words = given.get("analyzer", "word") == "word" and least == 1
    return TUNED | ({} if beside_words else {"characters": None}) | given


def first_choice(name: str, path: Sequence[Any] | None = None) -> Any:
    """The first value of a path, by default the classic value of the parameter."""
    return (PATHS[name] if path is None else path)[0]


def auto_paths(
    names: Sequence[str], n_classes: int | None = None, n_words: int | None = None, *, normalises: bool = True
) -> dict[str, Any]:
    """The values to try for some parameters; fewer if the number of classes and of words is known.

    With two classes, the complement of one class is the other, unless its weights are normalised. Normalised weights
    have an arbitrary scale and need smoothing, so they are tried only if ``normalises``, with a calibration and a
    prior. Absent words of very many words and classes are not tried: each value takes several passes over all of them,
    and they hardly ever help. All words are requested by None.

    >>> auto_paths(["max_words", "event"], 2, 5_000)
    {'max_words': (None, 1000), 'event': ('multinomial', 'bernoulli', 'normalised_complement')}
    """
    paths = {name: path for name, path in PATHS.items() if name in names}
    if "event" in paths:
        few = (n_classes or 0) * (n_words or 0) <= MANY_CELLS
        tried = {"bernoulli": few, "complement": n_classes != 2, "normalised_complement": normalises}
        paths["event"] = tuple(event for event in paths["event"] if tried.get(event, True))
    if "max_words" in paths and n_words is not None:
        paths["max_words"] = tuple(most for most in paths["max_words"] if most is None or most < n_words)
    return paths


def applicable_settings(settings: dict[str, Any]) -> dict[str, Any]:
    """Equivalent settings, without those that do not apply to the event.

    Bernoulli words have no weights, and ``bayes`` equals ``map`` for them; the complement is not a distribution.

    >>> applicable_settings({"event": "bernoulli", "binary": True, "smoothing": 0.1})
    {'event': 'bernoulli', 'binary': False, 'smoothing': 0.1}
    """
    event = settings.get("event")
    defaults: dict[str, Any] = {}
    if event == "bernoulli":
        defaults = {"binary": False, "idf": False, "length": 0.0}
    if event in ("bernoulli", *COMPLEMENTS) and settings.get("estimation") == "bayes":
        defaults["estimation"] = "map"
    return settings | {name: value for name, value in defaults.items() if name in settings}
