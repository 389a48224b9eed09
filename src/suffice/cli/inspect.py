"""``suffice inspect``: what a saved model has learned."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

import click

from suffice.cli.assumptions import check_usage, show_assumptions
from suffice.cli.command import command as _command
from suffice.cli.command import section
from suffice.cli.description import Description, description, model_lines, show_classes, show_columns, show_members
from suffice.cli.output import Page, cell_text, json_option, number, print_json, size
from suffice.cli.reading import (
    ReadingOptions,
    columns_options,
    known_target_option,
    model_argument,
    optional_data_argument,
    reading_options,
    weights_option,
)

if TYPE_CHECKING:
    from suffice.estimators import GenerativeClassifier

__all__ = ["command"]

EXAMPLES = """
suffice inspect flowers.suffice
suffice inspect flowers.suffice --column 'petal width' --json
suffice inspect spam.suffice --class spam --top 5
suffice inspect flowers.suffice test.csv --target species --assumptions
"""


@_command("inspect", "Show what a model has learned.", EXAMPLES)
@model_argument
@optional_data_argument
@click.option(
    "-n",
    "--top",
    "--most",
    "top",
    type=click.IntRange(min=0),
    metavar="N",
    default=20,
    show_default=True,
    help="Maximum number of columns, levels, classes and words per class to list.",
)
@click.option(
    "--column", "wanted", multiple=True, metavar="COL", help="Show the parameters of p(x | y) of a column. Repeatable."
)
@click.option("--class", "labels", multiple=True, metavar="LABEL", help="Show only this class. Repeatable.")
@section(
    "Assumptions",
    click.option("--assumptions", is_flag=True, help="Test the assumptions of MODEL on the labelled rows of DATA."),
    click.option(
        "--level",
        type=click.FloatRange(0, 1, min_open=True, max_open=True),
        metavar="P",
        default=0.05,
        show_default=True,
        help="Probability of any significant finding if the assumptions hold.",
    ),
)
@section("Data", known_target_option, columns_options, weights_option)
@reading_options
@section("Output", json_option)
def command(
    model: str,
    data: tuple[str, ...],
    assumptions: bool,
    level: float,
    top: int,
    wanted: tuple[str, ...],
    labels: tuple[str, ...],
    target: str | None,
    weights: str | None,
    columns: list[str] | None,
    ignore: list[str] | None,
    reading: ReadingOptions,
    as_json: bool,
) -> None:
    """Show what MODEL has learned: classes, families, rows, parameters, and the most informative columns or words.

    A column's information is its mutual information with the class under the model, in bits: 0 if the column has the
    same distribution in all classes. --json prints all parameters, whatever --top is.

    With --assumptions, test the assumptions of MODEL on the labelled rows of DATA: columns are independent given the
    class and have the shape of their families, classes share covariances, and cells are missing at random.
    """
    from suffice.cli.parameters import chosen_classes, column_parameters, linear_json, show_all, show_column
    from suffice.cli.saved_model import load
    from suffice.model.mutual_information import class_entropy

    check_usage(click.get_current_context(), data, assumptions=assumptions)
    loaded = load(model)
    if assumptions:
        show_assumptions(
            loaded,
            model,
            data,
            reading,
            columns,
            ignore,
            target=target,
            weights=weights,
            level=level,
            as_json=as_json,
        )
        return
    fitted = loaded.fitted_
    classes = chosen_classes(fitted, labels)
    words = [each for each in _informative_words(loaded, top) if each["label"] in classes]
    documents = {str(each.names[0]) for each in fitted.estimate.blocks if each.family.reads == "documents"}
    informative = [each for each in _informative_columns(loaded) if not documents.issuperset(each["columns"])]
    facts, entropy_bits = description(loaded), class_entropy(fitted.estimate.prior)
    if as_json:
        print_json(
            {
                "file": model,
                "bytes": os.path.getsize(model),
                **facts,
                "without_rows": fitted.without_rows,
                "entropy_bits": entropy_bits,
                "telling_columns": informative,
                "telling_words": words,
                "parameters": column_parameters(fitted, wanted, classes),
                "linear_form": linear_json(fitted, classes),
                "bins": _bins(loaded),
            }
        )
        return
    parameters = column_parameters(fitted, wanted, classes) if wanted else {}
    page = Page()
    _show_model(page, model, facts, model_lines(loaded))
    bins = _bins(loaded)
    if bins:
        page.heading("Bins")
        page.table(
            ["column", "parent", "cuts"],
            [[each["column"], "yes" if each["parent"] else "no", _cuts_text(each["cuts"])] for each in bins],
            left=3,
        )
    if top:
        _show_informative(page, informative[:top], entropy_bits, words)
    for name, table in parameters.items():
        show_column(page, name, table, top)
    if top and not wanted:
        show_all(page, fitted, classes, [each["columns"][0] for each in informative if len(each["columns"]) == 1], top)


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
    from suffice.cli.parameters import data_names
    from suffice.model.mutual_information import class_words

    if len(model.fitted_.classes) < 2:
        return []
    names = data_names(model.fitted_)
    informative: list[InformativeWords] = []
    for each in class_words(model.fitted_.estimate, most):
        words: list[InformativeWord] = [
            {"word": word, "log_odds": odds, "count": count, "others": others}
            for word, odds, (count, others) in zip(
                each.words.words, each.words.log_odds.tolist(), each.words.counts.tolist(), strict=True
            )
        ]
        informative.append({"column": names.get(each.column, str(each.column)), "label": each.label, "words": words})
    return informative


def _show_model(page: Page, file: str, facts: Description, lines: Mapping[str, str]) -> None:
    page.facts(
        {
            "file": f"{cell_text(file)}, {size(os.path.getsize(file))}",
            **lines,
            "rows": "none; built from parameters" if facts["rows"] is None else number(facts["rows"]),
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
