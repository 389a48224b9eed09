"""``suffice inspect``: what a saved model has learned."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import click

from suffice.cli.command import command as _command
from suffice.cli.description import Description, description, model_line, show_classes, show_columns, show_members
from suffice.cli.output import Cell, Page, cell_text, json_option, number, print_json, size
from suffice.cli.reading import model_argument

if TYPE_CHECKING:
    from suffice.estimators import GenerativeClassifier

__all__ = ["command"]

EXAMPLES = """
suffice inspect flowers.suffice
suffice inspect flowers.suffice --column 'petal width' --json
suffice inspect spam.suffice --most 5
"""


@_command("inspect", "Show what a model has learned.", EXAMPLES)
@model_argument
@click.option(
    "-n",
    "--most",
    type=click.IntRange(min=0),
    metavar="N",
    default=20,
    show_default=True,
    help="Maximum number of informative columns, and of words per class, to list.",
)
@click.option(
    "--column", "wanted", multiple=True, metavar="COL", help="Show the parameters of p(x | y) of a column. Repeatable."
)
@json_option
def command(model: str, most: int, wanted: tuple[str, ...], as_json: bool) -> None:
    """Show what MODEL has learned: classes, families, rows, and the most informative columns or words.

    A column's information is its mutual information with the class under the model, in bits: 0 if the column has the
    same distribution in all classes.
    """
    from suffice.cli.saved_model import load
    from suffice.model.mutual_information import class_entropy

    loaded = load(model)
    parameters = {name: _parameters(loaded, name) for name in wanted}
    words = _informative_words(loaded, most)
    documents = {each["column"] for each in words}
    columns = [each for each in _informative_columns(loaded) if not documents.issuperset(each["columns"])]
    facts, entropy_bits = description(loaded), class_entropy(loaded.fitted_.estimate.prior)
    if as_json:
        print_json(
            {
                "file": model,
                "bytes": os.path.getsize(model),
                **facts,
                "entropy_bits": entropy_bits,
                "telling_columns": columns,
                "telling_words": words,
                "parameters": parameters,
                "bins": _bins(loaded),
            }
        )
        return
    page = Page()
    _show_model(page, model, facts)
    bins = _bins(loaded)
    if bins:
        page.heading("Bins")
        page.table(
            ["column", "parent", "cuts"],
            [[each["column"], "yes" if each["parent"] else "no", _cuts_text(each["cuts"])] for each in bins],
            left=3,
        )
    if most:
        _show_informative(page, columns[:most], entropy_bits, words)
    for name, table in parameters.items():
        page.heading(f"p(x | y) of {cell_text(name)}")
        page.table(list(table), [[_plain(cell) for cell in row] for row in zip(*table.values(), strict=True)])


class ColumnInformation(TypedDict):
    """Columns of a block, or one column, their mutual information with the class, and its standard error."""

    columns: list[str]
    bits: float
    bits_error: float


class InformativeWord(TypedDict):
    """A word, its log-odds for the class, and its counts in the class and in the other classes."""

    word: str
    log_odds: float
    count: float
    others: float


class InformativeWords(TypedDict):
    """The most informative words of a class in a column of documents."""

    column: str
    label: object
    words: list[InformativeWord]


class ColumnBins(TypedDict):
    """Bins of a column of averaged dependence, and whether other columns depend on it. Cuts of times are text."""

    column: str
    parent: bool
    cuts: object


def _bins(model: Any) -> list[ColumnBins]:
    """Bins and parents of averaged dependence; empty for other models."""
    choices = getattr(model.fitted_.specification, "choices", None)  # asking the model imports scikit-learn
    if choices is None or "cuts" not in choices.value or not hasattr(model, "cuts_"):
        return []
    parents, times = set(model.parents_), model.fitted_.layout.schema.times
    return [
        {"column": str(name), "parent": name in parents, "cuts": _shown_cuts(cuts, times=name in times)}
        for name, cuts in model.cuts_.items()
    ]


def _shown_cuts(cuts: object, *, times: bool) -> object:
    """Cuts as they are, or as times."""
    from suffice.tables.times import time_text

    return tuple(time_text(cut) for cut in cuts) if times and isinstance(cuts, tuple) else cuts


def _cuts_text(cuts: object) -> str:
    """Cuts, or the levels that have a bin."""
    if isinstance(cuts, tuple):
        return ", ".join(cut if isinstance(cut, str) else f"{cut:.6g}" for cut in cuts)
    return str(cuts) if not isinstance(cuts, dict) else f"{len(cuts['levels'])} levels, and all others"


def _informative_columns(model: GenerativeClassifier) -> list[ColumnInformation]:
    """The information of each column; empty for a model without a density, or that cannot be sampled."""
    from suffice.exceptions import SufficeError
    from suffice.learning.information import mutual_information

    try:
        information = mutual_information(model.fitted_)
    except SufficeError:
        return []
    return [
        {"columns": [str(name) for name in each.columns], "bits": each.bits, "bits_error": each.error}
        for each in information
    ]


def _informative_words(model: GenerativeClassifier, most: int) -> list[InformativeWords]:
    from suffice.model.mutual_information import class_words

    if len(model.fitted_.classes) < 2:
        return []
    informative: list[InformativeWords] = []
    for each in class_words(model.fitted_.estimate, most):
        words: list[InformativeWord] = [
            {"word": word, "log_odds": odds, "count": count, "others": others}
            for word, odds, (count, others) in zip(
                each.words.words, each.words.log_odds.tolist(), each.words.counts.tolist(), strict=True
            )
        ]
        informative.append({"column": str(each.column), "label": each.label, "words": words})
    return informative


def _parameters(model: Any, name: str) -> Mapping[str, Sequence[Cell]]:
    """Return the parameters of p(x | y) of a column: a table with a row for each class or level."""
    from suffice.exceptions import InputError, did_you_mean, listed

    if not hasattr(model, "parameters"):
        raise InputError(f"A {model.fitted_.specification.estimator} has no parameters by column. Remove --column.")
    if hasattr(model, "families_"):
        names = [each for each, family in model.families_.items() if family is not None]
    else:
        names = model.fitted_.layout.schema.names
    members = (name for each in names if isinstance(each, tuple) for name in each)
    by_name = {_block_name(each): each for each in (*members, *names)}
    if name not in by_name:
        hint = did_you_mean(name, by_name)
        raise InputError(f"The model has no column {name!r}.{hint} Its columns are {listed([*by_name])}.", column=name)
    return {str(kind): list(values) for kind, values in model.parameters(by_name[name]).items()}


def _block_name(name: object) -> str:
    return ",".join(map(str, name)) if isinstance(name, tuple) else str(name)


def _plain(value: Cell) -> Cell:
    """Return a NumPy scalar as a Python number."""
    import numpy as np

    return value.item() if isinstance(value, np.generic) else value


def _show_model(page: Page, file: str, facts: Description) -> None:
    page.facts(
        {
            "file": f"{cell_text(file)}, {size(os.path.getsize(file))}",
            "model": model_line(facts),
            "rows": number(facts["rows"]),
        }
    )
    page.heading("Classes")
    show_classes(page, facts["classes"])
    page.heading("Columns")
    show_columns(page, facts["columns"])
    show_members(page, facts["members"])


def _show_informative(
    page: Page, columns: Sequence[ColumnInformation], entropy_bits: float, words: Sequence[InformativeWords]
) -> None:
    if columns:
        page.heading(f"Most informative columns (bits about the class, at most {entropy_bits:.3f})")
        page.table(["column", "bits"], [[", ".join(each["columns"]), f"{each['bits']:.3f}"] for each in columns])
    for each in words:
        page.heading(f"Most informative words for {cell_text(each['label'])}")
        rows = [[w["word"], w["log_odds"], w["count"], w["others"]] for w in each["words"]]
        page.table(["word", "log-odds", "count", "other classes"], rows)
