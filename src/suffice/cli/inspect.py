"""``suffice inspect``: what a saved model has learned."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from suffice.cli.command import command as _command
from suffice.cli.description import Description, description, model_line, show_classes, show_columns
from suffice.cli.output import Cell, Page, cell_text, json_option, number, print_json, size
from suffice.cli.reading import model_argument

if TYPE_CHECKING:
    from suffice.cli.mutual_information import ColumnInformation, InformativeWords

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
    import suffice
    from suffice.cli.mutual_information import column_information, entropy, informative_words

    loaded = suffice.load(model)
    parameters = {name: _parameters(loaded, name) for name in wanted}
    words = informative_words(loaded, most)
    documents = {each["column"] for each in words}
    columns = [each for each in column_information(loaded) if not documents.issuperset(each["columns"])]
    facts, entropy_bits = description(loaded), entropy(loaded._estimated().prior)
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
            }
        )
        return
    page = Page()
    _show_model(page, model, facts)
    if most:
        _show_informative(page, columns[:most], entropy_bits, words)
    for name, table in parameters.items():
        page.heading(f"p(x | y) of {cell_text(name)}")
        page.table(list(table), [[_plain(cell) for cell in row] for row in zip(*table.values(), strict=True)])


def _parameters(model: Any, name: str) -> Mapping[str, Sequence[Cell]]:
    """Return the parameters of p(x | y) of a column: a table with a row for each class or level."""
    from suffice.exceptions import InputError

    if not hasattr(model, "parameters"):
        raise InputError(f"A {type(model).__name__} has no parameters by column. Remove --column.")
    by_name = {_block_name(each): each for each in model.families_}
    if name not in by_name:
        raise InputError(f"The model has no column {name!r}. Its columns are {', '.join(by_name)}.", column=name)
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
