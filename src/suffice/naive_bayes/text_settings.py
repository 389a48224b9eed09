"""Settings of `TextNaiveBayes` to choose from, where they are "auto"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["applied", "auto_paths", "start_of"]

# In the order in which they are tried; each begins with the classic one. Weights of words and documents come before
# the event, since Bernoulli words have none.
PATHS: dict[str, tuple[Any, ...]] = {
    "binary": (False, True),
    "length": (0.0, 0.5, 1.0),
    "idf": (False, True),
    "estimation": ("map", "bayes"),
    "max_words": (10_000, None, 1_000),
    "event": ("multinomial", "bernoulli", "complement"),
    "smoothing": (1.0, 0.3, 0.1, 3.0),
}


def start_of(name: str, path: Sequence[Any] | None = None) -> Any:
    """The classic setting; the first of a path, if there is one."""
    return (PATHS[name] if path is None else path)[0]


def auto_paths(names: Sequence[str], n_classes: int | None = None, n_words: int | None = None) -> dict[str, Any]:
    """The values to try for some settings, of a model of so many classes and words, if that is known.

    Of two classes one is the complement of the other, and nothing else than it. As many words as there are is None.

    >>> auto_paths(["max_words", "event"], 2, 5_000)
    {'max_words': (None, 1000), 'event': ('multinomial', 'bernoulli')}
    """
    paths = {name: path for name, path in PATHS.items() if name in names}
    if "event" in paths and n_classes == 2:
        paths["event"] = paths["event"][:2]
    if "max_words" in paths and n_words is not None:
        paths["max_words"] = tuple(most for most in paths["max_words"] if most is None or most < n_words)
    return paths


def applied(settings: dict[str, Any]) -> dict[str, Any]:
    """Settings that mean the same, without what does not apply to their event.

    Bernoulli words have no weight, and are the same by ``bayes`` and ``map``; the complement is no distribution.

    >>> applied({"event": "bernoulli", "binary": True, "smoothing": 0.1})
    {'event': 'bernoulli', 'binary': False, 'smoothing': 0.1}
    """
    event = settings.get("event")
    none: dict[str, Any] = {}
    if event == "bernoulli":
        none = {"binary": False, "idf": False, "length": 0.0}
    if event in ("bernoulli", "complement") and settings.get("estimation") == "bayes":
        none["estimation"] = "map"
    return settings | {name: value for name, value in none.items() if name in settings}
