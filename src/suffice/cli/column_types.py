"""What a model expects columns to be: cells of CSV are texts, and a few rows may look like another type."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from suffice.cli.command import note

__all__ = ["expect"]

TEXTS = ("text", "category")  # types of a source that are texts
NUMBERS = (
    *("gaussian", "multivariate_gaussian", "exponential", "gamma", "log_normal"),
    *("poisson", "geometric", "multinomial"),
)  # families of numbers; truth values are Bernoulli as well as 0 and 1


def expect(model: Any, source: Any, read: Sequence[str], target: str | None = None) -> None:
    """Have a source read columns as the model knows them, and tell what is worth knowing of the types of others.

    A model of levels such as ``"7a"`` and ``"12"`` may meet a file that has ``12`` alone; and a word among the numbers
    of a model of numbers is a fault in one row, not another type.

    Parameters
    ----------
    model : estimator
        Fitted.
    source : Source
        Not read yet.
    read : sequence of str
        The columns that the model reads, in its order.
    target : str, optional
        The column of labels that it is to learn, or to forget.
    """
    wanted = {name: kind for name, kind in _expected(model, read) if name in source.names}
    if target is not None and all(isinstance(label, str) for label in model.classes_.tolist()):
        wanted[target] = "text"
    source.read_as({name: kind for name, kind in wanted.items() if (kind == "text") != (source.types[name] in TEXTS)})
    for sentence in source.notes:
        note(sentence)


def _expected(model: Any, read: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Columns that must be texts, or numbers."""
    from suffice.families import Categorical, JointTable, Text

    estimate = model._estimated()
    known = getattr(model, "feature_names_in_", None)
    documents = isinstance(estimate.blocks[0].family, Text) and len(estimate.blocks) == 1
    names = read if known is None or documents else [str(name) for name in known]
    if len(names) != estimate.n_columns:  # which is an error that who reads them tells
        return
    for block, parameters in zip(estimate.blocks, estimate.parameters, strict=True):
        family, levels = block.family, None
        if isinstance(family, Categorical):
            levels = [each.levels for each in parameters.columns]
        elif isinstance(family, JointTable):
            levels = list(parameters.levels)
        for place, at in enumerate(block.positions(estimate.n_columns)):
            if isinstance(family, Text) or (levels is not None and levels[place].kinds == {"text"}):
                yield names[at], "text"
            elif family.name in NUMBERS or (levels is not None and levels[place].kinds == {"number"}):
                yield names[at], "number"
